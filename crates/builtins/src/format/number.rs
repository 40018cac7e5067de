//! Numbers by standard patterns (C D E F G N P R X) and by custom ones (`#,##0.00;(0)`).

use super::Digits;
use crate::culture::Culture;
use types::Value;

/// A number by a pattern; `None` where the pattern does not apply.
pub(super) fn format(value: &Value, pattern: &str, culture: &Culture) -> Option<String> {
    let digits = Digits::of(value)?;
    let localized = |text: String| text.replace('.', culture.decimal);
    if pattern.is_empty() {
        return general(&digits, value, None).map(localized);
    }
    let mut chars = pattern.chars();
    let letter = chars.next()?;
    let rest = chars.as_str();
    let standard =
        letter.is_ascii_alphabetic() && rest.len() <= 2 && rest.bytes().all(|b| b.is_ascii_digit());
    if !standard {
        return custom(&digits, pattern, culture);
    }
    let precision: Option<usize> = rest.parse().ok();
    let whole_number = value.as_i64().is_some();
    let sign = |d: &Digits| if d.negative { "-" } else { "" };
    match letter.to_ascii_uppercase() {
        'C' => {
            let n = precision.unwrap_or(culture.currency_digits.into());
            let d = digits.rounded(n as i32, false);
            let layout = if d.negative { culture.money_below } else { culture.money };
            Some(laid_out(layout, culture.currency, &grouped(&d, n, culture)))
        }
        'D' if whole_number => {
            let width = precision.unwrap_or(0);
            Some(format!("{}{:0>width$}", sign(&digits), digits.whole()))
        }
        'E' => Some(localized(scientific(&digits, precision.unwrap_or(6), letter))),
        'F' => Some(localized(digits.fixed(precision.unwrap_or(2)))),
        'G' => general(&digits, value, precision).map(localized),
        'N' => {
            let n = precision.unwrap_or(2);
            let d = digits.rounded(n as i32, false);
            Some(format!("{}{}", sign(&d), grouped(&d, n, culture)))
        }
        'P' => {
            let n = precision.unwrap_or(2);
            let d = digits.shifted(2).rounded(n as i32, false);
            let body = laid_out(culture.percent, "", &grouped(&d, n, culture));
            Some(format!("{}{body}", sign(&d)))
        }
        'R' => general(&digits, value, None).map(localized),
        'X' if whole_number => {
            let width = precision.unwrap_or(0);
            Some(hexadecimal(value, width, letter == 'X'))
        }
        _ => None,
    }
}

/// A number's digits and a sign of currency where a pattern has `n` and `$`.
fn laid_out(layout: &str, currency: &str, number: &str) -> String {
    let mut out = String::with_capacity(layout.len() + number.len() + currency.len());
    for c in layout.chars() {
        match c {
            'n' => out.push_str(number),
            '$' => out.push_str(currency),
            c => out.push(c),
        }
    }
    out
}

/// The digits with the culture's separator before each group of three.
fn grouped(d: &Digits, decimals: usize, culture: &Culture) -> String {
    let whole = d.whole();
    let mut out = String::with_capacity(whole.len() * 2 + decimals);
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push_str(culture.group);
        }
        out.push(c);
    }
    if decimals > 0 {
        out.push_str(culture.decimal);
        out.push_str(&d.fraction(decimals));
    }
    out
}

fn hexadecimal(value: &Value, width: usize, upper: bool) -> String {
    // A negative number shows the bits of its own width.
    let bits = match *value {
        Value::SmallInt(n) => n as u16 as u64,
        Value::Int(n) => n as u32 as u64,
        _ => value.as_i64().unwrap_or(0) as u64,
    };
    if upper { format!("{bits:0>width$X}") } else { format!("{bits:0>width$x}") }
}

fn scientific(d: &Digits, decimals: usize, letter: char) -> String {
    let d = d.significant(decimals + 1);
    let exponent = d.exponent();
    let mut digits = format!("{:0<w$}", d.plain(), w = decimals + 1);
    if decimals > 0 {
        digits.insert(1, '.');
    }
    let sign = if d.negative { "-" } else { "" };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{digits}{letter}{exponent_sign}{:03}", exponent.unsigned_abs())
}

