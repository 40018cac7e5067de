//! The compiled-in system tables: what a database's definitions are made of on disk.
//!
//! Their columns, keys and ids are constants, so that a database can open them before it can
//! read anything: a system table's hobt and allocation unit bear its object id as number, its
//! one index is clustered and unique over leading columns. Ids, names and purposes are those of
//! SQL Server's base tables; `sysidents`, `sysdrops` and `sysfacts` are ours.
//!
//! ```text
//!    id name           key                         a row is
//!     5 sysrowsets     rowsetid                    a heap or B-tree: of which object and index
//!     7 sysallocunits  ownerid, type, auid         pages of a hobt: first IAM page, root
//!    34 sysschobjs     id                          a table, module or constraint
//!    41 syscolpars     id, colid                   a column
//!    54 sysidxstats    id, indid                   a heap, index, or statistics of their own
//!    55 sysiscols      idmajor, idminor, subid     a column of an index or statistics
//!    60 sysobjvalues   objid, valclass, subid, n   a piece of a text or of a histogram
//!    64 sysclsobjs     id                          a schema
//!    90 sysidents      ownerid                     how far identity values may have been given
//!    91 sysdrops       auid                        pages to free, their owner's drop committed
//!    92 sysfacts       name                        an option of the database
//! ```
//!
//! Columns are only ever added at the end, nullable: the order here is on-disk format.

mod row;
mod sysallocunits;
mod sysclsobjs;
mod syscolpars;
mod sysdrops;
mod sysfacts;
mod sysidents;
mod sysidxstats;
mod sysiscols;
mod sysobjvalues;
mod sysrowsets;
mod sysschobjs;
mod table;

pub(crate) use row::{Cell, SystemRow};
pub(crate) use sysallocunits::AllocUnitRow;
pub(crate) use sysclsobjs::ClassRow;
pub(crate) use syscolpars::{ColumnRow, column_status, stored_collation};
pub(crate) use sysdrops::DropRow;
pub(crate) use sysfacts::FactRow;
pub(crate) use sysidents::IdentityRow;
pub(crate) use sysidxstats::{IndexRow, STATISTICS_ALONE, index_status};
pub(crate) use sysiscols::{IndexColumnRow, index_column_status};
pub(crate) use sysobjvalues::{TextRow, join_texts, split_text, text_class};
pub(crate) use sysrowsets::RowsetRow;
pub(crate) use sysschobjs::{ObjectRow, object_status};
pub use table::{SystemColumn, SystemTable, SystemTableId};

impl SystemTableId {
    /// What it looks like.
    pub fn table(self) -> &'static SystemTable {
        let found = SYSTEM_TABLES.iter().find(|t| t.id == self);
        found.expect("every system table is listed")
    }
}

/// Every system table by id.
pub const SYSTEM_TABLES: &[SystemTable] = &[
    RowsetRow::DEFINITION,
    AllocUnitRow::DEFINITION,
    ObjectRow::DEFINITION,
    ColumnRow::DEFINITION,
    IndexRow::DEFINITION,
    IndexColumnRow::DEFINITION,
    TextRow::DEFINITION,
    ClassRow::DEFINITION,
    IdentityRow::DEFINITION,
    DropRow::DEFINITION,
    FactRow::DEFINITION,
];

/// The first hobt and allocation unit that a user's table may have.
pub const FIRST_USER_HOBT: u32 = 256;

const _: () = {
    let mut n = 0;
    while n < SYSTEM_TABLES.len() {
        assert!((SYSTEM_TABLES[n].id as u32) < FIRST_USER_HOBT);
        assert!(
            SYSTEM_TABLES[n].key >= 1 && SYSTEM_TABLES[n].key <= SYSTEM_TABLES[n].columns.len()
        );
        assert!(n == 0 || (SYSTEM_TABLES[n - 1].id as u8) < (SYSTEM_TABLES[n].id as u8));
        n += 1;
    }
};
