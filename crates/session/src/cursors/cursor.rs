//! Cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE, cursor variables.
//!
//! A STATIC cursor reads its rows when it is opened and keeps a copy (`exec::KeptRows`). The others
//! keep the keys of their rows alone, and read a row again when it is fetched: KEYSET the row of
//! the key, whatever it says now; DYNAMIC passes over those that its WHERE has no more. So an open
//! cursor holds no executor, and no locks but SCROLL_LOCKS. A query without keys is STATIC
//! (TYPE_WARNING says so). DYNAMIC does not see rows that come after OPEN, but those that come
//! through the cursor itself, as KEYSET: they stand behind the last. SET ROWCOUNT bounds the rows
//! of STATIC and KEYSET, not of DYNAMIC and FAST_FORWARD. (Both from the reference: DECLARE CURSOR,
//! SET ROWCOUNT.)
//!
//! ```text
//!   declared → open [OPEN] → closed [CLOSE] → open …      gone when nothing names it
//! ```
//!
//! Invariants
//!  1. A local cursor or cursor variable ends with its scope; a global one with its session.
//!  2. Variables in its query have the values that they had when it was declared.
//!  3. WHERE CURRENT OF changes the row that was fetched last, by its key, if it is as it was
//!     fetched (16934).

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{Command, Done, DoneScope, ResultColumn};
use crate::cursors::parameter::SharedCursor;
use crate::program::steps::{PlaceId, Program, same_name};
use crate::request::activation::Activation;
use crate::session::Session;
use access::Spill;
use base::{SqlError, SqlResult, messages};
use catalog::view::RowKey;
use exec::{ExecContext, Executor, KeptRows, RowSink};
use os::sync::Mutex;
use os::values::Charge;
use plan::{CursorColumn, CursorKey, Reference, Statement, VariableId};
use plancache::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;
use tsql::ast;
use types::datetime::Dialect;
use types::{Collation, Value, check_implicit, convert_collated};

/// A cursor as it was declared, and its rows while it is open.
pub(crate) struct Cursor {
    program: Arc<Entry<Program>>,
    place: PlaceId,
    /// Reads a row again, by its keys.
    again: Option<PlaceId>,
    variables: Vec<Value>,
    scroll: bool,
    /// What it is: STATIC where it has no keys.
    kind: CursorKind,
    read_only: bool,
    /// FOR UPDATE OF; empty: all.
    listed: Vec<Box<str>>,
    /// SET ROWCOUNT says how many rows it gets.
    bounded: bool,
    keys: Vec<CursorKey>,
    /// What its columns are.
    origins: Vec<Option<CursorColumn>>,
    open: Option<OpenRows>,
}

/// The columns of a cursor, and the row that was fetched or its key.
type Fetched = (Vec<ResultColumn>, Option<Vec<Value>>);

/// What a cursor sees of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorKind {
    Static,
    Keyset,
    Dynamic,
}

/// The rows of an open cursor.
struct OpenRows {
    columns: Vec<ResultColumn>,
    rows: KeptRows,
    /// Behind them: keys of rows that came through the cursor itself.
    added: AddedKeys,
    /// 0 is before the first row, one more than there are behind the last.
    position: u64,
    /// The row as it was fetched last.
    fetched: Option<Vec<Value>>,
}

/// Keys that were added to an open cursor, which are charged.
#[derive(Default)]
struct AddedKeys {
    keys: Vec<Vec<Value>>,
    bytes: usize,
    charge: Charge,
}

impl AddedKeys {
    fn push(&mut self, key: Vec<Value>) -> SqlResult<()> {
        let heap: usize = key.iter().map(Value::heap_bytes).sum();
        self.bytes += 2 * size_of::<Vec<Value>>() + size_of_val(&*key) + heap;
        self.charge.cover(self.bytes)?;
        self.keys.push(key);
        Ok(())
    }
}

impl OpenRows {
    fn count(&self) -> u64 {
        self.rows.count() + self.added.keys.len() as u64
    }

    /// The keys of the row at hand.
    fn key(&mut self, width: usize) -> SqlResult<Option<Vec<Value>>> {
        let Some(row) = self.position.checked_sub(1) else { return Ok(None) };
        if let Some(behind) = row.checked_sub(self.rows.count()) {
            let at = usize::try_from(behind).ok();
            return Ok(at.and_then(|at| self.added.keys.get(at)).cloned());
        }
        let mut values = Vec::with_capacity(width);
        Ok(self.rows.read(row, width, &mut values)?.then_some(values))
    }
}

