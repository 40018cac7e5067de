//! `syscomments`: the texts of modules, CHECK and DEFAULT constraints, 4,000 characters a row.

use crate::cell::int;
use crate::column::{Column, col, zero};
use crate::tables;
use crate::view::{Rows, System, View};
use base::ObjectId;
use catalog::view::{ModuleKind, SchemaId};
use types::{SqlType, Value};

const SMALL: SqlType = SqlType::SmallInt;
const BIT: SqlType = SqlType::Bit;
const CHARACTERS: usize = 4_000;
const INTERNAL: &str = "Of the inside of SQL Server 2000.";
const NOT_ENCRYPTED: &str = "WITH ENCRYPTION is refused.";

const COLUMNS: [Column; 10] = [
    col("id", SqlType::Int),
    col("number", SMALL),
    col("colid", SMALL),
    zero("status", SMALL, INTERNAL),
    col("ctext", SqlType::varbinary(8000)),
    zero("texttype", SMALL, "Texts are their users', and none is encrypted."),
    zero("language", SMALL, INTERNAL),
    zero("encrypted", BIT, NOT_ENCRYPTED),
    zero("compressed", BIT, "As in SQL Server."),
    col("text", SqlType::nvarchar(4000)),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "syscomments", parameters: None, columns: &COLUMNS, rows };

/// Divides a text into pieces of 4,000 UTF-16 code units, without cutting a character.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut units = 0;
    for c in text.chars() {
        if units + c.len_utf16() > CHARACTERS {
            pieces.push(String::new());
            units = 0;
        }
        units += c.len_utf16();
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}

fn add(rows: &mut Vec<Vec<Value>>, object: ObjectId, number: i16, text: &str) {
    for (n, piece) in pieces(text).iter().enumerate() {
        let bytes: Vec<u8> = piece.encode_utf16().flat_map(|u| [u as u8, (u >> 8) as u8]).collect();
        let line = Value::SmallInt(i16::try_from(n + 1).unwrap_or(i16::MAX));
        rows.push(vec![
            int(object.0),
            Value::SmallInt(number),
            line,
            Value::varbinary(&bytes),
            Value::nvarchar(piece),
        ]);
    }
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for m in tables::modules(system)? {
        // A procedure is the first of its group.
        add(&mut rows, m.object_id, i16::from(m.kind == ModuleKind::Procedure), &m.text);
    }
    for table in tables::own_and_types(system)? {
        for check in &table.checks {
            add(&mut rows, check.object_id, 0, &check.text);
        }
        for default in table.columns.iter().filter_map(|c| c.default.as_ref()) {
            add(&mut rows, default.object_id, 0, &default.text);
        }
        for column in &table.columns {
            let Some(computed) = &column.computed else { continue };
            // For a computed column this is the number of the column.
            let number = i16::try_from(column.column_id).unwrap_or(i16::MAX);
            add(&mut rows, table.object_id, number, &computed.text);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn long_texts_are_cut_between_characters() {
        let lengths = |text: &str| pieces(text).iter().map(|p| p.len()).collect::<Vec<_>>();
        assert_eq!(lengths(""), [0]);
        assert_eq!(lengths(&"a".repeat(4_000)), [4_000]);
        assert_eq!(lengths(&"a".repeat(8_001)), [4_000, 4_000, 1]);
        // A character of two code units is not cut.
        let text = format!("{}\u{1f600}", "a".repeat(3_999));
        assert_eq!(lengths(&text), [3_999, 4]);
    }
}
