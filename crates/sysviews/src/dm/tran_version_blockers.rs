//! `sys.dm_tran_version_blockers`, our own view: which transactions prevent the removal of former
//! rows, since when, and how many rows.
//!
//! A row is about a snapshot and a database in which something is kept for it: stored versions that
//! were current at its moment, and ghosts that were, or lead to, such rows. Ghosts are on their
//! leaves, or in the graveyard, where they are not in the way of other transactions. For a writer
//! the versions are those that it has superseded and not committed yet. For an aborted transaction
//! they are the rows before those that it wrote: they are current until the cleaner has put them
//! back. What is kept for two snapshots appears in both rows. What is kept for a writer appears
//! only in the writer's row, because it would remain if the snapshots ended.
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
use txn::{AbortedTransaction, Lifetime, OpenSnapshot, Reader};
use types::{SqlType, Value};
use work::VersionUser;

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 21] = [
    maybe("session_id", INT),
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
    col("pinned_persistent_count", BIG),
    col("pinned_persistent_bytes", BIG),
    col("pinned_persistent_page_count", BIG),
    col("reason", SqlType::nvarchar(60)),
    col("freed_by", SqlType::nvarchar(200)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_version_blockers",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// Why something is kept, in the words of SQL Server's columns.
#[derive(Clone, Copy)]
enum Reason {
    ActiveTransaction,
    AbortedTransaction,
    Snapshot,
    OpenTransaction,
}

impl Reason {
    fn text(self) -> &'static str {
        match self {
            Reason::ActiveTransaction => "ACTIVE TRANSACTION",
            Reason::AbortedTransaction => "ABORTED TRANSACTION",
            Reason::Snapshot => "SNAPSHOT",
            Reason::OpenTransaction => "OPEN TRANSACTION",
        }
    }
}

/// A transaction that prevents the removal of something.
pub(super) struct Blocker {
    kind: &'static str,
    reason: Reason,
    /// What would let it go.
    freed_by: String,
    /// None of an aborted transaction: it is nobody's any more.
    session: Option<SessionId>,
    transaction: Option<TransactionId>,
    xsn: Option<Xsn>,
    /// The moment of a snapshot.
    moment: Option<u64>,
    /// Whether it reads as of one moment to the end of the transaction.
    is_snapshot: bool,
    since_ns: u64,
}

/// Who may prevent the removal of versions, as it was at one moment.
pub(super) struct Blockers {
    users: BTreeMap<TransactionId, VersionUser>,
    /// By their moments.
    snapshots: Vec<OpenSnapshot>,
    aborted: BTreeMap<(DatabaseId, Xsn), AbortedTransaction>,
    /// Who writes under numbers that versions undo: a transaction may have several.
    numbers: BTreeMap<(DatabaseId, Xsn), TransactionId>,
}

impl Blockers {
    pub(super) fn of(system: &System<'_>) -> Blockers {
        let (mut aborted, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        for database in system.databases.all() {
            let open = database.home().open_versions().into_iter();
            numbers.extend(open.map(|a| ((database.id(), a.xsn), a.id)));
            let listed = database.home().aborted().list().into_iter();
            aborted.extend(listed.map(|a| ((database.id(), a.xsn), a)));
        }
        let users = system.engine.numbered_version_users().into_iter();
        Blockers {
            users: users.map(|u| (u.transaction, u)).collect(),
            snapshots: system.engine.transactions.snapshots.open(),
            aborted,
            numbers,
        }
    }

    /// The transaction that has a number: aborted, or at work. One that is not listed has ended
    /// meanwhile.
    pub(super) fn writer(&self, database: DatabaseId, xsn: Xsn) -> Option<Blocker> {
        if let Some(aborted) = self.aborted.get(&(database, xsn)) {
            return Some(Blocker::aborted(aborted));
        }
        let by_number = self.numbers.get(&(database, xsn)).and_then(|id| self.users.get(id));
        let user = by_number.or_else(|| self.users.values().find(|u| u.xsn == Some(xsn)))?;
        let by = Reader {
            session: user.session,
            transaction: Some(user.transaction),
            whole: true,
            since_ns: user.since_ns,
        };
        Some(Blocker::of(("WRITER", Reason::ActiveTransaction), by, Some(user)))
    }

    fn snapshot(&self, snapshot: &OpenSnapshot) -> Blocker {
        let by = snapshot.by;
        let kind = if by.whole { "SNAPSHOT TRANSACTION" } else { "STATEMENT" };
        let user = by.transaction.and_then(|t| self.users.get(&t));
        let moment = Some(snapshot.at.0);
        let blocker = Blocker::of((kind, Reason::Snapshot), by, user);
        Blocker { moment, is_snapshot: by.whole, ..blocker }
    }

    /// The oldest snapshot within a lifetime.
    pub(super) fn oldest_snapshot(&self, lifetime: Lifetime) -> Option<Blocker> {
        let within = |s: &&OpenSnapshot| lifetime.b <= s.at && s.at < lifetime.e;
        self.snapshots.iter().find(within).map(|snapshot| self.snapshot(snapshot))
    }
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let blockers = Blockers::of(system);
    let pins = Pins::take(system)?;
    let sessions: BTreeMap<SessionId, SessionRow> =
        system.sessions.list().into_iter().map(|s| (s.session_id, s)).collect();
    let mut rows = Vec::new();
    let mut tell = |by: Blocker, database, kept| {
        let session = by.session.and_then(|session| sessions.get(&session));
        rows.push(row(&by, database, kept, session));
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
        tell(blockers.snapshot(&snapshot), database, kept);
    }
    for ((database, transaction), (user, kept)) in transactions {
        let known = transaction.and_then(|t| blockers.users.get(&t));
        let kind = ("TRANSACTION", Reason::OpenTransaction);
        tell(Blocker::of(kind, user.by, known), database, kept);
    }
    for ((database, xsn), kept) in &pins.writers {
        if let Some(by) = blockers.writer(*database, *xsn) {
            tell(by, *database, *kept);
        }
    }
    Ok(rows)
}

impl Blocker {
    pub(super) fn reason(&self) -> &'static str {
        self.reason.text()
    }

    pub(super) fn freed_by(&self) -> &str {
        &self.freed_by
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        self.session
    }

    pub(super) fn transaction(&self) -> Option<TransactionId> {
        self.transaction
    }

    /// A blocker without a moment, from its use of versions.
    fn of(
        (kind, reason): (&'static str, Reason),
        by: Reader,
        user: Option<&VersionUser>,
    ) -> Blocker {
        let session = by.session;
        let freed_by = match reason {
            _ if !session.is_user() => "The end of work of the server's own".to_owned(),
            Reason::Snapshot if !by.whole => {
                format!("The end of the statement of session {session}; KILL {session} ends it")
            }
            _ => format!("COMMIT or ROLLBACK by session {session}; KILL {session} rolls it back"),
        };
        Blocker {
            kind,
            reason,
            freed_by,
            session: Some(session),
            transaction: by.transaction,
            xsn: user.and_then(|u| u.xsn),
            moment: None,
            is_snapshot: user.is_some_and(|u| u.moment.is_some()),
            since_ns: by.since_ns,
        }
    }

    /// A transaction that was aborted while its records stay on their pages.
    fn aborted(by: &AbortedTransaction) -> Blocker {
        let ago = os::clock::now().0.saturating_sub(by.began_at);
        Blocker {
            kind: "ABORTED",
            reason: Reason::AbortedTransaction,
            freed_by: "The cleaner's sweep; sp_persistent_version_cleanup waits for it".to_owned(),
            session: None,
            transaction: Some(by.id),
            xsn: Some(by.xsn),
            moment: None,
            is_snapshot: false,
            since_ns: monotonic_ns().saturating_sub(ago.max(0).unsigned_abs()),
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
        by.session.map_or(Value::Null, |session| int(session.0)),
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
        count(kept.own),
        count(kept.own_bytes),
        count(kept.pages),
        text(by.reason.text()),
        text(&by.freed_by),
    ]
}
