//! Collations: how character values order and when they are equal.
//!
//! A collation is a small number. It governs both encodings: `compare_char` for varchar, in the
//! bytes of its code page, and `compare_nchar` for UTF-16LE. Trailing blanks never count, in any.
//!
//! ```text
//! families.rs   Windows families and SQL sort orders: the table of all there are
//! style.rs      CI, AS, KS, WS, SC, UTF8 …: what is combined with a family
//! names.rs      names, descriptions, the list
//! code_page.rs  bytes of varchar
//! cp1252.rs     SQL sort orders 51 to 54
//! unicode.rs    the rules of Latin1_General of the first version
//! words.rs      the rules of all others, by ICU's data
//! ```
//!
//! The README beside this file tells which order is whose, what a comparison costs and how orders
//! are versioned.

mod code_page;
mod cp1252;
mod families;
mod key;
mod latin;
mod names;
mod style;
mod unicode;
mod words;

pub use code_page::CodePage;

use crate::text::units;
use families::{FAMILIES, Family, SORTS, SqlOrder, SqlRule};
use std::cmp::Ordering;
use std::hash::Hasher;
use std::sync::OnceLock;
use style::Style;
use words::Words;

/// A collation: its family's row in the higher byte, its style in the lower one. Eight that were
/// there before the others have the numbers 0 to 7.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Collation(u16);

impl std::fmt::Debug for Collation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Rows of SQL sort orders begin here, those of Windows families at 1.
const FIRST_SORT: usize = 160;

/// The rows of the first eight: `Latin1_General`, and sort orders 52, 51 and 54.
const LATIN1: usize = 24;
const SORT_51: usize = FIRST_SORT + 13;
const SORT_52: usize = FIRST_SORT + 14;
const SORT_54: usize = FIRST_SORT + 16;

const CI_AI_STYLE: Style = Style(0);
const CI_AS_STYLE: Style = Style(Style::ACCENT);
const CS_AS_STYLE: Style = Style(Style::CASE | Style::ACCENT);

/// The wire's flag of UTF-8.
const WIRE_UTF8: u32 = 1 << 26;

/// What the numbers 0 to 7 stand for.
const FIRST: [(usize, Style); 8] = [
    (SORT_52, CI_AS_STYLE),
    (SORT_51, CS_AS_STYLE),
    (SORT_54, CI_AI_STYLE),
    (LATIN1, CI_AS_STYLE),
    (LATIN1, CS_AS_STYLE),
    (LATIN1, CI_AI_STYLE),
    (LATIN1, Style::BIN),
    (LATIN1, Style::BIN2),
];

impl Collation {
    /// The default: SQL sort order 52 for varchar, Latin1_General rules for nvarchar.
    pub const SQL_LATIN1_CI_AS: Collation = Collation(0);
    /// SQL sort order 51 for varchar.
    pub const SQL_LATIN1_CS_AS: Collation = Collation(1);
    /// SQL sort order 54 for varchar: case and accents ignored.
    pub const SQL_LATIN1_CI_AI: Collation = Collation(2);
    /// Windows rules, case-insensitive, accent-sensitive.
    pub const LATIN1_CI_AS: Collation = Collation(3);
    /// Windows rules, case-sensitive, accent-sensitive.
    pub const LATIN1_CS_AS: Collation = Collation(4);
    /// Windows rules, case and accents ignored.
    pub const LATIN1_CI_AI: Collation = Collation(5);
    /// By code, older form.
    pub const LATIN1_BIN: Collation = Collation(6);
    /// By code point.
    pub const LATIN1_BIN2: Collation = Collation(7);

    /// The eight that were there before the others.
    pub fn first() -> impl Iterator<Item = Collation> {
        (0..FIRST.len() as u16).map(Collation)
    }

    /// The collation of a row and a style.
    fn of_row(row: usize, style: Style) -> Collation {
        match FIRST.iter().position(|&first| first == (row, style)) {
            Some(number) => Collation(number as u16),
            None => Collation((row as u16) << 8 | u16::from(style.0)),
        }
    }

