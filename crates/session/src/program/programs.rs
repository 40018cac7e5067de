//! From text to a program in the cache: batches, prepared statements, procedures.

use crate::host::Host;
use crate::host::definitions::Definitions;
use crate::host::process::Process;
use crate::program::compile::{GivenTable, Returns, Unit, compile};
use crate::program::created::undeclared;
use crate::program::declarer::Declarer;
use crate::program::plan_facts::SniffedValues;
use crate::program::shell::Shell;
use crate::program::steps::{PlaceId, Program, Source, VisibleVariables};
use crate::session::Session;
use crate::session::settings::{Settings, Switches};
use crate::session::state::State;
use base::{DatabaseId, ObjectId, SessionId, SqlError, messages};
use bind::SkippedGuards;
use catalog::view::{Module, SchemaId, Table};
use plancache::{Entry, Key, Kind, NewEntry};
use std::sync::Arc;
use tsql::ast::{Batch, FunctionBody, SetOptionValue, Statement, StatementKind};
use types::SqlType;

/// All errors of a text.
pub(crate) type Errors = Vec<SqlError>;

impl Session {
    /// The program of a batch. Its statements are bound at once, except those whose objects do not
    /// exist yet. Any other error means that no statement runs.
    pub(crate) fn batch_program(&mut self, text: &Arc<str>) -> Result<Arc<Entry<Program>>, Errors> {
        let key = self.state.key(Kind::AdHoc, "", text);
        let kept = match self.state.settings.parse_only {
            true => None,
            false => kept_program(&*self.host, self.state.id(), &key),
        };
        // A session that shows plans must see the constants of the text.
        let settings = &self.state.settings;
        let looks = settings.showplan.is_some() || settings.shows_what_ran();
        if let Some(entry) = kept.filter(|e| !looks || e.value.shell.is_none()) {
            return Ok(entry);
        }
        let parsed = tsql::parse(text, self.state.settings.parse_options());
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        let mut parsed = parsed;
        let switched = self.state.switch_parse_only(&mut parsed.batch);
        let settings = &self.state.settings;
        // A parameter compares with NULL by other rules than a constant does.
        let ansi_nulls = settings.is_on(Switches::ANSI_NULLS);
        if !looks
            && ansi_nulls
            && let Some(shell) = self.state.shell(&parsed.batch.statements)
            // An error is reported for the original text.
            && let Ok(prepared) = self.prepared_program(&shell.parameters, &shell.text)
        {
            self.of_shell = Some(prepared);
            let program = Program::of_shell(text, self.state.database.id, shell);
            return Ok(keep_program(&*self.host, &key, program));
        }
        let unit = Unit {
            text,
            database: self.state.database.id,
            schema: SchemaId::DBO,
            object: ObjectId(0),
            procedure: None,
            quoted_identifier: self.state.settings.is_on(Switches::QUOTED_IDENTIFIER),
            ansi_nulls: self.state.settings.is_on(Switches::ANSI_NULLS),
            parameters: Vec::new(),
            statements: parsed.batch.statements,
            // It takes effect when it is parsed, so the text must be parsed each time.
            recompile: switched,
            returns: Returns::Nothing,
            tables: Vec::new(),
        };
        let program = compile(unit, &mut self.declarer(self.state.database.id, text))?;
        self.bind_ahead(&program)?;
        Ok(keep_program(&*self.host, &key, program))
    }

    /// The program that a shell runs.
    pub(crate) fn shell_program(&mut self, shell: &Shell) -> Result<Arc<Entry<Program>>, Errors> {
        match self.of_shell.take() {
            Some(found) => Ok(found),
            None => self.prepared_program(&shell.parameters, &shell.text),
        }
    }

    /// The program of a text with declared parameters.
    pub(crate) fn prepared_program(
        &mut self,
        parameters: &str,
        text: &str,
    ) -> Result<Arc<Entry<Program>>, Errors> {
        self.loading_program(parameters, text, SkippedGuards::default())
    }

