//! Collations: how character values order and when they are equal.
//!
//! A collation is a small id. It governs both encodings: `compare_char` for code page 1252 and
//! `compare_nchar` for UTF-16LE. Trailing blanks never count, in any of them.

mod cp1252;
mod key;
mod latin;
mod unicode;

use std::cmp::Ordering;
use std::hash::Hasher;

/// A collation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u8)]
pub enum Collation {
    /// The default: SQL sort order 52 for varchar, Latin1_General rules for nvarchar.
    #[default]
    SqlLatin1CiAs,
    /// SQL sort order 51 for varchar.
    SqlLatin1CsAs,
    /// SQL sort order 54 for varchar: case and accents ignored.
    SqlLatin1CiAi,
    /// Windows rules, case-insensitive, accent-sensitive.
    Latin1CiAs,
    /// Windows rules, case-sensitive, accent-sensitive.
    Latin1CsAs,
    /// Windows rules, case and accents ignored.
    Latin1CiAi,
    /// By code, older form.
    Latin1Bin,
    /// By code point.
    Latin1Bin2,
}

/// Every collation with its name and the five bytes TDS sends: LCID, flags and version, sort id.
const TABLE: [(Collation, &str, [u8; 5]); 8] = [
    (Collation::SqlLatin1CiAs, "SQL_Latin1_General_CP1_CI_AS", [0x09, 0x04, 0xD0, 0x00, 52]),
    (Collation::SqlLatin1CsAs, "SQL_Latin1_General_CP1_CS_AS", [0x09, 0x04, 0xC0, 0x00, 51]),
    (Collation::SqlLatin1CiAi, "SQL_Latin1_General_CP1_CI_AI", [0x09, 0x04, 0xF0, 0x00, 54]),
    (Collation::Latin1CiAs, "Latin1_General_CI_AS", [0x09, 0x04, 0xD0, 0x00, 0]),
    (Collation::Latin1CsAs, "Latin1_General_CS_AS", [0x09, 0x04, 0xC0, 0x00, 0]),
    (Collation::Latin1CiAi, "Latin1_General_CI_AI", [0x09, 0x04, 0xF0, 0x00, 0]),
    (Collation::Latin1Bin, "Latin1_General_BIN", [0x09, 0x04, 0x00, 0x01, 0]),
    (Collation::Latin1Bin2, "Latin1_General_BIN2", [0x09, 0x04, 0x00, 0x02, 0]),
];

impl Collation {
    /// Every collation.
    pub fn all() -> impl Iterator<Item = Collation> {
        TABLE.iter().map(|row| row.0)
    }

    /// Its name in `sys.databases.collation_name`.
    pub fn name(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// The collation of a name, in any case.
    pub fn by_name(name: &str) -> Option<Collation> {
        TABLE.iter().find(|row| row.1.eq_ignore_ascii_case(name)).map(|row| row.0)
    }

    /// The five bytes of type descriptions on the wire.
    pub fn tds_bytes(self) -> [u8; 5] {
        TABLE[self as usize].2
    }

    /// Its stable number in catalog rows.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// The collation of a stable number.
    pub fn by_id(id: u8) -> Option<Collation> {
        TABLE.get(id as usize).map(|row| row.0)
    }

    /// Whether `A` and `a` differ.
    pub fn is_case_sensitive(self) -> bool {
        !matches!(
            self,
            Collation::SqlLatin1CiAs
                | Collation::SqlLatin1CiAi
                | Collation::Latin1CiAs
                | Collation::Latin1CiAi
        )
    }

    /// Whether it orders by codes alone.
    pub fn is_binary(self) -> bool {
        matches!(self, Collation::Latin1Bin | Collation::Latin1Bin2)
    }
}

use unicode::Levels;

const CI_AS: Levels = Levels { accent: true, case: false };
const CS_AS: Levels = Levels { accent: true, case: true };
const CI_AI: Levels = Levels { accent: false, case: false };

impl Collation {
    /// The levels at which strings are compared; of a binary collation nobody asks.
    fn levels(self) -> Levels {
        match self {
            Collation::SqlLatin1CiAs | Collation::Latin1CiAs => CI_AS,
            Collation::SqlLatin1CsAs | Collation::Latin1CsAs => CS_AS,
            Collation::SqlLatin1CiAi | Collation::Latin1CiAi => CI_AI,
            Collation::Latin1Bin | Collation::Latin1Bin2 => CS_AS,
        }
    }

