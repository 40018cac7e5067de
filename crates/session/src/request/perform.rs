//! Runs one place: bind, optimize, lock against DDL, execute, undo on error.
//!
//! Invariants
//!  1. A plan runs only under Sch-S on every object it refers to, and only if its databases still
//!     have the versions it was bound in when those locks are held.
//!  2. A statement that fails leaves none of its changes.
//!  3. A place that is ready and whose epoch has not changed runs without allocation, parsing or
//!     lookup of a name.

use crate::answer::failure::Failure;
use crate::answer::output::{Output, Rows};
use crate::answer::sink::ResultColumn;
use crate::answer::text_size::TextSize;
use crate::functions::caller::FunctionCaller;
use crate::program::compilation::Compilation;
use crate::program::plan_facts::{PlanFacts, SniffedValues};
use crate::program::steps::{Place, PlaceId, Program, Source, VisibleVariables};
use crate::request::activation::{Activation, ReadyPlace};
use crate::request::meter::Meter;
use crate::session::Session;
use crate::session::registry::ShownStatement;
use crate::session::settings::Switches;
use crate::session::state::{Names, Origin, State};
use crate::showplan::running::RunningStatement;
use crate::tables::private::{PrivateTables, touched};
use access::Isolation;
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::view::{Column, Object, Table};
use exec::{ExecContext, Executor, NoRows, Outcome, RowFeed};
use lock::{Duration, Mode, Resource};
use plan::{PhysicalPlan, Statement, VariableId};
use plancache::Entry;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use types::Value;
use work::{CommitMode, CommitTime, Refusal, STATEMENT_VERSIONS, Snapshot, Work};

/// What the plans of statements that ran show: the statement locked its rows after they qualified,
/// or it met a row that had changed since.
const QUALIFIED_FIRST: &str = "Used";

const RAN_AGAIN: &str = "Restarted";

/// Tables of tempdb need no versions under SNAPSHOT.
const TEMPDB: DatabaseId = DatabaseId(2);

/// How often a plan is made again because definitions changed meanwhile.
const REBINDS_MAX: usize = 100;

/// The moment as of which a statement reads.
pub(crate) enum Moment {
    /// Its own moment, registered until this is dropped.
    Statement(Snapshot),
    /// Its transaction's moment.
    Transaction(CommitTime),
}

impl Moment {
    pub(crate) fn at(&self) -> CommitTime {
        match self {
            Moment::Statement(snapshot) => snapshot.at(),
            Moment::Transaction(at) => *at,
        }
    }
}

/// The error of a database that cannot be read under SNAPSHOT.
fn refused(why: Refusal, database: &str) -> SqlError {
    let message = match why {
        Refusal::BegunOtherwise => messages::SNAPSHOT_TOO_LATE,
        Refusal::NotAllowed => messages::SNAPSHOT_NOT_ALLOWED,
        Refusal::GoingOff => messages::SNAPSHOT_GOING_OFF,
        Refusal::ComingOn => messages::SNAPSHOT_COMING_ON,
        Refusal::Later => messages::SNAPSHOT_BEFORE_ALLOWED,
    };
    SqlError::new(message, &[&database])
}

impl Session {
    /// The value of an expression's place.
    pub(crate) fn value(&mut self, act: &mut Activation, place: PlaceId) -> Result<Value, Failure> {
        let ready = self.ready(act, place)?;
        if ready.plan.header.references.is_empty() {
            return Ok(self.with_context(act, place, |e, c| e.evaluate(c))?);
        }
        let meter = self.meter();
        let value = self.within_transaction(act, place, |e, c| e.evaluate(c))?;
        self.count_run(act, place, &meter, 1);
        Ok(value)
    }

    /// Assigns the value of an expression's place to a variable.
    pub(crate) fn assign_value(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        variable: VariableId,
    ) -> Result<(), Failure> {
        let variable = variable.0 as usize;
        let ready = self.ready(act, place)?;
        if ready.plan.header.references.is_empty() {
            return Ok(self.with_context(act, place, |e, c| e.assign(c, variable))?);
        }
        let meter = self.meter();
        self.within_transaction(act, place, |e, c| e.assign(c, variable))?;
        self.count_run(act, place, &meter, 1);
        Ok(())
    }

