//! Slotted records: records grow up from the header, the slot array down from the page's end.
//!
//! Logical order is slot order; records lie in any physical order. m_freeCnt counts every free
//! byte, m_freeData is the end of the highest record; when the gap between it and the slot array
//! is too small but m_freeCnt is not, records are packed.
//!
//! Invariants (checked by [`crate::check_slots`] and [`crate::damages`])
//!  1. m_freeCnt = 8096 - sum of record lengths - 2 x slots.
//!  2. m_freeData = end of the highest record (96 when there is none), or above it.
//!  3. Records do not overlap each other or the slot array.
//!  4. m_ghostRecCnt = number of ghost records.

use crate::header::{PageBytes, PageMut, PageView, u16_at};
use crate::record::{HAS_IN_ROW, RecordKind, length};
use base::limits::{PAGE_BODY_BYTES, PAGE_BYTES, PAGE_HEADER_BYTES};

/// Bytes a record of this length takes, its slot included.
pub const fn slot_cost(record_bytes: usize) -> usize {
    record_bytes + 2
}

#[inline]
pub(crate) fn slot_at(slot: u16) -> usize {
    PAGE_BYTES - 2 * (usize::from(slot) + 1)
}

/// Offset of a slot's record; `None` past the last slot.
#[inline]
pub(crate) fn offset(page: &PageBytes, slot: u16) -> Option<u16> {
    let at = PAGE_BYTES.checked_sub(2 * (usize::from(slot) + 1))?;
    (slot < PageView(page).slot_count() && at >= PAGE_HEADER_BYTES).then(|| u16_at(page, at))
}

/// The record of a slot.
#[inline]
pub(crate) fn record(page: &PageBytes, slot: u16) -> Option<&[u8]> {
    let from = usize::from(offset(page, slot)?);
    if from < PAGE_HEADER_BYTES {
        return None;
    }
    let rest = page.get(from..PAGE_BYTES)?;
    let n = length(rest, PageView(page).min_len())?;
    Some(&rest[..n])
}

/// Where a record that stays at its place gets the bytes that it grows by.
pub(crate) enum GrowthRoom {
    /// From the gap behind it, if it grows at all: nothing moves.
    Gap,
    /// From the page's end: what is behind the record moves.
    PageEnd,
}

/// The place of a record that is replaced.
pub(crate) struct ReplacedPlace {
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// Where the new one is of another length and stays there.
    pub(crate) room: Option<GrowthRoom>,
}

/// Whether a record is replaced by one of another length where it is. The bytes behind it are free,
/// or the page's end has room for what the new one is longer by; but not for all of it, or it has
/// an in-row version, as all rows of the page may have soon.
pub(crate) fn stays_in_place(
    v: PageView<'_>,
    (at, old_len): (usize, usize),
    new: (usize, bool),
) -> Option<GrowthRoom> {
    let more = growth_in_place(v, (at, old_len), new)?;
    if more == 0 || is_gap(v, at + old_len, more) {
        return Some(GrowthRoom::Gap);
    }
    has_end(v, more).then_some(GrowthRoom::PageEnd)
}

/// Whether it would stay, for who does not replace it yet: mostly the page's end tells, without a
/// look at the slots.
pub(crate) fn can_stay_in_place(
    v: PageView<'_>,
    (at, old_len): (usize, usize),
    new: (usize, bool),
) -> bool {
    growth_in_place(v, (at, old_len), new)
        .is_some_and(|more| more == 0 || has_end(v, more) || is_gap(v, at + old_len, more))
}

/// What a record grows by if it stays where it is; `None` where it goes behind all others.
fn growth_in_place(
    v: PageView<'_>,
    (at, old_len): (usize, usize),
    (len, in_row): (usize, bool),
) -> Option<usize> {
    let leaves = has_end(v, len) && !in_row;
    let is_last = at + old_len >= usize::from(v.free_data());
    (!is_last && !leaves).then(|| len.saturating_sub(old_len))
}

/// Whether the page's end has so many bytes.
fn has_end(v: PageView<'_>, bytes: usize) -> bool {
    usize::from(v.free_data()) + bytes <= slot_at(v.slot_count()) + 2
}

