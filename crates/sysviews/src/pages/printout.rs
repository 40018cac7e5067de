//! The output of a DBCC: text for the client or the error log, or the rows of WITH TABLERESULTS.
//!
//! Invariants
//!  1. Both forms come from one list, so they have the same content in the same order.
//!  2. A line of text has three cells of 36 characters. A longer field takes several cells. A field
//!     that does not fit into the rest of its line begins the next one.

use session::Rowset;
use types::{SqlType, Value};

const CELL: usize = 36;
const CELLS_A_LINE: usize = 3;

/// An item of the output.
enum Entry {
    /// A heading.
    Title(String),
    /// The subject of the following fields, and its parent.
    Object { parent: String, object: String },
    /// `name = value` in cells.
    Field { name: String, value: String },
    /// `name = value` on a line of its own.
    Line { name: String, between: &'static str, value: String },
}

/// The output of one DBCC.
#[derive(Default)]
pub(crate) struct Printout(Vec<Entry>);

impl Printout {
    /// A heading.
    pub(crate) fn title(&mut self, title: &str) {
        self.0.push(Entry::Title(title.to_owned()));
    }

    /// Begins the fields of an object.
    pub(crate) fn object(&mut self, parent: &str, object: impl Into<String>) {
        self.0.push(Entry::Object { parent: parent.to_owned(), object: object.into() });
    }

    /// A field of the object.
    pub(crate) fn field(&mut self, name: impl Into<String>, value: impl ToString) {
        self.0.push(Entry::Field { name: name.into(), value: value.to_string() });
    }

    /// A field on a line of its own.
    pub(crate) fn line(
        &mut self,
        name: impl Into<String>,
        between: &'static str,
        value: impl ToString,
    ) {
        let value = value.to_string();
        self.0.push(Entry::Line { name: name.into(), between, value });
    }

    /// Bytes, twenty in each line, with their offsets from `base` on.
    pub(crate) fn bytes(&mut self, bytes: &[u8], base: u64) {
        for (n, part) in bytes.chunks(20).enumerate() {
            let hex: Vec<String> = part.chunks(4).map(hex_of).collect();
            let at = base + n as u64 * 20;
            let line = format!("{at:016X}:   {:<44}  {}", hex.join(" "), characters(part));
            self.line("", "", line);
        }
    }

    /// As rows of `ParentObject, Object, Field, VALUE`.
    pub(crate) fn rows(self) -> Rowset {
        let columns = ["ParentObject", "Object", "Field", "VALUE"];
        let column = |name: &str| (name.to_owned(), SqlType::nvarchar(4000), true);
        let (mut parent, mut object) = (String::new(), String::new());
        let mut rows = Vec::new();
        for entry in self.0 {
            match entry {
                Entry::Title(_) => {}
                Entry::Object { parent: p, object: o } => (parent, object) = (p, o),
                Entry::Field { name, value } | Entry::Line { name, value, .. } => {
                    let row = [parent.as_str(), &object, name.trim(), &value];
                    rows.push(row.map(|t| Value::nvarchar(&cut(t))).into());
                }
            }
        }
        Rowset { columns: columns.map(column).into(), rows }
    }

    /// As lines of text.
    pub(crate) fn lines(self) -> Vec<String> {
        let mut lines = Vec::new();
        let (mut line, mut used) = (String::new(), 0);
        for entry in self.0 {
            let text = match &entry {
                Entry::Field { name, value } => format!("{name} = {value}"),
                Entry::Line { .. } | Entry::Title(_) | Entry::Object { .. } => String::new(),
            };
            let cells = text.chars().count() / CELL + 1;
            let breaks = text.is_empty() || used + cells > CELLS_A_LINE;
            if breaks && used > 0 {
                lines.push(std::mem::take(&mut line));
                used = 0;
            }
            match entry {
                Entry::Field { .. } => {
                    line.push_str(&format!("{text:<width$}", width = cells * CELL));
                    used += cells;
                }
                Entry::Line { name, between, value } => {
                    lines.push(format!("{name}{between}{value}"));
                }
                Entry::Title(title) => lines.extend([String::new(), title, String::new()]),
                Entry::Object { object, .. } => {
                    lines.extend([String::new(), object, String::new()])
                }
            }
        }
        if used > 0 {
            lines.push(line);
        }
        lines
    }
}

/// A text cut to the longest cell of the result set.
fn cut(text: &str) -> String {
    text.chars().take(4000).collect()
}

fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// The printable characters of bytes, in code page 1252.
fn characters(bytes: &[u8]) -> String {
    let shown = |b: &u8| match b {
        0x20..=0x7E | 0xA0..=0xFF => char::from(*b),
        _ => '.',
    };
    bytes.iter().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed() -> Printout {
        let mut printed = Printout::default();
        printed.title("PAGE HEADER:");
        printed.object("PAGE HEADER:", "Page @0x0");
        printed.field("m_pageId", "(1:484)");
        printed.field("Metadata: AllocUnitId", 72_057_594_053_787_648_i64);
        printed.field("Metadata: PartitionId", 72_057_594_046_775_296_i64);
        printed.field("Metadata: IndexId", 0);
        printed.object("Slot 0", "Memory Dump @0x0");
        printed.bytes(b"0123456789abcdefghij\x00\xE9", 0x60);
        printed
    }

    /// SQL Server's lines: cells of 36 characters, a long field takes two of the three.
    #[test]
    fn fields_stand_in_cells_of_lines() {
        let lines: Vec<String> = printed().lines();
        let lines: Vec<&str> = lines.iter().map(|l| l.trim_end()).collect();
        assert_eq!(
            lines,
            [
                "",
                "PAGE HEADER:",
                "",
                "",
                "Page @0x0",
                "",
                "m_pageId = (1:484)                  Metadata: AllocUnitId = 72057594053787648",
                "Metadata: PartitionId = 72057594046775296                               \
                 Metadata: IndexId = 0",
                "",
                "Memory Dump @0x0",
                "",
                "0000000000000060:   30313233 34353637 38396162 63646566 6768696a  \
                 0123456789abcdefghij",
                "0000000000000074:   00e9                                          .é",
            ]
        );
    }

    #[test]
    fn each_field_is_a_row_of_its_object() {
        let rows = printed().rows().rows;
        let row = |n: usize| rows[n].iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(row(0), ["PAGE HEADER:", "Page @0x0", "m_pageId", "(1:484)"]);
        assert_eq!(row(4)[..3], ["Slot 0", "Memory Dump @0x0", ""]);
        assert_eq!(rows.len(), 6);
    }
}
