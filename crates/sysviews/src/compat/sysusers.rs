//! `sysusers`: the principals of `sys.database_principals`.

use super::type_codes::small;
use crate::cell::{int, text};
use crate::column::{Column, Constant, col, fixed, maybe, null, zero};
use crate::sys::{Principal, principals};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const DATE: SqlType = SqlType::DateTime;
const INTERNAL: &str = "Of the inside of SQL Server 2000.";
const NO_DOMAIN: &str = "There is no Windows authentication.";
const RELEASED: &str = "Principals are as old as the release.";

const COLUMNS: [Column; 20] = [
    maybe("uid", SMALL),
    zero("status", SMALL, INTERNAL),
    col("name", SqlType::SYSNAME),
    maybe("sid", SqlType::varbinary(85)),
    null("roles", SqlType::varbinary(2048), INTERNAL),
    fixed("createdate", DATE, Constant::Released, RELEASED),
    fixed("updatedate", DATE, Constant::Released, RELEASED),
    maybe("altuid", SMALL),
    null("password", SqlType::varbinary(256), INTERNAL),
    maybe("gid", SMALL),
    null("environ", SqlType::varchar(255), INTERNAL),
    col("hasdbaccess", INT),
    col("islogin", INT),
    zero("isntname", INT, NO_DOMAIN),
    zero("isntgroup", INT, NO_DOMAIN),
    zero("isntuser", INT, NO_DOMAIN),
    col("issqluser", INT),
    zero("isaliased", INT, "There are no aliases."),
    col("issqlrole", INT),
    zero("isapprole", INT, "There are no application roles."),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysusers", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let is = |yes: bool| int(i32::from(yes));
    let row = |p: Principal| {
        vec![
            small(p.id),
            text(p.name),
            p.sid.as_deref().map_or(Value::Null, Value::varbinary),
            // Roles belong to dbo.
            if p.is_role { small(1) } else { Value::Null },
            small(if p.is_role { p.id } else { 0 }),
            // Every login is dbo.
            is(p.name == "dbo"),
            is(!p.is_role),
            is(!p.is_role),
            is(p.is_role),
        ]
    };
    Ok(principals().into_iter().map(row).collect())
}
