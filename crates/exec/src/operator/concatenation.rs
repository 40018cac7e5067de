//! Concatenation: UNION ALL.

use super::{Node, Operator};
use crate::run::Run;
use base::SqlResult;
use plan::Slot;

/// One input after the other.
pub(crate) struct Concatenation {
    inputs: Vec<(Node, Vec<Slot>)>,
    columns: Vec<Slot>,
    at: usize,
}

impl Concatenation {
    pub(crate) fn new(inputs: Vec<(Node, Vec<Slot>)>, columns: Vec<Slot>) -> Concatenation {
        Concatenation { inputs, columns, at: 0 }
    }
}

impl Operator for Concatenation {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.at = 0;
        self.inputs.first_mut().map_or(Ok(()), |(input, _)| input.open(run))
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while let Some((input, slots)) = self.inputs.get_mut(self.at) {
            if input.next(run)? {
                for (from, to) in slots.iter().zip(&self.columns) {
                    let value = run.slot(*from).clone();
                    run.set(*to, value);
                }
                return Ok(true);
            }
            self.at += 1;
            if let Some((input, _)) = self.inputs.get_mut(self.at) {
                input.open(run)?;
            }
        }
        Ok(false)
    }

    fn close(&mut self) {
        self.inputs.iter_mut().for_each(|(input, _)| input.close());
    }
}
