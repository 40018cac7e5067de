//! `DBCC SHRINKFILE ( { name | id } [ , target_size ] [ , NOTRUNCATE | TRUNCATEONLY ] )`
//!
//! Only a log can be shrunk; data files are refused by name. The log is cut only at the end of a
//! virtual log file, so the file becomes about as short as the statement asked, never shorter. If
//! something kept it longer, a message of severity 10 says so, as in SQL Server.

use crate::context::{DdlContext, ResultSet, unsupported};
use crate::databases::{FileReference, LogShrinkStop, ShrinkOutcome, ShrinkRequest};
use crate::dbcc::argument;
use base::{DatabaseId, SqlError, SqlResult, messages};
use tsql::ast::Dbcc;
use types::{SqlType, Value};

const PAGE_KB: u64 = 8;

/// DBCC SHRINKFILE
pub(crate) fn shrink_file(s: &Dbcc, cx: &mut DdlContext<'_>, quiet: bool) -> SqlResult<()> {
    if cx.work.is_user_transaction() {
        let name = &"DBCC SHRINKFILE";
        return Err(SqlError::new(messages::DBCC_IN_TRANSACTION, &[name]));
    }
    if let Some(o) = s.options.iter().find(|o| &*o.name != "NO_INFOMSGS") {
        return Err(unsupported(&format!("DBCC SHRINKFILE WITH {}", o.name), o.span.line));
    }
    let (file, asked) = understand(s)?;
    let database = cx.place(None)?.view.id();
    let shrunk = cx.databases.shrink_file(database, &file, asked)?;
    cx.messages.extend(reason(&shrunk, asked).filter(|_| !quiet));
    cx.results.push(answer(database, &shrunk));
    Ok(())
}

/// Parses the arguments.
fn understand(s: &Dbcc) -> SqlResult<(FileReference, ShrinkRequest)> {
    if !(1..=3).contains(&s.arguments.len()) {
        return Err(SqlError::new(messages::DBCC_PARAMETER_COUNT, &[]));
    }
    let mut words = Vec::new();
    for (n, a) in s.arguments.iter().enumerate() {
        let wrong = || SqlError::new(messages::DBCC_PARAMETER, &[&(n + 1)]);
        words.push(argument(a).ok_or_else(wrong)?);
    }
    let file = match words[0].parse::<u16>() {
        Ok(id) => FileReference::Id(base::FileId(id)),
        Err(_) => FileReference::Name(words[0].clone()),
    };
    let mut asked = ShrinkRequest { bytes: None, moving: true };
    for (n, word) in words.iter().enumerate().skip(1) {
        let parameter = || SqlError::new(messages::DBCC_PARAMETER, &[&(n + 1)]);
        match word.to_uppercase().as_str() {
            // NOTRUNCATE keeps the free space in the file, so for a log nothing is to be done.
            "NOTRUNCATE" => asked = ShrinkRequest { bytes: Some(u64::MAX), moving: false },
            "TRUNCATEONLY" => asked = ShrinkRequest { bytes: Some(0), moving: false },
            "EMPTYFILE" => return Err(unsupported("DBCC SHRINKFILE (EMPTYFILE)", 0)),
            size if n == 1 => {
                let mb = size.parse::<u32>().map_err(|_| parameter())?;
                asked.bytes = Some(u64::from(mb) << 20);
            }
            _ => return Err(parameter()),
        }
    }
    Ok((file, asked))
}

/// The message that says why the file is longer than the statement asked.
fn reason(s: &ShrinkOutcome, asked: ShrinkRequest) -> Option<SqlError> {
    let (id, name) = (s.file.0, &s.name);
    let to = asked.bytes.unwrap_or(s.first_bytes);
    if s.bytes <= to || !asked.moving {
        return None;
    }
    Some(match s.stop {
        LogShrinkStop::InUse => SqlError::new(messages::SHRINK_LOG_IN_USE, &[&id, name]),
        LogShrinkStop::Fewest(n) => SqlError::new(messages::SHRINK_LOG_FEWEST, &[&id, name, &n]),
        LogShrinkStop::Promised => SqlError::new(messages::SHRINK_LOG_PROMISED, &[&id, name]),
        LogShrinkStop::Whole if s.bytes == s.before => {
            SqlError::new(messages::SHRINK_LOG_WHOLE, &[&id, name, &(to >> 10)])
        }
        LogShrinkStop::Whole => return None,
    })
}

/// The result set: one row with the sizes in pages of 8 KB.
fn answer(database: DatabaseId, s: &ShrinkOutcome) -> ResultSet {
    let pages = |bytes: u64| Value::Int((bytes >> 10).div_ceil(PAGE_KB) as i32);
    let columns = vec![
        ("DbId", SqlType::SmallInt, true),
        ("FileId", SqlType::Int, true),
        ("CurrentSize", SqlType::Int, true),
        ("MinimumSize", SqlType::Int, true),
        ("UsedPages", SqlType::Int, true),
        ("EstimatedPages", SqlType::Int, true),
    ];
    let row = vec![
        Value::SmallInt(database.0 as i16),
        Value::Int(i32::from(s.file.0)),
        pages(s.bytes),
        pages(s.first_bytes),
        pages(s.used_bytes),
        pages(s.needed_bytes),
    ];
    ResultSet { columns, rows: vec![row] }
}
