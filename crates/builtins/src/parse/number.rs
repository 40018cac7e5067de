//! Numbers of a culture as plain ones: `1.234,50 €-` becomes `-1234.50`.
//!
//! Whole and exact numbers may have blanks, a sign before or behind, and groups; floats an
//! exponent but no groups; money also the sign of its currency, and parentheses for a minus.

use crate::culture::Culture;
use types::Family;

/// The number in a form without culture; `None` where the text is none.
pub(super) fn plain(text: &str, family: Family, culture: &Culture) -> Option<String> {
    let mut rest = text.trim();
    let mut negative = false;
    let money = family == Family::Money;
    if money && let Some(inner) = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')) {
        (negative, rest) = (true, inner.trim());
    }
    let mut signed = negative;
    let mut currency = false;
    // A sign and a currency stand in any order before the digits, and behind them.
    loop {
        let before = rest.len();
        if !signed && let Some(r) = rest.strip_prefix(['-', '+']) {
            negative = rest.starts_with('-');
            (signed, rest) = (true, r.trim_start());
        }
        if !signed
            && family != Family::Float
            && let Some(r) = rest.strip_suffix(['-', '+'])
        {
            negative = rest.ends_with('-');
            (signed, rest) = (true, r.trim_end());
        }
        if money && !currency {
            let sign = culture.currency;
            let cut = rest.strip_prefix(sign).or_else(|| rest.strip_suffix(sign));
            if let Some(r) = cut {
                (currency, rest) = (true, r.trim());
            }
        }
        if rest.len() == before {
            break;
        }
    }
    let digits = digits(rest, family == Family::Float, culture)?;
    Some(if negative { format!("-{digits}") } else { digits })
}

fn digits(text: &str, float: bool, culture: &Culture) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let (mut seen, mut point) = (false, false);
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() {
            out.push(c);
            seen = true;
            rest = &rest[1..];
        } else if let Some(r) = rest.strip_prefix(culture.decimal).filter(|_| !point) {
            out.push('.');
            (point, rest) = (true, r);
        } else if let Some(r) = grouped(rest, culture).filter(|_| seen && !point && !float) {
            rest = r;
        } else if float && seen && matches!(c, 'e' | 'E') {
            out.push('e');
            out.push_str(&exponent(&rest[1..])?.to_string());
            rest = "";
        } else {
            return None;
        }
    }
    seen.then(|| if out.starts_with('.') { format!("0{out}") } else { out })
}

/// What follows a separator of groups; a blank counts as the blank that does not break.
fn grouped<'t>(text: &'t str, culture: &Culture) -> Option<&'t str> {
    let blank = || if culture.group == "\u{a0}" { text.strip_prefix(' ') } else { None };
    text.strip_prefix(culture.group).or_else(blank)
}

fn exponent(text: &str) -> Option<i32> {
    text.parse().ok()
}
