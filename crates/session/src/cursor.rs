//! Cursors: DECLARE, OPEN, FETCH, CLOSE, DEALLOCATE, cursor variables.
//!
//! Every cursor reads its rows when it is opened and keeps a copy (`exec::KeptRows`): what SQL
//! Server documents of STATIC, and of other kinds where it converts them. So a cursor that is
//! open holds no locks and no executor, and does not see later changes; it is read only.
//!
//! ```text
//!   declared → open [OPEN] → closed [CLOSE] → open …      gone when nothing names it
//! ```
//!
//! Invariants
//!  1. A local cursor or cursor variable ends with its scope; a global one with its session.
//!  2. Variables in its query have the values that they had when it was declared.

use crate::activation::Activation;
use crate::failure::Failure;
use crate::output::Output;
use crate::plans::{PlaceId, Program, same_name};
use crate::session::Session;
use crate::sink::{Command, Done, DoneScope, ResultColumn};
use access::Spill;
use base::{SqlError, SqlResult, messages};
use exec::{ExecContext, Executor, KeptRows, RowSink};
use os::sync::Mutex;
use plan::{Statement, VariableId};
use plancache::Entry;
use std::sync::Arc;
use tsql::ast;
use types::{Value, check_implicit, convert};

/// A cursor as it was declared, and its rows while it is open.
pub(crate) struct Cursor {
    program: Arc<Entry<Program>>,
    place: PlaceId,
    variables: Vec<Value>,
    scroll: bool,
    open: Option<OpenRows>,
}

/// The rows of an open cursor.
struct OpenRows {
    columns: Vec<ResultColumn>,
    rows: KeptRows,
    /// 0 is before the first row, one more than there are behind the last.
    position: u64,
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
    pub(crate) local: bool,
    pub(crate) scroll: bool,
    /// TYPE_WARNING of a kind that becomes STATIC.
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

    fn find(&self, name: &ast::CursorName, level: u32) -> SqlResult<Arc<Mutex<Cursor>>> {
        let found = self.position(name, level).and_then(|at| self.names.get(at));
        match found.map(|n| &n.cursor) {
            Some(Some(cursor)) => Ok(Arc::clone(cursor)),
            _ if name.name.starts_with('@') => {
                Err(SqlError::new(messages::CURSOR_VARIABLE_EMPTY, &[&name.name]))
            }
            _ => Err(SqlError::new(messages::CURSOR_UNKNOWN, &[&name.name])),
        }
    }

    /// Gives a name a cursor.
    fn put(&mut self, name: &str, level: Option<u32>, cursor: Arc<Mutex<Cursor>>) -> SqlResult<()> {
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

    /// A scope ends: invariant 1.
    pub(crate) fn leave(&mut self, level: u32) {
        self.names.retain(|n| n.level.is_none_or(|l| l < level));
    }

    pub(crate) fn clear(&mut self) {
        *self = Cursors::default();
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
        match &cursor.lock().open {
            None => -1,
            Some(open) => i16::from(open.rows.count() > 0),
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
                self.declare_cursor(declared, act)?;
                if declared.warns {
                    out.message(&SqlError::new(messages::CURSOR_CONVERTED, &[]));
                }
            }
            CursorStep::Assign { variable, from } => {
                let cursor = self.state.cursors.find(from, level)?;
                self.state.cursors.put(variable, Some(level), cursor)?;
            }
            CursorStep::Open(name) => {
                let cursor = self.state.cursors.find(name, level)?;
                self.open_cursor(&cursor, act)?;
            }
            CursorStep::Fetch { from, direction, into } => {
                let cursor = self.state.cursors.find(from, level)?;
                self.fetch(&cursor, direction, into, act, out, scope)?;
            }
            CursorStep::Close(name) => {
                let cursor = self.state.cursors.find(name, level)?;
                if cursor.lock().open.take().is_none() {
                    return Err(SqlError::new(messages::CURSOR_NOT_OPEN, &[]).into());
                }
            }
            CursorStep::Deallocate(name) => {
                self.state.cursors.find(name, level)?;
                if let Some(at) = self.state.cursors.position(name, level) {
                    self.state.cursors.names.remove(at);
                }
            }
        }
        self.state.error = 0;
        Ok(())
    }

    fn declare_cursor(&mut self, it: &Declared, act: &mut Activation) -> Result<(), Failure> {
        // What its query says is wrong is an error of the declaration.
        self.ready(act, it.place)?;
        let cursor = Cursor {
            program: Arc::clone(&act.program),
            place: it.place,
            variables: act.variables.clone(),
            scroll: it.scroll,
            open: None,
        };
        let level = it.local.then_some(self.state.nest_level);
        Ok(self.state.cursors.put(&it.name, level, Arc::new(Mutex::new(cursor)))?)
    }

