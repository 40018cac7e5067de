//! SQL sort orders 51, 52 and 54: code page 1252 in dictionary order.
//!
//! Symbols in code order, then digits, then letters; accented letters after their base, then the
//! ligatures. Two passes: base letters decide first, accents (and case, where it counts) only
//! between strings whose bases agree. No expansions: `ß` is not `ss`, unlike nvarchar.

use super::key::{Code, append_first, append_further};
use super::{from_difference, pad_compare};
use std::cmp::Ordering;
use std::hash::Hasher;

/// Letters in order; `/` separates letters of different base, and each pair is upper, lower.
const LETTERS: &[u8] = b"Aa\xC0\xE0\xC1\xE1\xC2\xE2\xC3\xE3\xC4\xE4\xC5\xE5/\xC6\xE6/Bb/Cc\xC7\xE7/\
    Dd/\xD0\xF0/Ee\xC8\xE8\xC9\xE9\xCA\xEA\xCB\xEB/Ff\x83\x83/Gg/Hh/Ii\xCC\xEC\xCD\xED\xCE\xEE\xCF\xEF/\
    Jj/Kk/Ll/Mm/Nn\xD1\xF1/Oo\xD2\xF2\xD3\xF3\xD4\xF4\xD5\xF5\xD6\xF6\xD8\xF8/\x8C\x9C/Pp/Qq/Rr/\
    Ss\x8A\x9A/\xDF\xDF/Tt/\xDE\xFE/Uu\xD9\xF9\xDA\xFA\xDB\xFB\xDC\xFC/Vv/Ww/Xx/Yy\xDD\xFD\x9F\xFF/\
    Zz\x8E\x9E";

struct Weights {
    /// Base letter.
    base: [u8; 256],
    /// Base and accent.
    accent: [u8; 256],
    /// Base, accent and case: a permutation of the bytes that are not paired with themselves.
    case: [u8; 256],
}

static WEIGHTS: Weights = weights();

const fn is_letter(byte: u8) -> bool {
    let mut i = 0;
    while i < LETTERS.len() {
        if LETTERS[i] == byte && byte != b'/' {
            return true;
        }
        i += 1;
    }
    false
}

const fn weights() -> Weights {
    let mut w = Weights { base: [0; 256], accent: [0; 256], case: [0; 256] };
    let mut next: u8 = 0;
    // Symbols, then digits: two passes over the bytes that are no letters.
    let mut pass = 0;
    while pass < 2 {
        let mut b = 0;
        while b < 256 {
            let byte = b as u8;
            if !is_letter(byte) && byte.is_ascii_digit() == (pass == 1) {
                w.base[b] = next;
                w.accent[b] = next;
                w.case[b] = next;
                next += 1;
            }
            b += 1;
        }
        pass += 1;
    }
    let mut base = next;
    let mut i = 0;
    while i < LETTERS.len() {
        if LETTERS[i] == b'/' {
            base = next;
            i += 1;
            continue;
        }
        let (upper, lower) = (LETTERS[i] as usize, LETTERS[i + 1] as usize);
        w.base[upper] = base;
        w.base[lower] = base;
        w.accent[upper] = next;
        w.accent[lower] = next;
        w.case[lower] = next;
        if upper == lower {
            next = next.wrapping_add(1);
        } else {
            w.case[upper] = next;
            w.case[lower] = next.wrapping_add(1);
            next = next.wrapping_add(2);
        }
        i += 2;
    }
    assert!(next == 0, "every byte has its own weight");
    w
}

pub(super) fn compare_ci_as(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = from_difference(a, b);
    decided(a, b).unwrap_or_else(|| by(&WEIGHTS.base, a, b).then_with(|| by(&WEIGHTS.accent, a, b)))
}

/// The order of strings that begin with different bytes, where their bases differ: it is decided.
#[inline]
fn decided(a: &[u8], b: &[u8]) -> Option<Ordering> {
    let base = |x: &u8| WEIGHTS.base[usize::from(*x)];
    let order = base(a.first()?).cmp(&base(b.first()?));
    (order != Ordering::Equal).then_some(order)
}

pub(super) fn compare_cs_as(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = from_difference(a, b);
    compare_ci_as(a, b).then_with(|| by(&WEIGHTS.case, a, b))
}

pub(super) fn compare_ci_ai(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = from_difference(a, b);
    decided(a, b).unwrap_or_else(|| by(&WEIGHTS.base, a, b))
}

/// What each byte adds to the first level of a sort key; the blank's entry is not used.
static CODES: [u8; 256] = codes();

const fn codes() -> [u8; 256] {
    let pad = WEIGHTS.base[b' ' as usize];
    let mut codes = [0; 256];
    // By base, so that equal bases have equal codes: after those below the blank come its three.
    let mut next = 1;
    let mut base = 0;
    while base < 256 {
        let mut found = false;
        let mut b = 0;
        while b < 256 {
            if WEIGHTS.base[b] as usize == base {
                codes[b] = next;
                found = true;
            }
            b += 1;
        }
        if found {
            next += if base == pad as usize { 3 } else { 1 };
        }
        base += 1;
    }
    codes
}

/// Appends the levels of a string as a sort key, until `out` has more than `limit` bytes.
pub(super) fn append_key(case: bool, accent: bool, a: &[u8], limit: usize, out: &mut Vec<u8>) {
    let pad = CODES[b' ' as usize];
    let first = a.iter().map(|&b| (b != b' ').then_some(Code::one(CODES[b as usize])));
    if !append_first(first, pad, limit, out) {
        return;
    }
    // Equal bases make every further level as long as the first but for blanks, which add nothing.
    let above = |w: &[u8; 256], base: &[u8; 256], b: u8| w[b as usize] - base[b as usize];
    if accent {
        append_further(a.iter().map(|&b| above(&WEIGHTS.accent, &WEIGHTS.base, b)), false, out);
    }
    if case {
        append_further(a.iter().map(|&b| above(&WEIGHTS.case, &WEIGHTS.accent, b)), false, out);
    }
}

fn by(weights: &[u8; 256], a: &[u8], b: &[u8]) -> Ordering {
    let weight = |x: &u8| weights[*x as usize];
    pad_compare(a.iter().map(weight), b.iter().map(weight), weights[b' ' as usize])
}

/// Feeds a hasher with what equality looks at; `a` has no trailing blanks.
pub(super) fn hash(case: bool, accent: bool, a: &[u8], state: &mut impl Hasher) {
    let weights = weights_of(case, accent);
    // Eight at a time: a hasher takes as long for one byte as for eight.
    let (words, rest) = a.as_chunks::<8>();
    for word in words {
        state.write_u64(u64::from_le_bytes(word.map(|x| weights[x as usize])));
    }
    let last = rest.iter().fold(1_u64, |n, x| (n << 8) | u64::from(weights[*x as usize]));
    state.write_u64(last);
}

/// The weights at some levels.
pub(super) fn weights_of(case: bool, accent: bool) -> &'static [u8; 256] {
    match (case, accent) {
        (true, _) => &WEIGHTS.case,
        (false, true) => &WEIGHTS.accent,
        (false, false) => &WEIGHTS.base,
    }
}

/// Whether two bytes are the same character.
pub(super) fn same(case: bool, accent: bool, a: u8, b: u8) -> bool {
    weight(case, accent, a) == weight(case, accent, b)
}

/// The place of a byte in the order, for ranges of LIKE patterns.
pub(super) fn weight(case: bool, accent: bool, a: u8) -> u8 {
    weights_of(case, accent)[a as usize]
}
