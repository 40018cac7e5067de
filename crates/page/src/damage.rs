//! What can be wrong with a page's bytes, apart from what its records say.
//!
//! Invariants
//!  1. Nothing here panics, whatever the bytes are.
//!  2. A page that this program wrote has no damage.

use crate::header::{FLAG_CHECKSUM, PageBytes, PageView, at, u16_at, u32_at};
use crate::record::RecordKind;
use base::limits::{PAGE_BODY_BYTES, PAGE_BYTES, PAGE_HEADER_BYTES};

/// What is wrong with a page's bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// The slot array does not fit the page.
    SlotCount(u16),
    /// A slot points outside the body or at no record.
    Slot(u16),
    /// Two records share bytes: the later slot, and the one it overlaps.
    Overlap(u16, u16),
    /// m_freeCnt is not what the records leave.
    FreeCount {
        /// In the header.
        stored: u16,
        /// From the records.
        computed: u16,
    },
    /// m_freeData is below the end of a record, or within the slot array.
    FreeData(u16),
    /// m_ghostRecCnt is not the number of ghosts.
    GhostCount {
        /// In the header.
        stored: u16,
        /// Counted.
        counted: u16,
    },
    /// A field of the header that has one right value has another.
    Header {
        /// As DBCC PAGE names it.
        field: &'static str,
        /// In the header.
        stored: u32,
        /// The only right one.
        expected: u32,
    },
}

/// The first damage of a page that should have slotted records.
///
/// # Errors
/// That damage.
pub fn check(page: &PageBytes) -> Result<(), Damage> {
    match slots(page, true).into_iter().next() {
        Some(damage) => Err(damage),
        None => Ok(()),
    }
}

/// Every damage of slots and counts of a page that should have slotted records.
pub fn damages(page: &PageBytes) -> Vec<Damage> {
    slots(page, false)
}

/// Where a record lies: offset, length, slot.
type Span = (usize, usize, u16);

fn slots(page: &PageBytes, only_first: bool) -> Vec<Damage> {
    let v = PageView(page);
    let count = v.slot_count();
    if 2 * usize::from(count) > PAGE_BODY_BYTES {
        return vec![Damage::SlotCount(count)];
    }
    let mut found = Vec::new();
    let mut spans: Vec<Span> = Vec::with_capacity(usize::from(count));
    let (mut used, mut ghosts) = (0, 0);
    let floor = PAGE_BYTES - 2 * usize::from(count);
    for slot in 0..count {
        let offset = v.slot_offset(slot);
        if offset == Some(0) {
            continue;
        }
        let record = offset.zip(v.record(slot));
        match record.filter(|(at, r)| usize::from(*at) + r.len() <= floor) {
            Some((at, record)) => {
                ghosts += u16::from(RecordKind::of(record[0]).is_ghost());
                used += record.len();
                spans.push((usize::from(at), record.len(), slot));
            }
            None => found.push(Damage::Slot(slot)),
        }
        if only_first && !found.is_empty() {
            return found;
        }
    }
    // What a damaged slot leaves is not known: neither the free bytes nor the ghosts.
    let whole = found.is_empty();
    // In order only where somebody has to be named: sorting costs more than all the rest.
    if !are_apart(&spans) {
        spans.sort_unstable();
        overlaps(&spans, &mut found);
    }
    if whole {
        counts(v, (used, ghosts, floor), spans.iter().max(), &mut found);
    }
    found
}

/// Whether no byte is in two records, each of which lies on the page.
fn are_apart(spans: &[Span]) -> bool {
    const BITS: usize = u64::BITS as usize;
    let mut taken = [0_u64; PAGE_BYTES / BITS];
    for &(at, length, _) in spans {
        let (mut from, end) = (at, at + length);
        while from < end {
            let to = end.min((from / BITS + 1) * BITS);
            let bits = u64::MAX >> (BITS - (to - from)) << (from % BITS);
            let word = &mut taken[from / BITS];
            if *word & bits != 0 {
                return false;
            }
            *word |= bits;
            from = to;
        }
    }
    true
}

fn overlaps(spans: &[Span], found: &mut Vec<Damage>) {
    for pair in spans.windows(2) {
        if pair[0].0 + pair[0].1 > pair[1].0 {
            found.push(Damage::Overlap(pair[1].2, pair[0].2));
        }
    }
}

