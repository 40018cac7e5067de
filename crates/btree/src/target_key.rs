//! `TargetKey`: a search key, prepared for comparison with many records on all pages of its way
//! down.
//!
//! For the first columns of the key, everything that is the same for all records is computed once:
//! their numbers or first bytes; the tree knows where the columns are. A comparison returns how
//! many columns were equal, so that the search need not compare them again.
//!
//! Invariant: when a prepared column decides, it decides as the column's comparison would. When it
//! does not decide (NULL; texts whose first difference is case or accent, or that end), that
//! comparison is called.
//!
//! Cost of a comparison that one prepared column decides: about 40 instructions for a number, 80
//! for a text; about 80 more for each other column.

use crate::order::{KeyPlace, Part, Shape, compare_fields};
use page::{Field, KeyColumn};
use std::cmp::Ordering;

/// Columns that are prepared: later ones seldom decide.
pub(crate) const PREPARED: usize = 3;

/// A key, or the beginning of one, and the tree whose records it is compared with.
pub(crate) struct TargetKey<'s, 'k> {
    pub(crate) shape: &'s Shape,
    pub(crate) key: &'k [Field<'k>],
    probes: [Probe; PREPARED],
}

/// The prepared value of a column.
enum Probe {
    /// Its comparison is always asked.
    Unprepared,
    Number(i64),
    Text(Word),
}

/// The first bytes of a text.
#[derive(Clone, Copy)]
struct Word {
    /// Up to eight of them, the first one lowest, the rest 0.
    bytes: u64,
    /// How many they are.
    count: usize,
    /// Whether there are more.
    more: bool,
}

impl<'s, 'k> TargetKey<'s, 'k> {
    #[inline]
    pub(crate) fn new(shape: &'s Shape, key: &'k [Field<'k>]) -> TargetKey<'s, 'k> {
        debug_assert!(key.len() <= shape.order.len(), "a key or the beginning of one");
        let mut probes = [const { Probe::Unprepared }; PREPARED];
        for ((probe, place), field) in probes.iter_mut().zip(&shape.places).zip(key) {
            *probe = Probe::of(&place.column, *field);
        }
        TargetKey { shape, key, probes }
    }

    /// The number that is sought in the first column, where it is one.
    #[inline]
    pub(crate) fn number(&self) -> Option<i64> {
        match self.probes[0] {
            Probe::Number(number) => Some(number),
            Probe::Text(_) | Probe::Unprepared => None,
        }
    }

    /// How a record compares with the key from a column on, those before being alike; and how many
    /// columns are alike then. `None` when the record's bytes make no sense.
    #[inline(always)]
    pub(crate) fn compare(
        &self,
        part: Part,
        record: &[u8],
        from: usize,
    ) -> Option<(Ordering, usize)> {
        debug_assert!(from <= self.key.len(), "columns of the key");
        let mut at = from;
        while let (Some(probe), Some(place)) = (self.probes.get(at), self.shape.places.get(at)) {
            match probe.compare(place, part, record) {
                Some(Ordering::Equal) => at += 1,
                Some(order) => return Some((order, at)),
                None => break,
            }
        }
        if at == self.key.len() {
            return Some((Ordering::Equal, at));
        }
        self.compare_rest(part, record, at)
    }

    #[inline(never)]
    fn compare_rest(&self, part: Part, record: &[u8], mut at: usize) -> Option<(Ordering, usize)> {
        debug_assert!(at < self.key.len(), "a column is left");
        let row = self.shape.layout(part).view(record)?;
        while let Some(sought) = self.key.get(at) {
            let stored = row.field(self.shape.order.column_of(part, at))?;
            let order = compare_fields(&self.shape.order.columns()[at], stored, *sought)?;
            if order != Ordering::Equal {
                return Some((order, at));
            }
            at += 1;
        }
        Some((Ordering::Equal, at))
    }
}

impl Probe {
    #[inline]
    fn of(column: &KeyColumn, field: Field<'_>) -> Probe {
        let Field::Inline(bytes) = field else { return Probe::Unprepared };
        match (column.number, column.weights) {
            (Some(kind), _) => kind.of(bytes).map_or(Probe::Unprepared, Probe::Number),
            (None, Some(_)) => Probe::Text(Word::of(bytes)),
            (None, None) => Probe::Unprepared,
        }
    }

