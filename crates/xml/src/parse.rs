//! Text to nodes. quick-xml finds where each token begins and ends; what stands in the token is
//! checked here, with SQL Server's errors and their places.
//!
//! A fragment is as good as a document: several roots, and characters beside them. White space
//! between tags is dropped unless it is asked for, by an option or by `xml:space="preserve"`;
//! what a reference or a CDATA section gives is no white space of that kind. The declaration, the
//! DTD and the borders of CDATA leave no trace.

use crate::build::TreeBuilder;
use crate::entity::{EXPANDED_BYTES_MAX, Entities, Referent};
use crate::name::is_xml_char;
use crate::place::{Fault, ParseResult, fault};
use crate::tag::{Attribute, QualifiedName, Scanner, is_blank};
use crate::text::Source;
use crate::tree::{Tree, XML_URI};
use base::{SqlError, SqlResult, messages};
use hashbrown::HashSet;
use quick_xml::Reader;
use quick_xml::events::Event;

/// How a text is read.
#[derive(Clone, Copy, Default, Debug)]
pub struct ParseOptions {
    /// White space between tags is kept: style 1.
    pub preserve: bool,
    /// A DTD is allowed, its entities are resolved: style 2.
    pub dtd: bool,
}

/// The nodes of a text.
///
/// # Errors
/// 9400 to 9459 where it is not well formed, 6335 where it nests too deep, 6359 for a DTD.
pub fn parse(source: Source<'_>, options: ParseOptions) -> SqlResult<Tree> {
    let characters = source.characters()?;
    let mut parser = Parser {
        text: &characters,
        options,
        entities: Entities::default(),
        builder: TreeBuilder::new(),
        open: Vec::new(),
        scope: vec![("xml", XML_URI.to_owned())],
        pending: String::new(),
        significant: false,
    };
    match parser.run() {
        Ok(()) => Ok(parser.builder.finish()),
        Err(_) if parser.entities.is_exhausted() => {
            let feature =
                format!("a DTD whose entities bring more than {EXPANDED_BYTES_MAX} bytes");
            Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]))
        }
        Err(e) => Err(e.into_error(&characters)),
    }
}

/// A fault of the text, or an error of what is made of it.
enum ParseError {
    Fault(Fault),
    Error(SqlError),
}

impl ParseError {
    fn into_error(self, text: &str) -> SqlError {
        match self {
            ParseError::Fault(fault) => fault.into_error(text),
            ParseError::Error(error) => error,
        }
    }
}

impl From<Fault> for ParseError {
    fn from(fault: Fault) -> ParseError {
        ParseError::Fault(fault)
    }
}

impl From<SqlError> for ParseError {
    fn from(error: SqlError) -> ParseError {
        ParseError::Error(error)
    }
}

/// An element that is open.
struct Open<'t> {
    name: QualifiedName<'t>,
    /// How many prefixes were known around it.
    scope: usize,
    /// White space within it is kept.
    preserve: bool,
}

struct Parser<'t> {
    text: &'t str,
    options: ParseOptions,
    entities: Entities,
    builder: TreeBuilder,
    open: Vec<Open<'t>>,
    /// Prefixes with their namespaces, innermost last.
    scope: Vec<(&'t str, String)>,
    /// Characters since the last tag.
    pending: String,
    /// They are no mere white space between tags.
    significant: bool,
}

impl<'t> Parser<'t> {
    fn run(&mut self) -> Result<(), ParseError> {
        // The reader would take the first for the mark of an encoding, which has been taken off
        // before, and count bytes from behind it.
        let lead = self.text.len() - self.text.trim_start_matches('\u{FEFF}').len();
        if lead > 0 {
            self.characters(0, lead)?;
        }
        let mut reader = Reader::from_str(&self.text[lead..]);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        loop {
            let from = lead + reader.buffer_position() as usize;
            let event = reader.read_event();
            let to = lead + reader.buffer_position() as usize;
            match event {
                Ok(Event::Eof) => break,
                Ok(Event::Start(_) | Event::Empty(_)) => self.start_tag(from)?,
                Ok(Event::End(_)) => self.end_tag(from, to)?,
                Ok(Event::Text(_)) => self.characters(from, to)?,
                Ok(Event::GeneralRef(_)) => self.reference(from)?,
                Ok(Event::CData(_)) => self.cdata(from, to)?,
                Ok(Event::Comment(_)) => self.comment(from, to)?,
                Ok(Event::PI(_) | Event::Decl(_)) => self.instruction(from, to)?,
                Ok(Event::DocType(_)) => self.doctype(from, to)?,
                Err(_) => return Err(self.cut_short(from)),
            }
        }
        self.flush()?;
        if !self.open.is_empty() {
            fault(messages::XML_END_UNEXPECTED, self.text.len())?;
        }
        Ok(())
    }

