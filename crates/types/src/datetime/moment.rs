//! `Moment`: any temporal value as local day, local time of day and offset.

use super::calendar::{civil_from_days, days_from_civil};
use crate::value::{DateTime, DateTime2, DateTimeOffset, SmallDateTime};
use crate::{SqlType, Value};

/// Units of 100 ns in a second.
pub const SECOND_TICKS: u64 = 10_000_000;
/// Units of 100 ns in a day.
pub const DAY_TICKS: u64 = 864_000_000_000;
/// The day number of 1900-01-01.
pub const DAYS_1900: i32 = 693_595;
/// The day after 9999-12-31.
const DAYS_END: i32 = 3_652_059;
/// The day number of 1753-01-01, the first of `datetime`.
const DAYS_1753: i32 = 639_905;
/// Ticks of `datetime` in a day.
const DATETIME_TICKS: u64 = 25_920_000;

/// A local day and time with its offset from UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Local day, from 0001-01-01.
    pub days: i32,
    /// Local time of day in 100 ns.
    pub ticks: u64,
    /// Minutes east of UTC.
    pub offset: i16,
}

impl Moment {
    /// The moment of a temporal value; a time stands on 1900-01-01.
    pub fn of(value: &Value) -> Option<Moment> {
        let (days, ticks) = match *value {
            Value::Date(days) => (days, 0),
            Value::Time(ticks) => (DAYS_1900, ticks),
            // 1/300 s is a third of 100 000 units.
            Value::DateTime(d) => (d.days + DAYS_1900, (d.ticks as u64 * 100_000 + 1) / 3),
            Value::SmallDateTime(d) => {
                (d.days as i32 + DAYS_1900, d.minutes as u64 * 60 * SECOND_TICKS)
            }
            Value::DateTime2(d) => (d.days, d.ticks),
            Value::DateTimeOffset(d) => {
                let local = d.utc.days as i64 * DAY_TICKS as i64
                    + d.utc.ticks as i64
                    + d.offset as i64 * 60 * SECOND_TICKS as i64;
                let local = Moment::from_total(local)?;
                return Some(Moment { offset: d.offset, ..local });
            }
            _ => return None,
        };
        Some(Moment { days, ticks, offset: 0 })
    }

    /// From year, month, day and a time of day in 100 ns.
    pub fn from_civil(year: i32, month: u32, day: u32, ticks: u64) -> Option<Moment> {
        (ticks < DAY_TICKS).then_some(())?;
        Some(Moment { days: days_from_civil(year, month, day)?, ticks, offset: 0 })
    }

    /// From 100 ns since 0001-01-01; `None` outside the calendar.
    pub fn from_total(total: i64) -> Option<Moment> {
        let days = total.div_euclid(DAY_TICKS as i64);
        let ticks = total.rem_euclid(DAY_TICKS as i64) as u64;
        (0..DAYS_END as i64).contains(&days).then_some(Moment {
            days: days as i32,
            ticks,
            offset: 0,
        })
    }

    /// 100 ns since 0001-01-01, local.
    pub fn total(self) -> i64 {
        self.days as i64 * DAY_TICKS as i64 + self.ticks as i64
    }

    /// 100 ns since 0001-01-01 in UTC.
    pub fn total_utc(self) -> i64 {
        self.total() - self.offset as i64 * 60 * SECOND_TICKS as i64
    }

    /// Year, month and day.
    pub fn civil(self) -> (i32, u32, u32) {
        civil_from_days(self.days)
    }

    /// The value of a temporal type, rounded as the type rounds; `None` outside its range.
    pub fn to_value(self, sql_type: SqlType) -> Option<Value> {
        if !(0..DAYS_END).contains(&self.days) {
            return None;
        }
        Some(match sql_type {
            SqlType::Date => Value::Date(self.days),
            SqlType::Time(scale) => {
                // 23:59:59.9 as time(0) is midnight again.
                Value::Time(rounded(self.ticks, scale) % DAY_TICKS)
            }
            SqlType::DateTime => {
                let ticks = (self.ticks * 3 + 50_000) / 100_000;
                let days = self.days + (ticks / DATETIME_TICKS) as i32;
                (DAYS_1753..DAYS_END).contains(&days).then_some(())?;
                let ticks = (ticks % DATETIME_TICKS) as u32;
                Value::DateTime(DateTime { days: days - DAYS_1900, ticks })
            }
            SqlType::SmallDateTime => {
                // By way of a datetime: 29.999 seconds are 30 there.
                let ticks = (self.ticks * 3 + 50_000) / 100_000;
                let minutes = (ticks + 30 * 300) / (60 * 300);
                let days = self.days + (minutes / 1440) as i32 - DAYS_1900;
                let days = u16::try_from(days).ok()?;
                Value::SmallDateTime(SmallDateTime { days, minutes: (minutes % 1440) as u16 })
            }
            SqlType::DateTime2(scale) => Value::DateTime2(round_day(self.days, self.ticks, scale)),
            SqlType::DateTimeOffset(scale) => {
                let utc = Moment::from_total(self.total_utc())?;
                let utc = round_day(utc.days, utc.ticks, scale);
                Value::DateTimeOffset(DateTimeOffset { utc, offset: self.offset })
            }
            _ => return None,
        })
    }
}

/// Rounded to `scale` digits of a second; may be a whole day.
fn rounded(ticks: u64, scale: u8) -> u64 {
    let unit = 10_u64.pow(7_u32.saturating_sub(scale as u32));
    (ticks + unit / 2) / unit * unit
}

fn round_day(days: i32, ticks: u64, scale: u8) -> DateTime2 {
    let up = rounded(ticks, scale);
    if up < DAY_TICKS {
        DateTime2 { days, ticks: up }
    } else if days + 1 < DAYS_END {
        DateTime2 { days: days + 1, ticks: 0 }
    } else {
        // The last moment of the calendar is cut, since it cannot be rounded.
        let unit = 10_u64.pow(7_u32.saturating_sub(scale as u32));
        DateTime2 { days, ticks: ticks / unit * unit }
    }
}
