//! Names in FOR XML: those of columns in PATH mode, and those that a query gives rows and roots.
//! RAW and AUTO escape what their columns are called; these are refused. From "Columns with a Name"
//! and "Column Names with the Path Specified as data()"; numbers and their order are those that a
//! public project recorded of SQL Server 2025.
//!
//! Rules, for each step of a name
//!  1. It is not `xmlns`, nor of that prefix (6867); a prefix is declared (6846); then come
//!     characters (6850). A step is not empty (6849).
//!  2. The last step may be a test of nodes. What has no text form stands in elements, under `*`
//!     or `node()` alone (6851, 6853).

use base::{SqlError, SqlResult, messages};
use std::fmt::Display;

/// The names of one query.
pub(crate) struct XmlNames<'d> {
    /// Prefixes and what they stand for.
    pub(crate) declared: &'d [(Box<str>, Box<str>)],
}

/// What a name is for, as 6850 and 6846 say it.
type Kind = (&'static str, &'static str);

const COLUMN: Kind = ("Column", "column");
const ROW: Kind = ("Row", "row");
const ROOT: Kind = ("ROOT", "ROOT");

impl XmlNames<'_> {
    /// The element of a row; none has no name.
    pub(crate) fn row(&self, name: &str) -> SqlResult<()> {
        if name.is_empty() { Ok(()) } else { self.step(ROW, name, name) }
    }

    /// The element around all rows.
    pub(crate) fn root(&self, name: &str) -> SqlResult<()> {
        if name.is_empty() {
            return Err(SqlError::new(messages::XML_ROOT_EMPTY, &[]));
        }
        self.step(ROOT, name, name)
    }

    /// A column of PATH; `is_xml`: its values are nodes.
    pub(crate) fn path(&self, name: &str, is_xml: bool) -> SqlResult<()> {
        if name.is_empty() {
            return Ok(());
        }
        let (before, last) = match name.rsplit_once('/') {
            Some((before, last)) => (Some(before), last),
            None => (None, name),
        };
        for step in before.iter().flat_map(|before| before.split('/')) {
            self.element(step, name)?;
        }
        match last {
            "*" | "node()" => Ok(()),
            "text()" | "data()" | "comment()" if is_xml => Err(no_text(name)),
            "text()" | "data()" | "comment()" => Ok(()),
            _ => match (builtins::instruction_target(last), last.strip_prefix('@')) {
                (Some(target), _) => target_of(target, name, is_xml),
                (None, Some(_)) if is_xml => {
                    Err(SqlError::new(messages::XML_ATTRIBUTE_TYPE, &[&name]))
                }
                (None, Some(attribute)) if !attribute.is_empty() => {
                    self.step(COLUMN, attribute, name)
                }
                (None, _) => self.element(last, name),
            },
        }
    }

    fn element(&self, step: &str, whole: &str) -> SqlResult<()> {
        if step.is_empty() {
            return Err(SqlError::new(messages::XML_PATH_STEP, &[&whole]));
        }
        self.step(COLUMN, step, whole)
    }

    fn step(&self, kind: Kind, step: &str, whole: &str) -> SqlResult<()> {
        let prefix = step.split_once(':').map(|(prefix, _)| prefix);
        if step == "xmlns" || prefix == Some("xmlns") {
            return Err(SqlError::new(messages::XML_NAMED_XMLNS, &[]));
        }
        let known = |p: &str| {
            p.is_empty() || p == "xml" || self.declared.iter().any(|(declared, _)| &**declared == p)
        };
        if let Some(prefix) = prefix.filter(|p| !known(p)) {
            let args: [&dyn Display; 3] = [&prefix, &kind.1, &whole];
            return Err(SqlError::new(messages::XML_PREFIX_MISSING, &args).with_state(4));
        }
        characters(step, true).map_err(|c| invalid(kind.0, whole, c))
    }
}

fn target_of(target: &str, whole: &str, is_xml: bool) -> SqlResult<()> {
    match target {
        "" => return Err(SqlError::new(messages::XML_INSTRUCTION_TARGET, &[&whole])),
        "xml" => return Err(SqlError::new(messages::XML_DECLARATION_MADE, &[])),
        _ => {}
    }
    characters(target, false).map_err(|c| invalid("", whole, c))?;
    if is_xml { Err(no_text(whole)) } else { Ok(()) }
}

/// The first character that a name cannot have there.
fn characters(name: &str, colons: bool) -> Result<(), char> {
    let fits = |n: usize, c: char| match n {
        0 => xml::is_name_start(c),
        _ => xml::is_name_char(c) || (colons && c == ':'),
    };
    match name.chars().enumerate().find(|&(n, c)| !fits(n, c)) {
        Some((_, c)) => Err(c),
        None => Ok(()),
    }
}

fn invalid(kind: &str, whole: &str, c: char) -> SqlError {
    let code = format!("{:04X}", u32::from(c));
    SqlError::new(messages::XML_NAME_INVALID, &[&kind, &whole, &c, &code])
}

fn no_text(whole: &str) -> SqlError {
    SqlError::new(messages::XML_STEP_OF_NODES, &[&whole])
}
