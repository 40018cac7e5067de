//! Statements about cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE, and changes WHERE CURRENT OF.
//! `cursor.rs` describes cursors and has the rules.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{Command, Completion, DoneScope, ResultColumn};
use crate::cursors::cursor::{AddedKeys, Cursor, FetchedRow, OpenRows};
use crate::program::cursor_step::{CursorDeclaration, CursorKind, CursorStep, Direction};
use crate::program::steps::{PlaceId, Program};
use crate::request::activation::Activation;
use crate::session::Session;
use access::Spill;
use base::{SqlError, SqlResult, messages};
use exec::{ExecContext, Executor, KeptRows, RowSink};
use os::sync::Mutex;
use plan::{Statement, VariableId};
use plancache::Entry;
use std::sync::Arc;
use types::datetime::Dialect;
use types::{Collation, Value, check_implicit, convert_collated};

impl Session {
    /// Runs a statement about a cursor.
    pub(crate) fn cursor_step(
        &mut self,
        step: &CursorStep,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let level = self.state.nesting.level;
        self.state.last.rows = 0;
        match step {
            CursorStep::Declare(declared) => {
                self.begin_if_implicit();
                let kind = self.declare_cursor(declared, act)?;
                if declared.warns && kind != declared.kind {
                    out.message(&SqlError::new(messages::CURSOR_CONVERTED, &[]));
                }
            }
            CursorStep::Assign { variable, from } => {
                let cursor = self.state.cursors.find(from, level)?;
                self.state.refer(variable, level, cursor);
            }
            CursorStep::Open(name) => {
                let cursor = self.state.cursors.find(name, level)?;
                self.begin_if_implicit();
                self.open_cursor(&cursor, act)?;
            }
            CursorStep::Fetch { from, direction, into } => {
                let cursor = self.state.cursors.find(from, level)?;
                self.begin_if_implicit();
                self.fetch(&cursor, direction, into, act, out, scope)?;
            }
            CursorStep::Change { cursor, place, columns } => {
                let cursor = self.state.cursors.find(cursor, level)?;
                return self.change_current(&cursor, *place, columns, act, out, scope);
            }
            CursorStep::Close(name) => {
                let cursor = self.state.cursors.find(name, level)?;
                if cursor.lock().open.take().is_none() {
                    return Err(SqlError::new(messages::CURSOR_NOT_OPEN, &[]).into());
                }
            }
            CursorStep::Deallocate(name) => {
                self.state.cursors.find(name, level)?;
                self.state.cursors.deallocate(name, level);
            }
        }
        self.state.last.error = 0;
        Ok(())
    }

    /// Declares a cursor. Returns the kind that was granted.
    fn declare_cursor(
        &mut self,
        it: &CursorDeclaration,
        act: &mut Activation,
    ) -> Result<CursorKind, Failure> {
        // An error in the query is an error of the declaration.
        let header = &self.ready(act, it.place)?.plan.header;
        let (keys, origins) = (header.cursor.clone(), header.cursor_columns.clone());
        // A KEYSET cursor needs unique keys.
        let placed = keys.iter().any(|k| k.placed);
        let copies = keys.is_empty() || placed && it.kind == CursorKind::Keyset;
        let (keys, kind) = match copies {
            true => (Vec::new(), CursorKind::Static),
            false => (keys, it.kind),
        };
        if keys.is_empty() && it.for_update {
            return Err(SqlError::new(messages::CURSOR_UPDATE_READ_ONLY, &[]).into());
        }
        let level = it.local.then_some(self.state.nesting.level);
        let cursor = Cursor {
            program: Arc::clone(&act.program),
            place: it.place,
            again: it.again,
            variables: act.variables.clone(),
            scroll: it.scroll,
            kind,
            read_only: it.read_only || keys.is_empty(),
            listed: it.listed.clone(),
            bounded: it.bounded,
            keys,
            origins,
            open: None,
        };
        self.state.note_cursor(&it.name, &cursor.keys);
        self.state.cursors.put(&it.name, level, Arc::new(Mutex::new(cursor)))?;
        Ok(kind)
    }

    pub(crate) fn open_cursor(
        &mut self,
        cursor: &Mutex<Cursor>,
        act: &mut Activation,
    ) -> Result<(), Failure> {
        let (program, place, variables, bounded, copies) = {
            let cursor = cursor.lock();
            if cursor.open.is_some() {
                return Err(SqlError::new(messages::CURSOR_OPEN, &[]).into());
            }
            let bounded = cursor.bounded && cursor.kind != CursorKind::Dynamic;
            let (program, variables) = (Arc::clone(&cursor.program), cursor.variables.clone());
            (program, cursor.place, variables, bounded, cursor.kind == CursorKind::Static)
        };
        let limit = if bounded { self.state.settings.row_count } else { 0 };
        let opened = self.within_cursor(&program, variables, act, |s, act| {
            s.read_cursor(act, place, limit, copies)
        })?;
        let mut cursor = cursor.lock();
        self.state.cursors.rows = match cursor.kind {
            CursorKind::Dynamic => -1,
            _ => i64::try_from(opened.count()).unwrap_or(i64::MAX),
        };
        cursor.open = Some(opened);
        Ok(())
    }

