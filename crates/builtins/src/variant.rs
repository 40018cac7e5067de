//! SQL_VARIANT_PROPERTY: the base type of a variant, and what describes it.

use crate::call::{Call, strict_functions};
use base::SqlResult;
use types::{SqlType, Value, Variant};

strict_functions! {
    /// What asks for the type of a value.
    "SQL_VARIANT_PROPERTY", 2, 2, |_| Ok(SqlType::Variant), property;
}

fn property(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let name = call.string(args, 1)?.trim_end().to_ascii_uppercase();
    let made;
    let variant = match &args[0] {
        Value::Variant(variant) => variant.as_ref(),
        plain => {
            made = Variant::new(plain.clone(), call.arg_types[0], call.collation);
            let Some(variant) = &made else { return Ok(Value::Null) };
            variant
        }
    };
    let t = variant.sql_type();
    let number = |n: i32| Some((Value::Int(n), SqlType::Int));
    let word = |s: &str| Some((Value::nvarchar(s), SqlType::SYSNAME));
    let answer = match name.as_str() {
        "BASETYPE" => word(t.name()),
        "PRECISION" => number(t.precision().into()),
        "SCALE" => number(t.scale().into()),
        "TOTALBYTES" => number(variant.total_bytes() as i32),
        "COLLATION" => variant.collation().and_then(|c| word(c.name())),
        "MAXLENGTH" => number(t.max_length().into()),
        _ => None,
    };
    let told = answer.and_then(|(value, t)| Variant::new(value, t, call.collation));
    Ok(told.map_or(Value::Null, |v| Value::Variant(v.into())))
}
