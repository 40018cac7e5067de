//! What the log says about pages of a database's own store, and the only code that changes them.
//!
//! | kind | slot | payload |
//! |---|---|---|
//! | FORMAT | | |
//! | PUT | its slot, empty or the next | the version, as `format.rs` has it |
//! | CLEAR | its slot | more slots that are emptied, 2 bytes each, rising |
//! | PATCH | its slot | offset in the version 2, bytes |
//!
//! Slots keep their numbers, because tags name versions by page and slot. Empty slots at the end
//! go with the last version before them. No operation is undone: all are logged for redo alone.

use crate::format::{SUPERSEDER_AT, StoredVersion};
use base::limits::PAGE_BODY_BYTES;
use page::{PageBytes, PageKind, PageMut, PageView, fits};
use wal::{ApplyError, Kind, PageOp, RecordDescription, RecordView, RedoHandler};

/// Kinds of a store's pages.
pub(crate) mod kinds {
    use wal::{Kind, kinds::FIRST_OF_VERSIONS};
    pub(crate) const FORMAT: Kind = Kind(FIRST_OF_VERSIONS);
    pub(crate) const PUT: Kind = Kind(FIRST_OF_VERSIONS + 1);
    pub(crate) const CLEAR: Kind = Kind(FIRST_OF_VERSIONS + 2);
    pub(crate) const PATCH: Kind = Kind(FIRST_OF_VERSIONS + 3);
}

/// The kinds of a store's pages, for the table of redo handlers.
pub const VERSION_KINDS: std::ops::RangeInclusive<u8> =
    wal::kinds::FIRST_OF_VERSIONS..=wal::kinds::FIRST_OF_VERSIONS + 3;

/// Owner of the kinds of a store's pages.
pub struct VersionRedo;

const MISFIT: ApplyError = ApplyError("the record does not fit the page of versions");
const NO_VERSION: &str = "a slot holds no version";

impl RedoHandler for VersionRedo {
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        let mut p = PageMut(page);
        if op.kind == kinds::FORMAT {
            p.format(PageKind::Data, op.page, op.unit, 0, 0);
            debug_assert_eq!(p.view().slot_count(), 0, "a new page has no versions");
            debug_assert_eq!(p.view().alloc_unit(), op.unit, "a new page is its unit's");
            return Ok(());
        }
        fits(p.view(), op.kind, op.slot, op.payload).map_err(ApplyError)?;
        match op.kind {
            kinds::PUT if op.slot == p.view().slot_count() => p.insert(op.slot, op.payload),
            kinds::PUT => p.fill_slot(op.slot, op.payload),
            kinds::CLEAR => {
                slots(op.slot, op.payload).for_each(|slot| p.empty_slot(slot));
                while p.drop_last_empty_slot() {}
            }
            kinds::PATCH => {
                let (at, bytes) = patch(op.payload).ok_or(MISFIT)?;
                p.patch(op.slot, at, bytes);
            }
            _ => return Err(ApplyError("not a kind of pages of versions")),
        }
        debug_assert_eq!(p.view().kind(), Some(PageKind::Data), "it is a page of versions still");
        Ok(())
    }

    fn describe<'a>(&self, record: &RecordView<'a>) -> RecordDescription<'a> {
        let (p, context) = (record.payload(), "LCX_PERSISTENT_VERSION_STORE");
        match record.kind() {
            kinds::FORMAT => RecordDescription {
                format: Some((PageKind::Data as u8, 0)),
                ..RecordDescription::new("LOP_FORMAT_PAGE", context)
            },
            kinds::PUT => RecordDescription::new("LOP_INSERT_ROWS", context).with(p),
            kinds::CLEAR => RecordDescription {
                elements: Some((1 + p.len() / 2) as u16),
                ..RecordDescription::new("LOP_EXPUNGE_ROWS", context)
            },
            _ => {
                let (at, bytes) = patch(p).unzip();
                RecordDescription {
                    contents: [None, bytes, None],
                    offset_in_row: at.map(|at| at as u16),
                    modify_size: bytes.map(|bytes| bytes.len() as u16),
                    elements: Some(1),
                    ..RecordDescription::new("LOP_MODIFY_ROW", context)
                }
            }
        }
    }

    fn explain(&self, record: &RecordView<'_>) -> String {
        match record.kind() {
            kinds::CLEAR => "Versions are removed".to_owned(),
            kinds::PATCH => match patch(record.payload()) {
                Some((SUPERSEDER_AT, _)) => "A version gets another superseder".to_owned(),
                _ => "A version gets another tag".to_owned(),
            },
            _ => String::new(),
        }
    }
}

