//! Lines broken at the screen's width (-w), by characters as sqlcmd does.

/// Appends text, broken wherever a line of it would exceed `width` characters; 0 for never.
pub(crate) fn append(text: &str, width: usize, out: &mut String) {
    if width == 0 || text.len() <= width {
        out.push_str(text);
        return;
    }
    let mut at = 0;
    for c in text.chars() {
        if c == '\n' || c == '\r' {
            at = 0;
        } else if at == width {
            out.push('\n');
            at = 1;
        } else {
            at += 1;
        }
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_break_at_the_width_and_not_before_their_end() {
        let cases = [
            ("abcdef\n", 3, "abc\ndef\n"),
            ("abcdef\n", 0, "abcdef\n"),
            ("abc\ndefg\n", 3, "abc\ndef\ng\n"),
            ("äöüß\n", 3, "äöü\nß\n"),
            ("", 3, ""),
        ];
        for (text, width, wrapped) in cases {
            let mut out = String::new();
            super::append(text, width, &mut out);
            assert_eq!(out, wrapped, "{text:?}");
        }
    }
}
