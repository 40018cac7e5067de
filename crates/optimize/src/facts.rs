//! `Facts`: what choosing a plan asks of the world beyond definitions. `session` implements it.

use crate::parallel::Parallelism;
use base::{DatabaseId, HobtId, ObjectId};
use plan::{VariableId, Watch};
use types::Value;
use types::datetime::{Dialect, Moment};

/// What the optimizer may ask. Every answer may be wrong without making a result wrong.
pub trait Facts {
    /// How large a heap or index is; none when nobody knows.
    fn size(&self, database: DatabaseId, hobt: HobtId) -> Option<Size>;

    /// The value that a variable or parameter will have when the plan first runs; none when it may
    /// be any.
    fn value(&self, variable: VariableId) -> Option<Value>;

    /// The counter of changes of a column, by its id: rows that came, went, or had it assigned.
    fn modifications(&self, database: DatabaseId, table: ObjectId, column: i32) -> Option<u64>;

    /// What there is to work with.
    fn memory(&self) -> Memory;

    /// How values of variables are read as dates.
    fn dialect(&self) -> Dialect {
        Dialect::default()
    }

    /// The moment, for estimates of what is computed of it; none when nobody knows.
    fn now(&self) -> Option<Moment> {
        None
    }

    /// The session that waits for the plan; none where there is none to ask.
    fn watch(&self) -> Option<&dyn Watch> {
        None
    }

    /// How many may work for one statement.
    fn parallelism(&self) -> Parallelism {
        Parallelism::NONE
    }
}

/// How large a heap or index is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Its rows.
    pub rows: f64,
    /// Its pages.
    pub pages: f64,
}

/// Memory in which a plan runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Pages that the buffer pool holds.
    pub pool_pages: f64,
    /// What one statement's sorts and hashes may be granted.
    pub work_bytes: f64,
}

/// Nothing is known: for expressions that read no table.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFacts;

impl Facts for NoFacts {
    fn size(&self, _: DatabaseId, _: HobtId) -> Option<Size> {
        None
    }

    fn value(&self, _: VariableId) -> Option<Value> {
        None
    }

    fn modifications(&self, _: DatabaseId, _: ObjectId, _: i32) -> Option<u64> {
        None
    }

    fn memory(&self) -> Memory {
        Memory { pool_pages: 16_384.0, work_bytes: 32_000_000.0 }
    }
}
