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

fn property(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let Some(collation) = Collation::by_name(&call.string(args, 0)?) else {
        return Ok(Value::Null);
    };
    let number = match call.string(args, 1)?.to_ascii_uppercase().as_str() {
        // Text of it is nvarchar alone.
        "CODEPAGE" if collation.is_unicode_only() => 0,
        "CODEPAGE" => collation.code_page().number(),
        "LCID" => collation.lcid(),
        "COMPARISONSTYLE" => collation.comparison_style(),
        "VERSION" => collation.version(),
        // What TDS sends of it; SQL Server has that, and its pages don't tell.
        "TDSCOLLATION" => {
            return fitted(Value::varbinary(&collation.tds_bytes()), SqlType::Variant);
        }
        _ => return Ok(Value::Null),
    };
    fitted(Value::Int(number), SqlType::Variant)
}
