//! API server cursors: what sp_cursoropen and the related procedures keep between the calls of a
//! client.
//!
//! A handle is a number for a cursor that was declared like any other, under a name that no text
//! uses by chance. Beside the cursor stands the fetch buffer: the rows of the last fetch. sp_cursor
//! changes these rows by their positions in the buffer.
//!
//! ```text
//!   sp_cursoropen    DECLARE … CURSOR GLOBAL … FOR the statement, OPEN → handle
//!   sp_cursorfetch   a window of n rows                              → rows, each with ROWSTAT
//!   sp_cursor        UPDATE, DELETE … WHERE CURRENT OF, INSERT
//!   sp_cursorclose   the name and the handle go
//! ```
//!
//! Invariants
//!  1. A handle and its cursor's name are created and removed together.
//!  2. The buffer keeps rows as they were fetched only if they can be changed. Memory for kept rows
//!     is charged.
//!  3. If the row of a key is gone, a KEYSET cursor sends NULLs with ROWSTAT 2. A DYNAMIC cursor
//!     skips that key.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{ColumnOrigin, Command, Completion, DoneScope, ResultColumn};
use crate::cursors::cursor::{Cursor, SharedCursor};
use crate::cursors::handles::{
    ApiChange, ApiCursor, BEFORE, BufferedRow, FIRST_HANDLE, Fetch, FetchBuffer, NEW, OpenResult,
    PreparedCursor, Window, bracketed, concurrency, name_of, scroll, unknown,
};
use crate::procedures::call::Call;
use crate::program::cursor_step::CursorKind;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::state::State;
use base::{SqlError, messages};
use catalog::view::Object;
use os::sync::Mutex;
use std::fmt::Display;
use std::sync::Arc;
use tsql::ast::StatementKind;
use types::{Collation, SqlType, Value};

/// Whether a text is a single query, and so can have a cursor.
fn is_query(text: &str, options: tsql::ParseOptions) -> bool {
    let parsed = tsql::parse(text, options);
    let [only] = &parsed.batch.statements[..] else { return false };
    match &only.kind {
        StatementKind::Select(s) => parsed.errors.is_empty() && bind::into_of(s).is_none(),
        _ => false,
    }
}