    /// How two strings of code page 1252 order.
    #[inline]
    pub fn compare_char(self, a: &[u8], b: &[u8]) -> Ordering {
        self.char_order()(a, b)
    }

    /// How two UTF-16LE strings order.
    #[inline]
    pub fn compare_nchar(self, a: &[u8], b: &[u8]) -> Ordering {
        self.nchar_order()(a, b)
    }

    /// The function that orders strings of code page 1252.
    pub fn char_order(self) -> fn(&[u8], &[u8]) -> Ordering {
        match self {
            Collation::SqlLatin1CiAs => cp1252::compare_ci_as,
            Collation::SqlLatin1CsAs => cp1252::compare_cs_as,
            Collation::SqlLatin1CiAi => cp1252::compare_ci_ai,
            // Windows collations order varchar as they order nvarchar.
            Collation::Latin1CiAs => |a, b| widened(a, b, CI_AS),
            Collation::Latin1CsAs => |a, b| widened(a, b, CS_AS),
            Collation::Latin1CiAi => |a, b| widened(a, b, CI_AI),
            Collation::Latin1Bin | Collation::Latin1Bin2 => compare_codes_char,
        }
    }

    /// The function that orders UTF-16LE strings.
    pub fn nchar_order(self) -> fn(&[u8], &[u8]) -> Ordering {
        match self {
            Collation::SqlLatin1CiAs | Collation::Latin1CiAs => {
                |a, b| unicode::compare(CI_AS, a, b)
            }
            Collation::SqlLatin1CsAs | Collation::Latin1CsAs => {
                |a, b| unicode::compare(CS_AS, a, b)
            }
            Collation::SqlLatin1CiAi | Collation::Latin1CiAi => {
                |a, b| unicode::compare(CI_AI, a, b)
            }
            Collation::Latin1Bin | Collation::Latin1Bin2 => compare_codes_nchar,
        }
    }

    /// Feeds a hasher so that equal strings of code page 1252 hash alike.
    pub fn hash_char(self, a: &[u8], state: &mut impl Hasher) {
        let a = trim_char(a);
        match self {
            Collation::SqlLatin1CiAs => cp1252::hash(false, true, a, state),
            Collation::SqlLatin1CsAs => cp1252::hash(true, true, a, state),
            Collation::SqlLatin1CiAi => cp1252::hash(false, false, a, state),
            Collation::Latin1CiAs | Collation::Latin1CsAs | Collation::Latin1CiAi => {
                unicode::hash(&crate::text::widen(a), state);
            }
            Collation::Latin1Bin | Collation::Latin1Bin2 => state.write(a),
        }
    }

    /// Feeds a hasher so that equal UTF-16LE strings hash alike.
    pub fn hash_nchar(self, a: &[u8], state: &mut impl Hasher) {
        if self.is_binary() {
            return state.write(trim_nchar(a));
        }
        unicode::hash(a, state);
    }

    /// A weight for each byte of code page 1252, alike exactly for the same character; `None` where
    /// characters are not told apart byte by byte.
    pub fn char_weights(self) -> Option<&'static [u8; 256]> {
        match self {
            Collation::SqlLatin1CiAs => Some(cp1252::weights_of(false, true)),
            Collation::SqlLatin1CsAs => Some(cp1252::weights_of(true, true)),
            Collation::SqlLatin1CiAi => Some(cp1252::weights_of(false, false)),
            _ => None,
        }
    }

