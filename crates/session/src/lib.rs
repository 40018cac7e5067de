//! Connection state, SET options, batches, control flow, procedures; owns `Host`.
//!
//! The TDS server and the shell drive a [`Connection`]: one request at a time. The connection
//! pushes its results into a [`ResultSink`]. An embedded engine has the same interface.
//! [`Session`] is the engine's connection; [`Host`] is what it needs from the instance.
//! README.md tells how text becomes a program, and what an error does.

#![forbid(unsafe_code)]

mod activation;
mod api_cursor;
mod application_locks;
mod auto_statistics;
mod bulk;
mod cached;
mod command;
mod compilation;
mod compile;
mod compile_cursor;
mod compile_statement;
mod configuration;
mod created;
mod cursor;
mod cursor_parameter;
mod cursor_rows;
mod dbcc;
mod dependencies;
mod execute;
mod failure;
mod function;
mod function_tables;
mod host;
mod insert_execute;
mod language;
mod meter;
mod object_property;
mod options;
mod output;
mod owed;
mod pages;
mod parameterize;
mod perform;
mod plan_facts;
mod plans;
mod procedures;
mod program_variables;
mod programs;
mod questions;
mod registry;
mod request;
mod result_sets;
mod run;
mod running;
mod session;
mod settings;
mod showplan;
mod sink;
mod state;
mod statistics;
mod steps;
mod table_parameter;
mod table_pool;
mod table_variable;
mod temp;
mod text_size;
mod trace_flags;
mod transact;
mod trigger;

pub use bulk::BulkRows;
pub use cached::{
    CachedStatement, Views, cached_statements, cached_text, last_plan_document, plan_document,
    statement_at,
};
pub use configuration::{Configuration, SERVER_OPTIONS, ServerOption, Setting};
pub use dependencies::{ColumnsNamed, Dependency, columns_named, dependencies, object_of_name};
pub use host::{
    DdlAnswer, DdlCall, DeclareCall, GatherCall, Host, ProcedureCall, RenameCall, Rowset,
    StatisticsTerms, TriggerOrderCall, needs_no_transaction,
};
pub use owed::Answered;
pub use pages::{PageAsk, PagesAsk};
pub use plans::Program;
pub use registry::{Frame, Input, Registry, SessionEntry, SessionRow};
pub use request::{
    Connection, Login, Parameter, Procedure, Request, TableValue, TableValueColumn,
    TransactionIsolation, TransactionRequest,
};
pub use running::{Running, RunningNode};
pub use session::Session;
pub use settings::{PlanForm, Settings, Switches};
pub use sink::{
    ColumnOrigin, Command, Done, DoneScope, EnvironmentChange, ResultColumn, ResultSink, SinkClosed,
};
pub use temp::TempTables;
/// A commit that is in the log and not yet known to be durable, and that log.
pub use work::{Owed, Unflushed};
