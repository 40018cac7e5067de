//! Dates and times as text: the styles of CONVERT, and DATENAME.

use super::calendar::weekday;
use super::hijri::{hijri_from_days, is_hijri, month_name};
use super::language::Language;
use super::moment::{Moment, SECOND_TICKS};
use super::parts::{DatePart, date_part};
use crate::{SqlType, Value};
use std::fmt::Write as _;

/// DATENAME: the part's name in a language, or its number.
pub fn date_name(part: DatePart, m: Moment, date_first: u8, language: &Language) -> String {
    match part {
        DatePart::Month => language.month(m.civil().1).to_owned(),
        DatePart::Weekday => language.day(weekday(m.days)).to_owned(),
        DatePart::TzOffset => offset_text(m.offset),
        part => date_part(part, m, date_first).to_string(),
    }
}

fn offset_text(offset: i16) -> String {
    let sign = if offset < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", offset.unsigned_abs() / 60, offset.unsigned_abs() % 60)
}

/// A temporal value in a style of CONVERT, 0 where none is given, with English names; `None` for
/// a style that the type does not have, and for a day before the calendar of the style.
pub fn print_style(value: &Value, sql_type: SqlType, style: i32) -> Option<String> {
    print_style_in(value, sql_type, style, Language::us_english())
}

/// The same with the months of a language.
pub(crate) fn print_style_in(
    value: &Value,
    sql_type: SqlType,
    style: i32,
    language: &Language,
) -> Option<String> {
    let m = Moment::of(value)?;
    let style = match (style, sql_type) {
        (0, SqlType::DateTime | SqlType::SmallDateTime) => 100,
        // The newer types default to the ODBC form.
        (0, _) => 121,
        (style, _) => style,
    };
    let layout = layout(style)?;
    let has_date = !matches!(sql_type, SqlType::Time(_));
    let hijri = is_hijri(style) && has_date;
    let date = if hijri { hijri_from_days(m.days)? } else { m.civil() };
    let mut printer = Printer { m, date, sql_type, language, out: String::new() };
    let has_time = sql_type != SqlType::Date;
    if (layout.date.is_empty() && !has_time) || (layout.time.is_empty() && !has_date) {
        return None;
    }
    if has_date {
        printer.fill(layout.date);
    }
    if has_time && !layout.time.is_empty() {
        if has_date && !layout.date.is_empty() {
            printer.out.push_str(layout.between);
        }
        let m = printer.m;
        if style == 127 && matches!(sql_type, SqlType::DateTimeOffset(_)) {
            return Some(printer.zulu());
        }
        printer.fill(layout.time);
        if matches!(sql_type, SqlType::DateTimeOffset(_)) && !layout.date.is_empty() {
            if !layout.between.starts_with('T') {
                printer.out.push(' ');
            }
            printer.out.push_str(&offset_text(m.offset));
        }
    }
    Some(printer.out)
}

struct Layout {
    date: &'static str,
    between: &'static str,
    time: &'static str,
}