    /// Whether a condition's place is true.
    pub(crate) fn is_true(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
    ) -> Result<bool, Failure> {
        let ready = self.ready(act, place)?;
        if ready.plan.header.references.is_empty() {
            return Ok(self.with_context(act, place, |e, c| Ok(e.decide(c)? == Some(true)))?);
        }
        let meter = self.meter();
        let holds = self.within_transaction(act, place, |e, c| Ok(e.decide(c)? == Some(true)))?;
        self.count_run(act, place, &meter, 1);
        Ok(holds)
    }

    /// Runs an INSERT whose rows a source feeds, and the triggers that it fires.
    pub(crate) fn run_fed(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        feed: &mut dyn RowFeed,
        out: &mut Output<'_>,
    ) -> Result<Outcome, Failure> {
        let fires = !self.ready(act, place)?.plan.header.fires.is_empty();
        match fires {
            true => self.run_firing(act, place, out, |e, c, _| e.load(c, feed)),
            false => self.within_transaction(act, place, |e, c| e.load(c, feed)),
        }
    }

    /// Runs a SELECT, INSERT, UPDATE or DELETE. The meter began when the place was ready.
    pub(crate) fn run_statement(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        out: &mut Output<'_>,
    ) -> Result<(Outcome, Meter), Failure> {
        let keeps_last = self.ready(act, place)?.keeps_last;
        self.flow.last &= !keeps_last;
        let meter = self.meter();
        let outcome = self.run_ready(act, place, out)?;
        self.hold_if_owing(out);
        Ok((outcome, meter))
    }

