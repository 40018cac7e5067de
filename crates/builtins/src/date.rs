//! Date and time functions.

use crate::call::{Call, Function, NullRule, invalid_argument, moment_type};
use base::{Message, SqlError, SqlResult, messages};
use types::datetime::{
    DAYS_1900, DatePart, Moment, SECOND_TICKS, date_add, date_diff, date_name, date_part,
    days_in_month,
};
use types::{Family, SqlType, Value, fit_number};

macro_rules! functions {
    ($(
        $name:literal, $min:literal, $max:literal, $pure:literal, $part:literal,
        $result:expr, $eval:expr;
    )*) => {
        /// Date and time functions.
        pub(crate) const FUNCTIONS: &[Function] = &[
            $(Function {
                name: $name,
                min_args: $min,
                max_args: $max,
                result: $result,
                deterministic: $pure,
                nulls: NullRule::Strict,
                date_part: $part,
                eval: $eval,
            }),*
        ];
    };
}

const I: SqlType = SqlType::Int;

functions! {
    "CURRENT_TIMESTAMP", 0, 0, false, false, |_| Ok(SqlType::DateTime), now;
    "GETDATE", 0, 0, false, false, |_| Ok(SqlType::DateTime), now;
    "GETUTCDATE", 0, 0, false, false, |_| Ok(SqlType::DateTime), utc_now;
    "SYSDATETIME", 0, 0, false, false, |_| Ok(SqlType::DateTime2(7)), now;
    "SYSUTCDATETIME", 0, 0, false, false, |_| Ok(SqlType::DateTime2(7)), utc_now;
    "SYSDATETIMEOFFSET", 0, 0, false, false, |_| Ok(SqlType::DateTimeOffset(7)), now;
    "DATEADD", 3, 3, true, true, |t| Ok(moment_type(t[2])), add;
    "DATEDIFF", 3, 3, true, true, |_| Ok(I), |c, a| diff(c, a, SqlType::Int);
    "DATEDIFF_BIG", 3, 3, true, true, |_| Ok(SqlType::BigInt), |c, a| diff(c, a, SqlType::BigInt);
    "DATENAME", 2, 2, false, true, |_| Ok(SqlType::nvarchar(30)), name;
    "DATEPART", 2, 2, false, true, |_| Ok(I), part;
    "DAY", 1, 1, true, false, |_| Ok(I), |c, a| one_part(c, a, DatePart::Day);
    "MONTH", 1, 1, true, false, |_| Ok(I), |c, a| one_part(c, a, DatePart::Month);
    "YEAR", 1, 1, true, false, |_| Ok(I), |c, a| one_part(c, a, DatePart::Year);
    "EOMONTH", 1, 2, true, false, |_| Ok(SqlType::Date), end_of_month;
    "DATEFROMPARTS", 3, 3, true, false, |_| Ok(SqlType::Date), from_parts;
    "DATETIMEFROMPARTS", 7, 7, true, false, |_| Ok(SqlType::DateTime), from_parts;
    "DATETIME2FROMPARTS", 8, 8, true, false, |_| Ok(SqlType::DateTime2(7)), from_parts;
    "DATETIMEOFFSETFROMPARTS", 10, 10, true, false, |_| Ok(SqlType::DateTimeOffset(7)), from_parts;
    "SMALLDATETIMEFROMPARTS", 5, 5, true, false, |_| Ok(SqlType::SmallDateTime), from_parts;
    "TIMEFROMPARTS", 5, 5, true, false, |_| Ok(SqlType::Time(7)), from_parts;
    "ISDATE", 1, 1, false, false, |_| Ok(I), is_date;
    "SWITCHOFFSET", 2, 2, true, false, |t| Ok(offset_type(t[0])), switch_offset;
    "TODATETIMEOFFSET", 2, 2, true, false, |t| Ok(offset_type(t[0])), to_offset;
}

fn now(call: &mut Call<'_>, _: &[Value]) -> SqlResult<Value> {
    let m = call.facts.clock();
    let m = match call.result {
        SqlType::DateTimeOffset(_) => m,
        _ => Moment { offset: 0, ..m },
    };
    Ok(m.to_value(call.result).unwrap_or(Value::Null))
}

