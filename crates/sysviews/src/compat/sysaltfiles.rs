//! `sysaltfiles`: the files of all open databases.

use super::file_list::{BACK, FRONT, back, front};
use crate::column::{Column, col, join};
use crate::sys::files;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const LEFT: [Column; 8] = join(FRONT, [col("dbid", SqlType::SmallInt)]);
const COLUMNS: [Column; 10] = join(LEFT, BACK);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysaltfiles", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for database in system.databases.all() {
        for file in files(&database) {
            let mut cells = front(&file);
            cells.push(Value::SmallInt(database.id().0 as i16));
            cells.extend(back(&file));
            rows.push(cells);
        }
    }
    Ok(rows)
}
