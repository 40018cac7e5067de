//! User functions, run from within the statement that calls them.
//!
//! A function is a program like a procedure, but it runs while the executor of its caller runs. It
//! uses the units of work that the caller lends. It has no client and does not run in the session's
//! own loop.
//!
//! Invariants
//!  1. A function ends no transaction and releases no lock: its locks end with its caller's
//!     statement.
//!  2. An activation serves one call at a time; a call within it uses another activation.
//!  3. When a call ends, the next call may use its table variables (`functions/tables.rs`). The
//!     table that a call returns is free when its caller has released it.

use crate::answer::failure::Failure;
use crate::functions::known::{Functions, KnownFunction};
use crate::functions::tables::OwnWork;
use crate::procedures::call::Call;
use crate::program::declarer::Declarer;
use crate::program::programs::module_program;
use crate::program::steps::{
    Argument, ArgumentValue, Execute, ExecuteTarget, Program, Step, StepIndex, StepKind,
};
use crate::request::activation::Activation;
use crate::request::execute::coerce_value;
use crate::session::Session;
use crate::session::state::{NEST_LEVEL_MAX, Origin, State};
use crate::tables::private::{PrivateTable, PrivateTables};
use access::{LockPlan, RowCursor, ScanRange, SourceSize, TableSource};
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use builtins::{Fact, Question, SessionFacts};
use catalog::view::{Module, Object, SchemaId, Sequence};
use exec::{Callout, ExecContext, Executor, NoRows};
use lock::{Duration, Mode, Resource};
use plan::{Statement, UserFunction};
use plancache::Entry;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use types::datetime::{Dialect, Moment};
use types::{Decimal, SqlType, Value, fit_number};
use work::{CommitMode, Work};

/// How often a function is looked up again because definitions change meanwhile.
const ATTEMPTS_MAX: usize = 100;

/// How many functions a session remembers.
const KNOWN_MAX: usize = 32;

/// The units of work that a call uses.
pub(crate) struct CallContext<'c> {
    /// The unit of work of the calling statement.
    pub(crate) work: &'c mut Work,
    /// The unit of work that writes the call's table variables.
    pub(crate) own: OwnWork<'c>,
}

/// Calls functions for one statement.
pub(crate) struct FunctionCaller<'s> {
    pub(crate) state: &'s State,
    pub(crate) functions: &'s RefCell<Functions>,
    /// Whether the session has changed definitions that no other session sees.
    pub(crate) definitions: bool,
    /// `@@NESTLEVEL` of the call that runs.
    pub(crate) level: Cell<u32>,
    /// `@@NESTLEVEL` of the statement.
    pub(crate) outermost: u32,
    /// Table variables of the caller.
    pub(crate) around: RefCell<Vec<Option<Arc<PrivateTable>>>>,
}

impl Callout for FunctionCaller<'_> {
    fn scalar(
        &self,
        function: UserFunction,
        arguments: &mut [Value],
        work: &mut Work,
    ) -> SqlResult<Value> {
        if arguments.is_empty()
            && let Some(sequence) = self.sequence(function)
        {
            return self.next_value(function, &sequence);
        }
        self.call(function, arguments, work, |_, value, _| Ok(value))
    }

    fn rows(
        &self,
        function: UserFunction,
        arguments: &mut [Value],
        work: &mut Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        self.call(function, arguments, work, |act, _, lent| {
            // Table-valued parameters come first.
            let tables = act.program.value.parameters.iter().filter(|p| p.table.is_some());
            let number = tables.count();
            let made = self.made(act, number as u16, lent)?;
            if let Some(place) = act.tables.get_mut(number) {
                *place = None;
            }
            self.functions.borrow_mut().tables.pool.hand_over(&made);
            Ok(Arc::new(ReturnedRows(made)) as Arc<dyn TableSource>)
        })
    }
}

/// The table that a call returned, as rows.
struct ReturnedRows(Arc<PrivateTable>);

impl TableSource for ReturnedRows {
    fn scan(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        self.0.rows().scan(work, range, locks)
    }

    fn size(&self) -> SourceSize {
        self.0.rows().size()
    }
}