fn utc_now(call: &mut Call<'_>, _: &[Value]) -> SqlResult<Value> {
    let utc = Moment::from_total(call.facts.clock().total_utc());
    Ok(utc.and_then(|m| m.to_value(call.result)).unwrap_or(Value::Null))
}

const PARTS: [DatePart; 15] = [
    DatePart::Year,
    DatePart::Quarter,
    DatePart::Month,
    DatePart::DayOfYear,
    DatePart::Day,
    DatePart::Week,
    DatePart::Weekday,
    DatePart::Hour,
    DatePart::Minute,
    DatePart::Second,
    DatePart::Millisecond,
    DatePart::Microsecond,
    DatePart::Nanosecond,
    DatePart::TzOffset,
    DatePart::IsoWeek,
];

pub(crate) fn part_of(args: &[Value]) -> SqlResult<DatePart> {
    let code = args[0].as_i64().and_then(|n| usize::try_from(n).ok());
    code.and_then(|n| PARTS.get(n).copied())
        .ok_or_else(|| SqlError::new(messages::DATEPART_INVALID, &[&1, &"date function"]))
}

/// 9810 where a type does not have a part: hours of a date, days of a time.
pub(crate) fn exact_part(part: DatePart, t: SqlType, function: &str) -> SqlResult<()> {
    let missing = match t {
        SqlType::Date => part.is_time() || part == DatePart::TzOffset,
        SqlType::Time(_) => !part.is_time(),
        SqlType::DateTimeOffset(_) | SqlType::DateTime2(_) => false,
        _ => part == DatePart::TzOffset,
    };
    if missing { Err(not_supported(part, function, t)) } else { Ok(()) }
}

/// 9810
pub(crate) fn not_supported(part: DatePart, function: &str, t: SqlType) -> SqlError {
    let facts: [&dyn std::fmt::Display; 3] = [&part.name(), &function, &t.name()];
    SqlError::new(messages::DATEPART_NOT_SUPPORTED, &facts)
}

fn add(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let part = part_of(args)?;
    let (m, t) = call.moment(args, 2)?;
    exact_part(part, t, "dateadd")?;
    // A fraction is cut; beyond int is an error.
    let number = call.to(args, 1, SqlType::Int)?.as_i64().unwrap_or(0);
    // The old types have none of the finest parts.
    let too_fine = matches!(t, SqlType::DateTime | SqlType::SmallDateTime)
        && matches!(part, DatePart::Microsecond | DatePart::Nanosecond);
    if too_fine || matches!(part, DatePart::TzOffset | DatePart::IsoWeek) {
        return Err(not_supported(part, "dateadd", t));
    }
    if let SqlType::Time(_) = t {
        // A time goes around the clock.
        let shifted = date_add(part, number, Moment { days: DAYS_1900 * 2, ..m });
        return Ok(shifted.and_then(|m| m.to_value(t)).unwrap_or(Value::Null));
    }
    date_add(part, number, m)
        .and_then(|m| m.to_value(t))
        .ok_or_else(|| SqlError::new(messages::DATETIME_OVERFLOW_ADD, &[&t.name()]))
}

/// An argument whose parts are asked: text is read with all its digits and its offset.
fn exact(call: &Call<'_>, args: &[Value], i: usize) -> SqlResult<(Moment, SqlType)> {
    if !call.arg_types[i].is_character() {
        return call.moment(args, i);
    }
    let t = SqlType::DateTimeOffset(7);
    let m = Moment::of(&call.to(args, i, t)?).ok_or_else(|| call.invalid(i, "date"))?;
    Ok((m, t))
}

fn diff(call: &mut Call<'_>, args: &[Value], result: SqlType) -> SqlResult<Value> {
    let part = part_of(args)?;
    let function = if result == SqlType::Int { "datediff" } else { "datediff_big" };
    let ((a, t), (b, u)) = (exact(call, args, 1)?, exact(call, args, 2)?);
    // Either side lacks nothing here but the parts that are no durations; two times have no days.
    let of_times = matches!((t, u), (SqlType::Time(_), SqlType::Time(_)));
    if matches!(part, DatePart::TzOffset | DatePart::IsoWeek) || (of_times && !part.is_time()) {
        return Err(not_supported(part, function, t));
    }
    date_diff(part, a, b)
        .and_then(|n| fit_number(n as i128, result))
        .ok_or_else(|| SqlError::new(messages::DATEPART_OVERFLOW, &[&function]))
}