/// The shorter of fixed and scientific notation.
fn general(d: &Digits, value: &Value, precision: Option<usize>) -> Option<String> {
    let default = match value {
        Value::Float(_) => 15,
        Value::Real(_) => 7,
        // Decimals show all their digits, zeros at the end included.
        Value::Decimal(x) if precision.unwrap_or(0) == 0 => return Some(x.to_string()),
        Value::Money(_) if precision.unwrap_or(0) == 0 => return Some(d.fixed(4)),
        _ => 39,
    };
    let n = precision.filter(|&n| n > 0).unwrap_or(default);
    let d = d.significant(n);
    let exponent = d.exponent();
    if exponent >= n as i32 || exponent < -5 {
        let mut digits = d.plain();
        if digits.len() > 1 {
            digits.insert(1, '.');
        }
        let sign = if d.negative { "-" } else { "" };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return Some(format!("{sign}{digits}E{exponent_sign}{:02}", exponent.unsigned_abs()));
    }
    Some(d.fixed(d.fraction_len()))
}

/// What a section of a custom pattern prescribes.
#[derive(Default)]
struct Section {
    /// Places before the point, from the first: `0` or `#`, or literal text.
    before: Vec<Place>,
    after: Vec<Place>,
    point: bool,
    /// Commas group the whole part.
    grouping: bool,
    /// Divided by 1000 for each comma before the point.
    thousands: i32,
    /// Powers of ten that percent and per-mille signs multiply by.
    percent: i32,
    /// `E`, its sign rule and digits of the exponent.
    exponent: Option<(char, bool, usize)>,
}

enum Place {
    Zero,
    Hash,
    Text(String),
}

/// The sections of a pattern, split at semicolons that are not quoted.
fn sections(pattern: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut quote = None;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let last = out.len() - 1;
        match c {
            '\\' => {
                out[last].push(c);
                out[last].extend(chars.next());
            }
            c if quote == Some(c) => {
                quote = None;
                out[last].push(c);
            }
            '"' | '\'' if quote.is_none() => {
                quote = Some(c);
                out[last].push(c);
            }
            ';' if quote.is_none() => out.push(String::new()),
            c => out[last].push(c),
        }
    }
    out
}

fn custom(digits: &Digits, pattern: &str, culture: &Culture) -> Option<String> {
    let sections = sections(pattern);
    let section_of = |i: usize| sections.get(i).filter(|s| !s.is_empty());
    // The section is chosen by the number, and again when it rounds to zero.
    let chosen = if digits.is_zero() {
        section_of(2).unwrap_or(&sections[0])
    } else if digits.negative {
        section_of(1).unwrap_or(&sections[0])
    } else {
        &sections[0]
    };
    let own_sign = digits.negative && section_of(1).is_some();
    let section = Section::parse(chosen);
    let (mut text, shown) = section.fill(digits, culture);
    if shown.is_zero() && !digits.is_zero() && section_of(2).is_some() {
        text = Section::parse(section_of(2)?).fill(&shown, culture).0;
    }
    Some(if shown.negative && !own_sign { format!("-{text}") } else { text })
}

