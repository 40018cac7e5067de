//! `syslanguages`: the languages that a session can set.

use crate::cell::text;
use crate::column::{Column, col, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::datetime::Language;
use types::{SqlType, Value};

const SMALL: SqlType = SqlType::SmallInt;

const COLUMNS: [Column; 11] = [
    col("langid", SMALL),
    col("dateformat", SqlType::NChar(3)),
    col("datefirst", SqlType::TinyInt),
    zero("upgrade", SqlType::Int, "Reserved in SQL Server."),
    col("name", SqlType::SYSNAME),
    col("alias", SqlType::SYSNAME),
    col("months", SqlType::nvarchar(372)),
    col("shortmonths", SqlType::nvarchar(132)),
    col("days", SqlType::nvarchar(217)),
    col("lcid", SqlType::Int),
    col("msglangid", SMALL),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "syslanguages", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    let row = |l: &Language| {
        vec![
            Value::SmallInt(l.id),
            text(l.date_format.name()),
            Value::TinyInt(l.date_first),
            text(l.name),
            text(l.alias),
            text(l.months),
            text(l.short_months),
            text(l.days),
            Value::Int(l.lcid),
            Value::SmallInt(l.messages),
        ]
    };
    Ok(Language::all().iter().map(row).collect())
}
