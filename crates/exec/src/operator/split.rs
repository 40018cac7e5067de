//! Split: turns each changed row into an index's old entry and its new one.
//!
//! A row that changed nothing in its entry gives neither.

use super::{Node, Operator};
use crate::memory::codec;
use crate::run::Run;
use base::SqlResult;
use plan::{Slot, SplitColumn};
use types::Value;

/// See the module.
pub(crate) struct Split {
    pub(crate) input: Node,
    pub(crate) action: Slot,
    pub(crate) columns: Vec<SplitColumn>,
    /// The old entry was given; the new entry of the same row comes next.
    pub(crate) halfway: bool,
    bytes: [Vec<u8>; 2],
}

impl Split {
    pub(crate) fn new(input: Node, split: &plan::Split) -> Split {
        let (action, columns) = (split.action, split.columns.clone());
        Split { input, action, columns, halfway: false, bytes: Default::default() }
    }

    /// Whether the entries of the row at hand differ, however slightly.
    fn differ(&mut self, run: &Run<'_>) -> bool {
        let [old, new] = &mut self.bytes;
        old.clear();
        new.clear();
        for column in &self.columns {
            let Some(slot) = column.old else { return true };
            codec::encode(run.slot(slot), old);
            codec::encode(run.slot(column.new), new);
        }
        old != new
    }

    fn give(&self, run: &mut Run<'_>, action: i32, from: impl Fn(&SplitColumn) -> Option<Slot>) {
        for column in &self.columns {
            let value = from(column).map_or(Value::Null, |slot| run.slot(slot).clone());
            run.set(column.to, value);
        }
        run.set(self.action, Value::Int(action));
    }
}

impl Operator for Split {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.halfway = false;
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if self.halfway {
            self.halfway = false;
            self.give(run, 1, |column| Some(column.new));
            return Ok(true);
        }
        while self.input.next(run)? {
            run.tick()?;
            if self.differ(run) {
                self.halfway = true;
                self.give(run, 0, |column| column.old);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn close(&mut self) {
        self.halfway = false;
        self.bytes = Default::default();
        self.input.close();
    }
}
