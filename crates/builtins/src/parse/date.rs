//! Dates and times of a culture.
//!
//! The text is cut into numbers, words and signs. Three numbers are a date in the culture's
//! order, unless the first has four digits: then year, month, day. With the name of a month the
//! number of more than two digits, or the last one, is the year. What has colons is a time.

use crate::culture::Culture;
use types::SqlType;
use types::datetime::{DAYS_1900, Moment, SECOND_TICKS, weekday};

/// What the text gave so far.
#[derive(Default)]
struct DateParts {
    /// Numbers of the date and how many digits each has.
    numbers: Vec<(u32, usize)>,
    month: Option<u32>,
    /// From Sunday.
    day_name: Option<usize>,
    ticks: Option<u64>,
    /// Twelve hours to add, where the text names a half of the day.
    afternoon: Option<bool>,
    offset: Option<i16>,
}

/// The moment that a text names; `None` where it names none.
pub(super) fn parse(text: &str, t: SqlType, culture: &Culture) -> Option<Moment> {
    let mut found = DateParts::default();
    let mut rest = text.trim();
    while let Some(c) = rest.chars().next() {
        rest = if c.is_ascii_digit() {
            found.number(rest, culture)?
        } else if matches!(c, '+' | '-') && found.ticks.is_some() && found.offset.is_none() {
            found.zone(rest)?
        } else if c.is_alphabetic() || !c.is_ascii() {
            found.word(rest, culture)?
        } else if " ,./-:\t".contains(c) {
            &rest[c.len_utf8()..]
        } else {
            return None;
        };
    }
    found.moment(t, culture)
}

/// Leading digits as a number, with their count, and what follows.
fn leading_number(text: &str) -> Option<(u32, usize, &str)> {
    let n = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..n].parse().ok()?, n, &text[n..]))
}

