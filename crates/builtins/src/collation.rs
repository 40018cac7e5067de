//! COLLATIONPROPERTY and TERTIARY_WEIGHTS.

use crate::call::{Call, strict_functions};
use crate::metadata::fitted;
use base::SqlResult;
use types::{Collation, SqlType, Value};

strict_functions! {
    /// Functions about collations.
    "COLLATIONPROPERTY", 2, 2, |_| Ok(SqlType::Variant), property;
    "TERTIARY_WEIGHTS", 1, 1, |_| Ok(SqlType::varbinary(8000)), |_, _| Ok(Value::Null);
}

/// What ComparisonStyle is made of.
const IGNORE_CASE: i32 = 1;
const IGNORE_ACCENT: i32 = 2;
const IGNORE_KANA: i32 = 0x1_0000;
const IGNORE_WIDTH: i32 = 0x2_0000;

fn property(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let Some(collation) = Collation::by_name(&call.string(args, 0)?) else {
        return Ok(Value::Null);
    };
    let name = collation.name();
    let number = match call.string(args, 1)?.to_ascii_uppercase().as_str() {
        "CODEPAGE" => 1252,
        "LCID" => 1033,
        "COMPARISONSTYLE" => comparison_style(name),
        // All of ours are of the first version.
        "VERSION" => 0,
        // What TDS sends of it; SQL Server has that, and its pages don't tell.
        "TDSCOLLATION" => {
            return fitted(Value::varbinary(&collation.tds_bytes()), SqlType::Variant);
        }
        _ => return Ok(Value::Null),
    };
    fitted(Value::Int(number), SqlType::Variant)
}

/// From the parts of the name: CI, AI, KS, WS; a binary one has no style.
fn comparison_style(name: &str) -> i32 {
    let has = |part: &str| name.split('_').any(|p| p == part);
    if has("BIN") || has("BIN2") {
        return 0;
    }
    let mut style = 0;
    for (on, bit) in [
        (has("CI"), IGNORE_CASE),
        (has("AI"), IGNORE_ACCENT),
        (!has("KS"), IGNORE_KANA),
        (!has("WS"), IGNORE_WIDTH),
    ] {
        style |= if on { bit } else { 0 };
    }
    style
}
