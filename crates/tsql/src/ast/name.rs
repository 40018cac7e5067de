//! Names, places and type names: what every other part of the tree is made with.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use std::fmt;

/// A range of the batch's text in bytes, and the 1-based line it begins on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
    pub line: u32,
}

impl Span {
    /// The text of this range, empty when the range isn't one of `text`.
    pub fn of(self, text: ParsedText<'_>) -> &str {
        text.0.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// A whole text as it was given to the parser: what the spans of its tree are ranges of. A piece of
/// it, which is a plain `&str`, cannot be taken for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedText<'t>(&'t str);

impl<'t> ParsedText<'t> {
    /// The text that a tree was parsed from.
    pub fn whole(text: &'t str) -> Self {
        ParsedText(text)
    }

    /// All of it.
    pub fn as_str(self) -> &'t str {
        self.0
    }
}

/// A name with its delimiters taken off, and its line. Variables keep their `@`, temporary
/// tables their `#`, pseudo columns their `$`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub text: Box<str>,
    pub line: u32,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::ops::Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.text
    }
}

/// `server.database.schema.object`; an omitted part (`db..t`) is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    pub server: Option<Name>,
    pub database: Option<Name>,
    pub schema: Option<Name>,
    pub object: Name,
    pub span: Span,
}

impl fmt::Display for ObjectName {
    /// As error messages spell it: the parts as written, without delimiters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut begun = false;
        for part in [&self.server, &self.database, &self.schema] {
            if let Some(name) = part {
                f.write_str(name)?;
            }
            begun |= part.is_some();
            if begun {
                f.write_str(".")?;
            }
        }
        f.write_str(&self.object)
    }
}

/// A column with the table it is asked of, if the text says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnName {
    pub qualifier: Option<Box<ObjectName>>,
    pub name: Name,
}

impl fmt::Display for ColumnName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(q) = &self.qualifier {
            write!(f, "{q}.")?;
        }
        f.write_str(&self.name)
    }
}

/// A type as written; synonyms of several words are already one (`double precision` is `float`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    pub name: ObjectName,
    pub arguments: TypeArguments,
    pub span: Span,
}

impl TypeName {
    /// Whether it is that of cursors, which only variables and parameters of procedures have.
    #[must_use]
    pub fn is_cursor(&self) -> bool {
        self.name.schema.is_none() && self.name.object.eq_ignore_ascii_case("cursor")
    }
}

/// What stands in parentheses behind a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeArguments {
    None,
    Max,
    One(u32),
    Two(u32, u32),
    /// `xml(collection)`
    Schema(Box<ObjectName>),
}