    /// The same for a bulk load that skips guards.
    pub(crate) fn loading_program(
        &mut self,
        parameters: &str,
        text: &str,
        unguarded: SkippedGuards,
    ) -> Result<Arc<Entry<Program>>, Errors> {
        let mut key = self.state.key(Kind::Prepared, parameters, text);
        key.options |= Settings::unguarded_key(unguarded);
        if let Some(entry) = kept_program(&*self.host, self.state.id(), &key) {
            return Ok(entry);
        }
        let options = self.state.settings.parse_options();
        let declared = tsql::parse_parameters(parameters, options).map_err(|e| vec![e])?;
        let parsed = tsql::parse(text, options);
        if !parsed.errors.is_empty() {
            return Err(parsed.errors);
        }
        let text = text.into();
        let unit = Unit {
            text: &text,
            database: self.state.database.id,
            schema: SchemaId::DBO,
            object: ObjectId(0),
            procedure: None,
            quoted_identifier: self.state.settings.is_on(Switches::QUOTED_IDENTIFIER),
            ansi_nulls: self.state.settings.is_on(Switches::ANSI_NULLS),
            parameters: declared,
            statements: parsed.batch.statements,
            recompile: false,
            returns: Returns::Nothing,
            tables: Vec::new(),
        };
        let compiled = compile(unit, &mut self.declarer(self.state.database.id, &text))?;
        let program = Program { unguarded, ..compiled };
        self.bind_ahead(&program)?;
        Ok(keep_program(&*self.host, &key, program))
    }

    /// The program of a procedure.
    pub(crate) fn procedure_program(
        &mut self,
        database: DatabaseId,
        module: &Module,
        recompile: bool,
    ) -> Result<Arc<Entry<Program>>, Errors> {
        module_program(
            &mut self.declarer(database, &(&*module.text).into()),
            module,
            recompile,
            &[],
        )
    }

