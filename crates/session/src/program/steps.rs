//! `Program`: a batch or procedure as a list of steps with jumps, and places that hold plans.
//!
//! ```text
//!   IF c a ELSE b        0 Branch c else 3 · 1 a · 2 Jump 4 · 3 b · 4 …
//!   WHILE c a            0 Branch c else 3 · 1 a · 2 Jump 0 · 3 …
//!   TRY a CATCH b        0 a · 1 Jump 4 · 2 b · 3 LeaveCatch · 4 …      handlers: 0..1 → 2
//! ```
//! Control flow is resolved when text is compiled. Names are resolved late: a [`Place`] is bound
//! when it first runs, and again when a definition has changed.

use crate::answer::result_sets::DeclaredSets;
use crate::program::cursor_step::CursorStep;
use crate::program::shell::Shell;
use crate::program::variables::ProgramVariables;
use base::{DatabaseId, ObjectId};
use bind::Variables;
use catalog::view::{DeclaredTable, SchemaId, Table, UserType};
use os::sync::Mutex;
use plan::{PhysicalPlan, VariableId};
use plancache::PlanCell;
use showplan::RunFigures;
use std::sync::Arc;
use tsql::ast;
use types::{SqlType, Value};

/// A compiled batch, procedure or prepared statement. Sessions share it.
#[derive(Debug)]
pub struct Program {
    pub(crate) text: Arc<str>,
    /// Of a procedure: what errors and ERROR_PROCEDURE() call it.
    pub(crate) procedure: Option<Box<str>>,
    pub(crate) object: ObjectId,
    /// The database that names without database mean.
    pub(crate) database: DatabaseId,
    /// Where names without schema are looked for before dbo: of a module its own.
    pub(crate) schema: SchemaId,
    pub(crate) parameters: Vec<ProgramParameter>,
    /// Parameters first.
    pub(crate) variables: ProgramVariables,
    /// Table variables, by number.
    pub(crate) tables: Vec<ProgramTable>,
    /// The types of users that it was compiled with.
    pub(crate) types: Vec<UsedType>,
    pub(crate) steps: Vec<Step>,
    pub(crate) places: Vec<Place>,
    pub(crate) handlers: Vec<TryBlock>,
    /// SET options it runs under, of a procedure.
    pub(crate) quoted_identifier: bool,
    /// ANSI_NULLS of a module; a batch has the session's, when a statement is bound.
    pub(crate) ansi_nulls: bool,
    pub(crate) recompile: bool,
    /// What its INSERT passes over: of a bulk load.
    pub(crate) unguarded: bind::SkippedGuards,
    /// Of a batch that has no steps of its own: what is run instead.
    pub(crate) shell: Option<Box<Shell>>,
}

/// A user's type that a text names.
#[derive(Debug)]
pub(crate) struct UsedType {
    /// Its schema, where one is written.
    pub(crate) schema: Option<Box<str>>,
    pub(crate) name: Box<str>,
    /// Where it was looked for first.
    pub(crate) first: SchemaId,
    /// What it was.
    pub(crate) object: ObjectId,
}

/// A table variable.
#[derive(Debug)]
pub(crate) struct ProgramTable {
    pub(crate) definition: Arc<Table>,
    /// The type that it was declared of.
    pub(crate) of: Option<Arc<UserType>>,
    /// A table-valued parameter, or what a trigger is given.
    pub(crate) read_only: bool,
}

/// A parameter of a procedure or prepared statement.
#[derive(Debug)]
pub(crate) struct ProgramParameter {
    pub(crate) output: bool,
    /// The number of a table-valued one.
    pub(crate) table: Option<u16>,
    /// It is a cursor, which is handed back.
    pub(crate) cursor: bool,
    pub(crate) default: Option<PlaceId>,
}

/// A place in [`Program::places`].
pub(crate) type PlaceId = usize;

/// A position in [`Program::steps`].
pub(crate) type StepIndex = usize;

/// What is bound and run as one plan.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) source: Source,
    pub(crate) cell: PlanCell,
    /// What its last run did, where LAST_QUERY_PLAN_STATS is ON.
    pub(crate) last: Mutex<Option<Box<LastRun>>>,
    /// How many variables were declared before it.
    pub(crate) visible: usize,
    pub(crate) line: u32,
}

