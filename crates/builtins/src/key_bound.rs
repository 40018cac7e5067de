//! KeyBound and DayEnd: ends of key ranges for values that are known when the statement runs. No
//! text can call them; seeks do. What they give: `types::key_bound`.

use crate::call::{Call, Function, NullRule};
use base::SqlResult;
use types::{SqlType, Value};

/// `KeyBound(value, NULL of the column's type)`: see `types::key_bound`.
pub static KEY_BOUND: Function = Function { eval: bound, ..end("KeyBound") };

/// `DayEnd(date, NULL of the column's type)`: see `types::day_end`.
pub static DAY_END: Function = Function { eval: day_end, ..end("DayEnd") };

const fn end(name: &'static str) -> Function {
    Function {
        name,
        min_args: 2,
        max_args: 2,
        result: |types| Ok(types[1]),
        deterministic: true,
        nulls: NullRule::Own,
        date_part: false,
        eval: bound,
    }
}

fn bound(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    Ok(types::key_bound(&args[0], of(call, 0), of(call, 1)).0)
}

fn day_end(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    Ok(types::day_end(&args[0], of(call, 1)))
}

fn of(call: &Call<'_>, argument: usize) -> SqlType {
    call.arg_types.get(argument).copied().unwrap_or(call.result)
}
