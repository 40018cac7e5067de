//! Statements without control flow of their own: each becomes one step.

use crate::answer::result_sets::{DeclaredColumn, DeclaredSets};
use crate::program::compile::{Compiler, Returns};
use crate::program::cursor_step::CursorStep;
use crate::program::steps::same_name;
use crate::program::steps::{
    Argument, ArgumentValue, Execute, ExecuteTarget, InsertExecute, PlaceId, Raise, Source,
    StepKind,
};
use crate::request::steps::wait_ticks;
use base::{SqlError, SqlResult, messages};
use tsql::ast::{self, ExprKind, Statement, StatementKind as K};
use types::{SqlType, Value};

/// The most placeholders that RAISERROR fills in.
const SUBSTITUTIONS_MAX: usize = 20;

/// Options that a module may not set (1059).
const OF_BATCHES: [&str; 4] = ["PARSEONLY", "SHOWPLAN_ALL", "SHOWPLAN_TEXT", "SHOWPLAN_XML"];

impl Compiler<'_, '_> {
    /// Error 2714: a text creates a temporary table once, whichever of its statements run.
    pub(crate) fn note_temporary(&mut self, kind: &K) -> SqlResult<()> {
        let made = match kind {
            K::CreateTable(it) => &it.name,
            K::Select(s) => match bind::into_of(s) {
                Some(into) => &into.table,
                None => return Ok(()),
            },
            K::Drop(it) if it.kind == ast::DropKind::Table => {
                let dropped = |name: &str| it.items.iter().any(|i| same_name(&i.name.object, name));
                self.temporary.retain(|name| !dropped(name));
                return Ok(());
            }
            _ => return Ok(()),
        };
        let name = &made.object;
        if !name.starts_with('#') || name.starts_with("##") {
            return Ok(());
        }
        if self.temporary.iter().any(|other| same_name(other, name)) {
            return Err(SqlError::new(messages::OBJECT_EXISTS, &[name]).at_line(made.span.line));
        }
        self.temporary.push(name.text.clone());
        Ok(())
    }

    /// The step of a statement that contains no other statements.
    pub(crate) fn simple(&mut self, statement: Statement) -> SqlResult<StepKind> {
        Ok(match statement.kind {
            K::Return(Some(_)) if self.returns() == Returns::Nothing => {
                return Err(SqlError::new(messages::RETURN_VALUE_CONTEXT, &[]));
            }
            K::Throw(None) if !self.is_within_catch() => {
                return Err(SqlError::new(messages::THROW_ARGUMENT, &[]));
            }
            K::Return(value) => {
                let wanted = match self.returns() {
                    Returns::Value(sql_type) => sql_type,
                    Returns::Status | Returns::Nothing => SqlType::Int,
                };
                StepKind::Return(value.map(|v| self.scalar(*v, Some(wanted))))
            }
            // PRINT shows no more than this.
            K::Print(value) => StepKind::Print(self.scalar(*value, Some(SqlType::nvarchar(4000)))),
            K::Throw(None) => StepKind::Rethrow,
            K::Throw(Some(it)) => self.throw(*it),
            K::RaiseError(it) => self.raise(*it)?,
            K::Execute(it) => self.execute(*it)?,
            K::WaitFor(it) => {
                let (x, until) = match *it {
                    ast::WaitFor::Delay(x) => (x, false),
                    ast::WaitFor::Time(x) => (x, true),
                };
                if is_no_time(&x) {
                    return Err(no_time(&x));
                }
                StepKind::WaitFor { place: self.scalar(x, None), until }
            }
            K::Transaction(it) => self.transaction(it)?,
            K::SetOption(it) => {
                self.of_module_too(&it)?;
                let place = match &it.value {
                    ast::SetOptionValue::Expr(x) => Some(self.scalar(x.clone(), None)),
                    _ => None,
                };
                StepKind::SetOption(it, place)
            }
            K::SetIsolation(level) => StepKind::SetIsolation(level),
            K::SetIdentityInsert { table, on } => StepKind::SetIdentityInsert { table, on },
            K::InsertBulk(it) => StepKind::AnnounceBulk(it),
            K::DeclareCursor(it) => {
                let ast::DeclareCursor { name, definition } = *it;
                self.cursor(&name, definition, statement.span)?
            }
            K::OpenCursor(name) => {
                StepKind::Cursor(Box::new(CursorStep::Open(self.cursor_name(name)?)))
            }
            K::Fetch(it) => self.fetch(*it)?,
            K::CloseCursor(name) => {
                StepKind::Cursor(Box::new(CursorStep::Close(self.cursor_name(name)?)))
            }
            K::DeallocateCursor(name) => {
                StepKind::Cursor(Box::new(CursorStep::Deallocate(self.cursor_name(name)?)))
            }
            K::Use(_) if self.is_of_module() => {
                let words = ["a USE database statement", "a procedure, function or trigger"];
                return Err(SqlError::new(messages::USE_IN_MODULE, &[&words[0], &words[1]]));
            }
            K::Use(name) => StepKind::Use(name.text),
            K::Kill(it) if it.status_only => StepKind::Unsupported("KILL WITH STATUSONLY"),
            K::Kill(it) => StepKind::Kill(self.scalar(it.target, None)),
            K::Shutdown { nowait } => StepKind::Shutdown { nowait },
            _ => match unsupported(&statement.kind) {
                Some(what) => StepKind::Unsupported(what),
                None => StepKind::Definition(Box::new(statement)),
            },
        })
    }