    fn row(self) -> usize {
        match FIRST.get(usize::from(self.0)) {
            Some(&(row, _)) => row,
            None => usize::from(self.0 >> 8),
        }
    }

    #[inline]
    fn style(self) -> Style {
        match FIRST.get(usize::from(self.0)) {
            Some(&(_, style)) => style,
            None => Style(self.0 as u8),
        }
    }

    /// The SQL sort order that it is.
    fn sort(self) -> Option<&'static SqlOrder> {
        SORTS.get(self.row().checked_sub(FIRST_SORT)?)
    }

    /// The family of its nvarchar.
    fn family(self) -> &'static Family {
        FAMILIES.get(self.family_place()).unwrap_or(&FAMILIES[LATIN1 - 1])
    }

    /// The place of that family in the table.
    fn family_place(self) -> usize {
        static OF_SORTS: OnceLock<[u8; SORTS.len()]> = OnceLock::new();
        let row = self.row();
        let Some(sort) = row.checked_sub(FIRST_SORT) else { return row.wrapping_sub(1) };
        let places = OF_SORTS.get_or_init(|| {
            std::array::from_fn(|n| {
                let found = FAMILIES.iter().position(|family| family.name == SORTS[n].unicode);
                found.unwrap_or(LATIN1 - 1) as u8
            })
        });
        places.get(sort).map_or(LATIN1 - 1, |&place| usize::from(place))
    }

    /// The five bytes of type descriptions on the wire: locale, flags and version, sort id.
    pub fn tds_bytes(self) -> [u8; 5] {
        let family = self.family();
        let flags = self.style().wire_flags();
        let word = family.lcid | flags << 20 | u32::from(family.version) << 28;
        let [a, b, c, d] = word.to_le_bytes();
        [a, b, c, d, self.sort().map_or(0, |sort| sort.sort_id)]
    }

    /// The collation of five bytes of the wire. Of several that the wire does not tell apart it is
    /// the one that says least.
    pub fn by_tds_bytes(bytes: [u8; 5]) -> Option<Collation> {
        if let Some(first) = Collation::first().find(|first| first.tds_bytes() == bytes) {
            return Some(first);
        }
        let [a, b, c, d, sort_id] = bytes;
        let word = u32::from_le_bytes([a, b, c, d]);
        let found = if sort_id == 0 {
            let (lcid, version) = (word & 0xF_FFFF, (word >> 28) as u8);
            let same = |family: &Family| family.lcid == lcid && family.version == version;
            let row = FAMILIES.iter().position(same)? + 1;
            Some(Collation::of_row(row, Style::of_wire(word >> 20, version)))
        } else {
            let same = (0..SORTS.len()).filter(|&n| SORTS[n].sort_id == sort_id);
            let of = |n: usize| {
                let style = names::style_of_sort(SORTS[n].name);
                Collation::of_row(FIRST_SORT + n, style)
            };
            same.map(of).find(|collation| collation.tds_bytes() == bytes)
        };
        // Not every style that flags can say is one.
        found.filter(|collation| !collation.name().is_empty())
    }

    /// The code page that five bytes of the wire say, also where their style is none that is known:
    /// UTF-8 by its flag, else that of their sort order or of any family of their language.
    pub fn page_of_tds_bytes(bytes: [u8; 5]) -> CodePage {
        if let Some(known) = Collation::by_tds_bytes(bytes) {
            return known.code_page();
        }
        let [a, b, c, d, sort_id] = bytes;
        let word = u32::from_le_bytes([a, b, c, d]);
        if word & WIRE_UTF8 != 0 {
            return CodePage::Utf8;
        }
        let of_sort = SORTS.iter().position(|s| sort_id != 0 && s.sort_id == sort_id);
        let of_language = || FAMILIES.iter().position(|f| f.lcid == word & 0xF_FFFF);
        let row = of_sort.map(|n| FIRST_SORT + n).or_else(|| of_language().map(|n| n + 1));
        row.map_or_else(CodePage::default, |row| Collation::of_row(row, CI_AS_STYLE).code_page())
    }

    /// Its stable number in catalog rows.
    pub fn id(self) -> u16 {
        self.0
    }

    /// The collation of a stable number.
    pub fn by_id(id: u16) -> Option<Collation> {
        let collation = Collation(id);
        (usize::from(id) < FIRST.len() || !collation.name().is_empty()).then_some(collation)
    }

    /// The collation whose number orders carry.
    pub(crate) fn by_rule(id: u16) -> Collation {
        Collation(id)
    }

    /// COLLATIONPROPERTY's LCID.
    pub fn lcid(self) -> i32 {
        self.family().lcid as i32
    }

    /// COLLATIONPROPERTY's Version: 0 of 80, 1 of 90, 2 of 100, 3 of 140.
    pub fn version(self) -> i32 {
        i32::from(self.family().version)
    }

    /// COLLATIONPROPERTY's ComparisonStyle.
    pub fn comparison_style(self) -> i32 {
        self.style().comparison_style()
    }

    /// The code page of its varchar.
    #[inline]
    pub fn code_page(self) -> CodePage {
        match usize::from(self.0) < FIRST.len() {
            true => CodePage::Cp1252,
            false => self.own_page().unwrap_or_default(),
        }
    }

    fn own_page(self) -> Option<CodePage> {
        match self.sort() {
            Some(sort) => Some(sort.page),
            None if self.style().has(Style::UTF8) => Some(CodePage::Utf8),
            None => self.family().page,
        }
    }

    /// Whether it has no varchar: 459.
    pub fn is_unicode_only(self) -> bool {
        self.own_page().is_none()
    }

    /// Whether functions count a pair of UTF-16 as one character.
    #[inline]
    pub fn has_supplementary(self) -> bool {
        self.style().has(Style::SUPPLEMENTARY)
    }

    /// Whether `A` and `a` differ.
    pub fn is_case_sensitive(self) -> bool {
        self.style().is_case_sensitive()
    }

    /// Whether it orders by codes alone.
    #[inline]
    pub fn is_binary(self) -> bool {
        self.style().is_binary()
    }

    /// Whether the order of its varchar is one that nobody has published: it is refused by name.
    pub fn is_unknown_order(self) -> bool {
        self.sort().is_some_and(|sort| sort.rule == SqlRule::Unknown)
    }

    /// Whether upper and lower case of `i` are those of Turkish.
    pub fn is_turkic(self) -> bool {
        usize::from(self.0) >= FIRST.len() && matches!(self.family().lcid, 0x41F | 0x42C)
    }
}

