//! An entry: a program under its key, with what is counted of its runs.

use crate::handle::{Fingerprint, PlanHandle, TextHandle};
use crate::statistics::Statistics;
use base::{DatabaseId, ObjectId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

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

/// A program in the cache.
#[derive(Debug)]
pub struct Entry<T> {
    /// The program.
    pub value: T,
    /// What was counted of its runs.
    pub statistics: Statistics,
    pub(crate) id: u64,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) kind: Kind,
    pub(crate) database: DatabaseId,
    pub(crate) object: ObjectId,
    pub(crate) options: u64,
    pub(crate) parameters: Box<str>,
    pub(crate) text: Arc<str>,
    /// With the plans of its statements, as they come.
    pub(crate) bytes: AtomicUsize,
    pub(crate) created_at: i64,
    pub(crate) uses: AtomicU64,
    /// When it was found last, in finds of its shard.
    pub(crate) touched: AtomicU64,
    pub(crate) gone: AtomicBool,
}

/// What a new entry is made of.
pub struct NewEntry<T> {
    /// The program.
    pub value: T,
    /// The text of its key.
    pub text: Arc<str>,
    /// What it takes, about.
    pub bytes: usize,
}

impl<T> Entry<T> {
    pub(crate) fn new(
        key: &Key<'_>,
        new: NewEntry<T>,
        id: u64,
        fingerprint: Fingerprint,
    ) -> Entry<T> {
        let own = new.text.len() + key.parameters.len() + size_of::<Entry<T>>();
        Entry {
            value: new.value,
            statistics: Statistics::default(),
            id,
            fingerprint,
            kind: key.kind,
            database: key.database,
            object: key.object,
            options: key.options,
            parameters: key.parameters.into(),
            text: new.text,
            bytes: AtomicUsize::new(new.bytes + own),
            created_at: os::clock::now().0,
            uses: AtomicU64::new(1),
            touched: AtomicU64::new(0),
            gone: AtomicBool::new(false),
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

    /// The number that no other entry ever has.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// What its text is found by.
    pub fn text_handle(&self) -> TextHandle {
        let database = if self.object.0 == 0 { DatabaseId(0) } else { self.database };
        TextHandle { fingerprint: self.fingerprint, database, object: self.object }
    }

    /// What its plans are found by.
    pub fn plan_handle(&self) -> PlanHandle {
        PlanHandle {
            module: self.object.0 != 0,
            database: self.database,
            fingerprint: self.fingerprint,
            entry: self.id,
        }
    }

    /// What it is charged with.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// How often it was found, its making with it.
    pub fn uses(&self) -> u64 {
        self.uses.load(Relaxed)
    }

    /// The wall time of its compilation.
    pub fn created_at(&self) -> i64 {
        self.created_at
    }

    /// It was thrown out: whoever holds it shall look for another before the next run.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Relaxed)
    }
}
