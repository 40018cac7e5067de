//! Code pages: in which bytes a collation keeps varchar.
//!
//! Pages of one byte a character are tables, made at first use; those of several bytes are
//! `encoding_rs`'s, whose GBK also reads the four bytes of GB 18030 and whose Big5 has the
//! additions of Hong Kong. A byte that a page does not define is the private character that
//! Windows gives it. A character that a page has not becomes its best fit (a letter without its
//! accent, a plain form of a wide or typographic one) or `?`; half of a pair is `?`.

use crate::text::{self, units};
use encoding_rs::Encoding;
use std::sync::OnceLock;

/// A code page of varchar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Default)]
#[expect(missing_docs, reason = "each is the page of that number")]
#[repr(u8)]
pub enum CodePage {
    Cp437,
    Cp850,
    Cp874,
    Cp1250,
    Cp1251,
    #[default]
    Cp1252,
    Cp1253,
    Cp1254,
    Cp1255,
    Cp1256,
    Cp1257,
    Cp1258,
    Cp932,
    Cp936,
    Cp949,
    Cp950,
    Utf8,
}

use CodePage as P;

/// The upper halves of the pages of DOS, which `encoding_rs` has not.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
    └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";
const CP850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐\
    └┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}";

/// Bytes without a character: the page, the first byte and how many, the first private character.
const UNDEFINED: [(CodePage, u8, u8, u16); 9] = [
    (P::Cp874, 0xDB, 4, 0xF8C1),
    (P::Cp874, 0xFC, 4, 0xF8C5),
    (P::Cp1253, 0xAA, 1, 0xF8F9),
    (P::Cp1253, 0xD2, 1, 0xF8FA),
    (P::Cp1253, 0xFF, 1, 0xF8FB),
    (P::Cp1255, 0xD9, 7, 0xF88D),
    (P::Cp1255, 0xFB, 3, 0xF894),
    (P::Cp1257, 0xA1, 1, 0xF8FC),
    (P::Cp1257, 0xA5, 1, 0xF8FD),
];

/// A page of one byte a character.
struct Table {
    units: [u16; 256],
    /// The upper half by character.
    bytes: Vec<(u16, u8)>,
}

static TABLES: [OnceLock<Table>; 12] = [const { OnceLock::new() }; 12];

impl Table {
    fn of(page: CodePage) -> Table {
        let mut units: [u16; 256] = std::array::from_fn(|byte| byte as u16);
        for byte in 0x80..=0xFF_u8 {
            units[usize::from(byte)] = unit_of(page, byte);
        }
        let mut bytes: Vec<(u16, u8)> =
            (0x80..=0xFF_u8).map(|byte| (units[usize::from(byte)], byte)).collect();
        bytes.sort_unstable();
        Table { units, bytes }
    }

    fn byte(&self, unit: u16) -> Option<u8> {
        if unit < 0x80 {
            return Some(unit as u8);
        }
        let at = self.bytes.binary_search_by_key(&unit, |pair| pair.0).ok()?;
        Some(self.bytes[at].1)
    }
}

/// The character of a byte of the upper half.
fn unit_of(page: CodePage, byte: u8) -> u16 {
    let of_dos = |characters: &str| {
        let found = characters.chars().nth(usize::from(byte) - 0x80);
        found.map_or(u16::from(byte), |c| c as u16)
    };
    match page {
        P::Cp437 => return of_dos(CP437),
        P::Cp850 => return of_dos(CP850),
        P::Cp1252 => return text::unit_of_1252(byte),
        _ => {}
    }
    for (of, from, count, private) in UNDEFINED {
        if of == page && (from..from.saturating_add(count)).contains(&byte) {
            return private + u16::from(byte - from);
        }
    }
    let bytes = [byte];
    let (found, _) = page.encoding().decode_without_bom_handling(&bytes);
    found.chars().next().map_or(u16::from(byte), |c| c as u16)
}

impl CodePage {
    /// Its number: COLLATIONPROPERTY's CodePage.
    pub fn number(self) -> i32 {
        match self {
            P::Cp437 => 437,
            P::Cp850 => 850,
            P::Cp874 => 874,
            P::Cp1250 => 1250,
            P::Cp1251 => 1251,
            P::Cp1252 => 1252,
            P::Cp1253 => 1253,
            P::Cp1254 => 1254,
            P::Cp1255 => 1255,
            P::Cp1256 => 1256,
            P::Cp1257 => 1257,
            P::Cp1258 => 1258,
            P::Cp932 => 932,
            P::Cp936 => 936,
            P::Cp949 => 949,
            P::Cp950 => 950,
            P::Utf8 => 65001,
        }
    }

