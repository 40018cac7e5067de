//! What the log says about pages of a tree.
//!
//! A kind is an operation and the context it is in, so that fn_dblog can name both:
//! `FIRST_OF_BTREE + 3 x operation + context`.
//!
//! | operation | slot | payload |
//! |---|---|---|
//! | FORMAT | | page kind 1, level 1, pminlen 2, previous 6, next 6 |
//! | INSERT | its slot | the record |
//! | INSERT_MANY | the first | for each record: length 2, bytes |
//! | GHOST, UNGHOST | its slot | the key, when a transaction undoes it |
//! | EXPUNGE | its slot | the record, when a transaction undoes it |
//! | MODIFY | its slot | two status bytes, from 2, length 2, key length 2, key, before, after |
//! | TRUNCATE | the first to go | |
//! | LINK | | 0 previous or 1 next, page 6 |
//! | MODIFY_IN_ROW | its slot | form 1, number of the writer 6, and as MODIFY |
//! | | | form 2, slots: their in-row versions go |
//!
//! A page id is page 4, file 2; a key is spelled as in `key.rs`. MODIFY has the status byte before
//! and after; it keeps the bytes from there to `from`, replaces as many as `length` says, and
//! keeps the rest. MODIFY_IN_ROW says what differs between two rows without their version tags;
//! the second leaves the first in its record, as an in-row version of that form, with the writer's
//! tag (`page/src/in_row.rs`). Bit 0x80 of the form: the first has no tag.

use crate::key::BuiltBytes;
use base::{PageId, Xsn};
use page::{
    IN_ROW_BYTES_MAX, InRowVersion, VersionTag, in_row_former, in_row_version, plain_record,
};
use wal::{Kind, RecordView};

/// What is done to a page. Numbers are on-disk format: never reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Operation {
    Format = 0,
    Insert = 1,
    InsertMany = 2,
    Ghost = 3,
    Unghost = 4,
    Expunge = 5,
    Modify = 6,
    Truncate = 7,
    Link = 8,
    ModifyInRow = 9,
}

const OPERATIONS: [Operation; 10] = [
    Operation::Format,
    Operation::Insert,
    Operation::InsertMany,
    Operation::Ghost,
    Operation::Unghost,
    Operation::Expunge,
    Operation::Modify,
    Operation::Truncate,
    Operation::Link,
    Operation::ModifyInRow,
];

/// Where in a tree a page stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Context {
    Clustered = 0,
    IndexLeaf = 1,
    Interior = 2,
}

const CONTEXTS: [Context; 3] = [Context::Clustered, Context::IndexLeaf, Context::Interior];

impl Context {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Context::Clustered => "LCX_CLUSTERED",
            Context::IndexLeaf => "LCX_INDEX_LEAF",
            Context::Interior => "LCX_INDEX_INTERIOR",
        }
    }
}

/// Whether a record of that kind may put a ghost on its page: one made there, or moved there with
/// others. A MODIFY says in its status bytes what it leaves.
pub fn may_leave_ghost(kind: Kind, payload: &[u8]) -> bool {
    match parts(kind) {
        Some((Operation::Ghost | Operation::InsertMany, c)) => c != Context::Interior,
        Some((Operation::Modify, c)) => {
            let after = payload.get(1..2);
            c != Context::Interior && after.is_none_or(page::is_ghost_record)
        }
        _ => false,
    }
}

/// The kinds of this crate, for the table of redo handlers.
pub const KINDS: std::ops::RangeInclusive<u8> =
    wal::kinds::FIRST_OF_BTREE..=wal::kinds::FIRST_OF_BTREE + 3 * OPERATIONS.len() as u8 - 1;
const _: () = assert!(*KINDS.end() < wal::kinds::FIRST_OF_HEAP);

pub(crate) const fn kind(operation: Operation, context: Context) -> Kind {
    let kind = *KINDS.start() + 3 * operation as u8 + context as u8;
    debug_assert!(kind <= *KINDS.end(), "a kind of this crate");
    Kind(kind)
}

