//! `sys.dm_tran_version_blockers`: who keeps former rows from being removed, since when, and how
//! much. Our own.
//!
//! A row is of a snapshot and a database of which something is kept for it: stored versions that
//! were what a row looked like at its moment, and ghosts that were, or lead to, such rows: on their
//! leaves, or in the graveyard, where they are in nobody's way. Of a
//! writer the versions are that he has superseded and not committed yet. What is kept for two
//! snapshots is in both rows; what is kept for a writer is in his alone, since it would stay if the
//! snapshots ended.

use super::versions::{Kept, Pins, elapsed_s, number_of};
use crate::cell::{big, datetime, int, text};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use base::{DatabaseId, SessionId, TransactionId, Xsn};
use catalog::view::SchemaId;
use os::clock::monotonic_ns;
use session::SessionRow;
use std::collections::BTreeMap;
use types::{SqlType, Value};
use work::VersionUser;

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 15] = [
    col("session_id", INT),
    maybe("transaction_id", BIG),
    col("transaction_sequence_num", BIG),
    maybe("snapshot_moment", BIG),
    col("blocker_type", SqlType::nvarchar(60)),
    col("is_snapshot", INT),
    maybe("since", SqlType::DateTime),
    col("elapsed_time_seconds", BIG),
    col("database_id", INT),
    col("pinned_version_count", BIG),
    col("pinned_version_bytes", BIG),
    col("pinned_ghost_count", BIG),
    col("pinned_graveyard_count", BIG),
    col("pinned_graveyard_bytes", BIG),
    maybe("last_statement_text", SqlType::NVARCHAR_MAX),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_version_blockers",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// Who keeps something.
struct Blocker {
    session: SessionId,
    transaction: Option<TransactionId>,
    xsn: Option<Xsn>,
    /// Of a snapshot.
    moment: Option<u64>,
    /// To the end of the transaction.
    whole: bool,
    since_ns: u64,
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let users: Vec<VersionUser> = system.engine.version_users();
    let pins = Pins::take(system)?;
    let sessions: BTreeMap<SessionId, SessionRow> =
        system.sessions.list().into_iter().map(|s| (s.session_id, s)).collect();
    let mut rows = Vec::new();
    for (database, snapshot, kept) in pins.of_snapshots() {
        let by = snapshot.by;
        let user = users.iter().find(|u| Some(u.transaction) == by.transaction);
        let blocker = Blocker {
            session: by.session,
            transaction: by.transaction,
            xsn: user.and_then(|u| u.xsn),
            moment: Some(snapshot.at.0),
            whole: by.whole,
            since_ns: by.since_ns,
        };
        rows.push(row(&blocker, database, kept, sessions.get(&by.session)));
    }
    for ((database, xsn), kept) in &pins.writers {
        // Who is not told has ended meanwhile.
        let Some(user) = users.iter().find(|u| u.xsn == Some(*xsn)) else { continue };
        let blocker = Blocker {
            session: user.session,
            transaction: Some(user.transaction),
            xsn: Some(*xsn),
            moment: None,
            whole: user.moment.is_some(),
            since_ns: user.since_ns,
        };
        rows.push(row(&blocker, *database, *kept, sessions.get(&user.session)));
    }
    Ok(rows)
}

fn row(by: &Blocker, database: DatabaseId, kept: Kept, session: Option<&SessionRow>) -> Vec<Value> {
    let kind = match (by.moment.is_some(), by.whole) {
        (false, _) => "WRITER",
        (true, true) => "SNAPSHOT TRANSACTION",
        (true, false) => "STATEMENT",
    };
    let ago = monotonic_ns().saturating_sub(by.since_ns);
    let since = os::clock::now().0.saturating_sub_unsigned(ago);
    let last = session.and_then(|s| s.input.text.as_deref());
    let count = |n: i64| big(n.unsigned_abs());
    vec![
        int(by.session.0),
        by.transaction.map_or(Value::Null, |t| big(t.0)),
        number_of(by.xsn),
        by.moment.map_or(Value::Null, big),
        text(kind),
        int(i32::from(by.whole)),
        datetime(since),
        big(elapsed_s(by.since_ns)),
        int(database.0),
        count(kept.versions),
        count(kept.bytes),
        count(kept.ghosts),
        count(kept.buried),
        count(kept.buried_bytes),
        last.map_or(Value::Null, text),
    ]
}
