//! The in-row version: the row before a change, in the record of the row after it.
//!
//! ```text
//!   the record   its columns | (what follows them) | in-row version | version tag 14
//! ```
//!
//! | off | len | |
//! |---|---|---|
//! | 0 | 1 | length of all of it, this byte included |
//! | 1 | 2 | low 13 bits: where bytes differ, from the record's begin; the rest: flags |
//! | 3 | 1 | only with the flag STATUS: bits of status A that differ |
//! | | 1 | only with the flag MORE: how many bytes of the former row follow |
//! | | 2 | only with the flag SPLICE: how many bytes of the record these take the place of |
//! | | n | bytes of the former row |
//! | | | with the flag MORE: again from "where bytes differ" on, without STATUS and SPLICE |
//!
//! Bytes of the former row take the place of as many of the record; with SPLICE, of as many as it
//! says. Without SPLICE they are whole words of 4 bytes, counted from the first fixed column: an
//! int column takes 7 bytes, or 11 where it lies across two words. Status A has a bit (0x80) that
//! says that there is an in-row version, and the tag says who wrote the former row, and the length
//! once more. So whoever reads a record from its begin finds the tag, and whoever has only its end
//! finds the columns' end.
//!
//! Invariants
//!  1. The former row is never longer than the record: its bytes are in the record.
//!  2. A record whose length was found by [`crate::record_length`] has the same length of its
//!     in-row version in front of that and in its tag.
//!  3. What a version says does not depend on whether the row was forwarded since: the RID follows
//!     the columns, behind whatever differs.
//!  4. Nothing here panics, whatever the bytes are.
//!  5. What [`InRowVersion::of`] makes of two records is on-disk format: a log record of an index
//!     says only that it is made, and who applies or redoes that record makes it
//!     (`btree/src/redo.rs`).

use crate::fits::{self, Fit};
use crate::header::{PageBytes, PageMut, PageView, u16_at};
use crate::record::{
    HAS_IN_ROW, HAS_NULLS, HAS_TAG, HAS_VARIABLE, IN_ROW_BYTES_MAX, IN_ROW_FRONT_BYTES, Previous,
    RecordKind, VersionTag, body_end,
};
use base::Xsn;
use base::limits::{PAGE_BODY_BYTES, VERSION_TAG_BYTES};

/// Low bits: where bytes differ.
const OFFSET: u16 = 0x1FFF;
/// Another run of bytes follows.
const MORE: u16 = 0x2000;
/// The former row's bytes take the place of more or fewer.
const SPLICE: u16 = 0x4000;
/// Status A differs.
const STATUS: u16 = 0x8000;
/// What may differ in status A.
const STATUS_MAY: u8 = HAS_NULLS | HAS_VARIABLE;
/// What runs are made of.
const WORD_BYTES: usize = 4;
/// Equal bytes between two that differ which are cheaper repeated than told apart.
const GAP_BYTES: usize = 3;

/// A former row as it is kept in the row that follows it.
#[derive(Clone, Debug)]
pub struct InRowVersion {
    bytes: [u8; IN_ROW_BYTES_MAX],
    len: usize,
    most: usize,
}

impl InRowVersion {
    /// What keeps a former record of a row in another record of it, whatever their tags; `None`
    /// where that takes more than so many bytes, or the two are of different kinds.
    #[inline]
    pub fn of(former: &[u8], record: &[u8], room: usize) -> Option<InRowVersion> {
        let most = room.min(IN_ROW_BYTES_MAX);
        let mut version = InRowVersion { bytes: [0; IN_ROW_BYTES_MAX], len: 1, most };
        tell(former, record, &mut version)?;
        version.bytes[0] = version.len as u8;
        Some(version)
    }

    /// How many bytes that takes, for who does not make it.
    pub fn length_of(former: &[u8], record: &[u8], room: usize) -> Option<usize> {
        let mut length = VersionLength { len: 1, most: room.min(IN_ROW_BYTES_MAX) };
        tell(former, record, &mut length)?;
        Some(length.len)
    }

    /// How many bytes it takes in a record.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Its bytes, which follow the columns.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// What follows it: the tag of the record's writer. The former row is by `born`.
    #[inline]
    pub fn tag(&self, writer: Xsn, born: Xsn) -> VersionTag {
        VersionTag::new(writer, Previous::InRow { born, bytes: self.len as u8 })
    }

