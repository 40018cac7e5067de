//! `sys.xml_indexes`: XML indexes; there are none.

use crate::column::{Column, join, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 29] = no_rows(
    join(
        super::indexes::COLUMNS,
        [
            maybe("using_xml_index_id", SqlType::Int),
            maybe("secondary_type", SqlType::Char(1)),
            maybe("secondary_type_desc", SqlType::nvarchar(60)),
            maybe("xml_index_type", SqlType::TinyInt),
            maybe("xml_index_type_description", SqlType::nvarchar(60)),
            maybe("path_id", SqlType::Int),
        ],
    ),
    "There are no XML indexes.",
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "xml_indexes", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
