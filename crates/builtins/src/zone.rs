//! AT TIME ZONE: a local time gets its zone's offset, a moment is shown in another zone.

use crate::call::{Call, Function, NullRule, invalid_argument};
use base::{SqlError, SqlResult, messages};
use types::datetime::Moment;
use types::zone::TimeZone;
use types::{SqlType, Value};

/// Functions about the server's zone: its clock is UTC.
pub(crate) const FUNCTIONS: &[Function] = &[
    of_server("CURRENT_TIMEZONE", |_, _| Ok(Value::varchar("(UTC) Coordinated Universal Time"))),
    of_server("CURRENT_TIMEZONE_ID", |_, _| Ok(Value::varchar("UTC"))),
];

const fn of_server(
    name: &'static str,
    eval: fn(&mut Call<'_>, &[Value]) -> SqlResult<Value>,
) -> Function {
    Function {
        name,
        min_args: 0,
        max_args: 0,
        result: |_| Ok(SqlType::varchar(100)),
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval,
    }
}

/// `x AT TIME ZONE zone`, as a function of both.
pub static AT_TIME_ZONE: Function = Function {
    name: "AT TIME ZONE",
    min_args: 2,
    max_args: 2,
    result,
    deterministic: false,
    nulls: NullRule::Strict,
    date_part: false,
    eval: at_time_zone,
};

fn result(types: &[SqlType]) -> SqlResult<SqlType> {
    let t = types.first().copied().unwrap_or(SqlType::Int);
    match t {
        SqlType::DateTime
        | SqlType::SmallDateTime
        | SqlType::DateTime2(_)
        | SqlType::DateTimeOffset(_) => Ok(SqlType::DateTimeOffset(t.scale())),
        _ => Err(invalid_argument(t, 0, "AT TIME ZONE")),
    }
}

fn at_time_zone(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let name = call.string(args, 1)?;
    let zone = TimeZone::by_name(&name)
        .ok_or_else(|| SqlError::new(messages::TIME_ZONE_UNKNOWN, &[&name]))?;
    let moment = Moment::of(&args[0]).and_then(|m| match args[0] {
        Value::DateTimeOffset(_) => zone.show(m),
        _ => zone.attach(m),
    });
    moment
        .and_then(|m| m.to_value(call.result))
        .ok_or_else(|| SqlError::new(messages::DATETIME_OVERFLOW_ADD, &[&"datetimeoffset"]))
}
