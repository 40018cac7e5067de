//! What DBCC CHECKDB and CHECKTABLE need around the check: nobody changes what is checked, and
//! findings in the order of SQL Server's output.
//!
//! Invariants
//!  1. Every table that is checked is locked S, system tables too: who defines something waits.
//!  2. Locks that were taken here are given back here, also within a transaction of the user: what
//!     that held before, it holds as before.

use base::{ObjectId, SqlError, SqlResult, messages};
use database::{CheckCounts, CheckFinding, CheckReport, Database};
use ddl::Check;
use lock::{Duration, Mode, Resource};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;
use work::Work;

/// Tables under S locks, and the modes in which the transaction held them before.
pub(crate) struct LockedTables {
    locked: Vec<(Resource, Mode)>,
}

impl LockedTables {
    /// Locks what is to be checked; tables that come meanwhile, too.
    pub(crate) fn lock(
        work: &mut Work,
        database: &Database,
        table: Option<ObjectId>,
    ) -> SqlResult<LockedTables> {
        let mut kept = LockedTables { locked: Vec::new() };
        let mut known = BTreeSet::new();
        loop {
            let all = database.hobts().all().into_iter().map(|h| h.spec().object);
            let new: BTreeSet<ObjectId> =
                all.filter(|o| table.is_none_or(|t| t == *o) && !known.contains(o)).collect();
            if new.is_empty() {
                return Ok(kept);
            }
            for object in new {
                let resource = Resource::object(database.id(), object);
                let owner = Arc::clone(work.owner());
                let timeout = work.timeout();
                let before = work.locks().held_mode(&owner, resource);
                let asked =
                    work.locks().lock(&owner, resource, Mode::S, Duration::Short, timeout, None);
                if let Err(e) = asked {
                    kept.release(work);
                    return Err(e.into());
                }
                kept.locked.push((resource, before));
                known.insert(object);
            }
        }
    }

    /// Lets others change them again.
    pub(crate) fn release(self, work: &Work) {
        for (resource, before) in self.locked {
            match before {
                Mode::NL => work.locks().release(work.owner(), resource),
                _ => work.locks().release_to(work.owner(), resource, before),
            };
        }
    }
}

/// Findings about one object: allocation, consistency.
type Counts = (usize, usize);

/// What the user is told of a check.
pub(crate) fn answer(database: &Database, check: &Check, report: &CheckReport) -> Vec<SqlError> {
    let command = if check.table.is_some() { "CHECKTABLE" } else { "CHECKDB" };
    let name = database.home().name();
    let mut told = CheckMessages { quiet: check.quiet, command, messages: Vec::new() };
    if check.table.is_none() {
        told.inform(SqlError::new(messages::DBCC_RESULTS, &[&name]));
    }
    let mut counts: BTreeMap<i32, Counts> = BTreeMap::new();
    for f in &report.allocation {
        counts.entry(f.object.0).or_default().0 += 1;
    }
    for f in &report.consistency {
        counts.entry(f.object.0).or_default().1 += 1;
    }
    told.object(report, 0, None);
    if let Some(of) = counts.get(&0) {
        let rest: [&dyn Display; 3] = [&command, &of.0, &of.1];
        told.messages.push(SqlError::new(messages::CHECKDB_SUMMARY_OF_NONE, &rest));
    }
    let objects: BTreeSet<i32> = report.objects.keys().chain(counts.keys()).copied().collect();
    let view = database.view();
    for object in objects.into_iter().filter(|o| *o != 0) {
        let table = view.table(ObjectId(object));
        let name = table.map_or_else(|| format!("object {object}"), |t| t.name.to_string());
        told.object(report, object, Some(&name));
        if let Some(of) = counts.get(&object) {
            let rest: [&dyn Display; 5] = [&command, &of.0, &of.1, &name, &object];
            told.messages.push(SqlError::new(messages::CHECKDB_SUMMARY_OF_TABLE, &rest));
        }
    }
    if report.dropped > 0 {
        let table = check.table.unwrap_or(ObjectId(0));
        let rest: [&dyn Display; 2] = [&report.dropped, &table];
        told.messages.push(SqlError::new(messages::CHECKDB_TOO_MANY, &rest));
    }
    // A sound table has no summary of its own.
    if check.table.is_none() || !report.is_clean() {
        let counts = (report.allocation.len(), report.consistency.len());
        told.summary(&name, counts, report.is_clean());
    }
    told.messages
}

struct CheckMessages {
    quiet: bool,
    command: &'static str,
    messages: Vec<SqlError>,
}

impl CheckMessages {
    /// What NO_INFOMSGS leaves out.
    fn inform(&mut self, message: SqlError) {
        if !self.quiet {
            self.messages.push(message);
        }
    }

    /// All about one object.
    fn object(&mut self, report: &CheckReport, object: i32, name: Option<&str>) {
        if let (Some(name), Some(looked)) = (name, report.objects.get(&object)) {
            let CheckCounts { rows, pages } = looked;
            self.inform(SqlError::new(messages::DBCC_RESULTS, &[&name]));
            self.inform(SqlError::new(messages::CHECKDB_ROWS, &[rows, pages, &name]));
        }
        let findings = report.allocation.iter().chain(&report.consistency);
        for CheckFinding { error, row, .. } in findings.filter(|f| f.object.0 == object) {
            self.messages.push(error.clone());
            self.messages.extend(row.clone());
        }
    }

    fn summary(&mut self, database: &str, (allocation, consistency): Counts, clean: bool) {
        let rest: [&dyn Display; 4] = [&self.command, &allocation, &consistency, &database];
        let summary = SqlError::new(messages::CHECKDB_SUMMARY, &rest);
        // Where something is wrong it is said in any case.
        if clean {
            self.inform(summary);
        } else {
            self.messages.push(summary);
        }
    }
}