    fn run_ready(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        out: &mut Output<'_>,
    ) -> Result<Outcome, Failure> {
        let ready = act.ready[place].as_ref().expect("made ready by the caller");
        let gives_rows = ready.plan.statement.result_columns().is_some();
        let is_query = matches!(ready.plan.statement, Statement::Query(_));
        let touches = !ready.plan.header.references.is_empty();
        let fires = !ready.plan.header.fires.is_empty();
        let limit = if is_query { self.state.settings.row_count } else { 0 };
        if !gives_rows {
            if !touches {
                let run = |executor: &mut Executor, context: &mut ExecContext<'_>| {
                    executor.run(context, &mut NoRows)
                };
                return Ok(self.with_context(act, place, run)?);
            }
            if fires {
                return self.run_firing(act, place, out, |e, c, _| e.run(c, &mut NoRows));
            }
            return self.within_transaction(act, place, |e, c| e.run(c, &mut NoRows));
        }
        out.columns(&ready.columns)?;
        let text = TextSize::of(self.state.settings.text_size, &ready.columns);
        if fires {
            return self.run_firing(act, place, out, |e, c, out| {
                e.run(c, &mut Rows { out, text, limit, sent: 0, enough: false })
            });
        }
        let mut rows = Rows { out, text, limit, sent: 0, enough: false };
        let run = |executor: &mut Executor, context: &mut ExecContext<'_>| {
            let result = executor.run(context, &mut rows);
            match result {
                Err(_) if rows.enough => {
                    Ok(Outcome { rows_affected: rows.sent, ..Outcome::default() })
                }
                other => other,
            }
        };
        match touches {
            true => self.within_transaction(act, place, run),
            false => Ok(self.with_context(act, place, run)?),
        }
    }

    /// Runs an executor with the present state of the session.
    pub(crate) fn with_context<T>(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        run: impl FnOnce(&mut Executor, &mut ExecContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.with_context_of(act, place, false, run)
    }

    /// The same. The rows of its target are locked before or after they qualify.
    fn with_context_of<T>(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        qualifies_first: bool,
        run: impl FnOnce(&mut Executor, &mut ExecContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let host = &*self.host;
        let ready = act.ready[place].as_mut().expect("made ready by the caller");
        let shown = ready.running.as_ref().map(|r| ShownStatement::new(&self.state.entry, r));
        let private = !ready.private.is_empty();
        let tables = PrivateTables { host, made: &act.tables, captures: &act.captures };
        let around = if ready.plan.header.calls { act.tables.clone() } else { Vec::new() };
        let caller = FunctionCaller {
            state: &self.state,
            functions: &self.functions,
            definitions: self.open.definitions,
            level: Cell::new(self.state.nesting.level),
            outermost: self.state.nesting.level,
            around: RefCell::new(around),
        };
        let header = &ready.plan.header;
        let moment = self.state.moment(&mut self.work, header, qualifies_first)?;
        let mut context = ExecContext {
            work: &mut self.work,
            private: self.tables.work.as_deref_mut(),
            hobts: if private { &tables } else { host.hobts() },
            spill: host.spill(),
            variables: &mut act.variables,
            facts: &self.state,
            identity: if private { &tables } else { host.identity() },
            callout: &caller,
            grant: host.grant(),
            isolation: self.state.settings.isolation,
            as_of: moment.as_ref().map(Moment::at),
            qualifies_first: qualifies_first && moment.is_some(),
            row_limit: Some(self.state.settings.row_count).filter(|&n| n != 0),
        };
        let result = run(&mut ready.executor, &mut context);
        drop(shown);
        self.drop_function_tables(false);
        result
    }

    /// The same within the user's transaction or one of its own. A failure is undone.
    pub(crate) fn within_transaction<T>(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        mut run: impl FnMut(&mut Executor, &mut ExecContext<'_>) -> SqlResult<T>,
    ) -> Result<T, Failure> {
        let own = self.begin_change(act, place)?;
        let ready = act.ready[place].as_ref().expect("made ready by the caller");
        let changes = ready.plan.writes_shared();
        let qualifies = if changes { self.qualifies_first(&ready.plan) } else { None };
        let first = qualifies == Some(Ok(()));
        self.spent.took.qualified = qualifies.map(|may| may.err().unwrap_or(QUALIFIED_FIRST));
        let point = (changes && (first || !own)).then(|| self.rollback_point());
        let part = match self.begin_private(act, place) {
            Ok(part) => part,
            Err(failure) => {
                self.end_statement(own, Ok(()), None)?;
                return Err(failure);
            }
        };
        let again = point.as_ref().filter(|_| first);
        let result = self.run_or_again(act, place, again, &mut run);
        let result = self.end_statement(own, result, point.as_ref());
        self.end_private(&part, result.is_ok())?;
        result
    }

    /// Runs a statement. With a rollback point it first finds its rows without locks. If a row that
    /// it is about to change has changed since, or if such a read is an error, everything is
    /// undone, and the statement runs again and locks rows before it reads them.
    fn run_or_again<T>(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        again: Option<&crate::request::open::RollbackPoint>,
        run: &mut impl FnMut(&mut Executor, &mut ExecContext<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let result = self.with_context_of(act, place, again.is_some(), &mut *run);
        match (&result, again) {
            (Err(e), Some(point)) if self.may_run_again(e) => {
                self.spent.took.qualified = Some(RAN_AGAIN);
                self.roll_back_to(point)?;
                self.with_context(act, place, run)
            }
            (Ok(_) | Err(_), Some(_) | None) => result,
        }
    }

    /// Whether an error of a statement that finds its rows without locks may come from the moment
    /// that it reads: rows have changed since, versions were not kept, or another transaction is
    /// changing the values. Errors that end waits, or that come from lack of resources, do not
    /// count.
    fn may_run_again(&self, e: &SqlError) -> bool {
        let ends = [messages::DEADLOCK_VICTIM.number, messages::LOCK_TIMEOUT.number];
        let cancelled = self.work.owner().waiter().check().is_err();
        e.severity() <= 16 && !ends.contains(&e.number()) && !cancelled
    }

    /// Whether a statement finds its rows without locks (lock after qualification), if the
    /// isolation level and the plan allow it; else the reason why not. `None` if optimized locking
    /// is off.
    fn qualifies_first(&self, plan: &PhysicalPlan) -> Option<Result<(), &'static str>> {
        let target =
            plan.statement.target().filter(|_| self.work.engine().has_optimized_locking())?;
        let home = self.host.home(target.database).filter(|h| h.has_optimized_locking())?;
        Some(if home.versioning() & STATEMENT_VERSIONS == 0 {
            Err("ReadCommittedSnapshotOff")
        } else if self.state.settings.isolation != Isolation::ReadCommitted {
            Err("IsolationLevel")
        } else {
            plan.qualifies_first().map(|_| ())
        })
    }

    /// Begins a statement's transaction, unless one is open, and takes its schema locks. Returns
    /// whether it began one.
    pub(crate) fn begin_change(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
    ) -> Result<bool, Failure> {
        self.begin_if_implicit();
        let own = self.begin_statement();
        if let Err(e) = self.hold_schema(act, place) {
            match own {
                true => self.roll_back_work()?,
                false => self.work.locks().release_short(self.work.owner()),
            }
            return Err(e);
        }
        let ready = act.ready[place].as_ref().expect("made ready by the caller");
        let changes = ready.plan.writes_shared() || !ready.plan.header.fires.is_empty();
        if changes && self.state.transaction.doomed {
            self.work.locks().release_short(self.work.owner());
            return Err(SqlError::new(messages::XACT_DOOMED_COMMIT, &[]).into());
        }
        Ok(own)
    }

    /// Ends a statement's own transaction; within the user's transaction it undoes only the
    /// statement.
    pub(crate) fn end_statement<T>(
        &mut self,
        own: bool,
        result: SqlResult<T>,
        point: Option<&crate::request::open::RollbackPoint>,
    ) -> Result<T, Failure> {
        match (result, own) {
            (Ok(value), true) => match self.commit_work(CommitMode::Full) {
                Ok(()) => Ok(value),
                Err(e) => {
                    self.roll_back_work()?;
                    Err(e.into())
                }
            },
            (Ok(value), false) => {
                self.work.locks().release_short(self.work.owner());
                Ok(value)
            }
            (Err(e), true) => {
                self.roll_back_work()?;
                Err(e.into())
            }
            (Err(e), false) => {
                if let Some(point) = point {
                    self.roll_back_to(point)?;
                }
                self.work.locks().release_short(self.work.owner());
                Err(e.into())
            }
        }
    }

    /// Takes Sch-S locks on the objects of a ready place. If definitions changed before the locks
    /// were granted, makes it ready again.
    fn hold_schema(&mut self, act: &mut Activation, place: PlaceId) -> Result<(), Failure> {
        for _ in 0..REBINDS_MAX {
            let ready = act.ready[place].as_ref().expect("made ready by the caller");
            let epoch = ready.epoch;
            for reference in &ready.plan.header.references {
                // System views have no pages that DDL could remove.
                if reference.object.0 < 0 {
                    continue;
                }
                if reference.database != self.state.database.id {
                    self.host.hold_database(&self.work, reference.database)?;
                }
                let resource = Resource::object(reference.database, reference.object);
                self.work
                    .locks()
                    .lock(
                        self.work.owner(),
                        resource,
                        Mode::SchS,
                        Duration::Short,
                        self.work.timeout(),
                        None,
                    )
                    .map_err(SqlError::from)?;
            }
            if self.host.definitions_epoch() == epoch || self.state.still_current(act, place) {
                return Ok(());
            }
            self.work.locks().release_short(self.work.owner());
            act.ready[place] = None;
            self.ready(act, place)?;
        }
        let what = "definitions kept changing while a statement was bound";
        Err(SqlError::new(messages::INTERNAL, &[&what]).into())
    }

    /// A place with a plan that was current when it was checked.
    #[inline]
    pub(crate) fn ready<'a>(
        &mut self,
        act: &'a mut Activation,
        place: PlaceId,
    ) -> Result<&'a ReadyPlace, Failure> {
        let epoch = self.host.definitions_epoch();
        let database = self.state.names_database(act);
        let is_ready = match &act.ready[place] {
            Some(r) => {
                r.epoch == epoch
                    && r.database == database
                    && r.names_version == self.state.names_version()
                    && !r.plan.header.recompile
                    && r.executor.is_timed() == self.state.settings.shows_what_ran()
                    && self.state.is_bound_alike(&r.plan.header, &act.program.value)
            }
            None => false,
        };
        if !is_ready {
            let definitions = self.open.definitions;
            self.state.make_ready(act, place, epoch, database, definitions)?;
            if self.state.gather_temporary() {
                act.ready[place] = None;
                self.state.make_ready(act, place, epoch, database, definitions)?;
            }
        }
        Ok(act.ready[place].as_ref().expect("made ready above"))
    }

    /// The schema and database in which the names of a text are looked up.
    pub(crate) fn origin(&self, act: &Activation) -> Origin {
        Origin { database: self.state.names_database(act), schema: act.program.value.schema }
    }

    /// The table that a SELECT INTO will make.
    pub(crate) fn table_to_be(
        &self,
        act: &Activation,
        place: PlaceId,
    ) -> SqlResult<bind::IntoTable> {
        let program = &act.program.value;
        let held = &program.places[place];
        let Source::Into(statement) = &held.source else {
            return Err(SqlError::new(messages::INTERNAL, &[&"the place has no INTO"]));
        };
        let visible =
            VisibleVariables { program, count: held.visible, values: &[], deduction: None };
        let compilation = Compilation::new(self.entry().waiter());
        let database = self.state.names_database(act);
        let bound = self.state.with_names(&visible, database, &compilation, |environment| {
            bind::bind_statement(environment, statement)
        })?;
        let missing = || SqlError::new(messages::INTERNAL, &[&"the SELECT has no INTO"]);
        bound.into.ok_or_else(missing)
    }
}

