//! DATETRUNC and DATE_BUCKET: the beginning of the period that a moment lies in.

use crate::call::{Call, Function, NullRule, moment_type};
use crate::date::{date_first, exact_part, not_supported, part_of};
use base::{SqlError, SqlResult, messages};
use types::datetime::{DAYS_1900, DatePart, Moment, SECOND_TICKS, date_add, date_diff, date_part};
use types::{SqlType, Value};

const fn function(
    name: &'static str,
    min_args: usize,
    max_args: usize,
    result: fn(&[SqlType]) -> SqlResult<SqlType>,
    eval: fn(&mut Call<'_>, &[Value]) -> SqlResult<Value>,
) -> Function {
    Function {
        name,
        min_args,
        max_args,
        result,
        // DATETRUNC(week) asks DATEFIRST.
        deterministic: false,
        nulls: NullRule::Strict,
        date_part: true,
        eval,
    }
}

/// Functions of periods.
pub(crate) const FUNCTIONS: &[Function] = &[
    function("DATETRUNC", 2, 2, |t| Ok(truncated_type(t[1])), truncate),
    function("DATE_BUCKET", 3, 4, |t| Ok(truncated_type(t[2])), bucket),
];

/// Text is truncated as a datetime2.
fn truncated_type(t: SqlType) -> SqlType {
    if t.is_character() { SqlType::DateTime2(7) } else { moment_type(t) }
}

fn argument(call: &Call<'_>, args: &[Value], i: usize) -> SqlResult<(Moment, SqlType)> {
    let t = truncated_type(call.arg_types[i]);
    let m = Moment::of(&call.to(args, i, t)?).ok_or_else(|| call.invalid(i, "datetrunc"))?;
    Ok((m, t))
}

fn overflow(t: SqlType) -> SqlError {
    SqlError::new(messages::DATETIME_OVERFLOW_ADD, &[&t.name()])
}

/// Whether a type has fewer digits of seconds than a part needs.
fn has_too_few_digits(part: DatePart, t: SqlType) -> bool {
    let needed = match part {
        DatePart::Millisecond => 3,
        DatePart::Microsecond => 6,
        _ => 0,
    };
    let has = match t {
        SqlType::Time(n) | SqlType::DateTime2(n) | SqlType::DateTimeOffset(n) => n,
        SqlType::DateTime => 3,
        _ => 0,
    };
    has < needed
}

fn truncate(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let part = part_of(args)?;
    let (m, t) = argument(call, args, 1)?;
    exact_part(part, t, "datetrunc")?;
    if has_too_few_digits(part, t) {
        return Err(not_supported(part, "datetrunc", t));
    }
    let (year, month, day) = m.civil();
    let midnight =
        |y, mo, d| Moment::from_civil(y, mo, d, 0).map(|x| Moment { offset: m.offset, ..x });
    let within = |unit: u64| Some(Moment { ticks: m.ticks - m.ticks % unit, ..m });
    let days_back = |days: i32| Some(Moment { days: m.days - days, ticks: 0, ..m });
    let begins = match part {
        DatePart::Year => midnight(year, 1, 1),
        DatePart::Quarter => midnight(year, (month - 1) / 3 * 3 + 1, 1),
        DatePart::Month => midnight(year, month, 1),
        DatePart::Day | DatePart::DayOfYear => midnight(year, month, day),
        DatePart::Week => days_back(date_part(DatePart::Weekday, m, date_first(call)?) - 1),
        DatePart::IsoWeek => days_back(date_part(DatePart::Weekday, m, 1) - 1),
        DatePart::Hour => within(3600 * SECOND_TICKS),
        DatePart::Minute => within(60 * SECOND_TICKS),
        DatePart::Second => within(SECOND_TICKS),
        DatePart::Millisecond => within(SECOND_TICKS / 1000),
        DatePart::Microsecond => within(SECOND_TICKS / 1_000_000),
        DatePart::Weekday | DatePart::Nanosecond | DatePart::TzOffset => {
            return Err(not_supported(part, "datetrunc", t));
        }
    };
    begins.and_then(|m| m.to_value(t)).ok_or_else(|| overflow(t))
}

/// DATE_BUCKET(part, number, date [, origin]): buckets count from the origin, 1900-01-01.
fn bucket(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let part = part_of(args)?;
    let (m, t) = argument(call, args, 2)?;
    exact_part(part, t, "date_bucket")?;
    let fits = !matches!(
        part,
        DatePart::DayOfYear
            | DatePart::Weekday
            | DatePart::Microsecond
            | DatePart::Nanosecond
            | DatePart::TzOffset
            | DatePart::IsoWeek
    );
    if !fits {
        return Err(not_supported(part, "date_bucket", t));
    }
    let width = call.int(args, 1)?;
    if width <= 0 {
        return Err(SqlError::new(messages::BUCKET_WIDTH, &[]));
    }
    let origin = match args.len() {
        4 => argument(call, args, 3)?.0,
        _ => Moment { days: DAYS_1900, ticks: 0, offset: m.offset },
    };
    // Weeks are seven days from the origin, whatever the first day of the week is.
    let (part, width) = match part {
        DatePart::Week => (DatePart::Day, width.saturating_mul(7)),
        other => (other, width),
    };
    let boundaries = date_diff(part, origin, m).ok_or_else(|| overflow(t))?;
    let at = |number: i64| date_add(part, number.checked_mul(width)?, origin);
    let mut number = boundaries.div_euclid(width);
    // DATEDIFF counts boundaries crossed: the bucket may begin after the moment.
    while at(number).is_none_or(|begins| begins.total() > m.total()) {
        number -= 1;
        if number < boundaries.div_euclid(width) - 2 {
            return Err(overflow(t));
        }
    }
    at(number)
        .map(|begins| Moment { offset: m.offset, ..begins })
        .and_then(|begins| begins.to_value(t))
        .ok_or_else(|| overflow(t))
}
