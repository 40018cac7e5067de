//! The partitions of a heap or index: which hobt holds which part of its rows.
//!
//! A table that nobody partitioned has one partition in each index. Work on a whole index (to
//! count, check, list or drop it) goes over all partitions. Work on a row needs one hobt, and
//! takes it by [`Partitions::sole`] as long as nothing chooses a partition by the row.
//!
//! Invariants
//!  1. An index has at least one partition.
//!  2. Numbers are 1 to n without gaps: a number is a place in the list.

use base::HobtId;
use std::fmt;

/// `partition_number`, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PartitionNumber(pub i32);

impl PartitionNumber {
    /// The number of the only partition of most indexes.
    pub const FIRST: PartitionNumber = PartitionNumber(1);
}

impl fmt::Display for PartitionNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A partition of a heap or index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Its place among the partitions of its index.
    pub number: PartitionNumber,
    /// Its rows or entries.
    pub hobt: HobtId,
}

/// All partitions of a heap or index, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partitions {
    first: HobtId,
    others: Vec<HobtId>,
}

impl Partitions {
    /// Of an index that is not partitioned.
    pub const fn one(hobt: HobtId) -> Partitions {
        Partitions { first: hobt, others: Vec::new() }
    }

    /// These hobts, numbered as they come; `None` where there are none.
    pub fn numbered(hobts: impl IntoIterator<Item = HobtId>) -> Option<Partitions> {
        let mut hobts = hobts.into_iter();
        Some(Partitions { first: hobts.next()?, others: hobts.collect() })
    }

    /// What rows of the catalog say, in any order; `None` where the numbers are not 1 to n.
    pub(crate) fn stored(mut all: Vec<Partition>) -> Option<Partitions> {
        all.sort_by_key(|p| p.number);
        let found = Partitions::numbered(all.iter().map(|p| p.hobt))?;
        found.iter().eq(all).then_some(found)
    }

    /// All of them by number.
    pub fn iter(&self) -> impl Iterator<Item = Partition> {
        let hobts = std::iter::once(self.first).chain(self.others.iter().copied());
        (PartitionNumber::FIRST.0..)
            .zip(hobts)
            .map(|(number, hobt)| Partition { number: PartitionNumber(number), hobt })
    }

    /// Whether there are several.
    pub fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    /// The partition of a hobt.
    pub fn of(&self, hobt: HobtId) -> Option<Partition> {
        self.iter().find(|p| p.hobt == hobt)
    }

    /// The hobt of the first partition: what belongs to the index as a whole has its number.
    pub fn first(&self) -> HobtId {
        self.first
    }

    /// The hobt of an index that has one partition: where a row is read or written, whichever row
    /// it is. A partitioned table needs a choice by the row instead, in each place that calls
    /// this. Statements about such a table are refused before they come here.
    ///
    /// # Panics
    /// When there are several partitions.
    pub fn sole(&self) -> HobtId {
        assert!(!self.are_several(), "a partition is chosen by the row: {self:?}");
        self.first
    }

    /// As many partitions with other hobts.
    #[must_use]
    pub fn renewed(&self, mut hobt: impl FnMut() -> HobtId) -> Partitions {
        Partitions { first: hobt(), others: self.others.iter().map(|_| hobt()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(number: i32, hobt: u32) -> Partition {
        Partition { number: PartitionNumber(number), hobt: HobtId(hobt) }
    }

    /// Invariants 1 and 2.
    #[test]
    fn numbers_are_without_gaps() {
        let stored = |all: &[(i32, u32)]| {
            Partitions::stored(all.iter().map(|&(number, hobt)| partition(number, hobt)).collect())
        };
        let both = stored(&[(2, 300), (1, 301)]).expect("1 and 2");
        assert!(both.iter().eq([partition(1, 301), partition(2, 300)]), "{both:?}");
        assert_eq!(both.of(HobtId(300)), Some(partition(2, 300)));
        assert_eq!(stored(&[(1, 300)]), Some(Partitions::one(HobtId(300))));
        for wrong in [&[][..], &[(0, 300)], &[(2, 300)], &[(1, 1), (3, 2)], &[(1, 1), (1, 2)]] {
            assert_eq!(stored(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_renewed_list_has_as_many() {
        let both = Partitions::numbered([HobtId(300), HobtId(301)]).expect("two");
        let mut next = 400;
        let renewed = both.renewed(|| {
            next += 1;
            HobtId(next)
        });
        assert!(renewed.iter().eq([partition(1, 401), partition(2, 402)]), "{renewed:?}");
        assert!(renewed.are_several() && !Partitions::one(HobtId(1)).are_several());
    }

    #[test]
    #[should_panic(expected = "a partition is chosen by the row")]
    fn several_have_no_sole_one() {
        Partitions::numbered([HobtId(300), HobtId(301)]).expect("two").sole();
    }
}
