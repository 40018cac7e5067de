//! `sys.database_role_members`: dbo, the only member of a database role: of db_owner.

use crate::column::{Column, number};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const WHY: &str = "dbo is the owner of the database.";

const COLUMNS: [Column; 2] = [
    number("role_principal_id", SqlType::Int, 16384, WHY),
    number("member_principal_id", SqlType::Int, 1, WHY),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "database_role_members",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![Vec::new()])
}
