//! CREATE DATABASE.

use crate::context::{DdlContext, unsupported};
use crate::database::file_spec::file;
use crate::databases::NewDatabase;
use base::{SqlError, SqlResult, messages};
use tsql::ast::{CreateDatabase, FileSpec};
use types::{Collation, SqlType};

/// Errors about a file. The error that the database was not created follows after them.
const FILE_REFUSED: [base::Message; 6] = [
    messages::MAXSIZE_BELOW_SIZE,
    messages::CREATE_FILE_FAILED,
    messages::EXPAND_FILE_FAILED,
    messages::GROWTH_ABOVE_MAXSIZE,
    messages::FILE_EXISTS,
    messages::FILE_TOO_SMALL,
];

pub(crate) fn create(s: &CreateDatabase, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    if cx.work.is_user_transaction() {
        return Err(SqlError::new(messages::NOT_IN_TRANSACTION, &[&"CREATE DATABASE"]));
    }
    let line = s.name.line;
    if let Some(purpose) = &s.purpose {
        return Err(unsupported(&format!("CREATE DATABASE {purpose}"), line));
    }
    if s.containment.as_ref().is_some_and(|c| !c.eq_ignore_ascii_case("NONE")) {
        return Err(unsupported("CONTAINMENT", line));
    }
    if let Some(option) = s.options.first() {
        return Err(unsupported(&option.name, option.span.line));
    }
    let files: Vec<&FileSpec> = s.files.iter().flat_map(|g| &g.files).collect();
    if files.len() > 1 || s.files.iter().any(|g| g.filegroup.is_some()) {
        return Err(unsupported("more than one data file", line));
    }
    if s.log_files.len() > 1 {
        return Err(unsupported("more than one log file", line));
    }
    let collation = match &s.collation {
        None => None,
        Some(name) => {
            let invalid = || SqlError::new(messages::COLLATION_INVALID, &[name]);
            let collation = Collation::by_name(name).ok_or_else(|| invalid().at_line(name.line))?;
            // The collation must be able to store varchar.
            bind::check_collation(collation, SqlType::VARCHAR_MAX)
                .map_err(|e| e.at_line(name.line))?;
            Some(collation)
        }
    };
    let new = NewDatabase {
        name: (*s.name).into(),
        collation,
        data: files.first().map(|f| file(f)).transpose()?,
        log: s.log_files.first().map(file).transpose()?,
    };
    cx.databases.create(&new).map_err(|e| {
        match FILE_REFUSED.iter().any(|m| m.number == e.number()) {
            true => cx.after(e, SqlError::new(messages::CREATE_DATABASE_FAILED, &[])),
            false => e,
        }
    })
}
