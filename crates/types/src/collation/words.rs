//! Orders of words by ICU's data: base letters, accents, case, then what ICU has no level for.
//!
//! ```text
//! level 1  base letters, in the order of the family's language
//! level 2  accents, where the collation counts them; in French from the end
//! level 3  case, where it counts: lower before upper
//! level 4  kana type (KS), then width (WS), then variation selectors (VSS)
//! level 5  hyphens and apostrophes, which count for nothing above ("word sort")
//! ```
//!
//! `ß` is `ss`, and where the language has no such letters `æ` is `ae`, `œ` is `oe`, `þ` is `th`.
//!
//! Scripts keep the places that they have for all languages, Latin before Greek before Cyrillic
//! before Han, as in SQL Server: what CLDR puts first for a language is left aside.
//!
//! Invariants
//!  1. Strings without blanks at their end order as their keys; equal ones have equal keys.
//!  2. A collator is made at the first comparison that needs it, once a process. Each that the
//!     table can ask for can be made (test `every_collator_is_there`).

use super::families::FAMILIES;
use crate::whole_key::append_whole;
use icu_collator::options::{AlternateHandling, CaseLevel, CollatorOptions, Strength};
use icu_collator::preferences::CollationCaseFirst;
use icu_collator::provider::{Baked, CollationReordering, CollationReorderingV1};
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};
use icu_locale_core::Locale;
use icu_provider::{DataError, DataPayload, DataProvider, DataRequest, DataResponse};
use std::cmp::Ordering;
use std::sync::OnceLock;

/// The version of the orders: of the data of CLDR and Unicode behind them, and of the levels above.
/// A change of any takes the next number; indexes say by which they are in order. 1 is the data of
/// `icu_collator` 2.4.
pub(super) const VERSION: u8 = 1;

/// An order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Words {
    /// Place in [`FAMILIES`].
    pub(super) family: u8,
    pub(super) accent: bool,
    pub(super) case: bool,
    pub(super) kana: bool,
    pub(super) width: bool,
    pub(super) selectors: bool,
    /// Hyphens and apostrophes count at the last level alone, and ligatures are their letters.
    pub(super) windows: bool,
}

type Slot = OnceLock<CollatorBorrowed<'static>>;

/// By family, then by whether accents and case count.
static COLLATORS: [[Slot; 4]; FAMILIES.len()] =
    [const { [const { OnceLock::new() }; 4] }; FAMILIES.len()];

/// ICU's data but for the places of scripts.
struct IcuProvider;

impl DataProvider<CollationReorderingV1> for IcuProvider {
    fn load(&self, _: DataRequest<'_>) -> Result<DataResponse<CollationReorderingV1>, DataError> {
        // Each leading byte of a weight is in its own place.
        let in_place = CollationReordering {
            min_high_no_reorder: 0,
            reorder_table: zerovec::ZeroVec::new_borrowed(&super::CODES_ALONE),
            reorder_ranges: zerovec::ZeroVec::new(),
        };
        let payload = DataPayload::from_owned(in_place);
        Ok(DataResponse { metadata: Default::default(), payload })
    }
}

macro_rules! from_icu {
    ($from:expr => $($marker:ty),* $(,)?) => {$(
        impl DataProvider<$marker> for IcuProvider {
            fn load(&self, request: DataRequest<'_>) -> Result<DataResponse<$marker>, DataError> {
                $from.load(request)
            }
        }
    )*};
}

from_icu! { Baked =>
    icu_collator::provider::CollationSpecialPrimariesV1,
    icu_collator::provider::CollationRootV1,
    icu_collator::provider::CollationTailoringV1,
    icu_collator::provider::CollationDiacriticsV1,
    icu_collator::provider::CollationJamoV1,
    icu_collator::provider::CollationMetadataV1,
}
from_icu! { icu_normalizer::provider::Baked =>
    icu_normalizer::provider::NormalizerNfdDataV1,
    icu_normalizer::provider::NormalizerNfdTablesV1,
}

/// A collator of a locale.
fn collator(locale: &str, accent: bool, case: bool) -> CollatorBorrowed<'static> {
    let locale = Locale::try_from_str(locale).expect("the locales of the table are some");
    let mut preferences = CollatorPreferences::from(&locale);
    preferences.case_first = Some(CollationCaseFirst::False);
    let mut options = CollatorOptions::default();
    options.strength = Some(if accent { Strength::Secondary } else { Strength::Primary });
    options.case_level = Some(if case { CaseLevel::On } else { CaseLevel::Off });
    options.alternate_handling = Some(AlternateHandling::NonIgnorable);
    let made = Collator::try_new_unstable(&IcuProvider, preferences, options);
    let made = made.expect("the data of every locale is part of the program");
    Box::leak(Box::new(made)).as_borrowed()
}

