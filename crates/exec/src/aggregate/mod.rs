//! The aggregates of a group, shared by both ways of grouping.
//!
//! ```text
//!   stream_aggregate   groups that come one after the other, in order
//!   hash_aggregate     groups in a table, or in partitions
//!   distinct           the distinct values of a DISTINCT aggregate
//! ```

mod distinct;
mod hash_aggregate;
mod stream_aggregate;

pub(crate) use hash_aggregate::HashAggregate;
pub(crate) use stream_aggregate::StreamAggregate;

use crate::expr::Expr;
use crate::memory::{Blocks, Decoder, codec};
use crate::run::Run;
use base::SqlResult;
use builtins::{Aggregate, State};
use distinct::DistinctSet;
use os::values::Charge;
use plan::{AggregateCall, AggregatePhase, Slot};
use std::collections::BTreeSet;
use types::{Collation, SqlType, Value};

/// The compiled calls.
pub(crate) struct Calls {
    calls: Vec<CallPlan>,
    /// Slots that their arguments read.
    pub(crate) reads: Vec<Slot>,
    /// Slots whose values a new group keeps.
    firsts: Vec<Slot>,
}

struct CallPlan {
    function: Aggregate,
    distinct: bool,
    argument: Option<Expr>,
    argument_type: SqlType,
    collation: Collation,
    separator: Option<Expr>,
    output: Slot,
    phase: AggregatePhase,
}

/// What the calls of an operator keep beside their states.
pub(crate) struct CallMemory {
    /// What DISTINCT calls have taken in, by call.
    distinct: Vec<Option<Box<DistinctSet>>>,
    /// Bytes of states that grow without bound: texts that are joined.
    growing_bytes: usize,
    charge: Charge,
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
                phase: c.phase,
            });
        }
        let first = |c: &&AggregateCall| c.function == Aggregate::Any;
        let firsts = calls.iter().filter(first).flat_map(|c| &c.argument);
        let firsts = firsts.flat_map(|x| x.reads().slots).collect();
        Ok(Calls { calls: plans, reads: reads.into_iter().collect(), firsts })
    }

    /// How many states a group has.
    pub(crate) fn count(&self) -> usize {
        self.calls.len()
    }

    /// Bytes of what states that begin with the row in the frame keep of it.
    pub(crate) fn first_bytes(&self, run: &Run<'_>) -> usize {
        self.firsts.iter().map(|&slot| run.slot(slot).heap_bytes()).sum()
    }

    /// Nothing taken in yet.
    pub(crate) fn kept(&self) -> CallMemory {
        let set = |c: &CallPlan| {
            let counts = matches!(c.function, Aggregate::Count | Aggregate::CountBig);
            c.distinct.then(|| Box::new(DistinctSet::new(c.collation, !counts)))
        };
        let distinct = self.calls.iter().map(set).collect();
        CallMemory { distinct, growing_bytes: 0, charge: Charge::default() }
    }

    /// Appends the states of a new group.
    pub(crate) fn start(&self, run: &mut Run<'_>, out: &mut Vec<State>) -> SqlResult<()> {
        for c in &self.calls {
            let separator = c.separator.as_ref().map_or(Ok(Value::Null), |x| x.eval(run))?;
            out.push(c.function.start(c.argument_type, c.collation, separator));
        }
        Ok(())
    }

    /// Takes the row in the frame into the group of that number.
    pub(crate) fn step(
        &self,
        run: &mut Run<'_>,
        kept: &mut CallMemory,
        group: u32,
        states: &mut [State],
    ) -> SqlResult<()> {
        let CallMemory { distinct, growing_bytes, charge } = kept;
        for ((c, state), seen) in self.calls.iter().zip(states).zip(distinct) {
            let before = if state.grows() { state.heap_bytes() } else { 0 };
            match (&c.argument, seen) {
                _ if c.phase == AggregatePhase::Final => c.merge(run, state)?,
                (None, _) => state.step(&Value::Int(1))?,
                (Some(x), None) => x.with(run, |v| state.step(v))??,
                (Some(x), Some(seen)) => {
                    let v = x.eval(run)?;
                    if v.is_null() || seen.insert(run, group, &v)? {
                        state.step(&v)?;
                    }
                }
            }
            if state.grows() {
                *growing_bytes += state.heap_bytes() - before;
                charge.cover(*growing_bytes)?;
            }
        }
        Ok(())
    }

    /// All rows of the groups have been taken in: so are now the values that DISTINCT calls had
    /// put aside. `states` has a row for each group.
    pub(crate) fn settle(
        &self,
        run: &mut Run<'_>,
        kept: &mut CallMemory,
        states: &mut Blocks<State>,
        spilled: &mut u64,
    ) -> SqlResult<()> {
        let CallMemory { distinct, growing_bytes, charge } = kept;
        for (at, seen) in distinct.iter_mut().enumerate() {
            let Some(seen) = seen else { continue };
            seen.settle(run, spilled, |group, v| {
                let state = &mut states.row_mut(group as usize)[at];
                let before = if state.grows() { state.heap_bytes() } else { 0 };
                state.step(v)?;
                if state.grows() {
                    *growing_bytes += state.heap_bytes() - before;
                    charge.cover(*growing_bytes)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Puts the results of a group into their slots.
    pub(crate) fn finish(
        &self,
        run: &mut Run<'_>,
        kept: &mut CallMemory,
        group: &[State],
    ) -> SqlResult<()> {
        // The joined texts stand beside what they were joined of, those in order twice for a while.
        let results: usize = group.iter().filter(|s| s.grows()).map(State::heap_bytes).sum();
        kept.charge.cover(kept.growing_bytes + 2 * results)?;
        for (c, state) in self.calls.iter().zip(group) {
            if c.phase == AggregatePhase::Partial {
                let mut bytes = Vec::with_capacity(32);
                state.save(&mut |v| codec::encode(v, &mut bytes));
                run.set(c.output, Value::varbinary(&bytes));
                continue;
            }
            run.outcome.nulls_eliminated |= state.saw_null();
            let value = state.finish()?;
            run.set(c.output, value);
        }
        Ok(())
    }
}

impl CallPlan {
    /// Takes the state in the frame into another.
    fn merge(&self, run: &mut Run<'_>, state: &mut State) -> SqlResult<()> {
        let Some(x) = &self.argument else { return Ok(()) };
        x.with(run, |saved| {
            let mut decoder = Decoder(saved.as_bytes().unwrap_or(&[]));
            let mut part = self.function.start(self.argument_type, self.collation, Value::Null);
            part.load(&mut || decoder.value())?;
            state.merge(&part)
        })?
    }
}

impl CallMemory {
    /// Forgets all values; the states are gone.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        self.distinct.iter_mut().flatten().for_each(|seen| seen.clear(run));
        self.forget_states();
    }

    /// The states are gone: another group follows, whose texts may grow as long.
    pub(crate) fn forget_states(&mut self) {
        self.growing_bytes = 0;
    }

    /// Forgets everything; the grant is over.
    pub(crate) fn drop_all(&mut self) {
        self.distinct.iter_mut().flatten().for_each(|seen| seen.drop_keys());
        self.forget_states();
        self.charge.clear();
    }
}