use unicode::Levels;

const CI_AS: Levels = Levels { accent: true, case: false };
const CS_AS: Levels = Levels { accent: true, case: true };
const CI_AI: Levels = Levels { accent: false, case: false };

/// How one encoding of a collation orders.
#[derive(Clone, Copy)]
enum Rule {
    /// By the weights of SQL sort orders 51 to 54.
    Sort(Levels),
    /// By the rules of `unicode.rs`.
    Own(Levels),
    Words(Words),
    Codes,
}

/// How two strings compare, given the number of their collation.
pub type TextOrder = fn(&[u8], &[u8], u16) -> Ordering;

impl Collation {
    fn levels(self) -> Levels {
        let style = self.style();
        Levels { accent: style.has(Style::ACCENT), case: style.has(Style::CASE) }
    }

    fn words(self, windows: bool) -> Words {
        let style = self.style();
        Words {
            family: self.family_place() as u8,
            accent: style.has(Style::ACCENT),
            case: style.has(Style::CASE),
            kana: style.has(Style::KANA),
            width: style.has(Style::WIDTH),
            selectors: style.has(Style::SELECTORS),
            windows,
        }
    }

    /// How its nvarchar orders.
    fn wide_rule(self) -> Rule {
        let style = self.style();
        if style.is_binary() {
            return Rule::Codes;
        }
        let forms = style.has(Style::KANA | Style::WIDTH);
        match self.family_place() == LATIN1 - 1 && !forms {
            true => Rule::Own(self.levels()),
            false => Rule::Words(self.words(true)),
        }
    }

