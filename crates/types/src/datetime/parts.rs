//! DATEPART, DATEADD and DATEDIFF on moments.

use super::calendar::{days_from_civil, days_in_month, weekday};
use super::moment::{DAY_TICKS, Moment, SECOND_TICKS};

/// A part of a date or time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DatePart {
    /// year, yy, yyyy
    Year,
    /// quarter, qq, q
    Quarter,
    /// month, mm, m
    Month,
    /// dayofyear, dy, y
    DayOfYear,
    /// day, dd, d
    Day,
    /// week, wk, ww
    Week,
    /// weekday, dw, w
    Weekday,
    /// hour, hh
    Hour,
    /// minute, mi, n
    Minute,
    /// second, ss, s
    Second,
    /// millisecond, ms
    Millisecond,
    /// microsecond, mcs
    Microsecond,
    /// nanosecond, ns
    Nanosecond,
    /// tzoffset, tz
    TzOffset,
    /// iso_week, isowk, isoww
    IsoWeek,
}

const NAMES: &[(DatePart, &[&str])] = &[
    (DatePart::Year, &["year", "yy", "yyyy"]),
    (DatePart::Quarter, &["quarter", "qq", "q"]),
    (DatePart::Month, &["month", "mm", "m"]),
    (DatePart::DayOfYear, &["dayofyear", "dy", "y"]),
    (DatePart::Day, &["day", "dd", "d"]),
    (DatePart::Week, &["week", "wk", "ww"]),
    (DatePart::Weekday, &["weekday", "dw", "w"]),
    (DatePart::Hour, &["hour", "hh"]),
    (DatePart::Minute, &["minute", "mi", "n"]),
    (DatePart::Second, &["second", "ss", "s"]),
    (DatePart::Millisecond, &["millisecond", "ms"]),
    (DatePart::Microsecond, &["microsecond", "mcs"]),
    (DatePart::Nanosecond, &["nanosecond", "ns"]),
    (DatePart::TzOffset, &["tzoffset", "tz"]),
    (DatePart::IsoWeek, &["iso_week", "isowk", "isoww"]),
];

impl DatePart {
    /// The part of a name or abbreviation, in any case.
    pub fn by_name(name: &str) -> Option<DatePart> {
        NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|n| n.eq_ignore_ascii_case(name)))
            .map(|&(part, _)| part)
    }

    /// Its full name, for error texts.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(part, _)| *part == self).map_or("", |(_, names)| names[0])
    }

    /// A part of the day rather than of the calendar.
    pub fn is_time(self) -> bool {
        self.ticks().is_some() && self != DatePart::Week && self.ticks() < Some(DAY_TICKS as i64)
    }

    /// 100 ns in one unit, where the unit has a fixed length of at least 100 ns.
    fn ticks(self) -> Option<i64> {
        Some(match self {
            DatePart::Week => 7 * DAY_TICKS as i64,
            DatePart::Day | DatePart::DayOfYear | DatePart::Weekday => DAY_TICKS as i64,
            DatePart::Hour => 3600 * SECOND_TICKS as i64,
            DatePart::Minute => 60 * SECOND_TICKS as i64,
            DatePart::Second => SECOND_TICKS as i64,
            DatePart::Millisecond => 10_000,
            DatePart::Microsecond => 10,
            DatePart::Nanosecond => 1,
            DatePart::Year
            | DatePart::Quarter
            | DatePart::Month
            | DatePart::TzOffset
            | DatePart::IsoWeek => return None,
        })
    }
}

/// The part of a moment; `date_first` is `@@DATEFIRST` (1 Monday to 7 Sunday).
pub fn date_part(part: DatePart, m: Moment, date_first: u8) -> i32 {
    let (year, month, day) = m.civil();
    let second_part = (m.ticks % SECOND_TICKS) as i32;
    let seconds = (m.ticks / SECOND_TICKS) as i32;
    match part {
        DatePart::Year => year,
        DatePart::Quarter => (month as i32 + 2) / 3,
        DatePart::Month => month as i32,
        DatePart::DayOfYear => day_of_year(m.days, year),
        DatePart::Day => day as i32,
        DatePart::Week => {
            let january_1 = m.days - (day_of_year(m.days, year) - 1);
            (day_of_year(m.days, year) + numbered(january_1, date_first) - 2) / 7 + 1
        }
        DatePart::Weekday => numbered(m.days, date_first),
        DatePart::Hour => seconds / 3600,
        DatePart::Minute => seconds / 60 % 60,
        DatePart::Second => seconds % 60,
        DatePart::Millisecond => second_part / 10_000,
        DatePart::Microsecond => second_part / 10,
        DatePart::Nanosecond => second_part * 100,
        DatePart::TzOffset => m.offset as i32,
        DatePart::IsoWeek => iso_week(m.days),
    }
}

fn day_of_year(days: i32, year: i32) -> i32 {
    let january_1 = days_from_civil(year, 1, 1).expect("the year of a day in the calendar");
    days - january_1 + 1
}

/// The number of a day's weekday when weeks begin on `date_first`.
fn numbered(days: i32, date_first: u8) -> i32 {
    (weekday(days) as i32 + 8 - date_first as i32).rem_euclid(7) + 1
}

/// The week of the year by ISO 8601: the one that holds the week's Thursday.
fn iso_week(days: i32) -> i32 {
    let thursday = days - weekday(days) as i32 + 3;
    let (year, ..) = super::calendar::civil_from_days(thursday);
    let january_1 = days_from_civil(year, 1, 1).unwrap_or(0);
    (thursday - january_1) / 7 + 1
}

