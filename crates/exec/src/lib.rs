//! Runs physical plans: operators of row mode, and in `batch` the first of batch mode; expressions,
//! memory grants, spills.
//!
//! An [`Executor`] is a plan that is ready to run: its operators own their compiled expressions and
//! the buffers they reuse. A run lends them the session's transaction, the hobts that the plan
//! names, and the frame. README.md has the protocol and its numbered rules.
//!
//! Not here: what a statement means, which plan is good, and the rollback of a failed statement
//! (its caller has a `work::Mark`).

#![forbid(unsafe_code)]

mod aggregate;
mod append;
mod assert;
mod batch;
mod body;
mod build;
mod callout;
mod codec;
mod compare;
mod compute;
mod concatenation;
mod cond;
mod constants;
mod context;
mod distinct;
mod exchange;
mod executor;
mod expr;
mod filter;
mod first_rows;
mod grant;
mod hash;
mod hash_aggregate;
mod hash_join;
mod in_list;
mod index_spool;
mod insert;
mod join_filter;
mod join_table;
mod kept_rows;
mod key_set;
mod lookup;
mod loops;
mod merge;
mod merge_join;
mod merge_union;
mod notes;
mod operator;
mod output;
mod partitions;
mod progress;
mod reader;
mod recursion;
mod referential;
mod row_change;
mod row_insert;
mod row_test;
mod rows;
mod run;
mod sample;
mod scan;
mod seek;
mod semaphore;
mod sort;
mod spilled_set;
mod split;
mod spool;
mod stored;
mod stream_aggregate;
mod subplan;
mod table_function;
mod target;
mod timed;
mod top;
mod update;
mod value_set;
mod virtual_scan;
mod wide;
mod window;
mod workers;

pub use callout::{Callout, NoCallout};
pub use context::{
    ExecContext, GrantTerms, IdentitySource, NoRows, OperatorCount, Outcome, RowFeed, RowSink,
};
pub use exchange::{MadeRows, Maker, MakersDid, Making};
pub use executor::{Executor, run};
pub use kept_rows::KeptRows;
pub use progress::{Progress, ThreadWork};
pub use semaphore::{BuildGrant, GrantRow, GrantWait, ResourceSemaphores, SemaphoreRow, Workspace};
pub use workers::{CrewRow, Reserved, Workers};
