//! Whether an operation fits a page: asked before an operation is logged, and again by redo.
//! For the leaves of trees and for heaps.
//!
//! The bytes of a page come from a disk. What `PageMut` asserts about them is checked here
//! first, in constant time; only where records would have to be packed together the whole page
//! is looked at. A replacement is checked and done at once, as both need the same of the page.

use crate::slots::{ReplacedPlace, can_stay_in_place, has_in_row, stays_in_place};
use crate::{PageBytes, PageMut, PageView, RecordKind, check_slots, record_length, slot_cost};
use base::limits::{PAGE_BODY_BYTES, PAGE_BYTES, PAGE_HEADER_BYTES};

/// Why an operation does not fit a page, or a page is not one of records.
pub type Fit<T> = Result<T, &'static str>;

/// An empty, absent or damaged slot.
pub const NO_RECORD: &str = "a slot holds no record";
/// A record that should have a key.
pub const NO_KEY: &str = "a record's key cannot be read";
/// Records of a page that are not in the order of their keys.
pub const KEYS_FALL: &str = "the page's keys are out of order";

/// Header fields that everything else relies on.
///
/// # Errors
/// Why not.
#[inline]
pub fn header(v: PageView<'_>) -> Fit<()> {
    let slots = 2 * usize::from(v.slot_count());
    let (free, data) = (usize::from(v.free_count()), usize::from(v.free_data()));
    let sound = slots <= PAGE_BODY_BYTES
        && free + slots <= PAGE_BODY_BYTES
        && data >= PAGE_HEADER_BYTES
        && data <= PAGE_BYTES - slots
        && v.ghost_count() <= v.slot_count();
    if sound { Ok(()) } else { Err("the page header contradicts itself") }
}

/// The page's bytes from where a slot's record begins: enough to read a column, and cheaper than
/// the record, whose end must be computed.
#[inline]
pub fn bytes_from(v: PageView<'_>, slot: u16) -> Option<&[u8]> {
    let from = usize::from(v.slot_offset(slot)?);
    if from < PAGE_HEADER_BYTES { None } else { v.0.get(from..) }
}

/// The same of a slot that the page has, as its reader knows: any other gives some bytes of the
/// page, or none.
#[inline(always)]
pub fn bytes_of(v: PageView<'_>, slot: u16) -> Option<&[u8]> {
    let from = usize::from(slot_word(v, slot));
    if from < PAGE_HEADER_BYTES { None } else { v.0.get(from..) }
}

/// Where the record of a slot begins, if the page has the slot: any other gives some number. So
/// it can be asked before anything else is known of the page.
#[inline(always)]
pub fn slot_word(v: PageView<'_>, slot: u16) -> u16 {
    const LAST: usize = PAGE_BYTES / 2 - 1;
    let place = LAST.wrapping_sub(usize::from(slot));
    v.0.as_chunks().0.get(place).map_or(0, |bytes| u16::from_le_bytes(*bytes))
}

/// Whether so many bytes can be placed; when records must be packed for it, all are checked.
fn placeable(v: PageView<'_>, bytes: usize, new_slot_bytes: usize) -> Fit<()> {
    let floor = PAGE_BYTES - 2 * usize::from(v.slot_count()) - new_slot_bytes;
    if usize::from(v.free_data()) + bytes <= floor || check_slots(v.0).is_ok() {
        Ok(())
    } else {
        Err("the page's slots are damaged")
    }
}

/// Whether a record can be put into a new slot.
///
/// # Errors
/// Why not.
pub fn insert(v: PageView<'_>, slot: u16, record: &[u8]) -> Fit<()> {
    header(v)?;
    if record_length(record, v.min_len()) != Some(record.len()) {
        return Err("the record is not of the page's form");
    }
    if slot > v.slot_count() {
        return Err("the slot is behind the page's last");
    }
    if slot_cost(record.len()) > usize::from(v.free_count()) {
        return Err("the record does not fit the page");
    }
    placeable(v, record.len(), 2)
}

/// The record of a slot, if it can be taken out with or without its slot.
///
/// # Errors
/// Why not.
pub fn remove(v: PageView<'_>, slot: u16) -> Fit<&[u8]> {
    header(v)?;
    let record = v.record(slot).ok_or(NO_RECORD)?;
    if usize::from(v.free_count()) + slot_cost(record.len()) > PAGE_BODY_BYTES {
        return Err("the page's free space is miscounted");
    }
    ghost_counted(v, record)?;
    Ok(record)
}