    /// A weight for each byte of code page 1252 that decides the order of strings where their
    /// first different bytes have different weights; `None` where bytes alone decide nothing.
    pub fn first_weights(self) -> Option<&'static [u8; 256]> {
        match self {
            Collation::SqlLatin1CiAs | Collation::SqlLatin1CsAs | Collation::SqlLatin1CiAi => {
                Some(cp1252::weights_of(false, false))
            }
            Collation::Latin1Bin | Collation::Latin1Bin2 => Some(&CODES_ALONE),
            Collation::Latin1CiAs | Collation::Latin1CsAs | Collation::Latin1CiAi => None,
        }
    }

    /// Whether two single bytes of code page 1252 are the same character.
    pub fn same_char(self, a: u8, b: u8) -> bool {
        match self {
            Collation::SqlLatin1CiAs => cp1252::same(false, true, a, b),
            Collation::SqlLatin1CsAs => cp1252::same(true, true, a, b),
            Collation::SqlLatin1CiAi => cp1252::same(false, false, a, b),
            Collation::Latin1Bin | Collation::Latin1Bin2 => a == b,
            windows => {
                windows.same_nchar(crate::text::unit_of_1252(a), crate::text::unit_of_1252(b))
            }
        }
    }

    /// Whether two single UTF-16 units are the same character.
    pub fn same_nchar(self, a: u16, b: u16) -> bool {
        match self {
            _ if a == b => true,
            Collation::SqlLatin1CiAs | Collation::Latin1CiAs => unicode::same(CI_AS, a, b),
            Collation::SqlLatin1CsAs | Collation::Latin1CsAs => unicode::same(CS_AS, a, b),
            Collation::SqlLatin1CiAi | Collation::Latin1CiAi => unicode::same(CI_AI, a, b),
            Collation::Latin1Bin | Collation::Latin1Bin2 => false,
        }
    }
}

/// Each code is its own weight.
static CODES_ALONE: [u8; 256] = {
    let mut codes = [0; 256];
    let mut code = 0;
    while code < codes.len() {
        codes[code] = code as u8;
        code += 1;
    }
    codes
};

/// Compares two sequences, the shorter one continued with `pad`.
fn pad_compare<T: Ord + Copy>(
    a: impl Iterator<Item = T>,
    b: impl Iterator<Item = T>,
    pad: T,
) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let order = match (a.next(), b.next()) {
            (Some(x), Some(y)) => x.cmp(&y),
            (Some(x), None) => x.cmp(&pad),
            (None, Some(y)) => pad.cmp(&y),
            (None, None) => return Ordering::Equal,
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Both without what they begin with alike: where each byte is a character it decides nothing, at
/// any level. Told apart eight bytes at a time; the first bytes of what is left differ, if both
/// have one.
#[inline]
fn from_difference<'a>(a: &'a [u8], b: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let word = |x: &[u8; 8]| u64::from_le_bytes(*x);
    let mut alike = 0;
    for (x, y) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let differ = word(x) ^ word(y);
        if differ != 0 {
            alike += (differ.trailing_zeros() / 8) as usize;
            return (&a[alike..], &b[alike..]);
        }
        alike += 8;
    }
    alike += a[alike..].iter().zip(&b[alike..]).take_while(|(x, y)| x == y).count();
    (&a[alike..], &b[alike..])
}

fn widened(a: &[u8], b: &[u8], levels: Levels) -> Ordering {
    unicode::compare(levels, &crate::text::widen(a), &crate::text::widen(b))
}

fn compare_codes_char(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = from_difference(a, b);
    pad_compare(a.iter().copied(), b.iter().copied(), b' ')
}

fn compare_codes_nchar(a: &[u8], b: &[u8]) -> Ordering {
    pad_compare(crate::text::units(a), crate::text::units(b), b' ' as u16)
}

/// A string of code page 1252 without blanks at its end.
pub fn trim_char(a: &[u8]) -> &[u8] {
    let end = a.iter().rposition(|&b| b != b' ').map_or(0, |i| i + 1);
    &a[..end]
}

/// A UTF-16LE string without blanks at its end.
pub fn trim_nchar(a: &[u8]) -> &[u8] {
    let mut pairs = a.as_chunks::<2>().0;
    while let [rest @ .., [b' ', 0]] = pairs {
        pairs = rest;
    }
    pairs.as_flattened()
}
