//! The identities of the engine, each spelled as a DBA knows it.
//!
//! Invariants
//!  1. An id orders as the thing it names: pages by file and position, LSNs by log position.
//!  2. Nothing converts silently from an integer; the field is public and the type says the unit.

use std::fmt;

/// A database of this instance; 1 master, 2 tempdb, 3 model, 4 msdb, users' from 5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DatabaseId(pub u16);

/// A file of a database; 1 is the primary data file, 2 the log.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileId(pub u16);

/// A page's permanent address. Orders by file, then page: the order of a sequential read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PageId {
    /// The file that holds the page; 0 only in [`PageId::NONE`].
    pub file: FileId,
    /// Position in the file in pages of 8,192 bytes.
    pub page: u32,
}

impl PageId {
    /// The null page pointer, `(0:0)`.
    pub const NONE: PageId = PageId { file: FileId(0), page: 0 };

    /// A page of a file.
    pub const fn new(file: u16, page: u32) -> Self {
        PageId { file: FileId(file), page }
    }

    /// Whether this is the null pointer.
    pub const fn is_none(self) -> bool {
        self.file.0 == 0 && self.page == 0
    }

    /// The extent that contains this page.
    pub const fn extent(self) -> ExtentId {
        ExtentId { file: self.file, extent: self.page / 8 }
    }
}

/// Eight consecutive pages, the unit of allocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ExtentId {
    /// The file that holds the extent.
    pub file: FileId,
    /// Position in the file in extents of 64 KB.
    pub extent: u32,
}

impl ExtentId {
    /// The first of the eight pages.
    pub const fn first_page(self) -> PageId {
        PageId { file: self.file, page: self.extent * 8 }
    }
}

/// Position of a record in a page's slot array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SlotNo(pub u16);

/// A log sequence number: VLF (32 bits), block within it in 512-byte units (20), slot (12).
///
/// Orders as an integer, and every spelling of an LSN (decimal, hex, numeric(25,0)) is exact.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Lsn(pub u64);

impl Lsn {
    /// Before every log record.
    pub const ZERO: Lsn = Lsn(0);
    /// After every log record.
    pub const MAX: Lsn = Lsn(u64::MAX);
    /// Largest block offset, in 512-byte units.
    pub const BLOCK_MAX: u32 = (1 << 20) - 1;
    /// Largest slot.
    pub const SLOT_MAX: u16 = (1 << 12) - 1;

    /// Packs the three parts; each must be within its limit.
    pub const fn new(vlf: u32, block: u32, slot: u16) -> Self {
        assert!(block <= Self::BLOCK_MAX && slot <= Self::SLOT_MAX);
        Lsn(((vlf as u64) << 32) | ((block as u64) << 12) | slot as u64)
    }

    /// Sequence number of the virtual log file.
    pub const fn vlf(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Offset of the log block in its VLF, in units of 512 bytes.
    pub const fn block(self) -> u32 {
        ((self.0 >> 12) & 0xF_FFFF) as u32
    }

    /// The record within its block; the first is 1.
    pub const fn slot(self) -> u16 {
        (self.0 & 0xFFF) as u16
    }

    /// The LSN of the block that holds this record: the same with slot 0.
    pub const fn block_start(self) -> Lsn {
        Lsn(self.0 & !0xFFF)
    }

    /// The spelling of DMVs and backup tables: a numeric(25,0).
    pub const fn as_numeric(self) -> i128 {
        self.vlf() as i128 * 1_000_000_000_000_000
            + self.block() as i128 * 100_000
            + self.slot() as i128
    }

    /// The spelling of `fn_dblog`: `0000001f:000000c8:0001`.
    pub fn as_hex(self) -> String {
        format!("{:08x}:{:08x}:{:04x}", self.vlf(), self.block(), self.slot())
    }
}

/// A transaction sequence number, the XSN of row version tags: 48 bits, from 1, per instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Xsn(pub u64);

impl Xsn {
    /// No transaction.
    pub const NONE: Xsn = Xsn(0);
    /// The largest that fits a version tag.
    pub const MAX: Xsn = Xsn((1 << 48) - 1);
}

/// A transaction's number as `sys.dm_tran_active_transactions` shows it: per instance since start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TransactionId(pub u64);

/// A schema-scoped object; negative for system views and functions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ObjectId(pub i32);

impl ObjectId {
    /// What a plan calls the table variable of a number: each activation has its own table for it.
    pub const fn of_table_variable(number: u16) -> ObjectId {
        ObjectId(i32::MIN + number as i32)
    }

