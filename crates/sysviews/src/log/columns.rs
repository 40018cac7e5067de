//! The columns of `fn_dblog`: name, type, and what each shows of a record.
//!
//! Names, types and order are those of SQL Server. Our records contain less, so a column without a
//! source is NULL, with the reason. Lengths and bits are int, because SQL Server's smallint is too
//! small for ours.

use super::cells::{put_big, put_int, put_small, put_text};
use super::own;
use super::units::Unit;
use crate::cell::log_time;
use crate::column::{Column, Constant, col, fixed, maybe, null, zero};
use crate::reason::*;
use types::SqlType;
use wal::{CheckpointEnd, RecordDescription, RecordFlags, RecordView};

/// A record, and the facts about it.
pub(crate) struct Entry<'a> {
    pub(crate) record: RecordView<'a>,
    pub(crate) described: RecordDescription<'a>,
    pub(crate) explain: &'a dyn Fn() -> String,
    pub(crate) reserved: u32,
    pub(crate) unit: Option<&'a Unit>,
}

/// Writes a cell's stored bytes; returns false for NULL.
pub(crate) type CellWriter = fn(&Entry<'_>, &mut Vec<u8>) -> bool;

type Cell = (Column, Option<CellWriter>);

const NOT_LOGGED: &str = "No record says it.";
const NO_GENERATION: &str = "Blocks have no generation.";
const NO_TAGS: &str = "Records have no tag bits.";
const NO_NESTED: &str = "Changes of structure are groups of records, not transactions.";
const NO_MARKS: &str = "There are no marked transactions.";
const NO_SAVEPOINTS: &str = "A savepoint has no record.";
const NO_LOCKS: &str = "Recovery takes no locks, so records name none.";
const NO_BULK: &str = "Pages of a bulk load are logged.";
const FEWER_IMAGES: &str = "A record has three images at most.";

const BIG: SqlType = SqlType::BigInt;
const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;

const fn nv(n: u16) -> SqlType {
    SqlType::nvarchar(n)
}

const fn vb(n: u16) -> SqlType {
    SqlType::varbinary(n)
}

const fn shown(column: Column, show: CellWriter) -> Cell {
    (column, Some(show))
}

const fn never(column: Column) -> Cell {
    (column, None)
}

#[rustfmt::skip]
pub(crate) const CELLS: [Cell; 130] = [
    shown(col("Current LSN", nv(23)), lsn),
    shown(col("Operation", nv(31)), operation),
    shown(col("Context", nv(31)), context),
    shown(col("Transaction ID", nv(14)), transaction),
    never(zero("LogBlockGeneration", BIG, NO_GENERATION)),
    never(fixed("Tag Bits", SqlType::Binary(2), Constant::Bytes(&[0, 0]), NO_TAGS)),
    shown(col("Log Record Fixed Length", SMALL), fixed_length),
    shown(col("Log Record Length", INT), length),
    shown(col("Previous LSN", nv(23)), previous),
    shown(col("Flag Bits", SqlType::Binary(2)), flags),
    shown(col("Log Reserve", INT), reserve),
    shown(maybe("AllocUnitId", BIG), unit_id),
    shown(maybe("AllocUnitName", nv(387)), unit_name),
    shown(maybe("Page ID", nv(14)), page),
    shown(maybe("Slot ID", INT), slot),
    never(null("Previous Page LSN", nv(23), NOT_LOGGED)),
    shown(maybe("PartitionId", BIG), partition),
    never(null("RowFlags", SMALL, NOT_LOGGED)),
    shown(maybe("Num Elements", SMALL), elements),
    shown(maybe("Offset in Row", SMALL), offset),
    shown(maybe("Modify Size", SMALL), modify_size),
    shown(maybe("Checkpoint Begin", nv(24)), checkpoint_begin),
    never(null("CHKPT Begin DB Version", SMALL, NOT_LOGGED)),
    never(null("Max XDESID", nv(14), NOT_LOGGED)),
    never(null("Num Transactions", SMALL, NOT_LOGGED)),
    shown(maybe("Checkpoint End", nv(24)), checkpoint_end),
    never(null("CHKPT End DB Version", SMALL, NOT_LOGGED)),
    shown(maybe("Minimum LSN", nv(23)), minimum_lsn),
    never(null("Dirty Pages", INT, NOT_LOGGED)),
    never(null("Oldest Replicated Begin LSN", nv(23), NO_REPLICATION)),
    never(null("Next Replicated End LSN", nv(23), NO_REPLICATION)),
    never(null("Last Distributed Backup End LSN", nv(23), NO_REPLICATION)),
    never(null("Last Distributed End LSN", nv(23), NO_REPLICATION)),
    never(null("Repl Min Hold LSN", nv(23), NO_REPLICATION)),
    never(null("Server UID", INT, NOT_LOGGED)),
    shown(maybe("SPID", INT), spid),
    never(null("Beginlog Status", SqlType::Binary(4), NOT_LOGGED)),
    never(null("Xact Type", INT, NOT_LOGGED)),
    shown(maybe("Begin Time", nv(24)), begin_time),
    shown(maybe("Transaction Name", nv(33)), name),
    never(null("Transaction SID", vb(85), NOT_LOGGED)),
    never(null("Parent Transaction ID", nv(14), NO_NESTED)),
    never(null("Oldest Active Transaction ID", nv(14), NOT_LOGGED)),
    shown(maybe("Xact ID", BIG), xact_id),
    never(null("Xact Node ID", INT, NOT_LOGGED)),
    never(null("Xact Node Local ID", INT, NOT_LOGGED)),
    never(null("End AGE", BIG, NOT_LOGGED)),
    shown(maybe("End Time", nv(24)), end_time),
    never(null("Transaction Begin", nv(23), NOT_LOGGED)),
    never(null("Replicated Records", BIG, NO_REPLICATION)),
    never(null("Oldest Active LSN", nv(23), NOT_LOGGED)),
    never(null("Server Name", nv(129), NO_MARKS)),
    never(null("Database Name", nv(129), NO_MARKS)),
    never(null("Mark Name", nv(33), NO_MARKS)),
    never(null("Repl Partition ID", INT, NO_REPLICATION)),
    never(null("Repl Epoch", INT, NO_REPLICATION)),
    never(null("Repl CSN", BIG, NO_REPLICATION)),
    never(null("Repl Flags", INT, NO_REPLICATION)),
    never(null("Repl Msg", vb(8000), NO_REPLICATION)),
    never(null("Repl Source Commit Time", nv(24), NO_REPLICATION)),
    never(null("Master XDESID", nv(14), NO_DTC)),
    never(null("Master DBID", INT, NO_DTC)),
    never(null("Preplog Begin LSN", nv(23), NO_DTC)),
    never(null("Prepare Time", nv(24), NO_DTC)),
    never(null("Virtual Clock", BIG, NOT_LOGGED)),
    never(null("Previous Savepoint", nv(23), NO_SAVEPOINTS)),
    never(null("Savepoint Name", nv(33), NO_SAVEPOINTS)),
    shown(maybe("Rowbits First Bit", INT), first_bit),
    shown(maybe("Rowbits Bit Count", INT), bit_count),
    shown(maybe("Rowbits Bit Value", SqlType::Binary(1)), bit_value),
    never(null("Number of Locks", SMALL, NO_LOCKS)),
    never(null("Lock Information", nv(256), NO_LOCKS)),
    never(null("LSN before writes", nv(23), NOT_LOGGED)),
    never(null("Pages Written", SMALL, NOT_LOGGED)),
    never(null("Command Type", INT, NO_REPLICATION)),
    never(null("Publication ID", INT, NO_REPLICATION)),
    never(null("Article ID", INT, NO_REPLICATION)),
    never(null("Partial Status", INT, NO_REPLICATION)),
    never(null("Command", nv(26), NO_REPLICATION)),
    never(null("Byte Offset", SMALL, NOT_LOGGED)),
    never(null("New Value", SqlType::Binary(1), NOT_LOGGED)),
    never(null("Old Value", SqlType::Binary(1), NOT_LOGGED)),
    never(null("New Split Page", nv(14), NOT_LOGGED)),
    never(null("Rows Deleted", SMALL, NOT_LOGGED)),
    never(null("Bytes Freed", SMALL, NOT_LOGGED)),
    never(null("CI Table Id", INT, NOT_LOGGED)),
    never(null("CI Index Id", SMALL, NOT_LOGGED)),
    never(null("NewAllocUnitId", BIG, NOT_LOGGED)),
    never(null("FileGroup ID", SMALL, NOT_LOGGED)),
    never(null("Meta Status", SqlType::Binary(4), NOT_LOGGED)),
    never(null("File Status", SqlType::Binary(4), NOT_LOGGED)),
    never(null("File ID", SMALL, NOT_LOGGED)),
    never(null("Physical Name", nv(261), NOT_LOGGED)),
    never(null("Logical Name", nv(129), NOT_LOGGED)),
    never(null("Format LSN", nv(23), NOT_LOGGED)),
    never(null("RowsetId", BIG, NOT_LOGGED)),
    never(null("TextPtr", SqlType::Binary(16), NOT_LOGGED)),
    never(null("Column Offset", INT, NOT_LOGGED)),
    never(null("Flags", INT, NOT_LOGGED)),
    never(null("Text Size", BIG, NOT_LOGGED)),
    never(null("Offset", BIG, NOT_LOGGED)),
    never(null("Old Size", BIG, NOT_LOGGED)),
    never(null("New Size", BIG, NOT_LOGGED)),
    shown(col("Description", nv(256)), description),
    never(null("Bulk allocated extent count", INT, NO_BULK)),
    never(null("Bulk RowsetId", BIG, NO_BULK)),
    never(null("Bulk AllocUnitId", BIG, NO_BULK)),
    never(null("Bulk allocation first IAM Page ID", nv(14), NO_BULK)),
    never(null("Bulk allocated extent ids", nv(961), NO_BULK)),
    never(null("VLFs added", nv(688), NOT_LOGGED)),
    never(null("InvalidateCache Id", INT, NOT_LOGGED)),
    never(null("InvalidateCache keys", nv(256), NOT_LOGGED)),
    never(null("CopyVerionInfo Source Page Id", nv(14), NO_VERSIONS)),
    never(null("CopyVerionInfo Source Page LSN", nv(23), NO_VERSIONS)),
    never(null("CopyVerionInfo Source Slot Id", INT, NO_VERSIONS)),
    never(null("CopyVerionInfo Source Slot Count", INT, NO_VERSIONS)),
    shown(maybe("RowLog Contents 0", vb(8000)), contents_0),
    shown(maybe("RowLog Contents 1", vb(8000)), contents_1),
    shown(maybe("RowLog Contents 2", vb(8000)), contents_2),
    never(null("RowLog Contents 3", vb(8000), FEWER_IMAGES)),
    never(null("RowLog Contents 4", vb(8000), FEWER_IMAGES)),
    never(null("RowLog Contents 5", vb(8000), FEWER_IMAGES)),
    never(null("Compression Log Type", SMALL, NO_COMPRESSION)),
    never(null("Compression Info", vb(8000), NO_COMPRESSION)),
    shown(maybe("PageFormat PageType", SMALL), page_type),
    never(null("PageFormat PageFlags", SMALL, NOT_LOGGED)),
    shown(maybe("PageFormat PageLevel", SMALL), page_level),
    never(null("PageFormat PageStat", SMALL, NOT_LOGGED)),
    never(null("PageFormat FormatOption", SMALL, NOT_LOGGED)),
    shown(col("Log Record", vb(8000)), log_record),
];

/// The columns without their writers.
pub(crate) const COLUMNS: [Column; CELLS.len()] = {
    let mut columns = [CELLS[0].0; CELLS.len()];
    let mut n = 0;
    while n < CELLS.len() {
        columns[n] = CELLS[n].0;
        n += 1;
    }
    columns
};

/// SQL Server's name of an unknown allocation unit.
const UNKNOWN_UNIT: &str = "Unknown Alloc Unit";

fn lsn(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_text(out, &e.record.lsn.as_hex())
}

fn operation(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_text(out, e.described.operation)
}

fn context(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_text(out, e.described.context)
}

fn transaction(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_text(out, &own::transaction_text(e.record.transaction()))
}

fn fixed_length(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    let fixed = e.record.bytes.len() - e.record.payload().len();
    put_small(out, Some(fixed as i16))
}

fn length(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_int(out, Some(e.record.bytes.len() as i32))
}

fn previous(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_text(out, &e.record.previous().as_hex())
}

/// The flags of the record: 1 the group continues, 2 a page, 4 a compensation, 8 without undo.
fn flags(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(&[0, e.record.flags().0]);
    true
}

fn reserve(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_int(out, i32::try_from(e.reserved).ok())
}

fn has_unit(e: &Entry<'_>) -> bool {
    e.record.page().is_some() && e.record.alloc_unit().0 != 0
}

fn unit_id(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_big(out, has_unit(e).then(|| e.record.alloc_unit().as_bigint()))
}

fn unit_name(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    has_unit(e) && put_text(out, e.unit.map_or(UNKNOWN_UNIT, |u| &u.name))
}

fn partition(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_big(out, e.unit.filter(|_| has_unit(e)).and_then(|u| u.partition))
}

fn page(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    let Some(id) = e.record.page() else { return false };
    put_text(out, &format!("{:04x}:{:08x}", id.file.0, id.page))
}

fn slot(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_int(out, e.record.page().map(|_| i32::from(e.record.slot())))
}

fn elements(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_small(out, e.described.elements.map(|n| n as i16))
}

fn offset(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_small(out, e.described.offset_in_row.map(|n| n as i16))
}

fn modify_size(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_small(out, e.described.modify_size.map(|n| n as i16))
}

fn checkpoint_begin(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    wal::checkpoint_began(&e.record).is_some_and(|at| put_text(out, &log_time(at)))
}

fn checkpoint_end(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    let at = CheckpointEnd::of(&e.record).and_then(|end| end.at);
    at.is_some_and(|at| put_text(out, &log_time(at)))
}

fn minimum_lsn(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    CheckpointEnd::of(&e.record).is_some_and(|end| put_text(out, &end.min_lsn.as_hex()))
}

fn spid(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_int(out, own::begin(&e.record).map(|b| i32::from(b.session.0)))
}

fn begin_time(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    own::begin(&e.record).is_some_and(|b| put_text(out, &log_time(b.at)))
}

fn name(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    own::begin(&e.record).is_some_and(|b| put_text(out, b.name))
}

fn xact_id(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_big(out, own::begin(&e.record).map(|b| b.id.0 as i64))
}

fn end_time(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    own::ended_at(&e.record).is_some_and(|at| put_text(out, &log_time(at)))
}

fn first_bit(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_int(out, e.described.bits.map(|(first, ..)| first as i32))
}

fn bit_count(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_int(out, e.described.bits.map(|(_, count, _)| count as i32))
}

fn bit_value(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    out.push(e.described.bits.is_some_and(|(.., on)| on).into());
    e.described.bits.is_some()
}

fn description(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    if e.record.flags().has(RecordFlags::COMPENSATION) {
        put_text(out, "COMPENSATION;");
    }
    put_text(out, &(e.explain)())
}

fn image(e: &Entry<'_>, n: usize, out: &mut Vec<u8>) -> bool {
    let image = e.described.contents[n];
    out.extend_from_slice(first_8000(image.unwrap_or_default()));
    image.is_some()
}

fn contents_0(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    image(e, 0, out)
}

fn contents_1(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    image(e, 1, out)
}

fn contents_2(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    image(e, 2, out)
}

fn page_type(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_small(out, e.described.format.map(|(kind, _)| i16::from(kind)))
}

fn page_level(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    put_small(out, e.described.format.map(|(_, level)| i16::from(level)))
}

fn log_record(e: &Entry<'_>, out: &mut Vec<u8>) -> bool {
    out.extend_from_slice(first_8000(e.record.bytes));
    true
}

/// The part that fits into a varbinary(8000).
fn first_8000(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(8000)]
}