impl State {
    fn still_current(&self, act: &Activation, place: PlaceId) -> bool {
        let ready = act.ready[place].as_ref().expect("made ready by the caller");
        self.is_current(&ready.plan.header)
    }

    /// The database of names that do not give one: a procedure's own database, else the session's.
    fn names_database(&self, act: &Activation) -> DatabaseId {
        let program = &act.program.value;
        if program.procedure.is_some() { program.database } else { self.database.id }
    }

    /// Makes a place ready. `definitions`: the session has changed some that no other session sees.
    #[cold]
    pub(crate) fn make_ready(
        &self,
        act: &mut Activation,
        place: PlaceId,
        epoch: u64,
        database: DatabaseId,
        definitions: bool,
    ) -> Result<(), Failure> {
        let names_version = self.names_version();
        let timed = self.settings.shows_what_ran();
        if let Some(ready) = &mut act.ready[place]
            && ready.executor.is_timed() == timed
            && ready.database == database
            && !ready.plan.header.recompile
            && (ready.names_version == names_version || !ready.plan.header.session_bound)
            && self.is_bound_alike(&ready.plan.header, &act.program.value)
            && self.is_current(&ready.plan.header)
        {
            (ready.epoch, ready.names_version) = (epoch, names_version);
            return Ok(());
        }
        let entry = Arc::clone(&act.program);
        let held = &entry.value.places[place];
        let shared = self.shares_plans(&entry.value, database, definitions);
        let usable = |h: &plan::Header| self.is_bound_alike(h, &entry.value) && self.is_current(h);
        let kept = if shared { held.cell.get(usable) } else { None };
        let plan = match kept {
            Some(plan) => plan,
            None => {
                let (program, values) = (&entry.value, &*act.variables);
                let visible =
                    VisibleVariables { program, count: held.visible, values, deduction: None };
                let sniffed = SniffedValues { program, values, tables: Some(&act.tables) };
                let bound = self.bind(held, &visible, database, sniffed);
                let plan = bound.map_err(|e| Failure::of_binding(e.at_line(held.line)))?;
                self.keep_plan(&entry, place, &plan, shared);
                plan
            }
        };
        let columns = result_columns(&plan);
        let executor = if timed { Executor::timed(&plan) } else { Executor::new(&plan) }?;
        let options = self.host.database_options(database).unwrap_or_default();
        let running = RunningStatement::of(&entry, place, &plan, &executor);
        let running = running.filter(|_| options.lightweight_profiling || timed);
        let private = touched(&plan);
        let changed = self.changed(&plan);
        act.ready[place] = Some(Box::new(ReadyPlace {
            plan,
            executor,
            epoch,
            names_version,
            database,
            private,
            changed,
            columns,
            running,
            keeps_last: options.last_plan_statistics,
        }));
        Ok(())
    }

