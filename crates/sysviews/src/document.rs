//! Writes XML: elements, attributes, text. The document is well-formed whatever its texts contain.
//!
//! Not here: reading XML (`xml`) and plans as XML (`showplan`).

use std::fmt::Display;

/// An XML document that is being written.
#[derive(Default)]
pub(crate) struct Document {
    text: String,
    open: Vec<&'static str>,
    /// Whether the last start tag may still get attributes.
    in_tag: bool,
}

/// Replaces characters that XML 1.0 cannot represent.
fn allowed(text: &str) -> String {
    let replaced = |c: char| if xml::is_xml_char(c) { c } else { char::REPLACEMENT_CHARACTER };
    text.chars().map(replaced).collect()
}

impl Document {
    /// Begins an element.
    pub(crate) fn begin(&mut self, name: &'static str) {
        debug_assert!(xml::is_name(name), "{name} is no name");
        self.end_tag();
        self.text.push('<');
        self.text.push_str(name);
        self.open.push(name);
        self.in_tag = true;
    }

    /// An attribute of the element that was begun last.
    pub(crate) fn attribute(&mut self, name: &'static str, value: impl Display) {
        debug_assert!(self.in_tag, "attributes come before content");
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        xml::escape_attribute(&allowed(&value.to_string()), &mut self.text);
        self.text.push('"');
    }

    /// The same for an optional value.
    pub(crate) fn known(&mut self, name: &'static str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.attribute(name, value);
        }
    }

    /// Writes text within the innermost element.
    pub(crate) fn text(&mut self, text: &str) {
        debug_assert!(!self.open.is_empty(), "text stands in an element");
        if !text.is_empty() {
            self.end_tag();
            xml::escape_text(&allowed(text), &mut self.text);
        }
    }

    /// Ends the innermost element.
    pub(crate) fn end(&mut self) {
        let Some(name) = self.open.pop() else {
            debug_assert!(false, "an element is ended that was not begun");
            return;
        };
        if std::mem::take(&mut self.in_tag) {
            self.text.push_str("/>");
        } else {
            self.text.push_str("</");
            self.text.push_str(name);
            self.text.push('>');
        }
    }

    fn end_tag(&mut self) {
        if std::mem::take(&mut self.in_tag) {
            self.text.push('>');
        }
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        debug_assert!(self.open.is_empty(), "every element is ended");
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xml::{NodeKind, ParseOptions, Source, Tree, parse};

    fn parsed(text: &str) -> Tree {
        parse(Source::Wide(text), ParseOptions::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    /// With every character, in texts and in attributes, the document can be read and has the same
    /// content.
    #[test]
    fn whatever_a_text_holds_the_document_is_well_formed() {
        let all: Vec<char> = (0..0x1_1000).filter_map(char::from_u32).collect();
        for part in all.chunks(512) {
            let nasty: String = part.iter().chain(&['<', '&', '"', '\'', ']', ']', '>']).collect();
            let mut out = Document::default();
            out.begin("a");
            out.attribute("b", &nasty);
            out.text(&nasty);
            out.end();
            let tree = parsed(&out.finish());
            let texts: Vec<&str> = (0..tree.len())
                .map(xml::NodeId)
                .filter(|&id| matches!(tree.kind(id), NodeKind::Text | NodeKind::Attribute))
                .map(|id| tree.text(id))
                .collect();
            assert_eq!(texts, [allowed(&nasty), allowed(&nasty)]);
        }
    }

    #[test]
    fn what_is_empty_is_short_and_what_is_unknown_is_left_out() {
        let mut out = Document::default();
        out.begin("a");
        out.known("b", None::<u8>);
        out.known("c", Some(1));
        out.begin("d");
        out.text("");
        out.end();
        out.begin("e");
        out.text("1 < 2\0");
        out.end();
        out.end();
        assert_eq!(out.finish(), "<a c=\"1\"><d/><e>1 &lt; 2\u{FFFD}</e></a>");
    }
}
