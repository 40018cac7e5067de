//! A whole statement as a plan.

use crate::{
    Delete, Estimate, FollowUp, Insert, Merge, Output, Predicate, QueryHints, Scalar, ScalarType,
    Slot, Target, Update, VariableId,
};
use base::{DatabaseId, ObjectId};
use types::datetime::Dialect;
use types::{Collation, SqlType, Value};

/// A statement over sources of rows `S`.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan<S> {
    /// What it does.
    pub statement: Statement<S>,
    /// Subqueries that expressions refer to by number; those may refer to others.
    pub subqueries: Vec<Subquery<S>>,
    /// What changes of the statement lead to: their targets refer to these by number.
    pub follow_ups: Vec<FollowUp<S>>,
    /// How many slots the frame has.
    pub slots: u32,
    /// What it depends on.
    pub header: Header,
    /// What was expected of each operator when the plan was chosen, in preorder: the statement's
    /// tree, then those of its subqueries, then of its follow-ups. Empty until then.
    pub estimates: Vec<Estimate>,
}

impl<S> Plan<S> {
    /// It changes a table variable.
    pub fn writes_private(&self) -> bool {
        self.changed().any(Target::is_private)
    }

    /// The tables that it changes.
    fn changed(&self) -> impl Iterator<Item = &Target> {
        let into = self.statement.output().and_then(|o| o.into.as_ref());
        self.statement.target().into_iter().chain(into.map(|i| &i.target))
    }

    /// It changes something that a rollback of the user's transaction undoes.
    pub fn writes_shared(&self) -> bool {
        self.changed().any(|t| !t.is_private())
    }
}

/// What a plan depends on: it is stale when a database has another schema version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// Each database with the version that names were resolved in.
    pub databases: Vec<(DatabaseId, u64)>,
    /// Each object that the plan reads or writes.
    pub references: Vec<Reference>,
    /// The statistics that it was chosen with.
    pub statistics: Vec<UsedStatistics>,
    /// Names of temporary objects were resolved: the plan serves one session only.
    pub session_bound: bool,
    /// The SET options that it was bound under, of those that decide meaning: bits of `@@OPTIONS`.
    pub switches: u32,
    /// Databases in which it reads or changes tables at the level of the session: no hint says
    /// another.
    pub own_level: Vec<DatabaseId>,
    /// It reads rows that it does not lock to change them: under READ_COMMITTED_SNAPSHOT as of a
    /// moment. A change that reads its target alone needs none.
    pub reads_versions: bool,
    /// OPTION (RECOMPILE): not to be kept.
    pub recompile: bool,
    /// The DATEFORMAT that its constants were read by; none where each reads them alike.
    pub dialect: Option<Dialect>,
    /// How much memory it may have, and shall have at least.
    pub grant: GrantHints,
    /// It calls functions of the user.
    pub calls: bool,
    /// What fires triggers: the statement's own target first, then those of its cascades.
    pub fires: Vec<TriggerFiring>,
    /// What else OPTION asks.
    pub hints: QueryHints,
    /// What variables were taken to be when it was made: those of a call, or OPTIMIZE FOR's.
    pub compiled_for: Vec<(VariableId, Value)>,
    /// How many workers an exchange of it may have at most; 0 and 1: it has none.
    pub workers: usize,
    /// Why a plan that costs enough has no exchange, in SQL Server's words.
    pub serial_reason: Option<&'static str>,
    /// Of a cursor's rows: the keys that its last columns are, and are found again by.
    pub cursor: Vec<CursorKey>,
    /// And what its other columns are: none of an expression.
    pub cursor_columns: Vec<Option<CursorColumn>>,
    /// Of an UPDATE … WHERE CURRENT OF that changes the key: its rows are the new key, which the
    /// cursor takes and no client sees.
    pub gives_key: bool,
}

/// A column of a cursor that is one of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorColumn {
    /// Which of the cursor's tables, by their keys.
    pub table: usize,
    /// Its name there.
    pub name: Box<str>,
    /// Whether it is of the key.
    pub key: bool,
}

/// What tells the rows of a table apart that a cursor reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorKey {
    /// The table.
    pub table: Reference,
    /// Ordinals of the key's columns.
    pub columns: Vec<usize>,
    /// The table has no unique key: what tells its rows apart besides is the place in a heap, or
    /// the number that a clustered index gives equal keys.
    pub placed: bool,
}

impl CursorKey {
    /// How many values it has.
    pub fn width(&self) -> usize {
        self.columns.len() + usize::from(self.placed)
    }
}

/// The number of the first table variable that captures rows for triggers.
pub const CAPTURES: u16 = 0xFF00;

/// A change that fires triggers, and where its rows are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerFiring {
    /// The table's database.
    pub database: DatabaseId,
    /// The table.
    pub object: ObjectId,
    /// INSERT 1, UPDATE 2, DELETE 4.
    pub event: u8,
    /// The table variable of new rows.
    pub inserted: Option<u16>,
    /// The table variable of old rows.
    pub deleted: Option<u16>,
    /// A bit for each column id that is given a value.
    pub columns: Vec<u8>,
    /// INSTEAD OF triggers: nothing was changed.
    pub instead_of: bool,
}

