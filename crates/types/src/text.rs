//! Code page 1252 and UTF-16LE: the two encodings of SQL character data.
//!
//! Code page 1252 maps 0x81, 0x8D, 0x8F, 0x90 and 0x9D to the C1 controls of the same number, as
//! Windows does. A character outside it becomes its best fit (accented Latin letters lose the
//! accent, typographic marks their style) or `?`.

use crate::{ByteBuffer, Bytes};
use base::SqlResult;

/// Text of more bytes is made step by step.
const SHORT_BYTES: usize = 16 << 10;

/// The characters of bytes 0x80 to 0x9F.
const HIGH: [u16; 32] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039,
    0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
];

/// Best fits of U+0100 to U+017F; a space where there is none.
const LATIN_A: &[u8; 128] = b"AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIi  JjKk LlLlLlL\
      lLlNnNnNn   OoOoOo  RrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZz ";

/// The UTF-16 unit of a byte of code page 1252.
#[inline]
pub fn unit_of_1252(byte: u8) -> u16 {
    match byte {
        0x80..=0x9F => HIGH[(byte - 0x80) as usize],
        b => b as u16,
    }
}

/// The byte of code page 1252 that stands for a UTF-16 unit exactly.
#[inline]
pub fn byte_of_unit(unit: u16) -> Option<u8> {
    match unit {
        0..=0x7F | 0xA0..=0xFF => Some(unit as u8),
        _ => HIGH.iter().position(|&u| u == unit).map(|i| 0x80 + i as u8),
    }
}

/// The byte that a unit becomes in a conversion: exact, best fit, or `?`.
pub fn best_fit(unit: u16) -> u8 {
    if let Some(b) = byte_of_unit(unit) {
        return b;
    }
    match unit {
        0x0100..=0x017F => match LATIN_A[(unit - 0x100) as usize] {
            b' ' => b'?',
            b => b,
        },
        0x2000..=0x2006 | 0x3000 => b' ',
        0x2010 | 0x2011 | 0x2212 => b'-',
        0x2032 | 0x02B9 | 0x02BC => b'\'',
        0x2033 => b'"',
        0x2044 | 0x2215 => b'/',
        0xFF01..=0xFF5E => (unit - 0xFEE0) as u8,
        _ => b'?',
    }
}

/// The same in ASCII, for pages that have their own letters above it.
pub(crate) fn best_fit_ascii(unit: u16) -> u8 {
    match unit {
        0xA0 => b' ',
        0xC0..=0xFF => match LATIN_1[usize::from(unit) - 0xC0] {
            b' ' => b'?',
            b => b,
        },
        0x2018..=0x201A => b'\'',
        0x201C..=0x201E => b'"',
        0x2013 | 0x2014 => b'-',
        _ => match best_fit(unit) {
            b if b.is_ascii() => b,
            _ => b'?',
        },
    }
}

/// Best fits of U+00C0 to U+00FF in ASCII; a space where there is none.
const LATIN_1: &[u8; 64] = b"AAAAAAACEEEEIIII NOOOOO OUUUUY  aaaaaaaceeeeiiii nooooo ouuuuy y";

/// Text as bytes of code page 1252.
pub fn encode_1252(s: &str) -> Vec<u8> {
    if s.is_ascii() {
        return s.as_bytes().to_vec();
    }
    let mut units = [0; 2];
    s.chars().flat_map(|c| c.encode_utf16(&mut units).to_vec()).map(best_fit).collect()
}

/// Bytes of code page 1252 as text.
pub fn decode_1252(bytes: &[u8]) -> String {
    bytes.iter().map(|&b| char::from_u32(unit_of_1252(b) as u32).unwrap_or('?')).collect()
}

/// Text as UTF-16LE bytes.
pub fn encode_utf16(s: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(s.len() * 2);
    for unit in s.encode_utf16() {
        out.extend_from_slice(&unit.to_le_bytes());
    }
    out
}

/// UTF-16LE bytes as text; a lone surrogate becomes U+FFFD, an odd last byte is dropped.
pub fn decode_utf16(bytes: &[u8]) -> String {
    char::decode_utf16(units(bytes)).map(|c| c.unwrap_or('\u{FFFD}')).collect()
}

/// The UTF-16 units of UTF-16LE bytes; an odd last byte is dropped.
pub fn units(bytes: &[u8]) -> impl ExactSizeIterator<Item = u16> + DoubleEndedIterator + '_ {
    bytes.as_chunks::<2>().0.iter().map(|&pair| u16::from_le_bytes(pair))
}

/// The UTF-16LE bytes of units.
pub fn bytes_of_units(units: &[u16]) -> Vec<u8> {
    let mut out = Vec::with_capacity(units.len() * 2);
    for unit in units {
        out.extend_from_slice(&unit.to_le_bytes());
    }
    out
}

/// Code page 1252 to UTF-16LE: varchar to nvarchar.
pub fn widen(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() * 2);
    for &b in bytes {
        out.extend_from_slice(&unit_of_1252(b).to_le_bytes());
    }
    out
}

