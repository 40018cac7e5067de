//! The common parts of sessions, requests and connections: options, handles, ids.

use super::plan_list;
use crate::cell::{bit, text};
use crate::column::{Column, col, maybe};
use base::SessionId;
use lock::WaitRow;
use plancache::TextHandle;
use session::{SessionRow, Switches};
use types::datetime::DateFormat;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;

/// The session that blocks a session: the holder of a lock, or one that it waits for otherwise.
pub(crate) fn blocker(session: &SessionRow, lock: Option<&WaitRow>) -> Option<SessionId> {
    lock.and_then(|w| w.blocker).map(|b| b.session).or(session.blocked_by)
}

/// From `text_size` to `deadlock_priority`.
pub(crate) const OPTIONS: [Column; 15] = [
    col("text_size", SqlType::Int),
    maybe("language", SqlType::nvarchar(128)),
    maybe("date_format", SqlType::nvarchar(3)),
    col("date_first", SqlType::SmallInt),
    col("quoted_identifier", BIT),
    col("arithabort", BIT),
    col("ansi_null_dflt_on", BIT),
    col("ansi_defaults", BIT),
    col("ansi_warnings", BIT),
    col("ansi_padding", BIT),
    col("ansi_nulls", BIT),
    col("concat_null_yields_null", BIT),
    col("transaction_isolation_level", SqlType::SmallInt),
    col("lock_timeout", SqlType::Int),
    col("deadlock_priority", SqlType::Int),
];

/// The switches that `SET ANSI_DEFAULTS ON` turns on.
const ANSI_DEFAULTS: [Switches; 7] = [
    Switches::QUOTED_IDENTIFIER,
    Switches::ANSI_NULL_DFLT_ON,
    Switches::ANSI_WARNINGS,
    Switches::ANSI_PADDING,
    Switches::ANSI_NULLS,
    Switches::CURSOR_CLOSE_ON_COMMIT,
    Switches::IMPLICIT_TRANSACTIONS,
];

/// The written cells of [`OPTIONS`].
pub(crate) fn options(s: &SessionRow) -> Vec<Value> {
    let on = |switch: Switches| s.options & switch.bits() != 0;
    let switches = [Switches::QUOTED_IDENTIFIER, Switches::ARITHABORT, Switches::ANSI_NULL_DFLT_ON];
    // Counted from 1.
    let format = DateFormat::ALL.get(usize::from(s.date_format).wrapping_sub(1));
    let mut cells = vec![
        Value::Int(s.text_size),
        text(s.language),
        format.map_or(Value::Null, |f| text(f.name())),
        Value::SmallInt(i16::from(s.date_first)),
    ];
    cells.extend(switches.map(|w| bit(on(w))));
    cells.push(bit(ANSI_DEFAULTS.into_iter().all(on)));
    let switches = [
        Switches::ANSI_WARNINGS,
        Switches::ANSI_PADDING,
        Switches::ANSI_NULLS,
        Switches::CONCAT_NULL_YIELDS_NULL,
    ];
    cells.extend(switches.map(|w| bit(on(w))));
    cells.extend([
        Value::SmallInt(i16::from(s.isolation_level)),
        Value::Int(s.lock_timeout_ms),
        Value::Int(i32::from(s.deadlock_priority)),
    ]);
    cells
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    let step = |h: u64, &b: &u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The handle of the text that a session runs or ran last.
pub(crate) fn sql_handle(s: &SessionRow) -> Value {
    match (&s.program, &s.input.text) {
        (Some(program), _) => plan_list::text_handle(program),
        (None, Some(text)) => plan_list::binary(TextHandle::of_batch("", text).bytes()),
        (None, None) => Value::Null,
    }
}

/// The handle of the plans that a session runs.
pub(crate) fn plan_handle(s: &SessionRow) -> Value {
    s.program.as_deref().map_or(Value::Null, plan_list::plan_handle)
}

/// The id of a session's connection.
pub(crate) fn connection_id(s: &SessionRow) -> Value {
    let mut guid = [0; 16];
    guid[..8].copy_from_slice(&hash(&s.login_time.to_le_bytes()).to_le_bytes());
    guid[8..10].copy_from_slice(&s.session_id.0.to_le_bytes());
    Value::Guid(guid)
}

/// The endpoint of the session: TCP, or within the process.
pub(crate) fn endpoint(s: &SessionRow) -> i32 {
    if s.login.address.is_empty() { 2 } else { 4 }
}
