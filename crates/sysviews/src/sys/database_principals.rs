//! `sys.database_principals`: the users and roles that every database has.

use super::principal_list::{Principal, principals};
use crate::cell::{bit, code, int, text};
use crate::column::{Column, Constant, col, fixed, maybe, null, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const DATE: SqlType = SqlType::DateTime;
const DESC: SqlType = SqlType::nvarchar(60);
const AS_OLD: &str = "Principals are as old as the release.";

const COLUMNS: [Column; 15] = [
    col("name", SqlType::SYSNAME),
    col("principal_id", INT),
    col("type", SqlType::Char(1)),
    maybe("type_desc", DESC),
    maybe("default_schema_name", SqlType::SYSNAME),
    fixed("create_date", DATE, Constant::Released, AS_OLD),
    fixed("modify_date", DATE, Constant::Released, AS_OLD),
    maybe("owning_principal_id", INT),
    maybe("sid", SqlType::varbinary(85)),
    col("is_fixed_role", SqlType::Bit),
    col("authentication_type", INT),
    maybe("authentication_type_desc", DESC),
    null("default_language_name", SqlType::SYSNAME, NO_CONTAINMENT),
    null("default_language_lcid", INT, NO_CONTAINMENT),
    zero("allow_encrypted_value_modifications", SqlType::Bit, "There is no Always Encrypted."),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "database_principals",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row = |p: Principal| {
        // Of the users only dbo has a login.
        let login = p.name == "dbo";
        let schema = matches!(p.name, "dbo" | "guest").then_some(p.name);
        vec![
            text(p.name),
            int(p.id),
            code(if p.is_role { "R" } else { "S" }),
            text(if p.is_role { "DATABASE_ROLE" } else { "SQL_USER" }),
            schema.map_or(Value::Null, text),
            if p.is_role { int(1) } else { Value::Null },
            p.sid.as_deref().map_or(Value::Null, Value::varbinary),
            bit(p.is_role && p.id != 0),
            int(i32::from(login)),
            text(if login { "INSTANCE" } else { "NONE" }),
        ]
    };
    Ok(principals().into_iter().map(row).collect())
}