    fn throw(&mut self, it: ast::Throw) -> StepKind {
        StepKind::Throw([
            self.scalar(it.number, Some(SqlType::Int)),
            self.scalar(it.message, Some(SqlType::NVARCHAR_MAX)),
            self.scalar(it.state, Some(SqlType::Int)),
        ])
    }

    /// Refuses in modules the options that only batches may set.
    fn of_module_too(&self, it: &ast::SetOption) -> SqlResult<()> {
        let of_batches = it.names.iter().find(|name| OF_BATCHES.contains(&&***name));
        match of_batches.filter(|_| self.is_of_module()) {
            Some(name) => {
                let name = name.to_ascii_lowercase();
                Err(SqlError::new(messages::OPTION_IN_MODULE, &[&name]))
            }
            None => Ok(()),
        }
    }

    fn raise(&mut self, it: ast::RaiseError) -> SqlResult<StepKind> {
        if it.arguments.len() > SUBSTITUTIONS_MAX {
            return Err(SqlError::new(messages::RAISERROR_TOO_MANY, &[&SUBSTITUTIONS_MAX]));
        }
        Ok(StepKind::RaiseError(Box::new(Raise {
            message: self.scalar(it.message, None),
            severity: self.scalar(it.severity, Some(SqlType::Int)),
            state: self.scalar(it.state, Some(SqlType::Int)),
            arguments: it.arguments.into_iter().map(|x| self.scalar(x, None)).collect(),
            log: it.log,
            set_error: it.seterror,
        })))
    }

    fn transaction(&mut self, it: Box<ast::Transaction>) -> SqlResult<StepKind> {
        if it.verb == ast::TransactionVerb::BeginDistributed {
            return Ok(StepKind::Unsupported("BEGIN DISTRIBUTED TRANSACTION"));
        }
        if it.mark.is_some() {
            return Ok(StepKind::Unsupported("BEGIN TRANSACTION WITH MARK"));
        }
        let variable = match &it.name {
            Some(name) if name.starts_with('@') => Some(self.variable(name)?.0),
            _ => None,
        };
        Ok(StepKind::Transaction(it, variable))
    }

    /// INSERT … EXEC: its INSERT is bound for one row of variables that no text can name.
    pub(crate) fn insert_execute(
        &mut self,
        it: Box<ast::Insert>,
        span: ast::Span,
    ) -> SqlResult<StepKind> {
        let ast::InsertSource::Execute(execute) = &it.source else {
            return Err(SqlError::new(messages::INTERNAL, &[&"the INSERT executes nothing"]));
        };
        let execute = (**execute).clone();
        let source = Source::Statement(Statement { kind: K::Insert(it), span });
        let place = self.place(source, span.line);
        Ok(match self.execute(execute)? {
            StepKind::Execute(execute) => {
                StepKind::InsertExecute(Box::new(InsertExecute { execute: *execute, place }))
            }
            other => other,
        })
    }

    fn execute(&mut self, it: ast::Execute) -> SqlResult<StepKind> {
        let result_sets = match &it.result_sets {
            None | Some(ast::ResultSets::Undefined) => None,
            Some(ast::ResultSets::Declared(sets)) => match self.declared_sets(sets)? {
                Ok(sets) => Some(sets),
                Err(what) => return Ok(StepKind::Unsupported(what)),
            },
        };
        let recompile = it.recompile;
        let result = match &it.result {
            Some(name) => Some(self.variable(name)?.0),
            None => None,
        };
        let (what, arguments) = match it.what {
            ast::ExecuteTarget::Procedure { number: Some(2..), .. } => {
                return Ok(StepKind::Unsupported("EXECUTE of a numbered procedure"));
            }
            ast::ExecuteTarget::Procedure { name, arguments, .. } => {
                (ExecuteTarget::Procedure(name), arguments)
            }
            ast::ExecuteTarget::Variable { variable, arguments } => {
                (ExecuteTarget::Variable(self.variable(&variable)?.0), arguments)
            }
            ast::ExecuteTarget::Text { execute_as: Some(_), .. } => {
                return Ok(StepKind::Unsupported("EXECUTE AS"));
            }
            ast::ExecuteTarget::Text { server: Some(_), .. } => {
                return Ok(StepKind::Unsupported("EXECUTE AT"));
            }
            ast::ExecuteTarget::Text { text, .. } => {
                (ExecuteTarget::Text(self.scalar(text, Some(SqlType::NVARCHAR_MAX))), Vec::new())
            }
        };
        let arguments = self.arguments(arguments)?;
        Ok(StepKind::Execute(Box::new(Execute { result, what, arguments, recompile, result_sets })))
    }