impl FunctionCaller<'_> {
    fn sequence(&self, function: UserFunction) -> Option<Arc<Sequence>> {
        match self.state.view(function.database)?.by_id(function.object) {
            Some(Object::Sequence(s)) => Some(s),
            _ => None,
        }
    }

    /// NEXT VALUE FOR: an error, because a user function may not change anything.
    fn next_value(&self, function: UserFunction, sequence: &Sequence) -> SqlResult<Value> {
        if self.level.get() > self.outermost {
            return Err(SqlError::new(messages::NEXT_VALUE_NESTED, &[]));
        }
        let n = self.state.host.next_value(function.database, sequence)?;
        let decimal = || Decimal::new(n, 0).map(Value::Decimal);
        let value = fit_number(n, sequence.sql_type).or_else(decimal);
        value.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&"a sequence beyond its type"]))
    }

    /// Runs a function. `then` takes the result from the function's activation.
    fn call<T>(
        &self,
        function: UserFunction,
        arguments: &mut [Value],
        work: &mut Work,
        then: impl FnOnce(&mut Activation, Value, &mut CallContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let level = self.level.get();
        if level >= NEST_LEVEL_MAX {
            return Err(SqlError::new(messages::MAX_NESTING, &[&NEST_LEVEL_MAX]));
        }
        let mut lent = CallContext { work, own: OwnWork::new(self.state, self.functions) };
        let lent = &mut lent;
        self.end_reads(lent)?;
        let entry = self.program(function, lent)?;
        let mut act = self.functions.borrow_mut().idle.take(&entry);
        for (at, argument) in arguments.iter_mut().enumerate() {
            let value = std::mem::replace(argument, Value::Null);
            match entry.value.parameters.get(at).and_then(|p| p.table) {
                Some(number) => self.hand_in(&mut act, number, &value)?,
                None => act.variables[at] = value,
            }
        }
        self.level.set(level + 1);
        let result = self.run(&mut act, lent);
        self.level.set(level);
        let result = result.and_then(|value| then(&mut act, value, lent));
        let ended = self.end_tables(&mut act, lent, result.is_ok());
        self.functions.borrow_mut().idle.give_back(act);
        let value = result?;
        ended?;
        Ok(value)
    }

    /// Passes the caller's table variable that an argument names to a function.
    fn hand_in(&self, act: &mut Activation, number: u16, argument: &Value) -> SqlResult<()> {
        let at = argument.as_i64().and_then(|n| usize::try_from(n).ok());
        let made = at.and_then(|at| self.around.borrow().get(at).cloned().flatten());
        let what = "a table argument was not made";
        let made = made.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&what]))?;
        act.tables.resize(act.program.value.tables.len(), None);
        act.tables[usize::from(number)] = Some(made);
        Ok(())
    }

    /// The function's program. No lookup is needed while no definition has changed.
    fn program(
        &self,
        function: UserFunction,
        lent: &mut CallContext<'_>,
    ) -> SqlResult<Arc<Entry<Program>>> {
        let epoch = self.state.host.definitions_epoch();
        {
            let functions = self.functions.borrow();
            let known = functions.known.iter().find(|k| k.function == function);
            if let Some(known) = known.filter(|k| k.epoch == epoch) {
                return Ok(Arc::clone(&known.entry));
            }
        }
        let module = self.module(function)?;
        let mut declarer = Declarer {
            host: Arc::clone(&self.state.host),
            session: self.state.id(),
            database: function.database,
            schema: SchemaId::DBO,
            work: lent.work,
            settings: &self.state.settings,
            text: (&*module.text).into(),
            undeclared: None,
        };
        let made = module_program(&mut declarer, &module, false, &[]);
        let entry = made.map_err(|errors| {
            let first = errors.into_iter().next();
            let first = first.unwrap_or_else(|| SqlError::new(messages::INTERNAL, &[&"no error"]));
            first.in_procedure(&module.name)
        })?;
        let mut functions = self.functions.borrow_mut();
        functions.known.retain(|k| k.function != function);
        if functions.known.len() == KNOWN_MAX {
            functions.known.remove(0);
        }
        functions.known.push(KnownFunction { function, epoch, entry: Arc::clone(&entry) });
        Ok(entry)
    }

    fn module(&self, function: UserFunction) -> SqlResult<Arc<Module>> {
        let view = self.state.view(function.database);
        match view.and_then(|v| v.by_id(function.object)) {
            Some(Object::Module(m)) => Ok(m),
            _ => Err(SqlError::new(messages::INTERNAL, &[&"a function is not there"])),
        }
    }

    fn run(&self, act: &mut Activation, lent: &mut CallContext<'_>) -> SqlResult<Value> {
        let entry = Arc::clone(&act.program);
        let program = &entry.value;
        let facts = Facts {
            state: self.state,
            level: self.level.get(),
            object: program.object,
            database: program.database,
            rows: Cell::new(0),
        };
        let mut at = 0;
        while let Some(step) = program.steps.get(at) {
            lent.work.owner().waiter().check()?;
            let next = self.step(step, act, lent, &facts).map_err(|e| {
                let e = e.at_line(step.span.line);
                match &program.procedure {
                    Some(name) => e.in_procedure(name),
                    None => e,
                }
            })?;
            match next {
                NextStep::Step => at += 1,
                NextStep::To(to) => at = to,
                NextStep::Return(value) => return Ok(value),
            }
        }
        Ok(Value::Null)
    }

    fn step(
        &self,
        step: &Step,
        act: &mut Activation,
        lent: &mut CallContext<'_>,
        facts: &Facts<'_>,
    ) -> SqlResult<NextStep> {
        Ok(match &step.kind {
            StepKind::Run(place) => {
                let outcome = self.execute(act, *place, lent, facts, |executor, context| {
                    executor.run(context, &mut NoRows)
                })?;
                facts.rows.set(outcome.rows_affected);
                return Ok(NextStep::Step);
            }
            StepKind::Assign { variable, place, .. } => {
                let variable = variable.0 as usize;
                self.execute(act, *place, lent, facts, |executor, c| executor.assign(c, variable))?;
                facts.rows.set(1);
                return Ok(NextStep::Step);
            }
            StepKind::Branch { place, otherwise } => {
                let truth =
                    self.execute(act, *place, lent, facts, |executor, c| executor.decide(c))?;
                facts.rows.set(0);
                if truth == Some(true) { NextStep::Step } else { NextStep::To(*otherwise) }
            }
            StepKind::Jump { to, .. } => NextStep::To(*to),
            StepKind::Return(Some(place)) => {
                NextStep::Return(self.value(act, *place, lent, facts)?)
            }
            StepKind::Return(None) => NextStep::Return(Value::Null),
            StepKind::Execute(it) => {
                self.call_function(it, act, lent, facts)?;
                NextStep::Step
            }
            StepKind::Unsupported(what) => {
                return Err(SqlError::new(messages::NOT_SUPPORTED, &[what]));
            }
            _ => {
                let what = "this statement in a function";
                return Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]));
            }
        })
    }

    fn value(
        &self,
        act: &mut Activation,
        place: usize,
        lent: &mut CallContext<'_>,
        facts: &Facts<'_>,
    ) -> SqlResult<Value> {
        self.execute(act, place, lent, facts, |executor, context| executor.evaluate(context))
    }

    /// EXECUTE of another scalar function; of anything else it is error 557.
    fn call_function(
        &self,
        it: &Execute,
        act: &mut Activation,
        lent: &mut CallContext<'_>,
        facts: &Facts<'_>,
    ) -> SqlResult<()> {
        let refused = || SqlError::new(messages::ONLY_FUNCTIONS_IN_FUNCTION, &[]);
        let ExecuteTarget::Procedure(name) = &it.what else { return Err(refused()) };
        let dialect = self.state.settings.dialect();
        let program = &act.program.value;
        let from = Origin { database: program.database, schema: program.schema };
        let Some((database, module)) = self.state.find_scalar_function(name, from) else {
            return Err(refused());
        };
        let own = self.state.view(program.database).map(|v| v.collation()).unwrap_or_default();
        let mut arguments = Vec::with_capacity(it.arguments.len());
        for (argument, parameter) in it.arguments.iter().zip(module.arguments()) {
            let (value, from) = self.argument(argument, act, lent, facts)?;
            arguments.push(coerce_value(&value, from, parameter.sql_type, dialect, own)?);
        }
        if arguments.len() != module.arguments().count() || it.arguments.len() != arguments.len() {
            return Err(SqlError::new(messages::INVALID_PARAMETERS_TO_TVF, &[name]));
        }
        let function = UserFunction { database, object: module.object_id };
        let value = self.scalar(function, &mut arguments, lent.work)?;
        if let (Some(variable), Some(result)) = (it.result, module.result()) {
            let wanted = act.program.value.variables[variable.0 as usize].sql_type;
            act.variables[variable.0 as usize] =
                coerce_value(&value, result.sql_type, wanted, dialect, own)?;
        }
        Ok(())
    }

    fn argument(
        &self,
        argument: &Argument,
        act: &mut Activation,
        lent: &mut CallContext<'_>,
        facts: &Facts<'_>,
    ) -> SqlResult<(Value, SqlType)> {
        match argument.value {
            ArgumentValue::Variable(v) => {
                let sql_type = act.program.value.variables[v.0 as usize].sql_type;
                Ok((act.variables[v.0 as usize].clone(), sql_type))
            }
            ArgumentValue::Place(place) => {
                let value = self.value(act, place, lent, facts)?;
                let ready = act.ready[place].as_ref().expect("it has just been evaluated");
                let sql_type = match &ready.plan.statement {
                    Statement::Scalar(x) => x.ty.sql_type,
                    _ => SqlType::Int,
                };
                Ok((value, sql_type))
            }
            ArgumentValue::Table(_) => {
                let what = "a table-valued parameter of EXECUTE in a function";
                Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]))
            }
            ArgumentValue::Cursor(_) => {
                let what = "a cursor as an argument of EXECUTE in a function";
                Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]))
            }
            ArgumentValue::Default => {
                let what = "DEFAULT as an argument of EXECUTE in a function";
                Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]))
            }
        }
    }

    /// Runs the executor of a place.
    fn execute<T>(
        &self,
        act: &mut Activation,
        place: usize,
        lent: &mut CallContext<'_>,
        facts: &Facts<'_>,
        run: impl FnOnce(&mut Executor, &mut ExecContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.ready(act, place, lent.work)?;
        let ready = act.ready[place].as_ref().expect("made ready above");
        let numbers = ready.private.clone();
        let writes = ready.plan.writes_private();
        for &number in &numbers {
            self.made(act, number, lent)?;
        }
        let host = &*self.state.host;
        let tables = PrivateTables { host, made: &act.tables, captures: &[] };
        let private = !numbers.is_empty();
        if writes {
            lent.own.get().begin(false, "");
        }
        let header = &act.ready[place].as_ref().expect("made ready above").plan.header;
        let moment = self.state.moment(lent.work, header, false)?;
        let mut context = ExecContext {
            work: lent.work,
            private: writes.then(|| lent.own.get()),
            hobts: if private { &tables } else { host.hobts() },
            spill: host.spill(),
            variables: &mut act.variables,
            facts,
            identity: if private { &tables } else { host.identity() },
            callout: self,
            grant: exec::GrantTerms { workers: None, ..host.grant() },
            isolation: self.state.settings.isolation,
            as_of: moment.as_ref().map(crate::request::perform::Moment::at),
            qualifies_first: false,
            row_limit: None,
        };
        let ready = act.ready[place].as_mut().expect("made ready above");
        let own_tables = if ready.plan.header.calls { act.tables.clone() } else { Vec::new() };
        let around = self.around.replace(own_tables);
        let result = run(&mut ready.executor, &mut context);
        self.around.replace(around);
        if writes {
            let work = lent.own.get();
            let ended = match &result {
                Ok(_) => work.commit(CommitMode::Full),
                Err(_) => work.roll_back(),
            };
            ended.map_err(|e| e.into_sql("tempdb"))?;
        }
        result
    }

    /// A place with a current plan, with Sch-S locks on the objects that the plan names.
    fn ready(&self, act: &mut Activation, place: usize, work: &mut Work) -> SqlResult<()> {
        let host = &self.state.host;
        let database = act.program.value.database;
        for _ in 0..ATTEMPTS_MAX {
            let epoch = host.definitions_epoch();
            let is_ready = act.ready[place].as_ref().is_some_and(|r| {
                r.epoch == epoch
                    && r.names_version == self.state.names_version()
                    && self.state.is_bound_alike(&r.plan.header, &act.program.value)
            });
            if !is_ready {
                let made = self.state.make_ready(act, place, epoch, database, self.definitions);
                made.map_err(|failure| failure.error.clone())?;
            }
            let ready = act.ready[place].as_ref().expect("made ready above");
            if ready.plan.header.references.is_empty() {
                return Ok(());
            }
            self.hold_schema(&ready.plan.header.references, work)?;
            if host.definitions_epoch() == epoch || self.state.is_current(&ready.plan.header) {
                return Ok(());
            }
            act.ready[place] = None;
        }
        let what = "definitions kept changing while a function was bound";
        Err(SqlError::new(messages::INTERNAL, &[&what]))
    }

    fn hold_schema(&self, references: &[plan::Reference], work: &mut Work) -> SqlResult<()> {
        for reference in references.iter().filter(|r| r.object.0 >= 0) {
            if reference.database != self.state.database.id {
                self.state.host.hold_database(work, reference.database)?;
            }
            let resource = Resource::object(reference.database, reference.object);
            let (owner, timeout) = (work.owner(), work.timeout());
            work.locks().lock(owner, resource, Mode::SchS, Duration::Short, timeout, None)?;
        }
        Ok(())
    }
}

