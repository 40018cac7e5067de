//! Latin1_General rules for nvarchar: levels of base letter, accent, case, then hyphens.
//!
//! ```text
//! level 1  control < blank < punctuation < symbol < digit < Latin letter < other letter
//! level 2  accents, precomposed or combining alike
//! level 3  case, where the collation counts it
//! level 4  hyphens and apostrophes, which count for nothing above ("word sort")
//! ```
//!
//! Width and kana type never count: full-width forms fold to ASCII, half-width and hiragana to
//! katakana. `ß` is `ss`, `æ` is `ae`, `œ` is `oe`, `þ` is `th`. Letters outside Latin order by
//! code point of their lower case. The tables are ours and frozen: an index on disk depends on
//! them, so they must not follow somebody else's data version.

use super::key::{Code, append_first, append_further};
use super::latin::{ADDITIONAL, ADDITIONAL_MARK, ADDITIONAL_MARK_2};
use super::latin::{LATIN, LATIN_MARK, LATIN_MARK_2};
use super::pad_compare;
use crate::text::{lower_unit, units};
use crate::whole_key::append_whole;
use std::cmp::Ordering;
use std::hash::Hasher;

/// ASCII symbols in order, from the blank; the hyphen and apostrophe are not among them.
const SYMBOLS: &[u8] = b" !\"#$%&()*,./:;?@[\\]^_`{|}~+<=>";

const CONTROL: u32 = 0x0000_0000;
const SYMBOL: u32 = 0x0100_0000;
const DIGIT: u32 = 0x0200_0000;
const LETTER: u32 = 0x0300_0000;
const OTHER: u32 = 0x0400_0000;
const BLANK: u32 = SYMBOL + ASCII[b' ' as usize] as u32;

/// What a unit adds to the levels.
#[derive(Clone, Copy)]
enum Element {
    /// A base with up to two accents.
    Base(u32, u8, u8),
    /// Two bases: an expansion.
    Pair(u32, u32),
    /// A combining mark: an accent of the base before it.
    Mark(u8),
    /// A hyphen or apostrophe.
    Special,
}

const fn letter(lower: u8) -> u32 {
    LETTER + lower as u32
}

/// Level 1 of ASCII; 0xFF stands for the two specials.
static ASCII: [u8; 128] = ascii();

const fn ascii() -> [u8; 128] {
    let mut w = [0; 128];
    let mut next = 0;
    let mut b = 0;
    while b < 128 {
        if (b as u8).is_ascii_control() {
            w[b] = next;
            next += 1;
        }
        b += 1;
    }
    let mut i = 0;
    while i < SYMBOLS.len() {
        w[SYMBOLS[i] as usize] = next;
        next += 1;
        i += 1;
    }
    b = b'0' as usize;
    while b <= b'9' as usize {
        w[b] = next;
        next += 1;
        b += 1;
    }
    b = b'a' as usize;
    while b <= b'z' as usize {
        w[b] = next;
        w[b - 32] = next;
        next += 1;
        b += 1;
    }
    w[b'-' as usize] = 0xFF;
    w[b'\'' as usize] = 0xFF;
    w
}

fn element(unit: u16) -> Element {
    match unit {
        0..=0x7F => ascii_element(unit as u8),
        0xC6 | 0xE6 => Element::Pair(letter(b'a'), letter(b'e')),
        0xDF | 0x1E9E => Element::Pair(letter(b's'), letter(b's')),
        0xDE | 0xFE => Element::Pair(letter(b't'), letter(b'h')),
        0x152 | 0x153 => Element::Pair(letter(b'o'), letter(b'e')),
        0x132 | 0x133 => Element::Pair(letter(b'i'), letter(b'j')),
        0x80..=0x9F => Element::Base(CONTROL + unit as u32, 0, 0),
        0xAD | 0x2010 | 0x2011 => Element::Special,
        0xC0..=0x24F => {
            let i = unit as usize - 0xC0;
            latin(unit, LATIN[i], LATIN_MARK[i], LATIN_MARK_2[i])
        }
        0x1E00..=0x1EFF => {
            let i = unit as usize - 0x1E00;
            latin(unit, ADDITIONAL[i], ADDITIONAL_MARK[i], ADDITIONAL_MARK_2[i])
        }
        0x300..=0x36F => Element::Mark((unit - 0x300) as u8),
        0x3000 => ascii_element(b' '),
        0x3041..=0x3096 => Element::Base(OTHER + unit as u32 + 0x60, 0, 0),
        0xFF01..=0xFF5E => ascii_element((unit - 0xFEE0) as u8),
        0xFF66..=0xFF9D => Element::Base(OTHER + full_width_kana(unit) as u32, 0, 0),
        other => Element::Base(other_primary(other), 0, 0),
    }
}