    /// What is wrong with a token that has no end.
    fn cut_short(&mut self, from: usize) -> ParseError {
        let at = from + self.text.get(from..).and_then(|r| r.find(['<', '&'])).unwrap_or(0);
        let rest = self.text.get(at..).unwrap_or("");
        let found = if rest.starts_with('&') {
            self.entities.reference(self.text, at).map(|_| ())
        } else if rest.starts_with("<!") {
            let begun = ["<!--", "<![CDATA[", "<!DOCTYPE"]
                .iter()
                .any(|b| rest.starts_with(b) || b.starts_with(rest));
            match begun {
                true => Ok(()),
                false => fault(messages::XML_SYNTAX, at + 2),
            }
        } else if rest.starts_with("<?") || rest.starts_with("</") {
            Ok(())
        } else {
            let mut scanner = Scanner { text: self.text, at: at + 1 };
            scanner.qualified().and_then(|_| {
                while scanner.attribute(&self.entities)?.is_some() {}
                Ok(())
            })
        };
        let ended = Fault { message: messages::XML_END_UNEXPECTED, at: self.text.len() };
        ParseError::Fault(found.err().unwrap_or(ended))
    }

    fn preserves(&self) -> bool {
        self.open.last().map_or(self.options.preserve, |o| o.preserve)
    }

    /// The characters since the last tag become a node.
    fn flush(&mut self) -> SqlResult<()> {
        if self.significant || self.preserves() {
            self.builder.text(&self.pending)?;
        }
        self.pending.clear();
        self.significant = false;
        Ok(())
    }

    /// Characters as they stand: line ends become one newline.
    fn literal(&mut self, from: usize, text: &str) -> ParseResult<()> {
        let mut rest = text.char_indices().peekable();
        while let Some((at, c)) = rest.next() {
            match c {
                '\r' => {
                    rest.next_if(|&(_, c)| c == '\n');
                    self.pending.push('\n');
                }
                c if !is_xml_char(c) => return fault(messages::XML_CHARACTER, from + at),
                c => self.pending.push(c),
            }
        }
        Ok(())
    }

    fn characters(&mut self, from: usize, to: usize) -> Result<(), ParseError> {
        debug_assert!(self.text.get(from..to).is_some(), "the reader's places are characters'");
        let text = self.text.get(from..to).unwrap_or("");
        if let Some(at) = text.find("]]>") {
            fault(messages::XML_CDATA_END, from + at + 2)?;
        }
        self.significant |= text.contains(|c| !is_blank(c));
        Ok(self.literal(from, text)?)
    }

    fn reference(&mut self, from: usize) -> Result<(), ParseError> {
        self.significant = true;
        match self.entities.reference(self.text, from)?.0 {
            Referent::Character(c) => self.pending.push(c),
            Referent::Entity(text) => self.pending.push_str(text),
        }
        Ok(())
    }

    fn cdata(&mut self, from: usize, to: usize) -> Result<(), ParseError> {
        let inner = from + "<![CDATA[".len();
        let text = self.text.get(inner..to - "]]>".len()).unwrap_or("");
        self.significant |= !text.is_empty();
        Ok(self.literal(inner, text)?)
    }

    fn comment(&mut self, from: usize, to: usize) -> Result<(), ParseError> {
        self.flush()?;
        let inner = from + "<!--".len();
        let text = self.text.get(inner..to - "-->".len()).unwrap_or("");
        if let Some(at) = text.find("--").or_else(|| text.ends_with('-').then_some(text.len())) {
            fault(messages::XML_COMMENT, inner + at + 2)?;
        }
        self.literal(inner, text)?;
        let text = std::mem::take(&mut self.pending);
        Ok(self.builder.comment(&text)?)
    }

