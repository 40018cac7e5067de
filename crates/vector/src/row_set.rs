//! `RowSet`: some rows of a batch, as a bitmap. A selection is one, and so is the validity of a
//! vector (the rows that are not NULL).
//!
//! It is 128 bytes by value, so that no operation allocates. And, or and difference take 16 words
//! each, whatever is in them; going through the rows costs a few instructions a row that is in.

use std::fmt;

/// Rows that a batch has at most. SQL Server's batches have about 900; blocks of packed columns
/// have 1,024.
pub const ROWS_MAX: usize = 1024;

const WORDS: usize = ROWS_MAX / 64;

/// A set of rows, numbered from 0 to below [`ROWS_MAX`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RowSet([u64; WORDS]);

impl RowSet {
    /// No row.
    pub const EMPTY: RowSet = RowSet([0; WORDS]);

    /// The first so many rows.
    ///
    /// # Panics
    /// Above [`ROWS_MAX`].
    pub fn first(rows: usize) -> RowSet {
        assert!(rows <= ROWS_MAX, "a batch has no {rows} rows");
        let mut set = RowSet::EMPTY;
        set.0[..rows / 64].fill(u64::MAX);
        if !rows.is_multiple_of(64) {
            set.0[rows / 64] = u64::MAX >> (64 - rows % 64);
        }
        set
    }

    /// Rows for which a test of the lane is true: lane `n` is that of row `n`. The loop has no
    /// branches; it compares 64 lanes, then packs the answers into a word.
    #[inline]
    pub(crate) fn of_lanes<T: Copy>(lanes: &[T], test: impl Fn(T) -> bool) -> RowSet {
        let mut set = RowSet::EMPTY;
        for (word, lanes) in set.0.iter_mut().zip(lanes.chunks(64)) {
            let mut answers = [0; 64];
            for (answer, &lane) in answers.iter_mut().zip(lanes) {
                *answer = u8::from(test(lane));
            }
            *word = packed(&answers);
        }
        set
    }

    /// The same of two columns of lanes, as long as the shorter one.
    #[inline]
    pub(crate) fn of_pairs<T: Copy>(a: &[T], b: &[T], test: impl Fn(T, T) -> bool) -> RowSet {
        let mut set = RowSet::EMPTY;
        for (word, (a, b)) in set.0.iter_mut().zip(a.chunks(64).zip(b.chunks(64))) {
            let mut answers = [0; 64];
            for (answer, (&a, &b)) in answers.iter_mut().zip(a.iter().zip(b)) {
                *answer = u8::from(test(a, b));
            }
            *word = packed(&answers);
        }
        set
    }

    /// Whether a row is in.
    #[inline]
    pub fn contains(&self, row: usize) -> bool {
        self.0.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 != 0)
    }

    /// Puts a row in.
    ///
    /// # Panics
    /// A row that no batch has.
    #[inline]
    pub fn insert(&mut self, row: usize) {
        self.0[row / 64] |= 1 << (row % 64);
    }

    /// How many rows are in.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Rows that are in both.
    #[must_use]
    pub fn and(&self, other: &RowSet) -> RowSet {
        RowSet(std::array::from_fn(|n| self.0[n] & other.0[n]))
    }

    /// Rows that are in one or both.
    #[must_use]
    pub fn or(&self, other: &RowSet) -> RowSet {
        RowSet(std::array::from_fn(|n| self.0[n] | other.0[n]))
    }

    /// Rows that are in this one only.
    #[must_use]
    pub fn without(&self, other: &RowSet) -> RowSet {
        RowSet(std::array::from_fn(|n| self.0[n] & !other.0[n]))
    }

    /// The first row of the set that is at `row` or behind it.
    #[inline]
    pub fn next_from(&self, row: usize) -> Option<usize> {
        let at = row / 64;
        let rest = self.0.get(at)? >> (row % 64);
        if rest != 0 {
            return Some(row + rest.trailing_zeros() as usize);
        }
        let further = self.0[at + 1..].iter().position(|word| *word != 0)? + at + 1;
        Some(64 * further + self.0[further].trailing_zeros() as usize)
    }

    /// The rows, in order.
    #[inline]
    pub fn iter(&self) -> Rows<'_> {
        Rows { set: self, at: 0, left: self.0[0] }
    }
}

/// Answers of 0 or 1 as bits. The product moves bit 0 of byte `i` to bit 56 + `i`; no two of its
/// terms meet in one bit, so nothing is carried.
#[inline]
fn packed(answers: &[u8; 64]) -> u64 {
    let (eights, _) = answers.as_chunks::<8>();
    let mut word = 0;
    for (n, eight) in eights.iter().enumerate() {
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= bits << (8 * n);
    }
    word
}

/// The rows of a set, in order.
pub struct Rows<'s> {
    set: &'s RowSet,
    /// The word that is being gone through, and its bits that are left.
    at: usize,
    left: u64,
}

impl Iterator for Rows<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            self.at += 1;
            self.left = *self.set.0.get(self.at)?;
        }
        let row = 64 * self.at + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(row)
    }
}

impl<'s> IntoIterator for &'s RowSet {
    type Item = usize;
    type IntoIter = Rows<'s>;

    fn into_iter(self) -> Rows<'s> {
        self.iter()
    }
}

impl FromIterator<usize> for RowSet {
    fn from_iter<I: IntoIterator<Item = usize>>(rows: I) -> RowSet {
        let mut set = RowSet::EMPTY;
        rows.into_iter().for_each(|row| set.insert(row));
        set
    }
}

impl fmt::Debug for RowSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn rows() -> impl Strategy<Value = BTreeSet<usize>> {
        prop::collection::btree_set(0..ROWS_MAX, 0..200)
    }

    proptest! {
        /// A set of rows does what a set of numbers does.
        #[test]
        fn sets_are_sets(a in rows(), b in rows(), from in 0..ROWS_MAX + 70, n in 0..=ROWS_MAX) {
            let made = |rows: &BTreeSet<usize>| rows.iter().copied().collect::<RowSet>();
            let (x, y) = (made(&a), made(&b));
            let of = |set: &RowSet| set.iter().collect::<BTreeSet<_>>();
            prop_assert_eq!(x.iter().collect::<Vec<_>>(), a.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(x.count(), a.len());
            prop_assert_eq!(x.is_empty(), a.is_empty());
            prop_assert_eq!(of(&x.and(&y)), &a & &b);
            prop_assert_eq!(of(&x.or(&y)), &a | &b);
            prop_assert_eq!(of(&x.without(&y)), &a - &b);
            prop_assert_eq!(x.contains(from), a.contains(&from));
            prop_assert_eq!(x.next_from(from), a.range(from..).next().copied());
            prop_assert_eq!(of(&RowSet::first(n)), (0..n).collect::<BTreeSet<_>>());
        }

        /// Packed answers are the rows whose lanes pass.
        #[test]
        fn lanes_are_rows(lanes in prop::collection::vec(0..4_i64, 0..=ROWS_MAX)) {
            let expected: RowSet = (0..lanes.len()).filter(|&n| lanes[n] == 2).collect();
            prop_assert_eq!(RowSet::of_lanes(&lanes, |lane| lane == 2), expected);
            let reversed: Vec<i64> = lanes.iter().rev().copied().collect();
            let expected: RowSet = (0..lanes.len()).filter(|&n| lanes[n] < reversed[n]).collect();
            prop_assert_eq!(RowSet::of_pairs(&lanes, &reversed, |a, b| a < b), expected);
        }
    }
}
