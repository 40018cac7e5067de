//! `sys.foreign_keys`: there are none yet, so it has no rows.

use crate::column::{Column, null};
use crate::reason::EMPTY;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const DESC: SqlType = SqlType::nvarchar(60);

const COLUMNS: [Column; 22] = [
    null("name", SqlType::SYSNAME, EMPTY),
    null("object_id", INT, EMPTY),
    null("principal_id", INT, EMPTY),
    null("schema_id", INT, EMPTY),
    null("parent_object_id", INT, EMPTY),
    null("type", SqlType::Char(2), EMPTY),
    null("type_desc", DESC, EMPTY),
    null("create_date", SqlType::DateTime, EMPTY),
    null("modify_date", SqlType::DateTime, EMPTY),
    null("is_ms_shipped", BIT, EMPTY),
    null("is_published", BIT, EMPTY),
    null("is_schema_published", BIT, EMPTY),
    null("referenced_object_id", INT, EMPTY),
    null("key_index_id", INT, EMPTY),
    null("is_disabled", BIT, EMPTY),
    null("is_not_for_replication", BIT, EMPTY),
    null("is_not_trusted", BIT, EMPTY),
    null("delete_referential_action", SqlType::TinyInt, EMPTY),
    null("delete_referential_action_desc", DESC, EMPTY),
    null("update_referential_action", SqlType::TinyInt, EMPTY),
    null("update_referential_action_desc", DESC, EMPTY),
    null("is_system_named", BIT, EMPTY),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "foreign_keys", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
