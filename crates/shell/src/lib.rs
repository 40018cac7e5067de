//! The sqlcmd-like client, remote over TDS or embedded; the binary ghostlight.
//!
//! Lines come from files, a query or a person (`script`); GO sends what was collected to a
//! [`Backend`], which is an engine in this process or a server behind TDS; results come back
//! through [`session::ResultSink`] row by row and are printed as sqlcmd prints them (`print`).
//!
//! What the engine and the server are is handed in by the binary as [`Wiring`]: the shell is a
//! client like any other.

#![forbid(unsafe_code)]

mod backend;
mod embedded;
mod files;
mod interactive;
mod interrupt;
mod options;
mod password;
mod print;
mod remote;
mod script;
mod serve;
mod sql;

pub use backend::{Backend, BackendError, Cancel, Connector};
pub use embedded::{Engine, EngineOptions, OpenEngine};
pub use files::host_name;
pub use serve::{Encryption, LogWrites, ServeOptions};

use clap::Parser;
use options::{Command, CommandLine};

/// What the binary is made of besides the shell.
#[derive(Clone, Copy)]
pub struct Wiring {
    /// Opens the embedded engine.
    pub open: OpenEngine,
    /// Runs the server until it is asked to stop; its exit code.
    pub serve: fn(&ServeOptions) -> i32,
}

/// Does what the command line says; the exit code. Ends the process itself when the command
/// line is wrong or asks for help.
pub fn run(arguments: impl IntoIterator<Item = std::ffi::OsString>, wiring: Wiring) -> i32 {
    match CommandLine::parse_from(arguments).command {
        Command::Serve(options) => (wiring.serve)(&options),
        Command::Sql(options) => sql::run(&options, wiring.open),
    }
}