/// The layouts: `Y` year of four digits, `y` of two, `M` month, `D` day, `N` month's short name,
/// `A` the Hijri month's name, `d` day padded with a blank; `H` hour, `h` of twelve padded with a
/// blank, `m` minute, `s` second, `f` fraction after a point, `c` after a colon, `z` after a point
/// unless it is zero, `p` AM or PM.
fn layout(style: i32) -> Option<Layout> {
    let (date, between, time) = match style {
        1 => ("M/D/y", "", ""),
        101 => ("M/D/Y", "", ""),
        2 => ("y.M.D", "", ""),
        102 => ("Y.M.D", "", ""),
        3 => ("D/M/y", "", ""),
        103 => ("D/M/Y", "", ""),
        4 => ("D.M.y", "", ""),
        104 => ("D.M.Y", "", ""),
        5 => ("D-M-y", "", ""),
        105 => ("D-M-Y", "", ""),
        6 => ("D N y", "", ""),
        106 => ("D N Y", "", ""),
        7 => ("N D, y", "", ""),
        107 => ("N D, Y", "", ""),
        8 | 24 | 108 => ("", "", "H:m:s"),
        9 | 109 => ("N d Y", " ", "h:m:scp"),
        10 => ("M-D-y", "", ""),
        110 => ("M-D-Y", "", ""),
        11 => ("y/M/D", "", ""),
        111 => ("Y/M/D", "", ""),
        12 => ("yMD", "", ""),
        112 => ("YMD", "", ""),
        13 | 113 => ("D N Y", " ", "H:m:sc"),
        14 | 114 => ("", "", "H:m:sc"),
        20 | 120 => ("Y-M-D", " ", "H:m:s"),
        21 | 25 | 121 => ("Y-M-D", " ", "H:m:sf"),
        22 => ("M/D/y", " ", "h:m:s p"),
        23 => ("Y-M-D", "", ""),
        100 => ("N d Y", " ", "h:mp"),
        126 | 127 => ("Y-M-D", "T", "H:m:sz"),
        // Style 131 is dd/mm/yyyy on the page; probes have the day padded with a blank.
        130 => ("d A Y", " ", "h:m:scp"),
        131 => ("d/M/Y", " ", "h:m:scp"),
        _ => return None,
    };
    Some(Layout { date, between, time })
}

/// Whether a date in a style of CONVERT may show the name of a month.
pub(crate) fn names_a_month(style: i32) -> bool {
    // Style 0 of datetime is 100.
    style == 0 || layout(style).is_some_and(|l| l.date.contains('N'))
}

struct Printer<'l> {
    m: Moment,
    /// Year, month and day in the calendar of the style.
    date: (i32, u32, u32),
    sql_type: SqlType,
    language: &'l Language,
    out: String,
}

impl Printer<'_> {
    fn fill(&mut self, layout: &str) {
        let (year, month, day) = self.date;
        let seconds = self.m.ticks / SECOND_TICKS;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let out = &mut self.out;
        for c in layout.chars() {
            // Writing to a String cannot fail.
            let _ = match c {
                'Y' => write!(out, "{year:04}"),
                'y' => write!(out, "{:02}", year % 100),
                'M' => write!(out, "{month:02}"),
                'D' => write!(out, "{day:02}"),
                'd' => write!(out, "{day:2}"),
                'N' => write!(out, "{}", self.language.short_month(month)),
                'A' => write!(out, "{}", month_name(month)),
                'H' => write!(out, "{hour:02}"),
                'h' => write!(out, "{:2}", (hour + 11) % 12 + 1),
                'm' => write!(out, "{minute:02}"),
                's' => write!(out, "{second:02}"),
                'p' => write!(out, "{}", if hour < 12 { "AM" } else { "PM" }),
                'f' => write!(out, "{}", fraction(self.m.ticks, self.sql_type, '.')),
                'c' => write!(out, "{}", fraction(self.m.ticks, self.sql_type, ':')),
                'z' => {
                    let old = matches!(self.sql_type, SqlType::DateTime | SqlType::SmallDateTime);
                    let zero = self.m.ticks.is_multiple_of(SECOND_TICKS);
                    let text = fraction(self.m.ticks, self.sql_type, '.');
                    write!(out, "{}", if old && zero { "" } else { &text })
                }
                other => write!(out, "{other}"),
            };
        }
    }

    /// Style 127 of a datetimeoffset: in UTC, with a Z.
    fn zulu(mut self) -> String {
        self.out.clear();
        // The UTC moment of a stored value lies within the calendar.
        self.m = Moment::from_total(self.m.total_utc()).unwrap_or(self.m);
        self.date = self.m.civil();
        self.fill("Y-M-DTH:m:sz");
        self.out.push('Z');
        self.out
    }
}

