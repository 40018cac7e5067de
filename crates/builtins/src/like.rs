//! LIKE: patterns of `%`, `_`, `[set]` and `[^set]`, compiled once and matched under a collation.
//!
//! Matching keeps one point to return to, the last `%`: it costs at most pattern times text, and
//! no recursion; where that is much it looks whether the request is to end. Blanks at the end of a
//! varchar that the pattern leaves over do not count; in nvarchar they do.

use base::SqlResult;
use std::cmp::Ordering;
use std::fmt::{self, Write};
use types::{CodePage, Collation, Value, text, trim_char};

/// Comparisons between two looks at whether the request is to end.
const LOOK_STEPS: usize = 1 << 20;

/// Counts the steps of a match.
#[derive(Default)]
struct Pace(usize);

impl Pace {
    #[inline]
    fn step(&mut self, by: usize) -> SqlResult<()> {
        self.0 += by;
        if self.0 < LOOK_STEPS { Ok(()) } else { self.look() }
    }

    #[cold]
    fn look(&mut self) -> SqlResult<()> {
        self.0 = 0;
        os::values::look()
    }
}

/// One place of a pattern.
#[derive(Clone, PartialEq, Debug)]
enum Piece {
    /// `%`
    Any,
    /// `_`
    One,
    /// A character as itself.
    Exact(u32),
    /// `[…]`: ranges, whose ends are equal for single characters.
    Set { negated: bool, ranges: Vec<(u32, u32)> },
}

/// A compiled pattern. Patterns of varchar match varchar, of nvarchar nvarchar.
#[derive(Clone, PartialEq, Debug)]
pub struct LikePattern {
    pieces: Vec<Piece>,
    parts: Option<Parts>,
    wide: bool,
    collation: Collation,
}

/// A varchar pattern of literal parts that ends with `%`: what it asks is whether they follow each
/// other. Characters are compared by their weights.
#[derive(Clone, PartialEq, Debug)]
struct Parts {
    weights: &'static [u8; 256],
    /// The text begins with the first part.
    anchored: bool,
    /// None is empty.
    parts: Vec<Vec<u8>>,
}

impl Parts {
    fn of(pieces: &[Piece], collation: Collation) -> Option<Parts> {
        let weights = collation.char_weights()?;
        if pieces.last() != Some(&Piece::Any) {
            return None;
        }
        let mut parts = vec![Vec::new()];
        for piece in pieces {
            match (piece, parts.last_mut()) {
                (Piece::Any, _) => parts.push(Vec::new()),
                (Piece::Exact(u), Some(part)) => part.push(weights[best_fit(*u) as usize]),
                _ => return None,
            }
        }
        let anchored = parts.first().is_some_and(|p| !p.is_empty());
        parts.retain(|p| !p.is_empty());
        Some(Parts { weights, anchored, parts })
    }

    fn matches(&self, text: &[u8], pace: &mut Pace) -> SqlResult<bool> {
        let mut rest = text;
        for (n, part) in self.parts.iter().enumerate() {
            let at = match n == 0 && self.anchored {
                true => self.begins(rest, part).then_some(0),
                false => self.find(rest, part, pace)?,
            };
            let Some(at) = at else { return Ok(false) };
            rest = &rest[at + part.len()..];
        }
        Ok(true)
    }

    fn begins(&self, text: &[u8], part: &[u8]) -> bool {
        let same = |(&x, &w): (&u8, &u8)| self.weights[x as usize] == w;
        text.len() >= part.len() && text.iter().zip(part).all(same)
    }

    fn find(&self, text: &[u8], part: &[u8], pace: &mut Pace) -> SqlResult<Option<usize>> {
        let Some(&first) = part.first() else { return Ok(None) };
        let Some(last) = text.len().checked_sub(part.len()) else { return Ok(None) };
        // Each start may cost as much as the part is long.
        let step = (LOOK_STEPS / part.len()).max(1);
        for (n, starts) in text[..=last].chunks(step).enumerate() {
            let from = n * step;
            let candidate = |&(at, &x): &(usize, &u8)| {
                self.weights[x as usize] == first && self.begins(&text[from + at..], part)
            };
            if let Some((at, _)) = starts.iter().enumerate().find(candidate) {
                return Ok(Some(from + at));
            }
            pace.step(starts.len() * part.len())?;
        }
        Ok(None)
    }
}

