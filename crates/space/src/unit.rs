//! An allocation unit: the pages that one hobt owns for one purpose.

use base::{AllocUnitId, ExtentId, PageId};
use os::latch::LatchClass;
use os::sync::Mutex;

/// The pages that one hobt owns for one purpose.
pub struct AllocUnit {
    /// Its number, as page headers carry it.
    pub id: AllocUnitId,
    /// The head of its IAM chain; fixed for life.
    pub first_iam: PageId,
    pub(crate) hints: Mutex<Hints>,
}

/// Where free pages of the unit may be; each is checked against the maps before use.
#[derive(Default)]
pub(crate) struct Hints {
    /// The extent that pages were taken from last.
    pub(crate) extent: Option<ExtentId>,
    /// Pages that were free at some moment: found by the search, freed since, or left over of a new
    /// extent. The last is taken first.
    pub(crate) free: Vec<PageId>,
    /// The whole chain was searched for free pages once.
    pub(crate) searched: bool,
}

impl AllocUnit {
    /// A unit that exists on disk.
    pub fn open(id: AllocUnitId, first_iam: PageId) -> Self {
        AllocUnit { id, first_iam, hints: Mutex::of(LatchClass::FreeSpace, Default::default()) }
    }
}
