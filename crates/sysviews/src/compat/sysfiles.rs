//! `sysfiles`: the files of the current database.

use super::file_list::{BACK, FRONT, back, front};
use crate::column::{Column, join};
use crate::sys::{FileRow, files};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

const COLUMNS: [Column; 9] = join(FRONT, BACK);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysfiles", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let row = |f: FileRow| {
        let mut cells = front(&f);
        cells.extend(back(&f));
        cells
    };
    Ok(files(&*system.here()?).map(row).into())
}