    /// The declarer for text of a database.
    pub(crate) fn declarer(&mut self, database: DatabaseId, text: &Arc<str>) -> Declarer<'_> {
        Declarer {
            host: Arc::clone(&self.host),
            session: self.state.id(),
            database,
            schema: SchemaId::DBO,
            work: &mut self.work,
            settings: &self.state.settings,
            text: Arc::clone(text),
            undeclared: None,
        }
    }

    /// Binds every statement before the first one runs. A statement that names an object that does
    /// not exist is bound later.
    fn bind_ahead(&mut self, program: &Program) -> Result<(), Errors> {
        let mut errors = Errors::new();
        // After a USE, names mean something else.
        let changes_database = |s: &crate::program::steps::Step| {
            matches!(s.kind, crate::program::steps::StepKind::Use(_))
        };
        if program.steps.iter().any(changes_database) {
            return Ok(());
        }
        for place in 0..program.places.len() {
            os::values::look().map_err(|e| vec![e])?;
            let bound = self.bind_place_ahead(program, place).or_else(|e| match is_deferred(&e) {
                true => undeclared(program, &program.places[place]),
                false => Err(e),
            });
            if let Err(e) = bound {
                // An error that ends the request is the only one that is reported.
                let ends = [messages::ATTENTION.number, messages::OUT_OF_MEMORY.number];
                if ends.contains(&e.number()) {
                    return Err(vec![e]);
                }
                errors.push(e);
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }

    fn bind_place_ahead(&mut self, program: &Program, place: PlaceId) -> Result<(), SqlError> {
        let held = &program.places[place];
        // The query of the cursor reports its errors.
        if matches!(held.source, Source::CursorRow(..)) {
            return Ok(());
        }
        // Constants and variables alone are cheap to bind when they run.
        if let Source::Scalar(x, _) = &held.source
            && matches!(x.kind, tsql::ast::ExprKind::Literal(_))
        {
            return Ok(());
        }
        let visible =
            VisibleVariables { program, count: held.visible, values: &[], deduction: None };
        let sniffed = SniffedValues { program, values: &[], tables: None };
        let plan = self.state.bind(held, &visible, program.database, sniffed);
        let plan = plan.map_err(|e| e.at_line(held.line))?;
        // A plan that reads parameters is made for the values of the first call. A plan with joins
        // is made for the rows that earlier statements leave.
        let joins = plan.header.references.len() > 1 && program.places.len() > 1;
        if program.parameters.is_empty() && !joins {
            let shared = self.state.shares_plans(program, program.database, self.open.definitions);
            held.cell.keep(&plan, shared);
        }
        Ok(())
    }
}

impl State {
    /// SET PARSEONLY takes effect on its own batch as soon as it is parsed: a batch that is only
    /// parsed keeps no statement. Returns true if the batch sets PARSEONLY, or is only parsed.
    fn switch_parse_only(&mut self, batch: &mut Batch) -> bool {
        let said = batch.statements.iter().filter_map(parse_only_of).next_back();
        self.settings.parse_only = said.unwrap_or(self.settings.parse_only);
        let only = self.settings.parse_only;
        if only {
            batch.statements.clear();
        }
        only || said.is_some()
    }

    fn key<'t>(&self, kind: Kind, parameters: &'t str, text: &'t str) -> Key<'t> {
        Key {
            kind,
            database: self.database.id,
            object: ObjectId(0),
            options: self.settings.plan_key(),
            parameters,
            text,
        }
    }
}

/// A program from the cache, if the user types that it was compiled with still exist.
fn kept_program(host: &dyn Host, session: SessionId, key: &Key<'_>) -> Option<Arc<Entry<Program>>> {
    let entry = host.programs().find(key)?;
    if entry.value.types.is_empty() || types_hold(host, session, &entry.value) {
        return Some(entry);
    }
    host.programs().remove_where(|e| std::ptr::eq(e, &*entry));
    None
}

/// Whether the user types that a program was compiled with are still the same.
pub(crate) fn types_hold(host: &dyn Definitions, session: SessionId, program: &Program) -> bool {
    let Some(view) = host.view(session, program.database) else { return false };
    program.types.iter().all(|t| {
        let now = view.user_type_within(t.first, t.schema.as_deref(), &t.name);
        now.is_some_and(|now| now.object_id == t.object)
    })
}

/// Puts a program into the cache with its plans, unless it is for one run.
fn keep_program(host: &dyn Process, key: &Key<'_>, program: Program) -> Arc<Entry<Program>> {
    let plans = program.places.iter().filter_map(|p| p.cell.shown());
    let bytes = program.bytes() + plans.map(|s| s.plan.bytes()).sum::<usize>();
    let text = Arc::clone(&program.text);
    let recompile = program.recompile;
    let new = NewEntry { value: program, text, bytes };
    match recompile {
        true => host.programs().apart(key, new),
        false => host.programs().insert(key, new),
    }
}

/// The program of a procedure, function or trigger, from the cache if it is there. `given` are the
/// tables that exist when it begins. `declarer` is that of its database and text.
pub(crate) fn module_program(
    declarer: &mut Declarer<'_>,
    module: &Module,
    recompile: bool,
    given: &[Arc<Table>],
) -> Result<Arc<Entry<Program>>, Errors> {
    let shape = shape_of(module, given);
    let host = Arc::clone(&declarer.host);
    let key = Key {
        kind: Kind::Procedure,
        database: declarer.database,
        object: module.object_id,
        options: declarer.settings.plan_key_of_module(module),
        parameters: &shape,
        text: &module.text,
    };
    if !recompile && let Some(entry) = kept_program(&*host, declarer.session, &key) {
        return Ok(entry);
    }
    let program = program_of(declarer, module, recompile, given)?;
    Ok(keep_program(&*host, &key, program))
}

/// The same, compiled anew and not kept.
pub(crate) fn program_of(
    declarer: &mut Declarer<'_>,
    module: &Module,
    recompile: bool,
    given: &[Arc<Table>],
) -> Result<Program, Errors> {
    let options = tsql::ParseOptions { quoted_identifier: module.quoted_identifier };
    let parsed = tsql::parse(&module.text, options);
    if !parsed.errors.is_empty() {
        return Err(parsed.errors);
    }
    let first = parsed.batch.statements.into_iter().next();
    let Some(statement) = first else { return Err(no_program(module)) };
    let text = Arc::clone(&declarer.text);
    let mut unit = Unit {
        text: &text,
        database: declarer.database,
        schema: module.schema_id,
        object: module.object_id,
        procedure: Some(&module.name),
        quoted_identifier: module.quoted_identifier,
        ansi_nulls: module.ansi_nulls,
        parameters: Vec::new(),
        statements: Vec::new(),
        recompile: recompile || module.options.recompile,
        returns: Returns::Nothing,
        tables: given.iter().map(|t| GivenTable::Made(Arc::clone(t))).collect(),
    };
    fill(&mut unit, statement.kind, module)?;
    compile(unit, declarer)
}

/// The part of a module's cache key beside its text: its schema, which ALTER SCHEMA changes without
/// the text; and for a trigger the present columns of its table.
fn shape_of(module: &Module, given: &[Arc<Table>]) -> String {
    use std::fmt::Write as _;
    let mut shape = format!("{} ", module.schema_id.0);
    for c in given.iter().take(1).flat_map(|t| &t.columns) {
        let _ = write!(shape, "{} {} {} {:?},", c.column_id, c.name, c.sql_type, c.collation);
    }
    shape
}

/// Fills a unit from a module's statement.
fn fill(unit: &mut Unit<'_>, statement: StatementKind, module: &Module) -> Result<(), Errors> {
    match statement {
        StatementKind::Procedure(it) => {
            unit.returns = Returns::Status;
            unit.recompile |= it.options.iter().any(|o| &*o.name == "RECOMPILE");
            (unit.parameters, unit.statements) = (it.parameters, it.body);
        }
        StatementKind::Function(it) => {
            unit.parameters = it.parameters;
            match it.body {
                FunctionBody::Scalar { body, .. } => {
                    let result = module.result().map_or(SqlType::Int, |r| r.sql_type);
                    unit.returns = Returns::Value(result);
                    unit.statements = body;
                }
                FunctionBody::Table { variable, definition, body } => {
                    unit.tables.push(GivenTable::Returned(variable, definition));
                    unit.statements = body;
                }
                FunctionBody::Inline { .. } => return Err(no_program(module)),
            }
        }
        StatementKind::Trigger(it) => unit.statements = it.body,
        _ => return Err(no_program(module)),
    }
    Ok(())
}

fn no_program(module: &Module) -> Errors {
    let what = format!("{} is nothing that runs", module.name);
    vec![SqlError::new(messages::INTERNAL, &[&what])]
}

/// Whether an error is about objects that may exist when the statement runs.
pub(crate) fn is_deferred(error: &SqlError) -> bool {
    let later = [
        messages::INVALID_OBJECT.number,
        messages::OBJECT_EXISTS.number,
        messages::SYNONYM_INVALID.number,
        messages::INDEX_SET_OPTIONS.number,
        messages::DATABASE_NOT_FOUND.number,
        messages::DATABASE_SUSPECT.number,
        messages::DATABASE_OFFLINE.number,
        messages::DATABASE_INACCESSIBLE.number,
        messages::IDENTITY_INSERT_OFF.number,
        messages::IDENTITY_VALUE_REQUIRED.number,
        messages::INSERT_IDENTITY_NO_LIST.number,
        messages::CURSOR_UNKNOWN.number,
        messages::CURSOR_VARIABLE_EMPTY.number,
        messages::CURSOR_READ_ONLY.number,
        messages::CURSOR_OTHER_TABLE.number,
    ];
    // An unsupported feature is an error of the statement when it runs, if it runs.
    let unsupported = [messages::NOT_SUPPORTED.number, messages::FEATURE_NOT_SUPPORTED.number];
    later.contains(&error.number()) || unsupported.contains(&error.number())
}

/// The last PARSEONLY setting in a statement and in those within it. The statement is read, not
/// run.
fn parse_only_of(s: &Statement) -> Option<bool> {
    let last = |list: &[Statement]| list.iter().filter_map(parse_only_of).next_back();
    match &s.kind {
        StatementKind::SetOption(it) if it.names.iter().any(|n| &**n == "PARSEONLY") => {
            Some(matches!(it.value, SetOptionValue::On))
        }
        StatementKind::Block(body) => last(body),
        StatementKind::If(it) => {
            let otherwise = it.otherwise.as_ref().and_then(parse_only_of);
            otherwise.or_else(|| parse_only_of(&it.then))
        }
        StatementKind::While(it) => parse_only_of(&it.body),
        StatementKind::TryCatch(it) => last(&it.handler).or_else(|| last(&it.body)),
        _ => None,
    }
}