/// OPTION (MIN_GRANT_PERCENT, MAX_GRANT_PERCENT): of what a statement may be granted at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GrantHints {
    /// It does not begin with less, once it needs memory at all.
    pub min_percent: Option<f64>,
    /// It spills beyond; a statement always has a small workspace.
    pub max_percent: Option<f64>,
}

/// Statistics of a table that a plan was chosen with.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedStatistics {
    /// The table.
    pub table: Reference,
    /// Ordinals of the columns whose statistics matter.
    pub columns: Box<[usize]>,
    /// A mark of those statistics as they were.
    pub stamp: u64,
    /// The names of those that have none, and were not to be given any.
    pub missing: Vec<Box<str>>,
}

/// An object that a plan refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// Its database.
    pub database: DatabaseId,
    /// Its id.
    pub object: ObjectId,
}

/// A subquery. It reads slots of the statement around it where `outer` lists them.
#[derive(Clone, Debug, PartialEq)]
pub struct Subquery<S> {
    /// Its rows.
    pub source: S,
    /// Its select list (one, unless it stands in EXISTS).
    pub columns: Vec<Slot>,
    /// The type of the first.
    pub ty: ScalarType,
    /// It stands for a value: that of its one row (512).
    pub scalar: bool,
    /// Slots it reads and doesn't write. None, and no variable that it reads changes: its answer is
    /// the same for every row of the statement.
    pub outer: Vec<Slot>,
    /// It, or a subquery within it, reads a variable or a fact of the session.
    pub session: bool,
}

/// What a plan does.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement<S> {
    /// Gives rows.
    Query(Query<S>),
    /// `SELECT @v = …`: each row assigns.
    Assign(SelectAssign<S>),
    /// INSERT
    Insert(Box<Insert<S>>),
    /// UPDATE
    Update(Box<Update<S>>),
    /// DELETE
    Delete(Box<Delete<S>>),
    /// MERGE
    Merge(Box<Merge<S>>),
    /// An expression alone: SET, PRINT, RETURN, arguments.
    Scalar(Scalar),
    /// A condition alone: IF, WHILE.
    Condition(Predicate),
}

impl<S> Statement<S> {
    /// Its rows; an expression or a condition alone has none.
    pub fn source(&self) -> Option<&S> {
        match self {
            Statement::Query(q) => Some(&q.source),
            Statement::Assign(a) => Some(&a.source),
            Statement::Insert(i) => Some(&i.source),
            Statement::Update(u) => Some(&u.source),
            Statement::Delete(d) => Some(&d.source),
            Statement::Merge(m) => Some(&m.source),
            Statement::Scalar(_) | Statement::Condition(_) => None,
        }
    }

    /// The same, to be rewritten.
    pub fn source_mut(&mut self) -> Option<&mut S> {
        match self {
            Statement::Query(q) => Some(&mut q.source),
            Statement::Assign(a) => Some(&mut a.source),
            Statement::Insert(i) => Some(&mut i.source),
            Statement::Update(u) => Some(&mut u.source),
            Statement::Delete(d) => Some(&mut d.source),
            Statement::Merge(m) => Some(&mut m.source),
            Statement::Scalar(_) | Statement::Condition(_) => None,
        }
    }

    /// The table that it changes.
    pub fn target(&self) -> Option<&Target> {
        match self {
            Statement::Insert(i) => Some(&i.target),
            Statement::Update(u) => Some(&u.target),
            Statement::Delete(d) => Some(&d.target),
            Statement::Merge(m) => Some(&m.target),
            _ => None,
        }
    }

    /// Its OUTPUT.
    pub fn output(&self) -> Option<&Output> {
        match self {
            Statement::Insert(i) => i.output.as_deref(),
            Statement::Update(u) => u.output.as_deref(),
            Statement::Delete(d) => d.output.as_deref(),
            Statement::Merge(m) => m.output.as_deref(),
            _ => None,
        }
    }

    /// The columns of the rows that it sends.
    pub fn result_columns(&self) -> Option<&[ResultColumn]> {
        match self {
            Statement::Query(q) => Some(&q.columns),
            _ => self.output()?.sent.as_ref().map(|s| &*s.columns),
        }
    }
}

/// A SELECT that gives rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Query<S> {
    /// Its rows.
    pub source: S,
    /// Its columns.
    pub columns: Vec<ResultColumn>,
}

/// `SELECT @v = expression`
#[derive(Clone, Debug, PartialEq)]
pub struct SelectAssign<S> {
    /// Its rows.
    pub source: S,
    /// Per row, from left to right: the variable, its type, and the value converted to it.
    pub assignments: Vec<(VariableId, Scalar)>,
}

/// A column of a result as the client is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultColumn {
    /// Its name; empty when it has none.
    pub name: Box<str>,
    /// Where its value is.
    pub slot: Slot,
    /// Its type.
    pub sql_type: SqlType,
    /// It was declared `numeric`, `sysname` and the like; 0 when the type says all.
    pub user_type_id: i32,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// For characters.
    pub collation: Collation,
    /// It is an identity column of a table.
    pub identity: bool,
    /// A column of a table, which a client might update; computed ones are not.
    pub updatable: bool,
    /// It is the word NULL, which fits any type though it is told as int.
    pub untyped: bool,
}