impl Session {
    /// Opens a cursor over a statement with parameters, and sends its columns.
    pub(crate) fn open_api_cursor(
        &mut self,
        prepared: &PreparedCursor,
        first_rows: i64,
        values: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<OpenResult, Failure> {
        let PreparedCursor { parameters, text, wish } = prepared;
        let options = self.state.settings.parse_options();
        if !is_query(text, options) {
            return self.run_without_cursor(prepared, values, out);
        }
        let text =
            format!("DECLARE [{NEW}] CURSOR GLOBAL {} TYPE_WARNING FOR {text}", wish.words());
        let entry = match self.prepared_program(parameters, &text) {
            Ok(entry) => entry,
            Err(errors) => return Err(self.tell_all(errors, DoneScope::InProcedure, out)),
        };
        self.state.cursors.forget(NEW);
        self.run_prepared(&entry, values, out)?;
        self.api_cursors.opened += 2;
        let handle = FIRST_HANDLE.wrapping_add(self.api_cursors.opened);
        let cursor = self.state.cursors.rename(NEW, &name_of(handle));
        let missing = || SqlError::new(messages::INTERNAL, &[&"a cursor was not declared"]);
        let cursor = cursor.ok_or_else(missing)?;
        let mut act = self.idle.take(&entry);
        let result = self.open_cursor(&cursor, &mut act);
        self.idle.give_back(act);
        if result.is_err() {
            self.state.cursors.forget(&name_of(handle));
        }
        result?;
        let (scroll, concurrency) = wish.granted(&cursor.lock());
        let rows = i32::try_from(self.state.cursors.rows).unwrap_or(i32::MAX);
        let (wish, window) = (*wish, BEFORE);
        let open = ApiCursor { cursor, wish, window, buffer: FetchBuffer::default(), alias: None };
        self.api_cursors.open.insert(handle, open);
        let first = if wish.scroll & scroll::AUTO_FETCH != 0 { first_rows.max(0) } else { 0 };
        self.fetch_api(handle, Fetch::Next, first, out)?;
        Ok(OpenResult { handle, scroll, concurrency, rows })
    }

    /// Runs a statement that can have no cursor directly, if the client allows that.
    fn run_without_cursor(
        &mut self,
        prepared: &PreparedCursor,
        values: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<OpenResult, Failure> {
        let wish = prepared.wish;
        if wish.concurrency & concurrency::ALLOW_DIRECT == 0 {
            return Err(SqlError::new(messages::CURSOR_STATEMENT, &[]).into());
        }
        out.message(&SqlError::new(messages::CURSOR_DIRECT, &[]));
        self.execute_text(&prepared.parameters, &prepared.text, values, out)?;
        Ok(OpenResult { handle: 0, scroll: 0, concurrency: 0, rows: -1 })
    }

    /// Moves the window of a cursor and sends its rows.
    pub(crate) fn fetch_api(
        &mut self,
        handle: i32,
        fetch: Fetch,
        count: i64,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        const NAME: &str = "sp_cursorfetch";
        let held = self.api_cursors.get(handle, NAME)?;
        let (cursor, wish, window) = (Arc::clone(&held.cursor), held.wish, held.window);
        let wanted = match fetch {
            Fetch::Refresh => held.buffer.rows.len(),
            _ => usize::try_from(count).unwrap_or(0),
        };
        if wish.forward_only() && !matches!(fetch, Fetch::Next | Fetch::Refresh) {
            let args: [&dyn Display; 2] = [&fetch.name(), &"forward only"];
            return Err(SqlError::new(messages::FETCH_FORWARD_ONLY, &args).into());
        }
        self.begin_if_implicit();
        let entry = cursor.lock().program();
        let mut act = self.idle.take(&entry);
        let walked = self.walk(&cursor, window, fetch, wanted, &mut act);
        self.idle.give_back(act);
        let (window, buffer) = walked?;
        let origins = self.origins(&cursor.lock());
        let mut columns = cursor.lock().columns();
        columns.push(row_status());
        out.columns(&columns)?;
        out.origins(&origins.0, &origins.1);
        for fetched in &buffer.rows {
            let width = columns.len() - 1;
            let mut row = fetched.row.clone().unwrap_or_else(|| vec![Value::Null; width]);
            row.push(Value::Int(if fetched.row.is_some() { 1 } else { 2 }));
            out.row(&row)?;
        }
        let rows = Some(buffer.rows.len() as u64);
        out.done(Completion {
            command: Command::Select,
            rows,
            ..self.state.done(DoneScope::InProcedure)
        });
        let ended = wish.scroll & scroll::AUTO_CLOSE != 0 && buffer.rows.len() < wanted;
        let kept = !cursor.lock().is_read_only();
        let held = self.api_cursors.get_mut(handle, NAME)?;
        held.window = window;
        held.buffer = buffer;
        if !kept {
            // Invariant 2.
            held.buffer.forget_rows();
        }
        if ended {
            self.close_api_cursor(handle)?;
        }
        Ok(())
    }

    /// The rows that a fetch reaches.
    fn walk(
        &mut self,
        cursor: &Mutex<Cursor>,
        window: Window,
        fetch: Fetch,
        wanted: usize,
        act: &mut Activation,
    ) -> Result<(Window, FetchBuffer), Failure> {
        let (total, kind) = {
            let cursor = cursor.lock();
            (cursor.count()?, cursor.kind())
        };
        if kind == CursorKind::Dynamic && matches!(fetch, Fetch::Absolute(_)) {
            let args: [&dyn Display; 2] = [&fetch.name(), &"dynamic"];
            return Err(SqlError::new(messages::FETCH_FORWARD_ONLY, &args).into());
        }
        let (from, back) = fetch.start(window, total);
        let mut found = self.rows_from(cursor, from, back, wanted, act)?;
        if fetch == Fetch::Prior && found.rows.len() < wanted && from > 0 {
            found = self.rows_from(cursor, 1, false, wanted, act)?;
        }
        let behind_all = Window { first: total + 1, behind: total + 1 };
        let moved = match (found.rows.front(), found.rows.back()) {
            (Some(first), Some(last)) => {
                Window { first: first.position, behind: last.position + 1 }
            }
            // No rows were asked for: only the position moves.
            _ if wanted == 0 && fetch == Fetch::Next => window,
            _ if back || from == 0 => BEFORE,
            _ => behind_all,
        };
        Ok((moved, found))
    }

    /// Reads rows from a position towards the end or the beginning. Returns them in the cursor's
    /// order.
    fn rows_from(
        &mut self,
        cursor: &Mutex<Cursor>,
        from: u64,
        back: bool,
        wanted: usize,
        act: &mut Activation,
    ) -> Result<FetchBuffer, Failure> {
        let (total, kind) = {
            let cursor = cursor.lock();
            (cursor.count()?, cursor.kind())
        };
        let mut found = FetchBuffer::default();
        let mut position = from;
        while found.rows.len() < wanted && (1..=total).contains(&position) {
            self.work.owner().waiter().check().map_err(SqlError::from)?;
            let kept = cursor.lock().at(position)?;
            let row = match (kind, kept) {
                (CursorKind::Static, row) => row,
                (_, None) => None,
                (_, Some(key)) => self.read_again(cursor, key, act)?,
            };
            if row.is_some() || kind != CursorKind::Dynamic {
                found.push(BufferedRow { position, row }, back)?;
            }
            position = if back { position - 1 } else { position + 1 };
        }
        Ok(found)
    }

    /// The names of a cursor's tables, and the origins of its columns.
    fn origins(&self, cursor: &Cursor) -> (Vec<Vec<String>>, Vec<ColumnOrigin>) {
        let tables: Vec<Vec<String>> =
            cursor.tables().map(|t| self.state.parts_of(t.database, t.object)).collect();
        let hidden = ColumnOrigin { expression: true, hidden: true, ..ColumnOrigin::default() };
        let of = |(at, column): (usize, ResultColumn)| match cursor.origins().get(at) {
            Some(Some(origin)) => ColumnOrigin {
                table: u8::try_from(origin.table + 1).unwrap_or(0),
                key: origin.key,
                name: (*origin.name != *column.name).then(|| origin.name.to_string()),
                ..ColumnOrigin::default()
            },
            _ => ColumnOrigin { expression: true, ..ColumnOrigin::default() },
        };
        let columns = cursor.columns().into_iter().enumerate().map(of).chain([hidden]).collect();
        (tables, columns)
    }

    /// Closes a cursor: invariant 1.
    pub(crate) fn close_api_cursor(&mut self, handle: i32) -> Result<(), Failure> {
        let closed = self.api_cursors.open.remove(&handle);
        let closed = closed.ok_or_else(|| unknown(handle, "sp_cursorclose"))?;
        self.state.cursors.forget(&name_of(handle));
        if let Some(alias) = closed.alias {
            self.state.cursors.forget(&alias);
        }
        Ok(())
    }

    /// Closes all API cursors.
    pub(crate) fn close_api_cursors(&mut self) -> Result<(), Failure> {
        let handles: Vec<i32> = self.api_cursors.open.keys().copied().collect();
        handles.into_iter().try_for_each(|h| self.close_api_cursor(h))
    }

    /// Gives a cursor a name that WHERE CURRENT OF can use.
    pub(crate) fn name_api_cursor(&mut self, handle: i32, name: String) -> Result<(), Failure> {
        const NAME: &str = "sp_cursoroption";
        let cursor = Arc::clone(&self.api_cursors.get(handle, NAME)?.cursor);
        self.state.cursors.put(&name, None, cursor)?;
        let held = self.api_cursors.get_mut(handle, NAME)?;
        if let Some(old) = held.alias.replace(name) {
            self.state.cursors.forget(&old);
        }
        Ok(())
    }

    /// The scrollopt and ccopt that a cursor was granted, and its number of rows.
    pub(crate) fn api_cursor_facts(&self, handle: i32) -> Result<(i32, i32, i32), Failure> {
        let held = self.api_cursors.get(handle, "sp_cursoroption")?;
        let cursor = held.cursor.lock();
        let (scroll, concurrency) = held.wish.granted(&cursor);
        let rows = match cursor.kind() {
            CursorKind::Dynamic => -1,
            _ => i32::try_from(cursor.count()?).unwrap_or(i32::MAX),
        };
        Ok((scroll, concurrency, rows))
    }

    /// The position of the first row of the fetch buffer, from 1, and the number of rows in the
    /// cursor.
    pub(crate) fn api_cursor_place(&self, handle: i32) -> Result<(i32, i32), Failure> {
        let held = self.api_cursors.get(handle, "sp_cursorfetch")?;
        let total = held.cursor.lock().count()?;
        let small = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
        let place = if held.window.first > total { -1 } else { small(held.window.first) };
        Ok((place, small(total)))
    }

    /// Changes rows of the fetch buffer. `number` counts from 1; 0 means all rows. `text` makes the
    /// statement for each row from the cursor's name.
    pub(crate) fn change_api_rows(
        &mut self,
        handle: i32,
        number: i64,
        change: &ApiChange,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        const NAME: &str = "sp_cursor";
        let held = self.api_cursors.get(handle, NAME)?;
        let cursor = Arc::clone(&held.cursor);
        let rows = match usize::try_from(number) {
            Ok(0) => 0..held.buffer.rows.len(),
            Ok(n) if n <= held.buffer.rows.len() => n - 1..n,
            _ => return Err(SqlError::new(messages::CURSOR_ROW_MISSING, &[]).into()),
        };
        if rows.is_empty() {
            return Err(SqlError::new(messages::CURSOR_NO_ROW, &[]).into());
        }
        let text = format!("{} WHERE CURRENT OF GLOBAL [{}]", change.text, name_of(handle));
        for at in rows {
            let held = self.api_cursors.get(handle, NAME)?;
            let Some(fetched) = held.buffer.rows.get(at) else { continue };
            cursor.lock().stand_on(fetched.position, fetched.row.clone())?;
            let mut values = Call { arguments: change.arguments(), ..Call::default() };
            self.execute_text(&change.parameters, &text, &mut values, out)?;
            let now = cursor.lock().standing();
            let gone = now.is_none();
            let held = self.api_cursors.get_mut(handle, NAME)?;
            let position = held.buffer.rows.get(at).map(|f| f.position);
            held.buffer.replace(at, now)?;
            if let Some(position) = position.filter(|_| gone && !change.columns.is_empty()) {
                self.follow_key(&cursor, position, change)?;
            }
        }
        Ok(())
    }

    /// The cursor of a handle.
    pub(crate) fn api_cursor(&self, handle: i32) -> Result<SharedCursor, Failure> {
        Ok(Arc::clone(&self.api_cursors.get(handle, "sp_cursor")?.cursor))
    }

    /// Makes a row of the fetch buffer the current one, or reads all of them again.
    pub(crate) fn position_api_cursor(&mut self, handle: i32, number: i64) -> Result<(), Failure> {
        let held = self.api_cursors.get(handle, "sp_cursor")?;
        let at = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let Some(fetched) = at.and_then(|at| held.buffer.rows.get(at)) else {
            return Err(SqlError::new(messages::CURSOR_ROW_MISSING, &[]).into());
        };
        held.cursor.lock().stand_on(fetched.position, fetched.row.clone())?;
        Ok(())
    }

    /// The table of a change: that of the first column which it names, or the cursor's only table.
    pub(crate) fn changed_table(&self, handle: i32, columns: &[&str]) -> Result<String, Failure> {
        let held = self.api_cursors.get(handle, "sp_cursor")?;
        let cursor = held.cursor.lock();
        if cursor.is_read_only() {
            return Err(SqlError::new(messages::CURSOR_READ_ONLY, &[]).into());
        }
        let is_first =
            |name: &str| columns.first().is_some_and(|c| crate::program::steps::same_name(c, name));
        let of_column = cursor.origins().iter().flatten().find(|o| is_first(&o.name));
        let table = cursor.tables().nth(of_column.map_or(0, |o| o.table));
        let parts = table.map_or(Vec::new(), |t| self.state.parts_of(t.database, t.object));
        if parts.is_empty() {
            return Err(SqlError::new(messages::CURSOR_OTHER_TABLE, &[]).into());
        }
        Ok(parts.iter().map(|p| bracketed(p)).collect::<Vec<_>>().join("."))
    }
}

impl State {
    /// The name of a table, part by part.
    fn parts_of(&self, database: base::DatabaseId, object: base::ObjectId) -> Vec<String> {
        let view = self.host.view(self.id(), database);
        let Some(view) = view else { return Vec::new() };
        match view.by_id(object) {
            Some(Object::Table(t)) if database == self.database.id => {
                vec![t.schema_name.to_string(), t.name.to_string()]
            }
            Some(Object::Table(t)) => {
                vec![view.name().to_owned(), t.schema_name.to_string(), t.name.to_string()]
            }
            _ => Vec::new(),
        }
    }
}

/// The column that follows the columns of the query: the state of each row.
fn row_status() -> ResultColumn {
    ResultColumn {
        name: "ROWSTAT".to_owned(),
        sql_type: SqlType::Int,
        collation: Collation::default(),
        nullable: false,
        identity: false,
        computed: true,
        untyped: false,
    }
}
