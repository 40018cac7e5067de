//! Storage formats: who makes and opens hobts.
//!
//! A format is one crate, and one line in the list of `database`. Each hobt is of the first format
//! of the list that stores its spec. The format writes its own redo and undo handlers, which
//! `database` lists beside it.

use crate::{HobtPlaces, HobtSpec, StoredHobt};
use base::{AllocUnitId, SqlResult};
use std::sync::Arc;
use work::{Home, Work};

/// A way to store the rows of a hobt.
pub trait StorageFormat: Send + Sync {
    /// Whether hobts of that spec are stored so. The answer never changes: the pages of a hobt do
    /// not say of which format they are.
    fn stores(&self, spec: &HobtSpec) -> bool;

    /// Opens a hobt that exists on disk, with the unit of its values that are off their rows if it
    /// has one. Nothing is read.
    fn open(
        &self,
        home: &Arc<Home>,
        spec: HobtSpec,
        places: HobtPlaces,
        large: Option<(AllocUnitId, HobtPlaces)>,
    ) -> Arc<dyn StoredHobt>;

    /// Makes a hobt within the open transaction of a unit of work, which takes it back when it is
    /// rolled back. With `large`, its rows may have values off them, in a unit of that number.
    ///
    /// # Errors
    /// 1105, 9002, damaged maps.
    fn create(
        &self,
        work: &mut Work,
        home: &Arc<Home>,
        spec: HobtSpec,
        large: Option<AllocUnitId>,
    ) -> SqlResult<Arc<dyn StoredHobt>>;
}

/// The formats that there are, in the order in which they are asked.
#[derive(Clone)]
pub struct Formats(Vec<Arc<dyn StorageFormat>>);

impl Formats {
    /// A list whose last format stores whatever the others do not.
    pub fn new(list: Vec<Arc<dyn StorageFormat>>) -> Formats {
        assert!(!list.is_empty(), "a database stores its tables in a format");
        Formats(list)
    }

    /// The same with one more, which is asked before the others.
    #[must_use]
    pub fn with(mut self, format: Arc<dyn StorageFormat>) -> Formats {
        self.0.insert(0, format);
        self
    }

    /// The format of a hobt.
    pub fn of(&self, spec: &HobtSpec) -> &dyn StorageFormat {
        let found = self.0.iter().find(|format| format.stores(spec));
        &**found.expect("the last of the list stores whatever the others do not")
    }
}