fn ghost_counted(v: PageView<'_>, record: &[u8]) -> Fit<()> {
    let ghost = record.first().is_some_and(|&s| RecordKind::of(s).is_ghost());
    if ghost && v.ghost_count() == 0 { Err("the page's ghosts are miscounted") } else { Ok(()) }
}

/// Whether a record can be put into an existing empty slot (a heap's).
///
/// # Errors
/// Why not.
pub fn fill(v: PageView<'_>, slot: u16, record: &[u8]) -> Fit<()> {
    header(v)?;
    if record_length(record, v.min_len()) != Some(record.len()) {
        return Err("the record is not of the page's form");
    }
    if v.slot_offset(slot) != Some(0) {
        return Err("the slot is not empty");
    }
    if record.len() > usize::from(v.free_count()) {
        return Err("the record does not fit the page");
    }
    placeable(v, record.len(), 0)
}

/// The kind that the record of a slot gets when it is ghosted.
///
/// # Errors
/// Why not.
pub fn ghost(v: PageView<'_>, slot: u16) -> Fit<RecordKind> {
    header(v)?;
    let record = v.record(slot).ok_or(NO_RECORD)?;
    let kind = RecordKind::of(record[0]);
    let ghost = kind.ghosted().ok_or("the record cannot be a ghost")?;
    match kind {
        RecordKind::Primary | RecordKind::Forwarded => {
            let away = crate::forward::has_home(record[1]);
            let sound = away == (kind == RecordKind::Forwarded);
            if sound { Ok(ghost) } else { Err("the record's status bytes contradict each other") }
        }
        _ => Ok(ghost),
    }
}

/// The kind that the record of a slot gets when it is revived.
///
/// # Errors
/// Why not.
pub fn unghost(v: PageView<'_>, slot: u16) -> Fit<RecordKind> {
    header(v)?;
    let record = v.record(slot).ok_or(NO_RECORD)?;
    ghost_counted(v, record)?;
    crate::kind_before(record).ok_or("the record is no ghost")
}

/// Whether the record of a slot can be replaced.
///
/// # Errors
/// Why not.
pub fn replace(v: PageView<'_>, slot: u16, record: &[u8]) -> Fit<()> {
    replaceable(v, slot, record, (record.len(), has_in_row(record)))
}

/// The same where the record, which has a tag, gets an in-row version of so many bytes.
///
/// # Errors
/// Why not.
pub fn replace_in_row(v: PageView<'_>, slot: u16, record: &[u8], version: usize) -> Fit<()> {
    replaceable(v, slot, record, (record.len() + version, true))
}

/// Replaces the record of a slot, if it can be: see [`PageMut::replace`].
///
/// # Errors
/// Why not, before anything is changed.
pub fn put_over(page: &mut PageBytes, slot: u16, record: &[u8]) -> Fit<()> {
    let (v, new) = (PageView(page), (record.len(), has_in_row(record)));
    let mut old = replaced(v, slot, record, new.0)?;
    if new.0 != old.len {
        old.room = stays_in_place(v, (old.at, old.len), new);
        if old.room.is_none() {
            placeable(v, new.0, 0)?;
        }
    }
    PageMut(page).put_over(slot, record, old);
    Ok(())
}

/// Whether a record can be replaced. `new` tells the length of the one that will be there, and
/// whether it has an in-row version.
#[inline]
fn replaceable(v: PageView<'_>, slot: u16, record: &[u8], new: (usize, bool)) -> Fit<()> {
    let old = replaced(v, slot, record, new.0)?;
    match new.0 == old.len || can_stay_in_place(v, (old.at, old.len), new) {
        true => Ok(()),
        false => placeable(v, new.0, 0),
    }
}

/// The record that is replaced by one of that length, where the page has so many bytes.
#[inline]
fn replaced(v: PageView<'_>, slot: u16, record: &[u8], len: usize) -> Fit<ReplacedPlace> {
    let old = remove(v, slot)?;
    if record_length(record, v.min_len()) != Some(record.len()) {
        return Err("the record is not of the page's form");
    }
    if len > usize::from(v.free_count()) + old.len() {
        return Err("the record does not fit the page");
    }
    Ok(ReplacedPlace { at: usize::from(slot_word(v, slot)), len: old.len(), room: None })
}