/// The slots that a CLEAR names.
fn slots(first: u16, payload: &[u8]) -> impl Iterator<Item = u16> + '_ {
    let more = payload.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b));
    std::iter::once(first).chain(more)
}

/// Offset and bytes of a PATCH.
fn patch(payload: &[u8]) -> Option<(usize, &[u8])> {
    let (at, bytes) = payload.split_first_chunk()?;
    Some((usize::from(u16::from_le_bytes(*at)), bytes))
}

/// The version of a slot, whoever points at it.
pub(crate) fn version_of(v: PageView<'_>, slot: u16) -> Option<StoredVersion<'_>> {
    let at = v.slot_offset(slot)?;
    if at == 0 { None } else { StoredVersion::of(v.record(slot)?) }
}

/// Whether an operation fits a page of versions, whatever its bytes are: asked before it is logged,
/// and again by redo.
pub(crate) fn fits(
    v: PageView<'_>,
    kind: Kind,
    slot: u16,
    payload: &[u8],
) -> Result<(), &'static str> {
    if v.kind() != Some(PageKind::Data) {
        return Err(MISFIT.0);
    }
    fits::header(v)?;
    match kind {
        kinds::PUT if StoredVersion::of(payload).is_none() => Err("the record is no version"),
        kinds::PUT if slot == v.slot_count() => fits::insert(v, slot, payload),
        kinds::PUT => fits::fill(v, slot, payload),
        kinds::CLEAR => fits_clear(v, slot, payload),
        kinds::PATCH => {
            version_of(v, slot).ok_or(NO_VERSION)?;
            let length = v.record(slot).ok_or(NO_VERSION)?.len();
            let (at, bytes) = patch(payload).ok_or(MISFIT.0)?;
            // What comes before the superseder says what the record is, and how long.
            let within = at >= SUPERSEDER_AT && at + bytes.len() <= length;
            if within && !bytes.is_empty() { Ok(()) } else { Err(MISFIT.0) }
        }
        _ => Err("not a kind of pages of versions"),
    }
}

