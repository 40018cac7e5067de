//! Dates and times from text.
//!
//! Accepted, in any order that is not ambiguous: ISO forms, numbers split by `/`, `-` or `.` in
//! the order of DATEFORMAT (or of the style), names of months in the session's language and in no
//! other, times with AM or PM, fractions after `.` (decimal) or `:` (thousandths), offsets. An
//! absent date is 1900-01-01, an absent time midnight. Years of two digits up to 49 lie in this
//! century. In the styles of the Hijri calendar numbers and month names are its own, and a year
//! has four digits.

use super::calendar::days_from_civil;
use super::hijri::{days_from_hijri, is_hijri, take_month};
use super::language::{Dialect, Language};
use super::moment::{DAYS_1900, Moment, SECOND_TICKS};
use crate::SqlType;
use std::borrow::Cow;

/// The order of numbers in a date, as SET DATEFORMAT names it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DateFormat {
    /// month, day, year: us_english
    #[default]
    Mdy,
    /// day, month, year
    Dmy,
    /// year, month, day
    Ymd,
    /// year, day, month
    Ydm,
    /// month, year, day
    Myd,
    /// day, year, month
    Dym,
}

impl DateFormat {
    /// All, in the order in which `sys.dm_exec_plan_attributes` counts them from 1.
    pub const ALL: [DateFormat; 6] = [
        DateFormat::Mdy,
        DateFormat::Dmy,
        DateFormat::Ymd,
        DateFormat::Ydm,
        DateFormat::Myd,
        DateFormat::Dym,
    ];

    /// The format of SET DATEFORMAT's argument, in any case.
    pub fn by_name(name: &str) -> Option<DateFormat> {
        DateFormat::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(name))
    }

    /// Its name in `sys.dm_exec_sessions.date_format`.
    pub fn name(self) -> &'static str {
        match self {
            DateFormat::Mdy => "mdy",
            DateFormat::Dmy => "dmy",
            DateFormat::Ymd => "ymd",
            DateFormat::Ydm => "ydm",
            DateFormat::Myd => "myd",
            DateFormat::Dym => "dym",
        }
    }

    /// The order that a style of CONVERT prescribes, else this one.
    fn of_style(self, style: i32) -> DateFormat {
        match style {
            1 | 10 | 22 | 101 | 110 => DateFormat::Mdy,
            3 | 4 | 5 | 103 | 104 | 105 => DateFormat::Dmy,
            2 | 11 | 12 | 102 | 111 | 112 => DateFormat::Ymd,
            130 | 131 => DateFormat::Dmy,
            // ODBC's and ISO's forms begin with the year.
            20 | 21 | 23 | 25 | 120 | 121 | 126 | 127 => DateFormat::Ymd,
            _ => self,
        }
    }

    /// Whether the day stands before the month.
    fn day_first(self) -> bool {
        matches!(self, DateFormat::Dmy | DateFormat::Ydm | DateFormat::Dym)
    }
}

/// Why text is no date.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParseFailure {
    /// It does not read as one.
    Syntax,
    /// It reads as one that does not exist, such as 30 February.
    Range,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Token<'a> {
    Number(&'a str),
    Word(&'a str),
    /// The name of a month, from 1.
    Month(u32),
    Mark(u8),
}

/// Reads a date, a time or both, for a type.
pub fn parse_date(text: &str, sql_type: SqlType, style: i32, dialect: Dialect) -> Option<Moment> {
    parse(text, sql_type, style, dialect).ok()
}

pub(crate) fn parse(
    text: &str,
    sql_type: SqlType,
    style: i32,
    dialect: Dialect,
) -> Result<Moment, ParseFailure> {
    let hijri = is_hijri(style);
    let (month, latin) = match take_month(text) {
        Some((month, rest)) if hijri => (Some(month), Cow::Owned(rest)),
        _ => (None, Cow::Borrowed(text)),
    };
    let tokens = tokens(&latin, dialect.language)?;
    let old = matches!(sql_type, SqlType::DateTime | SqlType::SmallDateTime);
    let mut reader = Reader { tokens: &tokens, old, hijri, month, ..Reader::default() };
    reader.read()?;
    if dialect.language.numbers_months() {
        reader.name_a_number();
    }
    let days = reader.day(dialect.format.of_style(style))?;
    if reader.offset.is_some() && old && !reader.zulu {
        return Err(ParseFailure::Syntax);
    }
    let offset = reader.offset.unwrap_or(0);
    Ok(Moment { days, ticks: reader.ticks.unwrap_or(0), offset })
}

/// Whether a text may mean another date in another language.
pub(crate) fn names_matter(mut units: impl Iterator<Item = u16>) -> bool {
    // The languages whose months are numbers read them between blanks.
    !units
        .all(|unit| u8::try_from(unit).is_ok_and(|b| b.is_ascii_digit() || b"/-.:TZ+".contains(&b)))
}

fn tokens<'a>(text: &'a str, language: &Language) -> Result<Vec<Token<'a>>, ParseFailure> {
    let text = text.trim_matches(' ');
    if text.len() > 4 * TEXT_MAX || text.chars().count() > TEXT_MAX {
        return Err(ParseFailure::Syntax);
    }
    let mut out = Vec::with_capacity(12);
    let mut rest = text;
    while let Some(&first) = rest.as_bytes().first() {
        let (token, length) = match first {
            b'0'..=b'9' => {
                let length = rest.bytes().take_while(u8::is_ascii_digit).count();
                (Token::Number(&rest[..length]), length)
            }
            b'A'..=b'Z' | b'a'..=b'z' | 128.. => word(rest, language)?,
            mark => (Token::Mark(mark), 1),
        };
        out.push(token);
        rest = &rest[length..];
    }
    Ok(out)
}