    /// Runs something in an activation of the cursor's own program, with the values that variables
    /// had at the declaration.
    fn within_cursor<T>(
        &mut self,
        program: &Arc<Entry<Program>>,
        variables: Vec<Value>,
        act: &mut Activation,
        run: impl FnOnce(&mut Session, &mut Activation) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if Arc::ptr_eq(program, &act.program) {
            let own = std::mem::replace(&mut act.variables, variables);
            let result = run(self, act);
            act.variables = own;
            return result;
        }
        let mut other = self.idle.take(program);
        other.variables = variables;
        let result = run(self, &mut other);
        other.variables.resize(program.value.variables.len(), Value::Null);
        self.drop_tables(&mut other);
        self.idle.give_back(other);
        result
    }

    /// Runs the query of a cursor and keeps at most `limit` rows (0 for all). `copies`: keeps the
    /// shown columns, else the keys.
    fn read_cursor(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        limit: u64,
        copies: bool,
    ) -> Result<OpenRows, Failure> {
        os::values::keep()?;
        let ready = self.ready(act, place)?;
        let mut columns = ready.columns.clone();
        let touches = !ready.plan.header.references.is_empty();
        let keys: usize = ready.plan.header.cursor.iter().map(|k| k.width()).sum();
        let shown = columns.len().saturating_sub(keys);
        debug_assert!(matches!(ready.plan.statement, Statement::Query(_)), "a cursor is a query");
        let host = Arc::clone(&self.host);
        // Of rows that are read again, only the keys are kept.
        let kept = if copies { 0..shown } else { shown..shown + keys };
        let rows = KeptRows::default();
        let mut keeper = Keeper { rows, spill: host.spill(), kept, limit, enough: false };
        columns.truncate(shown);
        let run = |e: &mut Executor, c: &mut ExecContext<'_>| match e.run(c, &mut keeper) {
            Err(_) if keeper.enough => Ok(()),
            other => other.map(|_| ()),
        };
        match touches {
            true => self.within_transaction(act, place, run)?,
            false => self.with_context(act, place, run)?,
        }
        let (rows, added) = (keeper.rows, AddedKeys::default());
        Ok(OpenRows { columns, rows, added, position: 0, fetched: None })
    }

    fn fetch(
        &mut self,
        cursor: &Mutex<Cursor>,
        direction: &Direction,
        into: &[VariableId],
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let count = match direction {
            Direction::Absolute(place) | Direction::Relative(place) => {
                self.value(act, *place)?.as_i64().unwrap_or(0)
            }
            _ => 0,
        };
        let keyed = cursor.lock().kind != CursorKind::Static;
        let ((columns, row), status) = match keyed {
            false => {
                let fetched = cursor.lock().fetch(direction, count, into.len())?;
                let status = if fetched.1.is_some() { 0 } else { -1 };
                (fetched, status)
            }
            true => self.fetch_again(cursor, direction, count, into.len(), act)?,
        };
        let found = row.is_some();
        match row {
            row if into.is_empty() => self.send_fetched(&columns, row.as_ref(), out, scope)?,
            Some(row) => {
                let dialect = self.state.settings.dialect();
                assign(&columns, &row, into, act, dialect, self.state.own_collation())?;
            }
            None => {}
        }
        self.state.cursors.fetch_status = status;
        self.state.last.rows = u64::from(found);
        Ok(())
    }

    /// Fetches from a cursor that keeps keys. Returns the current row, and `@@FETCH_STATUS`.
    fn fetch_again(
        &mut self,
        cursor: &Mutex<Cursor>,
        direction: &Direction,
        count: i64,
        into: usize,
        act: &mut Activation,
    ) -> Result<(FetchedRow, i32), Failure> {
        let (columns, mut key) = cursor.lock().go(direction, count, into)?;
        // A DYNAMIC cursor skips rows that are gone, in the direction of the fetch.
        let back = matches!(direction, Direction::Prior | Direction::Last) || count < 0;
        let onward = if back { Direction::Prior } else { Direction::Next };
        loop {
            let Some(values) = key else { return Ok(((columns, None), -1)) };
            self.work.owner().waiter().check().map_err(SqlError::from)?;
            let row = self.read_again(cursor, values, act)?;
            let mut held = cursor.lock();
            let dynamic = held.kind == CursorKind::Dynamic;
            if let Some(open) = &mut held.open {
                open.fetched.clone_from(&row);
            }
            match row {
                Some(row) => return Ok(((columns, Some(row)), 0)),
                None if !dynamic => return Ok(((columns, None), -2)),
                None => key = held.go(&onward, 0, 0)?.1,
            }
        }
    }

    /// The current row of a key.
    pub(crate) fn read_again(
        &mut self,
        cursor: &Mutex<Cursor>,
        key: Vec<Value>,
        act: &mut Activation,
    ) -> Result<Option<Vec<Value>>, Failure> {
        let (program, place, mut variables) = {
            let cursor = cursor.lock();
            let missing = || SqlError::new(messages::INTERNAL, &[&"a cursor reads nothing again"]);
            let place = cursor.again.ok_or_else(missing)?;
            (Arc::clone(&cursor.program), place, cursor.variables.clone())
        };
        variables.resize(program.value.variables.len(), Value::Null);
        variables.extend(key);
        self.within_cursor(&program, variables, act, |s, act| {
            s.ready(act, place)?;
            let mut first = FirstRow(None);
            s.within_transaction(act, place, |e, c| e.run(c, &mut first).map(|_| ()))?;
            Ok(first.0)
        })
    }

    /// UPDATE or DELETE … WHERE CURRENT OF: invariant 3.
    fn change_current(
        &mut self,
        cursor: &Mutex<Cursor>,
        place: PlaceId,
        columns: &[Box<str>],
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let (key, fetched) = cursor.lock().current(columns)?;
        let now = self.read_again(cursor, key.clone(), act)?;
        match now {
            None => return Err(SqlError::new(messages::CURSOR_ROW_MISSING, &[]).into()),
            Some(now) if now != fetched => {
                return Err(SqlError::new(messages::CURSOR_ROW_CHANGED, &[]).into());
            }
            Some(_) => {}
        }
        let first = act.program.value.variables.len();
        act.variables.truncate(first);
        act.variables.extend(key.iter().cloned());
        let ran = self.change_row(place, act, out, scope);
        act.variables.truncate(first);
        let moved_to = ran?;
        if self.state.last.rows == 0 {
            return Err(SqlError::new(messages::CURSOR_NOTHING_CHANGED, &[]).into());
        }
        let rows = self.state.last.rows;
        let now = self.read_again(cursor, key, act)?;
        self.state.last.rows = rows;
        if let Some(open) = &mut cursor.lock().open {
            open.fetched = now;
        }
        let keyset = cursor.lock().kind == CursorKind::Keyset;
        match moved_to.filter(|_| keyset) {
            Some(key) => self.add_row(cursor, key, act),
            None => Ok(()),
        }
    }

    /// Sends a fetched row as a result set of its own.
    fn send_fetched(
        &self,
        columns: &[ResultColumn],
        row: Option<&Vec<Value>>,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        out.columns(columns)?;
        if let Some(row) = row {
            out.row(row)?;
        }
        let counts = !self.state.settings.is_on(crate::session::settings::Switches::NOCOUNT);
        let rows = counts.then_some(u64::from(row.is_some()));
        out.done(Completion { command: Command::Select, rows, ..self.state.done(scope) });
        Ok(())
    }
}

