//! `Host`: what a session needs from its process. `instance` implements it.
//!
//! It is the sum of nine traits, each named for what it provides:
//!
//! ```text
//!   Storage, Numbers, Pages                      rows and what is beneath them
//!   Databases, Definitions, TemporaryTables      what exists, and changes of it
//!   Statistics                                   figures by which plans are chosen
//!   Process, ErrorLog                            what sessions share
//! ```

pub(crate) mod configuration;
pub(crate) mod databases;
pub(crate) mod definitions;
pub(crate) mod error_log;
pub(crate) mod numbers;
pub(crate) mod pages;
pub(crate) mod process;
pub(crate) mod rowset;
pub(crate) mod statistics;
pub(crate) mod storage;
pub(crate) mod temporary_tables;

use crate::host::databases::Databases;
use crate::host::definitions::Definitions;
use crate::host::error_log::ErrorLog;
use crate::host::numbers::Numbers;
use crate::host::pages::Pages;
use crate::host::process::Process;
use crate::host::statistics::Statistics;
use crate::host::storage::Storage;
use crate::host::temporary_tables::TemporaryTables;

/// Everything that a session needs from its process.
pub trait Host:
    Databases
    + Definitions
    + ErrorLog
    + Numbers
    + Pages
    + Process
    + Statistics
    + Storage
    + TemporaryTables
{
}

impl<T> Host for T where
    T: Databases
        + Definitions
        + ErrorLog
        + Numbers
        + Pages
        + Process
        + Statistics
        + Storage
        + TemporaryTables
{
}
