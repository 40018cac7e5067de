//! Nested loops: for each row of the outer side, those of the inner.

use super::join_filter::JoinFilter;
use crate::expr::Cond;
use crate::operator::{Node, Operator};
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use plan::{JoinKind, Slot};
use types::Value;

/// A loop join of kind Inner, Left, Semi or Anti.
pub(crate) struct Loops {
    kind: JoinKind,
    outer: Node,
    inner: Node,
    predicate: Option<Cond>,
    inner_slots: Vec<Slot>,
    correlated: bool,
    /// The inner side has been opened since this was.
    opened: bool,
    /// There is an outer row, whose inner rows are being read.
    inside: bool,
    matched: bool,
}

impl Loops {
    /// # Errors
    /// A kind that keeps rows of the inner side: the plan is wrong.
    pub(crate) fn new(join: &plan::NestedLoops, outer: Node, inner: Node) -> SqlResult<Loops> {
        if matches!(join.kind, JoinKind::Right | JoinKind::Full) {
            let what = "a loop join cannot keep its inner side";
            return Err(SqlError::new(messages::INTERNAL, &[&what]));
        }
        Ok(Loops {
            kind: join.kind,
            outer,
            inner,
            predicate: join.predicate.as_ref().map(Cond::new).transpose()?,
            inner_slots: join.inner_slots.clone(),
            correlated: join.correlated,
            opened: false,
            inside: false,
            matched: false,
        })
    }

    /// The next inner row that fits the outer one.
    fn next_match(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while self.inner.next(run)? {
            run.tick()?;
            match &self.predicate {
                Some(p) if !p.holds(run)? => {}
                _ => return Ok(true),
            }
        }
        Ok(false)
    }

    fn start_inner(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.opened && !self.correlated {
            return self.inner.rewind(run);
        }
        self.opened = true;
        self.inner.open(run)
    }
}

impl Operator for Loops {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.opened = false;
        self.inside = false;
        self.outer.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        loop {
            if !self.inside {
                if !self.outer.next(run)? {
                    return Ok(false);
                }
                run.tick()?;
                self.matched = false;
                self.start_inner(run)?;
                self.inside = true;
            }
            let found = self.next_match(run)?;
            match self.kind {
                JoinKind::Semi | JoinKind::Anti => {
                    self.inside = false;
                    if found == (self.kind == JoinKind::Semi) {
                        return Ok(true);
                    }
                }
                _ if found => {
                    self.matched = true;
                    return Ok(true);
                }
                JoinKind::Left if !self.matched => {
                    self.inside = false;
                    for &slot in &self.inner_slots {
                        run.set(slot, Value::Null);
                    }
                    return Ok(true);
                }
                _ => self.inside = false,
            }
        }
    }

    fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        self.outer.set_filter(join, filter)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.inside = false;
        self.outer.rewind(run)
    }

    fn close(&mut self) {
        self.opened = false;
        self.outer.close();
        self.inner.close();
    }
}
