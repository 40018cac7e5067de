//! `sys.server_role_members`: sa, the only member of a server role: of sysadmin.

use crate::column::{Column, number};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const WHY: &str = "sa is the only login yet.";

const COLUMNS: [Column; 2] = [
    number("role_principal_id", SqlType::Int, 3, WHY),
    number("member_principal_id", SqlType::Int, 1, WHY),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "server_role_members",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![Vec::new()])
}
