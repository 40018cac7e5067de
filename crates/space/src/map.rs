//! Where the allocation pages stand.
//!
//! ```text
//! page 0 file header   1 PFS   2 GAM   3 SGAM   6 DIFF   7 ML   9 boot (file 1)
//! pages 16-47 doublewrite area (file 1)         first free extent: 6
//! PFS again at every multiple of 8,088; GAM, SGAM, DIFF, ML at 511,232 k + 0, 1, 4, 5
//! ```

use base::{FileId, PageId};
use page::{EXTENTS_PER_INTERVAL, PFS_INTERVAL};

/// Pages of a GAM interval.
pub(crate) const INTERVAL_PAGES: u32 = EXTENTS_PER_INTERVAL * 8;

fn in_interval(file: FileId, page: u32, first: u32, later: u32) -> PageId {
    let of = page;
    let page = match page / INTERVAL_PAGES {
        0 => first,
        k => k * INTERVAL_PAGES + later,
    };
    debug_assert!(page / INTERVAL_PAGES == of / INTERVAL_PAGES, "a map is in its interval");
    debug_assert!(is_system_extent(page / 8), "a map is in an extent of maps");
    PageId { file, page }
}

/// The PFS page that covers a page.
pub const fn pfs_page(of: PageId) -> PageId {
    let page = match of.page / PFS_INTERVAL {
        0 => 1,
        k => k * PFS_INTERVAL,
    };
    debug_assert!(page / PFS_INTERVAL == of.page / PFS_INTERVAL, "a map is in its interval");
    PageId { file: of.file, page }
}

/// The GAM page that covers a page.
pub fn gam_page(of: PageId) -> PageId {
    in_interval(of.file, of.page, 2, 0)
}

/// The SGAM page that covers a page.
pub fn sgam_page(of: PageId) -> PageId {
    in_interval(of.file, of.page, 3, 1)
}

/// The differential map page that covers a page.
pub fn diff_page(of: PageId) -> PageId {
    in_interval(of.file, of.page, 6, 4)
}

/// The bulk (ML) map page that covers a page.
pub fn ml_page(of: PageId) -> PageId {
    in_interval(of.file, of.page, 7, 5)
}

/// The boot page of a database.
pub const fn boot_page() -> PageId {
    PageId::new(1, 9)
}

/// Whether the extent of a page holds allocation pages and is never given to anybody.
pub(crate) fn is_system_extent(extent: u32) -> bool {
    let first = extent * 8;
    let holds = |interval: u32| first.next_multiple_of(interval) < first + 8;
    extent < crate::format::FIRST_FREE_EXTENT || holds(PFS_INTERVAL) || holds(INTERVAL_PAGES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_the_published_ones() {
        let p = |page| PageId::new(1, page);
        assert_eq!((pfs_page(p(0)), pfs_page(p(8087)), pfs_page(p(8088))), (p(1), p(1), p(8088)));
        assert_eq!((gam_page(p(511_231)), gam_page(p(511_232))), (p(2), p(511_232)));
        assert_eq!((sgam_page(p(9)), sgam_page(p(600_000))), (p(3), p(511_233)));
        assert!(is_system_extent(1011) && is_system_extent(63_904) && !is_system_extent(1012));
    }
}