    fn instruction(&mut self, from: usize, to: usize) -> Result<(), ParseError> {
        let mut scanner = Scanner { text: self.text, at: from + "<?".len() };
        let name = scanner.qualified()?;
        if !name.prefix.is_empty() {
            fault(messages::XML_COLON, from + "<?".len() + name.prefix.len())?;
        }
        if name.local.eq_ignore_ascii_case("xml") {
            if from > 0 || name.local != "xml" {
                fault(messages::XML_DECLARATION_PLACE, scanner.at)?;
            }
            return Ok(self.declaration(&mut scanner)?);
        }
        self.flush()?;
        let spaced = scanner.blanks();
        let text = self.text.get(scanner.at..to - "?>".len()).unwrap_or("");
        if !spaced && !text.is_empty() {
            fault(messages::XML_WHITESPACE, scanner.at)?;
        }
        self.literal(scanner.at, text)?;
        let text = std::mem::take(&mut self.pending);
        Ok(self.builder.instruction(name.local, &text)?)
    }

    /// `<?xml version="1.0" encoding="…" standalone="…"?>`
    fn declaration(&mut self, scanner: &mut Scanner<'t>) -> ParseResult<()> {
        let known = Entities::default();
        let mut expected = ["version", "encoding", "standalone"].iter();
        let mut version = false;
        while let Some(part) = scanner.attribute(&known)? {
            if !expected.any(|&e| part.name.prefix.is_empty() && part.name.local == e) {
                return fault(messages::XML_DECLARATION_SYNTAX, part.end);
            }
            let right = match part.name.local {
                "version" => part.value == "1.0",
                "encoding" => !part.value.is_empty(),
                _ => matches!(part.value.as_str(), "yes" | "no"),
            };
            if !right {
                return fault(messages::XML_DECLARATION_SYNTAX, part.end);
            }
            version |= part.name.local == "version";
        }
        match version && scanner.peek() == Some('?') {
            true => Ok(()),
            false => fault(messages::XML_DECLARATION_SYNTAX, scanner.at),
        }
    }

