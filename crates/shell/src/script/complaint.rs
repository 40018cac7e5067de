//! What the shell itself complains of, in sqlcmd's words.

use std::fmt;
use std::path::Path;

/// A place in a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The file, unless the text came from the command line or a person.
    pub(crate) file: Option<String>,
    /// The 1-based line.
    pub(crate) line: u32,
}

/// A mistake in a script, not in its T-SQL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Complaint {
    /// A command with wrong arguments.
    Command { name: String, place: Place },
    /// `$(` without a name and `)`.
    Reference { place: Place },
    /// A variable that nobody has set.
    Undefined { name: String },
    /// A variable that sqlcmd sets itself.
    ReadOnly { name: String },
    /// A variable's value that it cannot have.
    Value { name: String, value: String },
    /// A file that cannot be read or written.
    File { name: String, reason: String },
    /// Files that include each other too deeply.
    Nesting { limit: usize },
    /// Commands of the operating system, which this shell does not run.
    System { name: String },
    /// A command of sqlcmd that this shell does not have.
    Unsupported { name: String },
}

impl Complaint {
    pub(crate) fn file(path: &Path, error: &std::io::Error) -> Complaint {
        let reason = error.to_string();
        Complaint::File { name: path.display().to_string(), reason }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sqlcmd: Error: ")?;
        match self {
            Complaint::Command { name, place } => {
                write!(f, "Syntax error at line {} near command '{name}'", place.line)?;
                file(place, f)
            }
            Complaint::Reference { place } => {
                write!(f, "Syntax error at line {}", place.line)?;
                file(place, f)
            }
            Complaint::Undefined { name } => {
                write!(f, "'{name}' scripting variable not defined.")
            }
            Complaint::ReadOnly { name } => {
                write!(f, "The scripting variable: '{name}' is read-only.")
            }
            Complaint::Value { name, value } => {
                write!(f, "The environment variable: '{name}' has invalid value: '{value}'.")
            }
            Complaint::File { name, reason } => write!(
                f,
                "Error occurred while opening or operating on file {name} (Reason: {reason})."
            ),
            Complaint::Nesting { limit } => {
                write!(f, "Files included by :r are nested more than {limit} deep.")
            }
            Complaint::System { name } => {
                write!(f, "The command '{name}' is disabled: this shell runs no other programs.")
            }
            Complaint::Unsupported { name } => write!(f, "The command '{name}' is not supported."),
        }
    }
}

fn file(place: &Place, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match &place.file {
        Some(file) => write!(f, " in file '{file}'."),
        None => f.write_str("."),
    }
}
