//! `sys.dm_os_performance_counters`: counts since the start, and present amounts.
//!
//! Only real counters are listed. The head of docs/views.md says where a counter differs from SQL
//! Server's documentation.

use super::counters::{
    Counter, access_methods, buffer_manager, databases, locks, memory, plans, sessions,
    transactions,
};
use crate::cell::text;
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::NChar(128);

const COLUMNS: [Column; 5] = [
    col("object_name", NAME),
    col("counter_name", NAME),
    col("instance_name", NAME),
    col("cntr_value", SqlType::BigInt),
    col("cntr_type", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_os_performance_counters",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let objects: [(&str, Vec<Counter>); 9] = [
        ("Access Methods", access_methods(system)),
        ("Buffer Manager", buffer_manager(system)),
        ("Databases", databases(system)),
        ("General Statistics", sessions::general(system)),
        ("Locks", locks(system)),
        ("Memory Manager", memory(system)),
        ("Plan Cache", plans::cache(system)),
        ("SQL Statistics", plans::statistics(system)),
        ("Transactions", transactions(system)?),
    ];
    let mut rows = Vec::new();
    for (object, counters) in objects {
        // As a default instance spells it.
        let object = format!("SQLServer:{object}");
        rows.extend(counters.iter().map(|c| row(&object, c)));
    }
    Ok(rows)
}

fn row(object: &str, counter: &Counter) -> Vec<Value> {
    vec![
        text(object),
        text(counter.name),
        text(&counter.instance),
        Value::BigInt(i64::try_from(counter.value).unwrap_or(i64::MAX)),
        Value::Int(counter.kind as i32),
    ]
}
