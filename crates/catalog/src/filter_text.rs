//! Filters of indexes as text: one line a test, an empty line, and the filter as it is shown.
//!
//! ```text
//! 3 = 05000000          column id, relation, stored bytes of the constant
//! 4 in 6100,6200        one of several
//! 5 null                IS NULL; `value` is IS NOT NULL
//!
//! ([a]=(5) AND [b] IN (N'a', N'b') AND [c] IS NULL)
//! ```

use crate::view::Column;
use types::{
    ColumnTest, Relation, Requirement, Restriction, Value, decode_storage, encode_storage,
};

/// The text of a filter.
pub(crate) fn write(columns: &[Column], filter: &Restriction) -> String {
    let mut out = String::new();
    for test in &filter.tests {
        let hex = |value: &Value| {
            let mut bytes = Vec::new();
            encode_storage(value, test.constant_type(), &mut bytes);
            bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()
        };
        let asked = match &test.requirement {
            Requirement::Null => "null".to_owned(),
            Requirement::NotNull => "value".to_owned(),
            Requirement::Compared(relation, value) => format!("{} {}", relation.sign(), hex(value)),
            Requirement::OneOf(values) => {
                format!("in {}", values.iter().map(hex).collect::<Vec<_>>().join(","))
            }
        };
        out.push_str(&format!("{} {asked}\n", columns[test.column].column_id));
    }
    out + "\n" + &filter.text
}

/// The filter of a text; `None` where it is none over these columns.
pub(crate) fn read(columns: &[Column], text: &str) -> Option<Restriction> {
    let (lines, shown) = text.split_once("\n\n")?;
    let tests: Option<Vec<ColumnTest>> = lines.lines().map(|line| test(columns, line)).collect();
    Some(Restriction { text: shown.into(), tests: tests? })
}

fn test(columns: &[Column], line: &str) -> Option<ColumnTest> {
    let (id, asked) = line.split_once(' ')?;
    let id: i32 = id.parse().ok()?;
    let column = columns.iter().position(|c| c.column_id == id)?;
    let c = &columns[column];
    let (sql_type, collation) = (c.sql_type, c.collation);
    let test = ColumnTest { column, sql_type, collation, requirement: Requirement::NotNull };
    let value = |hex: &str| decode_storage(&bytes(hex)?, test.constant_type()).ok();
    let requirement = match asked.split_once(' ') {
        None if asked == "null" => Requirement::Null,
        None if asked == "value" => Requirement::NotNull,
        None => return None,
        Some(("in", list)) => {
            Requirement::OneOf(list.split(',').map(value).collect::<Option<Vec<_>>>()?)
        }
        Some((sign, hex)) => Requirement::Compared(Relation::of_sign(sign)?, value(hex)?),
    };
    Some(ColumnTest { requirement, ..test })
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|p| u8::from_str_radix(std::str::from_utf8(p).ok()?, 16).ok()).collect()
}
