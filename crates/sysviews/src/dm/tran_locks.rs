//! `sys.dm_tran_locks`: every granted lock and every lock request that waits.

use super::locks::{description_in, subtype};
use crate::cell::{eight_bytes, int, text};
use crate::column::{Column, col, maybe, word, zero};
use crate::reason::NO_DTC;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use lock::{LockRow, OwnerKind};
use session::Registry;
use types::{SqlType, Value};

const SIXTY: SqlType = SqlType::nvarchar(60);
const INT: SqlType = SqlType::Int;
/// Further locks are not shown.
const ROWS_MAX: usize = 4_000_000;

const COLUMNS: [Column; 19] = [
    col("resource_type", SIXTY),
    col("resource_subtype", SIXTY),
    col("resource_database_id", INT),
    col("resource_description", SqlType::nvarchar(256)),
    maybe("resource_associated_entity_id", SqlType::BigInt),
    zero("resource_lock_partition", INT, "Locks are not partitioned."),
    col("request_mode", SIXTY),
    word("request_type", SIXTY, "LOCK", "Everything here is a lock."),
    col("request_status", SIXTY),
    col("request_reference_count", SqlType::SmallInt),
    col("request_lifetime", INT),
    col("request_session_id", INT),
    zero(
        "request_exec_context_id",
        INT,
        "Locks are a transaction's, whichever of its threads asked.",
    ),
    zero("request_request_id", INT, "A session runs one request at a time."),
    col("request_owner_type", SIXTY),
    maybe("request_owner_id", SqlType::BigInt),
    zero("request_owner_guid", SqlType::UniqueIdentifier, NO_DTC),
    word("request_owner_lockspace_id", SqlType::nvarchar(32), "", "There is one lock space."),
    col("lock_owner_address", SqlType::varbinary(8)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_locks",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let locks = system.engine.locks.held_and_waiting(ROWS_MAX);
    Ok(locks.iter().map(|l| row(l, system.sessions)).collect())
}

fn row(l: &LockRow, sessions: &Registry) -> Vec<Value> {
    let kind = l.owner.kind();
    let owner = match kind {
        OwnerKind::Transaction | OwnerKind::Cursor => l.owner.number() as i64,
        OwnerKind::Session
        | OwnerKind::SharedTransactionWorkspace
        | OwnerKind::ExclusiveTransactionWorkspace => 0,
    };
    let long = matches!(l.duration, lock::Duration::Long);
    vec![
        text(l.resource.kind().name()),
        text(subtype(&l.resource)),
        int(l.resource.database_id().0),
        text(&description_in((&l.resource, l.behind), l.session, sessions)),
        Value::BigInt(l.resource.associated_entity_id()),
        text(l.mode.name()),
        text(l.status.name()),
        Value::SmallInt(i16::try_from(l.references).unwrap_or(i16::MAX)),
        // SQL Server's number for a lock that is held until the transaction ends.
        int(if long { 33_554_432 } else { 0 }),
        int(l.session.0),
        text(kind.name()),
        Value::BigInt(owner),
        eight_bytes((kind as u64) << 56 | l.owner.number()),
    ]
}
