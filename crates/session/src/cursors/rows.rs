//! Rows that enter an open cursor through the cursor itself: by sp_cursor's INSERT, by sp_cursor's
//! UPDATE of a key, or by an UPDATE of a key WHERE CURRENT OF.
//!
//! Such a row follows the last row of the cursor, even if the cursor's order would put it
//! elsewhere. The row of the old key counts as gone. (From the reference: "Keyset-driven cursors".)
//! The key of a new row depends on defaults, identity values and triggers, so the INSERT writes the
//! key into a table variable.
//!
//! Invariants
//!  1. A key is added only if a row with that key exists, because a trigger may have changed
//!     something.
//!  2. The client gets the INSERT's messages and its DONE, and nothing of the table variable.
//!  3. A cursor over several tables gets no new row, because the keys of its other tables are
//!     unknown.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{
    ClosedSink, Command, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use crate::cursors::cursor::Cursor;
use crate::cursors::cursor::SharedCursor;
use crate::cursors::handles::{ApiChange, bracketed};
use crate::procedures::call::Call;
use crate::program::cursor_step::CursorKind;
use crate::program::steps::{PlaceId, same_name};
use crate::request::activation::Activation;
use crate::session::Session;
use base::{SqlError, SqlResult};
use catalog::view::{Column, Object, Table};
use os::sync::Mutex;
use std::sync::Arc;
use types::{SqlType, Value};

/// An INSERT that a client asks of a cursor.
pub(crate) struct ApiInsert {
    /// The table as the client names it, or the cursor's table.
    pub(crate) table: String,
    pub(crate) columns: Vec<String>,
    /// The declarations of its parameters, `@p0` and so on, one for each column.
    pub(crate) parameters: String,
    pub(crate) values: Vec<(SqlType, Value)>,
}

/// Receives what the INSERT of a row answers.
struct Answer {
    messages: Vec<SqlError>,
    done: Option<Completion>,
    key: Option<Vec<Value>>,
    /// The statement or call whose DONE counts.
    command: Command,
}

impl Answer {
    fn of(command: Command) -> Answer {
        Answer { messages: Vec::new(), done: None, key: None, command }
    }
}

impl ResultSink for Answer {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<(), ClosedSink> {
        self.key = None;
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        self.key = Some(values.to_vec());
        Ok(())
    }

    fn message(&mut self, message: &SqlError) {
        self.messages.push(message.clone());
    }

    fn done(&mut self, done: Completion) {
        if done.command == self.command {
            self.done = Some(done);
        }
    }

    fn return_status(&mut self, _: i32) {}

    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}

    fn environment(&mut self, _: &EnvironmentChange) {}
}

impl ApiInsert {
    /// The statement, with further text that handles the row.
    fn text(&self, output: &str) -> String {
        let names: Vec<String> = self.columns.iter().map(|c| bracketed(c)).collect();
        let marks: Vec<String> = (0..names.len()).map(|n| format!("@p{n}")).collect();
        let table = &self.table;
        match names.is_empty() {
            true => format!("INSERT {table}{output} DEFAULT VALUES"),
            false => {
                let (names, marks) = (names.join(", "), marks.join(", "));
                format!("INSERT {table} ({names}){output} VALUES ({marks})")
            }
        }
    }

    /// The same, with a query of the new row's key.
    fn text_with_key(&self, key: &[&Column]) -> String {
        const KEY: &str = "@sp_cursor_key";
        let declared: Vec<String> =
            key.iter().enumerate().map(|(n, c)| format!("k{n} {}", kept_as(c))).collect();
        let given: Vec<String> =
            key.iter().map(|c| format!("inserted.{}", bracketed(&c.name))).collect();
        let output = format!(" OUTPUT {} INTO {KEY}", given.join(", "));
        let (declared, insert) = (declared.join(", "), self.text(&output));
        format!("DECLARE {KEY} TABLE ({declared}); {insert}; SELECT * FROM {KEY}")
    }

    fn call(&self) -> Call {
        let change = ApiChange { values: self.values.clone(), ..ApiChange::of_text(String::new()) };
        Call { arguments: change.arguments(), ..Call::default() }
    }
}

/// The type of a table variable's column that holds a key column.
fn kept_as(column: &Column) -> String {
    match column.sql_type {
        SqlType::RowVersion => "binary(8)".to_owned(),
        t if t.is_character() => format!("{t} COLLATE {}", column.collation.name()),
        t => t.to_string(),
    }
}