/// As it could be written: plans show it.
impl fmt::Display for LikePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let character = |code: u32| char::from_u32(code).unwrap_or('\u{FFFD}');
        for piece in &self.pieces {
            match piece {
                Piece::Any => f.write_char('%')?,
                Piece::One => f.write_char('_')?,
                Piece::Exact(u @ (0x25 | 0x5B | 0x5F)) => write!(f, "[{}]", character(*u))?,
                Piece::Exact(unit) => f.write_char(character(*unit))?,
                Piece::Set { negated, ranges } => {
                    f.write_str(if *negated { "[^" } else { "[" })?;
                    for &(from, to) in ranges {
                        f.write_char(character(from))?;
                        if from != to {
                            write!(f, "-{}", character(to))?;
                        }
                    }
                    f.write_char(']')?;
                }
            }
        }
        Ok(())
    }
}

impl LikePattern {
    /// What it holds on the heap.
    pub fn heap_bytes(&self) -> usize {
        let parts = self.parts.iter().flat_map(|p| &p.parts);
        let texts: usize = parts.map(|part| part.capacity() + size_of::<Vec<u8>>()).sum();
        self.pieces.capacity() * size_of::<Piece>() + texts
    }

    /// Compiles a pattern; `escape` makes the character after it literal.
    pub fn compile(pattern: &Value, escape: Option<char>, collation: Collation) -> LikePattern {
        let wide = matches!(pattern, Value::NChar(_));
        let units = codes_of(pattern, collation);
        let escape = escape.map(u32::from);
        let mut pieces = Vec::with_capacity(units.len());
        let mut at = 0;
        while let Some(&unit) = units.get(at) {
            at += 1;
            let piece = match unit {
                u if Some(u) == escape && at < units.len() => {
                    at += 1;
                    Piece::Exact(units[at - 1])
                }
                0x25 if pieces.last() == Some(&Piece::Any) => continue,
                0x25 => Piece::Any,
                0x5F => Piece::One,
                0x5B => match set(&units[at..], escape) {
                    Some((piece, used)) => {
                        at += used;
                        piece
                    }
                    // A bracket without its fellow matches nothing.
                    None => Piece::Set { negated: false, ranges: Vec::new() },
                },
                u => Piece::Exact(u),
            };
            pieces.push(piece);
        }
        let parts = if wide { None } else { Parts::of(&pieces, collation) };
        LikePattern { pieces, parts, wide, collation }
    }

    /// Whether a value that is not NULL matches.
    ///
    /// # Errors
    /// What ends a request.
    pub fn matches(&self, value: &Value) -> SqlResult<bool> {
        match value {
            Value::NChar(b) => self.of_nchar(b),
            Value::Char(b) => self.of_char(b),
            _ => Ok(false),
        }
    }

    /// Whether a text of code page 1252 matches; none where the request is to end.
    pub fn matches_char(&self, b: &[u8]) -> Option<bool> {
        self.of_char(b).ok()
    }

    /// Whether a text of UTF-16LE matches; none where the request is to end.
    pub fn matches_nchar(&self, b: &[u8]) -> Option<bool> {
        self.of_nchar(b).ok()
    }

