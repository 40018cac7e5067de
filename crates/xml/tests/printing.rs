//! What is printed and parsed again is the same value, also where its text begins with a character
//! that readers of text take for something else.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use xml::{ParseOptions, Source, Xml};

fn parsed(text: &str) -> String {
    let options = ParseOptions { preserve: true, dtd: false };
    Xml::parse(Source::Wide(text), options).unwrap().text().into_owned()
}

/// One U+FEFF at the beginning is a mark of the encoding; a second is a character of the text.
#[test]
fn a_text_that_begins_with_the_mark_of_an_encoding_keeps_it() {
    let cases = [
        ("\u{FEFF}a", "a"),
        ("\u{FEFF}\u{FEFF}a", "&#xFEFF;a"),
        ("&#xFEFF;a", "&#xFEFF;a"),
        ("&#xFEFF;&#xFEFF;<a/>", "&#xFEFF;\u{FEFF}<a/>"),
        ("<a>\u{FEFF}b</a>", "<a>\u{FEFF}b</a>"),
        ("\u{FEFF}\u{FEFF}<a b='1'>c</a>", "&#xFEFF;<a b=\"1\">c</a>"),
    ];
    for (text, printed) in cases {
        assert_eq!(parsed(text), printed, "{text:?}");
        assert_eq!(parsed(printed), printed, "what was printed prints the same");
    }
}