pub(crate) fn parts(kind: Kind) -> Option<(Operation, Context)> {
    let n = usize::from(kind.0.checked_sub(*KINDS.start())?);
    let (operation, context) = (*OPERATIONS.get(n / 3)?, CONTEXTS[n % 3]);
    debug_assert_eq!(self::kind(operation, context), kind, "put together as it was taken apart");
    Some((operation, context))
}

pub(crate) fn page_id_bytes(id: PageId) -> [u8; 6] {
    let (p, f) = (id.page.to_le_bytes(), id.file.0.to_le_bytes());
    let bytes = [p[0], p[1], p[2], p[3], f[0], f[1]];
    debug_assert_eq!(page_id_of(&bytes), Some(id), "read as written");
    bytes
}

pub(crate) fn page_id_of(b: &[u8]) -> Option<PageId> {
    let b = b.get(..6)?;
    Some(PageId::new(
        u16::from_le_bytes([b[4], b[5]]),
        u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
    ))
}

pub(crate) fn u16_of(b: &[u8], at: usize) -> Option<u16> {
    let b = b.get(at..at + 2)?;
    Some(u16::from_le_bytes([b[0], b[1]]))
}

/// Bytes of a MODIFY payload before the key.
pub(crate) const MODIFY_FRONT_BYTES: usize = 8;

/// How a record was changed: what a MODIFY payload says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference<'a> {
    pub(crate) status: (u8, u8),
    pub(crate) from: u16,
    /// The key, spelled as in a [`crate::KeyBuf`]; empty when no transaction undoes the change.
    pub key: &'a [u8],
    pub(crate) before: &'a [u8],
    pub(crate) after: &'a [u8],
}

impl<'a> Difference<'a> {
    pub(crate) fn parse(p: &'a [u8]) -> Option<Self> {
        let front = p.get(..MODIFY_FRONT_BYTES)?;
        let (from, before) = (u16_of(front, 2)?, usize::from(u16_of(front, 4)?));
        let key_end = MODIFY_FRONT_BYTES + usize::from(u16_of(front, 6)?);
        Some(Difference {
            status: (front[0], front[1]),
            from,
            key: p.get(MODIFY_FRONT_BYTES..key_end)?,
            before: p.get(key_end..key_end + before)?,
            after: &p[key_end + before..],
        })
    }

    /// What was changed between two records that are not equal.
    pub(crate) fn between(key: &'a [u8], old: &'a [u8], new: &'a [u8]) -> Self {
        assert!(!old.is_empty() && !new.is_empty(), "a record has a status byte");
        Difference::between_parts(key, (old[0], &old[1..]), (new[0], &new[1..]))
    }