    /// A DTD: only its general entities count.
    fn doctype(&mut self, from: usize, to: usize) -> Result<(), ParseError> {
        self.flush()?;
        if !self.options.dtd {
            return Err(SqlError::new(messages::XML_DTD, &[]).into());
        }
        let text = self.text.get(from..to).unwrap_or("");
        let Some(subset) = text.find('[') else { return Ok(()) };
        let mut scanner = Scanner { text: self.text, at: from + subset + 1 };
        loop {
            scanner.blanks();
            let rest = scanner.rest();
            if rest.starts_with(']') {
                return Ok(());
            }
            if !rest.starts_with("<!ENTITY") {
                let feature = rest.split([' ', '>', '(']).next().unwrap_or("DTD");
                let feature = format!("{feature} in a DTD");
                return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]).into());
            }
            scanner.at += "<!ENTITY".len();
            scanner.blanks();
            let name = scanner.qualified()?;
            scanner.blanks();
            let Some(quote @ ('"' | '\'')) = scanner.peek() else {
                let feature = "external and parameter entities of a DTD";
                return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]).into());
            };
            let value = scanner.rest().get(1..).and_then(|r| r.split_once(quote)).map(|v| v.0);
            let Some(value) = value else {
                let at = self.text.len();
                return Err(Fault { message: messages::XML_END_UNEXPECTED, at }.into());
            };
            if value.contains(['<', '&', '%']) {
                let feature = "markup and references in entities of a DTD";
                return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]).into());
            }
            if let Some((at, _)) = value.char_indices().find(|(_, c)| !is_xml_char(*c)) {
                fault(messages::XML_CHARACTER, scanner.at + 1 + at)?;
            }
            scanner.at += value.len() + 2;
            self.entities.declare(name.local, value);
            scanner.blanks();
            if !scanner.eat('>') {
                fault(messages::XML_ENTITY_SYNTAX, scanner.at)?;
            }
        }
    }

    fn start_tag(&mut self, from: usize) -> Result<(), ParseError> {
        self.flush()?;
        let mut scanner = Scanner { text: self.text, at: from + 1 };
        let name = scanner.qualified()?;
        let mut attributes: Vec<Attribute<'t>> = Vec::new();
        let mut seen = HashSet::new();
        while let Some(attribute) = scanner.attribute(&self.entities)? {
            if !seen.insert((attribute.name.prefix, attribute.name.local)) {
                fault(messages::XML_ATTRIBUTE_DUPLICATE, attribute.end - 1)?;
            }
            attributes.push(attribute);
        }
        let empty = scanner.eat('/');
        if scanner.peek() != Some('>') {
            fault(messages::XML_GREATER, scanner.at)?;
        }
        let (scope, mut preserve) = (self.scope.len(), self.preserves());
        for a in &attributes {
            if let Some(prefix) = declares(&a.name) {
                self.declare(prefix, a)?;
            }
            if a.name.prefix == "xml" && a.name.local == "space" {
                preserve = match a.value.as_str() {
                    "preserve" => true,
                    "default" => self.options.preserve,
                    _ => preserve,
                };
            }
        }
        let uri = self.resolve(name.prefix, scanner.at)?;
        self.builder.start(name.prefix, name.local, &uri)?;
        self.belongings(&attributes, scanner.at)?;
        match empty {
            true => {
                self.builder.close();
                self.scope.truncate(scope);
            }
            false => self.open.push(Open { name, scope, preserve }),
        }
        Ok(())
    }

    fn belongings(&mut self, attributes: &[Attribute<'t>], at: usize) -> Result<(), ParseError> {
        let mut named: HashSet<(String, &str)> = HashSet::new();
        for a in attributes {
            if let Some(prefix) = declares(&a.name) {
                self.builder.namespace(prefix, &a.value)?;
            }
        }
        for a in attributes.iter().filter(|a| declares(&a.name).is_none()) {
            let uri = match a.name.prefix {
                "" => String::new(),
                prefix => self.resolve(prefix, at)?,
            };
            self.builder.attribute(a.name.prefix, a.name.local, &uri, &a.value)?;
            if !uri.is_empty() && !named.insert((uri, a.name.local)) {
                fault(messages::XML_ATTRIBUTE_DUPLICATE, a.end - 1)?;
            }
        }
        Ok(())
    }

    /// `xmlns="…"`, `xmlns:p="…"`
    fn declare(&mut self, prefix: &'t str, a: &Attribute<'t>) -> ParseResult<()> {
        let reserved = prefix.len() >= 3
            && prefix.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("xml"))
            && (prefix != "xml" || a.value != XML_URI);
        if reserved {
            return fault(messages::XML_PREFIX_RESERVED, a.end - 1);
        }
        if a.value.is_empty() && !prefix.is_empty() {
            return fault(messages::XML_NAMESPACE_EMPTY, a.end - 1);
        }
        self.scope.push((prefix, a.value.clone()));
        Ok(())
    }

    fn resolve(&self, prefix: &str, at: usize) -> ParseResult<String> {
        match self.scope.iter().rev().find(|(p, _)| *p == prefix) {
            Some((_, uri)) => Ok(uri.clone()),
            None if prefix.is_empty() => Ok(String::new()),
            None => fault(messages::XML_PREFIX_UNDECLARED, at),
        }
    }

    fn end_tag(&mut self, from: usize, to: usize) -> Result<(), ParseError> {
        self.flush()?;
        let mut scanner = Scanner { text: self.text, at: from + "</".len() };
        let name = scanner.qualified()?;
        scanner.blanks();
        if scanner.peek() != Some('>') {
            fault(messages::XML_GREATER, scanner.at)?;
        }
        match self.open.pop() {
            Some(open) if open.name == name => {
                self.builder.close();
                self.scope.truncate(open.scope);
                Ok(())
            }
            _ => Ok(fault(messages::XML_END_TAG, to - 1)?),
        }
    }
}

/// The prefix that an attribute declares.
fn declares<'t>(name: &QualifiedName<'t>) -> Option<&'t str> {
    match (name.prefix, name.local) {
        ("", "xmlns") => Some(""),
        ("xmlns", prefix) => Some(prefix),
        _ => None,
    }
}