fn counts(
    v: PageView<'_>,
    (used, ghosts, floor): (usize, u16, usize),
    last: Option<&Span>,
    found: &mut Vec<Damage>,
) {
    let taken = used + 2 * usize::from(v.slot_count());
    let computed = PAGE_BODY_BYTES.saturating_sub(taken) as u16;
    if computed != v.free_count() {
        found.push(Damage::FreeCount { stored: v.free_count(), computed });
    }
    let top = last.map_or(PAGE_HEADER_BYTES, |s| s.0 + s.1);
    if usize::from(v.free_data()) < top || usize::from(v.free_data()) > floor {
        found.push(Damage::FreeData(v.free_data()));
    }
    if ghosts != v.ghost_count() {
        found.push(Damage::GhostCount { stored: v.ghost_count(), counted: ghosts });
    }
}

/// Fields of the header that are the same on every page that this program writes.
pub fn header_damages(page: &PageBytes) -> Vec<Damage> {
    let flags = u32::from(PageView(page).flags() & !FLAG_CHECKSUM);
    let rest = page[at::RESERVED..at::BODY].iter().position(|&b| b != 0);
    let rest = rest.map_or(0, |n| u32::from(page[at::RESERVED + n]));
    let xdes = u32_at(page, at::XDES_ID) | u32::from(u16_at(page, at::XDES_ID + 4));
    [
        ("m_headerVersion", u32::from(page[at::HEADER_VERSION]), 1),
        ("m_typeFlagBits", u32::from(page[at::TYPE_FLAGS]), 0),
        ("m_flagBits", flags, 0),
        ("m_indexId", u32::from(u16_at(page, at::INDEX_ID)), 256),
        ("m_reservedCnt", u32::from(u16_at(page, at::RESERVED_COUNT)), 0),
        ("m_xactReserved", u32::from(u16_at(page, at::XACT_RESERVED)), 0),
        ("m_xdesId", xdes, 0),
        ("reserved bytes", rest, 0),
    ]
    .into_iter()
    .filter(|(_, stored, expected)| stored != expected)
    .map(|(field, stored, expected)| Damage::Header { field, stored, expected })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_apart_where_no_byte_is_in_two() {
        let span = |at, length| (at, length, 0);
        assert!(are_apart(&[]) && are_apart(&[span(96, 8_000), span(8_096, 96)]));
        assert!(are_apart(&[span(160, 64), span(96, 64), span(224, 1), span(225, 130)]));
        for (at, length) in [(159, 2), (96, 1), (100, 200), (223, 1), (353, 2)] {
            let spans = [span(96, 64), span(160, 64), span(224, 130), span(at, length)];
            assert!(!are_apart(&spans), "{at} {length}");
        }
    }
    use crate::header::{PageKind, PageMut};
    use base::{AllocUnitId, PageId};

    fn page_of_three() -> Box<PageBytes> {
        let mut b = Box::new([0; PAGE_BYTES]);
        let mut p = PageMut(&mut b);
        p.format(PageKind::Data, PageId::new(1, 8), AllocUnitId(1), 0, 8);
        for n in 0..3 {
            p.insert(n, &[0x10, 0, 8, 0, n as u8, 0, 0, 0, 1, 0, 0]);
        }
        b
    }

    /// Damages that have nothing to do with each other are all named.
    #[test]
    fn every_damage_of_a_page_is_found_not_only_the_first() {
        let mut b = page_of_three();
        assert_eq!((damages(&b), header_damages(&b)), (vec![], vec![]));
        b[at::FREE_COUNT] ^= 1;
        b[at::GHOST_COUNT] = 7;
        b[at::FREE_DATA] = 97;
        assert_eq!(damages(&b).len(), 3, "{:?}", damages(&b));
        let second = b[PAGE_BYTES - 2];
        b[PAGE_BYTES - 4] = second;
        assert!(damages(&b).contains(&Damage::Overlap(1, 0)), "{:?}", damages(&b));
        b[PAGE_BYTES - 6] = 9;
        assert_eq!(damages(&b)[0], Damage::Slot(2));
    }

    /// Each field that has one right value is watched.
    #[test]
    fn a_field_of_the_header_that_never_changes_is_watched() {
        for at in [0, 2, 4, 6, 38, 50, 52, 57, 64, 95] {
            let mut b = page_of_three();
            b[at] ^= 0x40;
            assert_eq!(header_damages(&b).len(), 1, "byte {at}");
        }
    }
}
