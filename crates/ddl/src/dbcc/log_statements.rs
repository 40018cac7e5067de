//! DBCC statements about the log: LOGINFO, SQLPERF.

use crate::context::{DdlContext, unsupported};
use crate::dbcc::argument;
use base::{SqlError, SqlResult, messages};
use catalog::view::DatabaseView;
use std::sync::Arc;
use tsql::ast::Dbcc;

/// The database that the first argument names, by name or id. 0 or no argument is the current one.
///
/// # Errors
/// 911; an argument that is a variable.
fn database(s: &Dbcc, cx: &mut DdlContext<'_>) -> SqlResult<Arc<DatabaseView>> {
    let name = match s.arguments.first() {
        None => None,
        Some(a) => {
            let text =
                argument(a).ok_or_else(|| unsupported("variables as arguments of DBCC", 0))?;
            match text.parse::<u16>() {
                Ok(0) => None,
                Ok(id) => Some(cx.databases.name_of(base::DatabaseId(id))?),
                Err(_) => Some(text),
            }
        }
    };
    Ok(cx.place(name.as_deref())?.view)
}

fn no_options(s: &Dbcc) -> SqlResult<()> {
    match s.options.iter().find(|o| &*o.name != "NO_INFOMSGS") {
        None => Ok(()),
        Some(o) => Err(unsupported(&format!("DBCC {} WITH {}", s.name, o.name), o.span.line)),
    }
}

/// `DBCC LOGINFO [(database)]`
pub(crate) fn log_info(s: &Dbcc, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    no_options(s)?;
    if s.arguments.len() > 1 {
        return Err(SqlError::new(messages::DBCC_PARAMETER_COUNT, &[]));
    }
    let database = database(s, cx)?.id();
    let told = cx.databases.log_info(database)?;
    cx.results.push(told);
    Ok(())
}

/// `DBCC SQLPERF (LOGSPACE | 'sys.dm_os_wait_stats', CLEAR)`
pub(crate) fn performance(s: &Dbcc, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    no_options(s)?;
    let words: Vec<Option<String>> = s.arguments.iter().map(argument).collect();
    let name = words.first().cloned().flatten().unwrap_or_default();
    if words.len() == 1 && name.eq_ignore_ascii_case("LOGSPACE") {
        let told = cx.databases.log_space();
        cx.results.push(told);
        return Ok(());
    }
    let clears = matches!(words.get(1), Some(Some(w)) if w.eq_ignore_ascii_case("CLEAR"));
    if clears && words.len() == 2 && cx.databases.clear_statistics(&name) {
        return Ok(());
    }
    Err(unsupported(&format!("DBCC SQLPERF ({name})"), 0))
}