    fn open_cursor(&mut self, cursor: &Mutex<Cursor>, act: &mut Activation) -> Result<(), Failure> {
        let (program, place, variables) = {
            let cursor = cursor.lock();
            if cursor.open.is_some() {
                return Err(SqlError::new(messages::CURSOR_OPEN, &[]).into());
            }
            (Arc::clone(&cursor.program), cursor.place, cursor.variables.clone())
        };
        let opened = if Arc::ptr_eq(&program, &act.program) {
            let own = std::mem::replace(&mut act.variables, variables);
            let opened = self.read_cursor(act, place);
            act.variables = own;
            opened?
        } else {
            let mut other = self.idle.take(&program);
            other.variables = variables;
            let opened = self.read_cursor(&mut other, place);
            self.drop_tables(&mut other);
            self.idle.give_back(other);
            opened?
        };
        self.state.cursors.rows = i64::try_from(opened.rows.count()).unwrap_or(i64::MAX);
        cursor.lock().open = Some(opened);
        Ok(())
    }

    /// Runs the query of a cursor.
    fn read_cursor(&mut self, act: &mut Activation, place: PlaceId) -> Result<OpenRows, Failure> {
        let ready = self.ready(act, place)?;
        let columns = ready.columns.clone();
        let touches = !ready.plan.header.references.is_empty();
        debug_assert!(matches!(ready.plan.statement, Statement::Query(_)), "a cursor is a query");
        let host = Arc::clone(&self.host);
        let mut keeper = Keeper { rows: KeptRows::default(), spill: host.spill() };
        let run = |e: &mut Executor, c: &mut ExecContext<'_>| e.run(c, &mut keeper).map(|_| ());
        match touches {
            true => self.within_transaction(act, place, run)?,
            false => self.with_context(act, place, run)?,
        }
        Ok(OpenRows { columns, rows: keeper.rows, position: 0 })
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
        let (columns, row) = cursor.lock().fetch(direction, count, into.len())?;
        let found = row.is_some();
        match row {
            row if into.is_empty() => self.send_fetched(&columns, row.as_ref(), out, scope)?,
            Some(row) => assign(&columns, &row, into, act)?,
            None => {}
        }
        self.state.cursors.fetch_status = if found { 0 } else { -1 };
        self.state.rows = u64::from(found);
        Ok(())
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
        let counts = !self.state.settings.is_on(crate::settings::Switches::NOCOUNT);
        let rows = counts.then_some(u64::from(row.is_some()));
        out.done(Done { command: Command::Select, rows, ..self.done(scope) });
        Ok(())
    }
}

impl Cursor {
    /// Moves to a row, and gives it where there is one. `into` is how many variables want it.
    fn fetch(
        &mut self,
        direction: &Direction,
        count: i64,
        into: usize,
    ) -> SqlResult<(Vec<ResultColumn>, Option<Vec<Value>>)> {
        if !self.scroll && !matches!(direction, Direction::Next) {
            return Err(SqlError::new(messages::FETCH_FORWARD_ONLY, &[&direction.name()]));
        }
        let Some(open) = self.open.as_mut() else {
            return Err(SqlError::new(messages::CURSOR_NOT_OPEN, &[]).with_state(2));
        };
        if into != 0 && into != open.columns.len() {
            return Err(SqlError::new(messages::FETCH_INTO_COUNT, &[]));
        }
        open.position = moved(open.position, open.rows.count(), direction, count);
        let mut values = Vec::with_capacity(open.columns.len());
        let found = match open.position.checked_sub(1) {
            Some(row) => open.rows.read(row, open.columns.len(), &mut values)?,
            None => false,
        };
        Ok((open.columns.clone(), found.then_some(values)))
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
) -> SqlResult<()> {
    let program = Arc::clone(&act.program);
    for ((column, value), variable) in columns.iter().zip(values).zip(into) {
        let at = variable.0 as usize;
        let wanted = program.value.variables[at].sql_type;
        check_implicit(column.sql_type, wanted)?;
        act.variables[at] = convert(value, column.sql_type, wanted, 0)?;
    }
    Ok(())
}

/// Keeps the rows of a query.
struct Keeper<'s> {
    rows: KeptRows,
    spill: &'s dyn Spill,
}

impl RowSink for Keeper<'_> {
    fn row(&mut self, values: &[Value]) -> SqlResult<()> {
        self.rows.push(self.spill, values)
    }
}
