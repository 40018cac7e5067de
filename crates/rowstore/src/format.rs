//! The format of rows on pages: heaps and B-trees.

use crate::hobt::RowHobt;
use access::{HobtPlaces, HobtSpec, StorageFormat, StoredHobt};
use base::{AllocUnitId, SqlResult};
use std::sync::Arc;
use work::{Home, Work};

/// Rows on pages. It stores every hobt.
pub struct RowFormat;

impl StorageFormat for RowFormat {
    fn stores(&self, _spec: &HobtSpec) -> bool {
        true
    }

    fn open(
        &self,
        home: &Arc<Home>,
        spec: HobtSpec,
        places: HobtPlaces,
        large: Option<(AllocUnitId, HobtPlaces)>,
    ) -> Arc<dyn StoredHobt> {
        RowHobt::open(home, spec, places, large)
    }

    fn create(
        &self,
        work: &mut Work,
        home: &Arc<Home>,
        spec: HobtSpec,
        large: Option<AllocUnitId>,
    ) -> SqlResult<Arc<dyn StoredHobt>> {
        let made = RowHobt::create(work, home, spec, large)?;
        Ok(made)
    }
}
