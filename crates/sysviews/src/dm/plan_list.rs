//! The common parts of views of plans: measures as columns, handles, programs by handle.

use crate::column::{Column, null};
use crate::view::System;
use base::{DatabaseId, SqlResult};
use catalog::view::DatabaseView;
use plancache::{Entry, ExecutionCounts, Measure, PlanHandle, TextHandle};
use session::{Program, Views};
use std::sync::Arc;
use types::{Bytes, SqlType, Value};

pub(crate) const BIG: SqlType = SqlType::BigInt;
pub(crate) const HANDLE: SqlType = SqlType::varbinary(64);

/// `total_`, `last_`, `min_` and `max_` of each name.
macro_rules! measures {
    ($($name:literal)*) => { [$(
        crate::column::col(concat!("total_", $name), types::SqlType::BigInt),
        crate::column::col(concat!("last_", $name), types::SqlType::BigInt),
        crate::column::col(concat!("min_", $name), types::SqlType::BigInt),
        crate::column::col(concat!("max_", $name), types::SqlType::BigInt),
    )*] };
}

/// The same, always 0.
macro_rules! zeros {
    ($why:expr; $($name:literal)*) => { [$(
        crate::column::zero(concat!("total_", $name), types::SqlType::BigInt, $why),
        crate::column::zero(concat!("last_", $name), types::SqlType::BigInt, $why),
        crate::column::zero(concat!("min_", $name), types::SqlType::BigInt, $why),
        crate::column::zero(concat!("max_", $name), types::SqlType::BigInt, $why),
    )*] };
}

pub(crate) use {measures, zeros};

const BY_PAGES: &str = "Reads are counted by pages, not by requests to the disk.";

/// Requests to the disk.
pub(crate) const REQUESTS: [Column; 4] = [
    null("total_num_physical_reads", BIG, BY_PAGES),
    null("last_num_physical_reads", BIG, BY_PAGES),
    null("min_num_physical_reads", BIG, BY_PAGES),
    null("max_num_physical_reads", BIG, BY_PAGES),
];

/// Ghosts, versions and locks: columns of our own, behind those of SQL Server.
pub(crate) const CONCURRENCY: [Column; 12] =
    measures!("ghost_records_skipped" "versions_traversed" "lock_requests");

/// Their cells.
pub(crate) fn concurrency(c: &ExecutionCounts) -> impl Iterator<Item = Value> {
    let measures = [&c.ghosts_skipped, &c.versions_traversed, &c.lock_requests];
    measures.into_iter().flat_map(|m| four(m, crate::cell::big))
}

/// The four cells of a measure.
pub(crate) fn four(m: &Measure, of: impl Fn(u64) -> Value) -> [Value; 4] {
    [m.total, m.last, m.min, m.max].map(of)
}

/// Nanoseconds as whole microseconds.
pub(crate) fn us(ns: u64) -> Value {
    crate::cell::big(ns / 1000)
}

/// Bytes as kilobytes, rounded up.
pub(crate) fn kb(bytes: u64) -> Value {
    crate::cell::big(bytes.div_ceil(1024))
}

pub(crate) fn binary(bytes: Vec<u8>) -> Value {
    Value::Binary(Bytes::from(bytes))
}

/// The text handle of a program.
pub(crate) fn text_handle(entry: &Entry<Program>) -> Value {
    binary(entry.text_handle().bytes())
}

/// The plan handle of a program.
pub(crate) fn plan_handle(entry: &Entry<Program>) -> Value {
    binary(entry.plan_handle().bytes())
}

/// The bytes of an argument that is a handle.
fn bytes_of(argument: Option<&Value>) -> Option<&[u8]> {
    match argument {
        Some(Value::Binary(bytes)) => Some(bytes),
        _ => None,
    }
}

/// The program of a plan handle: in the cache, or removed from it and still running.
pub(crate) fn by_plan(
    system: &System<'_>,
    argument: Option<&Value>,
) -> Option<Arc<Entry<Program>>> {
    let handle = PlanHandle::read(bytes_of(argument)?)?;
    let running = || {
        let programs = system.sessions.list().into_iter().filter_map(|s| s.program);
        programs.into_iter().find(|p| p.plan_handle() == handle)
    };
    system.programs.by_plan(&handle).or_else(running)
}

/// A text that a handle names.
pub(crate) enum Text {
    Program(Arc<Entry<Program>>),
    /// The text of a batch that was not compiled to a program.
    Batch(Arc<str>),
}

/// The text of a text handle, or of a plan handle.
pub(crate) fn by_text(system: &System<'_>, argument: Option<&Value>) -> Option<Text> {
    if let Some(entry) = by_plan(system, argument) {
        return Some(Text::Program(entry));
    }
    let handle = TextHandle::read(bytes_of(argument)?)?;
    if let Some(entry) = system.programs.by_text(&handle) {
        return Some(Text::Program(entry));
    }
    for session in system.sessions.list() {
        if let Some(program) = session.program.filter(|p| p.text_handle() == handle) {
            return Some(Text::Program(program));
        }
        let text = session.input.text.filter(|t| TextHandle::of_batch("", t) == handle);
        if let Some(text) = text {
            return Some(Text::Batch(text));
        }
    }
    None
}

/// Definitions, for the names in plans.
impl Views for System<'_> {
    fn view(&self, database: DatabaseId) -> Option<Arc<DatabaseView>> {
        self.databases.view(database)
    }
}

/// Every program, in the order of creation.
pub(crate) fn all(system: &System<'_>) -> SqlResult<Vec<Arc<Entry<Program>>>> {
    system.waiter.check()?;
    Ok(system.programs.entries())
}

/// The procedure of a program, and its database.
pub(crate) fn module(entry: &Entry<Program>) -> Option<(DatabaseId, i32)> {
    let key = entry.key();
    (key.object.0 != 0).then_some((key.database, key.object.0))
}
