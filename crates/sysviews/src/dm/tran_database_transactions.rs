//! `sys.dm_tran_database_transactions`: open transactions in the databases that they write, and in
//! those whose tables they have locked without writing.

use crate::cell::{big, datetime, int, whole};
use crate::column::{Column, col, maybe, null, zero};
use crate::reason::NO_REPLICATION;
use crate::view::{Rows, System, View};
use base::{Lsn, TransactionId};
use catalog::view::SchemaId;
use std::collections::BTreeSet;
use txn::Open;
use types::{SqlType, Value};
use work::{OpenPart, PartState};

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;
const LSN: SqlType = SqlType::decimal(25, 0);
const NO_MEANING: &str = "Of no documented meaning.";
const FOR_NOBODY: &str = "Changes of structure are logged for no transaction.";
/// SQL Server's largest LSN: nothing was rolled back.
const MAX_LSN: i128 = 4_294_967_295_429_496_729_565_535;

const COLUMNS: [Column; 19] = [
    col("transaction_id", BIG),
    col("database_id", INT),
    maybe("database_transaction_begin_time", SqlType::DateTime),
    col("database_transaction_type", INT),
    col("database_transaction_state", INT),
    zero("database_transaction_status", INT, NO_MEANING),
    zero("database_transaction_status2", INT, NO_MEANING),
    col("database_transaction_log_record_count", BIG),
    zero("database_transaction_replicate_record_count", INT, NO_REPLICATION),
    col("database_transaction_log_bytes_used", BIG),
    col("database_transaction_log_bytes_reserved", BIG),
    null("database_transaction_log_bytes_used_system", INT, FOR_NOBODY),
    null("database_transaction_log_bytes_reserved_system", INT, FOR_NOBODY),
    maybe("database_transaction_begin_lsn", LSN),
    maybe("database_transaction_last_lsn", LSN),
    maybe("database_transaction_most_recent_savepoint_lsn", LSN),
    maybe("database_transaction_commit_lsn", LSN),
    maybe("database_transaction_last_rollback_lsn", LSN),
    maybe("database_transaction_next_undo_lsn", LSN),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_database_transactions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let before = system.engine.transactions.open();
    let mut rows = Vec::new();
    let mut writers = BTreeSet::new();
    for database in system.databases.all() {
        let (id, parts) = (database.id(), database.home().open_parts());
        writers.extend(parts.iter().map(|part| (part.id, id)));
        rows.extend(parts.iter().map(|part| row(id.0, part)));
    }
    // A transaction that was open before and is open now had logged nothing where it had no part.
    let after = system.engine.transactions.open();
    let open: BTreeSet<TransactionId> = after.iter().map(|o| o.id).collect();
    for reader in before.iter().filter(|o| open.contains(&o.id)) {
        let only_read = reader.databases.iter().filter(|d| !writers.contains(&(reader.id, **d)));
        rows.extend(only_read.map(|database| row(database.0, &unlogged(reader))));
    }
    Ok(rows)
}

/// A part that has logged nothing.
fn unlogged(of: &Open) -> OpenPart {
    OpenPart {
        id: of.id,
        session: of.session,
        state: PartState::Begun,
        began_at: None,
        records: 0,
        log_bytes: 0,
        reserved_bytes: 0,
        begin: None,
        last: None,
        savepoint: None,
        commit: None,
        rolled_back_to: None,
        next_undo: None,
    }
}

fn row(database: u16, part: &OpenPart) -> Vec<Value> {
    let lsn = |lsn: Option<Lsn>| lsn.map_or(Value::Null, |l| whole(l.as_numeric()));
    let undo = part.next_undo.filter(|_| {
        !matches!(part.state, PartState::Committed | PartState::Committing | PartState::RolledBack)
    });
    vec![
        big(part.id.0),
        int(database),
        datetime(part.began_at.filter(|_| part.begin.is_some()).unwrap_or(0)),
        // A user's transaction may write, even if it has not yet; the engine's is a system
        // transaction.
        int(if part.session.is_user() { 1 } else { 3 }),
        int(part.state as i32),
        big(part.records),
        big(part.log_bytes),
        big(part.reserved_bytes),
        lsn(part.begin),
        lsn(part.last),
        lsn(part.savepoint),
        lsn(part.commit),
        part.rolled_back_to.map_or_else(|| whole(MAX_LSN), |l| whole(l.as_numeric())),
        lsn(undo),
    ]
}
