//! Writes XML: elements, attributes, and what must be escaped in them. No text between elements
//! is needed, and none is written.

/// XML in the making.
#[derive(Default)]
pub(crate) struct Writer {
    text: String,
    open: Vec<&'static str>,
    /// The last start tag may still take attributes.
    in_tag: bool,
}

impl Writer {
    /// Begins an element.
    pub(crate) fn begin(&mut self, name: &'static str) {
        self.end_tag();
        self.text.push('<');
        self.text.push_str(name);
        self.open.push(name);
        self.in_tag = true;
    }

    /// An attribute of the element that was begun last.
    pub(crate) fn attribute(&mut self, name: &str, value: &str) {
        debug_assert!(self.in_tag, "attributes come before content");
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        for c in value.chars() {
            match c {
                '&' => self.text.push_str("&amp;"),
                '<' => self.text.push_str("&lt;"),
                '>' => self.text.push_str("&gt;"),
                '"' => self.text.push_str("&quot;"),
                '\t' | '\n' | '\r' => self.text.push_str(&format!("&#x{:x};", c as u32)),
                // XML 1.0 has no way to say these.
                c if c < ' ' || matches!(c, '\u{FFFE}' | '\u{FFFF}') => self.text.push('\u{FFFD}'),
                c => self.text.push(c),
            }
        }
        self.text.push('"');
    }

    /// The same for a number, or whatever else prints itself.
    pub(crate) fn number(&mut self, name: &str, value: impl std::fmt::Display) {
        self.attribute(name, &value.to_string());
    }

    /// Ends the innermost element.
    pub(crate) fn end(&mut self) {
        let Some(name) = self.open.pop() else {
            debug_assert!(false, "an element is ended that was not begun");
            return;
        };
        if self.in_tag {
            self.text.push_str("/>");
            self.in_tag = false;
        } else {
            self.text.push_str("</");
            self.text.push_str(name);
            self.text.push('>');
        }
    }

    fn end_tag(&mut self) {
        if self.in_tag {
            self.text.push('>');
            self.in_tag = false;
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

    #[test]
    fn attributes_are_escaped_and_empty_elements_short() {
        let mut w = Writer::default();
        w.begin("a");
        w.attribute("t", "x < 'y' & \"z\"\r\n\u{1}");
        w.begin("b");
        w.number("n", 1.5);
        w.end();
        w.end();
        let t = "x &lt; 'y' &amp; &quot;z&quot;&#xd;&#xa;\u{FFFD}";
        assert_eq!(w.finish(), format!("<a t=\"{t}\"><b n=\"1.5\"/></a>"));
    }
}
