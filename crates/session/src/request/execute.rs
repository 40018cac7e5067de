//! EXECUTE: procedures by name or variable, and text.

use crate::answer::failure::{Failure, Reach};
use crate::answer::output::Output;
use crate::answer::result_sets::Shape;
use crate::answer::sink::{Command, Completion, DoneScope};
use crate::procedures::call::{Call, CallArgument};
use crate::program::steps::{ArgumentValue, Execute, ExecuteTarget, same_name};
use crate::request::activation::Activation;
use crate::request::run::unsaid_status;
use crate::session::Session;
use crate::session::state::{Origin, State};
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Module, ModuleKind, Object, SchemaId};
use plan::{Statement, VariableId};
use std::sync::Arc;
use tsql::ast;
use types::datetime::Dialect;
use types::{
    CodePage, Collation, Family, Length, SqlType, Value, check_implicit, convert, convert_collated,
};

impl Session {
    /// Runs an EXECUTE step.
    pub(crate) fn execute(
        &mut self,
        it: &Execute,
        act: &mut Activation,
        within_try: bool,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        if let Some(sets) = &it.result_sets {
            let dialect = self.state.settings.dialect();
            out.shapes.push(Shape::new(sets, self.state.own_collation(), dialect));
        }
        self.flow.tries += u32::from(within_try);
        let mut result = self.execute_within(it, act, out, scope);
        self.flow.tries -= u32::from(within_try);
        if it.result_sets.is_some()
            && let Some(shape) = out.shapes.pop()
        {
            result = result.and_then(|()| Ok(shape.complete()?));
        }
        match result {
            // The procedure ended early and its error was reported: the caller goes on.
            Err(f) if f.told && f.reach <= Reach::Scope => Ok(()),
            other => other,
        }
    }

    /// A varchar in the database's code page as characters, if that code page is not 1252.
    pub(crate) fn in_characters(&self, value: Value) -> Value {
        // The database's code page is read only if it matters.
        let Value::Char(bytes) = &value else { return value };
        if bytes.is_ascii() {
            return value;
        }
        match self.state.own_collation().code_page() {
            CodePage::Cp1252 => value,
            page => Value::NChar(page.widen(bytes).into()),
        }
    }

