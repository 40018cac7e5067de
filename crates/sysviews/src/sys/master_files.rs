//! `sys.master_files`: the files of all databases.

use super::file_list;
use crate::cell::int;
use crate::column::{Column, col, join, null};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const FRONT: [Column; 31] = join([col("database_id", SqlType::Int)], file_list::COLUMNS);
const COLUMNS: [Column; 32] =
    join(FRONT, [null("credential_id", SqlType::Int, "Files are never in cloud storage.")]);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "master_files", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for database in system.databases.closed() {
        for mut cells in file_list::closed_rows(&database) {
            cells.insert(0, int(database.id.0));
            rows.push(cells);
        }
    }
    for database in system.databases.all() {
        for mut cells in file_list::rows(&database) {
            cells.insert(0, int(database.id().0));
            rows.push(cells);
        }
    }
    Ok(rows)
}
