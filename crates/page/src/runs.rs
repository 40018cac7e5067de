//! Many slots at once: what a split moves. Each is checked before it changes anything, as
//! [`crate::fits`] does it for one record.
//!
//! Invariants
//!  1. A page that has been refused is as it was, but for bytes of its free space.
//!  2. After a cut the records stand together, in the order of their slots.
//!
//! Cost: about 60 instructions a record, and one copy of the page for a cut.

use crate::fits::{Fit, NO_RECORD, header};
use crate::header::{PageBytes, PageMut, PageView};
use crate::record::{RecordKind, length};
use crate::slots::{slot_at, slot_cost};
use base::limits::{PAGE_BODY_BYTES, PAGE_BYTES, PAGE_HEADER_BYTES};

/// What records a page has, or gets.
#[derive(Clone, Copy, Default)]
struct Sum {
    bytes: usize,
    ghosts: u16,
}

impl Sum {
    #[inline]
    fn add(&mut self, record: &[u8]) {
        self.bytes += record.len();
        self.ghosts += u16::from(RecordKind::of(record[0]).is_ghost());
    }
}

/// Removes the records from a slot on, and packs those before it.
///
/// # Errors
/// Why not: a slot without a record, or counts in the header that are not those of the records.
pub fn cut(page: &mut PageBytes, from: u16) -> Fit<()> {
    let v = PageView(page);
    header(v)?;
    let count = v.slot_count();
    if from >= count {
        return Ok(());
    }
    let mut packed = [0; PAGE_BYTES];
    let (mut stay, mut all) = (Sum::default(), Sum::default());
    for slot in 0..count {
        let record = v.record(slot).ok_or(NO_RECORD)?;
        all.add(record);
        if slot < from {
            let at = PAGE_HEADER_BYTES + stay.bytes;
            let room = packed.get_mut(at..at + record.len()).ok_or(MISCOUNTED)?;
            room.copy_from_slice(record);
            packed[slot_at(slot)..slot_at(slot) + 2].copy_from_slice(&(at as u16).to_le_bytes());
            stay.add(record);
        }
    }
    let taken = all.bytes + 2 * usize::from(count) + usize::from(v.free_count());
    if taken != PAGE_BODY_BYTES || all.ghosts != v.ghost_count() {
        return Err(MISCOUNTED);
    }
    page[PAGE_HEADER_BYTES..].copy_from_slice(&packed[PAGE_HEADER_BYTES..]);
    let mut page = PageMut(page);
    page.set_slot_count(from);
    page.set_free_count((PAGE_BODY_BYTES - stay.bytes - 2 * usize::from(from)) as u16);
    page.set_free_data((PAGE_HEADER_BYTES + stay.bytes) as u16);
    page.set_ghost_count(stay.ghosts);
    Ok(())
}

const MISCOUNTED: &str = "the page's free space or ghosts are miscounted";

/// Puts records into new slots behind the last. Says no, with nothing done, where they do not fit
/// between the page's highest record and its slots: the page may have room for them elsewhere.
///
/// # Errors
/// Why not: a record that is not of the page's form (`None`: one that ends early).
pub fn append<'r>(
    page: &mut PageBytes,
    records: impl Iterator<Item = Option<&'r [u8]>>,
) -> Fit<bool> {
    let v = PageView(page);
    header(v)?;
    let (min_len, count) = (v.min_len(), v.slot_count());
    let (free, ghosts) = (usize::from(v.free_count()), v.ghost_count());
    let (mut at, mut slot, mut sum) = (usize::from(v.free_data()), count, Sum::default());
    for record in records {
        let record = record.filter(|r| length(r, min_len) == Some(r.len())).ok_or(OTHER_FORM)?;
        if at + record.len() > slot_at(slot) || sum.bytes + slot_cost(record.len()) > free {
            return Ok(false);
        }
        page[at..at + record.len()].copy_from_slice(record);
        page[slot_at(slot)..slot_at(slot) + 2].copy_from_slice(&(at as u16).to_le_bytes());
        sum.add(record);
        (at, slot) = (at + record.len(), slot + 1);
    }
    let cost = sum.bytes + 2 * usize::from(slot - count);
    if cost > free {
        return Ok(false);
    }
    let mut page = PageMut(page);
    page.set_slot_count(slot);
    page.set_free_count((free - cost) as u16);
    page.set_free_data(at as u16);
    page.set_ghost_count(ghosts + sum.ghosts);
    Ok(true)
}