pub(crate) fn date_first(call: &Call<'_>) -> SqlResult<u8> {
    let fact = call.facts.fact(crate::call::Fact::DateFirst)?.as_i64();
    Ok(fact.and_then(|n| u8::try_from(n).ok()).filter(|n| (1..=7).contains(n)).unwrap_or(7))
}

/// A moment as its parts are asked: the thirds of milliseconds of a datetime count as printed.
fn shown(part: DatePart, m: Moment, t: SqlType) -> Moment {
    const MILLISECOND: u64 = SECOND_TICKS / 1000;
    if part != DatePart::Millisecond || t != SqlType::DateTime {
        return m;
    }
    let second = m.ticks - m.ticks % SECOND_TICKS;
    let printed = (m.ticks % SECOND_TICKS + MILLISECOND / 3 + 1) / MILLISECOND;
    Moment { ticks: second + printed.min(999) * MILLISECOND, ..m }
}

fn name(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let part = part_of(args)?;
    let (m, t) = exact(call, args, 1)?;
    exact_part(part, t, "datename")?;
    let (first, language) = (date_first(call)?, call.facts.dialect().language);
    Ok(Value::nvarchar(&date_name(part, shown(part, m, t), first, language)))
}

fn part(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let part = part_of(args)?;
    let (m, t) = exact(call, args, 1)?;
    exact_part(part, t, "datepart")?;
    Ok(Value::Int(date_part(part, shown(part, m, t), date_first(call)?)))
}

fn one_part(call: &mut Call<'_>, args: &[Value], part: DatePart) -> SqlResult<Value> {
    let (m, t) = exact(call, args, 0)?;
    exact_part(part, t, part.name())?;
    Ok(Value::Int(date_part(part, m, 7)))
}

fn end_of_month(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let (m, t) = call.moment(args, 0)?;
    if let SqlType::Time(_) = t {
        return Err(invalid_argument(t, 0, "eomonth"));
    }
    let months = if args.len() > 1 { call.int(args, 1)? } else { 0 };
    let end =
        date_add(DatePart::Month, months, Moment { ticks: 0, offset: 0, ..m }).and_then(|m| {
            let (year, month, _) = m.civil();
            Moment::from_civil(year, month, days_in_month(year, month), 0)
        });
    end.and_then(|m| m.to_value(SqlType::Date))
        .ok_or_else(|| SqlError::new(messages::DATETIME_OVERFLOW_ADD, &[&"date"]))
}

/// The …FROMPARTS family, told apart by the result type.
fn from_parts(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let state = match call.result {
        SqlType::Date => 1,
        SqlType::Time(_) => 2,
        SqlType::DateTime => 3,
        SqlType::SmallDateTime => 4,
        SqlType::DateTimeOffset(_) => 6,
        _ => 5,
    };
    let name = call.result.name();
    let failed = || SqlError::new(messages::CONSTRUCT_DATE_FAILED, &[&name]).with_state(state);
    let mut n = [0_u64; 10];
    let mut signs = [1_i64; 10];
    for (i, slot) in n.iter_mut().enumerate().take(args.len()) {
        let value = call.to(args, i, SqlType::Int)?.as_i64().unwrap_or(0);
        signs[i] = value.signum();
        *slot = value.unsigned_abs();
    }
    // Only the offset's parts may be negative.
    if signs.iter().take(args.len().min(7)).any(|&s| s < 0) {
        return Err(failed());
    }
    let time = |h: u64, m: u64, s: u64, ticks: u64| {
        if h > 23 || m > 59 || s > 59 || ticks >= SECOND_TICKS {
            return None;
        }
        Some(((h * 60 + m) * 60 + s) * SECOND_TICKS + ticks)
    };
    let fraction = |n: u64, digits: u64| {
        let limit = 10_u64.checked_pow(u32::try_from(digits).ok()?)?;
        (digits <= 7 && n < limit).then(|| n * (SECOND_TICKS / limit))
    };
    let ticks = match call.result {
        SqlType::Date => Some(0),
        SqlType::SmallDateTime => time(n[3], n[4], 0, 0),
        SqlType::DateTime => (n[6] < 1000).then(|| time(n[3], n[4], n[5], n[6] * 10_000)).flatten(),
        SqlType::Time(_) => fraction(n[3], n[4]).and_then(|f| time(n[0], n[1], n[2], f)),
        SqlType::DateTimeOffset(_) => fraction(n[6], n[9]).and_then(|f| time(n[3], n[4], n[5], f)),
        _ => fraction(n[6], n[7]).and_then(|f| time(n[3], n[4], n[5], f)),
    };
    let ticks = ticks.ok_or_else(failed)?;
    let moment = if let SqlType::Time(_) = call.result {
        Some(Moment { days: DAYS_1900, ticks, offset: 0 })
    } else {
        let small = |i: usize| u32::try_from(n[i]).unwrap_or(u32::MAX);
        Moment::from_civil(i32::try_from(n[0]).unwrap_or(0), small(1), small(2), ticks)
    };
    let mut moment = moment.ok_or_else(failed)?;
    if let SqlType::DateTimeOffset(_) = call.result {
        let offset = signs[7] * (n[7] as i64) * 60 + signs[8] * (n[8] as i64);
        let same_side = signs[7] * signs[8] >= 0;
        if !same_side || n[8] > 59 || !(-840..=840).contains(&offset) {
            return Err(failed());
        }
        moment.offset = offset as i16;
    }
    moment.to_value(call.result).ok_or_else(failed)
}