/// A name for a cursor, of a scope or of the session.
struct Named {
    name: Box<str>,
    /// The nesting level of a local name.
    level: Option<u32>,
    cursor: Option<Arc<Mutex<Cursor>>>,
}

/// The names of cursors that a session has, the innermost last.
#[derive(Default)]
pub(crate) struct Cursors {
    names: Vec<Named>,
    /// The keys that a name had last.
    known: BTreeMap<Box<str>, Vec<CursorKey>>,
    /// `@@FETCH_STATUS`
    pub(crate) fetch_status: i32,
    /// `@@CURSOR_ROWS`
    pub(crate) rows: i64,
}

/// A DECLARE CURSOR or SET `@c` = CURSOR, compiled.
#[derive(Debug)]
pub(crate) struct Declared {
    pub(crate) name: Box<str>,
    pub(crate) place: PlaceId,
    pub(crate) again: Option<PlaceId>,
    pub(crate) local: bool,
    pub(crate) scroll: bool,
    pub(crate) kind: CursorKind,
    pub(crate) read_only: bool,
    /// FOR UPDATE
    pub(crate) for_update: bool,
    /// FOR UPDATE OF
    pub(crate) listed: Vec<Box<str>>,
    /// SET ROWCOUNT bounds it: not FAST_FORWARD.
    pub(crate) bounded: bool,
    /// TYPE_WARNING
    pub(crate) warns: bool,
}

/// A statement about a cursor that is there.
#[derive(Debug)]
pub(crate) enum CursorStep {
    Declare(Declared),
    /// SET `@c` = another cursor.
    Assign {
        variable: Box<str>,
        from: ast::CursorName,
    },
    Open(ast::CursorName),
    Fetch {
        from: ast::CursorName,
        direction: Direction,
        into: Vec<VariableId>,
    },
    /// WHERE CURRENT OF: the columns that are set, none of a DELETE.
    Change {
        cursor: ast::CursorName,
        place: PlaceId,
        columns: Vec<Box<str>>,
    },
    Close(ast::CursorName),
    Deallocate(ast::CursorName),
}

/// Which row is fetched.
#[derive(Debug)]
pub(crate) enum Direction {
    Next,
    Prior,
    First,
    Last,
    Absolute(PlaceId),
    Relative(PlaceId),
}

impl CursorStep {
    /// The command of the DONE that it ends with. A declaration has none, what sends rows or
    /// changes them has its own.
    pub(crate) fn ends_with(&self) -> Option<Command> {
        match self {
            CursorStep::Declare(_) | CursorStep::Change { .. } => None,
            CursorStep::Fetch { into, .. } if into.is_empty() => None,
            CursorStep::Open(_) => Some(Command::OpenCursor),
            CursorStep::Assign { .. } => Some(Command::Set),
            CursorStep::Fetch { .. } | CursorStep::Close(_) | CursorStep::Deallocate(_) => {
                Some(Command::Other)
            }
        }
    }
}

impl Direction {
    fn name(&self) -> &'static str {
        match self {
            Direction::Next => "NEXT",
            Direction::Prior => "prior",
            Direction::First => "first",
            Direction::Last => "last",
            Direction::Absolute(_) => "absolute",
            Direction::Relative(_) => "relative",
        }
    }
}

impl Cursors {
    fn position(&self, name: &ast::CursorName, level: u32) -> Option<usize> {
        let local = |n: &Named| !name.global && n.level == Some(level);
        let own = self.names.iter().position(|n| local(n) && same_name(&n.name, &name.name));
        let global = |n: &Named| n.level.is_none() && same_name(&n.name, &name.name);
        own.or_else(|| self.names.iter().position(global))
    }

    pub(crate) fn find(&self, name: &ast::CursorName, level: u32) -> SqlResult<Arc<Mutex<Cursor>>> {
        let found = self.position(name, level).and_then(|at| self.names.get(at));
        match found.map(|n| &n.cursor) {
            Some(Some(cursor)) => Ok(Arc::clone(cursor)),
            _ if name.name.starts_with('@') => {
                Err(SqlError::new(messages::CURSOR_VARIABLE_EMPTY, &[&name.name]))
            }
            _ => Err(SqlError::new(messages::CURSOR_UNKNOWN, &[&name.name])),
        }
    }

