//! `sys.dm_os_latch_stats`: waits for latches by class, since the start or `DBCC SQLPERF(...,
//! CLEAR)`.

use crate::cell::{big, big_ms, text};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 4] = [
    col("latch_class", SqlType::nvarchar(60)),
    col("waiting_requests_count", BIG),
    col("wait_time_ms", BIG),
    col("max_wait_time_ms", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_os_latch_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row = |t: os::latch::LatchTotal| {
        let (time, longest) = (big_ms(t.time_ns), big_ms(t.longest_ns));
        vec![text(t.class.name()), big(t.requests), time, longest]
    };
    Ok(os::latch::totals().into_iter().map(row).collect())
}