/// The continuation after a step.
enum NextStep {
    Step,
    To(StepIndex),
    Return(Value),
}

/// The session's answers to a function, with the function's own row count and nesting level.
struct Facts<'s> {
    state: &'s State,
    level: u32,
    object: ObjectId,
    /// The function's own database.
    database: DatabaseId,
    rows: Cell<u64>,
}

impl SessionFacts for Facts<'_> {
    fn fact(&self, fact: Fact) -> SqlResult<Value> {
        match fact {
            Fact::RowCount => Ok(Value::BigInt(self.rows.get() as i64)),
            Fact::NestLevel => Ok(Value::Int(self.level as i32)),
            Fact::ProcId => Ok(Value::Int(self.object.0)),
            Fact::Error => Ok(Value::Int(0)),
            Fact::CurrentDatabaseId => Ok(Value::SmallInt(self.database.0 as i16)),
            Fact::CurrentDatabaseName if self.database != self.state.database.id => {
                let view = self.state.view(self.database);
                Ok(view.map_or(Value::Null, |v| Value::nvarchar(v.name())))
            }
            other => self.state.fact(other),
        }
    }

    fn resolve(&self, question: Question, arguments: &[Value]) -> SqlResult<Value> {
        self.state.resolve(question, arguments)
    }

    fn clock(&self) -> Moment {
        self.state.clock()
    }

    fn dialect(&self) -> Dialect {
        self.state.settings.dialect()
    }

    fn random(&self) -> u64 {
        self.state.random()
    }

    fn rand(&self, seed: Option<i64>) -> f64 {
        self.state.rand(seed)
    }
}