impl Section {
    fn parse(pattern: &str) -> Section {
        let mut s = Section::default();
        let mut commas = 0;
        let mut chars = pattern.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '0' | '#' => {
                    if commas > 0 && !s.point {
                        s.grouping = true;
                    }
                    commas = 0;
                    s.places().push(if c == '0' { Place::Zero } else { Place::Hash });
                }
                '.' => {
                    if !s.point {
                        s.thousands = commas;
                        commas = 0;
                    }
                    s.point = true;
                }
                ',' => commas += s.before.iter().any(|p| !matches!(p, Place::Text(_))) as i32,
                '%' | '\u{2030}' => {
                    s.percent += if c == '%' { 2 } else { 3 };
                    s.text(c);
                }
                'E' | 'e' if s.exponent.is_none() && exponent_follows(&mut chars) => {
                    let plus = chars.next_if_eq(&'+').is_some();
                    chars.next_if_eq(&'-');
                    let mut n = 0;
                    while chars.next_if_eq(&'0').is_some() {
                        n += 1;
                    }
                    s.exponent = Some((c, plus, n));
                }
                '\\' => chars.next().into_iter().for_each(|c| s.text(c)),
                '"' | '\'' => {
                    while let Some(inner) = chars.next_if(|&i| i != c) {
                        s.text(inner);
                    }
                    chars.next();
                }
                c => s.text(c),
            }
        }
        if !s.point {
            s.thousands = commas;
        }
        s
    }

    fn places(&mut self) -> &mut Vec<Place> {
        if self.point { &mut self.after } else { &mut self.before }
    }

    fn text(&mut self, c: char) {
        let places = self.places();
        match places.last_mut() {
            Some(Place::Text(t)) => t.push(c),
            _ => places.push(Place::Text(c.to_string())),
        }
    }

    fn digits(places: &[Place]) -> usize {
        places.iter().filter(|p| !matches!(p, Place::Text(_))).count()
    }

    /// The text, and the number as it was rounded.
    fn fill(&self, digits: &Digits, culture: &Culture) -> (String, Digits) {
        let decimals = Section::digits(&self.after);
        let mut d = digits.clone().shifted(self.percent - 3 * self.thousands);
        let mut exponent = String::new();
        if let Some((letter, plus, n)) = self.exponent {
            let places = Section::digits(&self.before).max(1);
            d = d.significant(places + decimals);
            let e = if d.is_zero() { 0 } else { d.exponent() - (places as i32 - 1) };
            d = d.shifted(-e);
            let sign = if e < 0 {
                "-"
            } else if plus {
                "+"
            } else {
                ""
            };
            exponent = format!("{letter}{sign}{:0>n$}", e.unsigned_abs());
        }
        let d = d.rounded(decimals as i32, false);
        let mut out = String::new();
        self.fill_whole(&d, culture.group, &mut out);
        let mut fraction = String::new();
        self.fill_fraction(&d, decimals, &exponent, &mut fraction);
        match fraction.strip_prefix('.') {
            Some(rest) => out.extend([culture.decimal, rest]),
            None => out.push_str(&fraction),
        }
        (out, d)
    }

    fn fill_whole(&self, d: &Digits, group: &str, out: &mut String) {
        let places = Section::digits(&self.before);
        let zeros = self
            .before
            .iter()
            .filter(|p| !matches!(p, Place::Text(_)))
            .position(|p| matches!(p, Place::Zero))
            .map_or(0, |first| places - first);
        let whole = d.whole();
        let whole = if whole == "0" { "" } else { whole.as_str() };
        let whole = format!("{whole:0>zeros$}");
        let total = whole.len();
        // The first place takes every digit that has no place of its own.
        let mut left = places;
        let mut written = 0;
        let mut push = |n: usize, out: &mut String| {
            for c in whole[written..].chars().take(n) {
                if self.grouping && written > 0 && (total - written).is_multiple_of(3) {
                    out.push_str(group);
                }
                out.push(c);
                written += 1;
            }
        };
        for place in &self.before {
            match place {
                Place::Text(t) => out.push_str(t),
                _ => {
                    if left == places {
                        push(total.saturating_sub(places), out);
                    }
                    // A place beyond the digits stays empty.
                    if left <= total {
                        push(1, out);
                    }
                    left -= 1;
                }
            }
        }
    }

    fn fill_fraction(&self, d: &Digits, decimals: usize, exponent: &str, out: &mut String) {
        let fraction = d.fraction(decimals);
        let needed = fraction.trim_end_matches('0').len();
        let last_zero = self
            .after
            .iter()
            .filter(|p| !matches!(p, Place::Text(_)))
            .enumerate()
            .filter(|(_, p)| matches!(p, Place::Zero))
            .map(|(i, _)| i + 1)
            .last()
            .unwrap_or(0);
        let shown = needed.max(last_zero);
        if shown > 0 {
            out.push('.');
        }
        let mut at = 0;
        let mut exponent = Some(exponent);
        for place in &self.after {
            match place {
                Place::Text(t) => {
                    if at == decimals {
                        out.push_str(exponent.take().unwrap_or(""));
                    }
                    out.push_str(t);
                }
                _ => {
                    if at < shown {
                        out.push_str(&fraction[at..=at]);
                    }
                    at += 1;
                }
            }
        }
        out.push_str(exponent.take().unwrap_or(""));
    }
}

/// Whether zeros, perhaps signed, follow an E.
fn exponent_follows(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let mut ahead = chars.clone();
    ahead.next_if(|&c| c == '+' || c == '-');
    ahead.peek() == Some(&'0')
}