    /// How its varchar orders, once it is in UTF-16 unless by `Sort` or `Codes`.
    fn narrow_rule(self) -> Rule {
        if self.is_binary() {
            return Rule::Codes;
        }
        match self.sort().map(|sort| sort.rule) {
            Some(SqlRule::Own) => Rule::Sort(self.levels()),
            Some(_) => Rule::Words(self.words(false)),
            None => self.wide_rule(),
        }
    }

    /// How two strings in its code page order.
    #[inline]
    pub fn compare_char(self, a: &[u8], b: &[u8]) -> Ordering {
        self.char_order()(a, b, self.0)
    }

    /// How two UTF-16LE strings order.
    #[inline]
    pub fn compare_nchar(self, a: &[u8], b: &[u8]) -> Ordering {
        self.nchar_order()(a, b, self.0)
    }

    /// The function that orders strings in its code page.
    pub fn char_order(self) -> TextOrder {
        match self {
            Collation::SQL_LATIN1_CI_AS => |a, b, _| cp1252::compare_ci_as(a, b),
            Collation::SQL_LATIN1_CS_AS => |a, b, _| cp1252::compare_cs_as(a, b),
            Collation::SQL_LATIN1_CI_AI => |a, b, _| cp1252::compare_ci_ai(a, b),
            // Windows collations order varchar as they order nvarchar.
            Collation::LATIN1_CI_AS => |a, b, _| widened(a, b, CI_AS),
            Collation::LATIN1_CS_AS => |a, b, _| widened(a, b, CS_AS),
            Collation::LATIN1_CI_AI => |a, b, _| widened(a, b, CI_AI),
            other => match other.narrow_rule() {
                Rule::Codes => |a, b, _| compare_codes_char(a, b),
                Rule::Sort(_) => |a, b, _| cp1252::compare_ci_as(a, b),
                _ => |a, b, id| Collation(id).compare_words_char(a, b),
            },
        }
    }

    /// The function that orders UTF-16LE strings.
    pub fn nchar_order(self) -> TextOrder {
        match self {
            Collation::SQL_LATIN1_CI_AS | Collation::LATIN1_CI_AS => {
                |a, b, _| unicode::compare(CI_AS, a, b)
            }
            Collation::SQL_LATIN1_CS_AS | Collation::LATIN1_CS_AS => {
                |a, b, _| unicode::compare(CS_AS, a, b)
            }
            Collation::SQL_LATIN1_CI_AI | Collation::LATIN1_CI_AI => {
                |a, b, _| unicode::compare(CI_AI, a, b)
            }
            other => match other.wide_rule() {
                Rule::Codes => |a, b, _| compare_codes_nchar(a, b),
                Rule::Words(_) => |a, b, id| Collation(id).compare_words_nchar(a, b),
                _ => |a, b, id| unicode::compare(Collation(id).levels(), a, b),
            },
        }
    }

