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

use crate::{Assignment, LockHints, Output, Physical, PhysicalPlan, Statement, Strength, Target};

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
    ///
    /// # Errors
    /// Why it may not, in a word, as plans that ran show it.
    pub fn qualifies_first(&self) -> Result<&Target, &'static str> {
        let (target, source, output, assigns) = self.changed_target()?;
        let header = &self.header;
        let why = match () {
            () if target.is_private() => Some("TableVariable"),
            () if !target.locks.is_plain_change() => Some("TargetHint"),
            () if assigns => Some("VariableAssignment"),
            () if output.is_some() => Some("OutputClause"),
            () if header.calls => Some("UserDefinedFunction"),
            () if !header.fires.is_empty() => Some("Trigger"),
            () if !self.follow_ups.is_empty() => Some("FollowUps"),
            () if header.workers > 1 => Some("ParallelPlan"),
            () => None,
        };
        if let Some(why) = why {
            return Err(why);
        }
        let mut reads = 0;
        let mut count = |operator: &Physical| {
            if let Some(rows) = operator.describe().stored().filter(|rows| !rows.is_lookup()) {
                let source = rows.source;
                let same = source.database == target.database && source.object == target.object;
                reads += usize::from(same);
            }
        };
        source.for_each(&mut count);
        self.subqueries.iter().for_each(|s| s.source.for_each(&mut count));
        if reads == 1 { Ok(target) } else { Err("TargetReadTwice") }
    }

    /// Target, rows and OUTPUT of an UPDATE or DELETE, and whether it assigns variables.
    fn changed_target(&self) -> Result<ChangeParts<'_>, &'static str> {
        match &self.statement {
            Statement::Update(u) => {
                let assigns = |a: &Assignment| a.variable.is_some();
                let assigns = u.assignments.iter().any(assigns);
                Ok((&u.target, &u.source, u.output.as_deref(), assigns))
            }
            Statement::Delete(d) => Ok((&d.target, &d.source, d.output.as_deref(), false)),
            Statement::Query(_)
            | Statement::Assign(_)
            | Statement::Insert(_)
            | Statement::Merge(_)
            | Statement::Scalar(_)
            | Statement::Condition(_) => Err("StatementKind"),
        }
    }
}

type ChangeParts<'p> = (&'p Target, &'p Physical, Option<&'p Output>, bool);
