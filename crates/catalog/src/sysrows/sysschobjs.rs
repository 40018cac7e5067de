//! `sysschobjs`: everything that has an object id.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// A table, a module, or a constraint of a table.
    ObjectRow of Objects, "sysschobjs", key 1 {
        id: i32 => "id" SqlType::Int,
        schema: i32 => "nsid" SqlType::Int,
        name: Box<str> => "name" SqlType::SYSNAME,
        /// `sys.objects.type`.
        kind: Box<str> => "type" SqlType::Char(2),
        /// The table of a constraint or trigger; 0 else.
        parent: i32 => "pid" SqlType::Int,
        /// See [`object_status`].
        status: i32 => "status" SqlType::Int,
        /// Of a check behind a column: its id; 0 else.
        column: i32 => "colid" SqlType::Int,
        /// Nanoseconds since 1970 UTC.
        created: i64 => "created" SqlType::BigInt,
        /// The same for the last change.
        modified: i64 => "modified" SqlType::BigInt,
    }
}

impl ObjectRow {
    /// Whether it is a definition of its own: a trigger is one, although it has a table.
    pub(crate) fn is_whole(&self) -> bool {
        self.parent == 0 || self.kind.trim_end() == "TR"
    }
}

/// Bits of [`ObjectRow::status`].
pub(crate) mod object_status {
    pub(crate) const SYSTEM_NAMED: i32 = 1;
    pub(crate) const TEMPORARY: i32 = 2;
    pub(crate) const QUOTED_IDENTIFIER: i32 = 4;
    pub(crate) const ANSI_NULLS: i32 = 8;
    pub(crate) const DISABLED: i32 = 16;
    pub(crate) const NOT_TRUSTED: i32 = 32;
    pub(crate) const CHECK_OPTION: i32 = 64;
    pub(crate) const RECOMPILE: i32 = 128;
    pub(crate) const NULL_ON_NULL_INPUT: i32 = 256;
    pub(crate) const INSTEAD_OF: i32 = 512;
    pub(crate) const NOT_FOR_REPLICATION: i32 = 1024;
    pub(crate) const SCHEMA_BOUND: i32 = 2048;
    pub(crate) const AS_OWNER: i32 = 4096;
    pub(crate) const AS_DBO: i32 = 8192;
    /// Three bits each: what fires a trigger, for what it is the first, the last.
    pub(crate) const EVENTS_SHIFT: u32 = 16;
    pub(crate) const FIRST_SHIFT: u32 = 19;
    pub(crate) const LAST_SHIFT: u32 = 22;
}