/// The month, or else the word of Latin letters, with which a text begins.
fn word<'a>(text: &'a str, language: &Language) -> Result<(Token<'a>, usize), ParseFailure> {
    if let Some((month, length)) = language.leading_month(text) {
        return Ok((Token::Month(month), length));
    }
    match text.bytes().take_while(u8::is_ascii_alphabetic).count() {
        0 => Err(ParseFailure::Syntax),
        length => Ok((Token::Word(&text[..length]), length)),
    }
}

/// The longest text that is read as a date, in characters.
const TEXT_MAX: usize = 128;

#[derive(Default)]
struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
    /// datetime or smalldatetime: at most three digits of fraction, no offset.
    old: bool,
    /// Numbers and names are of the Hijri calendar.
    hijri: bool,
    /// Numbers of the date in order.
    date: Vec<&'a str>,
    /// The marks between them.
    marks: Vec<u8>,
    month: Option<u32>,
    ticks: Option<u64>,
    offset: Option<i16>,
    zulu: bool,
    /// A `T` joined date and time.
    iso: bool,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn read(&mut self) -> Result<(), ParseFailure> {
        while let Some(token) = self.peek(0) {
            match token {
                Token::Mark(b' ' | b',' | b'\t') => self.at += 1,
                Token::Mark(mark @ (b'/' | b'-' | b'.')) => {
                    if self.date.is_empty() && self.month.is_none() {
                        return Err(ParseFailure::Syntax);
                    }
                    self.marks.push(mark);
                    self.at += 1;
                }
                Token::Mark(_) => return Err(ParseFailure::Syntax),
                Token::Word(word) => self.word(word)?,
                Token::Month(_) if self.month.is_some() || self.hijri => {
                    return Err(ParseFailure::Syntax);
                }
                Token::Month(month) => {
                    self.month = Some(month);
                    self.at += 1;
                }
                Token::Number(number) if self.starts_time() => self.time(number)?,
                Token::Number(number) => {
                    if self.date.len() == 3 {
                        return Err(ParseFailure::Syntax);
                    }
                    self.date.push(number);
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    /// A number before a colon, before AM or PM, or after `T`.
    fn starts_time(&self) -> bool {
        match self.peek(1) {
            Some(Token::Mark(b':')) => true,
            Some(Token::Word(word)) => noon(word).is_some(),
            Some(Token::Mark(b' ')) => {
                matches!(self.peek(2), Some(Token::Word(word)) if noon(word).is_some())
            }
            _ => false,
        }
    }

    fn word(&mut self, word: &str) -> Result<(), ParseFailure> {
        self.at += 1;
        if word.eq_ignore_ascii_case("t") && !self.date.is_empty() && self.ticks.is_none() {
            self.iso = true;
            return Ok(());
        }
        Err(ParseFailure::Syntax)
    }

    /// Where months have numbers for names, three numbers without marks have one between them.
    fn name_a_number(&mut self) {
        if self.date.len() != 3 || !self.marks.is_empty() || self.month.is_some() {
            return;
        }
        let month = |piece: &str| match piece.parse::<u32>() {
            Ok(n) if piece.len() == 2 && (1..=12).contains(&n) => Some(n),
            _ => None,
        };
        if let Some(at) = self.date.iter().position(|piece| month(piece).is_some()) {
            self.month = month(self.date.remove(at));
        }
    }

    /// `hh[:mm[:ss[.f]]] [AM|PM] [Z|+hh:mm]`
    fn time(&mut self, hour: &str) -> Result<(), ParseFailure> {
        if self.ticks.is_some() {
            return Err(ParseFailure::Syntax);
        }
        self.at += 1;
        let mut hour = small(hour)?;
        let minute = self.after_colon()?.unwrap_or(0);
        let second = self.after_colon()?.unwrap_or(0);
        let fraction = self.fraction()?;
        self.skip_blanks();
        if let Some(Token::Word(word)) = self.peek(0)
            && let Some(afternoon) = noon(word)
        {
            self.at += 1;
            if hour > 12 && !afternoon {
                return Err(ParseFailure::Syntax);
            }
            hour = match (hour, afternoon) {
                (12, false) => 0,
                (h, true) if h < 12 => h + 12,
                (h, _) => h,
            };
        }
        if hour > 23 || minute > 59 || second > 59 {
            return Err(ParseFailure::Range);
        }
        let seconds = hour as u64 * 3600 + minute as u64 * 60 + second as u64;
        self.ticks = Some(seconds * SECOND_TICKS + fraction);
        self.zone()
    }

    fn after_colon(&mut self) -> Result<Option<u32>, ParseFailure> {
        match (self.peek(0), self.peek(1)) {
            (Some(Token::Mark(b':')), Some(Token::Number(n))) => {
                self.at += 2;
                small(n).map(Some)
            }
            (Some(Token::Mark(b':')), _) => Err(ParseFailure::Syntax),
            _ => Ok(None),
        }
    }

    /// A fraction of the second in 100 ns.
    fn fraction(&mut self) -> Result<u64, ParseFailure> {
        let (Some(Token::Mark(mark @ (b'.' | b':'))), Some(Token::Number(digits))) =
            (self.peek(0), self.peek(1))
        else {
            return Ok(0);
        };
        self.at += 2;
        if digits.len() > if self.old { 3 } else { 7 } {
            return Err(ParseFailure::Syntax);
        }
        let n: u64 = digits.parse().map_err(|_| ParseFailure::Syntax)?;
        if mark == b':' {
            // Thousandths, however many digits.
            return if n < 1000 { Ok(n * 10_000) } else { Err(ParseFailure::Syntax) };
        }
        Ok(n * 10_u64.pow(7 - digits.len() as u32))
    }

    fn zone(&mut self) -> Result<(), ParseFailure> {
        self.skip_blanks();
        match (self.peek(0), self.peek(1)) {
            (Some(Token::Word(z)), _) if z.eq_ignore_ascii_case("z") => {
                self.at += 1;
                self.offset = Some(0);
                self.zulu = true;
            }
            (Some(Token::Mark(sign @ (b'+' | b'-'))), Some(Token::Number(hours))) => {
                self.at += 2;
                let hours = small(hours)?;
                let minutes = self.after_colon()?.ok_or(ParseFailure::Syntax)?;
                let total = hours as i16 * 60 + minutes as i16;
                if minutes > 59 || total > 840 {
                    return Err(ParseFailure::Syntax);
                }
                self.offset = Some(if sign == b'-' { -total } else { total });
            }
            _ => {}
        }
        Ok(())
    }

    fn skip_blanks(&mut self) {
        while self.peek(0) == Some(Token::Mark(b' ')) {
            self.at += 1;
        }
    }

    /// The day, from what was collected.
    fn day(&self, format: DateFormat) -> Result<i32, ParseFailure> {
        if let Some(month) = self.month {
            return self.day_of_named_month(month);
        }
        match *self.date.as_slice() {
            [] if self.iso => Err(ParseFailure::Syntax),
            [] => Ok(DAYS_1900),
            [one] => match one.len() {
                8 => self.civil(number(&one[..4])?, number(&one[4..6])?, number(&one[6..])?),
                6 => self.civil(self.year(&one[..2])?, number(&one[2..4])?, number(&one[4..])?),
                4 => self.civil(number(one)?, 1, 1),
                _ => Err(ParseFailure::Syntax),
            },
            [a, b, c] => self.day_of_three(a, b, c, format),
            _ => Err(ParseFailure::Syntax),
        }
    }

    fn day_of_named_month(&self, month: u32) -> Result<i32, ParseFailure> {
        let month = month as i32;
        match *self.date.as_slice() {
            [year] => self.civil(self.year(year)?, month, 1),
            [a, b] if a.len() > 2 => self.civil(self.year(a)?, month, number(b)?),
            [a, b] => self.civil(self.year(b)?, month, number(a)?),
            _ => Err(ParseFailure::Syntax),
        }
    }

    fn day_of_three(
        &self,
        a: &str,
        b: &str,
        c: &str,
        format: DateFormat,
    ) -> Result<i32, ParseFailure> {
        if self.marks.len() != 2 {
            return Err(ParseFailure::Syntax);
        }
        // A number of four digits is the year wherever it stands; month and day keep their order.
        let four = |piece: &str| piece.len() == 4;
        let (year, first, second) = match format {
            // The newer types read a leading year as ISO does, and with it alone know ydm.
            _ if four(a) && !self.old => return self.civil(number(a)?, number(b)?, number(c)?),
            DateFormat::Ydm if !self.old => return Err(ParseFailure::Syntax),
            // A T makes a leading year one of ISO for all.
            _ if four(a) && self.iso => return self.civil(number(a)?, number(b)?, number(c)?),
            _ if four(a) => (a, b, c),
            _ if four(b) => (b, a, c),
            _ if four(c) => (c, a, b),
            DateFormat::Mdy | DateFormat::Dmy => (c, a, b),
            DateFormat::Ymd | DateFormat::Ydm => (a, b, c),
            DateFormat::Myd | DateFormat::Dym => (b, a, c),
        };
        let (month, day) = if format.day_first() { (second, first) } else { (first, second) };
        self.civil(self.year(year)?, number(month)?, number(day)?)
    }

    /// The day number of a date in the calendar of the style.
    fn civil(&self, year: i32, month: i32, day: i32) -> Result<i32, ParseFailure> {
        let (month, day) = (month as u32, day as u32);
        let days = match self.hijri {
            true => days_from_hijri(year, month, day),
            false => days_from_civil(year, month, day),
        };
        days.ok_or(ParseFailure::Range)
    }

    /// A year of four digits, or of two by the cutoff 2049. Which century two digits would mean
    /// in the Hijri calendar no page says.
    fn year(&self, digits: &str) -> Result<i32, ParseFailure> {
        match (digits.len(), number(digits)?) {
            (4, year) => Ok(year),
            _ if self.hijri => Err(ParseFailure::Syntax),
            (1..=2, year) if year < 50 => Ok(2000 + year),
            (1..=2, year) => Ok(1900 + year),
            _ => Err(ParseFailure::Syntax),
        }
    }
}

/// AM (false) or PM (true).
fn noon(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "am" | "a" => Some(false),
        "pm" | "p" => Some(true),
        _ => None,
    }
}

fn small(digits: &str) -> Result<u32, ParseFailure> {
    if digits.len() > 2 {
        return Err(ParseFailure::Syntax);
    }
    digits.parse().map_err(|_| ParseFailure::Syntax)
}

fn number(digits: &str) -> Result<i32, ParseFailure> {
    if digits.len() > 4 {
        return Err(ParseFailure::Syntax);
    }
    digits.parse().map_err(|_| ParseFailure::Syntax)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datetime::print_style;

    fn shown(text: &str, t: SqlType, style: i32, format: DateFormat) -> String {
        match parse(text, t, style, format.into()) {
            Ok(m) => {
                m.to_value(t).map_or_else(|| "Limit".into(), |v| print_style(&v, t, 121).unwrap())
            }
            Err(e) => format!("{e:?}"),
        }
    }

    #[test]
    fn texts_read_as_datetime() {
        for (text, expected) in [
            ("2026-11-21", "2026-11-21 00:00:00.000"),
            ("20261121 13:14", "2026-11-21 13:14:00.000"),
            ("2026-11-21T13:14:15.678", "2026-11-21 13:14:15.677"),
            ("2026-11-21T13:14:15Z", "2026-11-21 13:14:15.000"),
            ("11/21/2026 1:14:15:999 pm", "2026-11-21 13:14:16.000"),
            ("1-2-49", "2049-01-02 00:00:00.000"),
            ("1.2.50", "1950-01-02 00:00:00.000"),
            ("Nov 21 2026  1:05PM", "2026-11-21 13:05:00.000"),
            ("21 november 2026", "2026-11-21 00:00:00.000"),
            ("Nov 21, 2026 12 am", "2026-11-21 00:00:00.000"),
            ("Feb 2024", "2024-02-01 00:00:00.000"),
            ("261121", "2026-11-21 00:00:00.000"),
            ("2026", "2026-01-01 00:00:00.000"),
            ("", "1900-01-01 00:00:00.000"),
            ("4PM", "1900-01-01 16:00:00.000"),
            ("13/21/2026", "Range"),
            ("2023-02-29", "Range"),
            ("25:00", "Range"),
            ("1600-01-01", "Limit"),
            ("2026-11-21 00:00:00.1234", "Syntax"),
            ("2026-11-21 00:00:00 +01:00", "Syntax"),
            ("hello", "Syntax"),
            ("1/2", "Syntax"),
            ("12345", "Syntax"),
            ("2026-11-21 10:00 11:00", "Syntax"),
        ] {
            assert_eq!(shown(text, SqlType::DateTime, 0, DateFormat::Mdy), expected, "{text}");
        }
    }

    #[test]
    fn order_follows_style_and_dateformat() {
        let t = SqlType::DateTime;
        assert_eq!(shown("03/04/2026", t, 103, DateFormat::Mdy), "2026-04-03 00:00:00.000");
        assert_eq!(shown("03/04/2026", t, 0, DateFormat::Dmy), "2026-04-03 00:00:00.000");
        assert_eq!(shown("26/04/03", t, 0, DateFormat::Ymd), "2026-04-03 00:00:00.000");
        assert_eq!(shown("2026-03-04", t, 0, DateFormat::Dmy), "2026-04-03 00:00:00.000");
        assert_eq!(shown("2026-03-04T00:00:00", t, 0, DateFormat::Dmy), "2026-03-04 00:00:00.000");
        let t = SqlType::DateTime2(0);
        assert_eq!(shown("2026-03-04", t, 0, DateFormat::Dmy), "2026-03-04 00:00:00");
    }

    #[test]
    fn newer_types_read_seven_digits_and_offsets() {
        let t = SqlType::DateTimeOffset(7);
        assert_eq!(
            shown("2026-11-21 01:02:03.1234567 -05:30", t, 0, DateFormat::Mdy),
            "2026-11-21 01:02:03.1234567 -05:30"
        );
        assert_eq!(shown("2026-11-21T01:02:03+15:00", t, 0, DateFormat::Mdy), "Syntax");
        assert_eq!(shown("12:30:01.5", SqlType::Time(1), 0, DateFormat::Mdy), "12:30:01.5");
    }

    #[test]
    fn months_of_a_language_alone() {
        let read = |language: &str, text: &str, t| {
            let language = Language::by_name(language).expect("it is listed");
            let dialect = Dialect { format: language.date_format, language };
            parse(text, t, 0, dialect).ok().map(|m| m.civil())
        };
        let march = Some((2024, 3, 4));
        for (language, text, day) in [
            ("German", "4 März 2024", march),
            ("German", "4 mär 2024 10:11", march),
            ("German", "März 4 2024", march),
            ("German", "04.03.2024", march),
            ("German", "4 March 2024", None),
            ("German", "4 Mar 2024", None),
            ("German", "4 maerz 2024", None),
            ("French", "4 mai 2020", Some((2020, 5, 4))),
            ("French", "4 FÉVRIER 2024", Some((2024, 2, 4))),
            ("French", "4 aout 2024", None),
            ("Spanish", "4 Ene 2024", Some((2024, 1, 4))),
            ("Czech", "4 III 2024", march),
            ("Czech", "4 březen 2024", march),
            ("Russian", "4 мар 2024", march),
            ("Arabic", "4 Rabie II 2024", Some((2024, 4, 4))),
            ("Thai", "4 มี.ค. 2024", march),
            ("Greek", "4 Μα_ου 2024", Some((2024, 5, 4))),
            ("Japanese", "2024 03 04", march),
            ("Japanese", "2024/03/04", march),
            ("Japanese", "4 Mar 2024", None),
            ("English", "4 März 2024", None),
            ("English", "2024 03 04", None),
        ] {
            for t in [SqlType::DateTime, SqlType::Date] {
                assert_eq!(read(language, text, t), day, "{language}: {text}");
            }
        }
        for (text, matter) in [("2024-03-04T10:11:12Z", false), ("4 Mai", true), ("x", true)] {
            assert_eq!(names_matter(text.encode_utf16()), matter, "{text}");
        }
    }
}