    fn execute_within(
        &mut self,
        it: &Execute,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<(), Failure> {
        let name = match &it.what {
            ExecuteTarget::Text(place) => {
                let value = self.value(act, *place)?;
                let text = self.in_characters(value);
                let text = text.long_text()?.unwrap_or_default();
                let status = self.execute_text("", &text, &mut Call::default(), out)?;
                self.end_execute(status, out, scope);
                return Ok(());
            }
            ExecuteTarget::Procedure(name) => name.clone(),
            ExecuteTarget::Variable(variable) => {
                let value = self.in_characters(act.variables[variable.0 as usize].clone());
                tsql::parse_object_name(&value.as_text().unwrap_or_default())?
            }
        };
        let mut call = self.evaluate_arguments(it, act)?;
        if let Some((database, module)) = self.state.find_scalar_function(&name, self.origin(act)) {
            let value = self.execute_function(database, &module, &mut call)?;
            if let (Some(variable), Some(result)) = (it.result, module.result()) {
                let wanted = act.program.value.variables[variable.0 as usize].sql_type;
                let dialect = self.state.settings.dialect();
                act.variables[variable.0 as usize] = coerce_value(
                    &value,
                    result.sql_type,
                    wanted,
                    dialect,
                    self.state.own_collation(),
                )?;
            }
            self.end_plainly(Command::Execute, out, scope);
            return Ok(());
        }
        call.recompile = it.recompile;
        let result = self.call_procedure(&name, self.origin(act), &mut call, out);
        let status = match &result {
            Ok(status) => *status,
            Err(f) if f.told && f.reach <= Reach::Scope => call.status_of(f),
            Err(_) => return result.map(|_| ()),
        };
        self.take_outputs(it, call, act)?;
        if let Some(variable) = it.result {
            let sql_type = act.program.value.variables[variable.0 as usize].sql_type;
            let value = convert(&Value::Int(status), SqlType::Int, sql_type, 0)?;
            act.variables[variable.0 as usize] = value;
        }
        self.end_execute(status, out, scope);
        result.map(|_| ())
    }

    /// The DONE of what a batch executed, with its status; within a procedure, the DONE of a
    /// statement.
    fn end_execute(&self, status: i32, out: &mut Output<'_>, scope: DoneScope) {
        let command = Command::Execute;
        if scope == DoneScope::Statement && self.state.nesting.level == 0 {
            out.return_status(status);
            out.done(Completion { command, ..self.state.done(DoneScope::Procedure) });
        } else {
            self.end_plainly(command, out, scope);
        }
    }

    fn evaluate_arguments(&mut self, it: &Execute, act: &mut Activation) -> Result<Call, Failure> {
        let mut call = Call::default();
        for argument in &it.arguments {
            let mut table = None;
            let (value, sql_type, default) = match argument.value {
                ArgumentValue::Table(number) => {
                    table = Some(self.pass_table(act, number)?);
                    (Value::Null, SqlType::Int, false)
                }
                ArgumentValue::Cursor(ref name) => {
                    table = Some(self.state.pass_cursor(name));
                    (Value::Null, SqlType::Int, false)
                }
                ArgumentValue::Default => (Value::Null, SqlType::Int, true),
                ArgumentValue::Variable(VariableId(v)) => {
                    let sql_type = act.program.value.variables[v as usize].sql_type;
                    (act.variables[v as usize].clone(), sql_type, false)
                }
                ArgumentValue::Place(place) => {
                    let value = self.value(act, place)?;
                    let ready = act.ready[place].as_ref().expect("it has just been evaluated");
                    let sql_type = match &ready.plan.statement {
                        Statement::Scalar(x) => x.ty.sql_type,
                        _ => SqlType::Int,
                    };
                    (value, sql_type, false)
                }
            };
            let name = argument.name.clone();
            let output = argument.output;
            call.arguments.push(CallArgument { name, value, sql_type, output, default, table });
        }
        Ok(call)
    }

    fn take_outputs(&mut self, it: &Execute, call: Call, act: &mut Activation) -> SqlResult<()> {
        for (argument, given) in it.arguments.iter().zip(call.arguments) {
            if let (true, ArgumentValue::Cursor(name)) = (argument.output, &argument.value) {
                self.state.take_returned(name, given);
                continue;
            }
            if let (true, ArgumentValue::Variable(variable)) = (argument.output, &argument.value) {
                let wanted = act.program.value.variables[variable.0 as usize].sql_type;
                let dialect = self.state.settings.dialect();
                let own = self.state.own_collation();
                let value =
                    convert_collated(&given.value, given.sql_type, wanted, 0, dialect, (own, own))?;
                act.variables[variable.0 as usize] = value;
            }
        }
        Ok(())
    }

    /// Calls a procedure of the catalog or of the system, by its name in a text. Returns its
    /// status; the output arguments in the call have their values.
    fn call_procedure(
        &mut self,
        name: &ast::ObjectName,
        from: Origin,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        if name.server.is_some() {
            return Err(
                SqlError::new(messages::NOT_SUPPORTED, &[&"EXECUTE of a linked server"]).into()
            );
        }
        let system = name.schema.as_deref().is_none_or(|s| {
            s.is_empty() || s.eq_ignore_ascii_case("sys") || s.eq_ignore_ascii_case("dbo")
        });
        let found = self.state.find_procedure(name, from);
        match found {
            Some((database, module)) => self.in_database_of(database, |session| {
                session.run_procedure(database, &module, call, out)
            }),
            None if system => match self.procedures.find(&name.object) {
                Some(_) if call.named_twice().is_some() => {
                    let twice = call.named_twice().unwrap_or_default();
                    let e = SqlError::new(messages::PARAMETER_TWICE, &[&twice]);
                    Err(e.in_procedure(&name.object).into())
                }
                Some(procedure) => self
                    .arguments_in_characters(&name.object, call)
                    .in_last_place(&name.object)
                    .in_database(name.database.as_deref(), |session| procedure(session, call, out))
                    .map_err(Failure::of_called),
                None => Err(self.state.no_procedure(name).into()),
            },
            None => Err(self.state.no_procedure(name).into()),
        }
    }

    /// Converts varchar arguments of a system procedure from another code page than 1252 to
    /// characters. Arguments that are parameters of a statement stay as they are.
    fn arguments_in_characters(&mut self, system: &str, call: &mut Call) -> &mut Self {
        const OF_STATEMENTS: [&str; 3] = ["sp_execute", "sp_prep", "sp_cursor"];
        let begins = |start: &&str| {
            system.get(..start.len()).is_some_and(|own| own.eq_ignore_ascii_case(start))
        };
        if OF_STATEMENTS.iter().any(begins) {
            return self;
        }
        for argument in &mut call.arguments {
            argument.value =
                self.in_characters(std::mem::replace(&mut argument.value, Value::Null));
            if matches!(argument.value, Value::NChar(_))
                && argument.sql_type.family() == Family::Char
            {
                argument.sql_type = match argument.sql_type {
                    SqlType::Char(n) | SqlType::VarChar(Length::N(n)) if n <= 4000 => {
                        SqlType::nvarchar(n)
                    }
                    _ => SqlType::NVARCHAR_MAX,
                };
            }
        }
        self
    }

    /// Of the system procedures only `sp_executesql` may commit at its end on behalf of its caller.
    fn in_last_place(&mut self, system: &str) -> &mut Self {
        self.flow.last &= system.eq_ignore_ascii_case("sp_executesql");
        self
    }

    /// Runs something in another database, if one is named. A system procedure belongs to all
    /// databases.
    fn in_database<T>(
        &mut self,
        name: Option<&str>,
        act: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let own = self.state.database.name.clone();
        let other = name.filter(|n| !n.is_empty() && !n.eq_ignore_ascii_case(&own));
        let Some(other) = other else { return act(self) };
        // The session's own database stays locked, so nobody drops it meanwhile.
        let (back, database) = (self.state.database.id, self.visit(other)?);
        self.state.now_in_database(database);
        let result = act(self);
        // Before the database is released: nobody may drop it before an owed commit has ended.
        self.settle_commit();
        self.leave(self.state.database.id);
        self.state.now_in_database(back);
        result
    }

    /// Runs something in the database of a module, which is the current database meanwhile.
    pub(crate) fn in_database_of<T>(
        &mut self,
        database: DatabaseId,
        act: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if database == self.state.database.id {
            return act(self);
        }
        let name = self.state.view(database).map(|view| view.name().to_owned());
        self.in_database(name.as_deref(), act)
    }

    /// Calls a procedure by a name that a client or a variable spells.
    pub(crate) fn call_named_text(
        &mut self,
        name: &str,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let name = tsql::parse_object_name(name)?;
        let from = Origin { database: self.state.database.id, schema: SchemaId::DBO };
        self.call_procedure(&name, from, call, out)
    }

    /// Whether the columns of an EXECUTE are known without running it, as for text and modules.
    /// Also returns the module.
    pub(crate) fn has_format(
        &self,
        what: &ExecuteTarget,
        from: Origin,
    ) -> Option<Option<(DatabaseId, ObjectId)>> {
        match what {
            ExecuteTarget::Text(_) => Some(None),
            ExecuteTarget::Procedure(name) => match self.state.find_procedure(name, from) {
                Some((database, module)) => Some(Some((database, module.object_id))),
                None => name.object.eq_ignore_ascii_case("sp_executesql").then_some(None),
            },
            ExecuteTarget::Variable(_) => None,
        }
    }

    fn run_procedure(
        &mut self,
        database: DatabaseId,
        module: &Module,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let entry = match self.procedure_program(database, module, call.recompile) {
            Ok(entry) => entry,
            Err(errors) => return Err(self.tell_all(errors, DoneScope::InProcedure, out)),
        };
        let mut act = self.idle.take(&entry);
        let result = self.run_with_arguments(&module.name, &mut act, call, out);
        self.drop_tables(&mut act);
        self.idle.give_back(act);
        result
    }

    /// Runs text with declared parameters: EXEC ('…'), sp_executesql.
    pub(crate) fn execute_text(
        &mut self,
        parameters: &str,
        text: &str,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let entry = match self.prepared_program(parameters, text) {
            Ok(entry) => entry,
            Err(errors) => return Err(self.tell_all(errors, DoneScope::InProcedure, out)),
        };
        self.run_prepared(&entry, call, out)
    }

    /// Runs a prepared program.
    pub(crate) fn run_prepared(
        &mut self,
        entry: &Arc<plancache::Entry<crate::program::steps::Program>>,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let mut act = self.idle.take(entry);
        let result = self.run_with_arguments("", &mut act, call, out);
        self.drop_tables(&mut act);
        self.idle.give_back(act);
        result
    }

    fn run_with_arguments(
        &mut self,
        name: &str,
        act: &mut Activation,
        call: &mut Call,
        out: &mut Output<'_>,
    ) -> Result<i32, Failure> {
        let given = self.fill_arguments(name, act, call)?;
        let entry = Arc::clone(&act.program);
        let program = &entry.value;
        let ran = self.run_nested(act, out, DoneScope::InProcedure);
        let returned = std::mem::take(&mut act.returned);
        let status = ran?;
        for (at, cursor) in returned {
            if let Some(argument) = given[at].and_then(|i| call.arguments.get_mut(i)) {
                argument.hand_back(cursor);
            }
        }
        for (at, parameter) in program.parameters.iter().enumerate() {
            if let (true, Some(i)) = (parameter.output, given[at]) {
                let argument = &mut call.arguments[i];
                if argument.output {
                    argument.value = act.variables[at].clone();
                    argument.sql_type = program.variables[at].sql_type;
                }
            }
        }
        Ok(status)
    }

    /// Gives parameters their values. Returns the argument of each parameter.
    pub(crate) fn fill_arguments(
        &mut self,
        name: &str,
        act: &mut Activation,
        call: &Call,
    ) -> Result<Vec<Option<usize>>, Failure> {
        let entry = Arc::clone(&act.program);
        let program = &entry.value;
        // The argument of each parameter.
        let mut given: Vec<Option<usize>> = vec![None; program.parameters.len()];
        for (i, argument) in call.arguments.iter().enumerate() {
            let at = place_of(program, name, argument, i)
                .map_err(|e| missing(program, name, call).unwrap_or(e))?;
            if given[at].is_some() {
                let e = SqlError::new(messages::PARAMETER_TWICE, &[&program.variables[at].name]);
                return Err(if name.is_empty() { e } else { e.in_procedure(name) }.into());
            }
            if argument.output && !program.parameters[at].output {
                let parameter = &program.variables[at].name;
                return Err(SqlError::new(messages::OUTPUT_NOT_DECLARED, &[parameter]).into());
            }
            given[at] = Some(i);
        }
        for (at, parameter) in program.parameters.iter().enumerate() {
            let variable = &program.variables[at];
            let argument = given[at].map(|i| &call.arguments[i]).filter(|a| !a.default);
            if let Some(number) = parameter.table {
                // Without an argument it is an empty table, which is made when it is first used.
                if let Some(argument) = argument {
                    self.take_table(act, number, argument).map_err(|f| match name {
                        "" => f,
                        name => f.map(|e| e.in_procedure(name)),
                    })?;
                }
                continue;
            }
            if let (true, Some(argument)) = (parameter.cursor, argument) {
                argument.check_cursor(name)?;
                continue;
            }
            if let Some(passed) = argument.and_then(|a| a.table.as_ref()) {
                let e = passed.clash(variable.sql_type.name());
                return Err(if name.is_empty() { e } else { e.in_procedure(name) }.into());
            }
            act.variables[at] = match (argument, parameter.default) {
                (Some(argument), _) => {
                    let (dialect, own) =
                        (self.state.settings.dialect(), self.state.own_collation());
                    coerce(argument, variable.sql_type, dialect, own)
                        .map_err(|e| if name.is_empty() { e } else { e.in_procedure(name) })
                        .map_err(Failure::of_argument)?
                }
                (None, Some(place)) => self.value(act, place)?,
                (None, None) if name.is_empty() => {
                    let facts: [&dyn std::fmt::Display; 2] = [&program.text, &variable.name];
                    return Err(SqlError::new(messages::PARAMETERIZED_NOT_SUPPLIED, &facts).into());
                }
                (None, None) => {
                    let facts: [&dyn std::fmt::Display; 2] = [&name, &variable.name];
                    let e = SqlError::new(messages::EXECUTE_ARGUMENT_COUNT, &facts);
                    return Err(e.in_procedure(name).into());
                }
            };
        }
        Ok(given)
    }
}

impl State {
    /// The collation of the session's database.
    pub(crate) fn own_collation(&self) -> Collation {
        self.view(self.database.id).map(|v| v.collation()).unwrap_or_default()
    }

