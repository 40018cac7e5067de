//! A result set as a table: header, rule, rows, the header again every so many rows.

use super::columns::TableColumn;
use super::format::Format;
use super::{value, wrap};
use session::ResultColumn;
use types::Value;

/// The longest rule under a name, and the most blanks beside a value.
const PAD_MAX: usize = 8000;

/// The result set that is being printed.
pub(crate) struct Table {
    columns: Vec<TableColumn>,
    rows: i64,
    /// The text of a value, kept for its room.
    cell: String,
    /// A line before it is broken, kept for its room.
    line: String,
}

impl Table {
    pub(crate) fn new(columns: &[ResultColumn], format: &Format) -> Table {
        let columns = columns.iter().map(|c| TableColumn::new(c, format)).collect();
        Table { columns, rows: 0, cell: String::new(), line: String::new() }
    }

    /// Appends the names and the rule below them.
    pub(crate) fn header(&mut self, format: &Format, out: &mut String) {
        let line = &mut self.line;
        line.clear();
        for (i, c) in self.columns.iter().enumerate() {
            if i > 0 {
                line.push_str(&format.separator);
            }
            line.push_str(&c.name);
            if !format.trim {
                repeat(' ', c.width.min(PAD_MAX).saturating_sub(c.name_width), line);
            }
        }
        line.push('\n');
        wrap::append(line, format.screen_width, out);
        line.clear();
        for (i, c) in self.columns.iter().enumerate() {
            if i > 0 {
                line.push_str(&format.separator);
            }
            let rule = if format.trim { c.name_width.max(1) } else { c.width };
            repeat('-', rule.min(PAD_MAX), line);
        }
        line.push('\n');
        wrap::append(line, format.screen_width, out);
    }

    /// Appends a row, before it the header when its turn has come.
    pub(crate) fn row(&mut self, values: &[Value], format: &Format, out: &mut String) {
        if format.headers > 0 && self.rows > 0 && self.rows % format.headers == 0 {
            out.push('\n');
            self.header(format, out);
        }
        self.rows = self.rows.saturating_add(1);
        self.line.clear();
        for (i, (c, v)) in self.columns.iter().zip(values).enumerate() {
            if i > 0 {
                self.line.push_str(&format.separator);
            }
            self.cell.clear();
            value::append(v, c.sql_type, c.page, &mut self.cell);
            append_cell(c, &mut self.cell, format.trim, &mut self.line);
        }
        self.line.push('\n');
        wrap::append(&self.line, format.screen_width, out);
    }
}

fn append_cell(c: &TableColumn, cell: &mut String, trim: bool, line: &mut String) {
    // Bytes are at least as many as characters: most values need no counting.
    if c.cut > 0
        && cell.len() > c.cut
        && let Some((end, _)) = cell.char_indices().nth(c.cut)
    {
        cell.truncate(end);
    }
    if trim {
        line.push_str(cell.trim_end_matches(' '));
        return;
    }
    let width = if cell.is_ascii() { cell.len() } else { cell.chars().count() };
    let pad = c.width.min(PAD_MAX).saturating_sub(width);
    if c.right {
        repeat(' ', pad, line);
        line.push_str(cell);
    } else {
        line.push_str(cell);
        repeat(' ', pad, line);
    }
}

fn repeat(c: char, n: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(c, n));
}