    /// Whether plans made here and now mean the same to other sessions.
    pub(crate) fn shares_plans(
        &self,
        program: &Program,
        database: DatabaseId,
        definitions: bool,
    ) -> bool {
        database == program.database
            && self.identity.insert.is_none()
            && !definitions
            && !program.recompile
    }

    /// Keeps a place's plan for other sessions, or to be shown, and charges its memory.
    fn keep_plan(
        &self,
        entry: &Entry<Program>,
        place: PlaceId,
        plan: &Arc<PhysicalPlan>,
        shared: bool,
    ) {
        if entry.value.places[place].cell.shown().is_some() {
            self.host.programs().count_compiled();
        }
        if entry.value.places[place].cell.keep(plan, shared) {
            self.host.programs().charge(entry, plan.bytes());
        }
    }

    /// Whether a plan was bound under the present SET options.
    #[inline]
    pub(crate) fn is_bound_alike(&self, header: &plan::Header, program: &Program) -> bool {
        header.switches == self.settings.bound_under(program).bits()
    }

    /// The moment as of which a statement reads, if versions of rows are kept: its own moment under
    /// READ_COMMITTED_SNAPSHOT, which ends with it; its transaction's moment under SNAPSHOT. A
    /// change that locks its rows before it reads them, and reads nothing else, needs none. The
    /// schema locks of its tables are held.
    pub(crate) fn moment(
        &self,
        work: &mut Work,
        header: &plan::Header,
        qualifies_first: bool,
    ) -> SqlResult<Option<Moment>> {
        // System views have no tables to lock.
        let tables = header.references.iter().filter(|r| r.object.0 >= 0);
        tables.for_each(|table| work.touches(table.database));
        if self.settings.isolation == Isolation::Snapshot {
            return Ok(self.transaction_moment(work, header)?.map(Moment::Transaction));
        }
        if !header.own_level.is_empty() {
            work.reads_otherwise();
        }
        let by_statement = (header.reads_versions || qualifies_first)
            && work.engine().has_versions()
            && self.settings.isolation == Isolation::ReadCommitted
            && header.databases.iter().any(|(d, _)| self.host.reads_versions(*d));
        if !by_statement {
            return Ok(None);
        }
        work.uses_versions();
        Ok(Some(Moment::Statement(work.statement_snapshot())))
    }

