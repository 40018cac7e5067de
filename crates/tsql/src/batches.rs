//! Scripts into batches: lines that say GO, as sqlcmd reads them.
//!
//! A GO line has nothing but GO, perhaps a count, perhaps a comment, and doesn't lie within a
//! string, a delimited name or a block comment.

/// A part of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScriptBatch<'t> {
    /// Its text, without the GO line.
    pub text: &'t str,
    /// The 1-based line of the script it begins on.
    pub first_line: u32,
    /// How often it is to run: the number behind GO, else 1.
    pub count: u32,
}

/// What the end of a line lies within.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LexicalContext {
    Nothing,
    /// A quote that ends with this byte.
    Quote(u8),
    /// Block comments, this deep.
    Comment(u32),
}

/// The batches of a script in order. Batches of blanks alone are left out.
pub fn split(script: &str) -> Vec<ScriptBatch<'_>> {
    let mut batches = Vec::new();
    let mut push = |text: &'_ str, start: usize, end: usize, first_line: u32, count: u32| {
        if !text.trim().is_empty() {
            batches.push((start, end, first_line, count));
        }
    };
    let (mut start, mut first_line) = (0, 1);
    let (mut at, mut line) = (0, 1u32);
    let mut within = LexicalContext::Nothing;
    for text in script.split_inclusive('\n') {
        let go = if within == LexicalContext::Nothing { go_count(text) } else { None };
        match go {
            Some(count) => {
                push(&script[start..at], start, at, first_line, count);
                start = at + text.len();
                first_line = line + 1;
            }
            None => within = scan_line(text, within),
        }
        at += text.len();
        line += 1;
    }
    push(&script[start..], start, script.len(), first_line, 1);
    let whole = |(start, end, first_line, count): (usize, usize, u32, u32)| ScriptBatch {
        text: &script[start..end],
        first_line,
        count,
    };
    batches.into_iter().map(whole).collect()
}

/// The count of a GO line; None for any other line, also for a count that isn't a number.
fn go_count(line: &str) -> Option<u32> {
    let line = line.trim();
    let rest = match line.get(..2) {
        Some(word) if word.eq_ignore_ascii_case("go") => &line[2..],
        _ => return None,
    };
    let rest = rest.split("--").next().unwrap_or("");
    let spaced = rest.starts_with(|c: char| c.is_whitespace());
    match rest.trim().trim_end_matches(';') {
        "" => Some(1),
        count if spaced => count.parse().ok(),
        _ => None,
    }
}

fn scan_line(line: &str, mut within: LexicalContext) -> LexicalContext {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let pair = (bytes[at], bytes.get(at + 1).copied().unwrap_or(0));
        let mut step = 1;
        within = match (within, pair) {
            (LexicalContext::Nothing, (b'-', b'-')) => return within,
            (LexicalContext::Nothing, (b'/', b'*')) => {
                step = 2;
                LexicalContext::Comment(1)
            }
            (LexicalContext::Nothing, (quote @ (b'\'' | b'"'), _)) => LexicalContext::Quote(quote),
            (LexicalContext::Nothing, (b'[', _)) => LexicalContext::Quote(b']'),
            (LexicalContext::Comment(depth), (b'/', b'*')) => {
                step = 2;
                LexicalContext::Comment(depth + 1)
            }
            (LexicalContext::Comment(depth), (b'*', b'/')) => {
                step = 2;
                if depth == 1 {
                    LexicalContext::Nothing
                } else {
                    LexicalContext::Comment(depth - 1)
                }
            }
            // A doubled close leaves and enters again.
            (LexicalContext::Quote(close), (byte, _)) if byte == close => LexicalContext::Nothing,
            (same, _) => same,
        };
        at += step;
    }
    within
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(script: &str) -> Vec<(&str, u32, u32)> {
        split(script).iter().map(|b| (b.text.trim(), b.first_line, b.count)).collect()
    }

    #[test]
    fn go_lines_end_batches_in_any_case_with_counts_and_comments() {
        let script = "select 1\nGO\n\nselect 2\n  go 3 -- thrice\ngo\nselect 3\nGo;\nselect 4";
        let expected =
            [("select 1", 1, 1), ("select 2", 3, 3), ("select 3", 7, 1), ("select 4", 9, 1)];
        assert_eq!(texts(script), expected);
    }

    #[test]
    fn go_within_quotes_and_comments_is_text() {
        for whole in [
            "select '\ngo\n'",
            "select 'it''s\nGO\n'",
            "select [\ngo\n]",
            "select \"\ngo\n\"",
            "/* /*\ngo\n*/\nGO\n*/ select 1",
            "select gone\ngoto x\ngo_on",
            "go2",
            "go 1x",
        ] {
            assert_eq!(texts(whole), [(whole, 1, 1)], "{whole}");
        }
        assert_eq!(texts("-- it's\ngo\nselect 1"), [("-- it's", 1, 1), ("select 1", 3, 1)]);
    }

    #[test]
    fn empty_batches_are_left_out_and_windows_lines_counted() {
        assert_eq!(texts("go\r\n\r\ngo\r\nselect 1\r\ngo\r\n"), [("select 1", 4, 1)]);
        assert_eq!(texts(""), []);
    }
}
