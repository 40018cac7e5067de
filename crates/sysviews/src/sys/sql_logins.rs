//! `sys.sql_logins`: sa, the only login.

use crate::column::{Column, Constant, fixed, null, number, word, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const DATE: SqlType = SqlType::DateTime;
const ONE_LOGIN: &str = "sa is the only login yet.";
const NO_POLICY: &str = "There is no policy of passwords.";

const COLUMNS: [Column; 14] = [
    word("name", SqlType::SYSNAME, "sa", ONE_LOGIN),
    number("principal_id", SqlType::Int, 1, ONE_LOGIN),
    fixed("sid", SqlType::varbinary(85), Constant::Bytes(&[1]), ONE_LOGIN),
    word("type", SqlType::Char(1), "S", ONE_LOGIN),
    word("type_desc", SqlType::nvarchar(60), "SQL_LOGIN", ONE_LOGIN),
    zero("is_disabled", BIT, ONE_LOGIN),
    fixed("create_date", DATE, Constant::Released, ONE_LOGIN),
    fixed("modify_date", DATE, Constant::Released, ONE_LOGIN),
    word("default_database_name", SqlType::SYSNAME, "master", ONE_LOGIN),
    word("default_language_name", SqlType::SYSNAME, "us_english", "sa is the only login yet."),
    null("credential_id", SqlType::Int, "There are no credentials."),
    zero("is_policy_checked", BIT, NO_POLICY),
    zero("is_expiration_checked", BIT, NO_POLICY),
    null("password_hash", SqlType::varbinary(256), "What is kept of passwords is not shown."),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sql_logins", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![Vec::new()])
}
