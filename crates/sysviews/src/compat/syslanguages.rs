//! `syslanguages`: us_english, the only language.

use crate::column::{Column, number, word, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const SMALL: SqlType = SqlType::SmallInt;
const ONE: &str = "There is one language yet.";
const MONTHS: &str =
    "January,February,March,April,May,June,July,August,September,October,November,December";
const SHORT_MONTHS: &str = "Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec";
const DAYS: &str = "Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday";

const COLUMNS: [Column; 11] = [
    zero("langid", SMALL, ONE),
    word("dateformat", SqlType::NChar(3), "mdy", ONE),
    number("datefirst", SqlType::TinyInt, 7, ONE),
    zero("upgrade", SqlType::Int, "Reserved in SQL Server."),
    word("name", SqlType::SYSNAME, "us_english", ONE),
    word("alias", SqlType::SYSNAME, "English", ONE),
    word("months", SqlType::nvarchar(372), MONTHS, ONE),
    word("shortmonths", SqlType::nvarchar(132), SHORT_MONTHS, ONE),
    word("days", SqlType::nvarchar(217), DAYS, ONE),
    number("lcid", SqlType::Int, 1033, ONE),
    number("msglangid", SMALL, 1033, ONE),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "syslanguages", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![Vec::new()])
}