impl DateParts {
    fn number<'t>(&mut self, text: &'t str, culture: &Culture) -> Option<&'t str> {
        let (n, digits, rest) = leading_number(text)?;
        let clock = culture.short_time.contains('.') && self.date_is_whole();
        let colon = rest.strip_prefix(':').or_else(|| rest.strip_prefix('.').filter(|_| clock));
        match colon {
            Some(after) if self.ticks.is_none() => self.time(n, after),
            Some(_) => None,
            // `8 PM`: an hour alone, named by its half of the day.
            None if self.ticks.is_none() && self.half(rest.trim_start(), culture).is_some() => {
                self.ticks = Some(u64::from(n) * 3600 * SECOND_TICKS);
                Some(rest)
            }
            None => {
                self.numbers.push((n, digits));
                (self.numbers.len() <= 3).then_some(rest)
            }
        }
    }

    fn date_is_whole(&self) -> bool {
        self.numbers.len() + usize::from(self.month.is_some()) == 3
    }

    /// Minutes, seconds and a fraction after an hour.
    fn time<'t>(&mut self, hour: u32, text: &'t str) -> Option<&'t str> {
        let (minute, _, mut rest) = leading_number(text)?;
        let (mut second, mut fraction) = (0, 0);
        if let Some(after) = rest.strip_prefix([':', '.']) {
            (second, _, rest) = leading_number(after)?;
            if let Some(after) = rest.strip_prefix(['.', ',']) {
                let digits = after.bytes().take_while(u8::is_ascii_digit).count();
                let shown = &after[..digits.min(7)];
                fraction = format!("{shown:0<7}").parse().ok()?;
                rest = &after[digits..];
            }
        }
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        let seconds = u64::from((hour * 60 + minute) * 60 + second);
        self.ticks = Some(seconds * SECOND_TICKS + fraction);
        Some(rest)
    }

    fn zone<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let (hours, _, rest) = leading_number(&text[1..])?;
        let (minutes, rest) = match rest.strip_prefix(':') {
            Some(after) => leading_number(after).map(|(n, _, rest)| (n, rest))?,
            None => (0, rest),
        };
        let total = i16::try_from(hours * 60 + minutes).ok().filter(|n| *n <= 840)?;
        self.offset = Some(if text.starts_with('-') { -total } else { total });
        Some(rest)
    }

    /// Which half of the day the text begins with, and what follows.
    fn half<'t>(&self, text: &'t str, culture: &Culture) -> Option<(bool, &'t str)> {
        let (am, pm) = culture.language.halves;
        [(am, false), (pm, true), ("AM", false), ("PM", true)]
            .into_iter()
            .filter(|(word, _)| !word.is_empty())
            .find_map(|(word, afternoon)| {
                let rest = strip_word(text, word)?;
                Some((afternoon, rest))
            })
    }

    fn word<'t>(&mut self, text: &'t str, culture: &Culture) -> Option<&'t str> {
        if let Some((afternoon, rest)) = self.half(text, culture) {
            self.afternoon = Some(afternoon);
            return Some(rest);
        }
        if let Some(rest) = self.mark(text, culture) {
            return Some(rest);
        }
        let l = culture.language;
        for list in [l.months_of_day, l.months, l.months_short] {
            let names = list.split('|').enumerate().filter(|(_, n)| !n.is_empty());
            for (at, name) in names.filter(|(_, n)| !n.starts_with(|c: char| c.is_ascii_digit())) {
                if let Some(rest) = strip_word(text, name.trim_end_matches('.')) {
                    self.month = Some(at as u32 + 1);
                    return Some(rest);
                }
            }
        }
        for list in [l.days, l.days_short] {
            for (at, name) in list.split('|').enumerate() {
                if let Some(rest) = strip_word(text, name.trim_end_matches('.')) {
                    self.day_name = Some(at);
                    return Some(rest);
                }
            }
        }
        None
    }

    /// Letters that are no names: `T`, `Z`, and what the culture's own patterns put between.
    fn mark<'t>(&mut self, text: &'t str, culture: &Culture) -> Option<&'t str> {
        if text == "Z" {
            self.offset = Some(0);
            return Some("");
        }
        if let Some(rest) = text.strip_prefix('T')
            && rest.starts_with(|c: char| c.is_ascii_digit())
        {
            return Some(rest);
        }
        let words = culture.long_date.split('\'').skip(1).step_by(2);
        words.map(str::trim).filter(|w| !w.is_empty()).find_map(|word| strip_word(text, word))
    }

    fn moment(self, t: SqlType, culture: &Culture) -> Option<Moment> {
        let mut ticks = self.ticks.unwrap_or(0);
        const HALF: u64 = 12 * 3600 * SECOND_TICKS;
        match self.afternoon {
            Some(true) if ticks < HALF => ticks += HALF,
            Some(false) if ticks >= HALF => {
                ticks = ticks.checked_sub(HALF).filter(|n| *n < HALF)?
            }
            _ => {}
        }
        let offset = self.offset.unwrap_or(0);
        if self.numbers.is_empty() && self.month.is_none() {
            // A time alone is enough for a time.
            return matches!(t, SqlType::Time(_))
                .then_some(Moment { days: DAYS_1900, ticks, offset })
                .filter(|_| self.ticks.is_some());
        }
        let (year, month, day) = self.date(culture)?;
        let m = Moment::from_civil(year, month, day, ticks)?;
        let named = (weekday(m.days) as usize + 1) % 7;
        self.day_name.is_none_or(|day| day == named).then_some(Moment { offset, ..m })
    }

    fn date(&self, culture: &Culture) -> Option<(i32, u32, u32)> {
        let order = culture.date_order();
        match (self.month, self.numbers.as_slice()) {
            (None, &[(y, digits @ 3..), (m, _), (d, _)]) => Some((whole_year(y, digits)?, m, d)),
            (None, &[a, b, c]) => {
                let of = |part: char| order.iter().position(|&p| p == part).map(|at| [a, b, c][at]);
                let ((y, digits), (m, _), (d, _)) = (of('y')?, of('M')?, of('d')?);
                Some((whole_year(y, digits)?, m, d))
            }
            (None, &[(m, _), (y, digits @ 3..)]) => Some((whole_year(y, digits)?, m, 1)),
            (Some(m), &[(y, digits @ 3..), (d, _)] | &[(d, _), (y, digits)]) => {
                Some((whole_year(y, digits)?, m, d))
            }
            (Some(m), &[(y, digits @ 3..)]) => Some((whole_year(y, digits)?, m, 1)),
            _ => None,
        }
    }
}

/// Two digits mean 1930 to 2029.
fn whole_year(year: u32, digits: usize) -> Option<i32> {
    let century = match (digits, year) {
        (1 | 2, ..30) => 2000,
        (1 | 2, _) => 1900,
        _ => 0,
    };
    i32::try_from(year + century).ok()
}

/// What follows a word, in any case; the word must end there.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for expected in word.chars() {
        let c = rest.next()?;
        if c != expected && !c.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    let rest = rest.as_str();
    let ends = !word.ends_with(|c: char| c.is_ascii_alphabetic())
        || !rest.starts_with(char::is_alphabetic);
    ends.then_some(rest)
}
