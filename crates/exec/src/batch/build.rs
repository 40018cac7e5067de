//! Which accesses may run by batches, and the operators that do.
//!
//! A batch scan is a plain read of a whole hobt (rule 10). It gives no place of a row (RID, hint),
//! takes no locks for a change, and nobody above looks whether its rows are still the same, as a
//! lookup does. As in SQL Server it reads no large values.

use super::rows::RowsOfBatches;
use super::scan::BatchScan;
use super::test::BatchTest;
use crate::build::Builder;
use crate::expr::Cond;
use crate::operator::Operator;
use access::{BatchColumn, Use};
use base::SqlResult;
use plan::{Access, Predicate, ScanColumn, Slot, Strength};
use std::collections::BTreeSet;
use types::{Family, SqlType};

/// The conditions of an access: those that kernels decide, and the rest.
struct Conditions {
    tests: Vec<BatchTest>,
    residual: Option<Cond>,
    /// The slots that the residual reads.
    reads: BTreeSet<Slot>,
    /// The residual runs subqueries, which read slots that are not listed.
    reads_all: bool,
}

impl Builder {
    /// The operators of an access that may run by batches; `above` has the slots that are read
    /// above of it, where that is known to be less than all.
    pub(crate) fn batch_access(
        &mut self,
        a: &Access,
        id: usize,
        above: Option<&BTreeSet<Slot>>,
    ) -> SqlResult<Option<Box<dyn Operator>>> {
        let columns = read_columns(a, above);
        if !may_run(a, &columns) {
            return Ok(None);
        }
        let asked = Conditions::new(a.residual.as_ref(), &columns)?;
        let (first, others): (Vec<_>, Vec<_>) = columns
            .iter()
            .map(|c| c.slot)
            .enumerate()
            .partition(|(_, slot)| asked.reads_all || asked.reads.contains(slot));
        let is_read = |slot: &Slot| above.is_none_or(|above| above.contains(slot));
        let rest = others.into_iter().filter(|(_, slot)| is_read(slot)).collect();
        let hobt = self.hobt(a.source.database, a.source.hobt);
        self.uses.push((hobt, Use::Scan));
        let column = |c: &ScanColumn| BatchColumn { field: c.field, sql_type: c.sql_type };
        let source = Box::new(BatchScan {
            id,
            hobt,
            cursor: self.cursor(hobt, id),
            columns: columns.iter().map(column).collect(),
            tests: asked.tests,
            backward: a.backward,
            locks: a.locks,
        });
        let (residual, batch, next) = (asked.residual, None, 0);
        Ok(Some(Box::new(RowsOfBatches { id, source, residual, first, rest, batch, next })))
    }
}

impl Conditions {
    /// Conditions that kernels decide come first, whatever the order of the conjuncts.
    fn new(residual: Option<&Predicate>, columns: &[ScanColumn]) -> SqlResult<Conditions> {
        let (mut tests, mut others) = (Vec::new(), Vec::new());
        for conjunct in residual.cloned().map(Predicate::conjuncts).unwrap_or_default() {
            match BatchTest::new(&conjunct, columns) {
                Some(test) => tests.push(test),
                None => others.push(conjunct),
            }
        }
        let rest = Predicate::all(others);
        let reads = rest.as_ref().map(Predicate::reads).unwrap_or_default();
        Ok(Conditions {
            tests,
            residual: rest.as_ref().map(Cond::new).transpose()?,
            reads_all: !reads.subqueries.is_empty(),
            reads: reads.slots,
        })
    }
}

/// The columns that the residual or somebody above reads.
fn read_columns(a: &Access, above: Option<&BTreeSet<Slot>>) -> Vec<ScanColumn> {
    let asked = a.residual.as_ref().map(Predicate::reads).unwrap_or_default();
    let is_read = |c: &&ScanColumn| {
        let above = above.is_none_or(|above| above.contains(&c.slot));
        above || !asked.subqueries.is_empty() || asked.slots.contains(&c.slot)
    };
    a.columns.iter().filter(is_read).copied().collect()
}

fn may_run(a: &Access, columns: &[ScanColumn]) -> bool {
    let gives_places = a.rid.or(a.hint).or(a.location).is_some();
    let is_whole = a.seek.is_none() && a.sample.is_none() && !a.divided;
    let is_plain = a.locks.strength == Strength::Shared && !a.locks.kept_back;
    let is_small = |t: SqlType| !t.is_max() && !t.is_text_image() && t.family() != Family::Xml;
    is_whole && is_plain && !gives_places && columns.iter().all(|c| is_small(c.sql_type))
}