impl Words {
    fn collator(self) -> &'static CollatorBorrowed<'static> {
        let family = usize::from(self.family);
        let slot = &COLLATORS[family][usize::from(self.accent) + 2 * usize::from(self.case)];
        slot.get_or_init(|| collator(FAMILIES[family].locale, self.accent, self.case))
    }

    /// Whether what begins with a letter or digit of ASCII comes before the next one, also where a
    /// combining mark makes another letter of it: in Swedish `a` with two dots comes behind `z`.
    pub(super) fn has_plain_ascii(self) -> bool {
        static PLAIN: [OnceLock<bool>; FAMILIES.len()] =
            [const { OnceLock::new() }; FAMILIES.len()];
        let base = Words { accent: false, case: false, ..self };
        *PLAIN[usize::from(self.family)].get_or_init(|| {
            let all = || (b'0'..=b'9').chain(b'a'..=b'z').map(u16::from);
            let behind = || all().chain(0x300..=0x36F);
            all().all(|first| {
                let next = first + 1;
                let last = [b'9', b'z'].map(u16::from).contains(&first);
                let before = |text: &[u16]| base.compare(text, &[next]).is_lt();
                last || (before(&[first]) && behind().all(|second| before(&[first, second])))
            })
        })
    }

    /// Whether the second of two letters or digits of ASCII orders as it does alone. In Croatian
    /// `lj` is a letter behind `l`, and `ljc` comes behind `lk`.
    pub(super) fn has_plain_pairs(self) -> bool {
        static PLAIN: [OnceLock<bool>; FAMILIES.len()] =
            [const { OnceLock::new() }; FAMILIES.len()];
        let base = Words { accent: false, case: false, ..self };
        *PLAIN[usize::from(self.family)].get_or_init(|| {
            let all = || (b'0'..=b'9').chain(b'a'..=b'z').map(u16::from);
            let seconds = || all().filter(|second| ![b'9', b'z'].map(u16::from).contains(second));
            all().all(|first| {
                seconds().all(|second| base.compare(&[first, second], &[first, second + 1]).is_lt())
            })
        })
    }

    /// Whether letters come before what combining marks make of them.
    pub(super) fn orders_beginnings_first(self) -> bool {
        static FIRST: [OnceLock<bool>; FAMILIES.len()] =
            [const { OnceLock::new() }; FAMILIES.len()];
        let full = Words { accent: true, case: true, ..self };
        *FIRST[usize::from(self.family)].get_or_init(|| {
            let mut letters = (b'a'..=b'z').chain(b'A'..=b'Z').map(u16::from);
            letters.all(|letter| {
                (0x300..=0x36F).all(|mark| full.compare(&[letter], &[letter, mark]).is_le())
            })
        })
    }

    /// How two strings order.
    pub(super) fn compare(self, a: &[u16], b: &[u16]) -> Ordering {
        let (a, b) = (self.trimmed(a), self.trimmed(b));
        if a == b {
            return Ordering::Equal;
        }
        let care = |&unit: &u16| is_special(unit) || self.letters(unit).is_some();
        if !self.windows || !a.iter().chain(b).any(care) {
            return self.compare_plain(a, b);
        }
        let (plain_a, plain_b) = (self.plain(a), self.plain(b));
        let order = self.compare_plain(self.trimmed(&plain_a), self.trimmed(&plain_b));
        order.then_with(|| specials(a).cmp(specials(b)))
    }

    fn compare_plain(self, a: &[u16], b: &[u16]) -> Ordering {
        let mut order = self.collator().compare_utf16(a, b);
        if self.kana {
            order = order.then_with(|| kana_types(a).cmp(kana_types(b)));
        }
        if self.width {
            order = order.then_with(|| widths(a).cmp(widths(b)));
        }
        if self.selectors {
            order = order.then_with(|| selectors(a).cmp(selectors(b)));
        }
        order
    }

    /// Appends the levels of a string as a sort key.
    pub(super) fn append_key(self, units: &[u16], out: &mut Vec<u8>) {
        let units = self.trimmed(units);
        let care = |&unit: &u16| is_special(unit) || self.letters(unit).is_some();
        let apart = self.windows && units.iter().any(care);
        let without = if apart { self.plain(units) } else { Vec::new() };
        let plain = if apart { self.trimmed(&without) } else { units };
        // No byte of ICU's keys is 0.
        let Ok(()) = self.collator().write_sort_key_utf16_to(plain, out);
        out.push(0);
        if self.kana {
            append_flags(kana_types(plain), out);
        }
        if self.width {
            append_flags(widths(plain), out);
        }
        if self.selectors {
            for (place, selector) in selectors(plain) {
                out.push(1);
                append_whole(place as i64, out);
                out.extend_from_slice(&selector.to_be_bytes());
            }
            out.push(0);
        }
        if self.windows {
            for (place, unit) in specials(units) {
                out.push(1);
                append_whole(place as i64, out);
                out.extend_from_slice(&unit.to_be_bytes());
            }
            out.push(0);
        }
    }

