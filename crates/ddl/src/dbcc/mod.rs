//! CHECKPOINT and DBCC. The other files of this folder have some of the DBCC commands.

pub(crate) mod log_statements;
pub(crate) mod show_statistics;
pub(crate) mod shrink_file;

use crate::context::{DdlContext, unsupported};
use crate::databases::Check;
use crate::locate::look_up;
use base::{SqlError, SqlResult, messages};
use catalog::view::Object;
use tsql::ast::{Dbcc, DbccArgument, Expr, ExprKind, Literal, Name, ObjectName, Span};

/// CHECKPOINT [duration]. The duration is a wish that SQL Server may ignore; we always ignore it.
pub(crate) fn checkpoint(_duration: Option<&Expr>, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let database = cx.place(None)?.view.id();
    cx.databases.checkpoint(database)
}

/// DBCC
pub(crate) fn dbcc(s: &Dbcc, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let quiet = s.options.iter().any(|o| &*o.name == "NO_INFOMSGS");
    match &*s.name {
        "CHECKDB" => check_database(s, cx, quiet)?,
        "CHECKTABLE" => check_table(s, cx, quiet)?,
        "SHOW_STATISTICS" => show_statistics::show(s, cx)?,
        "SQLPERF" => log_statements::performance(s, cx)?,
        "SHRINKFILE" => shrink_file::shrink_file(s, cx, quiet)?,
        "LOGINFO" => log_statements::log_info(s, cx)?,
        other => {
            let name = format!("DBCC {other}");
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&name]));
        }
    }
    if !quiet {
        cx.messages.push(SqlError::new(messages::DBCC_COMPLETED, &[]));
    }
    Ok(())
}

/// The text of an argument, whatever its form.
pub(crate) fn argument(a: &DbccArgument) -> Option<String> {
    match a {
        DbccArgument::Name(name) => Some(name.to_string()),
        DbccArgument::Value(e) => match &e.kind {
            ExprKind::Literal(Literal::String(t) | Literal::National(t) | Literal::Integer(t)) => {
                Some(t.to_string())
            }
            _ => None,
        },
    }
}

fn check_options(s: &Dbcc) -> SqlResult<()> {
    for option in &s.options {
        // All errors are always reported, as with ALL_ERRORMSGS. A check without a snapshot locks
        // tables, as with TABLOCK.
        if !matches!(&*option.name, "NO_INFOMSGS" | "ALL_ERRORMSGS" | "TABLOCK") {
            let name = format!("DBCC {} WITH {}", s.name, option.name);
            return Err(unsupported(&name, option.span.line));
        }
    }
    Ok(())
}

fn check_database(s: &Dbcc, cx: &mut DdlContext<'_>, quiet: bool) -> SqlResult<()> {
    check_options(s)?;
    let mut no_index = false;
    let mut name = None;
    for (n, a) in s.arguments.iter().enumerate() {
        match argument(a) {
            Some(word) if word.eq_ignore_ascii_case("NOINDEX") => no_index = true,
            Some(zero) if n == 0 && zero == "0" => {}
            Some(database) if n == 0 => name = Some(database),
            Some(other) => return Err(unsupported(&format!("DBCC CHECKDB {other}"), 0)),
            None => return Err(unsupported("variables as arguments of DBCC", 0)),
        }
    }
    let database = cx.place(name.as_deref())?.view.id();
    let found = cx.databases.check(cx.work, database, &Check { table: None, no_index, quiet })?;
    cx.messages.extend(found);
    Ok(())
}

fn check_table(s: &Dbcc, cx: &mut DdlContext<'_>, quiet: bool) -> SqlResult<()> {
    check_options(s)?;
    let (first, rest) = match s.arguments.split_first() {
        Some((first, rest)) if rest.len() <= 1 => (first, rest),
        _ => return Err(unsupported("DBCC CHECKTABLE without a table", 0)),
    };
    let mut no_index = false;
    if let Some(second) = rest.first() {
        match argument(second) {
            Some(word) if word.eq_ignore_ascii_case("NOINDEX") => no_index = true,
            other => {
                let other = other.unwrap_or_default();
                return Err(unsupported(&format!("DBCC CHECKTABLE {other}"), 0));
            }
        }
    }
    let name = table_argument(first)?;
    let named = look_up(cx, &name)?;
    let Some(Object::Table(table)) = named.object else {
        return Err(SqlError::new(messages::DBCC_NO_TABLE, &[&name]).with_state(45));
    };
    let check = Check { table: Some(table.object_id), no_index, quiet };
    let found = cx.databases.check(cx.work, named.place.view.id(), &check)?;
    cx.messages.extend(found);
    Ok(())
}

/// The table that an argument names.
pub(crate) fn table_argument(a: &DbccArgument) -> SqlResult<ObjectName> {
    match (a, argument(a)) {
        (DbccArgument::Name(name), _) => Ok(name.clone()),
        (DbccArgument::Value(e), Some(text)) => Ok(named_in(&text, e.span)),
        (DbccArgument::Value(_), None) => Err(unsupported("variables as arguments of DBCC", 0)),
    }
}

/// The name in a string such as `'dbo.[my table]'`.
fn named_in(text: &str, span: Span) -> ObjectName {
    let mut parts: Vec<String> = vec![String::new()];
    let mut closing = None;
    for c in text.chars() {
        match (c, closing) {
            (c, Some(end)) if c == end => closing = None,
            ('[', None) => closing = Some(']'),
            ('"', None) => closing = Some('"'),
            ('.', None) => parts.push(String::new()),
            (c, _) => {
                if let Some(last) = parts.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    let mut parts = parts.into_iter().rev().map(|text| {
        let name = Name { text: text.into(), line: span.line };
        Some(name).filter(|n| !n.text.is_empty())
    });
    let empty = Name { text: "".into(), line: span.line };
    let object = parts.next().flatten().unwrap_or(empty);
    let (schema, database) = (parts.next().flatten(), parts.next().flatten());
    ObjectName { server: parts.next().flatten(), database, schema, object, span }
}
