//! `sysprocesses`: every session, with its request and its wait.

use crate::cell::{big, datetime, int, int_ms, text};
use crate::column::{Column, Constant, col, fixed, join, null, number, word, zero};
use crate::dm::{locks, session_list};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use lock::WaitRow;
use plancache::HANDLE_HEAD_BYTES;
use session::{Registry, SessionRow};
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const NAME: SqlType = SqlType::NChar(128);
const NO_DOMAIN: &str = "There is no Windows authentication.";
/// sa's SID, with the zeros of a binary(86).
const SID: [u8; 86] = {
    let mut sid = [0; 86];
    sid[0] = 1;
    sid
};

const FRONT: [Column; 17] = [
    col("spid", SMALL),
    zero("kpid", SMALL, NO_SCHEDULERS),
    col("blocked", SMALL),
    fixed("waittype", SqlType::Binary(2), Constant::Bytes(&[0, 0]), "Reserved in SQL Server."),
    col("waittime", SqlType::BigInt),
    col("lastwaittype", SqlType::NChar(32)),
    col("waitresource", SqlType::NChar(256)),
    col("dbid", SMALL),
    number("uid", SMALL, 1, "Everybody is dbo yet."),
    col("cpu", INT),
    col("physical_io", SqlType::BigInt),
    null("memusage", INT, NOT_PUBLISHED),
    col("login_time", SqlType::DateTime),
    col("last_batch", SqlType::DateTime),
    zero("ecid", SMALL, "A session is listed once, with all threads of its request."),
    col("open_tran", SMALL),
    col("status", SqlType::NChar(30)),
];

const BACK: [Column; 15] = [
    fixed("sid", SqlType::Binary(86), Constant::Bytes(&SID), "sa is the only login yet."),
    col("hostname", NAME),
    col("program_name", NAME),
    col("hostprocess", SqlType::NChar(10)),
    col("cmd", SqlType::NChar(26)),
    word("nt_domain", NAME, "", NO_DOMAIN),
    word("nt_username", NAME, "", NO_DOMAIN),
    word("net_address", SqlType::NChar(12), "", "Addresses of adapters are not asked for."),
    col("net_library", SqlType::NChar(12)),
    col("loginame", NAME),
    null("context_info", SqlType::Binary(128), NOT_PUBLISHED),
    col("sql_handle", SqlType::Binary(20)),
    col("stmt_start", INT),
    col("stmt_end", INT),
    zero("request_id", INT, "A session runs one request at a time."),
];

const COLUMNS: [Column; 32] = join(FRONT, BACK);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysprocesses", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let waits = system.engine.locks.waits();
    let sessions = system.sessions;
    let row = |s: &SessionRow| row(sessions, s, waits.iter().find(|w| w.session == s.session_id));
    Ok(system.sessions.list().iter().map(row).collect())
}

/// A text cut to the width of its column.
fn cut(text: &str, characters: usize) -> Value {
    let units: Vec<u16> = text.encode_utf16().take(characters).collect();
    Value::nvarchar(&String::from_utf16_lossy(&units))
}

/// The first bytes of the handle of the batch that a session runs or ran last; they identify the
/// batch.
fn handle(s: &SessionRow) -> Value {
    match session_list::sql_handle(s) {
        Value::Binary(bytes) => Value::varbinary(&bytes[..bytes.len().min(HANDLE_HEAD_BYTES)]),
        _ => Value::varbinary(&[0; HANDLE_HEAD_BYTES]),
    }
}

fn row(sessions: &Registry, s: &SessionRow, lock: Option<&WaitRow>) -> Vec<Value> {
    let (kind, waited) = s.wait.map_or(("", 0), |(kind, ns)| (kind.name(), ns));
    let last = if kind.is_empty() { s.last_wait.map_or("", |w| w.name()) } else { kind };
    let status = match (s.running, kind) {
        (false, _) => "sleeping",
        (true, "") => "running",
        (true, _) => "suspended",
    };
    let (start, end) = match s.running {
        true => (s.statement_start_offset, s.statement_end_offset),
        false => (0, 0),
    };
    let waited_for =
        |w: &WaitRow| locks::wait_resource((&w.resource, w.behind), w.session, sessions);
    let resource = lock.map(waited_for).unwrap_or_default();
    let login = &s.login;
    vec![
        Value::SmallInt(s.session_id.0),
        Value::SmallInt(session_list::blocker(s, lock).map_or(0, |b| b.0)),
        big(waited / 1_000_000),
        cut(last, 32),
        cut(&resource, 256),
        Value::SmallInt(s.database.0 as i16),
        int_ms(s.cpu_ns),
        big(s.reads + s.writes),
        datetime(s.login_time),
        datetime(s.request_start_time),
        Value::SmallInt(i16::try_from(s.open_transaction_count).unwrap_or(i16::MAX)),
        text(status),
        cut(&login.host, 128),
        cut(&login.application, 128),
        cut(&login.process_id.to_string(), 10),
        cut(if s.running { s.command } else { "AWAITING COMMAND" }, 26),
        text(if login.address.is_empty() { "LPC" } else { "TCP/IP" }),
        cut(&login.user, 128),
        handle(s),
        int(start),
        int(end),
    ]
}
