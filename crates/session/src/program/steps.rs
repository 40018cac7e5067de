//! `Program`: a batch or procedure as a list of steps with jumps, and places that hold plans.
//!
//! ```text
//!   IF c a ELSE b        0 Branch c else 3 · 1 a · 2 Jump 4 · 3 b · 4 …
//!   WHILE c a            0 Branch c else 3 · 1 a · 2 Jump 0 · 3 …
//!   TRY a CATCH b        0 a · 1 Jump 4 · 2 b · 3 LeaveCatch · 4 …      handlers: 0..1 → 2
//! ```
//! Control flow is resolved when text is compiled. Names are resolved late: a [`Place`] is bound
//! when it first runs, and again after a definition has changed.

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
    /// The name of a procedure, for errors and ERROR_PROCEDURE().
    pub(crate) procedure: Option<Box<str>>,
    pub(crate) object: ObjectId,
    /// The database of names that do not give one.
    pub(crate) database: DatabaseId,
    /// The schema in which names without schema are looked up before dbo; a module has its own.
    pub(crate) schema: SchemaId,
    pub(crate) parameters: Vec<ProgramParameter>,
    /// The variables, parameters first.
    pub(crate) variables: ProgramVariables,
    /// Table variables, by number.
    pub(crate) tables: Vec<ProgramTable>,
    /// The user types that it was compiled with.
    pub(crate) types: Vec<UsedType>,
    pub(crate) steps: Vec<Step>,
    pub(crate) places: Vec<Place>,
    pub(crate) handlers: Vec<TryBlock>,
    /// The SET option that a procedure runs under.
    pub(crate) quoted_identifier: bool,
    /// The ANSI_NULLS of a module. A batch uses the session's when a statement is bound.
    pub(crate) ansi_nulls: bool,
    pub(crate) recompile: bool,
    /// The guards that its INSERT skips, in a bulk load.
    pub(crate) unguarded: bind::SkippedGuards,
    /// For a batch without steps of its own: what runs instead.
    pub(crate) shell: Option<Box<Shell>>,
}

/// A user type that a text names.
#[derive(Debug)]
pub(crate) struct UsedType {
    /// Its schema, if one is written.
    pub(crate) schema: Option<Box<str>>,
    pub(crate) name: Box<str>,
    /// The schema in which it was looked up first.
    pub(crate) first: SchemaId,
    /// The object that it meant.
    pub(crate) object: ObjectId,
}

/// A table variable.
#[derive(Debug)]
pub(crate) struct ProgramTable {
    pub(crate) definition: Arc<Table>,
    /// The table type that it was declared with.
    pub(crate) of: Option<Arc<UserType>>,
    /// Whether it is a table-valued parameter, or a table of a trigger.
    pub(crate) read_only: bool,
}

/// A parameter of a procedure or prepared statement.
#[derive(Debug)]
pub(crate) struct ProgramParameter {
    pub(crate) output: bool,
    /// The number of a table-valued parameter.
    pub(crate) table: Option<u16>,
    /// Whether it is a cursor, which is returned.
    pub(crate) cursor: bool,
    pub(crate) default: Option<PlaceId>,
}

/// A place in [`Program::places`].
pub(crate) type PlaceId = usize;

/// A position in [`Program::steps`].
pub(crate) type StepIndex = usize;

/// Something that is bound and run as one plan.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) source: Source,
    pub(crate) cell: PlanCell,
    /// The figures of its last run, if LAST_QUERY_PLAN_STATS is ON.
    pub(crate) last: Mutex<Option<Box<LastRun>>>,
    /// The number of variables that were declared before it.
    pub(crate) visible: usize,
    pub(crate) line: u32,
}

/// A run that has ended, with the plan that ran.
#[derive(Debug)]
pub(crate) struct LastRun {
    pub(crate) plan: Arc<PhysicalPlan>,
    pub(crate) ran: RunFigures,
}

/// The syntax tree of a [`Place`].
#[derive(Debug)]
pub(crate) enum Source {
    Statement(ast::Statement),
    /// SELECT … INTO, once its table has been made.
    Into(ast::Statement),
    /// A cursor's query, with its keys.
    Cursor(ast::Statement),
    /// The query of one row of a cursor, by its keys.
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
    /// The number of CATCH blocks around it.
    pub(crate) depth: usize,
}

/// One step and its statement's place in the text.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) kind: StepKind,
    pub(crate) span: ast::Span,
}

impl Step {
    /// The place of its plan, if it has one.
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

/// The kinds of [`Step`].
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
    /// IF, WHILE: continues with the next step if the condition is true.
    Branch {
        place: PlaceId,
        otherwise: StepIndex,
    },
    Jump {
        to: StepIndex,
        /// The number of CATCH blocks around the target; deeper ones are left.
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
    /// INSERT BULK: the next request brings the rows.
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
    /// A statement that `Definitions::ddl` runs.
    Definition(Box<ast::Statement>),
    /// A statement that parses and is refused by name.
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

/// INSERT … EXEC: the EXECUTE, and the INSERT of a row.
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

/// The value of an [`Argument`].
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

/// The memory of a parsed text for each byte of it: between 17 (`UPDATE`) and 36 (short queries),
/// measured with a counting allocator.
const TREE_BYTES: usize = 28;

impl Program {
    /// A program that runs a shell's text instead of its own.
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

    /// Whether its first tables are `inserted` and `deleted`.
    pub(crate) fn is_trigger(&self) -> bool {
        self.tables.first().is_some_and(|t| &*t.definition.name == "inserted")
    }

    /// Its memory without its plans: places, steps, and the trees of its text, estimated as
    /// [`TREE_BYTES`] for each byte of the text.
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
    /// Their values; empty if nothing runs.
    pub(crate) values: &'p [Value],
    /// The recorder of types for undeclared parameters.
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

/// Whether two names of variables, parameters or options are the same.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b) || (!a.is_ascii() && a.to_lowercase() == b.to_lowercase())
}
