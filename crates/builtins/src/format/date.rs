//! Dates and times by standard patterns (one letter) and by custom ones (`yyyy-MM-dd HH:mm`).

use types::SqlType;
use types::datetime::{MONTHS, Moment, SECOND_TICKS, WEEKDAYS, weekday};

/// A moment by a pattern; `None` where the pattern does not apply.
pub(super) fn format(m: Moment, t: SqlType, pattern: &str) -> Option<String> {
    let pattern = match pattern {
        "" | "G" => "M/d/yyyy h:mm:ss tt",
        "d" => "M/d/yyyy",
        "D" => "dddd, MMMM d, yyyy",
        "f" => "dddd, MMMM d, yyyy h:mm tt",
        "F" | "U" => "dddd, MMMM d, yyyy h:mm:ss tt",
        "g" => "M/d/yyyy h:mm tt",
        "m" | "M" => "MMMM d",
        "o" | "O" if matches!(t, SqlType::DateTimeOffset(_)) => "yyyy-MM-ddTHH:mm:ss.fffffffzzz",
        "o" | "O" => "yyyy-MM-ddTHH:mm:ss.fffffff",
        "r" | "R" => "ddd, dd MMM yyyy HH:mm:ss 'GMT'",
        "s" => "yyyy-MM-ddTHH:mm:ss",
        "t" => "h:mm tt",
        "T" => "h:mm:ss tt",
        "u" => "yyyy-MM-dd HH:mm:ss'Z'",
        "y" | "Y" => "MMMM yyyy",
        one if one.len() == 1 => return None,
        other => other.strip_prefix('%').unwrap_or(other),
    };
    // A time knows only its own parts, and is a duration: separators must be quoted.
    if let SqlType::Time(_) = t {
        return time_span(m, pattern);
    }
    let mut out = String::with_capacity(pattern.len() + 8);
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
            c if "dMyhHmsfFtzKg".contains(c) => {
                let mut n = 1;
                while chars.next_if_eq(&c).is_some() {
                    n += 1;
                }
                out.push_str(&field(m, c, n)?);
            }
            c => out.push(c),
        }
    }
    Some(out)
}

fn field(m: Moment, letter: char, n: usize) -> Option<String> {
    let (year, month, day) = m.civil();
    let seconds = m.ticks / SECOND_TICKS;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let two = |value: u64| if n == 1 { value.to_string() } else { format!("{value:02}") };
    Some(match (letter, n) {
        ('d', 1 | 2) => two(day as u64),
        ('d', 3) => WEEKDAYS[weekday(m.days) as usize][..3].to_owned(),
        ('d', _) => WEEKDAYS[weekday(m.days) as usize].to_owned(),
        ('M', 1 | 2) => two(month as u64),
        ('M', 3) => MONTHS[month as usize - 1][..3].to_owned(),
        ('M', _) => MONTHS[month as usize - 1].to_owned(),
        ('y', 1 | 2) => two((year % 100) as u64),
        ('y', _) => format!("{year:0n$}"),
        ('h', _) => two((hour + 11) % 12 + 1),
        ('H', _) => two(hour),
        ('m', _) => two(minute),
        ('s', _) => two(second),
        ('f' | 'F', n) if n > 7 => return None,
        ('f', n) => format!("{:07}", m.ticks % SECOND_TICKS)[..n].to_owned(),
        ('F', n) => format!("{:07}", m.ticks % SECOND_TICKS)[..n].trim_end_matches('0').to_owned(),
        ('t', 1) => if hour < 12 { "A" } else { "P" }.to_owned(),
        ('t', _) => if hour < 12 { "AM" } else { "PM" }.to_owned(),
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

fn time_span(m: Moment, pattern: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = match pattern {
        // The standard patterns c, t and T.
        "h:mm tt" | "h:mm:ss tt" | "c" => "hh\\:mm\\:ss",
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
            'f' | 'F' => out.push_str(&field(m, c, n)?),
            _ => return None,
        }
    }
    Some(out)
}