fn ascii_element(byte: u8) -> Element {
    let weight = ASCII[byte as usize] as u32;
    match byte {
        b'-' | b'\'' => Element::Special,
        b'a'..=b'z' | b'A'..=b'Z' => Element::Base(letter(byte.to_ascii_lowercase()), 0, 0),
        b'0'..=b'9' => Element::Base(DIGIT + weight, 0, 0),
        _ if byte.is_ascii_control() => Element::Base(CONTROL + weight, 0, 0),
        _ => Element::Base(SYMBOL + weight, 0, 0),
    }
}

fn latin(unit: u16, base: u8, mark: u8, mark_2: u8) -> Element {
    if base == b'0' {
        return Element::Base(other_primary(unit), 0, 0);
    }
    Element::Base(letter(base), mark, mark_2)
}

fn other_primary(unit: u16) -> u32 {
    match char::from_u32(unit as u32) {
        Some(c) if c.is_alphabetic() => OTHER + lower_unit(unit) as u32,
        Some(c) if c.is_numeric() => DIGIT + 0x1000 + unit as u32,
        Some(_) => SYMBOL + 0x1000 + unit as u32,
        // Half of a surrogate pair.
        None => OTHER + 0x1_0000 + unit as u32,
    }
}

/// The full-width katakana of a half-width one.
fn full_width_kana(unit: u16) -> u16 {
    const KANA: [u8; 56] = [
        0xF2, 0xA1, 0xA3, 0xA5, 0xA7, 0xA9, 0xE3, 0xE5, 0xE7, 0xC3, 0xFC, 0xA2, 0xA4, 0xA6, 0xA8,
        0xAA, 0xAB, 0xAD, 0xAF, 0xB1, 0xB3, 0xB5, 0xB7, 0xB9, 0xBB, 0xBD, 0xBF, 0xC1, 0xC4, 0xC6,
        0xC8, 0xCA, 0xCB, 0xCC, 0xCD, 0xCE, 0xCF, 0xD2, 0xD5, 0xD8, 0xDB, 0xDE, 0xDF, 0xE0, 0xE1,
        0xE2, 0xE4, 0xE6, 0xE8, 0xE9, 0xEA, 0xEB, 0xEC, 0xED, 0xEF, 0xF3,
    ];
    0x3000 + KANA[(unit - 0xFF66) as usize] as u16
}

/// The bytes without blanks at their end.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    let mut pairs = bytes.as_chunks::<2>().0;
    while let [rest @ .., [0x20, 0] | [0x00, 0x30]] = pairs {
        pairs = rest;
    }
    pairs.as_flattened()
}

fn primaries(units: impl Iterator<Item = u16>) -> impl Iterator<Item = u32> {
    units.flat_map(|unit| {
        let (first, second) = match element(unit) {
            Element::Base(base, ..) => (Some(base), None),
            Element::Pair(one, two) => (Some(one), Some(two)),
            Element::Mark(_) | Element::Special => (None, None),
        };
        first.into_iter().chain(second)
    })
}

/// 0 for each base, followed by one more than each of its accents.
fn accents(units: impl Iterator<Item = u16>) -> impl Iterator<Item = u8> {
    units.flat_map(|unit| {
        let list: [Option<u8>; 3] = match element(unit) {
            Element::Base(_, mark, mark_2) => {
                [Some(0), (mark > 0 || accented(unit)).then_some(mark + 1), after(mark_2)]
            }
            Element::Pair(..) => [Some(0), Some(0), None],
            Element::Mark(mark) => [Some(mark + 1), None, None],
            Element::Special => [None; 3],
        };
        list.into_iter().flatten()
    })
}

fn after(mark: u8) -> Option<u8> {
    (mark > 0).then_some(mark + 1)
}

/// The grave accent has number 0, as no accent has: letters with a base are told apart here.
fn accented(unit: u16) -> bool {
    match unit {
        0xC0..=0x24F => LATIN[unit as usize - 0xC0] != b'0',
        0x1E00..=0x1EFF => ADDITIONAL[unit as usize - 0x1E00] != b'0',
        _ => false,
    }
}

fn cases(units: impl Iterator<Item = u16>) -> impl Iterator<Item = bool> {
    // Lower case comes before upper.
    units
        .filter(|&u| !matches!(element(u), Element::Special | Element::Mark(_)))
        .map(|unit| lower_unit(unit) != unit)
}

/// Places and codes of hyphens and apostrophes.
fn specials(units: impl Iterator<Item = u16>) -> impl Iterator<Item = (usize, u16)> {
    let mut place = 0;
    units.filter_map(move |unit| match element(unit) {
        Element::Special => Some((place, unit)),
        Element::Mark(_) => None,
        Element::Base(..) | Element::Pair(..) => {
            place += 1;
            None
        }
    })
}

