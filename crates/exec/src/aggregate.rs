//! The aggregates of a group, shared by both ways of grouping.

use crate::expr::Expr;
use crate::run::Run;
use crate::value_set::ValueSet;
use base::SqlResult;
use builtins::{Aggregate, State};
use plan::{AggregateCall, Slot};
use std::collections::BTreeSet;
use types::{Collation, SqlType, Value};

/// The compiled calls.
pub(crate) struct Calls {
    calls: Vec<CallPlan>,
    /// Slots that their arguments read.
    pub(crate) reads: Vec<Slot>,
}

struct CallPlan {
    function: Aggregate,
    distinct: bool,
    argument: Option<Expr>,
    argument_type: SqlType,
    collation: Collation,
    separator: Option<Expr>,
    output: Slot,
}

/// The state of one call in one group.
pub(crate) struct CallState {
    state: State,
    seen: Option<Box<ValueSet>>,
}

impl Calls {
    pub(crate) fn new(calls: &[AggregateCall]) -> SqlResult<Calls> {
        let mut reads = BTreeSet::new();
        let mut plans = Vec::with_capacity(calls.len());
        for c in calls {
            for x in c.argument.iter().chain(&c.separator) {
                reads.extend(x.reads().slots);
            }
            let ty = c.argument.as_ref().map_or(c.ty, |x| x.ty);
            plans.push(CallPlan {
                function: c.function,
                distinct: c.distinct,
                argument: c.argument.as_ref().map(Expr::new).transpose()?,
                argument_type: c.argument.as_ref().map_or(SqlType::Int, |x| x.ty.sql_type),
                collation: ty.collation,
                separator: c.separator.as_ref().map(Expr::new).transpose()?,
                output: c.output,
            });
        }
        Ok(Calls { calls: plans, reads: reads.into_iter().collect() })
    }

    /// How many states a group has.
    pub(crate) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Appends the states of a new group.
    pub(crate) fn start(&self, run: &mut Run<'_>, out: &mut Vec<CallState>) -> SqlResult<()> {
        for c in &self.calls {
            let separator = c.separator.as_ref().map_or(Ok(Value::Null), |x| x.eval(run))?;
            out.push(CallState {
                state: c.function.start(c.argument_type, c.collation, separator),
                seen: c.distinct.then(Box::default),
            });
        }
        Ok(())
    }

    /// Takes the row in the frame into a group.
    pub(crate) fn step(&self, run: &mut Run<'_>, group: &mut [CallState]) -> SqlResult<()> {
        for (c, s) in self.calls.iter().zip(group) {
            match &c.argument {
                None => s.state.step(&Value::Int(1))?,
                Some(x) if s.seen.is_none() => x.with(run, |v| s.state.step(v))??,
                Some(x) => {
                    let v = x.eval(run)?;
                    let new = v.is_null()
                        || s.seen.as_mut().is_none_or(|seen| seen.insert(&v, c.collation));
                    if new {
                        // A set of distinct values is not spilled.
                        run.overdraw_memory(crate::rows::value_bytes(&v));
                        s.state.step(&v)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts the results of a group into their slots.
    pub(crate) fn finish(&self, run: &mut Run<'_>, group: &[CallState]) -> SqlResult<()> {
        for (c, s) in self.calls.iter().zip(group) {
            run.outcome.nulls_eliminated |= s.state.saw_null();
            let value = s.state.finish()?;
            run.set(c.output, value);
        }
        Ok(())
    }
}
