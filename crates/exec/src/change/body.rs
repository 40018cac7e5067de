//! What a statement does with the rows of its source: sends, assigns or changes them.

use super::insert::Insert;
use super::merge::Merge;
use super::update::{Delete, Update};
use crate::expr::{Cond, Expr, append};
use crate::operator::Node;
use crate::run::{FollowUp, NoRows, RowSink, Run};
use base::{SqlError, SqlResult, messages};
use plan::Slot;
use types::Value;

/// The statement, ready to run.
pub(crate) enum Body {
    Query(Rows),
    Assign { source: Node, assignments: Vec<(usize, Expr)> },
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    Merge(Box<Merge>),
    Scalar(Expr),
    Condition(Cond),
}

/// A query: its rows go to a sink.
pub(crate) struct Rows {
    source: Node,
    columns: Vec<Slot>,
    /// The first slot, where the columns are side by side in the frame.
    together: Option<usize>,
    row: Vec<Value>,
}

impl Body {
    pub(crate) fn run(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        match self {
            Body::Query(rows) => rows.run(run, out),
            Body::Assign { source, assignments } => assign(source, assignments, run),
            Body::Scalar(_) | Body::Condition(_) => {
                Err(SqlError::new(messages::INTERNAL, &[&"an expression gives no rows"]))
            }
            Body::Insert(_) | Body::Update(_) | Body::Delete(_) | Body::Merge(_) => {
                self.change(run, out)
            }
        }
    }

    /// How many times the change keeps rows or keys of its own.
    pub(crate) fn kept(&self) -> usize {
        match self {
            Body::Update(update) => update.kept(),
            Body::Delete(delete) => delete.kept(),
            Body::Merge(_) => 2,
            _ => 0,
        }
    }

    /// Runs a change of rows.
    fn change(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        match self {
            Body::Insert(insert) => insert.run(run, out),
            Body::Update(update) => update.run(run, out),
            Body::Delete(delete) => delete.run(run, out),
            Body::Merge(merge) => merge.run(run, out),
            _ => Err(SqlError::new(messages::INTERNAL, &[&"a follow-up changes no rows"])),
        }
    }

    pub(crate) fn close(&mut self) {
        match self {
            Body::Query(rows) => rows.source.close(),
            Body::Assign { source, .. } => source.close(),
            Body::Insert(insert) => insert.close(),
            Body::Update(update) => update.close(),
            Body::Delete(delete) => delete.close(),
            Body::Merge(merge) => merge.close(),
            Body::Scalar(_) | Body::Condition(_) => {}
        }
    }
}

/// An UPDATE or DELETE of referring rows.
impl FollowUp for Body {
    fn follow(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        // Only rows that the statement names are counted, and limited by SET ROWCOUNT.
        let rows = std::mem::take(&mut run.outcome.rows_affected);
        let limit = run.row_limit.take();
        let changed = self.change(run, &mut NoRows);
        run.row_limit = limit;
        run.outcome.rows_affected = rows;
        changed
    }

    fn close(&mut self) {
        Body::close(self);
    }
}

/// `SELECT @v = …`
fn assign(source: &mut Node, assignments: &[(usize, Expr)], run: &mut Run<'_>) -> SqlResult<()> {
    source.open(run)?;
    while run.takes_more(0) && source.next(run)? {
        run.tick()?;
        for (variable, x) in assignments {
            append::assign(*variable, x, run)?;
        }
        run.outcome.rows_affected += 1;
    }
    Ok(())
}

impl Rows {
    pub(crate) fn new(source: Node, columns: Vec<Slot>) -> Rows {
        let first = columns.first().map_or(0, |s| s.0);
        let together = columns.iter().zip(first..).all(|(s, n)| s.0 == n);
        Rows { source, columns, together: together.then_some(first as usize), row: Vec::new() }
    }

    fn run(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        self.source.open(run)?;
        while self.source.next(run)? {
            run.tick()?;
            if let Some(from) = self.together {
                out.row(&run.frame[from..from + self.columns.len()])?;
            } else {
                self.row.clear();
                self.row.extend(self.columns.iter().map(|&slot| run.slot(slot).clone()));
                out.row(&self.row)?;
            }
            run.outcome.rows_affected += 1;
        }
        self.row.clear();
        Ok(())
    }
}