/// The moment `number` units later; `None` outside the calendar.
pub fn date_add(part: DatePart, number: i64, m: Moment) -> Option<Moment> {
    let months = match part {
        DatePart::Year => number.checked_mul(12)?,
        DatePart::Quarter => number.checked_mul(3)?,
        DatePart::Month => number,
        DatePart::TzOffset | DatePart::IsoWeek => return None,
        // Nanoseconds count in whole units of 100.
        DatePart::Nanosecond => {
            let units = (number + 50 * number.signum()) / 100;
            return Some(Moment { offset: m.offset, ..Moment::from_total(m.total() + units)? });
        }
        fixed => {
            let shift = number.checked_mul(fixed.ticks()?)?;
            let total = m.total().checked_add(shift)?;
            return Some(Moment { offset: m.offset, ..Moment::from_total(total)? });
        }
    };
    let (year, month, day) = m.civil();
    let count = (year as i64 * 12 + month as i64 - 1).checked_add(months)?;
    let year = i32::try_from(count.div_euclid(12)).ok()?;
    let month = count.rem_euclid(12) as u32 + 1;
    let day = day.min(days_in_month(year, month));
    Some(Moment { days: days_from_civil(year, month, day)?, ..m })
}

/// How many boundaries of the part lie between two moments; `None` beyond a bigint.
pub fn date_diff(part: DatePart, from: Moment, to: Moment) -> Option<i64> {
    let (a, b) = (from.total_utc(), to.total_utc());
    let civil =
        |total: i64| super::calendar::civil_from_days((total.div_euclid(DAY_TICKS as i64)) as i32);
    let ((year_a, month_a, _), (year_b, month_b, _)) = (civil(a), civil(b));
    let months = |year: i32, month: u32| year as i64 * 12 + month as i64 - 1;
    Some(match part {
        DatePart::Year => year_b as i64 - year_a as i64,
        DatePart::Quarter => months(year_b, month_b) / 3 - months(year_a, month_a) / 3,
        DatePart::Month => months(year_b, month_b) - months(year_a, month_a),
        // Weeks begin on Sunday here, whatever DATEFIRST says; day 0 is a Monday.
        DatePart::Week => {
            let week = |total: i64| (total.div_euclid(DAY_TICKS as i64) + 1).div_euclid(7);
            week(b) - week(a)
        }
        DatePart::Nanosecond => (b - a).checked_mul(100)?,
        DatePart::TzOffset | DatePart::IsoWeek => return None,
        fixed => {
            let unit = fixed.ticks()?;
            b.div_euclid(unit) - a.div_euclid(unit)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(year: i32, month: u32, day: u32, seconds: u64) -> Moment {
        Moment::from_civil(year, month, day, seconds * SECOND_TICKS).unwrap()
    }

    #[test]
    fn parts_of_documented_dates() {
        // DATEPART's page: 2007-10-30 12:15:32.1234567 +05:10 with DATEFIRST 7.
        let m = Moment { ticks: 441_321_234_567, offset: 310, ..at(2007, 10, 30, 0) };
        let cases = [
            (DatePart::Year, 2007),
            (DatePart::Quarter, 4),
            (DatePart::Month, 10),
            (DatePart::DayOfYear, 303),
            (DatePart::Day, 30),
            (DatePart::Week, 44),
            (DatePart::Weekday, 3),
            (DatePart::Hour, 12),
            (DatePart::Minute, 15),
            (DatePart::Second, 32),
            (DatePart::Millisecond, 123),
            (DatePart::Microsecond, 123_456),
            (DatePart::Nanosecond, 123_456_700),
            (DatePart::TzOffset, 310),
            (DatePart::IsoWeek, 44),
        ];
        for (part, expected) in cases {
            assert_eq!(date_part(part, m, 7), expected, "{part:?}");
        }
    }

    #[test]
    fn adding_months_keeps_to_the_end_of_the_month() {
        assert_eq!(date_add(DatePart::Month, 1, at(2006, 8, 31, 5)), Some(at(2006, 9, 30, 5)));
        assert_eq!(date_add(DatePart::Year, -1, at(2024, 2, 29, 0)), Some(at(2023, 2, 28, 0)));
        assert_eq!(date_add(DatePart::Day, 1, at(9999, 12, 31, 0)), None);
        assert_eq!(date_add(DatePart::Hour, i64::MAX, at(2000, 1, 1, 0)), None);
        assert_eq!(date_add(DatePart::Month, i64::MAX, at(2000, 1, 1, 0)), None);
    }

    #[test]
    fn differences_count_boundaries() {
        // DATEDIFF's page: one tick apart, every boundary crossed once.
        let a = Moment { ticks: DAY_TICKS - 1, ..at(2005, 12, 31, 0) };
        let b = at(2006, 1, 1, 0);
        for part in [
            DatePart::Year,
            DatePart::Quarter,
            DatePart::Month,
            DatePart::DayOfYear,
            DatePart::Day,
            DatePart::Week,
            DatePart::Hour,
            DatePart::Minute,
            DatePart::Second,
            DatePart::Millisecond,
            DatePart::Microsecond,
        ] {
            assert_eq!(date_diff(part, a, b), Some(1), "{part:?}");
            assert_eq!(date_diff(part, b, a), Some(-1), "{part:?}");
        }
    }
}
