//! `sys.dm_os_waiting_tasks`: waiting requests, and the sessions that they wait for.

use super::{locks, session_list};
use crate::cell::{big_ms, text, text_or_null};
use crate::column::{Column, col, maybe, null};
use crate::reason::NO_SCHEDULERS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const ADDRESS: SqlType = SqlType::varbinary(8);

const COLUMNS: [Column; 10] = [
    null("waiting_task_address", ADDRESS, NO_SCHEDULERS),
    maybe("session_id", SqlType::SmallInt),
    null("exec_context_id", SqlType::Int, NO_SCHEDULERS),
    col("wait_duration_ms", SqlType::BigInt),
    maybe("wait_type", SqlType::nvarchar(60)),
    null("resource_address", ADDRESS, NO_SCHEDULERS),
    null("blocking_task_address", ADDRESS, NO_SCHEDULERS),
    maybe("blocking_session_id", SqlType::SmallInt),
    null("blocking_exec_context_id", SqlType::Int, NO_SCHEDULERS),
    maybe("resource_description", SqlType::nvarchar(3072)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_os_waiting_tasks",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let waits = system.engine.locks.waits();
    let mut rows = Vec::new();
    for s in system.sessions.list() {
        let Some((kind, ns)) = s.wait else { continue };
        let lock = waits.iter().find(|w| w.session == s.session_id);
        let resource = lock
            .map(|w| locks::wait_resource((&w.resource, w.behind), w.session, system.sessions))
            .unwrap_or_default();
        rows.push(vec![
            Value::SmallInt(s.session_id.0),
            big_ms(ns),
            text(kind.name()),
            Value::from(session_list::blocker(&s, lock).map(|b| b.0)),
            text_or_null(&resource),
        ]);
    }
    Ok(rows)
}
