//! What the log says about allocation pages, and the only code that changes them.
//!
//! | kind | page | payload |
//! |---|---|---|
//! | SET_PFS | PFS | page 4, old byte, new byte |
//! | SET_BITS | GAM, SGAM, IAM, DIFF, ML | first extent 4, count 4, bit 1 |
//! | FORMAT | any of them | kind 1, fill bit 1; IAM: sequence 4, start 4, file 2, log end 8 |
//! | SET_SINGLE | IAM | place 1, page 4, file 2 |
//! | LINK_IAM | IAM | next page 4, file 2 |
//! | SET_FACTS | file header, boot | offset 2, bytes |

use crate::iam;
use base::{FileId, Lsn, PageId};
use page::{ExtentBits, PageBytes, PageKind, PageMut, PageView, Pfs, at};
use wal::{ApplyError, Kind, PageOp, RecordDescription, RecordView, RedoHandler};

/// Kinds of this crate.
#[allow(missing_docs)]
pub mod kinds {
    use wal::{Kind, kinds::FIRST_OF_SPACE};
    pub const SET_PFS: Kind = Kind(FIRST_OF_SPACE);
    pub const SET_BITS: Kind = Kind(FIRST_OF_SPACE + 1);
    pub const FORMAT: Kind = Kind(FIRST_OF_SPACE + 2);
    pub const SET_SINGLE: Kind = Kind(FIRST_OF_SPACE + 3);
    pub const LINK_IAM: Kind = Kind(FIRST_OF_SPACE + 4);
    pub const SET_FACTS: Kind = Kind(FIRST_OF_SPACE + 5);
    /// All of them.
    pub const RANGE: std::ops::RangeInclusive<u8> = FIRST_OF_SPACE..=FIRST_OF_SPACE + 5;
}

/// Owner of the kinds of this crate.
pub struct SpaceRedo;