/// Which levels a collation looks at.
#[derive(Clone, Copy)]
pub(super) struct Levels {
    pub(super) accent: bool,
    pub(super) case: bool,
}

pub(super) fn compare(levels: Levels, a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    let (a, b) = (trimmed(a), trimmed(b));
    if !levels.case
        && let Some(order) = compare_ascii(a, b)
    {
        return order;
    }
    compare_slowly(levels, a, b)
}

/// The order of two strings of which all that matters is ASCII without hyphens or apostrophes.
fn compare_ascii(a: &[u8], b: &[u8]) -> Option<Ordering> {
    const BLANK: u8 = ASCII[b' ' as usize];
    let weight = |unit: Option<u16>| match unit {
        None => Some(BLANK),
        Some(u) => match ASCII.get(u as usize) {
            None | Some(0xFF) => None,
            Some(&w) => Some(w),
        },
    };
    let (mut x, mut y) = (units(a), units(b));
    for _ in 0..x.len().max(y.len()) {
        let (p, q) = (weight(x.next())?, weight(y.next())?);
        if p != q {
            // What follows could only matter if this place were equal; but a mark would have
            // been met as non-ASCII before a base was compared only when it follows directly.
            return Some(p.cmp(&q));
        }
    }
    Some(Ordering::Equal)
}

fn compare_slowly(levels: Levels, a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (|| units(a), || units(b));
    let mut order = pad_compare(primaries(a()), primaries(b()), BLANK);
    if levels.accent {
        order = order.then_with(|| accents(a()).cmp(accents(b())));
    }
    if levels.case {
        order = order.then_with(|| cases(a()).cmp(cases(b())));
    }
    order.then_with(|| specials(a()).cmp(specials(b())))
}

/// Appends the levels of a string as a sort key; it may stop beyond `limit` bytes.
pub(super) fn append_key<I: DoubleEndedIterator<Item = u16> + ExactSizeIterator>(
    levels: Levels,
    units: impl Fn() -> I,
    limit: usize,
    out: &mut Vec<u8>,
) {
    let blanks = units().rev().take_while(|&u| matches!(u, 0x20 | 0x3000)).count();
    let trimmed = || units().take(units().len() - blanks);
    if !append_first(primaries(trimmed()).map(code), BLANK_CODE, limit, out) {
        return;
    }
    if levels.accent {
        append_further(accents(trimmed()), true, out);
    }
    if levels.case {
        append_further(cases(trimmed()).map(u8::from), true, out);
    }
    for (place, unit) in specials(trimmed()) {
        out.push(1);
        append_whole(place as i64, out);
        out.extend_from_slice(&unit.to_be_bytes());
    }
    out.push(0);
}

/// The first of the blank's three codes in sort keys.
const BLANK_CODE: u8 = 0x23;

/// What a primary weight adds to a sort key: frequent ones a byte, in the order of the weights.
fn code(primary: u32) -> Option<Code> {
    let weight = primary & 0x00FF_FFFF;
    let low = weight as u8;
    Some(match primary - weight {
        CONTROL if weight < 0x80 => Code::one(1 + low),
        CONTROL => Code::two(0x22, low),
        SYMBOL if primary == BLANK => return None,
        SYMBOL if weight < 0x80 => Code::one(low + 4),
        SYMBOL => Code::three(0x44, (weight - 0x1000) as u16),
        DIGIT if weight < 0x80 => Code::one(low + 5),
        DIGIT => Code::three(0x4F, (weight - 0x1000) as u16),
        LETTER if low.is_ascii_lowercase() => Code::one(0x50 + (low - b'a')),
        LETTER => Code::two(0x6A, low),
        _ => Code::four(0x6B, weight),
    })
}

/// Feeds a hasher with level 1, which equal strings share. Blanks count once more follows them:
/// behind the last ones a mark may stand, which has no primary weight.
pub(super) fn hash(bytes: &[u8], state: &mut impl Hasher) {
    let mut blanks = 0;
    for primary in primaries(units(trimmed(bytes))) {
        if primary == BLANK {
            blanks += 1;
            continue;
        }
        (0..blanks).for_each(|_| state.write_u32(BLANK));
        blanks = 0;
        state.write_u32(primary);
    }
}

/// Whether two single units are the same character.
pub(super) fn same(levels: Levels, a: u16, b: u16) -> bool {
    a == b || compare_slowly(levels, &a.to_le_bytes(), &b.to_le_bytes()) == Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ascii_symbol_has_its_own_place() {
        let mut seen: Vec<u8> =
            (0..128).filter(|&b: &u8| !b.is_ascii_uppercase()).map(|b| ASCII[b as usize]).collect();
        seen.sort_unstable();
        seen.dedup();
        // The hyphen and the apostrophe share their mark.
        assert_eq!(seen.len(), 128 - 26 - 1);
    }
}
