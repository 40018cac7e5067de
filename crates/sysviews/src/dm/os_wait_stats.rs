//! `sys.dm_os_wait_stats`: completed waits by type since start or `DBCC SQLPERF(..., CLEAR)`.

use crate::view::{System, View, text};
use base::SqlResult;
use catalog::view::SchemaId;
use types::{SqlType, Value};

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_os_wait_stats",
    parameters: None,
    columns: &[
        ("wait_type", SqlType::nvarchar(60), false),
        ("waiting_tasks_count", SqlType::BigInt, false),
        ("wait_time_ms", SqlType::BigInt, false),
        ("max_wait_time_ms", SqlType::BigInt, false),
        ("signal_wait_time_ms", SqlType::BigInt, false),
    ],
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> SqlResult<Vec<Vec<Value>>> {
    let ms = |ns: u64| Value::BigInt((ns / 1_000_000) as i64);
    let row = |t: os::wait::WaitTotal| {
        vec![
            text(t.kind.name()),
            Value::BigInt(t.count as i64),
            ms(t.time_ns),
            ms(t.longest_ns),
            ms(t.signal_ns),
        ]
    };
    Ok(os::wait::totals().into_iter().map(row).collect())
}
