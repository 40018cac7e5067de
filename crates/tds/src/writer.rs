//! Fields appended to an output buffer, and lengths filled in afterwards.
//!
//! Text goes out as UTF-16LE straight from `&str`: no intermediate buffer.

/// What a `Vec<u8>` of wire bytes can be asked to append.
pub(crate) trait WireWriter {
    fn put_u8(&mut self, v: u8);
    fn put_u16(&mut self, v: u16);
    fn put_u16_be(&mut self, v: u16);
    fn put_u32(&mut self, v: u32);
    fn put_u32_be(&mut self, v: u32);
    fn put_i32(&mut self, v: i32);
    fn put_u64(&mut self, v: u64);
    fn put_utf16(&mut self, s: &str);
    fn put_b_varchar(&mut self, s: &str);
    fn put_us_varchar(&mut self, s: &str);
    fn put_b_varbyte(&mut self, b: &[u8]);
    /// Reserves a u16 length field; close with [`WireWriter::close_u16`].
    fn open_u16(&mut self) -> usize;
    fn close_u16(&mut self, at: usize);
}

impl WireWriter for Vec<u8> {
    fn put_u8(&mut self, v: u8) {
        self.push(v);
    }

    fn put_u16(&mut self, v: u16) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn put_u16_be(&mut self, v: u16) {
        self.extend_from_slice(&v.to_be_bytes());
    }

    fn put_u32(&mut self, v: u32) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn put_u32_be(&mut self, v: u32) {
        self.extend_from_slice(&v.to_be_bytes());
    }

    fn put_i32(&mut self, v: i32) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn put_u64(&mut self, v: u64) {
        self.extend_from_slice(&v.to_le_bytes());
    }

    fn put_utf16(&mut self, s: &str) {
        if s.is_ascii() {
            self.extend(s.bytes().flat_map(|b| [b, 0]));
            return;
        }
        self.reserve(s.len() * 2);
        for unit in s.encode_utf16() {
            self.put_u16(unit);
        }
    }

    fn put_b_varchar(&mut self, s: &str) {
        let s = truncated(s, u8::MAX as usize);
        let at = self.len();
        self.put_u8(0);
        self.put_utf16(s);
        let units = (self.len() - at - 1) / 2;
        self[at] = u8::try_from(units).expect("truncated above");
    }

    fn put_us_varchar(&mut self, s: &str) {
        let s = truncated(s, u16::MAX as usize);
        let at = self.open_u16();
        self.put_utf16(s);
        let units = (self.len() - at - 2) / 2;
        let units = u16::try_from(units).expect("truncated above");
        self[at..at + 2].copy_from_slice(&units.to_le_bytes());
    }

    fn put_b_varbyte(&mut self, b: &[u8]) {
        let n = u8::try_from(b.len()).expect("callers pass tokens of at most 255 bytes");
        self.put_u8(n);
        self.extend_from_slice(b);
    }

    fn open_u16(&mut self) -> usize {
        self.put_u16(0);
        self.len() - 2
    }

    fn close_u16(&mut self, at: usize) {
        let n = u16::try_from(self.len() - at - 2).expect("callers bound what they put");
        self[at..at + 2].copy_from_slice(&n.to_le_bytes());
    }
}

/// The longest prefix of at most `max` UTF-16 units that ends between characters.
pub(crate) fn truncated(s: &str, max: usize) -> &str {
    if s.len() <= max {
        return s;
    }
    let mut units = 0;
    for (at, c) in s.char_indices() {
        units += c.len_utf16();
        if units > max {
            return &s[..at];
        }
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(truncated("abc", 2), "ab");
        assert_eq!(truncated("a\u{1F600}b", 2), "a");
        assert_eq!(truncated("a\u{1F600}b", 3), "a\u{1F600}");
        assert_eq!(truncated("äöü", 3), "äöü");
        let mut out = Vec::new();
        out.put_b_varchar(&"x".repeat(300));
        assert_eq!((out.len(), out[0]), (511, 255));
    }
}
