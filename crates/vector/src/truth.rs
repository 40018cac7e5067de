//! `Truth`: what a predicate says of each row of a batch, in three values.
//!
//! A row is in `yes`, in `no`, or in neither: then the predicate is unknown of it or was not asked.
//! A filter keeps `yes`. The connectives are Kleene's, as SQL has them: unknown AND false is false.

use crate::RowSet;

/// The rows of which a predicate is true, and those of which it is false.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Truth {
    /// True.
    pub yes: RowSet,
    /// False. No row is in both.
    pub no: RowSet,
}

impl Truth {
    /// Unknown of every row.
    pub const UNKNOWN: Truth = Truth { yes: RowSet::EMPTY, no: RowSet::EMPTY };

    /// True where a comparison holds, false of the others among which it was asked and that are not
    /// NULL.
    pub(crate) fn of(holds: RowSet, among: &RowSet, valid: &RowSet) -> Truth {
        let known = among.and(valid);
        Truth { yes: known.and(&holds), no: known.without(&holds) }
    }

    /// True of some rows and false of the others of a set: no row is unknown.
    pub fn known(holds: RowSet, among: &RowSet) -> Truth {
        Truth { yes: among.and(&holds), no: among.without(&holds) }
    }

    /// Both are true.
    #[must_use]
    pub fn and(&self, other: &Truth) -> Truth {
        Truth { yes: self.yes.and(&other.yes), no: self.no.or(&other.no) }
    }

    /// One is true.
    #[must_use]
    pub fn or(&self, other: &Truth) -> Truth {
        Truth { yes: self.yes.or(&other.yes), no: self.no.and(&other.no) }
    }

    /// It is false. What is unknown stays so.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "it stands beside and, or")]
    pub fn not(self) -> Truth {
        Truth { yes: self.no, no: self.yes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What two predicates say of a row.
    type Case = (Option<bool>, Option<bool>);

    /// The connectives are those of the tables of three-valued logic, in all nine cases.
    #[test]
    fn connectives_are_kleenes() {
        let values = [Some(true), Some(false), None];
        let cases: Vec<_> = values.iter().flat_map(|&a| values.map(|b| (a, b))).collect();
        let truth = |side: &dyn Fn(&Case) -> Option<bool>| Truth {
            yes: (0..9).filter(|&n| side(&cases[n]) == Some(true)).collect(),
            no: (0..9).filter(|&n| side(&cases[n]) == Some(false)).collect(),
        };
        let (a, b) = (truth(&|c| c.0), truth(&|c| c.1));
        let and = truth(&|&(a, b)| match (a, b) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        });
        let or = truth(&|&(a, b)| match (a, b) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        });
        assert_eq!(a.and(&b), and);
        assert_eq!(a.or(&b), or);
        assert_eq!(a.not(), truth(&|c| c.0.map(|x| !x)));
    }
}
