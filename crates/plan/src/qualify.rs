//! Lock after qualification: whether an UPDATE or DELETE may find its rows without locking them.
//!
//! Such a statement reads its target as of its moment and locks the rows that qualify; where
//! somebody has changed one of them since, all that it did is taken back and it runs again the
//! ordinary way. So it must be possible to run it twice: nobody has seen anything of the first run.
//!
//! It may not where a hint says how its target is locked, where it assigns variables or has an
//! OUTPUT clause, fires triggers, calls functions, is followed by what foreign keys ask, runs on
//! several threads, or reads its target more than once. Whether the database and the session let it
//! is not known here.

use crate::{Assignment, LockHints, Physical, PhysicalPlan, Statement, Strength, Target};

impl LockHints {
    /// The target of a change for which no hint says how it is locked.
    pub const fn is_plain_change(&self) -> bool {
        self.level.is_none()
            && matches!(self.granule, crate::Granule::Row)
            && matches!(self.strength, Strength::Update)
            && !self.hold
            && !self.read_past
            && !self.no_wait
    }
}

impl PhysicalPlan {
    /// The target of a statement that may find its rows without locking them.
    pub fn qualifies_first(&self) -> Option<&Target> {
        let (target, source, output, assigns) = match &self.statement {
            Statement::Update(u) => {
                let assigns = |a: &Assignment| a.variable.is_some();
                (&u.target, &u.source, &u.output, u.assignments.iter().any(assigns))
            }
            Statement::Delete(d) => (&d.target, &d.source, &d.output, false),
            Statement::Query(_)
            | Statement::Assign(_)
            | Statement::Insert(_)
            | Statement::Merge(_)
            | Statement::Scalar(_)
            | Statement::Condition(_) => return None,
        };
        let header = &self.header;
        let plain = target.locks.is_plain_change() && !target.is_private();
        let seen = assigns || output.is_some() || header.calls || !header.fires.is_empty();
        let more = !self.follow_ups.is_empty() || header.workers > 1;
        if !plain || seen || more {
            return None;
        }
        let mut reads = 0;
        let mut count = |operator: &Physical| {
            if let Physical::Access(a) = operator {
                let same = a.source.database == target.database && a.source.object == target.object;
                reads += usize::from(same);
            }
        };
        source.for_each(&mut count);
        self.subqueries.iter().for_each(|s| s.source.for_each(&mut count));
        (reads == 1).then_some(target)
    }
}
