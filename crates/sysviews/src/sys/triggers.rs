//! `sys.triggers`: there are none yet, so it has no rows.

use crate::column::{Column, null};
use crate::reason::EMPTY;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const DESC: SqlType = SqlType::nvarchar(60);

const COLUMNS: [Column; 13] = [
    null("name", SqlType::SYSNAME, EMPTY),
    null("object_id", SqlType::Int, EMPTY),
    null("parent_class", SqlType::TinyInt, EMPTY),
    null("parent_class_desc", DESC, EMPTY),
    null("parent_id", SqlType::Int, EMPTY),
    null("type", SqlType::Char(2), EMPTY),
    null("type_desc", DESC, EMPTY),
    null("create_date", SqlType::DateTime, EMPTY),
    null("modify_date", SqlType::DateTime, EMPTY),
    null("is_ms_shipped", SqlType::Bit, EMPTY),
    null("is_disabled", SqlType::Bit, EMPTY),
    null("is_not_for_replication", SqlType::Bit, EMPTY),
    null("is_instead_of_trigger", SqlType::Bit, EMPTY),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "triggers", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
