//! Steps that neither read tables nor call programs: messages, errors, waits, USE, definitions.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{Completion, DoneScope, ResultColumn};
use crate::host::definitions::{DdlCall, needs_no_transaction};
use crate::program::plan_facts::parallelism;
use crate::program::steps::{PlaceId, Raise, Step, StepKind};
use crate::request::activation::Activation;
use crate::request::command::command;
use crate::session::Session;
use crate::session::registry::SessionCommand;
use crate::session::state::{Origin, State};
use base::{DatabaseId, SessionId, SqlError, SqlResult, messages};
use catalog::view::Object;
use os::wait::{WaitKind, Wake};
use tsql::ast;
use tsql::ast::TransactionVerb;
use types::datetime::{DAY_TICKS, Moment};
use types::{Family, SqlType, Value, convert};

/// The most characters of a variable's text that name a transaction.
const TRANSACTION_NAME_MAX: usize = 32;

/// The highest number of a message.
const MESSAGE_NUMBER_MAX: i64 = 2_147_483_647;

impl Session {
    /// Runs a step that has ended when it returns.
    pub(crate) fn simple_step(
        &mut self,
        step: &Step,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let line = step.span.line;
        let mut error = 0;
        match &step.kind {
            StepKind::Print(place) => self.print(*place, line, act, out)?,
            StepKind::Throw(places) => return Err(self.throw(*places, act)?),
            StepKind::Rethrow => return Err(self.state.rethrow()),
            StepKind::RaiseError(it) => error = self.raise(it, line, act, out)?,
            StepKind::WaitFor { place, until } => {
                self.state.note(step, SessionCommand::WaitFor);
                self.wait_for(*place, *until, act)?;
            }
            StepKind::Transaction(it, variable) => {
                self.state.note(step, doing_of(it.verb));
                let name = match (variable, &it.name) {
                    (Some(v), _) => {
                        let given = act.program.value.variables[v.0 as usize].sql_type;
                        if !matches!(given.family(), Family::Char | Family::NChar) {
                            let facts: [&dyn std::fmt::Display; 1] = [&given.name()];
                            let e = SqlError::new(messages::TRANSACTION_NAME_TYPE, &facts);
                            return Err(e.into());
                        }
                        let text = self.in_characters(act.variables[v.0 as usize].clone());
                        let text = text.as_text().unwrap_or_default();
                        text.chars().take(TRANSACTION_NAME_MAX).collect()
                    }
                    (None, Some(name)) => name.text.to_string(),
                    (None, None) => String::new(),
                };
                self.transaction(it.verb, &name, it.delayed_durability)?;
                self.hold_if_owing(out);
            }
            StepKind::AnnounceBulk(it) => self.announce_bulk(it, out)?,
            StepKind::SetOption(it, place) => self.set_option(it, *place, line, act, out)?,
            StepKind::SetIsolation(level) => self.set_isolation(*level),
            StepKind::SetIdentityInsert { table, on } => {
                self.state.set_identity_insert(table, self.origin(act), *on)?
            }
            StepKind::Use(name) => self.use_database(name, out)?,
            StepKind::Kill(place) => {
                let target = self.value(act, *place)?;
                self.kill(&target)?;
            }
            StepKind::Shutdown { nowait } => self.host.shutdown(*nowait)?,
            StepKind::Definition(statement) => {
                self.state.entry.set_definition(command(&statement.kind));
                self.state.note(step, SessionCommand::Definition);
                self.define(statement, None, act, out, scope)
                    .map_err(|failure| failure.of_definition(&statement.kind))?;
            }
            StepKind::Unsupported(what) => {
                let e = SqlError::new(messages::NOT_SUPPORTED, &[what]);
                return Err(Failure::of_binding(e));
            }
            _ => debug_assert!(false, "flow is the loop's"),
        }
        self.state.last.error = error;
        self.state.last.rows = 0;
        Ok(())
    }

    fn print(
        &mut self,
        place: PlaceId,
        line: u32,
        act: &mut Activation,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let value = self.value(act, place)?;
        let value = self.in_characters(value);
        let text = value.text_start(4000).unwrap_or_default();
        // An empty PRINT shows a blank line, as in sqlcmd and SSMS.
        let text = if text.is_empty() { " ".to_owned() } else { text };
        out.message(&self.placed(SqlError::raw(0, 0, 1, text).at_line(line), act));
        Ok(())
    }

