//! `process`: a wait of the circle, with its session and the statements that run there.

use super::report::{Report, process_id};
use crate::cell::iso_ms;
use crate::dm::locks;
use lock::{DeadlockMember, OwnerKind};
use session::{Frame, SessionEntry, SessionRow};

/// The `lockTimeout` of a session that waits without limit.
const INFINITE: u32 = u32::MAX;

/// The `lastattention` of a session that was never interrupted.
const NEVER: &str = "1900-01-01T00:00:00.000";

/// Isolation levels as SET TRANSACTION ISOLATION LEVEL names them, from 1.
const LEVELS: [&str; 5] =
    ["read uncommitted", "read committed", "repeatable read", "serializable", "snapshot"];

/// Appends the process of a member.
pub(super) fn write(r: &mut Report<'_>, member: &DeadlockMember) {
    let session = r.sessions.find(member.session);
    let row = session.as_ref().map(|s| s.row());
    r.out.begin("process");
    wait(r, member, row.as_ref());
    if let Some(row) = &row {
        of_session(r, row);
        r.out.known("xactid", transaction(member, Some(row)));
        let database = row.database;
        r.out.attribute("currentdb", database);
        r.out.known("currentdbname", r.names.database(database));
        r.out.attribute("lockTimeout", u32::try_from(row.lock_timeout_ms).unwrap_or(INFINITE));
    }
    r.out.begin("executionStack");
    session.iter().for_each(|s| frames(r, s));
    r.out.end();
    r.out.begin("inputbuf");
    r.text(row.as_ref().and_then(|row| row.input.text.as_deref()).unwrap_or_default());
    r.out.end();
    r.out.end();
}

/// The number of the transaction that waits. For a lock of the session or a cursor it is the
/// session's open transaction.
fn transaction(member: &DeadlockMember, row: Option<&SessionRow>) -> Option<u64> {
    let number = match member.owner.kind() {
        OwnerKind::Transaction => member.owner.number(),
        OwnerKind::Cursor
        | OwnerKind::Session
        | OwnerKind::SharedTransactionWorkspace
        | OwnerKind::ExclusiveTransactionWorkspace => row.map_or(0, |r| r.transaction_id),
    };
    (number != 0).then_some(number)
}

/// The attributes from `id` to `priority`.
fn wait(r: &mut Report<'_>, member: &DeadlockMember, row: Option<&SessionRow>) {
    let waited = (&member.resource, member.behind);
    let resource = locks::wait_resource(waited, member.session, r.sessions);
    let waited_ms = r.now_ns.saturating_sub(member.since_ns) / 1_000_000;
    let transaction = transaction(member, row);
    // The name and begin of a single statement's transaction are not kept.
    let opened = r.active.iter().find(|a| Some(a.id.0) == transaction);
    let out = &mut r.out;
    out.attribute("id", process_id(member));
    out.attribute("taskpriority", member.priority);
    out.attribute("logused", member.log_bytes);
    out.attribute("waitresource", resource);
    out.attribute("waittime", waited_ms);
    out.known("ownerId", transaction);
    out.known("transactionname", opened.map(|a| &a.name));
    out.known("lasttranstarted", opened.map(|a| iso_ms(a.began_at)));
    out.attribute("lockMode", member.mode.name());
    // Other threads than the session's own have no lasting number.
    let own = row.filter(|_| !member.by_helper);
    out.known("kpid", own.map(|row| row.thread).filter(|thread| *thread != 0));
    out.attribute("status", "suspended");
    out.attribute("spid", member.session.0);
    // A session runs one batch at a time.
    out.attribute("sbid", 0);
    out.known("ecid", (!member.by_helper).then_some(0));
    out.attribute("priority", member.priority);
}

/// The attributes from `trancount` to `isolationlevel`.
fn of_session(r: &mut Report<'_>, row: &SessionRow) {
    let level = usize::from(row.isolation_level);
    let name = level.checked_sub(1).and_then(|n| LEVELS.get(n));
    let out = &mut r.out;
    out.attribute("trancount", row.open_transaction_count);
    out.attribute("lastbatchstarted", iso_ms(row.request_start_time));
    out.attribute("lastbatchcompleted", iso_ms(row.request_end_time));
    let attention = Some(row.attention_time).filter(|at| *at != 0);
    out.attribute("lastattention", attention.map_or_else(|| NEVER.to_owned(), iso_ms));
    out.attribute("clientapp", &row.login.application);
    out.attribute("hostname", &row.login.host);
    out.attribute("hostpid", row.login.process_id);
    out.attribute("loginname", &row.login.user);
    out.known("isolationlevel", name.map(|n| format!("{n} ({level})")));
}

/// The running statements, each called by the next one.
fn frames(r: &mut Report<'_>, session: &SessionEntry) {
    for frame in session.frames(r.text_room()) {
        let Frame { program, line, offsets: (start, end), text } = frame;
        let key = program.key();
        let module = (key.object.0 != 0).then(|| r.names.object(key.database, key.object));
        let handle: String =
            program.text_handle().bytes().iter().map(|b| format!("{b:02x}")).collect();
        r.out.begin("frame");
        match module {
            None => r.out.attribute("procname", "adhoc"),
            Some(name) => r.out.known("procname", name),
        }
        r.out.attribute("line", line);
        r.out.attribute("stmtstart", start);
        r.out.attribute("stmtend", end);
        r.out.attribute("sqlhandle", format!("0x{handle}"));
        r.text(&text);
        r.out.end();
    }
}
