//! Cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE, cursor variables.
//!
//! A STATIC cursor reads its rows at OPEN and keeps a copy (`exec::KeptRows`). The other kinds keep
//! only the keys of their rows and read a row again when it is fetched. KEYSET returns the row of
//! the key, whatever its columns are now. DYNAMIC skips rows that its WHERE clause no longer
//! admits. So an open cursor holds no executor, and no locks except SCROLL_LOCKS.
//!
//! A query without keys gets a STATIC cursor (TYPE_WARNING reports this). DYNAMIC does not see rows
//! that others insert after OPEN. Like KEYSET, it sees rows that are inserted through the cursor
//! itself, behind the last row. SET ROWCOUNT limits the rows of STATIC and KEYSET, not of DYNAMIC
//! and FAST_FORWARD. (Both from the reference: DECLARE CURSOR, SET ROWCOUNT.)
//!
//! ```text
//!   declared → open [OPEN] → closed [CLOSE] → open …      gone when nothing names it
//! ```
//!
//! Invariants
//!  1. A local cursor or cursor variable ends with its scope; a global cursor ends with its
//!     session.
//!  2. Variables in the cursor's query have the values that they had at DECLARE.
//!  3. WHERE CURRENT OF changes the row that was fetched last, by its key, if that row is still as
//!     it was fetched (16934).

use crate::answer::sink::ResultColumn;
use crate::program::cursor_step::{CursorKind, Direction};
use crate::program::steps::{PlaceId, Program, same_name};
use base::{SqlError, SqlResult, messages};
use catalog::view::RowKey;
use exec::KeptRows;
use os::sync::Mutex;
use os::values::Charge;
use plan::{CursorColumn, CursorKey, Reference};
use plancache::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;
use tsql::ast;
use types::Value;

/// A declared cursor, and its rows while it is open.
pub(crate) struct Cursor {
    pub(super) program: Arc<Entry<Program>>,
    pub(super) place: PlaceId,
    /// The place that reads a row again, by its keys.
    pub(super) again: Option<PlaceId>,
    pub(super) variables: Vec<Value>,
    pub(super) scroll: bool,
    /// The granted kind: STATIC if the query has no keys.
    pub(super) kind: CursorKind,
    pub(super) read_only: bool,
    /// The columns of FOR UPDATE OF; empty for all.
    pub(super) listed: Vec<Box<str>>,
    /// Whether SET ROWCOUNT limits its rows.
    pub(super) bounded: bool,
    pub(super) keys: Vec<CursorKey>,
    /// The origins of its columns.
    pub(super) origins: Vec<Option<CursorColumn>>,
    pub(super) open: Option<OpenRows>,
}

/// A cursor that several names refer to.
pub(crate) type SharedCursor = Arc<Mutex<Cursor>>;

/// The columns of a cursor, and the fetched row or its key.
pub(super) type FetchedRow = (Vec<ResultColumn>, Option<Vec<Value>>);

/// The rows of an open cursor.
pub(super) struct OpenRows {
    pub(super) columns: Vec<ResultColumn>,
    pub(super) rows: KeptRows,
    /// The keys of rows that were inserted through the cursor. They follow the other rows.
    pub(super) added: AddedKeys,
    /// 0 is before the first row; the number of rows plus one is behind the last.
    pub(super) position: u64,
    /// The row as it was fetched last.
    pub(super) fetched: Option<Vec<Value>>,
}

/// Keys that were added to an open cursor. Their memory is charged.
#[derive(Default)]
pub(super) struct AddedKeys {
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
    pub(super) fn count(&self) -> u64 {
        self.rows.count() + self.added.keys.len() as u64
    }

    /// The key of the current row.
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

/// A name for a cursor, in a scope or in the session.
struct CursorBinding {
    name: Box<str>,
    /// The nesting level of a local name.
    level: Option<u32>,
    cursor: Option<Arc<Mutex<Cursor>>>,
}

/// The cursor names of a session, innermost scope last.
#[derive(Default)]
pub(crate) struct Cursors {
    names: Vec<CursorBinding>,
    /// The keys that each name had last.
    known: BTreeMap<Box<str>, Vec<CursorKey>>,
    /// `@@FETCH_STATUS`
    pub(crate) fetch_status: i32,
    /// `@@CURSOR_ROWS`
    pub(crate) rows: i64,
}

impl Cursors {
    fn position(&self, name: &ast::CursorName, level: u32) -> Option<usize> {
        let local = |n: &CursorBinding| !name.global && n.level == Some(level);
        let own = self.names.iter().position(|n| local(n) && same_name(&n.name, &name.name));
        let global = |n: &CursorBinding| n.level.is_none() && same_name(&n.name, &name.name);
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
        let same = |n: &&mut CursorBinding| n.level == level && same_name(&n.name, name);
        match self.names.iter_mut().find(same) {
            Some(held) => held.cursor = cursor,
            None => self.names.push(CursorBinding { name: name.into(), level, cursor }),
        }
    }

