//! `sys.database_permissions`: granted permissions in the database: dbo may connect.

use crate::column::{Column, number, word, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const WHY: &str = "Everybody is dbo, who may all; GRANT is refused yet.";

const COLUMNS: [Column; 10] = [
    zero("class", SqlType::TinyInt, WHY),
    word("class_desc", SqlType::nvarchar(60), "DATABASE", WHY),
    zero("major_id", INT, WHY),
    zero("minor_id", INT, WHY),
    number("grantee_principal_id", INT, 1, WHY),
    number("grantor_principal_id", INT, 1, WHY),
    word("type", SqlType::Char(4), "CO", WHY),
    word("permission_name", SqlType::nvarchar(128), "CONNECT", WHY),
    word("state", SqlType::Char(1), "G", WHY),
    word("state_desc", SqlType::nvarchar(60), "GRANT", WHY),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "database_permissions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![Vec::new()])
}