/// Whether so many bytes behind a record are free, with another record behind them. In-row versions
/// that were dropped leave such gaps: each is as long as the next version of its row.
fn is_gap(v: PageView<'_>, end: usize, bytes: usize) -> bool {
    let floor = slot_at(v.slot_count()) + 2;
    let slots = v.0.get(floor..).map_or(&[][..], |slots| slots.as_chunks().0);
    // Without an early end, as many slots are looked at together.
    let begins_there = slots.iter().fold(false, |begins, slot| {
        let offset = u16::from_le_bytes(*slot);
        begins | (offset.wrapping_sub(end as u16) < bytes as u16)
    });
    end + bytes <= usize::from(v.free_data()) && !begins_there
}

/// Whether a record has an in-row version.
pub(crate) fn has_in_row(record: &[u8]) -> bool {
    record.first().is_some_and(|status| status & HAS_IN_ROW != 0)
}

impl PageMut<'_> {
    /// Whether a record of that length, with a new slot, fits after packing.
    pub fn has_room(&self, record_bytes: usize) -> bool {
        slot_cost(record_bytes) <= usize::from(self.view().free_count())
    }

    /// Puts a record into a new slot; later slots move up by one.
    pub fn insert(&mut self, slot: u16, record: &[u8]) {
        let count = self.view().slot_count();
        assert!(slot <= count, "a new slot follows an old one");
        assert!(self.has_room(record.len()), "the caller has made room");
        let at = self.place(record.len(), 2);
        self.0[at..at + record.len()].copy_from_slice(record);
        let lowest = slot_at(count);
        let end = slot_at(slot) + 2;
        self.0.copy_within(lowest + 2..end, lowest);
        self.put_slot(slot, at as u16);
        self.set_slot_count(count + 1);
        self.take_free(slot_cost(record.len()));
        if RecordKind::of(record[0]).is_ghost() {
            self.set_ghost_count(self.view().ghost_count() + 1);
        }
    }

    /// Puts a record into an existing empty slot (a heap's), keeping all slot numbers.
    pub fn fill_slot(&mut self, slot: u16, record: &[u8]) {
        assert_eq!(self.view().slot_offset(slot), Some(0), "the slot is there and empty");
        assert!(record.len() <= usize::from(self.view().free_count()));
        let at = self.place(record.len(), 0);
        self.0[at..at + record.len()].copy_from_slice(record);
        self.put_slot(slot, at as u16);
        self.take_free(record.len());
        if RecordKind::of(record[0]).is_ghost() {
            self.set_ghost_count(self.view().ghost_count() + 1);
        }
    }

    /// Removes a record and its slot; later slots move down by one.
    pub fn remove(&mut self, slot: u16) {
        let freed = self.drop_record(slot);
        let count = self.view().slot_count();
        let lowest = slot_at(count - 1);
        self.0.copy_within(lowest..slot_at(slot), lowest + 2);
        self.0[lowest..lowest + 2].fill(0);
        self.set_slot_count(count - 1);
        self.give_free(freed + 2);
    }

    /// Removes a record and leaves its slot empty (a heap's), so that other slots keep numbers.
    pub fn empty_slot(&mut self, slot: u16) {
        let freed = self.drop_record(slot);
        self.put_slot(slot, 0);
        self.give_free(freed);
    }

    /// Gives an empty last slot back; true when there was one.
    pub fn drop_last_empty_slot(&mut self) -> bool {
        let count = self.view().slot_count();
        if count == 0 || self.view().slot_offset(count - 1) != Some(0) {
            return false;
        }
        self.set_slot_count(count - 1);
        self.give_free(2);
        true
    }

    /// Adds an empty slot at the end (undo of a heap insert that dropped it).
    pub fn add_empty_slot(&mut self) {
        let count = self.view().slot_count();
        assert!(self.view().free_count() >= 2);
        let lowest = slot_at(count);
        if usize::from(self.view().free_data()) > lowest {
            self.pack(None);
        }
        self.put_slot(count, 0);
        self.set_slot_count(count + 1);
        self.take_free(2);
    }

    /// Replaces a slot's record by one of any length that fits: where it is if the lengths are the
    /// same, else behind all others. Where the page's end has no room for that, or the new record
    /// has an in-row version, it stays as well, and what is behind it moves, unless the bytes
    /// there are free. Records are packed only if there is no room even for what it grows by.
    pub fn replace(&mut self, slot: u16, record: &[u8]) {
        let v = self.view();
        let len = v.record(slot).expect("the slot has a record").len();
        let at = usize::from(v.slot_offset(slot).expect("the slot exists"));
        let room = match record.len() == len {
            true => None,
            false => stays_in_place(v, (at, len), (record.len(), has_in_row(record))),
        };
        self.put_over(slot, record, ReplacedPlace { at, len, room });
    }

    /// The same where all is known of the record that is replaced.
    pub(crate) fn put_over(&mut self, slot: u16, record: &[u8], old: ReplacedPlace) {
        let ReplacedPlace { at, len: old_len, room } = old;
        if record.len() == old_len {
            self.count_ghost_change(self.0[at], record[0]);
            self.0[at..at + old_len].copy_from_slice(record);
            return;
        }
        let free = usize::from(self.view().free_count());
        assert!(record.len() <= free + old_len, "the caller has made room");
        match room {
            Some(_) if record.len() < old_len => return self.shorten(slot, record),
            Some(room) => return self.lengthen((at, old_len), record, room),
            None => {}
        }
        let freed = self.drop_record(slot);
        self.put_slot(slot, 0);
        self.give_free(freed);
        self.fill_slot(slot, record);
    }

    /// Replaces a record by a longer one at the same place.
    fn lengthen(&mut self, (at, old_len): (usize, usize), record: &[u8], room: GrowthRoom) {
        let (end, more) = (at + old_len, record.len() - old_len);
        match room {
            GrowthRoom::Gap => {}
            GrowthRoom::PageEnd => self.move_behind(end, more),
        }
        self.count_ghost_change(self.0[at], record[0]);
        self.0[at..at + record.len()].copy_from_slice(record);
        self.take_free(more);
    }

    /// Moves all that begins at an offset or behind it by so many bytes.
    fn move_behind(&mut self, end: usize, more: usize) {
        let behind = usize::from(self.view().free_data());
        self.0.copy_within(end..behind, end + more);
        let floor = slot_at(self.view().slot_count()) + 2;
        for place in self.0[floor..].as_chunks_mut().0 {
            let offset = u16::from_le_bytes(*place);
            // The offset of an empty slot is 0.
            if usize::from(offset) >= end {
                *place = offset.wrapping_add(more as u16).to_le_bytes();
            }
        }
        self.set_free_data((behind + more) as u16);
    }

    /// Replaces a slot's record by a shorter one at the same place, or one as long.
    pub fn shorten(&mut self, slot: u16, record: &[u8]) {
        let old_len = self.view().record(slot).expect("the slot has a record").len();
        let at = usize::from(self.view().slot_offset(slot).expect("the slot exists"));
        assert!(record.len() <= old_len, "a record is shortened");
        self.count_ghost_change(self.0[at], record[0]);
        self.0[at..at + record.len()].copy_from_slice(record);
        if at + old_len == usize::from(self.view().free_data()) {
            self.set_free_data((at + record.len()) as u16);
        }
        self.give_free(old_len - record.len());
    }

    /// Overwrites bytes within a record without changing its length.
    pub fn patch(&mut self, slot: u16, within: usize, bytes: &[u8]) {
        let len = self.view().record(slot).expect("the slot has a record").len();
        assert!(within + bytes.len() <= len, "a patch stays within its record");
        let at = usize::from(self.view().slot_offset(slot).expect("the slot exists")) + within;
        let before = self.0[at - within];
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self.count_ghost_change(before, self.0[at - within]);
    }

    /// Overwrites bytes within a record and its status together: between the two it may not be a
    /// record, as a version tag may take the place of a variable column that is as long. The
    /// length stays.
    pub fn patch_with_status(&mut self, slot: u16, status: u8, within: usize, bytes: &[u8]) {
        let len = self.view().record(slot).expect("the slot has a record").len();
        assert!(within >= 1 && within + bytes.len() <= len, "a patch stays within its record");
        let at = usize::from(self.view().slot_offset(slot).expect("the slot exists"));
        self.0[at + within..at + within + bytes.len()].copy_from_slice(bytes);
        let before = std::mem::replace(&mut self.0[at], status);
        self.count_ghost_change(before, status);
    }

    /// Changes the kind of a record: ghosting and its undo.
    pub fn set_record_kind(&mut self, slot: u16, kind: RecordKind) {
        let at = usize::from(self.view().slot_offset(slot).expect("the slot exists"));
        assert!(at >= PAGE_HEADER_BYTES, "the slot has a record");
        let before = self.0[at];
        self.0[at] = RecordKind::with_kind(before, kind);
        self.count_ghost_change(before, self.0[at]);
    }

    fn count_ghost_change(&mut self, before: u8, after: u8) {
        let ghosts = self.view().ghost_count();
        match (RecordKind::of(before).is_ghost(), RecordKind::of(after).is_ghost()) {
            (false, true) => self.set_ghost_count(ghosts + 1),
            (true, false) => self.set_ghost_count(ghosts - 1),
            (true, true) | (false, false) => {}
        }
    }

    fn put_slot(&mut self, slot: u16, offset: u16) {
        let at = slot_at(slot);
        self.0[at..at + 2].copy_from_slice(&offset.to_le_bytes());
    }

    fn take_free(&mut self, n: usize) {
        let free = usize::from(self.view().free_count());
        assert!(n <= free, "free space is not overdrawn");
        self.set_free_count((free - n) as u16);
    }

    fn give_free(&mut self, n: usize) {
        let free = usize::from(self.view().free_count()) + n;
        assert!(free <= PAGE_BODY_BYTES, "free space is at most the body");
        self.set_free_count(free as u16);
    }

    /// Forgets a record's bytes, returns their number; the slot is the caller's.
    fn drop_record(&mut self, slot: u16) -> usize {
        let record = self.view().record(slot).expect("the slot has a record");
        let (n, ghost) = (record.len(), RecordKind::of(record[0]).is_ghost());
        let at = self.view().slot_offset(slot).expect("the slot exists");
        if usize::from(at) + n == usize::from(self.view().free_data()) {
            self.set_free_data(at);
        }
        if ghost {
            self.set_ghost_count(self.view().ghost_count() - 1);
        }
        n
    }

    /// An offset with room for `n` bytes below the slot array as it will be.
    fn place(&mut self, n: usize, new_slot_bytes: usize) -> usize {
        let floor = slot_at(self.view().slot_count()) + 2 - new_slot_bytes;
        if usize::from(self.view().free_data()) + n > floor {
            self.pack(None);
        }
        let at = usize::from(self.view().free_data());
        assert!(at + n <= floor, "the free count is true");
        self.set_free_data((at + n) as u16);
        at
    }

    /// Moves records together so that all free bytes are one gap. `order` is scratch to reuse.
    pub fn pack(&mut self, order: Option<&mut Vec<(u16, u16)>>) {
        let mut own = Vec::new();
        let order = order.unwrap_or(&mut own);
        order.clear();
        let count = self.view().slot_count();
        for slot in 0..count {
            match self.view().slot_offset(slot) {
                Some(at) if at != 0 => order.push((at, slot)),
                _ => {}
            }
        }
        order.sort_unstable();
        let mut to = PAGE_HEADER_BYTES;
        for &(at, slot) in order.iter() {
            let from = usize::from(at);
            let n = self.view().record(slot).expect("a slot of a sound page has a record").len();
            assert!(to <= from, "records move down only");
            self.0.copy_within(from..from + n, to);
            self.put_slot(slot, to as u16);
            to += n;
        }
        self.set_free_data(to as u16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::damage::check;
    use crate::header::PageKind;
    use crate::record::{HAS_TAG, Previous, VersionTag};
    use base::{AllocUnitId, PageId};
    use proptest::prelude::*;

    fn record(id: u32, extra: usize) -> Vec<u8> {
        let fixed_end = 8 + extra;
        let mut r = vec![0x10, 0];
        r.extend((fixed_end as u16).to_le_bytes());
        r.extend(id.to_le_bytes());
        r.extend(vec![id as u8; extra]);
        r.extend([1, 0, 0]);
        r
    }

    fn fresh() -> Box<PageBytes> {
        let mut b = Box::new([0; PAGE_BYTES]);
        PageMut(&mut b).format(PageKind::Data, PageId::new(1, 8), AllocUnitId(1), 0, 8);
        b
    }

    #[test]
    fn a_row_of_eleven_bytes_fills_a_page_623_times() {
        let mut b = fresh();
        let mut p = PageMut(&mut b);
        let mut n = 0;
        while p.has_room(11) {
            p.insert(n, &record(u32::from(n), 0));
            n += 1;
        }
        assert_eq!(n, 8096 / 13);
        assert_eq!(check(p.0), Ok(()));
    }

    #[test]
    fn damage_is_found_and_never_panics() {
        let mut b = fresh();
        let mut p = PageMut(&mut b);
        for i in 0..50 {
            p.insert(i, &record(u32::from(i), usize::from(i)));
        }
        for at in (0..96).chain(8092..8192) {
            for bit in 0..8 {
                b[at] ^= 1 << bit;
                let v = PageView(&b);
                for slot in 0..60 {
                    let _ = v.record(slot);
                }
                let _ = check(&b);
                b[at] ^= 1 << bit;
            }
        }
        b[8190] ^= 0x40;
        assert!(check(&b).is_err());
    }

    /// Rows get versions, lose them and get them again: the second time nothing on the page moves,
    /// as each version lies in the gap that the one before has left. A gap that is too short is not
    /// taken.
    #[test]
    fn a_record_grows_into_the_gap_behind_it() {
        let versioned = |id: u32, bytes: usize| {
            let (mut r, mut version) = (record(id, 0), vec![7; bytes]);
            r[0] |= HAS_TAG | HAS_IN_ROW;
            version[0] = bytes as u8;
            r.extend(version);
            let before = Previous::InRow { born: base::Xsn(1), bytes: bytes as u8 };
            r.extend(VersionTag::new(base::Xsn(2), before).bytes());
            r
        };
        let tagged = |id: u32| {
            let mut r = record(id, 0);
            VersionTag::new(base::Xsn(2), Previous::None).put(&mut r);
            r
        };
        let mut b = fresh();
        let mut p = PageMut(&mut b);
        (0..200).for_each(|id| p.insert(id as u16, &tagged(id)));
        let all = |p: &mut PageMut<'_>, bytes: usize| {
            for id in (0..200_u32).map(|n| n * 7 % 200) {
                p.replace(id as u16, &versioned(id, bytes));
                assert_eq!(check(p.0), Ok(()));
            }
            (0..200).for_each(|id| {
                assert_eq!(p.view().record(id as u16), Some(&versioned(id, bytes)[..]));
            });
            (0..200).map(|slot| p.view().slot_offset(slot)).collect::<Vec<_>>()
        };
        let first = all(&mut p, 7);
        for bytes in [7, 5] {
            (0..200).for_each(|id| p.shorten(id as u16, &tagged(id)));
            assert_eq!(all(&mut p, bytes), first, "nothing has moved");
        }
        assert_ne!(all(&mut p, 9), first, "two bytes more are not free");
    }

    #[derive(Clone, Debug)]
    enum Op {
        Insert(usize, usize),
        Remove(usize),
        Replace(usize, usize),
        Ghost(usize),
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            (any::<usize>(), 0..400_usize).prop_map(|(a, b)| Op::Insert(a, b)),
            any::<usize>().prop_map(Op::Remove),
            (any::<usize>(), 0..400_usize).prop_map(|(a, b)| Op::Replace(a, b)),
            any::<usize>().prop_map(Op::Ghost),
        ]
    }

    proptest! {
        #[test]
        fn a_page_is_a_vector_of_records(ops in prop::collection::vec(op(), 1..300)) {
            let mut b = fresh();
            let mut p = PageMut(&mut b);
            let mut model: Vec<Vec<u8>> = Vec::new();
            for (id, op) in ops.into_iter().enumerate() {
                match op {
                    Op::Insert(at, extra) => {
                        let (slot, r) = (at % (model.len() + 1), record(id as u32, extra));
                        if p.has_room(r.len()) {
                            p.insert(slot as u16, &r);
                            model.insert(slot, r);
                        }
                    }
                    Op::Remove(at) if !model.is_empty() => {
                        let slot = at % model.len();
                        p.remove(slot as u16);
                        model.remove(slot);
                    }
                    Op::Replace(at, extra) if !model.is_empty() => {
                        let (slot, r) = (at % model.len(), record(id as u32, extra));
                        let free = usize::from(p.view().free_count());
                        if r.len() <= free + model[slot].len() {
                            p.replace(slot as u16, &r);
                            model[slot] = r;
                        }
                    }
                    Op::Ghost(at) if !model.is_empty() => {
                        let slot = at % model.len();
                        p.set_record_kind(slot as u16, RecordKind::GhostData);
                        let ghost = RecordKind::GhostData;
                        model[slot][0] = RecordKind::with_kind(model[slot][0], ghost);
                    }
                    _ => {}
                }
                prop_assert_eq!(check(p.0), Ok(()));
            }
            for (slot, r) in model.iter().enumerate() {
                prop_assert_eq!(p.view().record(slot as u16), Some(&r[..]));
            }
            prop_assert_eq!(usize::from(p.view().slot_count()), model.len());
        }
    }
}