    /// Makes a variable refer to a cursor, or to none.
    pub(crate) fn refer(&mut self, name: &str, level: u32, cursor: Option<SharedCursor>) {
        let level = Some(level);
        let same = |n: &&mut Named| n.level == level && same_name(&n.name, name);
        match self.names.iter_mut().find(same) {
            Some(held) => held.cursor = cursor,
            None => self.names.push(Named { name: name.into(), level, cursor }),
        }
    }

    /// Gives a name a cursor.
    pub(crate) fn put(
        &mut self,
        name: &str,
        level: Option<u32>,
        cursor: Arc<Mutex<Cursor>>,
    ) -> SqlResult<()> {
        let same = |n: &&mut Named| n.level == level && same_name(&n.name, name);
        match self.names.iter_mut().find(same) {
            Some(held) if name.starts_with('@') => held.cursor = Some(cursor),
            Some(_) => return Err(SqlError::new(messages::CURSOR_EXISTS, &[&name])),
            None => {
                let name = name.into();
                self.names.push(Named { name, level, cursor: Some(cursor) });
            }
        }
        Ok(())
    }

    /// Gives a global cursor another name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) -> Option<Arc<Mutex<Cursor>>> {
        let global = |n: &&mut Named| n.level.is_none() && same_name(&n.name, from);
        let named = self.names.iter_mut().find(global)?;
        named.name = to.into();
        let cursor = named.cursor.clone()?;
        let keys = cursor.lock().keys.clone();
        self.known.insert(to.to_lowercase().into(), keys);
        Some(cursor)
    }

    /// Takes a global name away.
    pub(crate) fn forget(&mut self, name: &str) {
        self.names.retain(|n| n.level.is_some() || !same_name(&n.name, name));
        self.known.remove(&*name.to_lowercase());
    }

    /// A scope ends: invariant 1.
    pub(crate) fn leave(&mut self, level: u32) {
        self.names.retain(|n| n.level.is_none_or(|l| l < level));
    }

    /// CURSOR_CLOSE_ON_COMMIT: the transaction has ended. A cursor that is at work, because a
    /// trigger of what it changes ends the transaction, stays open.
    pub(crate) fn close_all(&mut self) {
        for cursor in self.names.iter().filter_map(|n| n.cursor.as_ref()) {
            if let Some(mut cursor) = cursor.try_lock() {
                cursor.open = None;
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Cursors::default();
    }

    /// Whether a name had other keys before; it has these from now on.
    pub(crate) fn has_other_keys(&mut self, name: &str, keys: &[CursorKey]) -> bool {
        let name: Box<str> = name.to_lowercase().into();
        if self.known.get(&name).is_some_and(|known| known == keys) {
            return false;
        }
        self.known.insert(name, keys.to_vec()).is_some()
    }

    /// The keys of an updatable cursor.
    pub(crate) fn keys_of(&self, name: &str, global: bool, level: u32) -> SqlResult<Vec<RowKey>> {
        let name = ast::CursorName { global, name: ast::Name { text: name.into(), line: 0 } };
        let cursor = self.find(&name, level)?;
        let cursor = cursor.lock();
        if cursor.read_only || cursor.keys.is_empty() {
            return Err(SqlError::new(messages::CURSOR_READ_ONLY, &[]));
        }
        let key = |k: &CursorKey| (k.table.database, k.table.object, k.columns.clone(), k.placed);
        Ok(cursor.keys.iter().map(key).collect())
    }

    /// CURSOR_STATUS
    pub(crate) fn status(&self, kind: &str, name: &str, level: u32) -> i16 {
        let level = match kind.to_ascii_lowercase().as_str() {
            "global" => None,
            "local" | "variable" => Some(level),
            _ => return -3,
        };
        let found = self.names.iter().find(|n| n.level == level && same_name(&n.name, name));
        let Some(named) = found else { return -3 };
        let Some(cursor) = &named.cursor else { return -2 };
        let cursor = cursor.lock();
        match &cursor.open {
            None => -1,
            Some(_) if cursor.kind == CursorKind::Dynamic => 1,
            Some(open) => i16::from(open.count() > 0),
        }
    }
}

impl Session {
    /// Runs a statement about a cursor.
    pub(crate) fn cursor_step(
        &mut self,
        step: &CursorStep,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let level = self.state.nest_level;
        self.state.rows = 0;
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
                match self.state.cursors.position(name, level) {
                    _ if name.name.starts_with('@') => {
                        self.state.cursors.refer(&name.name, level, None);
                    }
                    Some(at) => {
                        self.state.cursors.names.remove(at);
                    }
                    None => {}
                }
            }
        }
        self.state.error = 0;
        Ok(())
    }

    /// Declares a cursor; the kind that it became.
    fn declare_cursor(
        &mut self,
        it: &Declared,
        act: &mut Activation,
    ) -> Result<CursorKind, Failure> {
        // What its query says is wrong is an error of the declaration.
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
        let level = it.local.then_some(self.state.nest_level);
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

    /// Runs something in an activation of a cursor's own program, with the variables of its
    /// declaration.
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

    /// Runs the query of a cursor; of its rows it keeps `limit`, of 0 all: `copies` of what they
    /// show, or their keys.
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
        // Of rows that are read again only the keys are kept.
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
                assign(&columns, &row, into, act, dialect, self.own_collation())?;
            }
            None => {}
        }
        self.state.cursors.fetch_status = status;
        self.state.rows = u64::from(found);
        Ok(())
    }

    /// Fetches from a cursor of keys: the row as it is now, and `@@FETCH_STATUS`.
    fn fetch_again(
        &mut self,
        cursor: &Mutex<Cursor>,
        direction: &Direction,
        count: i64,
        into: usize,
        act: &mut Activation,
    ) -> Result<(Fetched, i32), Failure> {
        let (columns, mut key) = cursor.lock().go(direction, count, into)?;
        // Rows that a DYNAMIC cursor has no more are passed over in the direction it goes.
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

    /// The row of a key as it is now.
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
        if self.state.rows == 0 {
            return Err(SqlError::new(messages::CURSOR_NOTHING_CHANGED, &[]).into());
        }
        let rows = self.state.rows;
        let now = self.read_again(cursor, key, act)?;
        self.state.rows = rows;
        if let Some(open) = &mut cursor.lock().open {
            open.fetched = now;
        }
        let keyset = cursor.lock().kind == CursorKind::Keyset;
        match moved_to.filter(|_| keyset) {
            Some(key) => self.add_row(cursor, key, act),
            None => Ok(()),
        }
    }

    /// A fetched row as a result set of its own.
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
        out.done(Done { command: Command::Select, rows, ..self.done(scope) });
        Ok(())
    }
}

