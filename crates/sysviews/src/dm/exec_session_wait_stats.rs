//! `sys.dm_exec_session_wait_stats`: the waits of each session since its login, or since its
//! connection was reset. Waits of workers of a parallel plan count for their session.

use crate::cell::{big, big_ms, text};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 6] = [
    col("session_id", SqlType::SmallInt),
    col("wait_type", SqlType::nvarchar(60)),
    col("waiting_tasks_count", BIG),
    col("wait_time_ms", BIG),
    col("max_wait_time_ms", BIG),
    col("signal_wait_time_ms", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_session_wait_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for s in system.sessions.list() {
        rows.extend(s.waits.read().into_iter().filter(|t| t.count > 0).map(|t| {
            let (time, longest) = (big_ms(t.time_ns), big_ms(t.longest_ns));
            let (session, kind) = (Value::SmallInt(s.session_id.0), text(t.kind.name()));
            vec![session, kind, big(t.count), time, longest, big_ms(t.signal_ns)]
        }));
    }
    Ok(rows)
}