    /// The same of records that are told as their status and what follows it.
    pub(crate) fn between_parts(
        key: &'a [u8],
        (was, a): (u8, &'a [u8]),
        (is, b): (u8, &'a [u8]),
    ) -> Self {
        let front = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let most = a.len().min(b.len()) - front;
        let back = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b);
        let back = back.count();
        assert!(a.len().max(b.len()) < crate::RECORD_MAX, "records of pages");
        debug_assert!(front + back <= a.len().min(b.len()), "front and back do not overlap");
        let between = Difference {
            status: (was, is),
            from: front as u16 + 1,
            key,
            before: &a[front..a.len() - back],
            after: &b[front..b.len() - back],
        };
        debug_assert_eq!(
            a.len() + between.after.len(),
            b.len() + between.before.len(),
            "what differs makes the difference of length"
        );
        between
    }

    pub(crate) fn front(&self) -> [u8; MODIFY_FRONT_BYTES] {
        debug_assert!(self.from >= 1, "the status byte is told apart");
        debug_assert!(self.before.len().max(self.after.len()) <= crate::RECORD_MAX, "of a record");
        debug_assert!(self.key.len() <= usize::from(u16::MAX), "its length has two bytes");
        let f = self.from.to_le_bytes();
        let n = (self.before.len() as u16).to_le_bytes();
        let k = (self.key.len() as u16).to_le_bytes();
        [self.status.0, self.status.1, f[0], f[1], n[0], n[1], k[0], k[1]]
    }

    /// Builds the record as it was from the record as it is; false when that is not the record
    /// this came from.
    pub fn restore(&self, now: &[u8], out: &mut Vec<u8>) -> bool {
        self.rebuild(now, (self.status.1, self.after), (self.status.0, self.before), out)
    }

    /// Builds the record as it became from the record as it was; false when it is another.
    pub(crate) fn repeat(&self, was: &[u8], out: &mut Vec<u8>) -> bool {
        self.rebuild(was, (self.status.0, self.before), (self.status.1, self.after), out)
    }

    pub(crate) fn rebuild(
        &self,
        record: &[u8],
        old: (u8, &[u8]),
        new: (u8, &[u8]),
        out: &mut Vec<u8>,
    ) -> bool {
        let parts = record.split_first();
        parts.is_some_and(|(status, rest)| self.rebuild_parts((*status, rest), old, new, out))
    }

    /// The same of a record whose status and rest stand apart.
    #[inline]
    fn rebuild_parts(
        &self,
        (status, rest): (u8, &[u8]),
        old: (u8, &[u8]),
        new: (u8, &[u8]),
        out: &mut impl BuiltBytes,
    ) -> bool {
        let Some(from) = usize::from(self.from).checked_sub(1) else { return false };
        let fits = status == old.0 && rest.get(from..from + old.1.len()) == Some(old.1);
        if fits {
            out.clear();
            out.add(&[new.0]);
            out.add(&rest[..from]);
            out.add(new.1);
            out.add(&rest[from + old.1.len()..]);
            let kept = rest.len() - old.1.len();
            debug_assert_eq!(out.as_slice().len(), 1 + kept + new.1.len(), "the rest is kept");
            let placed = out.as_slice().get(from + 1..from + 1 + new.1.len());
            debug_assert_eq!(placed, Some(new.1), "the bytes are in place");
        }
        fits
    }
}

/// The form of in-row versions that MODIFY_IN_ROW leaves.
pub(crate) const IN_ROW_FORM: u8 = 1;
/// The form that takes in-row versions out of records.
pub(crate) const DROP_FORM: u8 = 2;
/// The form's bit that says that the row before has no tag.
pub(crate) const WAS_UNTAGGED: u8 = 0x80;
/// Bytes of a MODIFY_IN_ROW payload before what it has in common with MODIFY.
pub(crate) const IN_ROW_FRONT_BYTES: usize = 7;

/// A change that leaves the row before in the record: what a MODIFY_IN_ROW payload says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InRowDifference<'a> {
    /// Between the two rows without their tags.
    pub difference: Difference<'a>,
    /// Who made the change.
    pub(crate) writer: Xsn,
    pub(crate) was_untagged: bool,
}

impl<'a> InRowDifference<'a> {
    pub(crate) fn parse(p: &'a [u8]) -> Option<Self> {
        let (&[form, n0, n1, n2, n3, n4, n5], rest) = p.split_first_chunk()?;
        let known = form & !WAS_UNTAGGED == IN_ROW_FORM;
        let difference = known.then(|| Difference::parse(rest))??;
        let writer = Xsn(u64::from_le_bytes([n0, n1, n2, n3, n4, n5, 0, 0]));
        Some(InRowDifference { difference, writer, was_untagged: form & WAS_UNTAGGED != 0 })
    }

    pub(crate) fn front(&self) -> [u8; IN_ROW_FRONT_BYTES] {
        assert!(self.writer <= Xsn::MAX, "an XSN has 48 bits");
        let form = if self.was_untagged { IN_ROW_FORM | WAS_UNTAGGED } else { IN_ROW_FORM };
        let n = self.writer.0.to_le_bytes();
        [form, n[0], n[1], n[2], n[3], n[4], n[5]]
    }

