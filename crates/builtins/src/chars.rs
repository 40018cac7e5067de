//! `Chars`: a string argument in whichever encoding it came, addressed by character.
//!
//! A character is a byte of code page 1252 or a UTF-16 unit, as SQL Server's string functions
//! count them under collations without supplementary characters.

use crate::call::Call;
use base::SqlResult;
use types::{
    Bytes, Collation, Family, Growing, Length, SqlType, Value, text, trim_char, trim_nchar,
};

/// A search looks whether it is to end after so many comparisons.
const LOOK_CHARS: usize = 256 << 10;

/// Characters of one encoding.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Chars {
    bytes: Bytes,
    wide: bool,
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
        match (&args[i], wide) {
            (Value::Char(b), false) | (Value::NChar(b), true) => {
                return Ok(Chars { bytes: b.clone(), wide });
            }
            (Value::Char(b), true) => return Ok(Chars { bytes: text::widened(b)?, wide }),
            (Value::NChar(b), false) => return Ok(Chars { bytes: text::narrowed(b)?, wide }),
            _ => {}
        }
        let to = if wide { SqlType::NVARCHAR_MAX } else { SqlType::VARCHAR_MAX };
        match call.to(args, i, to)? {
            Value::Char(bytes) | Value::NChar(bytes) => Ok(Chars { bytes, wide }),
            _ => Ok(Chars::new(Vec::new(), wide)),
        }
    }

    /// A character value; `None` of any other and of NULL.
    pub(crate) fn of_value(value: &Value) -> Option<Chars> {
        match value {
            Value::Char(bytes) => Some(Chars { bytes: bytes.clone(), wide: false }),
            Value::NChar(bytes) => Some(Chars { bytes: bytes.clone(), wide: true }),
            _ => None,
        }
    }

    pub(crate) fn new(bytes: Vec<u8>, wide: bool) -> Chars {
        Chars { bytes: Bytes::from(bytes), wide }
    }

    /// What has been made.
    pub(crate) fn made(made: Growing, wide: bool) -> Chars {
        Chars { bytes: made.into_bytes(), wide }
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

    /// How many characters.
    pub(crate) fn len(&self) -> usize {
        if self.wide { self.bytes.len() / 2 } else { self.bytes.len() }
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
        Ok(Chars { bytes: Bytes::new(bytes), wide: self.wide })
    }

    /// The same where they lie.
    pub(crate) fn part(&self, start: usize, end: usize) -> &[u8] {
        let width = if self.wide { 2 } else { 1 };
        &self.bytes[start * width..end * width]
    }

    /// The characters as UTF-16 units.
    pub(crate) fn units(&self) -> SqlResult<Vec<u16>> {
        os::values::room(self.len() * 2)?;
        Ok(if self.wide {
            text::units(&self.bytes).collect()
        } else {
            self.bytes.iter().map(|&b| text::unit_of_1252(b)).collect()
        })
    }

    /// The same without blanks at the end.
    pub(crate) fn trimmed_len(&self) -> usize {
        if self.wide { trim_nchar(&self.bytes).len() / 2 } else { trim_char(&self.bytes).len() }
    }

    /// Whether the character at `i` is the character `other` has at `j`.
    pub(crate) fn same(&self, i: usize, other: &Chars, j: usize, collation: Collation) -> bool {
        if self.wide {
            collation.same_nchar(unit(&self.bytes, i), unit(&other.bytes, j))
        } else {
            collation.same_char(self.bytes[i], other.bytes[j])
        }
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
        // A limit is short.
        let cut = if self.len() > limit {
            Chars { bytes: Bytes::new(self.part(0, limit)), wide: self.wide }
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