/// The fraction of the second with as many digits as the type has.
fn fraction(ticks: u64, sql_type: SqlType, mark: char) -> String {
    let part = ticks % SECOND_TICKS;
    match sql_type {
        SqlType::DateTime | SqlType::SmallDateTime => {
            // Thirds of ten milliseconds print as 0, 3, 7.
            format!("{mark}{:03}", ((part + 3_334) / 10_000).min(999))
        }
        SqlType::Time(0) | SqlType::DateTime2(0) | SqlType::DateTimeOffset(0) => String::new(),
        SqlType::Time(s) | SqlType::DateTime2(s) | SqlType::DateTimeOffset(s) => {
            let unit = 10_u64.pow(7_u32.saturating_sub(s as u32));
            // The newer types keep the point also where datetime has a colon.
            format!(".{:0w$}", part / unit, w = s as usize)
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DateTime;

    #[test]
    fn styles_of_a_datetime_as_documented() {
        // 2006-04-25 15:50:59.997
        let m = Moment::from_civil(2006, 4, 25, 570_599_970_000).unwrap();
        let v = m.to_value(SqlType::DateTime).unwrap();
        let cases = [
            (0, "Apr 25 2006  3:50PM"),
            (1, "04/25/06"),
            (101, "04/25/2006"),
            (2, "06.04.25"),
            (103, "25/04/2006"),
            (4, "25.04.06"),
            (105, "25-04-2006"),
            (106, "25 Apr 2006"),
            (7, "Apr 25, 06"),
            (108, "15:50:59"),
            (109, "Apr 25 2006  3:50:59:997PM"),
            (110, "04-25-2006"),
            (111, "2006/04/25"),
            (112, "20060425"),
            (113, "25 Apr 2006 15:50:59:997"),
            (114, "15:50:59:997"),
            (120, "2006-04-25 15:50:59"),
            (121, "2006-04-25 15:50:59.997"),
            (22, "04/25/06  3:50:59 PM"),
            (23, "2006-04-25"),
            (126, "2006-04-25T15:50:59.997"),
        ];
        for (style, text) in cases {
            assert_eq!(print_style(&v, SqlType::DateTime, style).as_deref(), Some(text), "{style}");
        }
        assert_eq!(print_style(&v, SqlType::DateTime, 99), None);
    }

    #[test]
    fn months_of_a_language() {
        let m = Moment::from_civil(2024, 3, 4, 183_671_230_000).unwrap();
        let v = m.to_value(SqlType::DateTime).unwrap();
        for (language, style, text) in [
            ("German", 100, "Mär  4 2024  5:06AM"),
            ("French", 106, "04 mars 2024"),
            ("Czech", 107, "III 04, 2024"),
            ("Finnish", 113, "04 maalis 2024 05:06:07:123"),
            ("Japanese", 0, "03  4 2024  5:06AM"),
            ("Russian", 120, "2024-03-04 05:06:07"),
        ] {
            let language = Language::by_name(language).unwrap();
            let shown = print_style_in(&v, SqlType::DateTime, style, language);
            assert_eq!(shown.as_deref(), Some(text), "{}", language.name);
            assert_eq!(names_a_month(style), style != 120);
        }
    }

    #[test]
    fn newer_types_print_their_own_digits() {
        let m = Moment { offset: -330, ..Moment::from_civil(2020, 1, 2, 36_610_000_000).unwrap() };
        for (t, style, text) in [
            (SqlType::Date, 0, "2020-01-02"),
            (SqlType::Date, 100, "Jan  2 2020"),
            (SqlType::Time(3), 0, "01:01:01.000"),
            (SqlType::Time(0), 0, "01:01:01"),
            (SqlType::DateTime2(7), 0, "2020-01-02 01:01:01.0000000"),
            (SqlType::DateTime2(0), 126, "2020-01-02T01:01:01"),
            (SqlType::DateTimeOffset(2), 0, "2020-01-02 01:01:01.00 -05:30"),
            (SqlType::DateTimeOffset(0), 126, "2020-01-02T01:01:01-05:30"),
            (SqlType::DateTimeOffset(0), 127, "2020-01-02T06:31:01Z"),
        ] {
            let v = m.to_value(t).unwrap();
            assert_eq!(print_style(&v, t, style).as_deref(), Some(text), "{t} {style}");
        }
        let t = SqlType::Time(0);
        assert_eq!(print_style(&Value::Time(0), t, 101), None);
        let v = Value::DateTime(DateTime { days: 0, ticks: 2 });
        assert_eq!(print_style(&v, SqlType::DateTime, 121).unwrap(), "1900-01-01 00:00:00.007");
    }
}
