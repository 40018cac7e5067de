//! A distribution as bytes, and these as a text that `sysobjvalues` keeps: one character a byte.
//!
//! ```text
//! size field                    size field
//!    1 version, 3                  8 updated, ns since 1970
//!    8 rows                        8 rows sampled
//!    8 counter of modifications    (not in version 1)
//!    2 prefixes                    then each: 4 column id, 8 distinct, 8 average bytes
//!    2 steps                       then each: 4 key length + 1 (0 is NULL), key,
//!                                    8 range rows, 8 equal rows, 8 distinct range rows
//!    2 strings                     then each: 2 length, bytes (not before version 3)
//! ```
//!
//! Counts in prefixes and steps are floats; everything is little-endian.

use super::strings::STRINGS_MAX;
use super::{Distribution, Prefix, STEPS_MAX, Step};

const VERSION: u8 = 3;
/// Without strings.
const SECOND_VERSION: u8 = 2;
/// Without the counter.
const FIRST_VERSION: u8 = 1;

impl Distribution {
    /// As a text.
    pub(crate) fn to_text(&self) -> String {
        let mut out = vec![VERSION];
        out.extend_from_slice(&self.updated_ns.to_le_bytes());
        out.extend_from_slice(&self.rows.to_le_bytes());
        out.extend_from_slice(&self.sampled.to_le_bytes());
        out.extend_from_slice(&self.modified.to_le_bytes());
        out.extend_from_slice(&(self.prefixes.len() as u16).to_le_bytes());
        for p in &self.prefixes {
            out.extend_from_slice(&p.column_id.to_le_bytes());
            out.extend_from_slice(&p.distinct.to_le_bytes());
            out.extend_from_slice(&p.average_bytes.to_le_bytes());
        }
        assert!(self.steps.len() <= STEPS_MAX, "a histogram has at most {STEPS_MAX} steps");
        out.extend_from_slice(&(self.steps.len() as u16).to_le_bytes());
        for s in &self.steps {
            let length = s.key.as_ref().map_or(0, |k| k.len() as u32 + 1);
            out.extend_from_slice(&length.to_le_bytes());
            out.extend_from_slice(s.key.as_deref().unwrap_or_default());
            for rows in [s.range_rows, s.equal_rows, s.distinct_range_rows] {
                out.extend_from_slice(&rows.to_le_bytes());
            }
        }
        assert!(self.strings.len() <= STRINGS_MAX, "a summary has at most {STRINGS_MAX} strings");
        out.extend_from_slice(&(self.strings.len() as u16).to_le_bytes());
        for string in &self.strings {
            out.extend_from_slice(&(string.len() as u16).to_le_bytes());
            out.extend_from_slice(string);
        }
        out.into_iter().map(char::from).collect()
    }

    /// From such a text; `None` when it makes no sense.
    pub(crate) fn from_text(text: &str) -> Option<Distribution> {
        let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
        let bytes = bytes?;
        let mut rest = Rest(&bytes);
        let [version] = rest.take::<1>()?;
        if ![FIRST_VERSION, SECOND_VERSION, VERSION].contains(&version) {
            return None;
        }
        let updated_ns = i64::from_le_bytes(rest.take()?);
        let rows = u64::from_le_bytes(rest.take()?);
        let sampled = u64::from_le_bytes(rest.take()?);
        let modified = match version {
            FIRST_VERSION => 0,
            _ => u64::from_le_bytes(rest.take()?),
        };
        let mut prefixes = Vec::new();
        for _ in 0..u16::from_le_bytes(rest.take()?) {
            let column_id = i32::from_le_bytes(rest.take()?);
            prefixes.push(Prefix {
                column_id,
                distinct: rest.rows()?,
                average_bytes: rest.rows()?,
            });
        }
        let mut steps = Vec::new();
        for _ in 0..u16::from_le_bytes(rest.take()?) {
            let key = match u32::from_le_bytes(rest.take()?).checked_sub(1) {
                None => None,
                Some(length) => {
                    let (key, after) = rest.0.split_at_checked(length as usize)?;
                    rest.0 = after;
                    Some(key.into())
                }
            };
            let (range_rows, equal_rows) = (rest.rows()?, rest.rows()?);
            steps.push(Step { key, range_rows, equal_rows, distinct_range_rows: rest.rows()? });
        }
        let strings = if version == VERSION { rest.strings()? } else { Vec::new() };
        let sane = rest.0.is_empty() && !prefixes.is_empty() && steps.len() <= STEPS_MAX;
        let found = Distribution { updated_ns, rows, sampled, modified, prefixes, steps, strings };
        sane.then_some(found)
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk::<N>()?;
        self.0 = tail;
        Some(*head)
    }

    fn strings(&mut self) -> Option<Vec<Box<[u8]>>> {
        let mut strings = Vec::new();
        for _ in 0..u16::from_le_bytes(self.take()?) {
            let length = usize::from(u16::from_le_bytes(self.take()?));
            let (string, after) = self.0.split_at_checked(length)?;
            self.0 = after;
            strings.push(string.into());
        }
        Some(strings)
    }

    /// A count: finite, and not below zero.
    fn rows(&mut self) -> Option<f64> {
        let n = f64::from_le_bytes(self.take()?);
        (n.is_finite() && n >= 0.0).then_some(n)
    }
}
