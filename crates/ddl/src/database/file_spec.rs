//! File specifications of CREATE DATABASE and MODIFY FILE.
//!
//! Sizes are rounded up to whole extents of 64 KB. Each property may appear only once.

use crate::databases::{FileChange, FileSize, NewFile};
use base::limits::{IDENTIFIER_CHARS_MAX, PAGE_BYTES};
use base::{SqlError, SqlResult, messages};
use catalog::FileGrowth;
use tsql::ast::{FileSpec, Setting, SettingValue};

const EXTENT_BYTES: u64 = 8 * PAGE_BYTES as u64;
const STATEMENT: &str = "CREATE/ALTER DATABASE";

/// A file of a new database.
pub(crate) fn file(spec: &FileSpec) -> SqlResult<NewFile> {
    let mut file = NewFile::default();
    for s in once(spec)? {
        match &*s.name {
            "NAME" => file.name = Some(name(s)?),
            _ => property(&mut file, s)?,
        }
    }
    Ok(file)
}

/// A file of MODIFY FILE: NAME identifies it, NEWNAME is one of its changes.
pub(crate) fn change(spec: &FileSpec) -> SqlResult<FileChange> {
    let (mut which, mut offline, mut change) = (None, false, NewFile::default());
    for s in once(spec)? {
        match &*s.name {
            "NAME" => which = Some(name(s)?),
            "NEWNAME" => change.name = Some(name(s)?),
            "OFFLINE" if s.value == SettingValue::None => offline = true,
            _ => property(&mut change, s)?,
        }
    }
    let missing = || {
        let e = SqlError::new(messages::FILE_OPTION_REQUIRED, &[&"NAME", &STATEMENT]);
        e.with_state(3).at_line(spec.span.line)
    };
    Ok(FileChange { name: which.ok_or_else(missing)?, offline, change })
}

/// The settings of a specification. Fails with 153 if one appears twice.
fn once(spec: &FileSpec) -> SqlResult<&[Setting]> {
    for (n, s) in spec.settings.iter().enumerate() {
        if spec.settings.iter().take(n).any(|before| before.name == s.name) {
            return Err(invalid_option(&s.name, s));
        }
    }
    Ok(&spec.settings)
}

fn property(file: &mut NewFile, s: &Setting) -> SqlResult<()> {
    match &*s.name {
        "FILENAME" => match &s.value {
            SettingValue::String(path) => file.path = Some(path.clone()),
            _ => return Err(near(&s.name, s)),
        },
        "SIZE" => file.size = Some(bytes(s)?),
        "MAXSIZE" => {
            file.size_max = Some(match &s.value {
                SettingValue::Word(w) if w.eq_ignore_ascii_case("UNLIMITED") => FileSize::Unlimited,
                _ => FileSize::Bytes(bytes(s)?),
            });
        }
        "FILEGROWTH" => file.growth = Some(growth(s)?),
        other => return Err(invalid_option(other, s)),
    }
    Ok(())
}

fn near(what: &str, s: &Setting) -> SqlError {
    SqlError::new(messages::SYNTAX_NEAR, &[&what]).at_line(s.span.line)
}

fn invalid_option(what: &str, s: &Setting) -> SqlError {
    let args: [&dyn std::fmt::Display; 2] = [&what, &STATEMENT];
    SqlError::new(messages::OPTION_USAGE_INVALID, &args).at_line(s.span.line)
}

fn name(s: &Setting) -> SqlResult<Box<str>> {
    let (SettingValue::String(text) | SettingValue::Word(text)) = &s.value else {
        return Err(near(&s.name, s));
    };
    if text.is_empty() {
        return Err(SqlError::new(messages::NAME_EMPTY, &[]).at_line(s.span.line));
    }
    if text.encode_utf16().count() > IDENTIFIER_CHARS_MAX {
        let start: String = text.chars().take(IDENTIFIER_CHARS_MAX).collect();
        let args: [&dyn std::fmt::Display; 3] = [&"identifier", &start, &IDENTIFIER_CHARS_MAX];
        return Err(SqlError::new(messages::IDENTIFIER_TOO_LONG, &args).at_line(s.span.line));
    }
    Ok(text.clone())
}

/// A whole number that fits an int, and its unit.
fn number(s: &Setting) -> SqlResult<(u32, Option<&str>)> {
    let SettingValue::Number { text, unit } = &s.value else { return Err(near(&s.name, s)) };
    let number = text.parse::<i32>().ok().and_then(|n| u32::try_from(n).ok());
    Ok((number.ok_or_else(|| near(text, s))?, unit.as_deref()))
}

/// A size in bytes. Without a unit the number means megabytes. Fails with 1842 if the number of
/// pages does not fit an int.
fn bytes(s: &Setting) -> SqlResult<u64> {
    let (number, unit) = number(s)?;
    let factor: u64 = match unit {
        Some("KB") => 1 << 10,
        None | Some("MB") => 1 << 20,
        Some("GB") => 1 << 30,
        Some("TB") => 1 << 40,
        Some("%" | "PERCENT") => return Err(invalid_option("percent", s)),
        Some(other) => return Err(invalid_option(other, s)),
    };
    let bytes = u64::from(number).checked_mul(factor);
    let bytes = bytes.and_then(|n| n.checked_next_multiple_of(EXTENT_BYTES));
    let most = i32::MAX as u64 * PAGE_BYTES as u64;
    let too_large = || SqlError::new(messages::FILE_SIZE_TOO_LARGE, &[]).at_line(s.span.line);
    bytes.filter(|n| *n <= most).ok_or_else(too_large)
}

fn growth(s: &Setting) -> SqlResult<FileGrowth> {
    match number(s)? {
        (percent, Some("%" | "PERCENT")) => Ok(FileGrowth::Percent(percent)),
        _ => bytes(s).map(FileGrowth::Bytes),
    }
}
