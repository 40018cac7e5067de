//! A set of a region's relations, by their numbers.

use std::fmt;

/// Relations 0 to 63.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Set(u64);

/// As many relations as a region may have.
pub(crate) const RELATIONS_MAX: usize = 60;

impl Set {
    pub(crate) const EMPTY: Set = Set(0);

    pub(crate) fn of(relation: usize) -> Set {
        debug_assert!(relation < 64, "relations are counted before");
        Set(1 << relation)
    }

    /// Those with a number up to one.
    pub(crate) fn up_to(relation: usize) -> Set {
        Set(u64::MAX >> (63 - relation.min(63)))
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(crate) fn union(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Set) -> Set {
        Set(self.0 & !other.0)
    }

    pub(crate) fn contains(self, other: Set) -> bool {
        other.0 & !self.0 == 0
    }

    pub(crate) fn has(self, relation: usize) -> bool {
        self.0 >> relation & 1 == 1
    }

    pub(crate) fn meets(self, other: Set) -> bool {
        self.0 & other.0 != 0
    }

    /// The lowest number.
    pub(crate) fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// The only number.
    pub(crate) fn only(self) -> Option<usize> {
        self.first().filter(|_| self.len() == 1)
    }

    /// The numbers, ascending.
    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = usize> {
        (0..64).filter(move |&n| self.has(n))
    }

    /// Its parts that are not empty, the smaller numbers first.
    pub(crate) fn parts(self) -> impl Iterator<Item = Set> {
        let whole = self.0;
        let mut at = 0_u64;
        std::iter::from_fn(move || {
            at = at.wrapping_sub(whole) & whole;
            (at != 0).then_some(Set(at))
        })
    }
}

impl FromIterator<usize> for Set {
    fn from_iter<I: IntoIterator<Item = usize>>(relations: I) -> Set {
        relations.into_iter().fold(Set::EMPTY, |set, n| set.union(Set::of(n)))
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets and their parts are what arithmetic on their numbers says.
    #[test]
    fn parts_are_all_and_once() {
        let set: Set = [1, 3, 4].into_iter().collect();
        let parts: Vec<Set> = set.parts().collect();
        assert_eq!(parts.len(), 7);
        assert!(parts.iter().all(|p| set.contains(*p)));
        assert_eq!(parts.first(), Some(&Set::of(1)));
        assert_eq!(parts.last(), Some(&set));
        assert_eq!(set.iter().collect::<Vec<_>>(), [1, 3, 4]);
        assert_eq!((Set::up_to(3).and(set), set.first()), ([1, 3].into_iter().collect(), Some(1)));
        assert_eq!(Set::up_to(63).len(), 64);
        assert_eq!(Set::EMPTY.parts().count(), 0);
    }
}