impl Session {
    /// `EXECUTE @r = schema.function …`
    pub(crate) fn execute_function(
        &mut self,
        database: DatabaseId,
        module: &Module,
        call: &mut Call,
    ) -> Result<Value, Failure> {
        let entry = match self.procedure_program(database, module, false) {
            Ok(entry) => entry,
            Err(errors) => {
                let first = errors.into_iter().next();
                let none = || SqlError::new(messages::INTERNAL, &[&"no error"]);
                return Err(Failure::of_binding(first.unwrap_or_else(none)));
            }
        };
        let mut act = self.idle.take(&entry);
        if entry.value.parameters.iter().any(|p| p.table.is_some()) {
            self.idle.give_back(act);
            let what = "EXECUTE of a function with table-valued parameters";
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]).into());
        }
        let filled = self.fill_arguments(&module.name, &mut act, call);
        let count = entry.value.parameters.len();
        let mut arguments: Vec<Value> = act.variables.iter().take(count).cloned().collect();
        self.idle.give_back(act);
        filled?;
        self.begin_if_implicit();
        let own = self.begin_statement();
        let function = UserFunction { database, object: module.object_id };
        let caller = FunctionCaller {
            state: &self.state,
            functions: &self.functions,
            definitions: self.open.definitions,
            level: Cell::new(self.state.nesting.level),
            outermost: self.state.nesting.level,
            around: RefCell::default(),
        };
        let result = caller.scalar(function, &mut arguments, &mut self.work);
        self.drop_function_tables(false);
        self.end_statement(own, result, None)
    }
}

impl State {
    /// A scalar function by a name that includes its schema.
    pub(crate) fn find_scalar_function(
        &self,
        name: &tsql::ast::ObjectName,
        from: Origin,
    ) -> Option<(DatabaseId, Arc<Module>)> {
        name.schema.as_ref()?;
        match self.find_object_from(name, from)? {
            (database, Object::Module(m))
                if m.kind == catalog::view::ModuleKind::ScalarFunction =>
            {
                Some((database, m))
            }
            _ => None,
        }
    }
}
