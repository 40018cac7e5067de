//! sp_cursoropen, sp_cursorfetch, sp_cursor and the related procedures, as ODBC, JDBC and OLE DB
//! call them.
//!
//! Arguments are passed by position. The arguments of the statement follow those of the procedure.

use super::executesql::statement;
use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::cursors::handles::{
    ApiChange, Fetch, OpenResult, PreparedCursor, Wish, bracketed, scroll,
};
use crate::cursors::rows::ApiInsert;
use crate::procedures::call::Call;
use crate::procedures::call::CallArgument;
use crate::session::Session;
use base::{SqlError, messages};
use std::fmt::Display;
use types::{SqlType, Value};

/// The number of rows of a fetch that does not give it.
const ROWS_DEFAULT: i64 = 20;

/// The options of a cursor that does not give them: KEYSET, OPTIMISTIC.
const SCROLL_DEFAULT: i64 = 0x1;

const CONCURRENCY_DEFAULT: i64 = 0x4;

/// The value of an int parameter; 16902 for another type.
fn handle_of(call: &Call, at: usize, procedure: &str, name: &str) -> Result<i32, Failure> {
    let number = call.number(name, at).and_then(|n| i32::try_from(n).ok());
    number.ok_or_else(|| invalid(procedure, name))
}

/// Error 16902.
fn invalid(procedure: &str, parameter: &str) -> Failure {
    let args: [&dyn Display; 2] = [&procedure, &parameter];
    SqlError::new(messages::CURSOR_PARAMETER, &args).into()
}

fn wish_of(call: &Call, at: usize) -> Wish {
    Wish {
        scroll: call.number("@scrollopt", at).unwrap_or(SCROLL_DEFAULT),
        concurrency: call.number("@ccopt", at + 1).unwrap_or(CONCURRENCY_DEFAULT),
    }
}

fn answer(call: &mut Call, at: usize, n: i32) {
    if let Some(argument) = call.arguments.get_mut(at) {
        argument.value = Value::Int(n);
        argument.sql_type = SqlType::Int;
    }
}

/// Opens a cursor and sets the output parameters of the procedure, which come before `own`.
fn open_with(
    session: &mut Session,
    call: &mut Call,
    prepared: &PreparedCursor,
    [at_handle, at_scroll, own]: [usize; 3],
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let first_rows = call.number("@rowcount", at_scroll + 2).unwrap_or(0);
    let mut values = call.rest(own);
    let result = session.open_api_cursor(prepared, first_rows, &mut values, out);
    call.arguments.append(&mut values.arguments);
    let OpenResult { handle, scroll, concurrency, rows } = result?;
    answer(call, at_handle, handle);
    answer(call, at_scroll, scroll);
    answer(call, at_scroll + 1, concurrency);
    answer(call, at_scroll + 2, rows);
    Ok(0)
}

/// `sp_cursoropen @cursor OUTPUT, @stmt [, @scrollopt OUTPUT, @ccopt OUTPUT, @rowcount OUTPUT
/// [, @paramdef, values …]]`
pub(crate) fn open(s: &mut Session, call: &mut Call, out: &mut Output<'_>) -> Result<i32, Failure> {
    let text = statement(call, 1)?;
    let wish = wish_of(call, 2);
    let parameters = match wish.scroll & scroll::PARAMETERIZED != 0 {
        true => call.text("@paramdef", 5).unwrap_or_default(),
        false => String::new(),
    };
    let prepared = PreparedCursor { parameters, text, wish };
    open_with(s, call, &prepared, [0, 2, 6], out)
}

/// Keeps a statement for cursors. Returns its handle.
fn keep(session: &mut Session, prepared: PreparedCursor) -> i32 {
    let handle = session.handles.next();
    session.api_cursors.prepared.insert(handle, prepared);
    handle
}

/// `sp_cursorprepare @handle OUTPUT, @params, @stmt, @options [, @scrollopt, @ccopt]`
pub(crate) fn prepare(
    session: &mut Session,
    call: &mut Call,
    _: &mut Output<'_>,
) -> Result<i32, Failure> {
    let text = statement(call, 2)?;
    let parameters = call.text("@params", 1).unwrap_or_default();
    let handle = keep(session, PreparedCursor { parameters, text, wish: wish_of(call, 4) });
    answer(call, 0, handle);
    Ok(0)
}