fn u32_at(b: &[u8], at: usize) -> Result<u32, ApplyError> {
    let b = b.get(at..at + 4).ok_or(SHORT)?;
    Ok(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

fn u16_at(b: &[u8], at: usize) -> Result<u16, ApplyError> {
    let b = b.get(at..at + 2).ok_or(SHORT)?;
    Ok(u16::from_le_bytes([b[0], b[1]]))
}

const SHORT: ApplyError = ApplyError("the record is too short");
const WRONG_PAGE: ApplyError = ApplyError("the record is for another kind of page");

fn kind_is(page: &PageBytes, kinds: &[PageKind]) -> Result<(), ApplyError> {
    debug_assert!(!kinds.is_empty(), "an operation is for some kind of page");
    let kind = PageView(page).kind();
    if kind.is_some_and(|k| kinds.contains(&k)) { Ok(()) } else { Err(WRONG_PAGE) }
}

impl RedoHandler for SpaceRedo {
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        let p = op.payload;
        match op.kind {
            kinds::SET_PFS => {
                kind_is(page, &[PageKind::Pfs])?;
                let byte = *p.get(5).ok_or(SHORT)?;
                Pfs(byte).set(&mut PageMut(page), u32_at(p, 0)?);
                debug_assert_eq!(
                    Pfs::get(PageView(page), u32_at(p, 0)?),
                    Pfs(byte),
                    "read as written"
                );
                Ok(())
            }
            kinds::SET_BITS => set_bits(p, page),
            kinds::FORMAT => format(op, page),
            kinds::SET_SINGLE => {
                kind_is(page, &[PageKind::Iam])?;
                let place = usize::from(*p.first().ok_or(SHORT)?);
                let id = PageId::new(u16_at(p, 5)?, u32_at(p, 1)?);
                if place >= iam::SINGLES {
                    return Err(ApplyError("an IAM page has eight single pages"));
                }
                iam::put_single(page, place, id);
                Ok(())
            }
            kinds::LINK_IAM => {
                kind_is(page, &[PageKind::Iam])?;
                let next = PageId::new(u16_at(p, 4)?, u32_at(p, 0)?);
                PageMut(page).set_next_page(next);
                debug_assert_eq!(PageView(page).next_page(), next, "read as written");
                Ok(())
            }
            kinds::SET_FACTS => {
                kind_is(page, &[PageKind::FileHeader, PageKind::Boot])?;
                let from = usize::from(u16_at(p, 0)?);
                let bytes = &p[2..];
                let place = page.get_mut(from..from + bytes.len());
                let place = place.filter(|_| from >= at::BODY);
                place.ok_or(ApplyError("facts lie beyond the page"))?.copy_from_slice(bytes);
                Ok(())
            }
            _ => Err(ApplyError("not a kind of space")),
        }
    }

    fn describe<'a>(&self, record: &RecordView<'a>) -> RecordDescription<'a> {
        debug_assert!(kinds::RANGE.contains(&record.kind().0), "a record of this crate");
        let p = record.payload();
        match record.kind() {
            kinds::SET_PFS => RecordDescription {
                contents: [p.get(4..5), p.get(5..6), None],
                offset_in_row: u32_at(p, 0).ok().map(|page| (page % page::PFS_INTERVAL) as u16),
                modify_size: Some(1),
                elements: Some(2),
                ..RecordDescription::new("LOP_MODIFY_ROW", "LCX_PFS")
            },
            kinds::SET_BITS => RecordDescription {
                bits: bits_of(p),
                ..RecordDescription::new("LOP_SET_BITS", bits_context(record))
            },
            kinds::FORMAT => RecordDescription {
                format: p.first().map(|&kind| (kind, 0)),
                ..RecordDescription::new("LOP_FORMAT_PAGE", format_context(p))
            },
            kinds::SET_SINGLE | kinds::LINK_IAM => {
                RecordDescription::new("LOP_MODIFY_ROW", "LCX_IAM").with(p)
            }
            _ => RecordDescription {
                offset_in_row: u16_at(p, 0).ok(),
                modify_size: Some(p.len().saturating_sub(2) as u16),
                contents: [None, p.get(2..), None],
                elements: Some(1),
                ..RecordDescription::new("LOP_FILE_HDR_MODIFY", "LCX_FILE_HEADER")
            },
        }
    }

    fn explain(&self, record: &RecordView<'_>) -> String {
        let (Some(id), p) = (record.page(), record.payload()) else { return String::new() };
        match (record.kind(), u32_at(p, 0), p.get(4), p.get(5)) {
            (kinds::SET_PFS, Ok(page), Some(&old), Some(&new)) => {
                let (old, new) = (Pfs(old).is_allocated(), Pfs(new).is_allocated());
                let what = match (old, new) {
                    (false, true) => "Allocated",
                    (true, false) => "Deallocated",
                    _ => "Changed",
                };
                format!("{what} {:04x}:{page:08x}", id.file.0)
            }
            _ => String::new(),
        }
    }
}

fn bits_of(p: &[u8]) -> Option<(u32, u32, bool)> {
    Some((u32_at(p, 0).ok()?, u32_at(p, 4).ok()?, *p.get(8)? != 0))
}

fn format_context(p: &[u8]) -> &'static str {
    match p.first().copied().and_then(PageKind::from_byte) {
        Some(PageKind::Pfs) => "LCX_PFS",
        Some(PageKind::Gam) => "LCX_GAM",
        Some(PageKind::Sgam) => "LCX_SGAM",
        Some(PageKind::DiffMap) => "LCX_DIFF_MAP",
        Some(PageKind::BulkMap) => "LCX_ML_MAP",
        Some(PageKind::FileHeader) => "LCX_FILE_HEADER",
        Some(PageKind::Boot) => "LCX_BOOT_PAGE",
        _ => "LCX_IAM",
    }
}