    /// How a record's column compares, where that is decided here.
    #[inline(always)]
    fn compare(&self, place: &KeyPlace, part: Part, record: &[u8]) -> Option<Ordering> {
        let column = match part {
            Part::Leaf => &place.leaf,
            Part::Interior => &place.interior,
        };
        let order = match self {
            Probe::Unprepared => return None,
            Probe::Number(sought) => {
                let bytes = record.get(column.range(record)?)?;
                place.column.number?.of(bytes)?.cmp(sought)
            }
            Probe::Text(sought) => {
                let text = Word::within(record, column.range(record)?)?;
                text.compare(sought, place.column.weights?)?
            }
        };
        Some(if place.column.descending { order.reverse() } else { order })
    }
}

impl Word {
    const BYTES: usize = 8;

    #[inline]
    fn of(text: &[u8]) -> Word {
        if let Some(first) = text.first_chunk() {
            let more = text.len() > Word::BYTES;
            return Word { bytes: u64::from_le_bytes(*first), count: Word::BYTES, more };
        }
        let bytes = text.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte));
        Word { bytes, count: text.len(), more: false }
    }

    /// The same of a text within a record: what follows it is read along and left out.
    #[inline(always)]
    fn within(record: &[u8], text: std::ops::Range<usize>) -> Option<Word> {
        let length = text.len();
        let Some(read) = record.get(text.start..text.start + Word::BYTES) else {
            return Word::at_end(record, text);
        };
        let bytes = u64::from_le_bytes(read.try_into().ok()?);
        if length >= Word::BYTES {
            return Some(Word { bytes, count: Word::BYTES, more: length > Word::BYTES });
        }
        Some(Word { bytes: bytes & ((1 << (8 * length)) - 1), count: length, more: false })
    }

    #[cold]
    fn at_end(record: &[u8], text: std::ops::Range<usize>) -> Option<Word> {
        Some(Word::of(record.get(text)?))
    }

    /// How two texts compare, if their first different bytes decide, or there are none.
    #[inline(always)]
    fn compare(self, other: &Word, weights: &[u8; 256]) -> Option<Ordering> {
        let differ = self.bytes ^ other.bytes;
        if differ == 0 {
            let same = self.count == other.count && !self.more && !other.more;
            return same.then_some(Ordering::Equal);
        }
        let first = differ.trailing_zeros() as usize / 8;
        if first >= self.count || first >= other.count {
            return None;
        }
        let weight = |word: u64| weights[usize::from((word >> (8 * first)) as u8)];
        let order = weight(self.bytes).cmp(&weight(other.bytes));
        (order != Ordering::Equal).then_some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Letters of both cases weigh alike.
    static WEIGHTS: [u8; 256] = {
        let mut weights = [0; 256];
        let mut byte = 0;
        while byte < weights.len() {
            weights[byte] = (byte as u8).to_ascii_lowercase();
            byte += 1;
        }
        weights
    };

    fn text() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(&b"aAbB\0"[..]), 0..12)
    }

    proptest! {
        /// The invariant, for an order in which case is decided after all letters.
        #[test]
        fn what_first_bytes_decide_is_decided(a in text(), b in text(), behind in text()) {
            let lower = |x: &[u8]| x.to_ascii_lowercase();
            let order = lower(&a).cmp(&lower(&b)).then_with(|| a.cmp(&b));
            let mut record = vec![7; 3];
            record.extend(&a);
            record.extend(&behind);
            let word = Word::within(&record, 3..3 + a.len()).expect("within the record");
            if let Some(decided) = word.compare(&Word::of(&b), &WEIGHTS) {
                prop_assert_eq!(decided, order);
            }
            // Letters that differ within the first eight bytes of both are decided here.
            let different = |(x, y): (u8, u8)| !x.eq_ignore_ascii_case(&y) && x != 0 && y != 0;
            if let (Some(&x), Some(&y)) = (a.first(), b.first()) && different((x, y)) {
                prop_assert!(word.compare(&Word::of(&b), &WEIGHTS).is_some());
            }
        }
    }
}