    /// A message with the name of its procedure.
    fn placed(&self, message: SqlError, act: &Activation) -> SqlError {
        match &act.program.value.procedure {
            Some(name) => message.in_procedure(name),
            None => message,
        }
    }

    fn throw(&mut self, places: [PlaceId; 3], act: &mut Activation) -> Result<Failure, Failure> {
        let number = self.value(act, places[0])?.as_i64().unwrap_or(0);
        let text = self.value(act, places[1])?;
        let text = self.in_characters(text);
        let text = text.text_start(2048).unwrap_or_default();
        let state = self.value(act, places[2])?.as_i64().unwrap_or(1).clamp(0, 255) as u8;
        if number < 50_000 {
            return Err(SqlError::new(messages::ERROR_NUMBER_RANGE, &[&number]).into());
        }
        Ok(Failure::thrown(SqlError::raw(number as i32, 16, state, text)))
    }

    /// RAISERROR: a message, or an error. Returns the `@@ERROR` that it sets.
    fn raise(
        &mut self,
        it: &Raise,
        line: u32,
        act: &mut Activation,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let message = self.value(act, it.message)?;
        let message = self.in_characters(message);
        let severity = self.value(act, it.severity)?.as_i64().unwrap_or(0).clamp(0, 25) as u8;
        let state = match self.value(act, it.state)?.as_i64().unwrap_or(1) {
            n @ 0..=255 => n as u8,
            n if n > 255 => 255,
            _ => 1,
        };
        let mut arguments = Vec::with_capacity(it.arguments.len());
        for &place in &it.arguments {
            let argument = self.value(act, place)?;
            arguments.push(self.in_characters(argument));
        }
        if severity > 18 && !it.log {
            return Err(SqlError::new(messages::RAISERROR_SEVERITY, &[]).into());
        }
        let error = match message.as_i64() {
            Some(number)
                if !(13_000..=MESSAGE_NUMBER_MAX).contains(&number) || number == 50_000 =>
            {
                let facts: [&dyn std::fmt::Display; 3] = [&number, &13_000, &MESSAGE_NUMBER_MAX];
                return Err(SqlError::new(messages::RAISERROR_NUMBER, &facts).into());
            }
            Some(number) => {
                let facts: [&dyn std::fmt::Display; 3] = [&number, &severity, &state];
                SqlError::new(messages::RAISERROR_NO_MESSAGE, &facts).with_state(state)
            }
            None => {
                let template = template_of(&message)?;
                let Some(text) = builtins::print_message(&template, &arguments) else {
                    return Err(wrong_message(&template, &arguments).into());
                };
                let text = text.chars().take(2047).collect();
                SqlError::raw(50_000, severity, state, text)
            }
        };
        if it.log {
            self.host.log(&format!("session {}: {}", self.state.id(), error.text()));
        }
        if error.severity() > 10 {
            return Err(Failure::raised(error));
        }
        let number = if it.set_error { error.number() } else { 0 };
        out.message(&self.placed(error.at_line(line), act));
        Ok(number)
    }

    fn wait_for(
        &mut self,
        place: PlaceId,
        until: bool,
        act: &mut Activation,
    ) -> Result<(), Failure> {
        let value = self.value(act, place)?;
        let ticks = wait_ticks(&value)?;
        let ticks = if until {
            let now = os::clock::now().0.rem_euclid(DAY_TICKS as i64 * 100) as u64 / 100;
            (ticks + DAY_TICKS - now) % DAY_TICKS
        } else {
            ticks
        };
        let deadline = os::clock::monotonic_ns() + ticks * 100;
        let waiter = std::sync::Arc::clone(self.work.owner().waiter());
        waiter.clear_signal();
        loop {
            match waiter.wait(WaitKind::WaitFor, Some(deadline)) {
                Wake::TimedOut => return Ok(()),
                Wake::Signalled => {}
                Wake::Cancelled(why) => return Err(SqlError::from(why).into()),
            }
        }
    }

    pub(crate) fn use_database(&mut self, name: &str, out: &mut Output<'_>) -> Result<(), Failure> {
        let new = self.enter(name)?;
        let old = self.state.database.name.clone();
        self.state.now_in_database(new);
        self.state.tell_database(old, out);
        Ok(())
    }

