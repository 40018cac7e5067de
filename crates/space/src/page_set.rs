//! A set of pages as bits: 128 KB for a gigabyte, so that checks of large databases have room.

use base::PageId;
use std::collections::BTreeMap;

/// Pages of one segment of bits.
const SEGMENT: u32 = 1 << 15;

/// A set of pages.
#[derive(Clone, Debug, Default)]
pub struct PageSet {
    segments: BTreeMap<(u16, u32), Box<[u64]>>,
}

impl PageSet {
    fn place(page: PageId) -> ((u16, u32), usize, u64) {
        let n = page.page % SEGMENT;
        ((page.file.0, page.page / SEGMENT), (n / 64) as usize, 1 << (n % 64))
    }

    /// Adds a page; false when it was there.
    pub fn insert(&mut self, page: PageId) -> bool {
        let (key, word, bit) = Self::place(page);
        let fresh = || vec![0; (SEGMENT / 64) as usize].into_boxed_slice();
        let words = self.segments.entry(key).or_insert_with(fresh);
        let new = words[word] & bit == 0;
        words[word] |= bit;
        debug_assert!(self.contains(page), "what was put in is in it");
        new
    }

    /// Whether it has a page.
    pub fn contains(&self, page: PageId) -> bool {
        let (key, word, bit) = Self::place(page);
        self.segments.get(&key).is_some_and(|words| words[word] & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_in_it_once_it_was_put_in() {
        let mut set = PageSet::default();
        let pages = [(1, 0), (1, 63), (1, 64), (1, SEGMENT - 1), (1, SEGMENT), (3, u32::MAX)];
        for (file, page) in pages {
            assert!(!set.contains(PageId::new(file, page)));
            assert!(set.insert(PageId::new(file, page)));
            assert!(!set.insert(PageId::new(file, page)) && set.contains(PageId::new(file, page)));
        }
        assert!(!set.contains(PageId::new(2, 0)) && !set.contains(PageId::new(1, 1)));
    }
}
