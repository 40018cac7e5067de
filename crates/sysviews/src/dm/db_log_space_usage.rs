//! `sys.dm_db_log_space_usage`: how full the current database's log is.

use crate::cell::big;
use crate::column::{Column, col, null};
use crate::reason::NO_BACKUP;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 5] = [
    col("database_id", SqlType::SmallInt),
    col("total_log_size_in_bytes", SqlType::BigInt),
    col("used_log_space_in_bytes", SqlType::BigInt),
    col("used_log_space_in_percent", SqlType::Real),
    null("log_space_in_bytes_since_last_backup", SqlType::BigInt, NO_BACKUP),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_log_space_usage",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let database = system.here()?;
    let usage = database.log().usage();
    let used = usage.used_bytes + usage.reserved_bytes;
    let percent = 100.0 * used as f64 / usage.log_bytes() as f64;
    Ok(vec![vec![
        Value::SmallInt(database.id().0 as i16),
        big(usage.log_bytes()),
        big(used),
        Value::Real(percent as f32),
    ]])
}
