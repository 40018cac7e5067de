//! Connection state, SET options, batches, control flow, procedures; owns `Host`.
//!
//! A [`Connection`] is what a door (the TDS server, the shell) drives: one request at a time,
//! its results pushed into a [`ResultSink`]. Both doors use the same interface, also embedded.

#![forbid(unsafe_code)]

mod request;
mod sink;

pub use request::{
    Connection, Login, Parameter, Procedure, Request, TransactionIsolation, TransactionRequest,
};
pub use sink::{Command, Done, DoneScope, EnvironmentChange, ResultColumn, ResultSink, SinkClosed};
