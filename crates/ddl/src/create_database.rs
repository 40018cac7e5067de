//! CREATE DATABASE, and file specifications.

use crate::context::{DdlContext, unsupported};
use crate::databases::{FileChange, FileSize, Growth, NewDatabase, NewFile};
use base::{SqlError, SqlResult, messages};
use tsql::ast::{CreateDatabase, FileSpec, Setting, SettingValue};
use types::Collation;

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
        Some(name) => Some(Collation::by_name(name).ok_or_else(|| {
            SqlError::new(messages::COLLATION_INVALID, &[name]).at_line(name.line)
        })?),
    };
    let new = NewDatabase {
        name: (*s.name).into(),
        collation,
        data: files.first().map(|f| file(f)).transpose()?,
        log: s.log_files.first().map(file).transpose()?,
    };
    cx.databases.create(&new)
}

/// A file specification.
pub(crate) fn file(spec: &FileSpec) -> SqlResult<NewFile> {
    let mut file = NewFile::default();
    for s in &spec.settings {
        match &*s.name {
            "NAME" | "NEWNAME" => file.name = Some(text(s)?),
            "FILENAME" => file.path = Some(text(s)?),
            "SIZE" => file.size = Some(bytes(s)?),
            "MAXSIZE" => {
                file.size_max = Some(match &s.value {
                    SettingValue::Word(w) if w.eq_ignore_ascii_case("UNLIMITED") => {
                        FileSize::Unlimited
                    }
                    _ => FileSize::Bytes(bytes(s)?),
                });
            }
            "FILEGROWTH" => file.growth = Some(growth(s)?),
            other => return Err(unsupported(other, s.span.line)),
        }
    }
    Ok(file)
}

/// MODIFY FILE: NAME says which one, NEWNAME is a change.
pub(crate) fn change(spec: &FileSpec) -> SqlResult<FileChange> {
    let (which, rest): (Vec<&Setting>, Vec<&Setting>) =
        spec.settings.iter().partition(|s| &*s.name == "NAME");
    let Some(name) = which.first() else {
        return Err(SqlError::new(messages::SYNTAX_NEAR, &[&"MODIFY FILE"]).at_line(spec.span.line));
    };
    let rest = FileSpec { settings: rest.into_iter().cloned().collect(), span: spec.span };
    Ok(FileChange { name: text(name)?, change: file(&rest)? })
}

fn invalid(s: &Setting) -> SqlError {
    SqlError::new(messages::SYNTAX_NEAR, &[&s.name]).at_line(s.span.line)
}

fn text(s: &Setting) -> SqlResult<Box<str>> {
    match &s.value {
        SettingValue::String(t) | SettingValue::Word(t) => Ok(t.clone()),
        _ => Err(invalid(s)),
    }
}

/// A size: megabytes where no unit is said.
fn bytes(s: &Setting) -> SqlResult<u64> {
    let SettingValue::Number { text, unit } = &s.value else { return Err(invalid(s)) };
    let factor: u64 = match unit.as_deref() {
        Some("KB") => 1 << 10,
        None | Some("MB") => 1 << 20,
        Some("GB") => 1 << 30,
        Some("TB") => 1 << 40,
        Some(_) => return Err(invalid(s)),
    };
    text.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(|| invalid(s))
}

fn growth(s: &Setting) -> SqlResult<Growth> {
    match &s.value {
        SettingValue::Number { text, unit: Some(unit) } if matches!(&**unit, "%" | "PERCENT") => {
            text.parse().map(Growth::Percent).map_err(|_| invalid(s))
        }
        _ => bytes(s).map(Growth::Bytes),
    }
}