impl Cursor {
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The keys that its rows are read again by.
    pub(crate) fn keys(&self) -> &[CursorKey] {
        &self.keys
    }

    pub(crate) fn kind(&self) -> CursorKind {
        self.kind
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    pub(crate) fn program(&self) -> Arc<Entry<Program>> {
        Arc::clone(&self.program)
    }

    /// The table of a cursor that reads one.
    pub(crate) fn only_table(&self) -> Option<(base::DatabaseId, base::ObjectId)> {
        match &*self.keys {
            [key] => Some((key.table.database, key.table.object)),
            _ => None,
        }
    }

    /// The tables that its keys are of.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Reference> {
        self.keys.iter().map(|k| &k.table)
    }

    /// The columns that it shows.
    pub(crate) fn columns(&self) -> Vec<ResultColumn> {
        self.open.as_ref().map_or(Vec::new(), |o| o.columns.clone())
    }

    /// What its columns are; fewer where nothing is known of them.
    pub(crate) fn origins(&self) -> &[Option<CursorColumn>] {
        &self.origins
    }

    fn opened(&mut self) -> SqlResult<&mut OpenRows> {
        self.open.as_mut().ok_or_else(|| SqlError::new(messages::CURSOR_NOT_OPEN, &[]))
    }

    /// How many rows it has; of a DYNAMIC one how many it had.
    pub(crate) fn count(&self) -> SqlResult<u64> {
        let open = self.open.as_ref();
        open.map(OpenRows::count).ok_or_else(|| SqlError::new(messages::CURSOR_NOT_OPEN, &[]))
    }

    /// What is kept of the row at a place, counted from 1: the row of a STATIC one, else its key.
    pub(crate) fn at(&mut self, position: u64) -> SqlResult<Option<Vec<Value>>> {
        let keys = self.keys.iter().map(|k| k.width()).sum();
        let is_static = self.kind == CursorKind::Static;
        let open = self.opened()?;
        let width = if is_static { open.columns.len() } else { keys };
        open.position = position;
        open.key(width)
    }

    /// Adds a row behind the last: one that came through the cursor.
    pub(crate) fn add(&mut self, key: Vec<Value>) -> SqlResult<()> {
        self.opened()?.added.push(key)
    }

