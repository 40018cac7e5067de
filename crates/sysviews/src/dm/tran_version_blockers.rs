//! `sys.dm_tran_version_blockers`, our own view: which transactions prevent the removal of former
//! rows, since when, and how many rows.
//!
//! A row is about a snapshot and a database in which something is kept for it: stored versions that
//! were current at its moment, and ghosts that were, or lead to, such rows. Ghosts are on their
//! leaves, or in the graveyard, where they are not in the way of other transactions. For a writer
//! the versions are those that it has superseded and not committed yet. What is kept for two
//! snapshots appears in both rows. What is kept for a writer appears only in the writer's row,
//! because it would remain if the snapshots ended.
//!
//! Under SQL Server's rule a ghost waits for every reader as of a moment before its deleter's
//! commit. Under the rule TRANSACTION it also waits for open transactions that had used versions
//! before that commit, even if they never read again. Such a transaction has a row of its own,
//! unless it has one as a snapshot that lasts to its end.

use super::versions::{Pins, VersionCounts, elapsed_s, number_of};
use crate::cell::{big, datetime, int, text};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use base::{DatabaseId, SessionId, TransactionId, Xsn};
use catalog::view::SchemaId;
use os::clock::monotonic_ns;
use session::SessionRow;
use std::collections::BTreeMap;
use txn::{OpenSnapshot, Reader};
use types::{SqlType, Value};
use work::VersionUser;

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 16] = [
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
    col("pinned_ghost_bytes", BIG),
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

/// A transaction that prevents the removal of something.
struct Blocker {
    kind: &'static str,
    session: SessionId,
    transaction: Option<TransactionId>,
    xsn: Option<Xsn>,
    /// The moment of a snapshot.
    moment: Option<u64>,
    /// Whether it reads as of one moment to the end of the transaction.
    is_snapshot: bool,
    since_ns: u64,
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let users: BTreeMap<TransactionId, VersionUser> =
        system.engine.numbered_version_users().into_iter().map(|u| (u.transaction, u)).collect();
    let pins = Pins::take(system)?;
    let sessions: BTreeMap<SessionId, SessionRow> =
        system.sessions.list().into_iter().map(|s| (s.session_id, s)).collect();
    let mut rows = Vec::new();
    let mut tell = |by: Blocker, database, kept| {
        rows.push(row(&by, database, kept, sessions.get(&by.session)));
    };
    let mut transactions: BTreeMap<_, (OpenSnapshot, VersionCounts)> = pins
        .transactions
        .told()
        .into_iter()
        .map(|(d, by, k)| ((d, by.by.transaction), (by, k)))
        .collect();
    for (database, snapshot, mut kept) in pins.snapshots.told() {
        let by = snapshot.by;
        if by.whole
            && let Some((_, as_user)) = transactions.remove(&(database, by.transaction))
        {
            // One of the two began before the other, and keeps everything that the other keeps.
            kept.ghosts = kept.ghosts.max(as_user.ghosts);
            kept.ghost_bytes = kept.ghost_bytes.max(as_user.ghost_bytes);
        }
        let kind = if by.whole { "SNAPSHOT TRANSACTION" } else { "STATEMENT" };
        let user = by.transaction.and_then(|t| users.get(&t));
        let moment = Some(snapshot.at.0);
        tell(
            Blocker { moment, is_snapshot: by.whole, ..Blocker::of(kind, by, user) },
            database,
            kept,
        );
    }
    for ((database, transaction), (user, kept)) in transactions {
        let known = transaction.and_then(|t| users.get(&t));
        tell(Blocker::of("TRANSACTION", user.by, known), database, kept);
    }
    for ((database, xsn), kept) in &pins.writers {
        // A transaction that is not listed has ended meanwhile.
        let Some(user) = users.values().find(|u| u.xsn == Some(*xsn)) else { continue };
        let by = Reader {
            session: user.session,
            transaction: Some(user.transaction),
            whole: true,
            since_ns: user.since_ns,
        };
        tell(Blocker::of("WRITER", by, Some(user)), *database, *kept);
    }
    Ok(rows)
}

impl Blocker {
    /// A blocker without a moment, from its use of versions.
    fn of(kind: &'static str, by: Reader, user: Option<&VersionUser>) -> Blocker {
        Blocker {
            kind,
            session: by.session,
            transaction: by.transaction,
            xsn: user.and_then(|u| u.xsn),
            moment: None,
            is_snapshot: user.is_some_and(|u| u.moment.is_some()),
            since_ns: by.since_ns,
        }
    }
}

fn row(
    by: &Blocker,
    database: DatabaseId,
    kept: VersionCounts,
    session: Option<&SessionRow>,
) -> Vec<Value> {
    let ago = monotonic_ns().saturating_sub(by.since_ns);
    let since = os::clock::now().0.saturating_sub_unsigned(ago);
    let last = session.and_then(|s| s.input.text.as_deref());
    let count = |n: i64| big(n.unsigned_abs());
    vec![
        int(by.session.0),
        by.transaction.map_or(Value::Null, |t| big(t.0)),
        number_of(by.xsn),
        by.moment.map_or(Value::Null, big),
        text(by.kind),
        int(i32::from(by.is_snapshot)),
        datetime(since),
        big(elapsed_s(by.since_ns)),
        int(database.0),
        count(kept.versions),
        count(kept.bytes),
        count(kept.ghosts),
        count(kept.ghost_bytes),
        count(kept.buried),
        count(kept.buried_bytes),
        last.map_or(Value::Null, text),
    ]
}