    /// Without blanks at the end; a wide blank is one where width does not count.
    fn trimmed(self, units: &[u16]) -> &[u16] {
        let wide = if self.width { 0x20 } else { 0x3000 };
        let blank = |unit: &u16| *unit == 0x20 || *unit == wide;
        let end = units.iter().rposition(|unit| !blank(unit)).map_or(0, |last| last + 1);
        &units[..end]
    }

    /// Without hyphens and apostrophes, ligatures as their letters.
    fn plain(self, units: &[u16]) -> Vec<u16> {
        let mut plain = Vec::with_capacity(units.len() + 8);
        for &unit in units {
            match self.letters(unit) {
                Some(pair) => plain.extend(pair.iter().map(|&b| u16::from(b))),
                None if is_special(unit) => {}
                None => plain.push(unit),
            }
        }
        plain
    }

    /// The letters that a ligature stands for.
    #[inline]
    fn letters(self, unit: u16) -> Option<&'static [u8; 2]> {
        let northern = || {
            let locale = FAMILIES[usize::from(self.family)].locale;
            matches!(locale, "da" | "no" | "sv" | "is" | "se")
        };
        match unit {
            0..0xC6 => None,
            0xDF => Some(b"ss"),
            0x1E9E => Some(b"SS"),
            0xC6 | 0xE6 | 0xDE | 0xFE | 0x152 | 0x153 if northern() => None,
            0xC6 => Some(b"AE"),
            0xE6 => Some(b"ae"),
            0xDE => Some(b"TH"),
            0xFE => Some(b"th"),
            0x152 => Some(b"OE"),
            0x153 => Some(b"oe"),
            _ => None,
        }
    }
}

fn append_flags(flags: impl Iterator<Item = bool>, out: &mut Vec<u8>) {
    out.extend(flags.map(|flag| 1 + u8::from(flag)));
    out.push(0);
}

/// A hyphen or apostrophe.
fn is_special(unit: u16) -> bool {
    matches!(unit, 0x27 | 0x2D | 0xAD | 0x2010 | 0x2011)
}

/// Places and codes of hyphens and apostrophes; combining marks take no place.
fn specials(units: &[u16]) -> impl Iterator<Item = (usize, u16)> + '_ {
    let mut place = 0;
    units.iter().copied().filter_map(move |unit| match unit {
        unit if is_special(unit) => Some((place, unit)),
        0x0300..=0x036F => None,
        _ => {
            place += 1;
            None
        }
    })
}

/// Of each kana, whether it is katakana.
fn kana_types(units: &[u16]) -> impl Iterator<Item = bool> + '_ {
    units.iter().filter_map(|unit| match unit {
        0x3041..=0x3096 | 0x309D | 0x309E => Some(false),
        0x30A1..=0x30FA | 0x30FD | 0x30FE | 0x31F0..=0x31FF | 0xFF66..=0xFF6F => Some(true),
        0xFF71..=0xFF9D => Some(true),
        _ => None,
    })
}

/// Of each character that takes a place, whether it is of the other width.
fn widths(units: &[u16]) -> impl Iterator<Item = bool> + '_ {
    units.iter().filter_map(|unit| match unit {
        0x0300..=0x036F | 0x3099 | 0x309A | 0xFE00..=0xFE0F => None,
        // Marks of voice in half width are a character of their own.
        0x3000 | 0xFF01..=0xFFEE => Some(true),
        _ => Some(false),
    })
}

/// Places and numbers of variation selectors.
fn selectors(units: &[u16]) -> impl Iterator<Item = (usize, u16)> + '_ {
    let mut place = 0;
    let mut high = false;
    units.iter().copied().filter_map(move |unit| {
        let supplement = high && matches!(unit, 0xDD00..=0xDDEF);
        high = unit == 0xDB40;
        match unit {
            0xFE00..=0xFE0F => Some((place, unit)),
            _ if supplement => Some((place, unit)),
            0xDB40 => None,
            _ => {
                place += 1;
                None
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant 2: no locale of the table is unknown, none lacks its data, all order letters.
    #[test]
    fn every_collator_is_there() {
        let [a, b, upper] = [&[0x61_u16], &[0x62], &[0x41]];
        for (place, family) in FAMILIES.iter().enumerate() {
            for (accent, case) in [(false, false), (true, false), (false, true), (true, true)] {
                let words = Words {
                    family: place as u8,
                    accent,
                    case,
                    kana: false,
                    width: false,
                    selectors: false,
                    windows: true,
                };
                assert!(words.compare(a, b).is_lt(), "{}", family.name);
                assert_eq!(words.compare(a, upper).is_eq(), !case, "{}", family.name);
            }
        }
    }
}