/// A run that has ended, with the plan that ran.
#[derive(Debug)]
pub(crate) struct LastRun {
    pub(crate) plan: Arc<PhysicalPlan>,
    pub(crate) ran: RunFigures,
}

/// What a [`Place`] is made of.
#[derive(Debug)]
pub(crate) enum Source {
    Statement(ast::Statement),
    /// SELECT … INTO, once its table has been made.
    Into(ast::Statement),
    /// A cursor's query, with keys.
    Cursor(ast::Statement),
    /// A row of it, by its keys.
    CursorRow(ast::Statement, bind::Refetch),
    Scalar(ast::Expr, Option<SqlType>),
    Condition(ast::Condition),
}

/// A TRY block: steps, and where its CATCH block begins.
#[derive(Debug)]
pub(crate) struct TryBlock {
    pub(crate) from: StepIndex,
    pub(crate) to: StepIndex,
    pub(crate) catch: StepIndex,
    /// How many CATCH blocks are around it.
    pub(crate) depth: usize,
}

/// One step and its statement's place in the text.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) span: ast::Span,
}

impl Step {
    /// Where its plan is, if it has one.
    pub(crate) fn place(&self) -> Option<PlaceId> {
        match self.kind {
            StepKind::Run(place)
            | StepKind::Assign { place, .. }
            | StepKind::Branch { place, .. }
            | StepKind::Return(Some(place)) => Some(place),
            _ => None,
        }
    }
}

/// See [`Step`].
#[derive(Debug)]
pub(crate) enum StepKind {
    /// SELECT, INSERT, UPDATE, DELETE.
    Run(PlaceId),
    /// SELECT … INTO.
    SelectInto(PlaceId),
    /// SET @v, DECLARE @v = …
    Assign {
        variable: VariableId,
        place: PlaceId,
        declares: bool,
    },
    /// IF, WHILE: goes on when true.
    Branch {
        place: PlaceId,
        otherwise: StepIndex,
    },
    Jump {
        to: StepIndex,
        /// CATCH blocks around the target: further ones are left.
        depth: usize,
    },
    LeaveCatch,
    Return(Option<PlaceId>),
    Print(PlaceId),
    Throw([PlaceId; 3]),
    Rethrow,
    RaiseError(Box<Raise>),
    Execute(Box<Execute>),
    /// INSERT … EXEC.
    InsertExecute(Box<InsertExecute>),
    /// DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE.
    Cursor(Box<CursorStep>),
    WaitFor {
        place: PlaceId,
        until: bool,
    },
    /// INSERT BULK: rows will come.
    AnnounceBulk(Box<ast::InsertBulk>),
    Transaction(Box<ast::Transaction>, Option<VariableId>),
    SetOption(Box<ast::SetOption>, Option<PlaceId>),
    SetIsolation(ast::IsolationLevel),
    SetIdentityInsert {
        table: Box<ast::ObjectName>,
        on: bool,
    },
    Use(Box<str>),
    Kill(PlaceId),
    Shutdown {
        nowait: bool,
    },
    /// What `Definitions::ddl` runs.
    Definition(Box<ast::Statement>),
    /// Parses, and is refused by name.
    Unsupported(&'static str),
}

/// RAISERROR.
#[derive(Debug)]
pub(crate) struct Raise {
    pub(crate) message: PlaceId,
    pub(crate) severity: PlaceId,
    pub(crate) state: PlaceId,
    pub(crate) arguments: Vec<PlaceId>,
    pub(crate) log: bool,
    pub(crate) set_error: bool,
}

/// EXECUTE.
#[derive(Debug)]
pub(crate) struct Execute {
    pub(crate) result: Option<VariableId>,
    pub(crate) what: ExecuteTarget,
    pub(crate) arguments: Vec<Argument>,
    /// WITH RECOMPILE
    pub(crate) recompile: bool,
    /// WITH RESULT SETS
    pub(crate) result_sets: Option<DeclaredSets>,
}

/// INSERT … EXEC: what is executed, and the INSERT of a row.
#[derive(Debug)]
pub(crate) struct InsertExecute {
    pub(crate) execute: Execute,
    pub(crate) place: PlaceId,
}

/// What is executed.
#[derive(Debug)]
pub(crate) enum ExecuteTarget {
    Procedure(ast::ObjectName),
    Variable(VariableId),
    Text(PlaceId),
}

/// An argument of a procedure.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) name: Option<Box<str>>,
    pub(crate) value: ArgumentValue,
    pub(crate) output: bool,
}

