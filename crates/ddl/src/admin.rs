//! CHECKPOINT and DBCC.

use crate::context::{DdlContext, unsupported};
use base::{SqlError, SqlResult, messages};
use tsql::ast::{Dbcc, DbccArgument, Expr, ExprKind, Literal};

/// CHECKPOINT [duration]: the duration is a wish that SQL Server may disregard, and so do we.
pub(crate) fn checkpoint(_duration: Option<&Expr>, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let database = cx.place(None)?.view.id();
    cx.databases.checkpoint(database)
}

/// DBCC
pub(crate) fn dbcc(s: &Dbcc, _text: &str, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let quiet = s.options.iter().any(|o| &*o.name == "NO_INFOMSGS");
    match &*s.name {
        "CHECKDB" => check_database(s, cx, quiet)?,
        "SQLPERF" => clear(s, cx)?,
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
fn argument(a: &DbccArgument) -> Option<String> {
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

fn check_database(s: &Dbcc, cx: &mut DdlContext<'_>, quiet: bool) -> SqlResult<()> {
    for option in &s.options {
        // ALL_ERRORMSGS is what happens anyway; TABLOCK is what a check without snapshots does.
        if !matches!(&*option.name, "NO_INFOMSGS" | "ALL_ERRORMSGS" | "TABLOCK") {
            let name = format!("DBCC CHECKDB WITH {}", option.name);
            return Err(unsupported(&name, option.span.line));
        }
    }
    let mut indexes = true;
    let mut name = None;
    for (n, a) in s.arguments.iter().enumerate() {
        match argument(a) {
            Some(word) if word.eq_ignore_ascii_case("NOINDEX") => indexes = false,
            Some(zero) if n == 0 && zero == "0" => {}
            Some(database) if n == 0 => name = Some(database),
            Some(other) => return Err(unsupported(&format!("DBCC CHECKDB {other}"), 0)),
            None => return Err(unsupported("variables as arguments of DBCC", 0)),
        }
    }
    let database = cx.place(name.as_deref())?.view.id();
    let found = cx.databases.check(cx.work, database, indexes)?;
    cx.messages.extend(found.into_iter().filter(|m| !quiet || m.severity() > 10));
    Ok(())
}

/// DBCC SQLPERF ('sys.dm_os_wait_stats', CLEAR)
fn clear(s: &Dbcc, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let words: Vec<Option<String>> = s.arguments.iter().map(argument).collect();
    let name = words.first().cloned().flatten().unwrap_or_default();
    let clears = matches!(words.get(1), Some(Some(w)) if w.eq_ignore_ascii_case("CLEAR"));
    if clears && words.len() == 2 && cx.databases.clear_statistics(&name) {
        return Ok(());
    }
    Err(unsupported(&format!("DBCC SQLPERF ({name})"), 0))
}
