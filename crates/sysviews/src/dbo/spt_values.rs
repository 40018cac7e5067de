//! `master..spt_values`: numbers and names that scripts rely on.
//!
//! Type `P` is the same as in SQL Server: the numbers 0 to 2047, each with the byte of a bitmap
//! that contains its bit, and the bit. The rows of other types are a selection. Scripts that join
//! the table with itself expect at least 2,509 rows: rows of type `GL` fill it up.

use crate::cell::{int, text_or_null};
use crate::column::{Column, col, maybe, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use lock::Mode;
use types::{SqlType, Value};

/// The number of rows in SQL Server 2019.
const ROWS_MIN: usize = 2_539;
const NUMBERS: i32 = 2_048;

const COLUMNS: [Column; 6] = [
    maybe("name", SqlType::nvarchar(35)),
    col("number", SqlType::Int),
    col("type", SqlType::NChar(3)),
    maybe("low", SqlType::Int),
    maybe("high", SqlType::Int),
    zero("status", SqlType::Int, "As in SQL Server."),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::DBO, name: "spt_values", parameters: None, columns: &COLUMNS, rows };

/// The name and number of each row, by type.
const NAMED: &[(&str, &[(&str, i32)])] = &[
    ("B", &[("YES OR NO", -1), ("no", 0), ("yes", 1), ("none", 2)]),
    (
        "A",
        &[
            ("rpc", 1),
            ("pub", 2),
            ("sub", 4),
            ("dist", 8),
            ("dpub", 16),
            ("rpc out", 64),
            ("data access", 128),
            ("collation compatible", 256),
            ("system", 512),
            ("use remote collation", 1024),
            ("lazy schema validation", 2048),
        ],
    ),
    (
        "D",
        &[
            ("DATABASE STATUS", 0),
            ("autoclose", 1),
            ("select into/bulkcopy", 4),
            ("trunc. log on chkpt.", 8),
            ("torn page detection", 16),
            ("loading", 32),
            ("pre recovery", 64),
            ("recovering", 128),
            ("not recovered", 256),
            ("offline", 512),
            ("read only", 1024),
            ("dbo use only", 2048),
            ("single user", 4096),
        ],
    ),
    (
        "I",
        &[
            ("ignore duplicate keys", 1),
            ("unique", 2),
            ("ignore duplicate rows", 4),
            ("clustered", 16),
            ("hypothetical", 32),
            ("statistics", 64),
            ("primary key", 2048),
            ("unique key", 4096),
            ("auto create", 8_388_608),
            ("stats no recompute", 16_777_216),
        ],
    ),
    (
        "O9T",
        &[
            ("C , check constraint", 0),
            ("D , default (constraint or stand-alone)", 0),
            ("F , foreign key constraint", 0),
            ("FN, scalar function", 0),
            ("IF, inline table function", 0),
            ("P , stored procedure", 0),
            ("PK, primary key constraint", 0),
            ("S , system table", 0),
            ("TF, table function", 0),
            ("TR, trigger", 0),
            ("U , user table", 0),
            ("UQ, unique constraint", 0),
            ("V , view", 0),
        ],
    ),
];

/// The lock modes as `sp_lock` numbers them: syslockinfo's req_mode, from 1 for NULL.
const LOCKS: &[Mode] =
    &[Mode::SchS, Mode::SchM, Mode::S, Mode::U, Mode::X, Mode::IS, Mode::IU, Mode::IX];

fn named(name: &str, number: i32, kind: &str) -> Vec<Value> {
    let name: String = name.chars().take(35).collect();
    let none = || Value::Null;
    vec![text_or_null(&name), int(number), Value::nvarchar(kind), none(), none()]
}

fn number_row(n: i32) -> Vec<Value> {
    let (byte, bit) = (n / 8 + 1, 1 << (n % 8));
    vec![Value::Null, int(n), Value::nvarchar("P"), int(byte), int(bit)]
}

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(all())
}

fn all() -> Vec<Vec<Value>> {
    let mut rows = Vec::with_capacity(ROWS_MIN);
    for (kind, names) in NAMED {
        rows.extend(names.iter().map(|(name, number)| named(name, *number, kind)));
    }
    rows.push(named("NULL", 1, "L"));
    let modes = LOCKS.iter().enumerate();
    rows.extend(modes.map(|(n, mode)| named(mode.name(), n as i32 + 2, "L")));
    rows.extend((0..NUMBERS).map(number_row));
    let more = ROWS_MIN.saturating_sub(rows.len());
    rows.extend((0..more).map(|n| named("", n as i32, "GL")));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_byte_and_bit() {
        let shown = |n| number_row(n).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        assert_eq!(shown(0), "NULL 0 P 1 1");
        assert_eq!(shown(7), "NULL 7 P 1 128");
        assert_eq!(shown(2047), "NULL 2047 P 256 128");
        let rows = all();
        assert!(rows.len() >= 2509, "{}", rows.len());
        let numbers = rows.iter().filter(|r| r[2] == Value::nvarchar("P"));
        assert_eq!(numbers.count(), 2048);
    }
}
