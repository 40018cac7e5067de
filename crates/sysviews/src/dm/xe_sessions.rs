//! `sys.dm_xe_sessions`: the event sessions; there is one.

use crate::cell::{big, datetime};
use crate::column::{Column, Constant, col, fixed, null, word, zero};
use crate::reason::NO_EVENT_SESSIONS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;
const WORDS: SqlType = SqlType::nvarchar(256);
const NO_BUFFERS: &str = "Events go to their target at once: there are no buffers before it.";

/// The address by which other views name the session.
pub(super) const ADDRESS: Constant = Constant::Bytes(&[0, 0, 0, 0, 0, 0, 0, 1]);

const COLUMNS: [Column; 22] = [
    fixed("address", SqlType::varbinary(8), ADDRESS, NO_EVENT_SESSIONS),
    word("name", WORDS, "system_health", NO_EVENT_SESSIONS),
    zero("pending_buffers", INT, NO_BUFFERS),
    zero("total_regular_buffers", INT, NO_BUFFERS),
    zero("regular_buffer_size", BIG, NO_BUFFERS),
    zero("total_large_buffers", INT, NO_BUFFERS),
    zero("large_buffer_size", BIG, NO_BUFFERS),
    zero("total_buffer_size", BIG, NO_BUFFERS),
    null("buffer_policy_flags", INT, NO_BUFFERS),
    null("buffer_policy_desc", WORDS, NO_BUFFERS),
    null("flags", INT, "Sessions have no options yet."),
    null("flag_desc", WORDS, "Sessions have no options yet."),
    zero("dropped_event_count", INT, NO_BUFFERS),
    zero("dropped_buffer_count", INT, NO_BUFFERS),
    zero("blocked_event_fire_time", INT, NO_BUFFERS),
    col("create_time", SqlType::DateTime),
    zero("largest_event_dropped_size", INT, NO_BUFFERS),
    word("session_source", WORDS, "server", NO_EVENT_SESSIONS),
    zero("buffer_processed_count", BIG, NO_BUFFERS),
    zero("buffer_full_count", BIG, NO_BUFFERS),
    zero("total_bytes_generated", BIG, "Counted for targets that are files alone."),
    col("total_target_memory", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_xe_sessions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let told = system.events.told();
    Ok(vec![vec![datetime(told.created_at), big(told.ring_bytes as u64)]])
}
