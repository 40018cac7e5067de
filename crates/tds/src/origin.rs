//! TABNAME and COLINFO: which tables the columns of a cursor come from ([MS-TDS] 2.2.7).
//!
//! ```text
//! TABNAME  length (2) · for each table: parts (1), each part: characters (2), UTF-16
//! COLINFO  length (2) · for each column: its number, its table's (0: none), status;
//!          with DIFFERENT_NAME: characters (1), UTF-16
//! ```

use crate::token::kind;
use crate::writer::{WireWriter, truncated};

/// Bits of a column's status.
pub mod origin_status {
    /// An expression.
    pub const EXPRESSION: u8 = 0x04;
    /// Of the key.
    pub const KEY: u8 = 0x08;
    /// Not of the select list.
    pub const HIDDEN: u8 = 0x10;
    /// Called otherwise in its table.
    pub const DIFFERENT_NAME: u8 = 0x20;
}

/// The longest name of a table or column.
const NAME_UNITS_MAX: usize = 128;

/// Where a column comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin<'a> {
    /// Which of the tables, from 1; 0 for none.
    pub table: u8,
    /// See [`origin_status`]; that of another name is added.
    pub status: u8,
    /// Its name there, where that is another.
    pub name: Option<&'a str>,
}

/// Appends both tokens. Columns beyond the 255th have no place in them.
pub fn encode_origins(tables: &[Vec<String>], columns: &[Origin<'_>], out: &mut Vec<u8>) {
    out.put_u8(kind::TABNAME);
    let length = out.open_u16();
    for table in tables {
        out.put_u8(table.len() as u8);
        table.iter().for_each(|part| out.put_us_varchar(truncated(part, NAME_UNITS_MAX)));
    }
    out.close_u16(length);
    out.put_u8(kind::COLINFO);
    let length = out.open_u16();
    for (number, column) in (1..=u8::MAX).zip(columns) {
        let renamed = if column.name.is_some() { origin_status::DIFFERENT_NAME } else { 0 };
        out.extend_from_slice(&[number, column.table, column.status | renamed]);
        if let Some(name) = column.name {
            out.put_b_varchar(truncated(name, NAME_UNITS_MAX));
        }
    }
    out.close_u16(length);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that the protocol's table prescribes.
    #[test]
    fn a_key_an_expression_and_a_column_of_another_name() {
        let tables = [vec!["dbo".to_owned(), "t".to_owned()]];
        let columns = [
            Origin { table: 1, status: origin_status::KEY, name: None },
            Origin { table: 0, status: origin_status::EXPRESSION, name: None },
            Origin { table: 1, status: 0, name: Some("n") },
        ];
        let mut out = Vec::new();
        encode_origins(&tables, &columns, &mut out);
        let expected = [
            &[0xA4, 13, 0, 2, 3, 0, b'd', 0, b'b', 0, b'o', 0, 1, 0, b't', 0][..],
            &[0xA5, 12, 0, 1, 1, 8, 2, 0, 4, 3, 1, 0x20, 1, b'n', 0],
        ];
        assert_eq!(out, expected.concat());
    }
}