    fn transaction_moment(
        &self,
        work: &mut Work,
        header: &plan::Header,
    ) -> SqlResult<Option<CommitTime>> {
        let mut moment = None;
        for database in header.own_level.iter().filter(|d| **d != TEMPDB) {
            let Some(home) = self.host.home(*database) else { continue };
            let at = work.read_as_of(&home).map_err(|why| refused(why, &home.name()))?;
            let of_it = |r: &&plan::Reference| r.database == *database;
            if header.references.iter().filter(of_it).any(|r| home.redefined_since(r.object, at)) {
                return Err(SqlError::new(messages::DEFINITION_CONFLICT, &[&home.name()]));
            }
            moment = Some(at);
        }
        Ok(moment)
    }

    /// Binds part of a text in a database.
    fn with_names<T>(
        &self,
        variables: &VisibleVariables<'_>,
        database: DatabaseId,
        compilation: &Compilation<'_>,
        bind: impl FnOnce(&bind::Environment<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let Some(current) = self.view(database) else {
            return Err(SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]));
        };
        let (schema, refused) = (variables.program.schema, RefCell::default());
        let names = Names { state: self, current, schema, variables: Some(variables), refused };
        let bound = bind(&bind::Environment {
            catalogs: &names,
            variables,
            identity_insert: self.identity.insert.as_ref().map(|i| i.object),
            ansi_nulls: match variables.program.procedure.is_some() {
                true => variables.program.ansi_nulls,
                false => self.settings.is_on(Switches::ANSI_NULLS),
            },
            dialect: self.settings.dialect(),
            unguarded: variables.program.unguarded,
            deduction: variables.deduction,
            watch: Some(compilation),
        });
        // A name is unknown only because its database is not open.
        bound.map_err(|e| names.refused.take().unwrap_or(e))
    }

    /// Binds and optimises a place.
    pub(crate) fn bind(
        &self,
        place: &Place,
        variables: &VisibleVariables<'_>,
        database: DatabaseId,
        sniffed: SniffedValues<'_>,
    ) -> SqlResult<Arc<PhysicalPlan>> {
        let compilation = Compilation::new(self.entry.waiter());
        let mut bound = self.bound(place, variables, database, &compilation)?;
        if self.gather_wanted(&bound) {
            bound = self.bound(place, variables, database, &compilation)?;
            self.gather_wanted(&bound);
        }
        let used = self.used_statistics(&bound);
        let once = bound.plan.header.recompile;
        let options = self.host.database_options(database).unwrap_or_default();
        let dialect = self.settings.dialect();
        let (host, watch) = (&*self.host, &compilation);
        let facts = PlanFacts { host, sniffed, once, dialect, options, watch };
        let mut plan = optimize::optimize(bound.plan, &bound.references, &facts)?;
        plan.header.compiled_for = facts.taken(&plan.header.hints);
        plan.header.switches = self.settings.bound_under(variables.program).bits();
        if !plan.header.hints.keep_fixed {
            plan.header.statistics = used;
        }
        Ok(plan.compact())
    }

    /// Binds a place with undeclared parameters, and records their types.
    pub(crate) fn deduce_place(
        &self,
        program: &Program,
        place: PlaceId,
        deduction: &dyn bind::Deduction,
    ) -> SqlResult<bind::Bound> {
        let held = &program.places[place];
        let (count, deduction) = (held.visible, Some(deduction));
        let visible = VisibleVariables { program, count, values: &[], deduction };
        let compilation = Compilation::new(self.entry.waiter());
        self.bound(held, &visible, program.database, &compilation)
    }

    pub(crate) fn bound(
        &self,
        place: &Place,
        variables: &VisibleVariables<'_>,
        database: DatabaseId,
        compilation: &Compilation<'_>,
    ) -> SqlResult<bind::Bound> {
        let bind = |environment: &bind::Environment<'_>| match &place.source {
            Source::Statement(s) => bind::bind_statement(environment, s),
            Source::Into(s) => {
                let hidden = |name: &str| self.temp.hidden(name).map(Arc::clone);
                bind::bind_select_into(environment, s, &hidden)
            }
            Source::Cursor(s) => bind::bind_cursor(environment, s),
            Source::CursorRow(s, how) => bind::bind_cursor_row(environment, s, *how),
            Source::Scalar(x, wanted) => bind::bind_scalar(environment, x, *wanted),
            Source::Condition(c) => bind::bind_condition(environment, c),
        };
        let bound = self.with_names(variables, database, compilation, bind)?;
        self.may_change(&bound, self.settings.bound_under(variables.program))?;
        Ok(bound)
    }

    /// Error 1934: the entries of a filtered index, or of an index on a computed column, are the
    /// same for every session only under these settings. ARITHABORT is not among them, because
    /// ANSI_WARNINGS implies it.
    fn may_change(&self, bound: &bind::Bound, under: Switches) -> SqlResult<()> {
        let (verb, target) = match &bound.plan.statement {
            Statement::Insert(s) => ("INSERT", &s.target),
            Statement::Update(s) => ("UPDATE", &s.target),
            Statement::Delete(s) => ("DELETE", &s.target),
            Statement::Merge(s) => ("MERGE", &s.target),
            _ => return Ok(()),
        };
        if under.has_all(Switches::OF_INDEXES) && !under.has(Switches::NUMERIC_ROUNDABORT) {
            return Ok(());
        }
        let depends = |t: &Table| {
            let computed = |(n, c): (usize, &Column)| {
                c.computed.is_some() && t.indexes.iter().any(|i| i.has_column(n))
            };
            t.indexes.iter().any(|i| i.filter.is_some())
                || t.columns.iter().enumerate().any(computed)
        };
        let is = |o: &Object| match o {
            Object::Table(t) => t.object_id == target.object && depends(t),
            _ => false,
        };
        if !bound.references.iter().any(is) {
            return Ok(());
        }
        let on = |switch| under.has(switch);
        let wrong: Vec<&str> = [
            ("ANSI_NULLS", on(Switches::ANSI_NULLS)),
            ("QUOTED_IDENTIFIER", on(Switches::QUOTED_IDENTIFIER)),
            ("CONCAT_NULL_YIELDS_NULL", on(Switches::CONCAT_NULL_YIELDS_NULL)),
            ("ANSI_WARNINGS", on(Switches::ANSI_WARNINGS)),
            ("ANSI_PADDING", on(Switches::ANSI_PADDING)),
            ("NUMERIC_ROUNDABORT", !on(Switches::NUMERIC_ROUNDABORT)),
        ]
        .into_iter()
        .filter_map(|(name, right)| (!right).then_some(name))
        .collect();
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(SqlError::new(messages::INDEX_SET_OPTIONS, &[&verb, &wrong.join(", ")])),
        }
    }
}

fn result_columns(plan: &PhysicalPlan) -> Vec<ResultColumn> {
    let Some(columns) = plan.statement.result_columns() else { return Vec::new() };
    let column = |c: &plan::ResultColumn| ResultColumn {
        name: c.name.to_string(),
        sql_type: c.sql_type,
        collation: c.collation,
        nullable: c.nullable,
        identity: c.identity,
        computed: !c.updatable,
        untyped: c.untyped,
    };
    columns.iter().map(column).collect()
}