const OTHER_FORM: &str = "the record is not of the page's form";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_slots;
    use crate::header::PageKind;
    use base::{AllocUnitId, PageId};
    use proptest::prelude::*;

    fn record(id: u8, extra: usize, ghost: bool) -> Vec<u8> {
        let kind = if ghost { RecordKind::GhostData } else { RecordKind::Primary };
        let end = 5 + extra;
        let mut r = vec![0x10 | kind.bits(), 0];
        r.extend((end as u16).to_le_bytes());
        r.resize(end, id);
        r.extend([1, 0, 0]);
        r
    }

    fn fresh() -> Box<PageBytes> {
        let mut b = Box::new([0; PAGE_BYTES]);
        PageMut(&mut b).format(PageKind::Data, PageId::new(1, 8), AllocUnitId(1), 0, 5);
        b
    }

    fn records_of(page: &PageBytes) -> Vec<Vec<u8>> {
        let v = PageView(page);
        (0..v.slot_count()).map(|s| v.record(s).expect("a record").to_vec()).collect()
    }

    proptest! {
        #[test]
        fn a_cut_leaves_those_before_and_an_append_brings_the_rest(
            lengths in prop::collection::vec((0..300_usize, any::<bool>(), any::<u8>()), 1..40),
            at in any::<u16>(),
        ) {
            let (mut page, mut model) = (fresh(), Vec::new());
            // In any order of slots, so that records and slots are not in step.
            for (id, (extra, ghost, place)) in lengths.into_iter().enumerate() {
                let slot = usize::from(place) % (model.len() + 1);
                let r = record(id as u8, extra, ghost);
                if PageMut(&mut page).has_room(r.len()) {
                    PageMut(&mut page).insert(slot as u16, &r);
                    model.insert(slot, r);
                }
            }
            let at = at % (model.len() as u16 + 1);
            prop_assert_eq!(cut(&mut page, at), Ok(()));
            prop_assert_eq!(check_slots(&page), Ok(()));
            prop_assert_eq!(&records_of(&page)[..], &model[..usize::from(at)]);
            let mut right = fresh();
            let moved = model[usize::from(at)..].iter().map(|r| Some(&r[..]));
            prop_assert_eq!(append(&mut right, moved.clone()), Ok(true));
            prop_assert_eq!(check_slots(&right), Ok(()));
            prop_assert_eq!(&records_of(&right)[..], &model[usize::from(at)..]);
            prop_assert_eq!(append(&mut page, moved), Ok(true), "there was room for all of them");
            prop_assert_eq!(check_slots(&page), Ok(()));
            prop_assert_eq!(records_of(&page), model);
        }

        /// Whatever a page's bytes are, it is refused or cut, and never a panic.
        #[test]
        fn damage_is_refused(at in 0..PAGE_BYTES, bits in 1..=u8::MAX, from in 0..30_u16) {
            let mut page = fresh();
            for id in 0..20 {
                PageMut(&mut page).insert(0, &record(id, usize::from(id), id % 3 == 0));
            }
            page[at] ^= bits;
            let before = page.clone();
            if cut(&mut page, from).is_err() {
                prop_assert_eq!(&page, &before);
            }
            let batch = [record(1, 9, false), record(2, 0, true)];
            let _ = append(&mut page, batch.iter().map(|r| Some(&r[..])));
        }
    }

    #[test]
    fn what_does_not_fit_or_is_no_record_changes_nothing() {
        let mut page = fresh();
        let big = record(1, 4000, false);
        assert_eq!(append(&mut page, [Some(&big[..]); 3].into_iter()), Ok(false));
        assert_eq!(append(&mut page, [Some(&big[..]), None].into_iter()), Err(OTHER_FORM));
        assert_eq!(append(&mut page, [Some(&big[..9])].into_iter()), Err(OTHER_FORM));
        assert_eq!((PageView(&page).slot_count(), check_slots(&page)), (0, Ok(())));
        assert_eq!(append(&mut page, [Some(&big[..]); 2].into_iter()), Ok(true));
    }
}