    /// The columns that WITH RESULT SETS declares, or the name of a clause that is not built.
    fn declared_sets(
        &mut self,
        sets: &[ast::ResultSet],
    ) -> SqlResult<Result<DeclaredSets, &'static str>> {
        let mut declared = Vec::with_capacity(sets.len());
        for set in sets {
            declared.push(match set {
                ast::ResultSet::Columns(columns) => {
                    let columns = columns.iter().zip(1..).map(|(c, n)| self.declared_column(c, n));
                    columns.collect::<SqlResult<Vec<DeclaredColumn>>>()?
                }
                ast::ResultSet::Type(name) => {
                    let found = self.user_type(name);
                    let Some(table) = found.as_ref().and_then(|t| t.table()) else {
                        let e = SqlError::new(messages::RESULT_SETS_TABLE_TYPE, &[&name.name]);
                        return Err(e.at_line(name.span.line));
                    };
                    DeclaredColumn::of_table(table)
                }
                ast::ResultSet::Object => return Ok(Err("WITH RESULT SETS (AS OBJECT …)")),
                ast::ResultSet::Xml => return Ok(Err("WITH RESULT SETS (AS FOR XML)")),
            });
        }
        Ok(Ok(declared.into()))
    }

    fn declared_column(
        &mut self,
        it: &ast::DeclaredColumn,
        number: usize,
    ) -> SqlResult<DeclaredColumn> {
        let written = &it.type_name;
        let alias = self.user_type(written).and_then(|t| t.alias());
        let facts: [&dyn std::fmt::Display; 2] = [&number, &written.name];
        if alias.is_some() && written.arguments != ast::TypeArguments::None {
            let e = SqlError::new(messages::COLUMN_TYPE_NO_WIDTH, &facts);
            return Err(e.at_line(it.name.line));
        }
        let sql_type = alias.map_or_else(|| bind::declared_type(written, 1), Ok);
        let sql_type = sql_type.map_err(|e| match e.number() {
            n if n == messages::TYPE_UNKNOWN.number => {
                SqlError::new(messages::DATA_TYPE_NOT_FOUND, &facts).at_line(it.name.line)
            }
            _ => e,
        })?;
        DeclaredColumn::of(it, sql_type).map_err(|e| e.at_line(it.name.line))
    }

    fn arguments(&mut self, arguments: Vec<ast::Argument>) -> SqlResult<Vec<Argument>> {
        let mut compiled: Vec<Argument> = Vec::with_capacity(arguments.len());
        for (i, argument) in arguments.into_iter().enumerate() {
            let named = compiled.last().is_some_and(|a| a.name.is_some());
            if named && argument.name.is_none() {
                let number = i + 1;
                return Err(SqlError::new(messages::NAMED_ARGUMENT_ORDER, &[&number]));
            }
            let value = self.argument_value(argument.value)?;
            let variable = matches!(value, ArgumentValue::Variable(_) | ArgumentValue::Cursor(_));
            if argument.output && !variable {
                return Err(SqlError::new(messages::OUTPUT_OF_CONSTANT, &[]));
            }
            let name = argument.name.map(|n| n.text);
            compiled.push(Argument { name, value, output: argument.output });
        }
        Ok(compiled)
    }

    fn argument_value(&mut self, value: ast::Expr) -> SqlResult<ArgumentValue> {
        match &value.kind {
            ExprKind::Default => Ok(ArgumentValue::Default),
            ExprKind::Variable(name) => match self.table_variable(name) {
                Some(number) => Ok(ArgumentValue::Table(number)),
                None if self.is_cursor_variable(name) => {
                    Ok(ArgumentValue::Cursor(name.text.clone()))
                }
                None => Ok(ArgumentValue::Variable(self.variable(name)?.0)),
            },
            _ => {
                let place: PlaceId = self.scalar(value, None);
                Ok(ArgumentValue::Place(place))
            }
        }
    }
}

/// The text of WAITFOR, if it is a constant.
fn constant_text(x: &ast::Expr) -> Option<Value> {
    match &x.kind {
        ExprKind::Literal(ast::Literal::String(s) | ast::Literal::National(s)) => {
            Some(Value::nvarchar(s))
        }
        _ => None,
    }
}

/// Whether WAITFOR has a constant that is not a time (148).
fn is_no_time(x: &ast::Expr) -> bool {
    constant_text(x).is_some_and(|text| wait_ticks(&text).is_err())
}

fn no_time(x: &ast::Expr) -> SqlError {
    let text = constant_text(x).and_then(|v| v.as_text()).unwrap_or_default();
    SqlError::new(messages::WAITFOR_TIME_SYNTAX, &[&text]).at_line(x.span.line)
}

/// The name of a statement that is not built.
fn unsupported(kind: &K) -> Option<&'static str> {
    Some(match kind {
        K::BulkInsert(_) => "BULK INSERT",
        K::ExecuteAs(_) => "EXECUTE AS",
        K::Revert => "REVERT",
        _ => return None,
    })
}
