//! The Hijri calendar of CONVERT's styles 130 and 131: the tabular one that Microsoft calls the
//! Kuwaiti algorithm.
//!
//! Months have 30 and 29 days in turn, and the last has 30 in the eleven leap years of each
//! thirty. 1 Muharram 1 is 0622-07-18 (day 227 013), as in .NET's HijriCalendar without an
//! adjustment; days before it have no date here.
//!
//! Probed by others, and given by this calendar: 2000-08-07 is 7/05/1421, 2006-05-16 18/04/1427,
//! 2019-08-23 22/12/1440, 2021-01-26 13/06/1442, 2025-05-28 1/12/1446. The names of months are
//! those of Windows for Arabic (Saudi Arabia); the probes show the twelfth, and the lengths of the
//! fourth's and sixth's words.

/// The day number of 1 Muharram 1.
const EPOCH: i32 = 227_013;
/// The years that a leap year's place is counted in, and their days.
const CYCLE_YEARS: i32 = 30;
const CYCLE_DAYS: i32 = 10_631;

/// Names of the months.
const MONTHS: [&str; 12] = [
    "محرم",
    "صفر",
    "ربيع الأول",
    "ربيع الثاني",
    "جمادى الأولى",
    "جمادى الثانية",
    "رجب",
    "شعبان",
    "رمضان",
    "شوال",
    "ذو القعدة",
    "ذو الحجة",
];

/// Whether a style of CONVERT is one of this calendar.
pub(crate) fn is_hijri(style: i32) -> bool {
    matches!(style, 130 | 131)
}

fn is_leap_year(year: i32) -> bool {
    (year * 11 + 14) % CYCLE_YEARS < 11
}

/// The days of the years before one.
fn days_before_year(year: i32) -> i32 {
    let past = year - 1;
    let of_cycle = past % CYCLE_YEARS;
    let leaps = (1..=of_cycle).filter(|&y| is_leap_year(y)).count() as i32;
    past / CYCLE_YEARS * CYCLE_DAYS + of_cycle * 354 + leaps
}

/// The days of a year before a month, 1 to 12.
fn days_before_month(month: u32) -> i32 {
    let past = month as i32 - 1;
    past * 29 + (past + 1) / 2
}

fn days_in_month(year: i32, month: u32) -> u32 {
    match month {
        12 if is_leap_year(year) => 30,
        m => 29 + m % 2,
    }
}

/// The day number of a date; `None` for one that does not exist.
pub(crate) fn days_from_hijri(year: i32, month: u32, day: u32) -> Option<i32> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    if day < 1 || day > days_in_month(year, month) {
        return None;
    }
    Some(EPOCH + days_before_year(year) + days_before_month(month) + day as i32 - 1)
}

/// Year, month and day of a day number; `None` before the calendar begins.
pub(crate) fn hijri_from_days(days: i32) -> Option<(i32, u32, u32)> {
    let days = days - EPOCH;
    if days < 0 {
        return None;
    }
    // The longest years of a cycle's beginning put the estimate at most one year too far.
    let mut year = days / CYCLE_DAYS * CYCLE_YEARS + days % CYCLE_DAYS * 2 / 709 + 1;
    while days_before_year(year) > days {
        year -= 1;
    }
    while days_before_year(year + 1) <= days {
        year += 1;
    }
    let of_year = days - days_before_year(year);
    let month = (1..12).rev().find(|&m| days_before_month(m + 1) <= of_year).map_or(1, |m| m + 1);
    Some((year, month, (of_year - days_before_month(month) + 1) as u32))
}

/// The name of a month, 1 to 12.
pub(crate) fn month_name(month: u32) -> &'static str {
    MONTHS[month as usize - 1]
}

/// The month that a text names, and the text with a blank in the name's place.
pub(crate) fn take_month(text: &str) -> Option<(u32, String)> {
    let month = MONTHS.iter().position(|name| text.contains(name))?;
    Some((month as u32 + 1, text.replacen(MONTHS[month], " ", 1)))
}

#[cfg(test)]
mod tests {
    use super::super::days_from_civil;
    use super::*;

    #[test]
    fn every_day_since_the_first_returns() {
        let last = days_from_civil(9999, 12, 31).unwrap();
        let (mut year, mut month, mut day) = (1, 1, 0);
        for days in EPOCH..=last {
            day += 1;
            if day > days_in_month(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
            assert_eq!(hijri_from_days(days), Some((year, month, day)));
            assert_eq!(days_from_hijri(year, month, day), Some(days));
        }
        // HijriCalendar's last supported day.
        assert_eq!((year, month, day), (9666, 4, 3));
        assert_eq!(hijri_from_days(EPOCH - 1), None);
        assert_eq!(days_from_civil(622, 7, 18), Some(EPOCH));
        assert!(days_from_hijri(1440, 2, 30).is_none() && days_from_hijri(0, 1, 1).is_none());
    }
}
