//! `sys.dm_os_spinlock_stats`: where threads spin for some microseconds before they park, since the
//! start or `DBCC SQLPERF(..., CLEAR)`.

use crate::cell::{big, text};
use crate::column::{Column, col, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 6] = [
    col("name", SqlType::nvarchar(256)),
    col("collisions", BIG),
    col("spins", BIG),
    col("spins_per_collision", SqlType::Real),
    zero(
        "sleep_time",
        BIG,
        "Nobody sleeps in a spin: who gives up looking parks, which is a wait.",
    ),
    col("backoffs", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_os_spinlock_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row = |t: os::spin::SpinTotal| {
        let each = if t.collisions == 0 { 0.0 } else { t.spins as f64 / t.collisions as f64 };
        let backoffs = Value::Int(i32::try_from(t.backoffs).unwrap_or(i32::MAX));
        vec![
            text(t.kind.name()),
            big(t.collisions),
            big(t.spins),
            Value::Real(each as f32),
            backoffs,
        ]
    };
    Ok(os::spin::totals().into_iter().map(row).collect())
}
