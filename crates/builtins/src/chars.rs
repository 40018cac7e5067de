//! `Chars`: a string argument in whichever encoding it came, addressed by character.
//!
//! A character is a byte of a code page or a UTF-16 unit, as SQL Server's string functions count
//! them; where the page has characters of several bytes, or the collation counts pairs as one, the
//! places of characters stand beside the bytes.

use crate::call::Call;
use base::SqlResult;
use types::{
    ByteBuffer, Bytes, CodePage, Collation, Family, Length, SqlType, Value, text, trim_char,
    trim_nchar,
};

/// A search looks whether it is to end after so many comparisons.
const LOOK_CHARS: usize = 256 << 10;

/// Characters of one encoding.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Chars {
    bytes: Bytes,
    wide: bool,
    /// Of narrow text.
    page: CodePage,
    /// Where each character begins, and the end; none where all are of one width.
    starts: Option<Box<[u32]>>,
}

/// Where characters begin in text that has some of several bytes or pairs.
fn starts_of(bytes: &[u8], wide: bool, collation: Collation) -> SqlResult<Option<Box<[u32]>>> {
    let page = collation.code_page();
    let one_width = match wide {
        true => !collation.has_supplementary() || !text::units(bytes).any(is_high),
        false => page.is_single_byte() || bytes.is_ascii(),
    };
    if one_width {
        return Ok(None);
    }
    os::values::room(bytes.len() * size_of::<u32>())?;
    let mut starts = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        starts.push(at as u32);
        at += match wide {
            true if is_pair(&bytes[at..]) => 4,
            true => 2,
            false => page.width(&bytes[at..]),
        };
    }
    starts.push(bytes.len() as u32);
    Ok(Some(starts.into()))
}

fn is_high(unit: u16) -> bool {
    matches!(unit, 0xD800..=0xDBFF)
}

fn is_pair(bytes: &[u8]) -> bool {
    bytes.len() >= 4 && is_high(unit(bytes, 0)) && matches!(unit(bytes, 1), 0xDC00..=0xDFFF)
}

impl Chars {
    /// An argument as text of its own encoding, numbers and the like as varchar.
    pub(crate) fn of(call: &Call<'_>, args: &[Value], i: usize) -> SqlResult<Chars> {
        Chars::in_encoding(call, args, i, call.arg_types[i].family() == Family::NChar)
    }

    /// An argument as text of the result's encoding.
    pub(crate) fn like_result(call: &Call<'_>, args: &[Value], i: usize) -> SqlResult<Chars> {
        Chars::in_encoding(call, args, i, call.result.family() == Family::NChar)
    }

    /// An argument as text of an encoding.
    pub(crate) fn in_encoding(
        call: &Call<'_>,
        args: &[Value],
        i: usize,
        wide: bool,
    ) -> SqlResult<Chars> {
        let page = call.collation.code_page();
        match (&args[i], wide) {
            (Value::Char(b), false) | (Value::NChar(b), true) => {
                return Chars::counted(b.clone(), wide, call.collation);
            }
            (Value::Char(b), true) if page == CodePage::Cp1252 => {
                return Chars::counted(text::widened(b)?, wide, call.collation);
            }
            (Value::NChar(b), false) if page == CodePage::Cp1252 => {
                return Chars::counted(text::narrowed(b)?, wide, call.collation);
            }
            _ => {}
        }
        let to = if wide { SqlType::NVARCHAR_MAX } else { SqlType::VARCHAR_MAX };
        match call.to(args, i, to)? {
            Value::Char(bytes) | Value::NChar(bytes) => Chars::counted(bytes, wide, call.collation),
            _ => Ok(Chars::new(Vec::new(), wide)),
        }
    }

    /// Text of an encoding with the places of its characters.
    fn counted(bytes: Bytes, wide: bool, collation: Collation) -> SqlResult<Chars> {
        let starts = starts_of(&bytes, wide, collation)?;
        Ok(Chars { bytes, wide, page: collation.code_page(), starts })
    }

    /// A character value; `None` of any other and of NULL.
    pub(crate) fn of_value(value: &Value) -> Option<Chars> {
        match value {
            Value::Char(bytes) => Some(Chars::plain(bytes.clone(), false)),
            Value::NChar(bytes) => Some(Chars::plain(bytes.clone(), true)),
            _ => None,
        }
    }

    /// The same with the places that characters have under a collation.
    pub(crate) fn of_collation(value: &Value, collation: Collation) -> SqlResult<Option<Chars>> {
        match Chars::of_value(value) {
            Some(chars) => Chars::counted(chars.bytes, chars.wide, collation).map(Some),
            None => Ok(None),
        }
    }

    /// Characters of one width.
    fn plain(bytes: Bytes, wide: bool) -> Chars {
        Chars { bytes, wide, page: CodePage::default(), starts: None }
    }

    pub(crate) fn new(bytes: Vec<u8>, wide: bool) -> Chars {
        Chars::plain(Bytes::from(bytes), wide)
    }

    /// What has been made.
    pub(crate) fn made(made: ByteBuffer, wide: bool) -> Chars {
        Chars::plain(made.into_bytes(), wide)
    }

    /// Units as characters of an encoding; there are few.
    pub(crate) fn from_units(units: &[u16], wide: bool) -> Chars {
        if wide {
            Chars::new(text::bytes_of_units(units), true)
        } else {
            Chars::new(units.iter().map(|&u| text::best_fit(u)).collect(), false)
        }
    }

    pub(crate) fn is_wide(&self) -> bool {
        self.wide
    }

    /// The code page of narrow text.
    pub(crate) fn page(&self) -> CodePage {
        self.page
    }

