//! `sys.data_spaces`: the filegroup PRIMARY, the only data space.

use crate::column::{Column, number, word, zero};
use crate::reason::ONE_FILEGROUP;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 6] = [
    word("name", SqlType::SYSNAME, "PRIMARY", ONE_FILEGROUP),
    number("data_space_id", SqlType::Int, 1, ONE_FILEGROUP),
    word("type", SqlType::Char(2), "FG", ONE_FILEGROUP),
    word("type_desc", SqlType::nvarchar(60), "ROWS_FILEGROUP", ONE_FILEGROUP),
    number("is_default", SqlType::Bit, 1, ONE_FILEGROUP),
    zero("is_system", SqlType::Bit, ONE_FILEGROUP),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "data_spaces", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![Vec::new()])
}
