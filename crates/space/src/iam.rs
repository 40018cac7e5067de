//! The header of an IAM page.
//!
//! | off | len | field |
//! |---|---|---|
//! | 96 | 4 | sequence number in the unit's chain |
//! | 100 | 4 | first extent of the interval it covers |
//! | 104 | 8 x 6 | single pages from mixed extents: page 4, file 2 |
//! | 152 | 2 | file of the interval |
//! | 156 | 8 | end of the log when the page was made: no page of the unit is older |
//! | 204 | 7988 | a bit for each extent: 1 = the unit's |
//!
//! The chain runs through m_nextPage.

use base::{FileId, Lsn, PageId};
use page::{EXTENTS_PER_INTERVAL, PageBytes, PageKind, PageView, at};

pub(crate) const SINGLES: usize = 8;
const SEQUENCE: usize = at::BODY;
const START: usize = at::BODY + 4;
const SINGLE: usize = at::BODY + 8;
const FILE: usize = SINGLE + 6 * SINGLES;
const MADE: usize = FILE + 4;
const BITS: usize = 204;
const _: () = assert!(MADE + 8 <= BITS);

fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

/// Fills the header of a freshly formatted IAM page.
pub(crate) fn put_header(page: &mut PageBytes, sequence: u32, file: FileId, start_extent: u32) {
    page[SEQUENCE..SEQUENCE + 4].copy_from_slice(&sequence.to_le_bytes());
    page[START..START + 4].copy_from_slice(&start_extent.to_le_bytes());
    page[FILE..FILE + 2].copy_from_slice(&file.0.to_le_bytes());
    debug_assert_eq!(self::sequence(PageView(page)), sequence, "read as written");
    debug_assert_eq!(interval(PageView(page)).0, file, "read as written");
    debug_assert_eq!(interval(PageView(page)).1.start, start_extent, "read as written");
}

/// Notes when the page was made.
pub(crate) fn put_made(page: &mut PageBytes, made: Lsn) {
    page[MADE..MADE + 8].copy_from_slice(&made.0.to_le_bytes());
    debug_assert_eq!(self::made(PageView(page)), made, "read as written");
}

/// When the page was made; zero where that was not noted.
pub(crate) fn made(v: PageView<'_>) -> Lsn {
    debug_assert_eq!(v.kind(), Some(PageKind::Iam), "checked before it is read");
    let (low, high) = (u32_at(v.0, MADE), u32_at(v.0, MADE + 4));
    Lsn(u64::from(high) << 32 | u64::from(low))
}

/// Bytes of the header that nothing uses.
pub(crate) fn unused_fault(v: PageView<'_>) -> Option<&'static str> {
    debug_assert_eq!(v.kind(), Some(PageKind::Iam), "checked before it is read");
    let zero = |range: std::ops::Range<usize>| v.0[range].iter().all(|&b| b == 0);
    let unused = zero(SINGLE..FILE) && zero(FILE + 2..MADE) && zero(MADE + 8..BITS);
    (!unused).then_some("single page")
}

/// The sequence number.
pub(crate) fn sequence(v: PageView<'_>) -> u32 {
    debug_assert_eq!(v.kind(), Some(PageKind::Iam), "checked before it is read");
    u32_at(v.0, SEQUENCE)
}

/// The file and the extents that the page covers.
pub(crate) fn interval(v: PageView<'_>) -> (FileId, std::ops::Range<u32>) {
    debug_assert_eq!(v.kind(), Some(PageKind::Iam), "checked before it is read");
    let start = u32_at(v.0, START);
    let file = FileId(u16::from_le_bytes([v.0[FILE], v.0[FILE + 1]]));
    (file, start..start.saturating_add(EXTENTS_PER_INTERVAL))
}

/// What the header of an IAM page says, for whoever shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IamFacts {
    /// Its number in the unit's chain.
    pub sequence: u32,
    /// The file of the extents.
    pub file: FileId,
    /// The extents that it covers.
    pub extents: std::ops::Range<u32>,
    /// Single pages of mixed extents: none is given to anybody here.
    pub singles: Vec<PageId>,
}

impl IamFacts {
    /// Where on the page the single pages stand.
    pub const SINGLES_AT: u64 = SINGLE as u64;

    /// Reads the header of an IAM page.
    pub fn of(v: PageView<'_>) -> IamFacts {
        let (file, extents) = interval(v);
        let single = |n: usize| {
            let at = SINGLE + 6 * n;
            PageId::new(u16::from_le_bytes([v.0[at + 4], v.0[at + 5]]), u32_at(v.0, at))
        };
        let singles = (0..SINGLES).map(single).collect();
        IamFacts { sequence: sequence(v), file, extents, singles }
    }
}

/// Sets a single page.
pub(crate) fn put_single(page: &mut PageBytes, i: usize, id: PageId) {
    assert!(i < SINGLES);
    debug_assert_eq!(PageView(page).kind(), Some(PageKind::Iam), "single pages are an IAM page's");
    let at = SINGLE + 6 * i;
    page[at..at + 4].copy_from_slice(&id.page.to_le_bytes());
    page[at + 4..at + 6].copy_from_slice(&id.file.0.to_le_bytes());
    debug_assert!(at + 6 <= FILE, "single pages end before the file");
}