    fn kill(&mut self, target: &Value) -> Result<(), Failure> {
        let number = match target.as_i64() {
            Some(n) => Some(n),
            None => target.as_text().and_then(|t| t.trim().parse().ok()),
        };
        let number = number.unwrap_or(0);
        let Ok(session) = i16::try_from(number) else {
            return Err(SqlError::new(messages::KILL_NOT_VALID, &[&number]).into());
        };
        if session <= 0 {
            return Err(SqlError::new(messages::KILL_NOT_VALID, &[&number]).into());
        }
        Ok(self.host.kill(self.state.id(), SessionId(session))?)
    }

    /// See [`State::find_object`](crate::session::state::State::find_object).
    pub(crate) fn find_object(
        &self,
        name: &ast::ObjectName,
        database: DatabaseId,
    ) -> Option<(DatabaseId, Object)> {
        self.state.find_object(name, database)
    }

    /// Runs a statement of the host: CREATE, ALTER, DROP, DBCC …
    pub(crate) fn define(
        &mut self,
        statement: &ast::Statement,
        into: Option<&bind::IntoTable>,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        if let Some(answer) = self.own_dbcc(&statement.kind, act)? {
            return self.send_answer(&answer, statement.span.line, out, scope);
        }
        let alone = needs_no_transaction(statement);
        self.state.may_define(statement, alone)?;
        let own = if alone {
            false
        } else {
            self.begin_if_implicit();
            self.begin_statement()
        };
        if self.state.transaction.doomed {
            return Err(SqlError::new(messages::XACT_DOOMED_COMMIT, &[]).into());
        }
        let point = (!alone && !own).then(|| self.rollback_point());
        let program = std::sync::Arc::clone(&act.program);
        let values = &act.variables;
        let variables = |name: &str| {
            let (id, _) = program.value.variables.scalar(name, usize::MAX)?;
            values.get(id.0 as usize).cloned()
        };
        let options = self.host.database_options(self.state.database.id).unwrap_or_default();
        let parallelism = parallelism(&*self.host, &options);
        // Until the host says otherwise, because it may have changed some before it failed. A
        // statement that runs in its own transaction, such as DBCC, changes none of the open
        // transaction.
        let had = self.open.definitions;
        self.open.definitions = had || !alone;
        let result = self.host.ddl(DdlCall {
            session: self.state.id(),
            database: self.state.database.id,
            statement,
            into,
            procedure: None,
            text: &program.value.text,
            work: &mut self.work,
            workspace: &self.workspace,
            temp: &mut self.state.temp,
            settings: &self.state.settings,
            parallelism,
            variables: &variables,
        });
        if let Ok(answer) = &result {
            self.count_makers(answer.did);
            self.open.definitions = had || (answer.changed_definitions && !alone);
        }
        let result = match result {
            Ok(answer) => self.check_made(statement, self.origin(act)).map(|()| answer),
            Err(e) => Err(e),
        };
        let mut answer = match alone {
            true => result?,
            false => self.end_statement(own, result, point.as_ref())?,
        };
        let failed = failed_in_part(statement, &mut answer);
        self.send_answer(&answer, statement.span.line, out, scope)?;
        failed.map_or(Ok(()), |e| Err(e.into()))
    }

    fn send_answer(
        &mut self,
        answer: &crate::host::definitions::DdlAnswer,
        line: u32,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        for rowset in &answer.results {
            self.send_rowset(rowset, out, scope)?;
        }
        for message in &answer.messages {
            out.message(&message.clone().at_line(line));
        }
        Ok(())
    }

    /// Runs a system procedure that defines something.
    pub(crate) fn define_by_call(
        &mut self,
        call: &crate::host::definitions::ProcedureCall,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let opaque =
            ast::StatementKind::Opaque(Box::new(ast::OpaqueStatement { name: "EXECUTE".into() }));
        let statement = ast::Statement { kind: opaque, span: ast::Span::default() };
        self.begin_if_implicit();
        let own = self.begin_statement();
        if self.state.transaction.doomed {
            return Err(SqlError::new(messages::XACT_DOOMED_COMMIT, &[]).into());
        }
        let point = (!own).then(|| self.rollback_point());
        let had = std::mem::replace(&mut self.open.definitions, true);
        let result = self.host.ddl(DdlCall {
            session: self.state.id(),
            database: self.state.database.id,
            statement: &statement,
            into: None,
            procedure: Some(call),
            text: "",
            work: &mut self.work,
            workspace: &self.workspace,
            temp: &mut self.state.temp,
            settings: &self.state.settings,
            parallelism: optimize::Parallelism::NONE,
            variables: &|_| None,
        });
        if let Ok(answer) = &result {
            self.open.definitions = had || answer.changed_definitions;
        }
        let answer = self.end_statement(own, result, point.as_ref())?;
        answer.messages.iter().for_each(|message| out.message(message));
        Ok(())
    }

