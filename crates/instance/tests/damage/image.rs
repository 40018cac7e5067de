//! A data file in memory: its pages, and whose they are, found without the engine's help.

use base::limits::PAGE_BYTES;
use base::{AllocUnitId, PageId};
use page::{PageBytes, PageKind, PageMut, PageView, Pfs, seal, verify};
use sim::Random;
use std::collections::BTreeMap;

/// Whose pages are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) object: i32,
    pub(crate) table: String,
    pub(crate) index: i32,
    pub(crate) index_name: String,
    /// Values off the rows.
    pub(crate) large: bool,
}

/// Units of user tables by their number in page headers.
pub(crate) type Units = BTreeMap<u32, Unit>;

/// The bytes of a data file.
#[derive(Clone)]
pub(crate) struct Image {
    pub(crate) bytes: Vec<u8>,
}

/// Pages before this one are headers, maps and the doublewrite area.
const FIRST_PAGE: u32 = 48;

impl Image {
    pub(crate) fn pages(&self) -> u32 {
        (self.bytes.len() / PAGE_BYTES) as u32
    }

    pub(crate) fn page(&self, n: u32) -> &PageBytes {
        let from = n as usize * PAGE_BYTES;
        self.bytes[from..from + PAGE_BYTES].try_into().unwrap()
    }

    pub(crate) fn view(&self, n: u32) -> PageView<'_> {
        PageView(self.page(n))
    }

    /// Changes a page; its checksum stays as it was.
    pub(crate) fn scribble(&mut self, n: u32, change: impl FnOnce(&mut PageBytes)) {
        let from = n as usize * PAGE_BYTES;
        let page: &mut PageBytes = (&mut self.bytes[from..from + PAGE_BYTES]).try_into().unwrap();
        change(page);
    }

    /// Changes a page and makes its checksum right again.
    pub(crate) fn change<R>(&mut self, n: u32, change: impl FnOnce(&mut PageMut<'_>) -> R) -> R {
        let from = n as usize * PAGE_BYTES;
        let page: &mut PageBytes = (&mut self.bytes[from..from + PAGE_BYTES]).try_into().unwrap();
        let result = change(&mut PageMut(page));
        seal(page);
        result
    }

    pub(crate) fn pfs(&self, n: u32) -> Pfs {
        assert!(n < 8088, "the image has one PFS page");
        Pfs::get(self.view(1), n)
    }

    /// Allocated pages of user tables that satisfy a condition.
    pub(crate) fn find(
        &self,
        units: &Units,
        wanted: impl Fn(PageView<'_>, &Unit) -> bool,
    ) -> Vec<u32> {
        let fits = |n: &u32| {
            let v = self.view(*n);
            let records = matches!(v.kind(), Some(PageKind::Data | PageKind::Index));
            let unit = units.get(&v.alloc_unit().0);
            self.pfs(*n).0 == Pfs::ALLOCATED
                && records
                && verify(v.0, PageId::new(1, *n))
                && unit.is_some_and(|u| wanted(v, u))
        };
        (FIRST_PAGE..self.pages()).filter(fits).collect()
    }

    pub(crate) fn unit<'u>(&self, units: &'u Units, n: u32) -> &'u Unit {
        &units[&self.view(n).alloc_unit().0]
    }

    /// IAM pages of user tables.
    pub(crate) fn iam_pages(&self, units: &Units) -> Vec<u32> {
        let fits = |n: &u32| {
            let v = self.view(*n);
            self.pfs(*n).0 & Pfs::IAM != 0
                && v.kind() == Some(PageKind::Iam)
                && units.contains_key(&v.alloc_unit().0)
        };
        (FIRST_PAGE..self.pages()).filter(fits).collect()
    }

    /// The page of a table's row, by the first four bytes behind the fixed front of its records.
    pub(crate) fn page_of_key(&self, units: &Units, table: &str, key: i32) -> Option<u32> {
        let leaves =
            self.find(units, |v, u| u.table == table && u.index <= 1 && !u.large && v.level() == 0);
        let has = |n: &u32| {
            let v = self.view(*n);
            let mut records = (0..v.slot_count()).filter_map(|s| v.record(s));
            records.any(|r| r.get(4..8) == Some(&key.to_le_bytes()[..]))
        };
        leaves.into_iter().find(has)
    }
}

/// A slot's place in the slot array.
pub(crate) fn slot_at(slot: u16) -> usize {
    PAGE_BYTES - 2 * (usize::from(slot) + 1)
}

/// One of them, if there is one.
pub(crate) fn pick<T: Copy>(r: &mut Random, of: &[T]) -> Option<T> {
    if of.is_empty() { None } else { Some(of[r.below(of.len() as u64) as usize]) }
}

/// A slot with a record.
pub(crate) fn live_slot(r: &mut Random, v: PageView<'_>) -> Option<u16> {
    let live: Vec<u16> = (0..v.slot_count()).filter(|s| v.record(*s).is_some()).collect();
    pick(r, &live)
}

/// The number of a unit, as sys.allocation_units shows it, back to that of page headers.
pub(crate) fn unit_of_bigint(n: i64) -> u32 {
    let unit = ((n - (256_i64 << 48)) >> 16) as u32;
    assert_eq!(AllocUnitId(unit).as_bigint(), n, "the published arithmetic");
    unit
}
