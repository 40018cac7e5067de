//! Logical fragmentation: whether the pages of a level lie in the order of their keys.
//!
//! A page is out of order when the next page by key is not the next page of that level in the file.
//! Pages of other levels or owners between the two do not matter (SQL Server's
//! sys.dm_db_index_physical_stats, remarks on fragmentation). Costs 5 bytes a page, and 16 for each
//! that is not followed by its neighbour.

use base::PageId;
use std::collections::BTreeMap;

/// The pages of a level. They are added in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PageOrder {
    /// Pages by extent, a bit each.
    extents: BTreeMap<u64, u8>,
    /// Pages that are not followed by their neighbour in the file, each with the page that follows.
    jumps: Vec<(u64, u64)>,
    last: Option<u64>,
}

fn number(id: PageId) -> u64 {
    (u64::from(id.file.0) << 32) | u64::from(id.page)
}

impl PageOrder {
    /// Adds the next page by key. Returns whether it follows the page before it in the file.
    pub(crate) fn add(&mut self, id: PageId) -> bool {
        let n = number(id);
        *self.extents.entry(n / 8).or_default() |= 1 << (n % 8);
        let before = self.last.replace(n);
        let follows = before.is_some_and(|before| before + 1 == n);
        if let Some(before) = before.filter(|_| !follows) {
            self.jumps.push((before, n));
        }
        follows
    }

    /// How many pages are out of order. The last by key has none behind it and counts as in order.
    pub(crate) fn out_of_order(&self) -> u64 {
        let in_order = |&(before, n): &(u64, u64)| self.next_in_file(before) == Some(n);
        self.jumps.iter().filter(|jump| !in_order(jump)).count() as u64
    }

    /// The first page of the level behind a place in the file.
    fn next_in_file(&self, n: u64) -> Option<u64> {
        self.extents.range(n / 8..).find_map(|(&extent, &pages)| {
            let behind = if extent == n / 8 { pages & !(0xFF >> (7 - n % 8)) } else { pages };
            (behind != 0).then(|| extent * 8 + u64::from(behind.trailing_zeros()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pages: &[u32]) -> (u64, u64) {
        let mut order = PageOrder::default();
        let fragments = pages.iter().filter(|&&p| !order.add(PageId::new(1, p))).count();
        (order.out_of_order(), fragments as u64)
    }

    #[test]
    fn gaps_are_fragments_and_only_a_page_of_the_level_between_is_disorder() {
        assert_eq!(of(&[]), (0, 0));
        assert_eq!(of(&[8, 9, 10]), (0, 1));
        assert_eq!(of(&[8, 9, 15, 16, 40]), (0, 3), "extents of others between");
        assert_eq!(of(&[8, 40, 9]), (2, 3), "the new page of a split in the middle");
        assert_eq!(of(&[3, 2, 1]), (2, 3), "backwards");
        assert_eq!(of(&[7, 8, 15, 14]), (2, 3), "15 follows 8 by key, 14 in the file");
    }
}