/// The same as a value, which may be long.
///
/// # Errors
/// 7119, 701, and what ends a request.
pub fn widened(bytes: &[u8]) -> SqlResult<Bytes> {
    if bytes.len() <= SHORT_BYTES {
        return Ok(Bytes::from(widen(bytes)));
    }
    let mut wide = ByteBuffer::default();
    wide.extend_mapped(bytes, |[b]: [u8; 1]| unit_of_1252(b).to_le_bytes())?;
    Ok(wide.into_bytes())
}

/// The text of bytes of code page 1252, which may be long.
///
/// # Errors
/// 701.
pub fn decoded_1252(bytes: &[u8]) -> SqlResult<String> {
    os::values::room(bytes.len())?;
    Ok(decode_1252(bytes))
}

/// The text of UTF-16LE bytes, which may be long.
///
/// # Errors
/// 701.
pub fn decoded_utf16(bytes: &[u8]) -> SqlResult<String> {
    os::values::room(bytes.len())?;
    Ok(decode_utf16(bytes))
}

/// Text as UTF-16LE bytes of a value, which may be long.
///
/// # Errors
/// 7119, 701, and what ends a request.
pub fn encoded_utf16(s: &str) -> SqlResult<Bytes> {
    if s.len() <= SHORT_BYTES {
        return Ok(Bytes::from(encode_utf16(s)));
    }
    let mut wide = ByteBuffer::with_room(s.len())?;
    for unit in s.encode_utf16() {
        wide.extend(&unit.to_le_bytes())?;
    }
    Ok(wide.into_bytes())
}

/// Text as bytes of code page 1252 of a value, which may be long.
///
/// # Errors
/// 7119, 701, and what ends a request.
pub fn encoded_1252(s: &str) -> SqlResult<Bytes> {
    if s.len() <= SHORT_BYTES {
        return Ok(Bytes::from(encode_1252(s)));
    }
    let mut narrow = ByteBuffer::with_room(s.len())?;
    if s.is_ascii() {
        narrow.extend(s.as_bytes())?;
    } else {
        for unit in s.encode_utf16() {
            narrow.push(best_fit(unit))?;
        }
    }
    Ok(narrow.into_bytes())
}

/// UTF-16LE to code page 1252 as a value, which may be long.
///
/// # Errors
/// 7119, 701, and what ends a request.
pub fn narrowed(bytes: &[u8]) -> SqlResult<Bytes> {
    if bytes.len() <= SHORT_BYTES {
        return Ok(Bytes::from(narrow(bytes)));
    }
    let mut out = ByteBuffer::default();
    out.extend_mapped(bytes, |pair: [u8; 2]| [best_fit(u16::from_le_bytes(pair))])?;
    Ok(out.into_bytes())
}

/// UTF-16LE to code page 1252: nvarchar to varchar.
pub fn narrow(bytes: &[u8]) -> Vec<u8> {
    units(bytes).map(best_fit).collect()
}

/// The upper case of a UTF-16 unit, where that is one unit.
pub fn upper_unit(unit: u16) -> u16 {
    if unit < 0x80 {
        return (unit as u8).to_ascii_uppercase() as u16;
    }
    one_unit(unit, |c| one_char(c.to_uppercase()))
}

/// The lower case of a UTF-16 unit, where that is one unit.
pub fn lower_unit(unit: u16) -> u16 {
    if unit < 0x80 {
        return (unit as u8).to_ascii_lowercase() as u16;
    }
    one_unit(unit, |c| one_char(c.to_lowercase()))
}

/// The upper case of a byte of code page 1252 within that code page.
pub fn upper_byte(byte: u8) -> u8 {
    if byte < 0x80 {
        return byte.to_ascii_uppercase();
    }
    // The upper case of the micro sign is a Greek letter: not of this code page.
    byte_of_unit(upper_unit(unit_of_1252(byte))).unwrap_or(byte)
}

/// The lower case of a byte of code page 1252 within that code page.
pub fn lower_byte(byte: u8) -> u8 {
    if byte < 0x80 {
        return byte.to_ascii_lowercase();
    }
    byte_of_unit(lower_unit(unit_of_1252(byte))).unwrap_or(byte)
}

fn one_char(mut mapped: impl Iterator<Item = char>) -> Option<char> {
    match (mapped.next(), mapped.next()) {
        (Some(c), None) => Some(c),
        _ => None,
    }
}

fn one_unit(unit: u16, map: impl Fn(char) -> Option<char>) -> u16 {
    char::from_u32(unit as u32)
        .and_then(map)
        .and_then(|c| u16::try_from(c as u32).ok())
        .unwrap_or(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_the_code_page_survives_the_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(encode_1252(&decode_1252(&all)), all);
        assert_eq!(narrow(&widen(&all)), all);
    }

    #[test]
    fn foreign_characters_take_their_best_fit_or_a_question_mark() {
        assert_eq!(encode_1252("Łódź €č — 日 \u{1F600}"), b"L\xF3dz \x80c \x97 ? ??");
        assert_eq!(encode_1252("ŵŷžſ"), b"wy\x9E?");
    }

    #[test]
    fn case_stays_within_the_encoding() {
        assert_eq!(upper_byte(b'\xE9'), b'\xC9');
        assert_eq!(upper_byte(0xB5), 0xB5);
        assert_eq!(upper_byte(0xFF), 0x9F);
        assert_eq!(upper_unit('ß' as u16), 'ß' as u16);
        assert_eq!(lower_unit('Ж' as u16), 'ж' as u16);
    }
}
