//! `sys.dm_xe_session_targets`: the targets that keep events, with the events.

use super::xe_sessions::ADDRESS;
use crate::cell::{big, big_ms, text};
use crate::column::{Column, Constant, col, fixed, word};
use crate::reason::NO_EVENT_SESSIONS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;
/// The bytes of 60AA9FBF-673B-4553-B7ED-71DCA7F5E972 in their stored order.
const PACKAGE0: &[u8] = &[
    0xBF, 0x9F, 0xAA, 0x60, 0x3B, 0x67, 0x53, 0x45, 0xB7, 0xED, 0x71, 0xDC, 0xA7, 0xF5, 0xE9, 0x72,
];
const OF_PACKAGE0: &str = "That of SQL Server's package0, which has the targets.";

const COLUMNS: [Column; 7] = [
    fixed("event_session_address", SqlType::varbinary(8), ADDRESS, NO_EVENT_SESSIONS),
    word("target_name", SqlType::nvarchar(60), "ring_buffer", NO_EVENT_SESSIONS),
    fixed("target_package_guid", SqlType::UniqueIdentifier, Constant::Bytes(PACKAGE0), OF_PACKAGE0),
    col("execution_count", BIG),
    col("execution_duration_ms", BIG),
    col("target_data", SqlType::NVARCHAR_MAX),
    col("bytes_written", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_xe_session_targets",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let told = system.events.told();
    Ok(vec![vec![
        big(told.processed),
        big_ms(told.busy_ns),
        text(&told.target_data),
        big(told.written_bytes),
    ]])
}
