//! `sys.time_zone_info`: the zones that AT TIME ZONE knows, and their offsets now.

use crate::cell::{bit, text};
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::datetime::{DAY_TICKS, Moment};
use types::zone::TimeZone;
use types::{SqlType, Value};

const COLUMNS: [Column; 3] = [
    col("name", SqlType::SYSNAME),
    col("current_utc_offset", SqlType::nvarchar(6)),
    col("is_currently_dst", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "time_zone_info",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// 1970-01-01 in 100 ns from 0001-01-01.
const EPOCH_TICKS: i64 = 719_162 * DAY_TICKS as i64;

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let now = Moment::from_total(os::clock::now().0.div_euclid(100) + EPOCH_TICKS);
    let row = |zone: TimeZone| {
        let (offset, daylight) = zone.state_at(now?);
        let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
        let shown = format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        Some(vec![text(zone.name()), text(&shown), bit(daylight)])
    };
    Ok(TimeZone::all().filter_map(row).collect())
}
