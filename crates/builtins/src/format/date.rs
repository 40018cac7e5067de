//! Dates and times by standard patterns (one letter) and by custom ones (`yyyy-MM-dd HH:mm`).

use crate::culture::{Culture, item};
use types::SqlType;
use types::datetime::{Moment, SECOND_TICKS, weekday};

/// A moment by a pattern; `None` where the pattern does not apply.
pub(super) fn format(m: Moment, t: SqlType, pattern: &str, culture: &Culture) -> Option<String> {
    let pattern = match standard(pattern, t, culture) {
        Some(standard) => standard,
        None if pattern.chars().count() == 1 => return None,
        None => pattern.strip_prefix('%').unwrap_or(pattern).to_owned(),
    };
    // A time knows only its own parts, and is a duration: separators must be quoted.
    if let SqlType::Time(_) = t {
        return time_span(m, &pattern, culture);
    }
    let mut out = String::with_capacity(pattern.len() + 8);
    let beside_day = has_day(&pattern);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(chars.next()),
            '"' | '\'' => {
                while let Some(inner) = chars.next_if(|&i| i != c) {
                    out.push(inner);
                }
                chars.next();
            }
            '%' => {}
            '/' => out.push_str(culture.date_separator),
            c if "dMyhHmsfFtzKg".contains(c) => {
                let mut n = 1;
                while chars.next_if_eq(&c).is_some() {
                    n += 1;
                }
                let written = field(m, c, n, culture, beside_day)?;
                // A fraction that is left out takes its point along.
                if c == 'F' && written.is_empty() && out.ends_with('.') {
                    out.pop();
                }
                out.push_str(&written);
            }
            c => out.push(c),
        }
    }
    Some(out)
}

/// What a pattern of one letter stands for; an empty one is `G`.
fn standard(pattern: &str, t: SqlType, c: &Culture) -> Option<String> {
    let (sd, ld, st, lt) = (c.short_date, c.long_date, c.short_time, c.long_time);
    let plain = |text: &str| Some(text.to_owned());
    match pattern {
        "" | "G" => Some(format!("{sd} {lt}")),
        "d" => plain(sd),
        "D" => plain(ld),
        "f" => Some(format!("{ld} {st}")),
        "F" | "U" => Some(format!("{ld} {lt}")),
        "g" => Some(format!("{sd} {st}")),
        "m" | "M" => plain(c.month_day),
        "o" | "O" if matches!(t, SqlType::DateTimeOffset(_)) => {
            plain("yyyy-MM-ddTHH:mm:ss.fffffffzzz")
        }
        "o" | "O" => plain("yyyy-MM-ddTHH:mm:ss.fffffff"),
        "r" | "R" => plain(HTTP),
        "s" => plain("yyyy-MM-ddTHH:mm:ss"),
        "u" => plain("yyyy-MM-dd HH:mm:ss'Z'"),
        "y" | "Y" => plain(c.year_month),
        "c" | "t" | "T" if matches!(t, SqlType::Time(_)) => plain(CONSTANT_MARK),
        "t" => plain(st),
        "T" => plain(lt),
        _ => None,
    }
}

/// The pattern of HTTP's dates, which are English everywhere.
const HTTP: &str = "ddd, dd MMM yyyy HH:mm:ss 'GMT'";

/// Whether a pattern shows the number of the day: months then stand in their other form.
fn has_day(pattern: &str) -> bool {
    let mut quote = None;
    let mut run = 0;
    for c in pattern.chars().chain(Some(' ')) {
        match c {
            c if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            'd' if quote.is_none() => {
                run += 1;
                continue;
            }
            _ => {}
        }
        if (1..=2).contains(&run) {
            return true;
        }
        run = 0;
    }
    false
}

fn field(m: Moment, letter: char, n: usize, culture: &Culture, beside_day: bool) -> Option<String> {
    let (year, month, day) = m.civil();
    let seconds = m.ticks / SECOND_TICKS;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let two = |value: u64| if n == 1 { value.to_string() } else { format!("{value:02}") };
    let language = culture.language;
    let month_at = month as usize - 1;
    // Languages count from Sunday, the calendar from Monday.
    let day_at = (weekday(m.days) as usize + 1) % 7;
    let half = if hour < 12 { language.halves.0 } else { language.halves.1 };
    Some(match (letter, n) {
        ('d', 1 | 2) => two(day as u64),
        ('d', 3) => item(language.days_short, day_at).to_owned(),
        ('d', _) => item(language.days, day_at).to_owned(),
        ('M', 1 | 2) => two(month as u64),
        ('M', 3) => item(language.months_short, month_at).to_owned(),
        ('M', _) if beside_day && !language.months_of_day.is_empty() => {
            item(language.months_of_day, month_at).to_owned()
        }
        ('M', _) => item(language.months, month_at).to_owned(),
        ('y', 1 | 2) => two((year % 100) as u64),
        ('y', _) => format!("{year:0n$}"),
        ('h', _) => two((hour + 11) % 12 + 1),
        ('H', _) => two(hour),
        ('m', _) => two(minute),
        ('s', _) => two(second),
        ('f' | 'F', n) if n > 7 => return None,
        ('f', n) => format!("{:07}", m.ticks % SECOND_TICKS)[..n].to_owned(),
        ('F', n) => format!("{:07}", m.ticks % SECOND_TICKS)[..n].trim_end_matches('0').to_owned(),
        ('t', 1) => half.chars().take(1).collect(),
        ('t', _) => half.to_owned(),
        ('g', _) => "A.D.".to_owned(),
        ('z' | 'K', n) => {
            let sign = if m.offset < 0 { '-' } else { '+' };
            let (hours, minutes) = (m.offset.unsigned_abs() / 60, m.offset.unsigned_abs() % 60);
            match (letter, n) {
                ('z', 1) => format!("{sign}{hours}"),
                ('z', 2) => format!("{sign}{hours:02}"),
                _ => format!("{sign}{hours:02}:{minutes:02}"),
            }
        }
        _ => return None,
    })
}

/// How a duration is shown where no pattern says more; c, t and T are one, since it has no
/// culture's clock.
const CONSTANT_MARK: &str = "c";

fn time_span(m: Moment, pattern: &str, culture: &Culture) -> Option<String> {
    let mut out = String::new();
    let mut chars = match pattern {
        CONSTANT_MARK if m.ticks.is_multiple_of(SECOND_TICKS) => "hh\\:mm\\:ss",
        CONSTANT_MARK => "hh\\:mm\\:ss\\.fffffff",
        other => other,
    }
    .chars()
    .peekable();
    let seconds = m.ticks / SECOND_TICKS;
    while let Some(c) = chars.next() {
        let mut n = 1;
        if "hmsfF".contains(c) {
            while chars.next_if_eq(&c).is_some() {
                n += 1;
            }
        }
        match c {
            '\\' => out.extend(chars.next()),
            '"' | '\'' => {
                while let Some(inner) = chars.next_if(|&i| i != c) {
                    out.push(inner);
                }
                chars.next();
            }
            'h' => out.push_str(&format!("{:0n$}", seconds / 3600)),
            'm' => out.push_str(&format!("{:0n$}", seconds / 60 % 60)),
            's' => out.push_str(&format!("{:0n$}", seconds % 60)),
            'f' | 'F' => out.push_str(&field(m, c, n, culture, false)?),
            _ => return None,
        }
    }
    Some(out)
}