    fn compare_words_char(self, a: &[u8], b: &[u8]) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        let page = self.code_page();
        match self.narrow_rule() {
            Rule::Words(words) => {
                words.compare(Units::of_page(page, a).get(), Units::of_page(page, b).get())
            }
            _ => unicode::compare(self.levels(), &page.widen(a), &page.widen(b)),
        }
    }

    fn compare_words_nchar(self, a: &[u8], b: &[u8]) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        self.words(true).compare(Units::of(units(a)).get(), Units::of(units(b)).get())
    }

    /// Feeds a hasher so that equal strings of its code page hash alike.
    pub fn hash_char(self, a: &[u8], state: &mut impl Hasher) {
        let a = trim_char(a);
        match self {
            Collation::SQL_LATIN1_CI_AS => cp1252::hash(false, true, a, state),
            Collation::SQL_LATIN1_CS_AS => cp1252::hash(true, true, a, state),
            Collation::SQL_LATIN1_CI_AI => cp1252::hash(false, false, a, state),
            Collation::LATIN1_CI_AS | Collation::LATIN1_CS_AS | Collation::LATIN1_CI_AI => {
                unicode::hash(&crate::text::widen(a), state);
            }
            other => match other.narrow_rule() {
                Rule::Codes => state.write(a),
                Rule::Sort(levels) => cp1252::hash(levels.case, levels.accent, a, state),
                Rule::Own(_) => unicode::hash(&other.code_page().widen(a), state),
                Rule::Words(words) => {
                    hash_words(words, Units::of_page(other.code_page(), a).get(), state);
                }
            },
        }
    }

    /// Feeds a hasher so that equal UTF-16LE strings hash alike.
    pub fn hash_nchar(self, a: &[u8], state: &mut impl Hasher) {
        match self.wide_rule() {
            Rule::Codes => state.write(trim_nchar(a)),
            Rule::Words(words) => hash_words(words, Units::of(units(a)).get(), state),
            Rule::Sort(_) | Rule::Own(_) => unicode::hash(a, state),
        }
    }

    /// A weight for each byte of code page 1252, alike exactly for the same character; `None` where
    /// characters are not told apart byte by byte.
    pub fn char_weights(self) -> Option<&'static [u8; 256]> {
        match self.narrow_rule() {
            Rule::Sort(levels) => Some(cp1252::weights_of(levels.case, levels.accent)),
            _ => None,
        }
    }

    /// A weight for each byte of varchar that decides the order of strings where their first
    /// different bytes have different weights; `None` where bytes alone decide nothing.
    pub fn first_weights(self) -> Option<&'static [u8; 256]> {
        match self.narrow_rule() {
            Rule::Sort(_) => Some(cp1252::weights_of(false, false)),
            Rule::Codes => Some(&CODES_ALONE),
            Rule::Own(_) | Rule::Words(_) => None,
        }
    }

    /// Whether two single bytes of a code page of one byte a character are the same character.
    pub fn same_char(self, a: u8, b: u8) -> bool {
        match self {
            _ if a == b => true,
            Collation::SQL_LATIN1_CI_AS => cp1252::same(false, true, a, b),
            Collation::SQL_LATIN1_CS_AS => cp1252::same(true, true, a, b),
            Collation::SQL_LATIN1_CI_AI => cp1252::same(false, false, a, b),
            other => match other.narrow_rule() {
                Rule::Codes => false,
                Rule::Sort(levels) => cp1252::same(levels.case, levels.accent, a, b),
                _ => {
                    let page = other.code_page();
                    other.same_nchar(page.unit(a), page.unit(b))
                }
            },
        }
    }

    /// Whether two single UTF-16 units are the same character.
    pub fn same_nchar(self, a: u16, b: u16) -> bool {
        match self {
            _ if a == b => true,
            Collation::SQL_LATIN1_CI_AS | Collation::LATIN1_CI_AS => unicode::same(CI_AS, a, b),
            Collation::SQL_LATIN1_CS_AS | Collation::LATIN1_CS_AS => unicode::same(CS_AS, a, b),
            Collation::SQL_LATIN1_CI_AI | Collation::LATIN1_CI_AI => unicode::same(CI_AI, a, b),
            other => other.same_units(&[a], &[b]),
        }
    }

    /// Whether two characters are the same, each a unit or a pair of UTF-16.
    pub fn same_units(self, a: &[u16], b: &[u16]) -> bool {
        // Whole ASCII differs or not without a collator.
        if let (&[x], &[y]) = (a, b)
            && x < 0x80
            && y < 0x80
            && !self.is_binary()
        {
            let lower = |unit: u16| (unit as u8).to_ascii_lowercase();
            let case = self.style().has(Style::CASE);
            let letters = lower(x).is_ascii_lowercase() && lower(y).is_ascii_lowercase();
            // Turkish has an i of its own, control characters may be nothing.
            if letters && !self.is_turkic() {
                return x == y || (!case && lower(x) == lower(y));
            }
        }
        match self.wide_rule() {
            _ if a == b => true,
            Rule::Codes => false,
            Rule::Words(words) => words.compare(a, b).is_eq(),
            Rule::Sort(levels) | Rule::Own(levels) => {
                let bytes = crate::text::bytes_of_units;
                unicode::compare(levels, &bytes(a), &bytes(b)).is_eq()
            }
        }
    }

    /// Whether a letter or digit of ASCII, and all that begins with it, comes before the next one:
    /// languages have letters of two characters, and letters elsewhere.
    pub fn has_plain_ascii(self) -> bool {
        [self.wide_rule(), self.narrow_rule()].into_iter().all(|rule| match rule {
            Rule::Words(words) => words.has_plain_ascii(),
            Rule::Sort(_) | Rule::Own(_) | Rule::Codes => true,
        })
    }

    /// Whether that holds behind another letter too: a letter of two characters may lie elsewhere
    /// than its second one says.
    pub fn has_plain_pairs(self) -> bool {
        [self.wide_rule(), self.narrow_rule()].into_iter().all(|rule| match rule {
            Rule::Words(words) => words.has_plain_pairs(),
            Rule::Sort(_) | Rule::Own(_) | Rule::Codes => true,
        })
    }

    /// Whether letters and digits of ASCII come before all that begins with them. Not where strings
    /// compare as if they went on with blanks: a control character orders below those. Nor in
    /// Chinese, where `a` comes behind `a` with the mark of a tone.
    pub fn orders_beginnings_first(self, wide: bool) -> bool {
        match if wide { self.wide_rule() } else { self.narrow_rule() } {
            Rule::Words(words) => words.orders_beginnings_first(),
            Rule::Sort(_) | Rule::Own(_) | Rule::Codes => false,
        }
    }

    /// The version of the order that an index by it is in; 0 of the orders of our own, which are
    /// frozen: those of the first eight and by code.
    pub fn order_version(self) -> u8 {
        let words = |rule| matches!(rule, Rule::Words(_));
        if words(self.wide_rule()) || words(self.narrow_rule()) { words::VERSION } else { 0 }
    }
}

