//! What a system table is: its id, its columns and its key.

use base::{AllocUnitId, HobtId, ObjectId};
use types::SqlType;

/// A column of a system table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type. Characters compare by code point.
    pub sql_type: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// A system table: rows in one clustered, unique index over its first `key` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SystemTable {
    /// Which one.
    pub id: SystemTableId,
    /// Its name in schema `sys`.
    pub name: &'static str,
    /// Its columns, all of them stored.
    pub columns: &'static [SystemColumn],
    /// How many leading columns are the key.
    pub key: usize,
}

/// The system tables; the number is object id, hobt and allocation unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum SystemTableId {
    /// `sysrowsets`
    Rowsets = 5,
    /// `sysallocunits`
    AllocUnits = 7,
    /// `sysschobjs`
    Objects = 34,
    /// `syscolpars`
    Columns = 41,
    /// `sysidxstats`
    Indexes = 54,
    /// `sysiscols`
    IndexColumns = 55,
    /// `sysobjvalues`
    Texts = 60,
    /// `sysclsobjs`
    Classes = 64,
    /// `sysidents`
    Identities = 90,
    /// `sysdrops`
    Drops = 91,
    /// `sysfacts`
    Facts = 92,
}

impl SystemTableId {
    /// Its object id.
    pub const fn object_id(self) -> ObjectId {
        ObjectId(self as i32)
    }

    /// Its hobt.
    pub const fn hobt(self) -> HobtId {
        HobtId(self as u32)
    }

    /// Its allocation unit.
    pub const fn unit(self) -> AllocUnitId {
        AllocUnitId(self as u32)
    }
}
