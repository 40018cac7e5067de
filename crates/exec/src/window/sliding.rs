//! An aggregate over a frame of which both ends move forward.
//!
//! Each row enters once and leaves once:
//!
//! * counts, exact sums and checksums subtract a row that leaves;
//! * MIN and MAX keep a queue of the values that can still be the answer, best first: a new value
//!   removes the values before it that can no longer be the answer;
//! * float sums and spreads cannot be subtracted without loss. They use two stacks: each entry of
//!   the front stack is the aggregate of its row and all behind it in that stack; the back stack
//!   has a running total. When the front is used up, the back becomes the front.
//!
//! So a row costs O(1) amortised whatever the width of the frame. The first kind needs no memory
//! but the lane, the others at most an entry for each row of the frame.

use super::lane::Lane;
use crate::run::Run;
use base::SqlResult;
use builtins::{Aggregate, State};
use std::collections::VecDeque;
use types::{Collation, SqlType, Value, compare};

/// The reader of the lane for rows that enter.
const ENTERING: usize = 0;
/// The reader for rows that leave.
const LEAVING: usize = 1;
/// Readers that a lane for `SlidingAggregate` needs.
pub(super) const READERS: usize = 2;

/// What is computed, and of what.
#[derive(Clone, Copy)]
pub(super) struct Computation {
    pub(super) function: Aggregate,
    pub(super) argument: SqlType,
    pub(super) collation: Collation,
}

impl Computation {
    /// A state that has seen no row.
    pub(super) fn start(self) -> State {
        self.function.start(self.argument, self.collation, Value::Null)
    }
}

/// See the top of the file.
pub(super) struct SlidingAggregate {
    computation: Computation,
    kind: Kind,
    /// Rows from here …
    start: u64,
    /// … to here are in it.
    end: u64,
    memory_bytes: usize,
}

enum Kind {
    Subtracting(State),
    Extreme(VecDeque<(u64, Value)>),
    Stacks { front: Vec<State>, back: State, behind: Vec<Value> },
}

/// What a value in a stack takes: it becomes a state when its stack is turned.
const STACKED_BYTES: usize = size_of::<Value>() + size_of::<State>();

/// What a queued value takes.
fn queued_bytes(value: &Value) -> usize {
    size_of::<(u64, Value)>() + value.heap_bytes()
}

impl SlidingAggregate {
    pub(super) fn new(computation: Computation) -> SlidingAggregate {
        let state = computation.start();
        let kind = if state.is_removable() {
            Kind::Subtracting(state)
        } else if state.replaces().is_some() {
            Kind::Extreme(VecDeque::new())
        } else {
            Kind::Stacks { front: Vec::new(), back: state, behind: Vec::new() }
        };
        SlidingAggregate { computation, kind, start: 0, end: 0, memory_bytes: 0 }
    }

    /// Begins another partition.
    pub(super) fn begin(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        *self = SlidingAggregate::new(self.computation);
    }

    /// The aggregate of the rows from `start` up to `end`, neither of which has been greater.
    pub(super) fn over(
        &mut self,
        run: &mut Run<'_>,
        lane: &mut Lane,
        start: u64,
        end: u64,
    ) -> SqlResult<Value> {
        debug_assert!(start >= self.start && end >= self.end, "frames move forward");
        while self.end < end {
            run.tick()?;
            let value = lane.get(ENTERING, self.end)?;
            self.enter(run, value)?;
            self.end += 1;
        }
        while self.start < start {
            run.tick()?;
            self.leave(run, lane)?;
            self.start += 1;
        }
        let (answer, saw_null) = self.answer()?;
        run.outcome.nulls_eliminated |= saw_null;
        Ok(answer)
    }

    fn enter(&mut self, run: &mut Run<'_>, value: Value) -> SqlResult<()> {
        let (taken, given) = match &mut self.kind {
            Kind::Subtracting(state) => return state.step(&value),
            Kind::Extreme(_) if value.is_null() => {
                run.outcome.nulls_eliminated = true;
                return Ok(());
            }
            Kind::Extreme(queue) => {
                let replaces = self.computation.start().replaces();
                let collation = self.computation.collation;
                let beaten = |last: &(u64, Value)| {
                    let order = compare(&value, &last.1, collation);
                    order.is_eq() || Some(order) == replaces
                };
                let mut given = 0;
                while let Some(last) = queue.pop_back_if(|last| beaten(last)) {
                    given += queued_bytes(&last.1);
                }
                let taken = queued_bytes(&value);
                queue.push_back((self.end, value));
                (taken, given)
            }
            Kind::Stacks { back, behind, .. } => {
                back.step(&value)?;
                behind.push(value);
                (STACKED_BYTES, 0)
            }
        };
        run.overdraw_memory(taken);
        self.memory_bytes += taken;
        self.give(run, given);
        Ok(())
    }

    fn give(&mut self, run: &mut Run<'_>, bytes: usize) {
        run.give_memory(bytes);
        self.memory_bytes -= bytes;
    }

    fn leave(&mut self, run: &mut Run<'_>, lane: &mut Lane) -> SqlResult<()> {
        let computation = self.computation;
        let given = match &mut self.kind {
            Kind::Subtracting(state) => return state.remove(&lane.get(LEAVING, self.start)?),
            Kind::Extreme(queue) => {
                let gone = queue.pop_front_if(|(at, _)| *at <= self.start);
                gone.map_or(0, |(_, value)| queued_bytes(&value))
            }
            Kind::Stacks { front, back, behind } => {
                if front.is_empty() {
                    let mut sum = computation.start();
                    for value in behind.drain(..).rev() {
                        run.tick()?;
                        sum.step(&value)?;
                        front.push(sum.clone());
                    }
                    *back = computation.start();
                }
                front.pop();
                STACKED_BYTES
            }
        };
        self.give(run, given);
        Ok(())
    }

    fn answer(&self) -> SqlResult<(Value, bool)> {
        match &self.kind {
            Kind::Subtracting(state) => Ok((state.finish()?, state.saw_null())),
            Kind::Extreme(queue) => {
                Ok((queue.front().map_or(Value::Null, |(_, v)| v.clone()), false))
            }
            Kind::Stacks { front, back, .. } => {
                let mut all = back.clone();
                if let Some(rest) = front.last() {
                    all.merge(rest)?;
                }
                Ok((all.finish()?, all.saw_null()))
            }
        }
    }
}
