//! An entry: a program under its key, with what is counted of its runs.

use base::{DatabaseId, ObjectId};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// What kind of program, as `sys.dm_exec_cached_plans.objtype` tells.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A batch.
    AdHoc,
    /// sp_executesql, sp_prepare: text with parameters.
    Prepared,
    /// A stored procedure.
    Procedure,
}

impl Kind {
    /// `objtype`
    pub const fn name(self) -> &'static str {
        match self {
            Kind::AdHoc => "Adhoc",
            Kind::Prepared => "Prepared",
            Kind::Procedure => "Proc",
        }
    }
}

/// What a program is found by. Text decides, so an altered procedure is another program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key<'t> {
    /// What kind of program.
    pub kind: Kind,
    /// The database that names without database mean.
    pub database: DatabaseId,
    /// The procedure; 0 for text.
    pub object: ObjectId,
    /// SET options that decide what text means, as the session packs them.
    pub options: u64,
    /// The declared parameters of a prepared text.
    pub parameters: &'t str,
    /// The text.
    pub text: &'t str,
}

/// One run of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// CPU time.
    pub cpu_ns: u64,
    /// Time from begin to end.
    pub elapsed_ns: u64,
    /// Rows returned or affected.
    pub rows: u64,
}

/// What was counted of an entry's runs. Each number is exact, the set is not.
#[derive(Debug, Default)]
pub struct Statistics {
    executions: AtomicU64,
    cpu_ns: AtomicU64,
    elapsed_ns: AtomicU64,
    elapsed_max_ns: AtomicU64,
    rows: AtomicU64,
    last_run: AtomicI64,
}

impl Statistics {
    /// Adds a run that began at a wall time.
    pub fn add(&self, began_at: i64, run: Run) {
        self.executions.fetch_add(1, Relaxed);
        self.cpu_ns.fetch_add(run.cpu_ns, Relaxed);
        self.elapsed_ns.fetch_add(run.elapsed_ns, Relaxed);
        self.elapsed_max_ns.fetch_max(run.elapsed_ns, Relaxed);
        self.rows.fetch_add(run.rows, Relaxed);
        self.last_run.fetch_max(began_at, Relaxed);
    }
}

/// A program in the cache.
#[derive(Debug)]
pub struct Entry<T> {
    /// The program.
    pub value: T,
    /// What was counted of its runs.
    pub statistics: Statistics,
    pub(crate) kind: Kind,
    pub(crate) database: DatabaseId,
    pub(crate) object: ObjectId,
    pub(crate) options: u64,
    pub(crate) parameters: Box<str>,
    pub(crate) text: Box<str>,
    pub(crate) bytes: usize,
    pub(crate) created_at: i64,
    pub(crate) uses: AtomicU64,
    /// When it was found last, in finds of its shard.
    pub(crate) touched: AtomicU64,
}

impl<T> Entry<T> {
    pub(crate) fn new(key: &Key<'_>, value: T, bytes: usize, touched: u64) -> Entry<T> {
        Entry {
            value,
            statistics: Statistics::default(),
            kind: key.kind,
            database: key.database,
            object: key.object,
            options: key.options,
            parameters: key.parameters.into(),
            text: key.text.into(),
            bytes: bytes + key.text.len() + key.parameters.len() + size_of::<Entry<T>>(),
            created_at: os::clock::now().0,
            uses: AtomicU64::new(1),
            touched: AtomicU64::new(touched),
        }
    }

    /// Its key.
    pub fn key(&self) -> Key<'_> {
        Key {
            kind: self.kind,
            database: self.database,
            object: self.object,
            options: self.options,
            parameters: &self.parameters,
            text: &self.text,
        }
    }

    pub(crate) fn snapshot(&self) -> EntrySnapshot {
        let s = &self.statistics;
        EntrySnapshot {
            kind: self.kind,
            database: self.database,
            object: self.object,
            text: self.text.clone(),
            bytes: self.bytes,
            uses: self.uses.load(Relaxed),
            created_at: self.created_at,
            executions: s.executions.load(Relaxed),
            last_run: s.last_run.load(Relaxed),
            total: Run {
                cpu_ns: s.cpu_ns.load(Relaxed),
                elapsed_ns: s.elapsed_ns.load(Relaxed),
                rows: s.rows.load(Relaxed),
            },
            elapsed_max_ns: s.elapsed_max_ns.load(Relaxed),
        }
    }
}

/// An entry as `sys.dm_exec_cached_plans` and `sys.dm_exec_query_stats` show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntrySnapshot {
    /// What kind of program.
    pub kind: Kind,
    /// Its database.
    pub database: DatabaseId,
    /// The procedure; 0 for text.
    pub object: ObjectId,
    /// Its text.
    pub text: Box<str>,
    /// What it is charged with.
    pub bytes: usize,
    /// How often it was found.
    pub uses: u64,
    /// Wall time of its compilation.
    pub created_at: i64,
    /// How often it ran.
    pub executions: u64,
    /// Wall time of its last run.
    pub last_run: i64,
    /// Sums over its runs.
    pub total: Run,
    /// Its longest run.
    pub elapsed_max_ns: u64,
}