/// See [`Argument`].
#[derive(Debug)]
pub(crate) enum ArgumentValue {
    Default,
    Variable(VariableId),
    /// A table variable.
    Table(u16),
    /// A cursor variable, by name.
    Cursor(Box<str>),
    Place(PlaceId),
}

/// What a parsed text takes: between 17 (`UPDATE`) and 36 (short queries) for each byte of it,
/// measured with an allocator that counts.
const TREE_BYTES: usize = 28;

impl Program {
    /// Runs a shell's text instead of its own.
    pub(crate) fn of_shell(text: &Arc<str>, database: DatabaseId, shell: Shell) -> Program {
        Program {
            text: Arc::clone(text),
            procedure: None,
            object: ObjectId(0),
            database,
            schema: SchemaId::DBO,
            parameters: Vec::new(),
            variables: ProgramVariables::default(),
            tables: Vec::new(),
            types: Vec::new(),
            steps: Vec::new(),
            places: Vec::new(),
            handlers: Vec::new(),
            quoted_identifier: true,
            ansi_nulls: true,
            recompile: false,
            unguarded: bind::SkippedGuards::default(),
            shell: Some(Box::new(shell)),
        }
    }

    /// Whether it begins with `inserted` and `deleted`.
    pub(crate) fn is_trigger(&self) -> bool {
        self.tables.first().is_some_and(|t| &*t.definition.name == "inserted")
    }

    /// Bytes it takes without its plans: places, steps, and the trees of its text, which take
    /// [`TREE_BYTES`] for each byte of it.
    pub(crate) fn bytes(&self) -> usize {
        if let Some(shell) = &self.shell {
            return self.text.len() + shell.bytes();
        }
        let counted = size_of::<plancache::ExecutionCounts>();
        self.text.len() * (1 + TREE_BYTES)
            + self.places.len() * (size_of::<Place>() + counted)
            + self.steps.len() * size_of::<Step>()
    }

    /// The innermost TRY block around a step.
    pub(crate) fn handler(&self, at: StepIndex) -> Option<&TryBlock> {
        let around = self.handlers.iter().filter(|h| (h.from..h.to).contains(&at));
        around.min_by_key(|h| h.to - h.from)
    }
}

/// The variables that a place sees.
pub(crate) struct VisibleVariables<'p> {
    pub(crate) program: &'p Program,
    pub(crate) count: usize,
    /// What they hold; empty where nothing runs.
    pub(crate) values: &'p [Value],
    /// The learner of the types of parameters that are not declared.
    pub(crate) deduction: Option<&'p dyn bind::Deduction>,
}

impl VisibleVariables<'_> {
    /// A table variable.
    fn program_table(&self, name: &str) -> Option<&ProgramTable> {
        let number = self.program.variables.table(name, self.count)?;
        self.program.tables.get(usize::from(number))
    }

    /// The definition of a table variable.
    pub(crate) fn table(&self, name: &str) -> Option<Arc<Table>> {
        self.program_table(name).map(|t| Arc::clone(&t.definition))
    }

    /// How a table variable was declared.
    pub(crate) fn declared_table(&self, name: &str) -> DeclaredTable {
        let Some(table) = self.program_table(name) else { return DeclaredTable::default() };
        let of_type = table.of.as_ref().map(|t| (t.user_type_id, t.name.clone()));
        DeclaredTable { of_type, read_only: table.read_only }
    }
}

impl Variables for VisibleVariables<'_> {
    fn variable(&self, name: &str) -> Option<(VariableId, SqlType)> {
        self.program.variables.scalar(name, self.count)
    }

    fn value(&self, variable: VariableId) -> Option<Value> {
        self.values.get(variable.0 as usize).cloned()
    }

    fn first_free(&self) -> u32 {
        self.program.variables.len() as u32
    }
}

/// Whether two names of variables, parameters or options are one.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
