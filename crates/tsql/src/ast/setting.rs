//! Options of WITH lists and SET clauses.
#![expect(missing_docs, reason = "fields are named as the grammar names them")]

use super::{Expr, Name, Span};

/// An option of a WITH list or a SET clause: `NAME`, `NAME = value`, `NAME (list)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Upper case, words joined by one blank.
    pub name: Box<str>,
    pub value: SettingValue,
    pub span: Span,
}

/// The value of a [`Setting`].
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// The name alone says it.
    None,
    On,
    Off,
    /// A number's text with its unit in upper case, if any: `10 MB`, `5 %`, `0 MINUTES`.
    Number {
        text: Box<str>,
        unit: Option<Box<str>>,
    },
    String(Box<str>),
    /// A word, as written: `PAGE`, `SIMPLE`, `AUTO`.
    Word(Box<str>),
    Variable(Name),
    /// `DATA_COMPRESSION = PAGE ON PARTITIONS (1, 3 TO 5)`
    Partitioned {
        word: Box<str>,
        partitions: Vec<(Expr, Option<Expr>)>,
    },
    /// A list in parentheses, alone or behind an ON: `= ON (NAME = value, …)`.
    Group {
        on: Option<bool>,
        settings: Vec<Setting>,
    },
}