    fn of_char(&self, b: &[u8]) -> SqlResult<bool> {
        let mut pace = Pace::default();
        if let Some(parts) = &self.parts {
            return parts.matches(b, &mut pace);
        }
        let blanks = b.len() - trim_char(b).len();
        let codes = self.several_bytes(b);
        let page = self.collation.code_page();
        let unit = |i: usize| match &codes {
            Some(codes) => codes[i],
            None => u32::from(page.unit(b[i])),
        };
        let length = codes.as_ref().map_or(b.len(), Vec::len);
        // Blanks that the pattern leaves over do not count.
        for n in (length - blanks..=length).rev() {
            if self.run(&self.pieces, n, unit, &mut pace)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn of_nchar(&self, b: &[u8]) -> SqlResult<bool> {
        if let Some(codes) = self.pairs(b) {
            let length = codes.len();
            return self.run(&self.pieces, length, |i| codes[i], &mut Pace::default());
        }
        let unit = |i: usize| u32::from(u16::from_le_bytes([b[i * 2], b[i * 2 + 1]]));
        self.run(&self.pieces, b.len() / 2, unit, &mut Pace::default())
    }

    /// The characters of varchar whose page has some of several bytes.
    fn several_bytes(&self, b: &[u8]) -> Option<Vec<u32>> {
        let page = self.collation.code_page();
        let several = !page.is_single_byte() && !b.is_ascii();
        several.then(|| codes_of_bytes(b, page))
    }

    /// The characters of nvarchar with pairs, where they count as one.
    fn pairs(&self, b: &[u8]) -> Option<Vec<u32>> {
        let high = |unit: u16| matches!(unit, 0xD800..=0xDBFF);
        let several = self.collation.has_supplementary() && text::units(b).any(high);
        several.then(|| paired(text::units(b)))
    }

    /// Where the pattern first matches, as PATINDEX counts from 0: the place of the character
    /// that stands for what follows a leading `%`.
    ///
    /// # Errors
    /// What ends a request.
    pub fn find(&self, value: &Value) -> SqlResult<Option<usize>> {
        match (self.pieces.split_first(), value) {
            (Some((Piece::Any, rest)), Value::NChar(b)) if !rest.is_empty() => {
                if let Some(codes) = self.pairs(b) {
                    return self.first(rest, codes.len(), |i| codes[i]);
                }
                let unit = |i: usize| u32::from(u16::from_le_bytes([b[i * 2], b[i * 2 + 1]]));
                self.first(rest, b.len() / 2, unit)
            }
            (Some((Piece::Any, rest)), Value::Char(b)) if !rest.is_empty() => {
                if let Some(codes) = self.several_bytes(b) {
                    return self.first(rest, codes.len(), |i| codes[i]);
                }
                let page = self.collation.code_page();
                self.first(rest, b.len(), |i: usize| u32::from(page.unit(b[i])))
            }
            _ => Ok(self.matches(value)?.then_some(0)),
        }
    }

    /// Where what follows a leading `%` first matches all that is left of a text.
    fn first(
        &self,
        rest: &[Piece],
        length: usize,
        unit: impl Fn(usize) -> u32,
    ) -> SqlResult<Option<usize>> {
        let mut pace = Pace::default();
        for at in 0..=length {
            if self.run(rest, length - at, |i| unit(at + i), &mut pace)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Where strings that match lie: from these characters on, and before those, if anything is
    /// known. ASCII letters and digits only, and only where the collation orders the successor of
    /// each after all that begins with it. No key of an index is as long as what is left aside.
    pub fn range(&self) -> Option<(Vec<u16>, Option<Vec<u16>>)> {
        if !self.collation.has_plain_ascii() {
            return None;
        }
        let plain = |u: &u16| u8::try_from(*u).is_ok_and(|b| b.is_ascii_alphanumeric());
        // Where pairs are letters only the first character says where all that begins so lies.
        let limit = if self.collation.has_plain_pairs() { 1700 } else { 1 };
        let from: Vec<u16> = self.prefix().into_iter().take_while(plain).take(limit).collect();
        let has_successor = |u: &u16| !matches!(u8::try_from(*u), Ok(b'9' | b'z' | b'Z'));
        let to = from.iter().rposition(has_successor).map(|last| {
            let mut units = from[..=last].to_vec();
            units[last] += 1;
            units
        });
        let start = self.start(&from)?;
        Some((start, to))
    }

    /// What no string that begins with a text comes before. That is the text itself, or, where
    /// strings that begin with it may order below it, one of the last strings that begin with the
    /// character before its last one.
    fn start(&self, from: &[u16]) -> Option<Vec<u16>> {
        let (&last, rest) = from.split_last()?;
        if self.collation.orders_beginnings_first(self.wide) {
            return Some(from.to_vec());
        }
        let before = match u8::try_from(last) {
            Ok(b'a' | b'A') => u16::from(b'9'),
            _ => last - 1,
        };
        let last_ones = [before, u16::from(b'z'), u16::from(b'z')];
        Some([rest, &last_ones].concat())
    }

    /// The literal text before the first wildcard.
    fn prefix(&self) -> Vec<u16> {
        let literal = self.pieces.iter().map_while(|p| match p {
            Piece::Exact(u) => u16::try_from(*u).ok(),
            _ => None,
        });
        literal.collect()
    }

    /// Whether pieces match all of a text of `length` characters.
    fn run(
        &self,
        pieces: &[Piece],
        length: usize,
        unit: impl Fn(usize) -> u32,
        pace: &mut Pace,
    ) -> SqlResult<bool> {
        let (mut p, mut u) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            pace.step(1)?;
            match pieces.get(p) {
                Some(Piece::Any) => {
                    if p + 1 == pieces.len() {
                        return Ok(true);
                    }
                    retry = Some((p, u));
                    p += 1;
                    continue;
                }
                Some(piece) if u < length && self.fits(piece, unit(u)) => {
                    p += 1;
                    u += 1;
                    continue;
                }
                None if u == length => return Ok(true),
                _ => {}
            }
            // The last `%` takes one more character.
            match retry {
                Some((any, from)) if from < length => {
                    retry = Some((any, from + 1));
                    p = any + 1;
                    u = from + 1;
                }
                _ => return Ok(false),
            }
        }
    }

    fn fits(&self, piece: &Piece, unit: u32) -> bool {
        match piece {
            Piece::Any | Piece::One => true,
            Piece::Exact(u) => self.same(*u, unit),
            Piece::Set { negated, ranges } => {
                ranges.iter().any(|&(low, high)| self.within(low, high, unit)) != *negated
            }
        }
    }

    /// Whether the varchar that it matches is in code page 1252.
    fn is_first_page(&self) -> bool {
        !self.wide && self.collation.code_page() == CodePage::Cp1252
    }

    fn same(&self, a: u32, b: u32) -> bool {
        if a == b {
            return true;
        }
        if self.is_first_page() {
            return self.collation.same_char(best_fit(a), best_fit(b));
        }
        match (u16::try_from(a), u16::try_from(b)) {
            (Ok(a), Ok(b)) => self.collation.same_nchar(a, b),
            _ => self.collation.same_units(&units_of_code(a), &units_of_code(b)),
        }
    }

    fn within(&self, low: u32, high: u32, unit: u32) -> bool {
        if low == high {
            return self.same(low, unit);
        }
        let order = |a: u32, b: u32| {
            if self.is_first_page() {
                return self.collation.compare_char(&[best_fit(a)], &[best_fit(b)]);
            }
            let bytes = |code: u32| text::bytes_of_units(&units_of_code(code));
            self.collation.compare_nchar(&bytes(a), &bytes(b))
        };
        order(low, unit) != Ordering::Greater && order(unit, high) != Ordering::Greater
    }
}

/// The byte of code page 1252 that a character becomes.
fn best_fit(code: u32) -> u8 {
    u16::try_from(code).map_or(b'?', text::best_fit)
}

fn units_of_code(code: u32) -> Vec<u16> {
    match (u16::try_from(code), char::from_u32(code)) {
        (Ok(unit), _) => vec![unit],
        (_, Some(c)) => c.encode_utf16(&mut [0; 2]).to_vec(),
        _ => Vec::new(),
    }
}

/// The characters of UTF-16, pairs being one; half of a pair stands for itself.
fn paired(units: impl Iterator<Item = u16>) -> Vec<u32> {
    char::decode_utf16(units)
        .map(|c| c.map_or_else(|half| u32::from(half.unpaired_surrogate()), u32::from))
        .collect()
}

fn codes_of_bytes(b: &[u8], page: CodePage) -> Vec<u32> {
    let mut units = Vec::with_capacity(b.len());
    page.append_units(b, &mut units);
    paired(units.into_iter())
}

fn codes_of(value: &Value, collation: Collation) -> Vec<u32> {
    match value {
        Value::NChar(b) if collation.has_supplementary() => paired(text::units(b)),
        Value::NChar(b) => text::units(b).map(u32::from).collect(),
        Value::Char(b) => match collation.code_page() {
            page if page.is_single_byte() => b.iter().map(|&x| page.unit(x).into()).collect(),
            page => codes_of_bytes(b, page),
        },
        _ => Vec::new(),
    }
}

/// A set after its opening bracket, with the units it takes.
fn set(units: &[u32], escape: Option<u32>) -> Option<(Piece, usize)> {
    let mut at = 0;
    let negated = units.first() == Some(&u32::from(b'^'));
    if negated {
        at += 1;
    }
    let start = at;
    let mut ranges = Vec::new();
    loop {
        let mut unit = *units.get(at)?;
        // A closing bracket right at the start stands for itself.
        if unit == u32::from(b']') && at > start {
            return Some((Piece::Set { negated, ranges }, at + 1));
        }
        if Some(unit) == escape {
            at += 1;
            unit = *units.get(at)?;
        }
        let range = units.get(at + 1) == Some(&u32::from(b'-'));
        match units.get(at + 2) {
            Some(&high) if range && high != u32::from(b']') => {
                ranges.push((unit, high));
                at += 3;
            }
            _ => {
                ranges.push((unit, unit));
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(text: &str, pattern: &str, escape: Option<char>) -> bool {
        let c = Collation::default();
        let narrow = LikePattern::compile(&Value::varchar(pattern), escape, c)
            .matches(&Value::varchar(text))
            .unwrap();
        let wide = LikePattern::compile(&Value::nvarchar(pattern), escape, c)
            .matches(&Value::nvarchar(text))
            .unwrap();
        assert_eq!(narrow, wide, "{text:?} like {pattern:?}");
        narrow
    }

    #[test]
    fn patterns_match_as_documented() {
        for (text, pattern, expected) in [
            ("abc", "ABC", true),
            ("abc", "a%", true),
            ("abc", "%c", true),
            ("abc", "%b%", true),
            ("abc", "a_c", true),
            ("abc", "a_", false),
            ("", "%", true),
            ("", "_", false),
            ("Bennet", "[a-c]enn_t", true),
            ("Dennet", "[^a-c]%", true),
            ("5%", "5[%]", true),
            ("a]b", "a[]]b", true),
            ("a-b", "a[-x]b", true),
            ("[x", "[[]x", true),
            ("x", "[x", false),
            ("mississippi", "%iss%ip%", true),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "%a%a%a%a%a%a%a%a%a%c", false),
            ("é", "e", false),
            ("É", "é", true),
        ] {
            assert_eq!(like(text, pattern, None), expected, "{text:?} like {pattern:?}");
        }
        assert!(like("10%", "10!%", Some('!')) && !like("100", "10!%", Some('!')));
        assert!(like("a_b", "a\\_b", Some('\\')));
    }

    #[test]
    fn trailing_blanks_are_left_over_in_varchar_only() {
        let c = Collation::default();
        let narrow = LikePattern::compile(&Value::varchar("abc"), None, c);
        assert!(narrow.matches(&Value::varchar("abc  ")).unwrap());
        let wide = LikePattern::compile(&Value::nvarchar("abc"), None, c);
        assert!(!wide.matches(&Value::nvarchar("abc  ")).unwrap());
        let blanks = LikePattern::compile(&Value::varchar("abc "), None, c);
        assert!(!blanks.matches(&Value::varchar("abc")).unwrap());
    }

    #[test]
    fn the_first_match_has_a_place() {
        let c = Collation::default();
        let find = |p: &str, s: &str| {
            LikePattern::compile(&Value::varchar(p), None, c).find(&Value::varchar(s)).unwrap()
        };
        assert_eq!(find("%ter%", "interesting data"), Some(2));
        assert_eq!(find("%[0-9]%", "ab7c8"), Some(2));
        assert_eq!(find("ab%", "abc"), Some(0));
        assert_eq!(find("%x%", "abc"), None);
        assert_eq!(find("%c", "cabc"), Some(3));
    }

    /// Where a language has letters of two characters, where marks make others of them, where tones
    /// come first, where control characters order below a blank: what matches lies in the range.
    #[test]
    fn what_matches_lies_in_the_range() {
        let beginnings = ["a", "A", "c", "ch", "l", "lj", "LL", "aa", "s", "z", "0", "9", "x1"];
        let endings = [
            "",
            "a",
            "h",
            "j",
            "l",
            "L",
            "lc",
            "z",
            "zz",
            "\t",
            "\u{0}\u{0}",
            " \u{1}",
            "\u{30A}",
            "\u{308}",
            "\u{301}",
            "\u{327}c",
            "-",
            "'",
            "\u{FE0F}a",
            "中",
            "9",
            "þ",
            "~",
        ];
        for name in [
            "SQL_Latin1_General_CP1_CI_AS",
            "SQL_Latin1_General_CP1_CS_AS",
            "Latin1_General_CI_AI",
            "Latin1_General_CS_AS",
            "Latin1_General_BIN2",
            "Danish_Norwegian_CI_AS",
            "Czech_CS_AS",
            "Croatian_100_CS_AS_KS_WS_SC_UTF8",
            "Welsh_100_CI_AI_WS_SC",
            "Estonian_CI_AS",
            "Hungarian_CI_AS",
            "Finnish_Swedish_CI_AS",
            "Chinese_PRC_Stroke_CS_AS",
            "Traditional_Spanish_CI_AI",
            "Vietnamese_CS_AS",
        ] {
            let c = Collation::by_name(name).unwrap_or_else(|| panic!("{name} is a collation"));
            let value = |text: &str, wide: bool| match wide {
                true => Value::nvarchar(text),
                false => Value::Char(c.code_page().encode(text).into()),
            };
            for (beginning, wide) in beginnings.iter().flat_map(|b| [(b, false), (b, true)]) {
                let pattern = LikePattern::compile(&value(&format!("{beginning}%"), wide), None, c);
                let Some((from, to)) = pattern.range() else { continue };
                let end = |units: &[u16]| value(&String::from_utf16_lossy(units), wide);
                for text in endings.map(|ending| value(&format!("{beginning}{ending}"), wide)) {
                    if !pattern.matches(&text).unwrap_or(false) {
                        continue;
                    }
                    let inside = types::compare(&end(&from), &text, c).is_le()
                        && to.as_ref().is_none_or(|to| types::compare(&text, &end(to), c).is_lt());
                    assert!(inside, "{name}: {text:?} like {beginning}% is not in its range");
                }
            }
        }
    }
}
