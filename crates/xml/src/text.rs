//! Bytes to characters: which encoding a value comes in, and whether its declaration may say so.
//!
//! A varchar is in the code page or in what its declaration names, an nvarchar is UTF-16 whatever
//! stands there, and bytes say it themselves: by their first ones, or by the declaration.

use base::{SqlError, SqlResult, messages};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;

/// Where a document comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// An nvarchar.
    Wide(&'a str),
    /// A varchar of code page 1252.
    Narrow(&'a [u8]),
    /// A varbinary, or what a client sends as xml.
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// The characters, and where they are in error: 9401, 9402, 9420.
    pub(crate) fn characters(self) -> SqlResult<Cow<'a, str>> {
        match self {
            Source::Wide(text) => {
                let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
                if let Some((name, end)) = declared(text.as_bytes())
                    && !is_wide(&name)
                {
                    let known = Encoding::for_label(name.as_bytes()).is_some();
                    return Err(refused(known, end));
                }
                Ok(Cow::Borrowed(text))
            }
            Source::Narrow(bytes) => {
                let Some((name, end)) = declared(bytes) else {
                    return decoded(bytes, WINDOWS_1252);
                };
                match Encoding::for_label(name.as_bytes()) {
                    _ if is_wide(&name) => Err(refused(true, end)),
                    Some(encoding) => decoded(bytes, encoding),
                    None => Err(refused(false, end)),
                }
            }
            Source::Bytes(bytes) => {
                if let Some((encoding, length)) = Encoding::for_bom(bytes) {
                    return decoded(bytes.get(length..).unwrap_or(&[]), encoding);
                }
                match bytes {
                    [_, 0, ..] => return decoded(bytes, UTF_16LE),
                    [0, _, ..] => return decoded(bytes, UTF_16BE),
                    _ => {}
                }
                match declared(bytes) {
                    None => decoded(bytes, UTF_8),
                    Some((name, end)) => match Encoding::for_label(name.as_bytes()) {
                        _ if is_wide(&name) => Err(refused(true, end)),
                        Some(encoding) => decoded(bytes, encoding),
                        None => Err(refused(false, end)),
                    },
                }
            }
        }
    }
}

/// UTF-16 by one of its names.
fn is_wide(name: &str) -> bool {
    ["utf-16", "ucs-2", "utf-16le", "iso-10646-ucs-2", "unicode"]
        .iter()
        .any(|n| n.eq_ignore_ascii_case(name))
}

/// Whether the text of a document names its encoding.
pub fn names_encoding(bytes: &[u8]) -> bool {
    declared(bytes).is_some()
}

/// The encoding that an XML declaration names, and how long the declaration is. `<?xmlx …?>` is a
/// processing instruction, not a declaration; what looks like an encoding within a value is none.
fn declared(bytes: &[u8]) -> Option<(String, usize)> {
    let rest = bytes.strip_prefix(b"<?xml").filter(|rest| rest.first().is_some_and(is_space))?;
    let end = rest.windows(2).position(|w| w == b"?>")?;
    let mut inner = std::str::from_utf8(rest.get(..end)?).ok()?;
    loop {
        let (name, value) = inner.split_once('=')?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, behind) = value[1..].split_once(quote)?;
        if name.trim() == "encoding" {
            return Some((value.to_owned(), b"<?xml".len() + end + 2));
        }
        inner = behind;
    }
}

/// XML's white space.
fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// 9402 for an encoding that cannot be the text's, 9401 for one that nobody knows.
fn refused(known: bool, end: usize) -> SqlError {
    let message =
        if known { messages::XML_ENCODING_SWITCH } else { messages::XML_ENCODING_UNKNOWN };
    SqlError::new(message, &[&1, &end])
}

fn decoded<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> SqlResult<Cow<'a, str>> {
    if let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        return Ok(text);
    }
    // The first character that the encoding does not have.
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let length = decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(0);
    let mut before = String::with_capacity(length);
    let _ = decoder.decode_to_string_without_replacement(bytes, &mut before, true);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |n| n + 1);
    let character = before[start..].chars().count() + 1;
    Err(SqlError::new(messages::XML_CHARACTER, &[&line, &character]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only a declaration names the encoding, by an attribute of its own.
    #[test]
    fn encodings_are_named_by_declarations() {
        let names = |text: &str| declared(text.as_bytes()).map(|(name, _)| name);
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(names("<?xml version='1.0' encoding='utf-8'?><a/>"), named("utf-8"));
        assert_eq!(names("<?xml version=\"1.0\"\n encoding = \"utf-16\" ?>"), named("utf-16"));
        assert_eq!(names("<?xmlvores in='1.0' encoding='utf-8'?><a/>"), None);
        assert_eq!(names("<?xml version='1.0' myencoding='utf-8'?><a/>"), None);
        assert_eq!(names("<?xml version=\" encoding='x' \"?><a/>"), None);
        assert_eq!(names("<?xml version='1.0' encoding='utf-8?>"), None);
        assert_eq!(names("<a/>"), None);
    }
}