    /// Builds the record as it became from the record as it was; false when it is another.
    #[inline]
    pub(crate) fn repeat(&self, was: &[u8], out: &mut impl BuiltBytes) -> bool {
        let tag = VersionTag::of(was);
        let Some(plain) = plain_record(was) else { return false };
        let d = &self.difference;
        let (before, after) = ((d.status.0, d.before), (d.status.1, d.after));
        if self.was_untagged != tag.is_none() || !d.rebuild_parts(plain, before, after, out) {
            return false;
        }
        let built = InRowVersion::of(was, out.as_slice(), IN_ROW_BYTES_MAX);
        let Some(version) = built else { return false };
        let born = tag.map_or(Xsn::NONE, |tag| tag.writer);
        out.add(version.bytes());
        out.add(&version.tag(self.writer, born).bytes());
        InRowVersion::tell_status(out.as_slice_mut());
        debug_assert_eq!(in_row_version(out.as_slice()), Some(version.bytes()), "as made");
        true
    }

    /// Builds the record as it was from the record as it is; false when that is not the record this
    /// came from. The tag that comes back says that nothing is before its record.
    pub fn restore(&self, now: &[u8], out: &mut Vec<u8>) -> bool {
        let d = &self.difference;
        let Some((status, rest)) = plain_record(now) else { return false };
        let from = usize::from(d.from).saturating_sub(1);
        let same = status == d.status.1
            && rest.get(from..from + d.after.len()) == Some(d.after)
            && VersionTag::of(now).is_some_and(|tag| tag.writer == self.writer);
        if !same || in_row_former(now, out).is_none() {
            return false;
        }
        if self.was_untagged
            && let Some((status, rest)) = plain_record(out)
        {
            *out = [&[status][..], rest].concat();
        }
        true
    }
}

/// A logged change of a record, as its undo needs it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoggedChange<'a> {
    /// A record was put into the tree: undo takes it out.
    Insert {
        /// The record, which holds its key.
        record: &'a [u8],
    },
    /// A record became a ghost: undo revives it.
    Ghost {
        /// The key, as [`crate::key_fields`] reads it.
        key: &'a [u8],
    },
    /// A ghost was revived: undo makes it one again.
    Unghost {
        /// The key.
        key: &'a [u8],
    },
    /// A record was taken out: undo puts it back.
    Expunge {
        /// The record.
        record: &'a [u8],
    },
    /// A record was replaced or patched: undo puts the former bytes back.
    Modify(Difference<'a>),
    /// A record was replaced and left in the new one: undo takes it from there.
    ModifyInRow(InRowDifference<'a>),
    /// A structure change: there is nothing to undo.
    Structure,
}

impl<'a> LoggedChange<'a> {
    /// The key of a record that was replaced or patched.
    pub fn replaced_key(&self) -> Option<&'a [u8]> {
        match self {
            LoggedChange::Modify(d) => Some(d.key),
            LoggedChange::ModifyInRow(d) => Some(d.difference.key),
            _ => None,
        }
    }

    /// Builds a record as it was before it was replaced or patched, from the record as it is; false
    /// when that is not the record this came from.
    pub fn restore(&self, now: &[u8], out: &mut Vec<u8>) -> bool {
        match self {
            LoggedChange::Modify(d) => d.restore(now, out),
            LoggedChange::ModifyInRow(d) => d.restore(now, out),
            _ => false,
        }
    }
}