    /// The error of an unknown procedure, or of a database that is not open.
    fn no_procedure(&self, name: &ast::ObjectName) -> SqlError {
        let closed = name.database.as_deref().and_then(|d| self.host.refused_database(d));
        closed.unwrap_or_else(|| SqlError::new(messages::EXECUTE_NOT_FOUND, &[name]))
    }

    pub(crate) fn find_procedure(
        &self,
        name: &ast::ObjectName,
        from: Origin,
    ) -> Option<(DatabaseId, Arc<Module>)> {
        match self.find_object_from(name, from)? {
            (database, Object::Module(m)) if m.kind == ModuleKind::Procedure => Some((database, m)),
            _ => None,
        }
    }
}

/// Error 201 of a call with an unknown parameter name: the missing parameter is reported instead.
fn missing(program: &crate::program::steps::Program, name: &str, call: &Call) -> Option<SqlError> {
    let named = |a: &CallArgument| a.name.as_deref().is_some_and(|n| !n.is_empty());
    if name.is_empty() || !call.arguments.iter().all(named) {
        return None;
    }
    let mut parameters = program.parameters.iter().zip(program.variables.iter());
    let (_, variable) = parameters.find(|(parameter, variable)| {
        let given =
            |a: &CallArgument| a.name.as_deref().is_some_and(|n| same_name(n, &variable.name));
        let needed = parameter.default.is_none() && parameter.table.is_none() && !parameter.cursor;
        needed && !call.arguments.iter().any(given)
    })?;
    let facts: [&dyn std::fmt::Display; 2] = [&name, &variable.name];
    Some(SqlError::new(messages::EXECUTE_ARGUMENT_COUNT, &facts).in_procedure(name))
}

/// The parameter that an argument is for.
pub(crate) fn place_of(
    program: &crate::program::steps::Program,
    name: &str,
    argument: &CallArgument,
    position: usize,
) -> SqlResult<usize> {
    let count = program.parameters.len();
    match argument.name.as_deref().filter(|n| !n.is_empty()) {
        Some(wanted) => {
            let parameters = &program.variables[..count];
            let found = parameters.iter().position(|v| same_name(&v.name, wanted));
            let facts: [&dyn std::fmt::Display; 2] = [&wanted, &name];
            let unknown = || SqlError::new(messages::NOT_A_PARAMETER, &facts).in_procedure(name);
            found.ok_or_else(unknown)
        }
        None if position < count => Ok(position),
        None if count == 0 && !name.is_empty() => {
            let e = SqlError::new(messages::NO_PARAMETERS_EXPECTED, &[&name]);
            Err(e.in_procedure(name))
        }
        None => Err(SqlError::new(messages::TOO_MANY_PROC_ARGUMENTS, &[&name]).in_procedure(name)),
    }
}

/// An argument's value, converted to its parameter's type.
fn coerce(
    argument: &CallArgument,
    wanted: SqlType,
    dialect: Dialect,
    collation: Collation,
) -> SqlResult<Value> {
    coerce_value(&argument.value, argument.sql_type, wanted, dialect, collation)
}

/// A value converted to another type, as in a call, with the database's collation.
pub(crate) fn coerce_value(
    value: &Value,
    from: SqlType,
    wanted: SqlType,
    dialect: Dialect,
    collation: Collation,
) -> SqlResult<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    check_implicit(from, wanted)?;
    let converted = convert_collated(value, from, wanted, 0, dialect, (collation, collation));
    converted.map_err(|e| {
        // A call reports 8114 where a statement reports a failed conversion.
        let conversion = [245, 241, 8169].contains(&e.number());
        let facts: [&dyn std::fmt::Display; 2] = [&from.error_name(), &wanted.error_name()];
        if conversion { SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &facts) } else { e }
    })
}

