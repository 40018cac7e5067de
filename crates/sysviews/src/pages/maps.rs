//! Style 3 of the maps: ranges of neighbouring pages or extents with the same state.

use super::header::Address;
use super::printout::Printout;
use super::read::{PageCopy, percent_full};
use base::limits::EXTENT_PAGES;
use base::{FileId, PageId};
use database::Database;
use page::{EXTENTS_PER_INTERVAL, ExtentBits, PFS_INTERVAL, PageKind, Pfs, at};
use std::ops::Range;

/// Prints the contents of a map, if the page is one.
pub(super) fn map(database: &Database, copy: &PageCopy, printed: &mut Printout) -> bool {
    let words: (&str, &str, &str) = match copy.view().kind() {
        Some(PageKind::Pfs) => {
            pfs(database, copy, printed);
            return true;
        }
        Some(PageKind::Iam) => {
            iam(database, copy, printed);
            return true;
        }
        Some(PageKind::Gam) => ("GAM", "NOT ALLOCATED", "    ALLOCATED"),
        Some(PageKind::Sgam) => ("SGAM", "    ALLOCATED", "NOT ALLOCATED"),
        Some(PageKind::DiffMap) => ("DIFF_MAP", "    CHANGED", "NOT CHANGED"),
        Some(PageKind::BulkMap) => ("ML_MAP", "    MIN_LOGGED", "NOT MIN_LOGGED"),
        _ => return false,
    };
    let (name, set, clear) = words;
    let bits = Address(copy.address() + u64::from(ExtentBits::AT));
    printed.object("PAGE HEADER:", format!("{name}: Extent Alloc Status @{bits}"));
    let interval = EXTENTS_PER_INTERVAL * EXTENT_PAGES;
    let first = copy.id.page / interval * EXTENTS_PER_INTERVAL;
    let range = within(database, copy.id.file, first..first + EXTENTS_PER_INTERVAL);
    extents(copy, (copy.id.file, range), (set, clear), printed);
    true
}

/// The part of a map's interval that the file contains.
fn within(database: &Database, file: FileId, range: Range<u32>) -> Range<u32> {
    let end = database.space().size_pages(file).unwrap_or(0) / EXTENT_PAGES;
    range.start..range.end.min(end).max(range.start)
}

fn extents(
    copy: &PageCopy,
    (file, range): (FileId, Range<u32>),
    (set, clear): (&str, &str),
    printed: &mut Printout,
) {
    let state = |n: u32| if ExtentBits::get(copy.view(), n) { set } else { clear };
    let page = |n: u32| PageId { file, page: n * EXTENT_PAGES };
    ranges(range, |n| state(n).to_owned(), page, printed);
}

/// Prints a line for each range with the same state.
fn ranges(
    range: Range<u32>,
    state: impl Fn(u32) -> String,
    page: impl Fn(u32) -> PageId,
    printed: &mut Printout,
) {
    let mut from = range.start;
    while from < range.end {
        let (first, mut end) = (state(from), from + 1);
        while end < range.end && state(end) == first {
            end += 1;
        }
        let last = if end - from > 1 { page(end - 1).to_string() } else { String::new() };
        let run = format!("{:<12} - {last:<12}", page(from).to_string());
        printed.line(run, " = ", first);
        from = end;
    }
}

fn pfs(database: &Database, copy: &PageCopy, printed: &mut Printout) {
    let bytes = Address(copy.address() + at::BODY as u64);
    printed.object("PAGE HEADER:", format!("PFS: Page Alloc Status @{bytes}"));
    let first = copy.id.page / PFS_INTERVAL * PFS_INTERVAL;
    let size = database.space().size_pages(copy.id.file).unwrap_or(0);
    let end = (first + PFS_INTERVAL).min(size).max(first);
    let page = |n| PageId { file: copy.id.file, page: n };
    ranges(first..end, |n| pfs_state(Pfs::get(copy.view(), n)), page, printed);
}

fn pfs_state(byte: Pfs) -> String {
    let is = if byte.is_allocated() { "    ALLOCATED" } else { "NOT ALLOCATED" };
    let mut state = format!("{is} {:>3}_PCT_FULL", percent_full(byte));
    for (bit, word) in
        [(Pfs::GHOSTS, " Has Ghost"), (Pfs::IAM, " IAM Page"), (Pfs::MIXED, " Mixed Ext")]
    {
        state.push_str(if byte.0 & bit != 0 { word } else { "" });
    }
    state
}

fn iam(database: &Database, copy: &PageCopy, printed: &mut Printout) {
    let facts = space::IamFacts::of(copy.view());
    let at = |offset: u64| Address(copy.address() + offset);
    let header = at(at::BODY as u64);
    printed.object("PAGE HEADER:", format!("IAM: Header @{header} Slot 0, Offset {}", at::BODY));
    printed.field("sequenceNumber", facts.sequence);
    let start = PageId { file: facts.file, page: facts.extents.start * EXTENT_PAGES };
    printed.field("start_pg", start);
    let singles = at(space::IamFacts::SINGLES_AT);
    printed.object("PAGE HEADER:", format!("IAM: Single Page Allocations @{singles}"));
    for (n, page) in facts.singles.iter().enumerate() {
        printed.field(format!("Slot {n}"), page);
    }
    let bits = at(u64::from(ExtentBits::AT));
    printed.object("PAGE HEADER:", format!("IAM: Extent Alloc Status Slot 1 @{bits}"));
    let range = within(database, facts.file, facts.extents);
    extents(copy, (facts.file, range), ("    ALLOCATED", "NOT ALLOCATED"), printed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_one_range() {
        let mut printed = Printout::default();
        printed.object("PAGE HEADER:", "GAM");
        let state = |n: u32| if n == 2 { "b" } else { "a" }.to_owned();
        ranges(0..5, state, |n| PageId::new(1, n * 8), &mut printed);
        let lines: Vec<String> = printed.lines().split_off(3);
        assert_eq!(
            lines,
            [
                "(1:0)        - (1:8)        = a",
                "(1:16)       -              = b",
                "(1:24)       - (1:32)       = a"
            ]
        );
    }

    #[test]
    fn a_page_is_told_with_what_its_byte_says() {
        assert_eq!(pfs_state(Pfs(0x70)), "    ALLOCATED   0_PCT_FULL IAM Page Mixed Ext");
        assert_eq!(pfs_state(Pfs(0)), "NOT ALLOCATED   0_PCT_FULL");
        assert_eq!(pfs_state(Pfs(0x4C)), "    ALLOCATED 100_PCT_FULL Has Ghost");
    }
}