fn bits_context(record: &RecordView<'_>) -> &'static str {
    let Some(id) = record.page() else { return "LCX_NULL" };
    match id {
        id if id == crate::gam_page(id) => "LCX_GAM",
        id if id == crate::sgam_page(id) => "LCX_SGAM",
        id if id == crate::diff_page(id) => "LCX_DIFF_MAP",
        id if id == crate::ml_page(id) => "LCX_ML_MAP",
        _ => "LCX_IAM",
    }
}

fn set_bits(p: &[u8], page: &mut PageBytes) -> Result<(), ApplyError> {
    use PageKind::{BulkMap, DiffMap, Gam, Iam, Sgam};
    kind_is(page, &[Gam, Sgam, Iam, DiffMap, BulkMap])?;
    let (first, count) = (u32_at(p, 0)?, u32_at(p, 4)?);
    let on = *p.get(8).ok_or(SHORT)? != 0;
    let end = first.checked_add(count).ok_or(ApplyError("a range of extents ends"))?;
    if count > page::EXTENTS_PER_INTERVAL {
        return Err(ApplyError("a range of extents lies within an interval"));
    }
    for extent in first..end {
        ExtentBits::set(&mut PageMut(page), extent, on);
    }
    let is = |extent| ExtentBits::get(PageView(page), extent) == on;
    debug_assert!(count == 0 || is(first) && is(end - 1), "all of the range is as it says");
    Ok(())
}

fn format(op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
    let p = op.payload;
    let kind = PageKind::from_byte(*p.first().ok_or(SHORT)?).ok_or(WRONG_PAGE)?;
    let fill = *p.get(1).ok_or(SHORT)? != 0;
    PageMut(page).format(kind, op.page, op.unit, 0, 0);
    debug_assert_eq!(PageView(page).page_id(), op.page, "a page knows its place");
    debug_assert_eq!(PageView(page).alloc_unit(), op.unit, "and its owner");
    if fill {
        for extent in 0..page::EXTENTS_PER_INTERVAL {
            ExtentBits::set(&mut PageMut(page), extent, true);
        }
        let all = page::EXTENTS_PER_INTERVAL;
        debug_assert!(ExtentBits::get(PageView(page), all - 1), "filled to the last bit");
    }
    if kind == PageKind::Iam {
        iam::put_header(page, u32_at(p, 2)?, FileId(u16_at(p, 10)?), u32_at(p, 6)?);
        if let Some(made) = p.get(12..).and_then(|b| b.first_chunk::<8>()) {
            iam::put_made(page, Lsn(u64::from_le_bytes(*made)));
        }
    }
    Ok(())
}

/// Payload of SET_PFS.
pub(crate) fn pfs_payload(page: u32, old: Pfs, new: Pfs) -> [u8; 6] {
    let p = page.to_le_bytes();
    [p[0], p[1], p[2], p[3], old.0, new.0]
}

/// Payload of SET_BITS.
pub(crate) fn bits_payload(first: u32, count: u32, on: bool) -> [u8; 9] {
    assert!(count > 0, "some bit changes");
    let interval = |extent| extent / page::EXTENTS_PER_INTERVAL;
    debug_assert_eq!(interval(first), interval(first + count - 1), "bits of one map page");
    let mut b = [0; 9];
    b[..4].copy_from_slice(&first.to_le_bytes());
    b[4..8].copy_from_slice(&count.to_le_bytes());
    b[8] = u8::from(on);
    b
}

/// Payload of FORMAT for a page without a header of its own.
pub(crate) fn format_payload(kind: PageKind, fill: bool) -> [u8; 2] {
    assert_ne!(kind, PageKind::Iam, "an IAM page has a header of its own");
    debug_assert!(!fill || kind == PageKind::DiffMap, "only the differential map begins full");
    [kind as u8, u8::from(fill)]
}

/// Payload of FORMAT for an IAM page.
pub(crate) fn format_iam_payload(sequence: u32, file: FileId, start: u32, made: Lsn) -> [u8; 20] {
    assert_ne!(file.0, 0, "files count from 1");
    let mut b = [0; 20];
    b[0] = PageKind::Iam as u8;
    b[2..6].copy_from_slice(&sequence.to_le_bytes());
    b[6..10].copy_from_slice(&start.to_le_bytes());
    b[10..12].copy_from_slice(&file.0.to_le_bytes());
    b[12..].copy_from_slice(&made.0.to_le_bytes());
    b
}

/// The kind that a record of this crate has, for tests of ranges.
pub(crate) const _FIRST: Kind = kinds::SET_PFS;