impl CallArgument {
    /// The value of a parameter that is a sql_variant.
    ///
    /// # Errors
    /// 206 for a value that no variant has.
    pub(crate) fn variant(&self) -> SqlResult<Value> {
        coerce_value(
            &self.value,
            self.sql_type,
            SqlType::Variant,
            Dialect::default(),
            Collation::default(),
        )
    }
}

/// The values of a system procedure's parameters.
impl Call {
    /// The status of a call that an error has ended.
    pub(crate) fn status_of(&self, failure: &Failure) -> i32 {
        match self.tells_error {
            true => failure.error.number(),
            false => unsaid_status(failure.severity()),
        }
    }

    /// A name that two arguments have.
    fn named_twice(&self) -> Option<&str> {
        let names = || self.arguments.iter().filter_map(|a| a.name.as_deref());
        let mut repeated = names().enumerate();
        let found = repeated.find(|(n, name)| {
            !name.is_empty() && names().take(*n).any(|earlier| same_name(earlier, name))
        });
        found.map(|(_, name)| name)
    }

    /// An argument by name, or by position among those without a name.
    pub(crate) fn get(&self, name: &str, position: usize) -> Option<&CallArgument> {
        let named =
            self.arguments.iter().find(|a| a.name.as_deref().is_some_and(|n| same_name(n, name)));
        let by_position = || {
            let argument = self.arguments.get(position)?;
            argument.name.as_deref().is_none_or(str::is_empty).then_some(argument)
        };
        named.or_else(by_position).filter(|a| !a.default)
    }

