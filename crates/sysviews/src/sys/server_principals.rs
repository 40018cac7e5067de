//! `sys.server_principals`: sa, and the fixed roles of the server.

use crate::cell::{bit, code, int, text};
use crate::column::{Column, Constant, col, fixed, maybe, null, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const DATE: SqlType = SqlType::DateTime;
const AS_OLD: &str = "Principals are as old as the release.";

const COLUMNS: [Column; 13] = [
    col("name", SqlType::SYSNAME),
    col("principal_id", INT),
    maybe("sid", SqlType::varbinary(85)),
    col("type", SqlType::Char(1)),
    maybe("type_desc", SqlType::nvarchar(60)),
    zero("is_disabled", SqlType::Bit, "ALTER LOGIN is refused yet."),
    fixed("create_date", DATE, Constant::Released, AS_OLD),
    fixed("modify_date", DATE, Constant::Released, AS_OLD),
    maybe("default_database_name", SqlType::SYSNAME),
    maybe("default_language_name", SqlType::SYSNAME),
    null("credential_id", INT, "There are no credentials."),
    maybe("owning_principal_id", INT),
    col("is_fixed_role", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "server_principals",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// By id, from 1, which is also the SID.
const NAMES: [&str; 10] = [
    "sa",
    "public",
    "sysadmin",
    "securityadmin",
    "serveradmin",
    "setupadmin",
    "processadmin",
    "diskadmin",
    "dbcreator",
    "bulkadmin",
];

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row = |(id, name): (u8, &&str)| {
        let role = id > 1;
        let of_login = |s: &str| if role { Value::Null } else { text(s) };
        vec![
            text(name),
            int(id),
            Value::varbinary(&[id]),
            code(if role { "R" } else { "S" }),
            text(if role { "SERVER_ROLE" } else { "SQL_LOGIN" }),
            of_login("master"),
            of_login("us_english"),
            if role { int(1) } else { Value::Null },
            bit(id > 2),
        ]
    };
    Ok((1..).zip(&NAMES).map(row).collect())
}