    /// Whether this is the row that was added last.
    pub(crate) fn has_added(&self, key: &[Value]) -> bool {
        self.open.as_ref().and_then(|open| open.added.keys.last()).is_some_and(|last| last == key)
    }

    /// Makes a row the current one, as it was fetched.
    pub(crate) fn stand_on(&mut self, position: u64, row: Option<Vec<Value>>) -> SqlResult<()> {
        let open = self.opened()?;
        (open.position, open.fetched) = (position, row);
        Ok(())
    }

    /// The current row, as far as it is there.
    pub(crate) fn standing(&self) -> Option<Vec<Value>> {
        self.open.as_ref()?.fetched.clone()
    }

    /// Moves to a row, and gives it where there is one. `into` is how many variables want it.
    fn fetch(&mut self, direction: &Direction, count: i64, into: usize) -> SqlResult<Fetched> {
        let width = self.open.as_ref().map_or(0, |o| o.columns.len());
        self.moved_to(direction, count, into, width)
    }

    /// Moves to a row, and gives its key where there is one.
    fn go(&mut self, direction: &Direction, count: i64, into: usize) -> SqlResult<Fetched> {
        if self.kind == CursorKind::Dynamic && matches!(direction, Direction::Absolute(_)) {
            let args: [&dyn std::fmt::Display; 2] = [&direction.name(), &"dynamic"];
            return Err(SqlError::new(messages::FETCH_FORWARD_ONLY, &args));
        }
        let width = self.keys.iter().map(|k| k.width()).sum();
        self.moved_to(direction, count, into, width)
    }

    fn moved_to(
        &mut self,
        direction: &Direction,
        count: i64,
        into: usize,
        width: usize,
    ) -> SqlResult<Fetched> {
        if !self.scroll && !matches!(direction, Direction::Next) {
            let args: [&dyn std::fmt::Display; 2] = [&direction.name(), &"forward only"];
            return Err(SqlError::new(messages::FETCH_FORWARD_ONLY, &args));
        }
        let Some(open) = self.open.as_mut() else {
            return Err(SqlError::new(messages::CURSOR_NOT_OPEN, &[]).with_state(2));
        };
        if into != 0 && into != open.columns.len() {
            return Err(SqlError::new(messages::FETCH_INTO_COUNT, &[]));
        }
        open.position = moved(open.position, open.count(), direction, count);
        open.fetched = None;
        Ok((open.columns.clone(), open.key(width)?))
    }

    /// The key of the row that was fetched last, and the row as it was.
    fn current(&mut self, columns: &[Box<str>]) -> SqlResult<(Vec<Value>, Vec<Value>)> {
        let fail = |message| Err(SqlError::new(message, &[]));
        let width = self.keys.iter().map(|k| k.width()).sum();
        let Some(open) = self.open.as_mut() else { return fail(messages::CURSOR_NOT_OPEN) };
        if self.read_only {
            return fail(messages::CURSOR_READ_ONLY);
        }
        let unlisted = |c: &str| !self.listed.iter().any(|l| same_name(l, c));
        if !self.listed.is_empty() && columns.iter().any(|c| unlisted(c)) {
            return fail(messages::CURSOR_COLUMN_NOT_LISTED);
        }
        let Some(key) = open.key(width)? else { return fail(messages::CURSOR_NO_ROW) };
        match open.fetched.clone() {
            Some(fetched) => Ok((key, fetched)),
            None => fail(messages::CURSOR_ROW_MISSING),
        }
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

/// Where a fetch leads from a position.
fn moved(from: u64, count: u64, direction: &Direction, n: i64) -> u64 {
    let behind = count + 1;
    let by = |from: u64, n: i64| match n < 0 {
        true => from.saturating_sub(n.unsigned_abs()),
        false => from.saturating_add(n.unsigned_abs()).min(behind),
    };
    match direction {
        Direction::Next => by(from, 1),
        Direction::Prior => by(from, -1),
        Direction::First => 1.min(behind),
        Direction::Last => count,
        Direction::Absolute(_) if n < 0 => by(behind, n),
        Direction::Absolute(_) => by(0, n),
        Direction::Relative(_) => by(from, n),
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
    /// The columns that are kept.
    kept: std::ops::Range<usize>,
    /// 0 for all.
    limit: u64,
    /// The limit was reached: the error that ended the query is none.
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