/// `sp_cursorexecute @handle, @cursor OUTPUT [, @scrollopt, @ccopt, @rowcount OUTPUT, values …]`
pub(crate) fn execute(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let handle = handle_of(call, 0, "sp_cursorexecute", "@handle")?;
    let Some(mut prepared) = session.api_cursors.prepared.get(&handle).cloned() else {
        return Err(SqlError::new(messages::PREPARED_HANDLE_UNKNOWN, &[&handle]).into());
    };
    if call.number("@scrollopt", 2).is_some() {
        prepared.wish = wish_of(call, 2);
    }
    open_with(session, call, &prepared, [1, 2, 5], out)
}

/// `sp_cursorprepexec @handle OUTPUT, @cursor OUTPUT, @params, @stmt [, @scrollopt, @ccopt,
/// @rowcount OUTPUT, values …]`
pub(crate) fn prepare_and_execute(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let text = statement(call, 3)?;
    let parameters = call.text("@params", 2).unwrap_or_default();
    let prepared = PreparedCursor { parameters, text, wish: wish_of(call, 4) };
    // A handle that the client passes is that of a statement which the client no longer needs.
    if let Some(old) = call.number("@handle", 0).and_then(|n| i32::try_from(n).ok()) {
        session.api_cursors.prepared.remove(&old);
    }
    let handle = keep(session, prepared.clone());
    answer(call, 0, handle);
    open_with(session, call, &prepared, [1, 4, 7], out)
}

/// `sp_cursorunprepare @handle`
pub(crate) fn unprepare(
    session: &mut Session,
    call: &mut Call,
    _: &mut Output<'_>,
) -> Result<i32, Failure> {
    let handle = handle_of(call, 0, "sp_cursorunprepare", "@handle")?;
    match session.api_cursors.prepared.remove(&handle) {
        Some(_) => Ok(0),
        None => Err(SqlError::new(messages::PREPARED_HANDLE_UNKNOWN, &[&handle]).into()),
    }
}

/// `sp_cursorfetch @cursor [, @fetchtype [, @rownum [, @nrows]]]`
pub(crate) fn fetch(
    s: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    const NAME: &str = "sp_cursorfetch";
    const INFO: i64 = 0x100;
    let handle = handle_of(call, 0, NAME, "@cursor")?;
    let row = call.number("@rownum", 2).unwrap_or(0);
    let count = call.number("@nrows", 3).unwrap_or(ROWS_DEFAULT);
    let fetch = match call.number("@fetchtype", 1).unwrap_or(0x2) {
        0x1 => Fetch::First,
        0x2 => Fetch::Next,
        0x4 => Fetch::Prior,
        0x8 => Fetch::Last,
        0x10 => Fetch::Absolute(row),
        0x20 => Fetch::Relative(row),
        0x80 => Fetch::Refresh,
        INFO => {
            let (place, rows) = s.api_cursor_place(handle)?;
            answer(call, 2, place);
            answer(call, 3, rows);
            return Ok(0);
        }
        0x200 => Fetch::PriorOnly,
        _ => return Err(invalid(NAME, "@fetchtype")),
    };
    if count < 0 {
        return Err(invalid(NAME, "@nrows"));
    }
    s.fetch_api(handle, fetch, count, out)?;
    Ok(0)
}

/// `sp_cursorclose @cursor`; -1 closes all.
pub(crate) fn close(s: &mut Session, call: &mut Call, _: &mut Output<'_>) -> Result<i32, Failure> {
    match handle_of(call, 0, "sp_cursorclose", "@cursor")? {
        -1 => s.close_api_cursors()?,
        handle => s.close_api_cursor(handle)?,
    }
    Ok(0)
}

/// `sp_cursoroption @cursor, @code, @value`
pub(crate) fn option(s: &mut Session, call: &mut Call, _: &mut Output<'_>) -> Result<i32, Failure> {
    const NAME: &str = "sp_cursoroption";
    let handle = handle_of(call, 0, NAME, "@cursor")?;
    match handle_of(call, 1, NAME, "@code")? {
        1 => return Err(Failure::unsupported("text pointers of cursors (sp_cursoroption)")),
        2 => {
            let name = call.text("@value", 2).ok_or_else(|| invalid(NAME, "@value"))?;
            s.name_api_cursor(handle, name)?;
        }
        // Values are always sent whole.
        3 => {}
        code @ 4..=6 => {
            let (scroll, concurrency, rows) = s.api_cursor_facts(handle)?;
            answer(call, 2, [scroll, concurrency, rows][code as usize - 4]);
        }
        _ => return Err(invalid(NAME, "@code")),
    }
    Ok(0)
}