    /// Has the status of a record say that it has both.
    #[inline]
    pub fn tell_status(record: &mut [u8]) {
        record[0] |= HAS_TAG | HAS_IN_ROW;
    }

    /// Puts it and the tag of its writer into a record, instead of the tag that the record has. The
    /// former row is by `born`.
    pub fn put(&self, record: &mut Vec<u8>, writer: Xsn, born: Xsn) {
        let untagged = record.len().saturating_sub(VERSION_TAG_BYTES);
        if record[0] & HAS_TAG != 0 {
            record.truncate(body_end(record).unwrap_or(untagged));
        }
        record.extend_from_slice(self.bytes());
        record.extend_from_slice(&self.tag(writer, born).bytes());
        InRowVersion::tell_status(record);
        debug_assert_eq!(in_row_version(record), Some(self.bytes()), "as written");
    }
}

/// The length of an in-row version that nobody makes.
struct VersionLength {
    len: usize,
    most: usize,
}

/// What takes the bytes of an in-row version one after the other, or refuses them.
trait Sink {
    fn push(&mut self, bytes: &[u8]) -> Option<()>;
}

impl Sink for InRowVersion {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.len + bytes.len();
        self.bytes
            .get_mut(self.len..end.min(self.most))?
            .get_mut(..bytes.len())?
            .copy_from_slice(bytes);
        self.len = end;
        Some(())
    }
}

impl Sink for VersionLength {
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        self.len += bytes.len();
        (self.len <= self.most).then_some(())
    }
}

/// Tells what keeps a former record in another one, from behind its length on.
#[inline]
fn tell(former: &[u8], record: &[u8], to: &mut impl Sink) -> Option<()> {
    let (a, b) = (former.get(..body_end(former)?)?, record.get(..body_end(record)?)?);
    let status = (*a.first()? ^ *b.first()?) & !(HAS_TAG | HAS_IN_ROW);
    let of_index = RecordKind::of(b[0]).is_index();
    // Status B of a data record says what follows the columns (invariant 3).
    let alike = status & !STATUS_MAY == 0 && (of_index || a.get(1) == b.get(1));
    if !alike || a.len().max(b.len()) > usize::from(OFFSET) {
        return None;
    }
    match status == 0 && a.len() == b.len() {
        true => tell_runs(a, b, to),
        false => tell_splice(a, b, status, to),
    }
}

/// Where records of one length differ, run by run, in words of 4 bytes from the first fixed column
/// on: so a column of 4 bytes is mostly a run.
fn tell_runs(a: &[u8], b: &[u8], to: &mut impl Sink) -> Option<()> {
    let of_index = RecordKind::of(a[0]).is_index();
    // Status B is no part of it (invariant 3).
    let (columns, least) = if of_index { (1, 1) } else { (4, 2) };
    let begin = |at: usize| at - (at + WORD_BYTES - columns) % WORD_BYTES;
    let end_of = |at: usize| (begin(at) + WORD_BYTES).min(a.len());
    let Some(mut first) = next_difference(a, b, least) else {
        return to.push(&(least as u16).to_le_bytes());
    };
    loop {
        let from = begin(first).max(least);
        let (mut end, mut next) = (from, Some(first));
        while let Some(at) = next.filter(|at| *at <= end + GAP_BYTES) {
            end = end_of(at);
            next = next_difference(a, b, end);
        }
        let flags = if next.is_some() { MORE } else { 0 };
        to.push(&(from as u16 | flags).to_le_bytes())?;
        let Some(at) = next else { return to.push(&a[from..end]) };
        to.push(&[u8::try_from(end - from).ok()?])?;
        to.push(&a[from..end])?;
        first = at;
    }
}

/// What two records do not have in common at their begins and ends.
fn tell_splice(a: &[u8], b: &[u8], status: u8, to: &mut impl Sink) -> Option<()> {
    let least = a.len().min(b.len());
    let front = next_difference(&a[..least], &b[..least], 1).unwrap_or(least).max(1);
    let most = least.saturating_sub(front);
    let ends = a.iter().rev().zip(b.iter().rev()).take(most);
    let back = ends.take_while(|(a, b)| a == b).count();
    let flags = SPLICE | if status != 0 { STATUS } else { 0 };
    to.push(&(front as u16 | flags).to_le_bytes())?;
    if status != 0 {
        to.push(&[status])?;
    }
    to.push(&((b.len() - back - front) as u16).to_le_bytes())?;
    to.push(&a[front..a.len() - back])
}

