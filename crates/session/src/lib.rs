//! Connection state, SET options, batches, control flow, procedures; owns `Host`.
//!
//! The TDS server and the shell drive a [`Connection`], one request at a time. The connection
//! writes its results into a [`ResultSink`]. An embedded engine has the same interface. [`Session`]
//! is the engine's connection; [`Host`] is what it needs from the instance. README.md describes how
//! text becomes a program, and what an error ends.

#![forbid(unsafe_code)]

mod administration;
mod answer;
mod cursors;
mod functions;
mod host;
mod procedures;
mod program;
mod questions;
mod request;
mod session;
mod showplan;
mod tables;

pub use answer::sink::{
    ClosedSink, ColumnOrigin, Command, Completion, DoneScope, EnvironmentChange, ResultColumn,
    ResultSink,
};
pub use host::Host;
pub use host::configuration::{Configuration, SERVER_OPTIONS, ServerOption, Setting};
pub use host::databases::Databases;
pub use host::definitions::{
    DdlAnswer, DdlCall, Definitions, ProcedureCall, RenameCall, TriggerOrderCall,
    needs_no_transaction,
};
pub use host::error_log::ErrorLog;
pub use host::numbers::Numbers;
pub use host::pages::{PageRequest, Pages, PagesRequest};
pub use host::process::Process;
pub use host::rowset::Rowset;
pub use host::statistics::{GatherCall, Statistics, StatisticsTerms};
pub use host::storage::Storage;
pub use host::temporary_tables::{DeclareCall, TemporaryTables};
pub use program::dependencies::{
    Dependency, NamedColumns, columns_named, dependencies, object_of_name,
};
pub use program::steps::Program;
pub use request::{
    BulkRows, Connection, Login, Parameter, Procedure, Request, RequestEnd, TableValue,
    TableValueColumn, TransactionIsolation, TransactionRequest,
};
pub use session::Session;
pub use session::registry::{Frame, Input, Registry, SessionEntry, SessionRow};
pub use session::settings::{PlanForm, Settings, Switches};
pub use showplan::cached::{
    CachedStatement, cached_statements, cached_text, last_plan_document, plan_document,
    statement_at,
};
pub use showplan::names::Views;
pub use showplan::running::{RunningNode, RunningStatement};
pub use tables::temp::TempTables;
/// A commit that is in the log and not yet durable, and that log.
pub use work::{OwedCommit, UnflushedLog};