/// The units of a text, short ones without memory of their own.
struct Units {
    short: [u16; 64],
    length: usize,
    long: Vec<u16>,
}

impl Units {
    fn of(units: impl ExactSizeIterator<Item = u16>) -> Units {
        let mut made = Units { short: [0; 64], length: units.len(), long: Vec::new() };
        match made.short.get_mut(..units.len()) {
            Some(short) => short.iter_mut().zip(units).for_each(|(to, unit)| *to = unit),
            None => made.long = units.collect(),
        }
        made
    }

    fn of_page(page: CodePage, text: &[u8]) -> Units {
        if page.is_single_byte() {
            return Units::of(text.iter().map(|&byte| page.unit(byte)));
        }
        if text.is_ascii() {
            return Units::of(text.iter().map(|&byte| u16::from(byte)));
        }
        let mut long = Vec::with_capacity(text.len().max(65));
        page.append_units(text, &mut long);
        // What is short is looked for in the array.
        match long.len() <= 64 {
            true => Units::of(long.into_iter()),
            false => Units { short: [0; 64], length: long.len(), long },
        }
    }

    fn get(&self) -> &[u16] {
        self.short.get(..self.length).unwrap_or(&self.long)
    }
}

fn hash_words(words: Words, units: &[u16], state: &mut impl Hasher) {
    let mut key = Vec::with_capacity(3 * units.len() + 8);
    words.append_key(units, &mut key);
    state.write(&key);
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
    pad_compare(units(a), units(b), b' ' as u16)
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
