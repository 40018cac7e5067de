//! `syslogins`: sa, the only login.

use crate::column::{Column, Constant, fixed, null, number, word, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const DATE: SqlType = SqlType::DateTime;
const ONE_LOGIN: &str = "sa is the only login yet.";
const INTERNAL: &str = "Of the inside of SQL Server 2000.";
const NO_DOMAIN: &str = "There is no Windows authentication.";
const SYSADMIN: &str = "sa is a member of sysadmin, which may all.";

const FRONT: [Column; 10] = [
    fixed("sid", SqlType::varbinary(85), Constant::Bytes(&[1]), ONE_LOGIN),
    zero("status", SqlType::SmallInt, INTERNAL),
    fixed("createdate", DATE, Constant::Released, ONE_LOGIN),
    fixed("updatedate", DATE, Constant::Released, ONE_LOGIN),
    fixed("accdate", DATE, Constant::Released, ONE_LOGIN),
    zero("totcpu", INT, INTERNAL),
    zero("totio", INT, INTERNAL),
    zero("spacelimit", INT, INTERNAL),
    zero("timelimit", INT, INTERNAL),
    zero("resultlimit", INT, INTERNAL),
];

const BACK: [Column; 18] = [
    word("name", SqlType::SYSNAME, "sa", ONE_LOGIN),
    word("dbname", SqlType::SYSNAME, "master", ONE_LOGIN),
    null("password", SqlType::nvarchar(128), "As in SQL Server."),
    word("language", SqlType::SYSNAME, "us_english", "sa is the only login yet."),
    zero("denylogin", INT, NO_DOMAIN),
    number("hasaccess", INT, 1, ONE_LOGIN),
    zero("isntname", INT, NO_DOMAIN),
    zero("isntgroup", INT, NO_DOMAIN),
    zero("isntuser", INT, NO_DOMAIN),
    number("sysadmin", INT, 1, SYSADMIN),
    zero("securityadmin", INT, SYSADMIN),
    zero("serveradmin", INT, SYSADMIN),
    zero("setupadmin", INT, SYSADMIN),
    zero("processadmin", INT, SYSADMIN),
    zero("diskadmin", INT, SYSADMIN),
    zero("dbcreator", INT, SYSADMIN),
    zero("bulkadmin", INT, SYSADMIN),
    word("loginname", SqlType::nvarchar(128), "sa", ONE_LOGIN),
];

const COLUMNS: [Column; 28] = crate::column::join(FRONT, BACK);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "syslogins", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![Vec::new()])
}