    /// The text of an argument; `None` if it is absent or NULL.
    pub(crate) fn text(&self, name: &str, position: usize) -> Option<String> {
        let argument = self.get(name, position)?;
        match argument.value.as_text() {
            Some(text) => Some(text),
            None if argument.value.is_null() => None,
            None => Some(argument.value.to_string()),
        }
    }

    /// The whole number of an argument; `None` if it is absent or NULL.
    ///
    /// # Errors
    /// 8114 if it is not a number.
    pub(crate) fn whole_number(&self, name: &str, position: usize) -> SqlResult<Option<i64>> {
        let Some(given) = self.get(name, position).filter(|a| !a.value.is_null()) else {
            return Ok(None);
        };
        let no_number = || {
            let types: [&dyn std::fmt::Display; 2] = [&given.sql_type.name(), &"int"];
            SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &types)
        };
        self.number(name, position).map(Some).ok_or_else(no_number)
    }

    /// The number of an argument.
    pub(crate) fn number(&self, name: &str, position: usize) -> Option<i64> {
        let argument = self.get(name, position)?;
        let text = || argument.value.as_text()?.trim().parse().ok();
        let bytes = || match argument.value {
            Value::Binary(_) => {
                convert(&argument.value, argument.sql_type, SqlType::BigInt, 0).ok()?.as_i64()
            }
            _ => None,
        };
        argument.value.as_i64().or_else(text).or_else(bytes)
    }
}
