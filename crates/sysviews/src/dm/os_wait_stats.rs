//! `sys.dm_os_wait_stats`: completed waits by type since start or `DBCC SQLPERF(..., CLEAR)`.

use crate::cell::{big, big_ms, text};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 5] = [
    col("wait_type", SqlType::nvarchar(60)),
    col("waiting_tasks_count", BIG),
    col("wait_time_ms", BIG),
    col("max_wait_time_ms", BIG),
    col("signal_wait_time_ms", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_os_wait_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row = |t: os::wait::WaitTotal| {
        let (time, longest) = (big_ms(t.time_ns), big_ms(t.longest_ns));
        vec![text(t.kind.name()), big(t.count), time, longest, big_ms(t.signal_ns)]
    };
    Ok(os::wait::totals().into_iter().map(row).collect())
}