fn fits_clear(v: PageView<'_>, first: u16, payload: &[u8]) -> Result<(), &'static str> {
    if !payload.len().is_multiple_of(2) || !slots(first, payload).is_sorted_by(|a, b| a < b) {
        return Err(MISFIT.0);
    }
    let mut bytes = 2 * usize::from(v.slot_count());
    for slot in slots(first, payload) {
        version_of(v, slot).ok_or(NO_VERSION)?;
        bytes += v.record(slot).ok_or(NO_VERSION)?.len();
    }
    let sound = usize::from(v.free_count()) + bytes <= PAGE_BODY_BYTES;
    if sound { Ok(()) } else { Err("the page's free space is miscounted") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Origin;
    use base::{AllocUnitId, DatabaseId, HobtId, PageId, Xsn};
    use page::at;

    const ID: PageId = PageId::new(1, 77);
    const UNIT: AllocUnitId = AllocUnitId(3);

    fn version(record: &[u8]) -> Vec<u8> {
        let origin = Origin { database: DatabaseId(5), hobt: HobtId(70) };
        let version = StoredVersion { superseder: Xsn(9), origin, needed_in: 0, record };
        let mut bytes = Vec::new();
        version.encode(&mut bytes);
        bytes
    }

    fn apply(page: &mut PageBytes, kind: Kind, slot: u16, payload: &[u8]) -> bool {
        let op = PageOp { kind, page: ID, slot, unit: UNIT, payload };
        VersionRedo.apply(&op, page).is_ok()
    }

    fn page_of(versions: u16) -> Box<PageBytes> {
        let mut page = Box::new([0; 8192]);
        assert!(apply(&mut page, kinds::FORMAT, 0, &[]));
        for slot in 0..versions {
            assert!(apply(&mut page, kinds::PUT, slot, &version(b"a row")));
        }
        page
    }

    #[test]
    fn slots_keep_their_numbers_and_empty_ones_at_the_end_go() {
        let mut page = page_of(5);
        assert!(apply(&mut page, kinds::CLEAR, 1, &[3, 0]));
        assert_eq!(PageView(&page).slot_count(), 5);
        assert!(apply(&mut page, kinds::PUT, 1, &version(b"another row")));
        assert!(apply(&mut page, kinds::CLEAR, 4, &[]));
        assert_eq!(PageView(&page).slot_count(), 3, "the empty slot 3 goes, too");
        let found = version_of(PageView(&page), 1).map(|v| v.record);
        assert_eq!(found, Some(&b"another row"[..]));
        assert!(apply(&mut page, kinds::PATCH, 0, &[SUPERSEDER_AT as u8, 0, 8, 7, 0, 0, 0, 0]));
        assert_eq!(version_of(PageView(&page), 0).map(|v| v.superseder), Some(Xsn(0x0708)));
        assert_eq!(page::check_slots(&page), Ok(()));
    }

    /// What does not fit is refused and leaves the page as it was, also where the page contradicts
    /// itself.
    #[test]
    fn what_does_not_fit_is_refused() {
        let sound = page_of(3);
        let wrong: &[(Kind, u16, &[u8])] = &[
            (kinds::PUT, 1, &version(b"the slot has one")),
            (kinds::PUT, 5, &version(b"behind the next")),
            (kinds::PUT, 3, b"no version"),
            (kinds::PUT, 3, &[]),
            (kinds::CLEAR, 3, &[]),
            (kinds::CLEAR, 1, &[1, 0]),
            (kinds::CLEAR, 1, &[0, 0]),
            (kinds::CLEAR, 0, &[1]),
            (kinds::CLEAR, 0, &[9, 0]),
            (kinds::PATCH, 3, &[4, 0, 1]),
            (kinds::PATCH, 0, &[0, 0, 1]),
            (kinds::PATCH, 0, &[4]),
            (kinds::PATCH, 0, &[4, 0]),
            (kinds::PATCH, 0, &[25, 0, 1]),
            (Kind(0x99), 0, &[]),
        ];
        for (kind, slot, payload) in wrong {
            let mut page = sound.clone();
            assert!(!apply(&mut page, *kind, *slot, payload), "{kind:?} {slot} {payload:?}");
            assert!(page == sound, "{kind:?} {slot} {payload:?}");
        }
        let lies = [(at::FREE_COUNT, 8096), (at::FREE_DATA, 8191), (at::SLOT_COUNT, 5000)];
        for (field, lie) in lies {
            for (kind, slot) in [(kinds::PUT, 3), (kinds::CLEAR, 0)] {
                let mut page = sound.clone();
                page[field..field + 2].copy_from_slice(&u16::to_le_bytes(lie));
                let payload = if kind == kinds::PUT { version(b"x") } else { Vec::new() };
                assert!(!apply(&mut page, kind, slot, &payload), "{kind:?}, {field}");
            }
        }
    }

    /// Two slots that share one record would give more free than the body has.
    #[test]
    fn slots_that_share_a_record_are_not_emptied_together() {
        let mut page = page_of(0);
        assert!(apply(&mut page, kinds::PUT, 0, &version(&[7; 5000])));
        assert!(apply(&mut page, kinds::PUT, 1, &version(&[7; 10])));
        page.copy_within(8190..8192, 8188);
        assert!(!apply(&mut page, kinds::CLEAR, 0, &[1, 0]));
        assert!(apply(&mut page, kinds::CLEAR, 0, &[]));
    }

    /// Operations and pages that are partly spoilt are applied or refused, and a sound page stays
    /// sound. GHOSTLIGHT_SEEDS makes it many more.
    #[test]
    fn spoilt_pages_and_operations_do_no_harm() {
        let seeds = std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok());
        let (mut applied, mut refused) = (0, 0);
        for seed in 0..seeds.unwrap_or(300_u64) {
            let mut random = sim::Random::new(seed);
            let mut page = page_of(random.below(20) as u16);
            if seed % 2 == 0 {
                for _ in 0..random.below(6) {
                    let at = match random.below(3) {
                        0 => random.below(96),
                        1 => 8192 - 1 - random.below(40),
                        _ => 96 + random.below(600),
                    };
                    page[at as usize] = random.below(256) as u8;
                }
            }
            for _ in 0..40 {
                let kind = Kind(kinds::FORMAT.0 + 1 + random.below(3) as u8);
                let mut payload = match kind {
                    kinds::PUT => version(&vec![7; 1 + random.below(900) as usize]),
                    kinds::CLEAR => vec![random.below(20) as u8, 0, random.below(20) as u8, 0],
                    _ => vec![random.below(40) as u8, 0, 1, 2, 3],
                };
                if random.one_in(4) {
                    let at = random.below(payload.len() as u64) as usize;
                    payload[at] = random.below(256) as u8;
                }
                payload.truncate(payload.len() - random.below(2) as usize);
                let was_sound = page::check_slots(&page).is_ok();
                let slot = random.below(22) as u16;
                match apply(&mut page, kind, slot, &payload) {
                    true => applied += 1,
                    false => refused += 1,
                }
                assert!(!was_sound || page::check_slots(&page).is_ok(), "seed {seed}: {kind:?}");
            }
        }
        assert!(applied > 500 && refused > 500, "{applied} applied, {refused} refused");
    }
}