    /// Sends a plan as a result set. It is not a result of the statement, so WITH RESULT SETS does
    /// not apply to it.
    pub(crate) fn send_plan(
        &mut self,
        plan: &crate::host::rowset::Rowset,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let shapes = std::mem::take(&mut out.shapes);
        let sent = self.send_rowset(plan, out, scope);
        out.shapes = shapes;
        sent
    }

    /// Sends a result set that no plan made.
    pub(crate) fn send_rowset(
        &mut self,
        rowset: &crate::host::rowset::Rowset,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        self.send_columns(&rowset.columns, out)?;
        for row in &rowset.rows {
            out.row(row)?;
        }
        self.end_rows(rowset.rows.len() as u64, out, scope);
        Ok(())
    }

    /// Begins a result set of columns without collation: name, type, nullable.
    pub(crate) fn send_columns(
        &self,
        columns: &[(String, SqlType, bool)],
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let column = |(name, sql_type, nullable): &(String, SqlType, bool)| ResultColumn {
            name: name.clone(),
            sql_type: *sql_type,
            collation: types::Collation::default(),
            nullable: *nullable,
            identity: false,
            computed: true,
            untyped: false,
        };
        let columns: Vec<ResultColumn> = columns.iter().map(column).collect();
        out.columns(&columns)
    }

    /// Ends a result set with this number of rows.
    pub(crate) fn end_rows(&mut self, count: u64, out: &mut Output<'_>, scope: DoneScope) {
        let counts = !self.state.settings.is_on(crate::session::settings::Switches::NOCOUNT);
        let rows = counts.then_some(count);
        self.state.last.rows = count;
        let command = crate::answer::sink::Command::Select;
        out.done(Completion { command, rows, ..self.state.done(scope) });
    }
}

impl State {
    fn rethrow(&self) -> Failure {
        match self.nesting.caught.last() {
            Some(error) => Failure::thrown(error.clone()),
            None => SqlError::new(messages::THROW_ARGUMENT, &[]).into(),
        }
    }

    fn set_identity_insert(
        &mut self,
        table: &ast::ObjectName,
        from: Origin,
        on: bool,
    ) -> Result<(), Failure> {
        let found = self.find_object_from(table, from);
        let Some((database, Object::Table(found))) = found else {
            let e = SqlError::new(messages::OBJECT_NOT_FOUND, &[table]).with_state(11);
            return Err(Failure::of_binding(e));
        };
        let name = match self.view(database) {
            Some(view) => format!("{}.{}", view.name(), found.two_part_name()),
            None => found.two_part_name(),
        };
        if found.identity().is_none() {
            let e = SqlError::new(messages::IDENTITY_INSERT_NO_PROPERTY, &[table]);
            return Err(e.into());
        }
        let is_this = |i: &crate::session::state::IdentityInsert| {
            i.database == database && i.object == found.object_id
        };
        match self.identity_insert_name() {
            Some(now) => self.identity.insert.iter_mut().for_each(|i| i.name.clone_from(&now)),
            None => self.identity.insert = None,
        }
        match (&self.identity.insert, on) {
            (Some(other), true) if !is_this(other) => {
                let e = SqlError::new(messages::IDENTITY_INSERT_OTHER, &[&other.name, table]);
                return Err(e.into());
            }
            (Some(this), false) if is_this(this) => self.identity.insert = None,
            (_, false) => {}
            (_, true) => {
                let object = found.object_id;
                self.identity.insert =
                    Some(crate::session::state::IdentityInsert { database, object, name });
            }
        }
        self.names_version += 1;
        Ok(())
    }

    /// Refuses a definition that the session's transaction or memory does not allow.
    fn may_define(&self, statement: &ast::Statement, alone: bool) -> Result<(), Failure> {
        if alone && self.transaction.count > 0 {
            refuse_within_transaction(statement)?;
        }
        if matches!(statement.kind, tsql::ast::StatementKind::CreateTable(_)) {
            os::values::keep()?;
        }
        let under_snapshot = self.settings.isolation == access::Isolation::Snapshot;
        if under_snapshot && self.transaction.count > 0 && changes_layout(&statement.kind) {
            return Err(SqlError::new(messages::DDL_UNDER_SNAPSHOT, &[]).into());
        }
        Ok(())
    }
}