impl Session {
    /// Inserts a row through a cursor; the cursor then contains the row.
    pub(crate) fn insert_api_row(
        &mut self,
        cursor: &SharedCursor,
        insert: &ApiInsert,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let Some((table, key)) = self.only_key(cursor, &insert.table) else {
            self.execute_text(&insert.parameters, &insert.text(""), &mut insert.call(), out)?;
            return Ok(());
        };
        let columns: Vec<&Column> = key.iter().map(|&at| &table.columns[at]).collect();
        let text = insert.text_with_key(&columns);
        let mut answer = Answer::of(Command::Insert);
        let mut own = Output::new(&mut answer);
        let result = self.execute_text(&insert.parameters, &text, &mut insert.call(), &mut own);
        let last = self.state.done(DoneScope::Procedure);
        own.finish(last);
        answer.messages.iter().for_each(|m| out.message(m));
        result?;
        let failed = answer.messages.iter().any(|m| m.severity() > 10);
        let plain =
            Completion { command: Command::Insert, ..self.state.done(DoneScope::InProcedure) };
        out.done(Completion { more: false, error: failed, ..answer.done.unwrap_or(plain) });
        match answer.key.filter(|_| !failed) {
            Some(key) => self.add_row_apart(cursor, key),
            None => Ok(()),
        }
    }

    /// Changes a cursor's row. Returns the new key if the key has changed.
    pub(crate) fn change_row(
        &mut self,
        place: PlaceId,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<Option<Vec<Value>>, Failure> {
        if !self.ready(act, place)?.plan.header.gives_key {
            return self.run_step(place, act, out, scope).map(|()| None);
        }
        let mut answer = Answer::of(Command::Update);
        let mut own = Output::new(&mut answer);
        let ran = self.run_step(place, act, &mut own, scope);
        let last = self.state.done(scope);
        own.finish(last);
        answer.messages.iter().for_each(|m| out.message(m));
        ran?;
        let counts = !self.state.settings.is_on(crate::session::settings::Switches::NOCOUNT);
        let rows = counts.then_some(self.state.last.rows);
        let done = Completion { command: Command::Update, rows, ..self.state.done(scope) };
        if self.state.tells_ends(scope) {
            out.done(done);
        }
        Ok(answer.key)
    }

    /// The table and key columns of a cursor over one table, if the name means that table.
    fn only_key(&self, cursor: &Mutex<Cursor>, name: &str) -> Option<(Arc<Table>, Vec<usize>)> {
        let cursor = cursor.lock();
        let [key] = cursor.keys() else { return None };
        if cursor.kind() == CursorKind::Static || key.placed {
            return None;
        }
        let name = tsql::parse_object_name(name).ok()?;
        match self.find_object(&name, self.state.database.id)? {
            (database, Object::Table(t))
                if database == key.table.database && t.object_id == key.table.object =>
            {
                Some((t, key.columns.clone()))
            }
            _ => None,
        }
    }

    fn add_row_apart(&mut self, cursor: &SharedCursor, key: Vec<Value>) -> Result<(), Failure> {
        let entry = cursor.lock().program();
        let mut act = self.idle.take(&entry);
        let added = self.add_row(cursor, key, &mut act);
        self.idle.give_back(act);
        added
    }

    /// Invariant 1.
    pub(crate) fn add_row(
        &mut self,
        cursor: &Mutex<Cursor>,
        key: Vec<Value>,
        act: &mut Activation,
    ) -> Result<(), Failure> {
        let rows = self.state.last.rows;
        let found = self.read_again(cursor, key.clone(), act);
        self.state.last.rows = rows;
        if found?.is_some() {
            cursor.lock().add(key)?;
        }
        Ok(())
    }

    /// A row was updated through a cursor and its key has changed: the cursor gets the new key.
    pub(crate) fn follow_key(
        &mut self,
        cursor: &SharedCursor,
        position: u64,
        change: &ApiChange,
    ) -> Result<(), Failure> {
        let Some((database, object)) = cursor.lock().only_table() else { return Ok(()) };
        // The new place of such a row is not reported.
        if cursor.lock().keys().iter().any(|k| k.placed) {
            return Ok(());
        }
        let view = self.host.view(self.state.id(), database);
        let table = match view.as_ref().and_then(|v| v.by_id(object)) {
            Some(Object::Table(t)) => t,
            _ => return Ok(()),
        };
        let (columns, old) = {
            let mut cursor = cursor.lock();
            let columns = cursor.keys().first().map_or(Vec::new(), |k| k.columns.clone());
            let standing = cursor.standing();
            let old = cursor.at(position)?;
            cursor.stand_on(position, standing)?;
            (columns, old)
        };
        let Some(mut key) = old else { return Ok(()) };
        let mut moved = false;
        for (value, at) in key.iter_mut().zip(columns) {
            let column = &table.columns[at];
            if let Some(given) = change.given(&column.name, column.sql_type)? {
                (*value, moved) = (given, true);
            }
        }
        // The UPDATE itself has added the key, unless a trigger has replaced it.
        if !moved || cursor.lock().has_added(&key) {
            return Ok(());
        }
        self.add_row_apart(cursor, key)
    }
}

impl ApiChange {
    /// The value for a column.
    fn given(&self, column: &str, to: SqlType) -> SqlResult<Option<Value>> {
        let at = self.columns.iter().position(|c| same_name(c, column));
        let Some((sql_type, value)) = at.and_then(|at| self.values.get(at)) else {
            return Ok(None);
        };
        types::convert(value, *sql_type, to, 0).map(Some)
    }
}
