//! The proleptic Gregorian calendar from 0001-01-01 (day 0) to 9999-12-31 (day 3 652 058).

/// Days in 400 years.
const ERA_DAYS: i32 = 146_097;
/// Days from 0000-03-01, where the computation is simplest, to 0001-01-01.
const SHIFT: i32 = 306;

/// Whether a year has a 29 February.
pub const fn is_leap_year(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days of a month, 1 to 12.
pub const fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The day number of a date; `None` outside the years 1 to 9999 or for a day that is none.
pub const fn days_from_civil(year: i32, month: u32, day: u32) -> Option<i32> {
    if year < 1 || year > 9999 || month < 1 || month > 12 {
        return None;
    }
    if day < 1 || day > days_in_month(year, month) {
        return None;
    }
    // Years begin in March, so that the leap day is the last.
    let y = if month <= 2 { year - 1 } else { year };
    let m = if month > 2 { month - 3 } else { month + 9 } as i32;
    let (era, of_era) = (y / 400, y % 400);
    let of_year = (153 * m + 2) / 5 + day as i32 - 1;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Some(era * ERA_DAYS + day_of_era - SHIFT)
}

/// Year, month and day of a day number.
pub const fn civil_from_days(days: i32) -> (i32, u32, u32) {
    let z = days + SHIFT;
    let (era, of_era) = (z.div_euclid(ERA_DAYS), z.rem_euclid(ERA_DAYS));
    let y = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * y + y / 4 - y / 100);
    let m = (5 * of_year + 2) / 153;
    let day = (of_year - (153 * m + 2) / 5 + 1) as u32;
    let month = if m < 10 { m + 3 } else { m - 9 } as u32;
    let year = y + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

/// The day of the week, 0 for Monday: 0001-01-01 was one.
pub const fn weekday(days: i32) -> u32 {
    days.rem_euclid(7) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_calendar_returns() {
        let mut expected = 0;
        for year in 1..=9999 {
            for month in 1..=12 {
                let last = days_in_month(year, month);
                for day in [1, last] {
                    let n = days_from_civil(year, month, day).unwrap();
                    assert_eq!(n, expected + day as i32 - 1);
                    assert_eq!(civil_from_days(n), (year, month, day));
                }
                expected += last as i32;
            }
        }
        assert_eq!(expected, 3_652_059);
        assert_eq!(days_from_civil(1900, 1, 1), Some(super::super::DAYS_1900));
        assert_eq!(weekday(days_from_civil(2026, 11, 21).unwrap()), 5);
        assert!(days_from_civil(2023, 2, 29).is_none() && days_from_civil(10000, 1, 1).is_none());
    }
}
