//! Plans as SQL Server shows them: SHOWPLAN_TEXT, SHOWPLAN_ALL, SHOWPLAN_XML, and with what they
//! did, STATISTICS PROFILE and XML.
//!
//! ```text
//!   PhysicalPlan ─┐                      ┌─▶ rows     a line an operator
//!   Names ────────┼─▶ tree::Op, numbered ┤
//!   Ran, if it ran┘                      └─▶ xml      RelOp in RelOp
//! ```
//!
//! Whoever wants a plan shown pays for it; nobody else does. A figure that nobody has is left out,
//! or is 0 where the schema insists: see the README.
//!
//! Invariants
//!  1. Both forms come from one tree, so that they number and name operators alike.
//!  2. What ran belongs to the operator with the same place in preorder (`exec` counts so).

#![forbid(unsafe_code)]

mod argument;
mod columns;
mod expression;
mod names;
mod nodes;
mod relop;
mod rows;
mod scalar_xml;
mod statement;
mod tree;
mod warnings;
mod writer;

pub use names::{Hobt, HobtKind, Names};
pub use nodes::{Node, nodes};
pub use rows::{Row, rows};
pub use statement::{
    Branches, Count, Memory, PageCounts, Reads, ResourceUse, RunFigures, Statement, Times, Wait,
    xml,
};
