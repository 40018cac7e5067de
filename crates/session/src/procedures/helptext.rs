//! `sp_helptext @objname, @columnname`: the text of a module, of a CHECK or DEFAULT constraint, or
//! of a computed column, one row for each line.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Object, Table};
use types::{SqlType, Value};

/// The most characters of a row; a longer line continues in the next row.
const WIDTH: usize = 255;

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = call.text("@objname", 0).unwrap_or_default();
    let parsed = tsql::parse_object_name(&name)?;
    let found = session.find_object(&parsed, session.state.database.id);
    let text: Box<str> = match (call.text("@columnname", 1), found) {
        (Some(column), Some((_, Object::Table(table)))) => of_column(&table, &column)?,
        (None, Some((_, Object::Module(module)))) => module.text.clone(),
        (_, Some(_)) => return Err(SqlError::new(messages::HELP_NO_TEXT, &[&name]).into()),
        (_, None) => match session.state.constraint_named(&parsed) {
            Some(text) => text,
            None => {
                let database = session.state.database.name.clone();
                return Err(SqlError::new(messages::HELP_NOT_FOUND, &[&name, &database]).into());
            }
        },
    };
    let rowset = Rowset {
        columns: vec![("Text".to_owned(), SqlType::nvarchar(255), true)],
        rows: lines(&text).into_iter().map(|l| vec![Value::nvarchar(&l)]).collect(),
    };
    session.send_rowset(&rowset, out, DoneScope::InProcedure)?;
    Ok(0)
}

/// The text of a computed column.
fn of_column(table: &Table, name: &str) -> SqlResult<Box<str>> {
    let column = table.columns.iter().find(|c| c.name.eq_ignore_ascii_case(name));
    let column = column.ok_or_else(|| SqlError::new(messages::HELP_NO_COLUMN, &[&name]))?;
    let computed = column.computed.as_ref();
    let plain = || SqlError::new(messages::HELP_NOT_COMPUTED, &[&name]);
    Ok(computed.ok_or_else(plain)?.text.clone())
}

/// The lines of a text with their line ends, cut to the width of a row.
fn lines(text: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.split_inclusive('\n') {
        let characters: Vec<char> = line.chars().collect();
        rows.extend(characters.chunks(WIDTH).map(|piece| piece.iter().collect()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_ends_and_long_ones_go_on() {
        let long = "x".repeat(300);
        let text = format!("a\r\n\n{long}");
        let pieces = ["a\r\n".to_owned(), "\n".to_owned(), "x".repeat(255), "x".repeat(45)];
        assert_eq!(lines(&text), pieces);
    }
}