    /// Binds a name to a cursor.
    pub(crate) fn put(
        &mut self,
        name: &str,
        level: Option<u32>,
        cursor: Arc<Mutex<Cursor>>,
    ) -> SqlResult<()> {
        let same = |n: &&mut CursorBinding| n.level == level && same_name(&n.name, name);
        match self.names.iter_mut().find(same) {
            Some(held) if name.starts_with('@') => held.cursor = Some(cursor),
            Some(_) => return Err(SqlError::new(messages::CURSOR_EXISTS, &[&name])),
            None => {
                let name = name.into();
                self.names.push(CursorBinding { name, level, cursor: Some(cursor) });
            }
        }
        Ok(())
    }

    /// Gives a global cursor another name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) -> Option<Arc<Mutex<Cursor>>> {
        let global = |n: &&mut CursorBinding| n.level.is_none() && same_name(&n.name, from);
        let named = self.names.iter_mut().find(global)?;
        named.name = to.into();
        let cursor = named.cursor.clone()?;
        let keys = cursor.lock().keys.clone();
        self.known.insert(to.to_lowercase().into(), keys);
        Some(cursor)
    }

    /// Removes a global name.
    pub(crate) fn forget(&mut self, name: &str) {
        self.names.retain(|n| n.level.is_some() || !same_name(&n.name, name));
        self.known.remove(&*name.to_lowercase());
    }

    /// Removes the name that a statement at a nesting level means.
    pub(super) fn deallocate(&mut self, name: &ast::CursorName, level: u32) {
        match self.position(name, level) {
            _ if name.name.starts_with('@') => self.refer(&name.name, level, None),
            Some(at) => {
                self.names.remove(at);
            }
            None => {}
        }
    }

    /// A scope has ended: invariant 1.
    pub(crate) fn leave(&mut self, level: u32) {
        self.names.retain(|n| n.level.is_none_or(|l| l < level));
    }

    /// CURSOR_CLOSE_ON_COMMIT: the transaction has ended. A cursor that is in use stays open, as
    /// when a trigger of the cursor's own change ends the transaction.
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

    /// Whether a name had other keys before. Records the new keys.
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

impl Cursor {
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The keys by which its rows are read again.
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

    /// The tables of its keys.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Reference> {
        self.keys.iter().map(|k| &k.table)
    }

    /// The columns that it shows.
    pub(crate) fn columns(&self) -> Vec<ResultColumn> {
        self.open.as_ref().map_or(Vec::new(), |o| o.columns.clone())
    }

    /// The origins of its columns; shorter than the columns if some are unknown.
    pub(crate) fn origins(&self) -> &[Option<CursorColumn>] {
        &self.origins
    }

    fn opened(&mut self) -> SqlResult<&mut OpenRows> {
        self.open.as_mut().ok_or_else(|| SqlError::new(messages::CURSOR_NOT_OPEN, &[]))
    }

    /// The number of its rows; for a DYNAMIC cursor the number at OPEN.
    pub(crate) fn count(&self) -> SqlResult<u64> {
        let open = self.open.as_ref();
        open.map(OpenRows::count).ok_or_else(|| SqlError::new(messages::CURSOR_NOT_OPEN, &[]))
    }

    /// What is kept of the row at a position, counted from 1: the row of a STATIC cursor, else the
    /// key.
    pub(crate) fn at(&mut self, position: u64) -> SqlResult<Option<Vec<Value>>> {
        let keys = self.keys.iter().map(|k| k.width()).sum();
        let is_static = self.kind == CursorKind::Static;
        let open = self.opened()?;
        let width = if is_static { open.columns.len() } else { keys };
        open.position = position;
        open.key(width)
    }

    /// Adds a row behind the last: a row that was inserted through the cursor.
    pub(crate) fn add(&mut self, key: Vec<Value>) -> SqlResult<()> {
        self.opened()?.added.push(key)
    }

    /// Whether this is the row that was added last.
    pub(crate) fn has_added(&self, key: &[Value]) -> bool {
        self.open.as_ref().and_then(|open| open.added.keys.last()).is_some_and(|last| last == key)
    }

    /// Makes a row the current one, with its columns as they were fetched.
    pub(crate) fn stand_on(&mut self, position: u64, row: Option<Vec<Value>>) -> SqlResult<()> {
        let open = self.opened()?;
        (open.position, open.fetched) = (position, row);
        Ok(())
    }

    /// The current row, if it exists.
    pub(crate) fn standing(&self) -> Option<Vec<Value>> {
        self.open.as_ref()?.fetched.clone()
    }

    /// Moves to a row and returns it if it exists. `into` is the number of INTO variables.
    pub(super) fn fetch(
        &mut self,
        direction: &Direction,
        count: i64,
        into: usize,
    ) -> SqlResult<FetchedRow> {
        let width = self.open.as_ref().map_or(0, |o| o.columns.len());
        self.moved_to(direction, count, into, width)
    }

    /// Moves to a row and returns its key if it exists.
    pub(super) fn go(
        &mut self,
        direction: &Direction,
        count: i64,
        into: usize,
    ) -> SqlResult<FetchedRow> {
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
    ) -> SqlResult<FetchedRow> {
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

    /// The key of the row that was fetched last, and the row as it was fetched.
    pub(super) fn current(&mut self, columns: &[Box<str>]) -> SqlResult<(Vec<Value>, Vec<Value>)> {
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

/// The position that a fetch reaches from another position.
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
