//! Allocation pages: PFS (a byte a page) and extent bitmaps (GAM, SGAM, IAM, DIFF, ML).
//!
//! | structure | first page | repeats every | covers |
//! |---|---|---|---|
//! | PFS | 1 | 8,088 pages | 8,088 pages |
//! | GAM, SGAM, DIFF, ML | 2, 3, 6, 7 | 511,232 pages | 63,904 extents |
//! | IAM | anywhere | one per unit, file and GAM interval | 63,904 extents |
//!
//! These pages have no slots: the bytes stand at fixed places after the header, so that changing
//! one is a patch of a known offset.

use crate::header::{PageMut, PageView, at};
use base::limits::PAGE_BYTES;

/// Pages one PFS page covers.
pub const PFS_INTERVAL: u32 = 8088;
/// Extents one bitmap page covers.
pub const EXTENTS_PER_INTERVAL: u32 = 63_904;
/// Where the bits of an extent bitmap begin: the page's end minus 7,988 bytes, as far as an IAM
/// page's own header leaves.
const BITS_AT: usize = PAGE_BYTES - 7988;
/// Bytes of a bitmap that are passed over at once.
const EMPTY_STRETCH: [u8; 512] = [0; 512];
const _: () = assert!(BITS_AT >= at::BODY + 64 && EXTENTS_PER_INTERVAL as usize == 7988 * 8);

/// One page's byte in a PFS page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pfs(pub u8);

impl Pfs {
    /// Bits 0 to 2: 0 empty, 1 up to 50 %, 2 up to 80 %, 3 up to 95 %, 4 full.
    pub const FULLNESS: u8 = 0x07;
    /// The page has ghost records.
    pub const GHOSTS: u8 = 0x08;
    /// The page is an IAM page.
    pub const IAM: u8 = 0x10;
    /// The page belongs to a mixed extent.
    pub const MIXED: u8 = 0x20;
    /// The page is allocated.
    pub const ALLOCATED: u8 = 0x40;

    /// Whether the page is allocated.
    pub const fn is_allocated(self) -> bool {
        self.0 & Self::ALLOCATED != 0
    }

    /// The fullness class of a page with that many free bytes.
    pub const fn fullness_of(free_bytes: u16) -> u8 {
        let used = 8096_u32.saturating_sub(free_bytes as u32) * 100;
        match used {
            0 => 0,
            1..=404_800 => 1,
            404_801..=647_680 => 2,
            647_681..=769_120 => 3,
            _ => 4,
        }
    }

    /// Where in its PFS page a page's byte stands.
    pub const fn offset_of(page: u32) -> usize {
        at::BODY + (page % PFS_INTERVAL) as usize
    }

    /// A page's byte on the PFS page that covers it.
    pub fn get(view: PageView<'_>, page: u32) -> Pfs {
        Pfs(view.0[Self::offset_of(page)])
    }

    /// Sets a page's byte.
    pub fn set(self, page_bytes: &mut PageMut<'_>, page: u32) {
        page_bytes.0[Self::offset_of(page)] = self.0;
    }
}

/// The bits of a GAM, SGAM, IAM, DIFF or ML page.
pub struct ExtentBits;

impl ExtentBits {
    /// Where on the page the bits begin.
    pub const AT: u16 = BITS_AT as u16;

    /// Whether the bit of an extent (its number within the file) is set.
    pub fn get(view: PageView<'_>, extent: u32) -> bool {
        let n = (extent % EXTENTS_PER_INTERVAL) as usize;
        view.0[BITS_AT + n / 8] & (1 << (n % 8)) != 0
    }

    /// Sets or clears the bit of an extent.
    pub fn set(page: &mut PageMut<'_>, extent: u32, on: bool) {
        let n = (extent % EXTENTS_PER_INTERVAL) as usize;
        let mask = 1 << (n % 8);
        if on {
            page.0[BITS_AT + n / 8] |= mask;
        } else {
            page.0[BITS_AT + n / 8] &= !mask;
        }
    }

    /// The first extent of the interval, at or after `from` within it, whose bit is set.
    pub fn first_set(view: PageView<'_>, from: u32, end: u32) -> Option<u32> {
        let mut n = from;
        while n < end {
            let at = (n % EXTENTS_PER_INTERVAL) as usize;
            // Most of a long stretch has no bit set.
            let stretch = view.0.get(BITS_AT + at / 8..).and_then(<[u8]>::first_chunk);
            if at.is_multiple_of(8) && stretch == Some(&EMPTY_STRETCH) {
                n = n.saturating_add(8 * EMPTY_STRETCH.len() as u32);
                continue;
            }
            // Then whole words.
            let ahead = view.0.get(BITS_AT + at / 8..).and_then(<[u8]>::first_chunk);
            if let Some(word) = ahead.filter(|_| at.is_multiple_of(8)) {
                let word = u64::from_le_bytes(*word);
                let found = n.saturating_add(word.trailing_zeros());
                match word {
                    0 => n = found,
                    _ => return (found < end).then_some(found),
                }
                continue;
            }
            let byte = view.0[BITS_AT + at / 8] >> (at % 8);
            if byte != 0 {
                let found = n + byte.trailing_zeros();
                return (found < end).then_some(found);
            }
            n = n.saturating_add(8 - (at % 8) as u32);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_found_from_any_start() {
        let mut b = [0; PAGE_BYTES];
        let mut p = PageMut(&mut b);
        for e in [0, 7, 8, 63, 64, 1000, EXTENTS_PER_INTERVAL - 1] {
            ExtentBits::set(&mut p, e, true);
        }
        let v = p.view();
        let next = |from| ExtentBits::first_set(v, from, EXTENTS_PER_INTERVAL);
        assert_eq!((next(0), next(1), next(8), next(9)), (Some(0), Some(7), Some(8), Some(63)));
        assert_eq!((next(65), next(1001)), (Some(1000), Some(EXTENTS_PER_INTERVAL - 1)));
        assert_eq!(ExtentBits::first_set(v, 65, 1000), None);
        assert!(ExtentBits::get(v, EXTENTS_PER_INTERVAL * 3 + 64));
    }

    /// What is passed over at once ends where a bit is, or the bits that are asked about.
    #[test]
    fn a_bit_behind_a_long_stretch_is_found_from_any_start() {
        for bit in [4095, 4096, 4097, 8191, 8192, 12_000, 61_439, 61_440, 63_000] {
            let mut b = [0; PAGE_BYTES];
            ExtentBits::set(&mut PageMut(&mut b), bit, true);
            for from in (0..9).chain(4090..4100).chain(bit - 9..bit + 2) {
                for end in [bit, bit + 1, EXTENTS_PER_INTERVAL] {
                    let wanted = (from <= bit && bit < end).then_some(bit);
                    let found = ExtentBits::first_set(PageView(&b), from, end);
                    assert_eq!(found, wanted, "{bit} from {from} up to {end}");
                }
            }
        }
    }

    #[test]
    fn the_last_page_of_a_pfs_interval_has_its_byte_on_the_page() {
        assert_eq!(Pfs::offset_of(8087), 96 + 8087);
        assert_eq!(Pfs::offset_of(8088), 96);
        assert_eq!(Pfs::offset_of(PFS_INTERVAL - 1), PAGE_BYTES - 9);
        assert_eq!(Pfs::fullness_of(8096), 0);
        assert_eq!((Pfs::fullness_of(4048), Pfs::fullness_of(4047)), (1, 2));
    }
}