    /// How many characters.
    pub(crate) fn len(&self) -> usize {
        match &self.starts {
            Some(starts) => starts.len() - 1,
            None if self.wide => self.bytes.len() / 2,
            None => self.bytes.len(),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The characters from `start` before `end`, both within the string.
    pub(crate) fn slice(&self, start: usize, end: usize) -> SqlResult<Chars> {
        let bytes = self.part(start, end);
        if bytes.len() == self.bytes.len() {
            return Ok(self.clone());
        }
        os::values::room(bytes.len())?;
        let starts = self.starts.as_ref().map(|starts| {
            let from = starts[start];
            starts[start..=end].iter().map(|&at| at - from).collect()
        });
        Ok(Chars { bytes: Bytes::new(bytes), starts, ..*self })
    }

    /// The same where they lie.
    pub(crate) fn part(&self, start: usize, end: usize) -> &[u8] {
        if let Some(starts) = &self.starts {
            return &self.bytes[starts[start] as usize..starts[end] as usize];
        }
        let width = if self.wide { 2 } else { 1 };
        &self.bytes[start * width..end * width]
    }

    /// The characters as UTF-16 units.
    pub(crate) fn units(&self) -> SqlResult<Vec<u16>> {
        os::values::room(self.len() * 2)?;
        Ok(if self.wide {
            text::units(&self.bytes).collect()
        } else {
            let mut units = Vec::with_capacity(self.bytes.len());
            self.page.append_units(&self.bytes, &mut units);
            units
        })
    }

    /// The same without blanks at the end.
    pub(crate) fn trimmed_len(&self) -> usize {
        let bytes = if self.wide { trim_nchar(&self.bytes) } else { trim_char(&self.bytes) };
        match &self.starts {
            Some(starts) => starts.partition_point(|&at| (at as usize) < bytes.len()),
            None if self.wide => bytes.len() / 2,
            None => bytes.len(),
        }
    }

    /// Whether the character at `i` is the character `other` has at `j`.
    pub(crate) fn same(&self, i: usize, other: &Chars, j: usize, collation: Collation) -> bool {
        if self.starts.is_some() || other.starts.is_some() {
            let (a, b) = (self.part(i, i + 1), other.part(j, j + 1));
            return a == b || collation.same_units(&self.some_units(a), &other.some_units(b));
        }
        if self.wide {
            collation.same_nchar(unit(&self.bytes, i), unit(&other.bytes, j))
        } else {
            collation.same_char(self.bytes[i], other.bytes[j])
        }
    }

    fn some_units(&self, bytes: &[u8]) -> Vec<u16> {
        if self.wide {
            return text::units(bytes).collect();
        }
        let mut units = Vec::with_capacity(2);
        self.page.append_units(bytes, &mut units);
        units
    }

    /// Where `needle` occurs at or after `from`.
    ///
    /// # Errors
    /// What ends a request.
    pub(crate) fn find(
        &self,
        needle: &Chars,
        from: usize,
        collation: Collation,
    ) -> SqlResult<Option<usize>> {
        debug_assert_eq!(self.wide, needle.wide);
        let n = needle.len();
        let Some(last) = self.len().checked_sub(n) else { return Ok(None) };
        // Some characters of a needle may be compared at each place before one differs.
        let step = (LOOK_CHARS / n.clamp(1, LOOK_CHARS)).max(64);
        let mut at = from;
        while at <= last {
            let end = last.min(at + step - 1);
            let here = |at: &usize| (0..n).all(|k| self.same(at + k, needle, k, collation));
            if let Some(hit) = (at..=end).find(here) {
                return Ok(Some(hit));
            }
            if end < last {
                os::values::look()?;
            }
            at = end + 1;
        }
        Ok(None)
    }

    /// The value of a character type, cut to its length.
    pub(crate) fn into_value(self, t: SqlType) -> Value {
        let limit = match t {
            SqlType::Char(n) | SqlType::NChar(n) => n as usize,
            SqlType::VarChar(Length::N(n)) | SqlType::NVarChar(Length::N(n)) => n as usize,
            _ => usize::MAX,
        };
        // A limit is short, and one of bytes where text is narrow.
        let width = if self.wide { 2 } else { 1 };
        let cut = if self.bytes.len() > limit.saturating_mul(width) {
            let keep = match self.wide {
                true => limit * 2,
                false => self.page.floor(&self.bytes, limit),
            };
            Chars::plain(Bytes::new(&self.bytes[..keep]), self.wide)
        } else {
            self
        };
        if cut.wide { Value::NChar(cut.bytes) } else { Value::Char(cut.bytes) }
    }
}

fn unit(bytes: &[u8], i: usize) -> u16 {
    u16::from_le_bytes([bytes[i * 2], bytes[i * 2 + 1]])
}

/// The variable-length type in which a function answers text like its argument.
pub(crate) fn same_text(t: SqlType) -> SqlType {
    match t {
        SqlType::Char(n) => SqlType::varchar(n),
        SqlType::NChar(n) => SqlType::nvarchar(n),
        SqlType::VarChar(_) | SqlType::NVarChar(_) => t,
        SqlType::NText => SqlType::nvarchar(4000),
        _ => SqlType::varchar(8000),
    }
}

/// The widest type of the encodings of some arguments: `max` where one of them is.
pub(crate) fn widest(types: &[SqlType]) -> SqlType {
    let wide = types.iter().any(|t| t.family() == Family::NChar);
    let max = types.iter().any(|t| t.is_max());
    match (wide, max) {
        (true, true) => SqlType::NVARCHAR_MAX,
        (true, false) => SqlType::nvarchar(4000),
        (false, true) => SqlType::VARCHAR_MAX,
        (false, false) => SqlType::varchar(8000),
    }
}