    fn encoding(self) -> &'static Encoding {
        match self {
            P::Cp874 => encoding_rs::WINDOWS_874,
            P::Cp1250 => encoding_rs::WINDOWS_1250,
            P::Cp1251 => encoding_rs::WINDOWS_1251,
            P::Cp1253 => encoding_rs::WINDOWS_1253,
            P::Cp1254 => encoding_rs::WINDOWS_1254,
            P::Cp1255 => encoding_rs::WINDOWS_1255,
            P::Cp1256 => encoding_rs::WINDOWS_1256,
            P::Cp1257 => encoding_rs::WINDOWS_1257,
            P::Cp1258 => encoding_rs::WINDOWS_1258,
            P::Cp932 => encoding_rs::SHIFT_JIS,
            P::Cp936 => encoding_rs::GBK,
            P::Cp949 => encoding_rs::EUC_KR,
            P::Cp950 => encoding_rs::BIG5,
            P::Cp437 | P::Cp850 | P::Cp1252 => encoding_rs::WINDOWS_1252,
            P::Utf8 => encoding_rs::UTF_8,
        }
    }

    /// Whether each byte is a character.
    #[inline]
    pub fn is_single_byte(self) -> bool {
        (self as usize) < TABLES.len()
    }

    fn table(self) -> &'static Table {
        TABLES[self as usize].get_or_init(|| Table::of(self))
    }

    /// The character of a byte of a page of one byte a character.
    pub fn unit(self, byte: u8) -> u16 {
        match self {
            _ if byte < 0x80 => u16::from(byte),
            P::Cp1252 => text::unit_of_1252(byte),
            page if page.is_single_byte() => page.table().units[usize::from(byte)],
            _ => 0xFFFD,
        }
    }

    /// The byte of a page of one byte a character that stands for a unit exactly.
    pub fn byte(self, unit: u16) -> Option<u8> {
        match self {
            P::Cp1252 => text::byte_of_unit(unit),
            page if page.is_single_byte() => page.table().byte(unit),
            _ => u8::try_from(unit).ok().filter(u8::is_ascii),
        }
    }

    /// The bytes of the character at the beginning of a text, which is not empty.
    #[inline]
    pub fn width(self, text: &[u8]) -> usize {
        let Some(&lead) = text.first() else { return 0 };
        let wide = match self {
            P::Utf8 => match lead {
                0xC2..=0xDF => 2,
                0xE0..=0xEF => 3,
                0xF0..=0xF4 => 4,
                _ => 1,
            },
            P::Cp932 if matches!(lead, 0x81..=0x9F | 0xE0..=0xFC) => 2,
            P::Cp936 | P::Cp949 | P::Cp950 if matches!(lead, 0x81..=0xFE) => 2,
            _ => 1,
        };
        wide.min(text.len())
    }

    /// Appends the UTF-16 units of a text.
    pub fn append_units(self, text: &[u8], out: &mut Vec<u16>) {
        if self.is_single_byte() {
            out.extend(text.iter().map(|&byte| self.unit(byte)));
        } else if text.is_ascii() {
            out.extend(text.iter().map(|&byte| u16::from(byte)));
        } else {
            let (decoded, _) = self.encoding().decode_without_bom_handling(text);
            out.extend(decoded.encode_utf16());
        }
    }

    /// varchar to nvarchar.
    pub fn widen(self, bytes: &[u8]) -> Vec<u8> {
        if self == P::Cp1252 {
            return text::widen(bytes);
        }
        let mut wide = Vec::with_capacity(bytes.len());
        self.append_units(bytes, &mut wide);
        text::bytes_of_units(&wide)
    }

    /// nvarchar to varchar.
    pub fn narrow(self, wide: &[u8]) -> Vec<u8> {
        if self == P::Cp1252 {
            return text::narrow(wide);
        }
        if self.is_single_byte() {
            return units(wide).map(|unit| self.best_fit(unit)).collect();
        }
        let mut out = Vec::with_capacity(wide.len() / 2);
        for c in char::decode_utf16(units(wide)) {
            self.append(c.ok(), &mut out);
        }
        out
    }

    /// The bytes of text.
    pub fn encode(self, text: &str) -> Vec<u8> {
        match self {
            P::Utf8 => text.as_bytes().to_vec(),
            P::Cp1252 => text::encode_1252(text),
            page => page.narrow(&text::encode_utf16(text)),
        }
    }

    /// The text of bytes.
    pub fn decode(self, bytes: &[u8]) -> String {
        match self {
            P::Cp1252 => text::decode_1252(bytes),
            P::Utf8 => String::from_utf8_lossy(bytes).into_owned(),
            page => text::decode_utf16(&page.widen(bytes)),
        }
    }

    /// Appends a character of a page of several bytes; none is half of a pair.
    fn append(self, c: Option<char>, out: &mut Vec<u8>) {
        let mut utf8 = [0; 4];
        match c {
            Some(c) if c.is_ascii() => out.push(c as u8),
            Some(c) if self == P::Utf8 => {
                out.extend_from_slice(c.encode_utf8(&mut utf8).as_bytes());
            }
            None if self == P::Utf8 => out.extend_from_slice("\u{FFFD}".as_bytes()),
            Some(c) => {
                let (bytes, _, lost) = self.encoding().encode(c.encode_utf8(&mut utf8));
                match lost {
                    false => out.extend_from_slice(&bytes),
                    // Both halves of a pair are lost.
                    true if c as u32 > 0xFFFF => out.extend_from_slice(b"??"),
                    true => out.push(text::best_fit_ascii(c as u16)),
                }
            }
            None => out.push(b'?'),
        }
    }

    /// The byte that a unit becomes in a page of one byte a character.
    pub fn best_fit(self, unit: u16) -> u8 {
        match self {
            P::Cp1252 => text::best_fit(unit),
            page => page.byte(unit).unwrap_or_else(|| text::best_fit_ascii(unit)),
        }
    }

    /// One text in another page.
    pub fn recode(self, bytes: &[u8], to: CodePage) -> Vec<u8> {
        if self == to || bytes.is_ascii() {
            return bytes.to_vec();
        }
        to.narrow(&self.widen(bytes))
    }

    /// So many bytes of a text, without a character that is cut.
    pub fn floor(self, text: &[u8], limit: usize) -> usize {
        if self.is_single_byte() || text.len() <= limit {
            return text.len().min(limit);
        }
        let mut at = 0;
        while at < limit {
            let next = at + self.width(&text[at..]);
            if next > limit {
                break;
            }
            at = next;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINGLE: [CodePage; 12] = [
        P::Cp437,
        P::Cp850,
        P::Cp874,
        P::Cp1250,
        P::Cp1251,
        P::Cp1252,
        P::Cp1253,
        P::Cp1254,
        P::Cp1255,
        P::Cp1256,
        P::Cp1257,
        P::Cp1258,
    ];

    #[test]
    fn every_byte_of_a_page_survives_the_round_trip() {
        let all: Vec<u8> = (0..=255).collect();
        for page in SINGLE {
            assert_eq!(page.narrow(&page.widen(&all)), all, "{page:?}");
        }
    }

    #[test]
    fn text_is_kept_in_its_page_and_lost_in_others() {
        for (page, text, bytes) in [
            (P::Cp437, "é½α", &b"\x82\xAB\xE0"[..]),
            (P::Cp850, "éØß", b"\x82\x9D\xE1"),
            (P::Cp874, "กข", b"\xA1\xA2"),
            (P::Cp1250, "Łódź", b"\xA3\xF3d\x9F"),
            (P::Cp1251, "Привет", b"\xCF\xF0\xE8\xE2\xE5\xF2"),
            (P::Cp1253, "Αθήνα", b"\xC1\xE8\xDE\xED\xE1"),
            (P::Cp1254, "ğış", b"\xF0\xFD\xFE"),
            (P::Cp1255, "שלום", b"\xF9\xEC\xE5\xED"),
            (P::Cp1256, "سلام", b"\xD3\xE1\xC7\xE3"),
            (P::Cp1257, "ąčę", b"\xE0\xE8\xE6"),
            (P::Cp932, "日本ｱ", b"\x93\xFA\x96\x7B\xB1"),
            (P::Cp936, "中文", b"\xD6\xD0\xCE\xC4"),
            (P::Cp949, "한국", b"\xC7\xD1\xB1\xB9"),
            (P::Cp950, "中文", b"\xA4\xA4\xA4\xE5"),
            (P::Utf8, "aé日😀", b"a\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80"),
        ] {
            assert_eq!(page.encode(text), bytes, "{page:?}");
            assert_eq!(page.decode(bytes), text, "{page:?}");
        }
        assert_eq!(P::Cp1251.encode("é日ł"), b"e?l");
        assert_eq!(P::Cp932.encode("日😀"), b"\x93\xFA??");
        assert_eq!(P::Cp1253.narrow(&[0x3D, 0xD8]), b"?");
        assert_eq!(P::Utf8.narrow(&[0x3D, 0xD8]), "\u{FFFD}".as_bytes());
    }

    #[test]
    fn a_cut_leaves_whole_characters() {
        let text = P::Utf8.encode("aé日😀");
        for (limit, floor) in [(0, 0), (1, 1), (2, 1), (3, 3), (5, 3), (6, 6), (9, 6), (10, 10)] {
            assert_eq!(P::Utf8.floor(&text, limit), floor);
        }
        assert_eq!(P::Cp932.floor(b"\x93\xFA\x96\x7B", 3), 2);
        assert_eq!(P::Cp1251.floor(b"\xCF\xF0", 1), 1);
    }
}
