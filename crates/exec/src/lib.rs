//! Runs physical plans: operators of row mode, and in `batch` the first of batch mode; expressions,
//! memory grants, spills.
//!
//! An [`Executor`] is a plan that is ready to run: its operators own their compiled expressions and
//! the buffers they reuse. A run lends them the session's transaction, the hobts that the plan
//! names, and the frame. README.md has the protocol and its numbered rules.
//!
//! ```text
//!   executor, build   a plan made ready, and run          run     the state of one run
//!   operator          what an operator is; those that keep no rows
//!   scan join aggregate sort window spool exchange        operators by kind
//!   change            INSERT, UPDATE, DELETE, MERGE       expr    expressions, conditions
//!   batch             batch mode                          memory  grants, and what spills
//! ```
//!
//! Not here: what a statement means, which plan is good, and the rollback of a failed statement
//! (its caller has a `work::Mark`).

#![forbid(unsafe_code)]

mod aggregate;
mod batch;
mod build;
mod change;
mod exchange;
mod executor;
mod expr;
mod join;
mod memory;
mod operator;
mod run;
mod scan;
mod sort;
mod spool;
mod window;

pub use exchange::{CrewRow, MadeRows, Maker, MakerTask, MakersWork, ThreadReservation, Workers};
pub use executor::{Executor, run};
pub use memory::{
    BuildGrant, GrantRow, GrantWait, KeptRows, ResourceSemaphores, SemaphoreRow, Workspace,
};
pub use run::{
    Callout, ExecContext, GrantTerms, IdentitySource, NoCallout, NoRows, OperatorCount, Outcome,
    Progress, RowFeed, RowSink, ThreadWork,
};