/// `sp_cursor @cursor, @optype, @rownum, @table [, values …]`
pub(crate) fn change(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    const NAME: &str = "sp_cursor";
    const SETPOSITION: i64 = 0x20;
    let handle = handle_of(call, 0, NAME, "@cursor")?;
    let kind = call.number("@optype", 1).ok_or_else(|| invalid(NAME, "@optype"))?;
    let row = call.number("@rownum", 2).unwrap_or(0);
    let table = call.text("@table", 3).unwrap_or_default();
    let values = call.rest(4).arguments;
    match kind & !SETPOSITION {
        0 if kind == SETPOSITION => session.position_api_cursor(handle, row)?,
        1 => {
            let change = update_of(session, handle, &table, &values)?;
            session.change_api_rows(handle, row, &change, out)?;
        }
        2 => {
            let table = named(session, handle, &table, &[])?;
            let change = ApiChange::of_text(format!("DELETE {table}"));
            session.change_api_rows(handle, row, &change, out)?;
        }
        4 => {
            let cursor = session.api_cursor(handle)?;
            match given_text(&values, "INSERT") {
                // The effect of a client's own text is unknown, so the cursor does not get a row.
                Some(text) => {
                    session.execute_text("", &text, &mut Call::default(), out)?;
                }
                None => {
                    let insert = insert_of(session, handle, &table, &values)?;
                    session.insert_api_row(&cursor, &insert, out)?;
                }
            }
        }
        8 => session.fetch_api(handle, Fetch::Refresh, 0, out)?,
        0x10 => return Err(Failure::unsupported("locks by sp_cursor")),
        _ => return Err(invalid(NAME, "@optype")),
    }
    Ok(0)
}

/// The table of a change: the one that the client names, or the cursor's.
fn named(s: &Session, handle: i32, table: &str, columns: &[&str]) -> Result<String, Failure> {
    let own = s.changed_table(handle, columns)?;
    Ok(if table.is_empty() { own } else { table.to_owned() })
}

/// The columns that get values, by name.
fn columns(values: &[CallArgument]) -> Result<Vec<&str>, Failure> {
    let name = |a: &CallArgument| -> Option<usize> { a.name.as_deref().map(str::len) };
    if values.iter().any(|a| name(a).is_none_or(|n| n < 2)) {
        return Err(invalid("sp_cursor", "@value"));
    }
    Ok(values.iter().filter_map(|a| a.name.as_deref()?.strip_prefix('@')).collect())
}

/// A statement that the client passes instead of values.
fn given_text(values: &[CallArgument], verb: &str) -> Option<String> {
    let [only] = values else { return None };
    let text = only.value.as_text().filter(|_| only.name.as_deref().is_none_or(str::is_empty))?;
    let is_verb = text.trim_start().get(..verb.len()).is_some_and(|w| w.eq_ignore_ascii_case(verb));
    is_verb.then_some(text)
}

fn parameters(values: &[CallArgument]) -> String {
    let declared = |(n, a): (usize, &CallArgument)| format!("@p{n} {}", a.sql_type.modern());
    values.iter().enumerate().map(declared).collect::<Vec<_>>().join(", ")
}

fn typed(values: &[CallArgument]) -> Vec<(SqlType, Value)> {
    values.iter().map(|a| (a.sql_type.modern(), a.value.clone())).collect()
}

fn update_of(
    session: &Session,
    handle: i32,
    table: &str,
    values: &[CallArgument],
) -> Result<ApiChange, Failure> {
    if let Some(text) = given_text(values, "UPDATE") {
        return Ok(ApiChange::of_text(text));
    }
    let columns = columns(values)?;
    if columns.is_empty() {
        return Err(invalid("sp_cursor", "@value"));
    }
    let table = named(session, handle, table, &columns)?;
    let set = columns.iter().enumerate().map(|(n, c)| format!("{} = @p{n}", bracketed(c)));
    let text = format!("UPDATE {table} SET {}", set.collect::<Vec<_>>().join(", "));
    let (parameters, columns) = (parameters(values), owned(&columns));
    Ok(ApiChange { text, parameters, columns, values: typed(values) })
}

fn owned(columns: &[&str]) -> Vec<String> {
    columns.iter().map(|&c| c.to_owned()).collect()
}

fn insert_of(
    session: &Session,
    handle: i32,
    table: &str,
    values: &[CallArgument],
) -> Result<ApiInsert, Failure> {
    let columns = columns(values)?;
    let table = named(session, handle, table, &columns)?;
    let (columns, parameters) = (owned(&columns), parameters(values));
    Ok(ApiInsert { table, columns, parameters, values: typed(values) })
}
