//! `sys.fn_PhysLocFormatter(%%physloc%%)`: a row's place as `(file:page:slot)`.
//!
//! The place is 8 bytes, each part with its least byte first: page 4, file 2, slot 2. The function
//! is found with its schema alone, so its name here has it.

use crate::call::{Call, invalid_argument, strict_functions};
use base::SqlResult;
use types::{Family, SqlType, Value};

strict_functions! {
    /// The function of places.
    "sys.fn_PhysLocFormatter", 1, 1, of_bytes, formatted;
}

fn of_bytes(types: &[SqlType]) -> SqlResult<SqlType> {
    match types[0].family() {
        Family::Binary => Ok(SqlType::varchar(128)),
        _ => Err(invalid_argument(types[0], 0, "sys.fn_PhysLocFormatter")),
    }
}

fn formatted(_: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let Value::Binary(bytes) = &args[0] else { return Ok(Value::Null) };
    let part = |from: usize, to: usize| {
        let bytes = (from..to).rev().map(|n| bytes.get(n).copied().unwrap_or(0));
        bytes.fold(0_u64, |n, b| n << 8 | u64::from(b))
    };
    Ok(Value::varchar(&format!("({}:{}:{})", part(4, 6), part(0, 4), part(6, 8))))
}