/// What a record of this crate's kinds says; `None` when its bytes make no sense.
pub fn logged<'a>(record: &RecordView<'a>) -> Option<LoggedChange<'a>> {
    let p = record.payload();
    Some(match parts(record.kind())?.0 {
        Operation::Insert => LoggedChange::Insert { record: p },
        Operation::Ghost => LoggedChange::Ghost { key: p },
        Operation::Unghost => LoggedChange::Unghost { key: p },
        Operation::Expunge => LoggedChange::Expunge { record: p },
        Operation::Modify => LoggedChange::Modify(Difference::parse(p)?),
        Operation::ModifyInRow if p.first() == Some(&DROP_FORM) => LoggedChange::Structure,
        Operation::ModifyInRow => LoggedChange::ModifyInRow(InRowDifference::parse(p)?),
        Operation::Format | Operation::InsertMany | Operation::Truncate | Operation::Link => {
            LoggedChange::Structure
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kinds_are_taken_apart_as_they_were_put_together() {
        for o in OPERATIONS {
            for c in CONTEXTS {
                assert_eq!(parts(kind(o, c)), Some((o, c)));
            }
        }
        assert_eq!((parts(Kind(0x3F)), parts(Kind(KINDS.end() + 1))), (None, None));
    }

    proptest! {
        #[test]
        fn a_difference_goes_both_ways(
            common in prop::collection::vec(0..3_u8, 0..20),
            a in prop::collection::vec(0..3_u8, 1..20),
            b in prop::collection::vec(0..3_u8, 1..20),
        ) {
            let old = [&a[..], &common].concat();
            let new = [&b[..], &common].concat();
            let d = Difference::between(b"key", &old, &new);
            let payload = [&d.front()[..], d.key, d.before, d.after].concat();
            prop_assert_eq!(Difference::parse(&payload), Some(d));
            let mut out = Vec::new();
            prop_assert!(d.repeat(&old, &mut out) && out == new);
            prop_assert!(d.restore(&new, &mut out) && out == old);
            for cut in 0..payload.len() {
                let _ = Difference::parse(&payload[..cut]);
            }
        }
    }

    proptest! {
        /// What leaves the row before in the record: redo makes the same record from the row, undo
        /// gets the row from the record, and each refuses another record.
        #[test]
        fn a_change_that_leaves_a_version_goes_both_ways(
            a in prop::collection::vec(0..3_u8, 40),
            b in prop::collection::vec(0..3_u8, 40),
            from in 0..30_usize,
            tagged in any::<bool>(),
        ) {
            let row = |bytes: &[u8]| {
                let mut row = vec![0x10, 0, 44, 0];
                row.extend_from_slice(bytes);
                row.extend([1, 0, 0]);
                row
            };
            let mut changed = a.clone();
            changed[from..from + 10].copy_from_slice(&b[from..from + 10]);
            prop_assume!(changed != a);
            let (mut old, mut new) = (row(&a), row(&changed));
            if tagged {
                VersionTag::new(Xsn(7), page::Previous::None).put(&mut old);
            }
            let born = if tagged { Xsn(7) } else { Xsn::NONE };
            let version = InRowVersion::of(&old, &new, IN_ROW_BYTES_MAX).expect("it is short");
            let plain = new.clone();
            version.put(&mut new, Xsn(9), born);
            let between = Difference::between_parts(
                b"key",
                plain_record(&old).unwrap(),
                plain_record(&new).unwrap(),
            );
            let d = InRowDifference { difference: between, writer: Xsn(9), was_untagged: !tagged };
            let payload =
                [&d.front()[..], &between.front(), between.key, between.before, between.after]
                    .concat();
            prop_assert!(payload.len() <= 7 + 8 + 3 + 2 * 10, "neither the version nor tags");
            prop_assert_eq!(InRowDifference::parse(&payload), Some(d));
            let mut out = Vec::new();
            prop_assert!(d.repeat(&old, &mut out));
            prop_assert_eq!(&out, &new);
            prop_assert!(d.restore(&new, &mut out));
            prop_assert_eq!(&out, &old);
            prop_assert!(!d.repeat(&new, &mut out) && !d.restore(&old, &mut out));
            prop_assert!(!d.restore(&plain, &mut out), "it has no version");
            for cut in 0..payload.len() {
                let _ = InRowDifference::parse(&payload[..cut]);
            }
        }
    }
}
