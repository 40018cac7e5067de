//! What an operator says of itself: its inputs, its slots, its rows, its memory, how it is shown.
//!
//! ```text
//!   operator  inputs, slots, expressions      held      bytes of the plan cache
//!             rows, memory, flow, openings    line      plans as text
//!             workers, orders, stored rows    display   SHOWPLAN and STATISTICS XML
//! ```
//! Each operator implements the trait once, in the file that defines it. `exec` (grants),
//! `optimize` (exchanges, locks, Halloween protection), `showplan` and the plan cache read it, and
//! match on no variant. An operator knows nothing of what its inputs are: `I` is any tree.
//!
//! Invariants
//!  1. Inputs are listed in the order of their places in a plan's list of estimates.
//!  2. What an operator computes or tests is in `expressions`, whatever it uses it for.

use super::display::Display;
use super::stored::StoredAccess;
use crate::held::HeldBytes;
use crate::{LockHints, Predicate, Scalar, Slot};
use std::fmt;

/// The description of an operator over inputs `I`.
pub trait Operator<I>: HeldBytes {
    /// The operators right below.
    fn inputs(&self) -> Vec<&I>;

    /// The same, to be replaced; the parts of a recursion stay as they are.
    fn inputs_mut(&mut self) -> Vec<&mut I>;

    /// The slots of its rows.
    fn output(&self) -> RowSlots;

    /// Visits the expressions that it evaluates itself.
    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>));

    /// The slots that it reads besides those of its expressions: keys, and what it keeps of rows.
    fn slots_read(&self) -> Vec<Slot>;

    /// How many rows it gives.
    fn row_bound(&self) -> RowBound;

    /// Whether it asks for a part of the statement's memory grant.
    fn memory(&self) -> Memory;

    /// How far it reads its input before it gives a row.
    fn flow(&self) -> Flow;

    /// How often it opens an input while it is open itself.
    fn opening(&self, _input: usize) -> Opening {
        Opening::Once
    }

    /// Whether a worker can run it, where a worker can evaluate its expressions.
    fn runs_in_workers(&self) -> bool;

    /// Of its first inputs, which order of rows each must have where an exchange stands below it;
    /// empty where none may stand there.
    fn orders(&self) -> Vec<InputOrder>;

    /// The stored rows that it reads.
    fn stored(&self) -> Option<StoredAccess<'_>> {
        None
    }

    /// How it locks those rows.
    fn locks_mut(&mut self) -> Option<&mut LockHints> {
        None
    }

    /// Writes its line in a plan as text, without the line's end.
    ///
    /// # Errors
    /// The formatter's.
    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// How SQL Server shows it.
    fn display(&self) -> Display<'_>;
}

/// The slots of an operator's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowSlots {
    /// These alone.
    Own(Vec<Slot>),
    /// Those of the first input, then these.
    InputAnd(Vec<Slot>),
}

/// An expression of an operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expression<'p> {
    /// A value.
    Value(&'p Scalar),
    /// A condition that stored or joined rows are tested with: showplan warns of conversions in it.
    Condition(&'p Predicate),
    /// Any other condition.
    Test(&'p Predicate),
    /// A slot that rows are compared by.
    Order(Slot),
}

/// How many rows an operator gives at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowBound {
    /// Any number.
    Many,
    /// One at most, whatever is stored.
    One,
    /// One at most: a key is unique, a test fails for the second one, or no more are asked for.
    Found,
    /// As many as its first input.
    Input,
    /// As many as its first input, and less where some are not found.
    InputFound,
    /// One at most, because no more are asked for of the first input.
    InputFirst,
}

/// What an operator needs of a memory grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Nothing: it keeps no rows, or those of a view only, which nobody can foresee.
    None,
    /// It keeps the rows of its first input; one row needs no grant.
    Input,
    /// It keeps rows that may be many.
    Many,
}

/// How far an operator reads its input before it gives a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// To the row that it gives.
    Streams,
    /// Perhaps beyond: a row may wait in it while later ones are read.
    ReadsAhead,
    /// To the end.
    Blocks,
}

/// How often an operator opens an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Once.
    Once,
    /// Once for each row of another input, to the same rows.
    Again,
    /// Once for each row of another input, whose slots it reads.
    PerRow,
}

/// Which order the rows of an input must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputOrder {
    /// Any.
    Any,
    /// Their own, where the rows of the operator must have theirs.
    AsOutput,
    /// Their own.
    Own,
}