/// The first row of a query.
struct FirstRow(Option<Vec<Value>>);

impl RowSink for FirstRow {
    fn row(&mut self, values: &[Value]) -> SqlResult<()> {
        self.0.get_or_insert_with(|| values.to_vec());
        Ok(())
    }
}

/// FETCH … INTO
fn assign(
    columns: &[ResultColumn],
    values: &[Value],
    into: &[VariableId],
    act: &mut Activation,
    dialect: Dialect,
    names: Collation,
) -> SqlResult<()> {
    let program = Arc::clone(&act.program);
    for ((column, value), variable) in columns.iter().zip(values).zip(into) {
        let at = variable.0 as usize;
        let wanted = program.value.variables[at].sql_type;
        check_implicit(column.sql_type, wanted)?;
        // Variables have the collation of the database.
        let collations = (column.collation, names);
        act.variables[at] =
            convert_collated(value, column.sql_type, wanted, 0, dialect, collations)?;
    }
    Ok(())
}

/// Keeps the rows of a query.
struct Keeper<'s> {
    rows: KeptRows,
    spill: &'s dyn Spill,
    /// The columns to keep.
    kept: std::ops::Range<usize>,
    /// The most rows to keep; 0 for all.
    limit: u64,
    /// Whether the limit was reached. The error that then ended the query is not a failure.
    enough: bool,
}

impl RowSink for Keeper<'_> {
    fn row(&mut self, values: &[Value]) -> SqlResult<()> {
        if self.limit != 0 && self.rows.count() == self.limit {
            self.enough = true;
            return Err(SqlError::new(messages::ATTENTION, &[]));
        }
        self.rows.push(self.spill, values.get(self.kept.clone()).unwrap_or_default())
    }
}
