//! Subqueries within expressions.
//!
//! A subquery that does not depend on outer rows has one answer per statement, which is kept.

use super::compare::compared;
use crate::memory::{SetWriter, Sighting, SpilledSet, ValueSet};
use crate::operator::Node;
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use plan::{CompareOp, Quantifier, Slot};
use types::{Collation, Value};

/// A subquery ready to run.
pub(crate) struct Subplan {
    pub(crate) root: Node,
    /// The first column; EXISTS may have none.
    pub(crate) column: Option<Slot>,
    /// Its answer is the same for every row of the statement.
    pub(crate) fixed: bool,
    /// It is asked for a second row, which is an error. Other subqueries have at most one row.
    asserts: bool,
    answer: Answer,
}

/// The answer of a fixed subquery, as far as it is known.
enum Answer {
    Unknown,
    Scalar(Value),
    Exists(bool),
    /// Distinct values, and whether NULL is among them.
    Values(DistinctValues, bool),
}

/// How a value is compared with all rows of a subquery.
pub(crate) struct Comparison {
    pub(crate) op: CompareOp,
    pub(crate) quantifier: Quantifier,
    pub(crate) collation: Collation,
}

impl Subplan {
    pub(crate) fn new(root: Node, column: Option<Slot>, fixed: bool, asserts: bool) -> Subplan {
        Subplan { root, column, fixed, asserts, answer: Answer::Unknown }
    }

    /// A new run begins or an old one is over.
    pub(crate) fn reset(&mut self) {
        self.answer = Answer::Unknown;
        self.root.close();
    }

    fn value<'a>(&self, run: &'a Run<'_>) -> &'a Value {
        self.column.map_or(&Value::Null, |slot| run.slot(slot))
    }

    fn keep(&mut self, answer: impl FnOnce() -> Answer) {
        if self.fixed {
            self.answer = answer();
        }
    }

    fn scalar(&mut self, run: &mut Run<'_>) -> SqlResult<Value> {
        if let Answer::Scalar(v) = &self.answer {
            return Ok(v.clone());
        }
        self.root.open(run)?;
        let value = if self.root.next(run)? { self.value(run).clone() } else { Value::Null };
        if self.asserts {
            self.root.next(run)?;
        }
        self.keep(|| Answer::Scalar(value.clone()));
        Ok(value)
    }

    fn exists(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if let Answer::Exists(exists) = self.answer {
            return Ok(exists);
        }
        self.root.open(run)?;
        let exists = self.root.next(run)?;
        self.keep(|| Answer::Exists(exists));
        Ok(exists)
    }

    fn quantified(
        &mut self,
        run: &mut Run<'_>,
        comparison: &Comparison,
        v: &Value,
    ) -> SqlResult<Option<bool>> {
        if self.fixed
            && comparison.op == CompareOp::Equal
            && comparison.quantifier == Quantifier::Any
        {
            return self.is_among(run, comparison, v);
        }
        let deciding = comparison.quantifier == Quantifier::Any;
        let mut truth = Some(!deciding);
        self.root.open(run)?;
        while self.root.next(run)? {
            match compared(comparison.op, v, self.value(run), comparison.collation) {
                Some(t) if t == deciding => return Ok(Some(deciding)),
                Some(_) => {}
                None => truth = None,
            }
        }
        Ok(truth)
    }

    /// IN: looks the value up in a set that is made once.
    fn is_among(
        &mut self,
        run: &mut Run<'_>,
        comparison: &Comparison,
        v: &Value,
    ) -> SqlResult<Option<bool>> {
        if !matches!(self.answer, Answer::Values(..)) {
            self.answer = self.collect(run, comparison.collation)?;
        }
        let Answer::Values(values, null) = &mut self.answer else { return Ok(None) };
        if v.is_null() {
            return Ok(if values.is_empty() && !*null { Some(false) } else { None });
        }
        Ok(match values.contains(v, comparison.collation)? {
            true => Some(true),
            false if *null => None,
            false => Some(false),
        })
    }

    /// The values of all rows.
    fn collect(&mut self, run: &mut Run<'_>, collation: Collation) -> SqlResult<Answer> {
        let mut values = ValueSet::default();
        let mut null = false;
        let mut spilled: Option<SetWriter> = None;
        self.root.open(run)?;
        while self.root.next(run)? {
            run.tick()?;
            let (Some(slot), value) = (self.column, self.value(run).clone()) else { continue };
            if value.is_null() {
                null = true;
                continue;
            }
            if spilled.is_none() && values.insert(run, &value, collation) == Sighting::Unknown {
                let mut writer = SetWriter::new(slot, collation);
                for value in values.take(run).iter() {
                    run.set(slot, value.clone());
                    writer.push(run)?;
                }
                run.set(slot, value);
                spilled = Some(writer);
            }
            if let Some(writer) = &mut spilled {
                writer.push(run)?;
            }
        }
        let values = match spilled {
            None => DistinctValues::Memory(values),
            Some(writer) => DistinctValues::Disk(Box::new(writer.finish(run)?)),
        };
        Ok(Answer::Values(values, null))
    }
}

/// Distinct values of a subquery.
enum DistinctValues {
    Memory(ValueSet),
    /// More than the grant has room for.
    Disk(Box<SpilledSet>),
}

impl DistinctValues {
    fn contains(&mut self, value: &Value, collation: Collation) -> SqlResult<bool> {
        match self {
            DistinctValues::Memory(values) => Ok(values.contains(value, collation)),
            DistinctValues::Disk(values) => values.contains(value),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, DistinctValues::Memory(values) if values.is_empty())
    }
}

/// Takes a subplan out while it runs (`run/mod.rs`, invariant 1).
fn with<R>(
    run: &mut Run<'_>,
    id: usize,
    f: impl FnOnce(&mut Subplan, &mut Run<'_>) -> SqlResult<R>,
) -> SqlResult<R> {
    let Some(mut subplan) = run.subplans.get_mut(id).and_then(Option::take) else {
        return Err(SqlError::new(messages::INTERNAL, &[&"a subquery refers to itself"]));
    };
    let result = f(&mut subplan, run);
    run.subplans[id] = Some(subplan);
    result
}

/// The one value of a subquery.
pub(crate) fn scalar(run: &mut Run<'_>, id: usize) -> SqlResult<Value> {
    with(run, id, |subplan, run| subplan.scalar(run))
}

/// Whether a subquery has a row.
pub(crate) fn exists(run: &mut Run<'_>, id: usize) -> SqlResult<bool> {
    with(run, id, |subplan, run| subplan.exists(run))
}

/// How a value compares with the rows of a subquery.
pub(crate) fn quantified(
    run: &mut Run<'_>,
    id: usize,
    comparison: &Comparison,
    v: &Value,
) -> SqlResult<Option<bool>> {
    with(run, id, |subplan, run| subplan.quantified(run, comparison, v))
}