    /// The number of a table variable, if it is one.
    pub const fn table_variable(self) -> Option<u16> {
        let number = self.0.wrapping_sub(i32::MIN);
        if number >= 0 && number <= u16::MAX as i32 { Some(number as u16) } else { None }
    }
}

/// An index of a table: 0 heap, 1 clustered, 2 and up nonclustered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct IndexId(pub i32);

/// A heap or B-tree: one partition of one index. The small number that log records carry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct HobtId(pub u32);

impl HobtId {
    /// No heap or index: under it stands how far a database's rowversions have been reserved.
    pub const ROW_VERSIONS: HobtId = HobtId(0);

    /// Where the hobts of table variables begin: 4,096 for each.
    const TABLE_VARIABLES: u32 = 0xF000_0000;

    /// What a plan calls the hobt of a table variable, by its position among the table's indexes.
    pub const fn of_table_variable(number: u16, position: usize) -> HobtId {
        assert!(position < 4096);
        HobtId(Self::TABLE_VARIABLES | (number as u32) << 12 | position as u32)
    }

    /// The table variable's number and the position among its indexes, if it is one's.
    pub const fn table_variable(self) -> Option<(u16, usize)> {
        match self.0 >= Self::TABLE_VARIABLES {
            true => Some(((self.0 >> 12) as u16, (self.0 & 0xFFF) as usize)),
            false => None,
        }
    }

    /// The bigint that `sys.partitions` shows as hobt_id and partition_id.
    pub const fn as_bigint(self) -> i64 {
        (256_i64 << 48) | ((self.0 as i64) << 16)
    }
}

/// A set of pages that one hobt owns for one purpose. Its small number stands in page headers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct AllocUnitId(pub u32);

impl AllocUnitId {
    /// The bigint that `sys.allocation_units` shows: `idInd << 48 | idObj << 16` with idInd 256.
    pub const fn as_bigint(self) -> i64 {
        (256_i64 << 48) | ((self.0 as i64) << 16)
    }
}

/// A session as `@@SPID` shows it; users' from 51, as in SQL Server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SessionId(pub i16);

impl SessionId {
    /// Whether it is a client's, not the system's own.
    pub fn is_user(self) -> bool {
        self.0 > 50
    }
}

macro_rules! show_number {
    ($($t:ty),*) => {$(
        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    )*};
}
show_number!(DatabaseId, FileId, SlotNo, Xsn, TransactionId, ObjectId, IndexId, SessionId);

impl fmt::Display for HobtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bigint())
    }
}

impl fmt::Display for AllocUnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_bigint())
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:{})", self.file.0, self.page)
    }
}

impl fmt::Display for ExtentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:{})", self.file.0, self.extent * 8)
    }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:{}:{})", self.vlf(), self.block(), self.slot())
    }
}

const _: () = assert!(size_of::<Option<PageId>>() <= 12);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_lsn_orders_as_its_parts_and_spells_exactly() {
        let a = Lsn::new(31, 200, 1);
        assert_eq!(a.as_hex(), "0000001f:000000c8:0001");
        assert_eq!(a.as_numeric(), 31_000_000_020_000_001);
        assert_eq!(a.to_string(), "(31:200:1)");
        assert!(
            a < Lsn::new(31, 201, 0) && Lsn::new(31, Lsn::BLOCK_MAX, 4095) < Lsn::new(32, 0, 0)
        );
        assert_eq!(a.block_start().slot(), 0);
    }

    #[test]
    fn hobts_of_table_variables_are_told_from_others() {
        for (number, position) in [(0, 0), (1, 999), (u16::MAX, 4095)] {
            let hobt = HobtId::of_table_variable(number, position);
            assert_eq!(hobt.table_variable(), Some((number, position)));
            let object = ObjectId::of_table_variable(number);
            assert!(object.0 < 0 && object.table_variable() == Some(number));
        }
        assert_eq!(HobtId(0x0FFF_FFFF).table_variable(), None);
        assert_eq!(ObjectId(-204).table_variable(), None);
        assert_eq!(ObjectId(245_575_913).table_variable(), None);
    }

    #[test]
    fn an_allocation_unit_spells_as_in_published_dumps() {
        assert_eq!(AllocUnitId(68).as_bigint(), 72_057_594_042_384_384);
    }
}