/// The error of a DROP that failed in part: the objects that it dropped stay dropped.
fn failed_in_part(
    statement: &ast::Statement,
    answer: &mut crate::host::definitions::DdlAnswer,
) -> Option<SqlError> {
    if !matches!(statement.kind, ast::StatementKind::Drop(_)) {
        return None;
    }
    let messages = std::mem::take(&mut answer.messages);
    let (told, mut errors): (Vec<_>, Vec<_>) = messages.into_iter().partition(SqlError::is_warning);
    answer.messages = told;
    let last = errors.pop()?;
    Some(errors.into_iter().fold(last, SqlError::after))
}

/// Errors 226 and 574: statements whose effects cannot be rolled back.
fn refuse_within_transaction(statement: &ast::Statement) -> SqlResult<()> {
    use ast::StatementKind as K;
    let (message, what) = match &statement.kind {
        K::CreateDatabase(_) => (messages::NOT_IN_TRANSACTION, "CREATE DATABASE"),
        K::AlterDatabase(_) => (messages::NOT_IN_TRANSACTION, "ALTER DATABASE"),
        K::Drop(_) => (messages::NOT_IN_TRANSACTION, "DROP DATABASE"),
        _ => return Ok(()),
    };
    Err(SqlError::new(message, &[&what]))
}

fn doing_of(verb: TransactionVerb) -> SessionCommand {
    match verb {
        TransactionVerb::Begin | TransactionVerb::BeginDistributed => SessionCommand::Begin,
        TransactionVerb::Commit => SessionCommand::Commit,
        TransactionVerb::Rollback => SessionCommand::Rollback,
        TransactionVerb::Save => SessionCommand::Other,
    }
}

/// A time of WAITFOR in units of 100 ns: `hh:mm[:ss[.fff]]`, or a time or datetime.
pub(crate) fn wait_ticks(value: &Value) -> SqlResult<u64> {
    let wrong = || SqlError::new(messages::WAITFOR_TIME_SYNTAX, &[value]);
    let value = match value.as_text() {
        None => value.clone(),
        Some(text) => {
            let from = SqlType::NVARCHAR_MAX;
            convert(&Value::nvarchar(&text), from, SqlType::Time(7), 0).map_err(|_| wrong())?
        }
    };
    Moment::of(&value).map(|m| m.ticks).ok_or_else(wrong)
}

/// Whether a statement changes the layout or the place of a table's rows. This has no versions, so
/// a transaction under SNAPSHOT may not do it (MSSQLSERVER_3961 lists such statements).
fn changes_layout(kind: &ast::StatementKind) -> bool {
    use ast::StatementKind as K;
    match kind {
        K::AlterTable(_) | K::CreateIndex(_) | K::AlterIndex(_) => true,
        K::Drop(drop) => drop.kind == ast::DropKind::Index,
        _ => false,
    }
}

/// The template of a message. A long one is cut to what can be shown, without cutting a
/// placeholder.
fn template_of(message: &Value) -> SqlResult<String> {
    const LONG_BYTES: usize = 16_000;
    if message.as_bytes().is_none_or(|bytes| bytes.len() <= LONG_BYTES) {
        return Ok(message.as_text().unwrap_or_default());
    }
    let mut start = message.text_start(4000).unwrap_or_default();
    if let Some(at) = start.rfind('%').filter(|at| start.len() - at < 64) {
        start.truncate(at);
    }
    Ok(start)
}

/// The error of a RAISERROR whose template has an invalid placeholder, or whose argument has the
/// wrong type.
fn wrong_message(template: &str, arguments: &[Value]) -> SqlError {
    let fails = |n: &usize| builtins::print_message(template, &arguments[..*n]).is_none();
    match (0..=arguments.len()).find(fails) {
        Some(n @ 1..) => SqlError::new(messages::RAISERROR_ARGUMENT, &[&n]),
        _ => {
            let wrong = builtins::wrong_placeholder(template, &[]);
            SqlError::new(messages::RAISERROR_FORMAT, &[&wrong])
        }
    }
}