fn is_date(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let is = match call.arg_types[0] {
        t if t.is_character() => call.to(args, 0, SqlType::DateTime).is_ok(),
        SqlType::DateTime | SqlType::SmallDateTime => true,
        t if t.is_temporal() => return Err(call.invalid(0, "isdate")),
        t => t.family() == Family::Integer && call.to(args, 0, SqlType::DateTime).is_ok(),
    };
    Ok(Value::Int(is as i32))
}

fn offset_type(t: SqlType) -> SqlType {
    SqlType::DateTimeOffset(if t.is_temporal() { t.scale() } else { 7 })
}

/// An offset argument: minutes, or text such as `+05:30`.
fn offset(call: &Call<'_>, args: &[Value], function: &str) -> SqlResult<i16> {
    const FAILED: Message = messages::TIMEZONE_INVALID;
    let failed = || SqlError::new(FAILED, &[&function]);
    let minutes = if call.arg_types[1].is_character() {
        let text = call.string(args, 1)?;
        let (sign, rest) = match text.trim().split_at_checked(1) {
            Some(("+", rest)) => (1, rest),
            Some(("-", rest)) => (-1, rest),
            _ => return Err(failed()),
        };
        let (hours, minutes) = rest.split_once(':').ok_or_else(failed)?;
        let number = |s: &str| s.parse::<u8>().map(i64::from).map_err(|_| failed());
        let (hours, minutes) = (number(hours)?, number(minutes)?);
        if minutes > 59 {
            return Err(failed());
        }
        sign * (hours * 60 + minutes)
    } else {
        call.int(args, 1)?
    };
    if (-840..=840).contains(&minutes) { Ok(minutes as i16) } else { Err(failed()) }
}

fn switch_offset(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let offset = offset(call, args, "switchoffset")?;
    let Value::DateTimeOffset(d) = call.to(args, 0, call.result)? else {
        return Ok(Value::Null);
    };
    let shown = Value::DateTimeOffset(types::DateTimeOffset { offset, ..d });
    // What is shown must be of the calendar too.
    Moment::of(&shown).ok_or_else(offset_overflow)?;
    Ok(shown)
}

fn to_offset(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let offset = offset(call, args, "todatetimeoffset")?;
    let local = call.to(args, 0, SqlType::DateTime2(7))?;
    let moment = Moment::of(&local).map(|m| Moment { offset, ..m });
    moment.and_then(|m| m.to_value(call.result)).ok_or_else(offset_overflow)
}

/// A time beyond the calendar, as AT TIME ZONE says it.
fn offset_overflow() -> SqlError {
    SqlError::new(messages::DATETIME_OVERFLOW_ADD, &[&"datetimeoffset"])
}
