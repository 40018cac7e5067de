//! Sort keys of strings: the levels of a collation as bytes, one level after the other.
//!
//! Strings of different length are compared as if the shorter one went on with blanks. Where a
//! string ends, or has blanks within, the first level therefore says how what follows compares
//! with blanks for ever: three codes stand in the blank's place,
//!
//! ```text
//! … < BEFORE: blanks, then something below a blank < END < AFTER: blanks, then something above < …
//! ```
//!
//! A further level is mostly zeros (no accent, lower case): what is not zero is written with the
//! number of zeros before it, fewer zeros ordering later.

use super::{CodePage, Collation, Rule, cp1252, trim_char, unicode};
use crate::text::{unit_of_1252, units};
use crate::whole_key::append_whole;

/// What one character adds to the first level.
#[derive(Clone, Copy)]
pub(super) struct Code {
    len: u8,
    bytes: [u8; 4],
}

impl Code {
    pub(super) const fn one(byte: u8) -> Code {
        Code { len: 1, bytes: [byte, 0, 0, 0] }
    }

    pub(super) const fn two(first: u8, byte: u8) -> Code {
        Code { len: 2, bytes: [first, byte, 0, 0] }
    }

    pub(super) const fn three(first: u8, unit: u16) -> Code {
        let [high, low] = unit.to_be_bytes();
        Code { len: 3, bytes: [first, high, low, 0] }
    }

    pub(super) const fn four(first: u8, number: u32) -> Code {
        let [_, high, middle, low] = number.to_be_bytes();
        Code { len: 4, bytes: [first, high, middle, low] }
    }
}

/// Appends the first level, `None` being a blank, whose three codes begin with `blank`; false when
/// `out` has more than `limit` bytes before the end.
pub(super) fn append_first(
    codes: impl Iterator<Item = Option<Code>>,
    blank: u8,
    limit: usize,
    out: &mut Vec<u8>,
) -> bool {
    let mut blanks = 0;
    for code in codes {
        let Some(code) = code else {
            blanks += 1;
            continue;
        };
        if blanks > 0 {
            let after = code.bytes[0] > blank;
            out.resize(out.len() + blanks, if after { blank + 2 } else { blank });
            blanks = 0;
        }
        out.extend_from_slice(&code.bytes[..code.len as usize]);
        if out.len() > limit {
            return false;
        }
    }
    out.push(blank + 1);
    true
}

/// Appends a further level. Zeros at its end count only where `counted`: there a longer level is
/// the greater one.
pub(super) fn append_further(values: impl Iterator<Item = u8>, counted: bool, out: &mut Vec<u8>) {
    let mut zeros = 0;
    for value in values {
        if value == 0 {
            zeros += 1;
            continue;
        }
        out.push(1);
        append_whole(-zeros, out);
        out.push(value);
        zeros = 0;
    }
    out.push(0);
    if counted {
        append_whole(zeros, out);
    }
}

impl Collation {
    /// Appends the sort key of a string in its code page; it may stop beyond `limit` bytes.
    pub(crate) fn append_key_char(self, a: &[u8], limit: usize, out: &mut Vec<u8>) {
        match self.narrow_rule() {
            Rule::Sort(levels) => cp1252::append_key(levels.case, levels.accent, a, limit, out),
            Rule::Codes => {
                append_codes(trim_char(a).iter().map(|&b| b as u16), limit, out);
            }
            Rule::Own(levels) => match self.code_page() {
                CodePage::Cp1252 => {
                    let units = || a.iter().map(|&b| unit_of_1252(b));
                    unicode::append_key(levels, units, limit, out);
                }
                page => {
                    let wide = page.widen(a);
                    unicode::append_key(levels, || units(&wide), limit, out);
                }
            },
            Rule::Words(words) => {
                let mut wide = Vec::new();
                self.code_page().append_units(a, &mut wide);
                words.append_key(&wide, out);
            }
        }
    }

    /// Appends the sort key of a UTF-16LE string; it may stop beyond `limit` bytes.
    pub(crate) fn append_key_nchar(self, a: &[u8], limit: usize, out: &mut Vec<u8>) {
        match self.wide_rule() {
            Rule::Codes => append_codes(units(a), limit, out),
            Rule::Sort(levels) | Rule::Own(levels) => {
                unicode::append_key(levels, || units(a), limit, out);
            }
            Rule::Words(words) => words.append_key(&units(a).collect::<Vec<u16>>(), out),
        }
    }
}

/// Strings by their codes: those below a blank, the blank's three, those above.
fn append_codes(units: impl Iterator<Item = u16>, limit: usize, out: &mut Vec<u8>) {
    const BLANK: u8 = 0x21;
    let code = |unit: u16| match unit {
        0x20 => None,
        0x00..0x20 => Some(Code::one(unit as u8 + 1)),
        0x21..0x80 => Some(Code::one(unit as u8 + 3)),
        _ => Some(Code::three(0x83, unit)),
    };
    append_first(units.map(code), BLANK, limit, out);
}