/// The first byte from one on in which two slices of one length differ.
#[inline]
fn next_difference(a: &[u8], b: &[u8], from: usize) -> Option<usize> {
    debug_assert_eq!(a.len(), b.len(), "of one length");
    let mut at = from;
    let eight = |of: &[u8], at: usize| {
        let bytes = of.get(at..)?.first_chunk::<8>()?;
        Some(u64::from_le_bytes(*bytes))
    };
    while let (Some(a), Some(b)) = (eight(a, at), eight(b, at)) {
        if a != b {
            return Some(at + (a ^ b).trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    let ends = a.get(at..)?.iter().zip(b.get(at..)?);
    ends.into_iter().position(|(a, b)| a != b).map(|n| at + n)
}

/// The bytes of a record's in-row version, if it has one.
pub fn in_row_version(record: &[u8]) -> Option<&[u8]> {
    let has = *record.first()? & (HAS_TAG | HAS_IN_ROW) == HAS_TAG | HAS_IN_ROW;
    let from = if has { body_end(record)? } else { return None };
    record.get(from..record.len() - VERSION_TAG_BYTES)
}

/// Builds the former row that a record keeps, with a tag that says who wrote it and that nothing
/// was before; `None` where the record keeps none, or its bytes make no sense.
pub fn in_row_former(record: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let version = in_row_version(record)?;
    let Previous::InRow { born, .. } = VersionTag::of(record)?.before() else { return None };
    let body = record.get(..body_end(record)?)?;
    out.clear();
    let word = u16_at(version.get(1..IN_ROW_FRONT_BYTES)?, 0);
    let mut rest = &version[IN_ROW_FRONT_BYTES..];
    let status = match word & STATUS {
        0 => 0,
        _ => *rest.split_off_first()?,
    };
    if word & SPLICE != 0 {
        let removed = usize::from(u16_at(rest.split_off(..2)?, 0));
        let from = usize::from(word & OFFSET);
        let kept = body.get(from.checked_add(removed)?..)?;
        out.extend_from_slice(body.get(..from).filter(|front| !front.is_empty())?);
        out.extend_from_slice(rest);
        out.extend_from_slice(kept);
    } else {
        out.extend_from_slice(body);
        put_back(word, rest, out)?;
    }
    if status & !STATUS_MAY != 0 || out.len() > body.len() + version.len() {
        return None;
    }
    out[0] = (out[0] ^ status) & !(HAS_TAG | HAS_IN_ROW);
    VersionTag::new(born, Previous::None).put(out);
    Some(())
}

/// Puts runs of the former row into a copy of the record.
fn put_back(mut word: u16, mut rest: &[u8], out: &mut [u8]) -> Option<()> {
    loop {
        let from = usize::from(word & OFFSET);
        let run = match word & MORE {
            0 => std::mem::take(&mut rest),
            _ => {
                let bytes = usize::from(*rest.split_off_first()?);
                rest.split_off(..bytes)?
            }
        };
        let to = out.get_mut(from..from + run.len()).filter(|_| from > 0)?;
        to.copy_from_slice(run);
        if word & MORE == 0 {
            return Some(());
        }
        word = u16_at(rest.split_off(..2)?, 0);
        if word & (SPLICE | STATUS) != 0 {
            return None;
        }
    }
}

/// The slots that a log record names, two bytes each.
fn slots_of(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes.as_chunks::<2>().0.iter().map(|slot| u16::from_le_bytes(*slot))
}

/// Whether the in-row versions of these slots, two bytes each, can be taken out of their records.
///
/// # Errors
/// Why not.
pub fn check_drop_in_row(view: PageView<'_>, slots: &[u8]) -> Fit<()> {
    fits::header(view)?;
    let (mut before, mut freed) = (None, 0);
    for slot in slots_of(slots) {
        let record = view.record(slot).ok_or(fits::NO_RECORD)?;
        let version = in_row_version(record).ok_or("a record has no in-row version")?;
        freed += version.len();
        if before.is_some_and(|before| before >= slot) {
            return Err("slots are not in their order");
        }
        before = Some(slot);
    }
    let most = PAGE_BODY_BYTES - 2 * usize::from(view.slot_count());
    match slots.len().is_multiple_of(2) && usize::from(view.free_count()) + freed <= most {
        true => Ok(()),
        false => Err("the page's free space is miscounted"),
    }
}

/// Takes in-row versions out of their records. What is left says that nothing was before.
///
/// # Errors
/// Those of [`check_drop_in_row`], before anything is changed. On a page whose records overlap,
/// also behind some of them.
pub fn drop_in_row(page: &mut PageBytes, slots: &[u8]) -> Fit<()> {
    check_drop_in_row(PageView(page), slots)?;
    let mut bare = Vec::new();
    for slot in slots_of(slots) {
        let v = PageView(page);
        let tag = v.record(slot).and_then(|record| {
            bare.clear();
            bare.extend_from_slice(record);
            in_row_version(record).and(VersionTag::of(record))
        });
        let tag = tag.ok_or(fits::NO_RECORD)?;
        let before = bare.len();
        VersionTag::new(tag.writer, Previous::None).put(&mut bare);
        if usize::from(v.free_count()) + before - bare.len() > PAGE_BODY_BYTES {
            return Err("the page's free space is miscounted");
        }
        PageMut(page).shorten(slot, &bare);
    }
    Ok(())
}

/// Runs of bytes of the former row that a record keeps, each with where it begins, for views. Those
/// of a splice have the number of bytes of the record that they take the place of.
pub fn in_row_runs(record: &[u8]) -> Vec<(u16, Option<u16>, &[u8])> {
    let mut runs = Vec::new();
    let Some(version) = in_row_version(record) else { return runs };
    let _ = each_run(version, &mut |at, of, bytes| runs.push((at, of, bytes)));
    runs
}

fn each_run<'v>(version: &'v [u8], each: &mut dyn FnMut(u16, Option<u16>, &'v [u8])) -> Option<()> {
    let mut rest = version.get(1..)?;
    loop {
        let word = u16_at(rest.split_off(..2)?, 0);
        if word & STATUS != 0 {
            rest.split_off_first()?;
        }
        let of = match word & SPLICE {
            0 => None,
            _ => Some(u16_at(rest.split_off(..2)?, 0)),
        };
        if word & MORE == 0 {
            each(word & OFFSET, of, rest);
            return Some(());
        }
        let bytes = usize::from(*rest.split_off_first()?);
        each(word & OFFSET, of, rest.split_off(..bytes)?);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Field, RowLayout};
    use crate::record::length;
    use base::PageId;
    use proptest::prelude::*;

    fn row(layout: &RowLayout, kind: RecordKind, fields: &[Field<'_>], tagged: bool) -> Vec<u8> {
        let tag = tagged.then(|| VersionTag::new(Xsn(5), Previous::None));
        let mut out = Vec::new();
        layout.encode(kind, fields, tag, &mut out);
        out
    }

    /// The former row of `new`, as a reader gets it.
    fn read(new: &[u8], out: &mut Vec<u8>) {
        assert_eq!(in_row_former(new, out), Some(()), "{new:?}");
    }

    #[test]
    fn an_int_column_takes_seven_bytes_and_its_row_twenty_one() {
        let layout = RowLayout::of_rows(&[Some(4), Some(4)]);
        let of = |n: u8, tagged| {
            let fields = [Field::Inline(&[1, 0, 0, 0]), Field::Inline(&[n, n, n, n])];
            row(&layout, RecordKind::Primary, &fields, tagged)
        };
        let (fresh, mut new) = (of(7, false), of(9, false));
        let version = InRowVersion::of(&fresh, &new, 7).unwrap();
        assert_eq!(version.len(), 7);
        assert!(InRowVersion::of(&fresh, &new, 6).is_none(), "no room for it");
        version.put(&mut new, Xsn(12), Xsn(0x0605_0403_0201));
        assert_eq!(new.len(), fresh.len() + 21);
        assert_eq!(length(&new, 0), Some(new.len()));
        assert_eq!(layout.check(&new), Ok(()));
        let mut end = vec![7, 8, 0, 7, 7, 7, 7];
        end.extend([1, 2, 3, 4, 7, 0xFF, 5, 6, 12, 0, 0, 0, 0, 0]);
        assert_eq!((new[0], &new[fresh.len()..]), (0xD0, &end[..]), "pinned");
        let mut out = Vec::new();
        read(&new, &mut out);
        let mut wanted = fresh;
        VersionTag::new(Xsn(0x0605_0403_0201), Previous::None).put(&mut wanted);
        assert_eq!(out, wanted);
        assert_eq!(in_row_runs(&new), [(8, None, &[7, 7, 7, 7][..])]);
        VersionTag::new(Xsn(13), Previous::None).put(&mut new);
        assert_eq!((new, in_row_version(&out)), (of(9, true).with_writer(13), None));
    }

    trait WithWriter {
        fn with_writer(self, writer: u64) -> Self;
    }

    impl WithWriter for Vec<u8> {
        fn with_writer(mut self, writer: u64) -> Self {
            VersionTag::new(Xsn(writer), Previous::None).put(&mut self);
            self
        }
    }

    /// Versions of some records go, whatever the order in which records lie; the page stays sound.
    #[test]
    fn versions_leave_a_page() {
        let layout = RowLayout::of_rows(&[Some(4), Some(4)]);
        let mut page = Box::new([0; base::limits::PAGE_BYTES]);
        let unit = base::AllocUnitId(1);
        PageMut(&mut page).format(
            crate::PageKind::Data,
            PageId::new(1, 8),
            unit,
            0,
            layout.min_len(),
        );
        let mut plain = Vec::new();
        for slot in 0..40_u8 {
            let of = |n: u8| {
                let fields = [Field::Inline(&[slot, 0, 0, 0]), Field::Inline(&[n; 4])];
                row(&layout, RecordKind::Primary, &fields, true).with_writer(9)
            };
            let mut record = of(2);
            plain.insert(usize::from(slot) / 2, record.clone());
            if slot % 3 > 0 {
                InRowVersion::of(&of(1), &record, 200).unwrap().put(&mut record, Xsn(9), Xsn(8));
            }
            PageMut(&mut page).insert(u16::from(slot) / 2, &record);
        }
        let has = |slot| in_row_version(PageView(&page).record(slot).unwrap()).is_some();
        let slots: Vec<u16> = (0..40).filter(|s| has(*s) && s % 5 > 0).collect();
        let bytes: Vec<u8> = slots.iter().flat_map(|s| s.to_le_bytes()).collect();
        let free = PageView(&page).free_count();
        assert_eq!(check_drop_in_row(PageView(&page), &bytes), Ok(()));
        assert_eq!(drop_in_row(&mut page, &bytes), Ok(()));
        assert_eq!(crate::check_slots(&page), Ok(()));
        assert_eq!(usize::from(PageView(&page).free_count() - free), 7 * slots.len());
        for (slot, plain) in (0..40).zip(&plain) {
            let record = PageView(&page).record(slot).unwrap();
            assert!(VersionTag::differs_only(record, plain));
            assert!(!slots.contains(&slot) || record == &plain[..]);
        }
        let refused = |bytes: &[u8]| check_drop_in_row(PageView(&page), bytes).is_err();
        assert!(refused(&bytes) && refused(&[99, 0]) && refused(&[0]), "none there, no slot, half");
    }

    #[test]
    fn a_damaged_one_is_told_and_never_a_panic() {
        let layout = RowLayout::of_rows(&[Some(4), Some(4), None]);
        let of = |n: u8, text: &'static [u8]| {
            let fields = [Field::Inline(&[n; 4]), Field::Inline(&[n; 4]), Field::Inline(text)];
            row(&layout, RecordKind::Primary, &fields, true)
        };
        for (former, new) in [(of(1, b"abc"), of(2, b"abc")), (of(1, b"abcdef"), of(2, b""))] {
            let mut new = new;
            InRowVersion::of(&former, &new, 200).unwrap().put(&mut new, Xsn(6), Xsn(5));
            let sound = new.clone();
            assert_eq!(layout.check(&new), Ok(()));
            let mut out = Vec::new();
            for at in 0..new.len() {
                for bits in [1, 0x20, 0x40, 0x80, 0xFF] {
                    new[at] ^= bits;
                    let whole = length(&new, 0).is_some_and(|n| n <= new.len());
                    let _ = (in_row_former(&new, &mut out), in_row_runs(&new), whole);
                    let _ = (layout.check(&new), in_row_former(&new[..at], &mut out));
                    new.copy_from_slice(&sound);
                }
            }
            let at = in_row_version(&new).unwrap().as_ptr() as usize - new.as_ptr() as usize;
            new[at + 2] ^= 0x1F;
            assert!(layout.check(&new).is_err(), "beyond the record");
        }
    }

    fn value() -> impl Strategy<Value = (Option<Vec<u8>>, Option<Vec<u8>>)> {
        let one = || prop::option::of(prop::collection::vec(0..3_u8, 0..30));
        (one(), one(), any::<bool>())
            .prop_map(|(a, b, same)| if same { (a.clone(), a) } else { (a, b) })
    }

    proptest! {
        /// Any two records of a row: what is kept reads as it was, at home and away, and takes no
        /// more than it may.
        #[test]
        fn what_is_kept_is_read(
            widths in prop::collection::vec(prop::option::of(1..9_u16), 1..12),
            values in prop::collection::vec(value(), 12),
            of_index in any::<bool>(),
            tagged in any::<[bool; 2]>(),
            room in prop_oneof![Just(IN_ROW_BYTES_MAX + 9), 0..IN_ROW_BYTES_MAX],
        ) {
            let (layout, kind) = match of_index {
                true => (RowLayout::of_entries(&widths, true, 0), RecordKind::Index),
                false => (RowLayout::of_rows(&widths), RecordKind::Primary),
            };
            let fit = |v: &Option<Vec<u8>>, w: Option<u16>| v.clone().map(|mut v| {
                if let Some(w) = w { v.resize(usize::from(w), 1) }
                v
            });
            type Bytes = Option<Vec<u8>>;
            let build = |pick: fn(&(Bytes, Bytes)) -> &Bytes, tagged| {
                let values: Vec<_> =
                    widths.iter().zip(&values).map(|(w, v)| fit(pick(v), *w)).collect();
                let values = values.iter().map(Option::as_deref);
                let fields: Vec<_> =
                    values.map(|v| v.map_or(Field::Null, Field::Inline)).collect();
                row(&layout, kind, &fields, tagged)
            };
            let former = build(|v| &v.0, tagged[0]);
            let mut new = build(|v| &v.1, tagged[1]);
            let plain = new.clone();
            let Some(version) = InRowVersion::of(&former, &new, room) else {
                prop_assert_eq!(InRowVersion::length_of(&former, &new, room), None);
                let whole = 6 + former.len();
                prop_assert!(room < whole || whole > IN_ROW_BYTES_MAX, "there was room");
                return Ok(());
            };
            prop_assert!(version.len() <= room.min(IN_ROW_BYTES_MAX));
            let told = InRowVersion::length_of(&former, &new, room);
            prop_assert_eq!(told, Some(version.len()), "as long as it was told");
            version.put(&mut new, Xsn(9), Xsn(8));
            prop_assert_eq!(length(&new, layout.min_len()), Some(new.len()));
            prop_assert_eq!(layout.check(&new), Ok(()));
            prop_assert!(VersionTag::differs_only(&new, &plain));
            let (mut out, mut wanted) = (Vec::new(), former);
            VersionTag::new(Xsn(8), Previous::None).put(&mut wanted);
            read(&new, &mut out);
            prop_assert_eq!(&out, &wanted);
            if !of_index {
                let home = (PageId::new(1, 77), 3);
                let away = crate::forwarded(&new, home);
                prop_assert_eq!(length(&away, 0), Some(away.len()));
                prop_assert_eq!(layout.check(&away), Ok(()));
                read(&away, &mut out);
                prop_assert_eq!(&out[..], &crate::forwarded(&wanted, home)[..], "invariant 3");
                prop_assert_eq!(&crate::homed(&away)[..], &new[..]);
            }
            VersionTag::new(Xsn(3), Previous::None).put(&mut new);
            prop_assert_eq!(length(&new, layout.min_len()), Some(new.len()));
            prop_assert!(VersionTag::differs_only(&new, &plain));
        }
    }
}
