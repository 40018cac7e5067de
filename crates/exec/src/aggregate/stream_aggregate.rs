//! Stream aggregate: groups of neighbouring rows. Without keys it returns one row, even for no
//! input.

use super::{CallMemory, Calls};
use crate::memory::Blocks;
use crate::operator::{Node, Operator};
use crate::run::Run;
use base::SqlResult;
use builtins::State;
use plan::Slot;
use types::{Collation, Value, compare};

/// Groups an input that is ordered by the keys.
pub(crate) struct StreamAggregate {
    id: usize,
    input: Node,
    keys: Vec<(Slot, Collation)>,
    kept: CallMemory,
    calls: Calls,
    /// Slots of a row that begins the next group while this one is given out.
    saved_slots: Vec<Slot>,
    saved: Vec<Value>,
    /// Keys of the group at hand.
    group: Vec<Value>,
    /// Of the group at hand: one row.
    states: Blocks<State>,
    phase: Phase,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing has been read.
    Fresh,
    /// `saved` begins the next group.
    Ahead,
    Done,
}

impl StreamAggregate {
    pub(crate) fn new(id: usize, input: Node, keys: Vec<(Slot, Collation)>, calls: Calls) -> Self {
        let mut saved_slots: Vec<Slot> =
            keys.iter().map(|k| k.0).chain(calls.reads.iter().copied()).collect();
        saved_slots.sort_unstable();
        saved_slots.dedup();
        StreamAggregate {
            id,
            input,
            kept: calls.kept(),
            states: Blocks::new(calls.count()),
            keys,
            calls,
            saved_slots,
            saved: Vec::new(),
            group: Vec::new(),
            phase: Phase::Fresh,
        }
    }

    /// The first row of a group stands in the frame; false when there is none.
    fn begin_group(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let there = match self.phase {
            Phase::Fresh => self.input.next(run)?,
            Phase::Ahead => {
                for (&slot, value) in self.saved_slots.iter().zip(self.saved.drain(..)) {
                    run.set(slot, value);
                }
                true
            }
            Phase::Done => return Ok(false),
        };
        let of_no_rows = self.keys.is_empty() && self.phase == Phase::Fresh;
        if !there && !of_no_rows {
            return Ok(false);
        }
        self.group.clear();
        self.group.extend(self.keys.iter().map(|k| run.slot(k.0).clone()));
        self.states.clear();
        self.kept.forget_states();
        self.states.push_with(|states| self.calls.start(run, states))?;
        if there {
            self.calls.step(run, &mut self.kept, 0, self.states.row_mut(0))?;
        } else {
            self.phase = Phase::Done;
        }
        Ok(true)
    }

    fn is_same_group(&self, run: &Run<'_>) -> bool {
        let same = |((slot, collation), v): (&(Slot, Collation), &Value)| {
            compare(run.slot(*slot), v, *collation).is_eq()
        };
        self.keys.iter().zip(&self.group).all(same)
    }

    /// Takes the other rows of the group; what follows it is saved.
    fn take_group(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        while self.input.next(run)? {
            run.tick()?;
            if !self.is_same_group(run) {
                self.saved.clear();
                self.saved.extend(self.saved_slots.iter().map(|&s| run.slot(s).clone()));
                self.phase = Phase::Ahead;
                return Ok(());
            }
            self.calls.step(run, &mut self.kept, 0, self.states.row_mut(0))?;
        }
        self.phase = Phase::Done;
        Ok(())
    }
}

impl Operator for StreamAggregate {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.phase = Phase::Fresh;
        self.kept.clear(run);
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if !self.begin_group(run)? {
            self.phase = Phase::Done;
            return Ok(false);
        }
        if self.phase != Phase::Done {
            self.take_group(run)?;
        }
        let mut spilled = 0;
        self.calls.settle(run, &mut self.kept, &mut self.states, &mut spilled)?;
        run.counts.of(self.id).spilled(spilled);
        for ((slot, _), value) in self.keys.iter().zip(&self.group) {
            run.set(*slot, value.clone());
        }
        self.calls.finish(run, &mut self.kept, self.states.row(0))?;
        Ok(true)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.phase = Phase::Fresh;
        self.kept.clear(run);
        self.input.rewind(run)
    }

    fn close(&mut self) {
        self.states.clear();
        self.group.clear();
        self.saved.clear();
        self.kept.drop_all();
        self.input.close();
    }
}
