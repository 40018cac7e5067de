//! Procedure calls: the system's by number, the user's by name, and those that misbehave.

use super::eval::{Scope, eval, type_of};
use super::{FakeSession, Lie, Variables};
use base::{SqlError, SqlResult, messages};
use os::wait::WaitKind;
use session::{Command, DoneScope, Parameter, Procedure, ResultColumn, ResultSink};
use tsql::ast;
use types::{Collation, SqlType, Value};

const FOREVER_NS: u64 = 3_600_000_000_000;

impl FakeSession {
    pub(crate) fn call(
        &mut self,
        procedure: &Procedure,
        parameters: &[Parameter],
        more: bool,
        sink: &mut dyn ResultSink,
    ) {
        let result = match procedure {
            Procedure::Numbered(10) => self.execute_sql(parameters, sink),
            Procedure::Numbered(11) => self.prepare(parameters, false, sink),
            Procedure::Numbered(12) => self.execute_prepared(parameters, sink),
            Procedure::Numbered(13) => self.prepare(parameters, true, sink),
            Procedure::Numbered(15) => {
                let handle = parameters.first().and_then(|p| p.value.as_i64());
                self.prepared.remove(&(handle.unwrap_or_default() as i32));
                Ok(())
            }
            Procedure::Numbered(n) => {
                Err(SqlError::new(messages::NOT_SUPPORTED, &[&format!("procedure {n}")]))
            }
            Procedure::Named(name) => self.named(name, parameters, sink),
        };
        let error = result.is_err();
        if let Err(e) = &result {
            sink.message(e);
        }
        if !error || self.lie == Lie::Silence {
            sink.return_status(0);
        }
        let outputs = std::mem::take(&mut self.outputs);
        for (name, sql_type, value) in &outputs {
            sink.return_value(name, *sql_type, value);
        }
        let mut done = self.done(DoneScope::Procedure, (Command::Other, None), error);
        done.more = more;
        sink.done(done);
    }

    fn execute_sql(
        &mut self,
        parameters: &[Parameter],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let text = text_of(parameters.first());
        let declared = text_of(parameters.get(1));
        let values = parameters.get(2..).unwrap_or_default();
        self.parameterized(&text, &declared, values, sink)
    }

    fn prepare(
        &mut self,
        parameters: &[Parameter],
        runs: bool,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let (declared, text) = (text_of(parameters.get(1)), text_of(parameters.get(2)));
        let handle = self.next_handle;
        self.next_handle += 1;
        self.prepared.insert(handle, (text.clone(), declared.clone()));
        let name = parameters.first().map(|p| p.name.clone()).unwrap_or_default();
        let result = match runs {
            true => {
                let values = parameters.get(3..).unwrap_or_default();
                self.parameterized(&text, &declared, values, sink)
            }
            false => Ok(()),
        };
        // Bent once more by the lying sink: a handle must be right, or no client goes on.
        let told = if self.lie == Lie::Outputs { handle ^ 1 } else { handle };
        self.outputs.insert(0, (name, SqlType::Int, Value::Int(told)));
        result
    }

    fn execute_prepared(
        &mut self,
        parameters: &[Parameter],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let handle = parameters.first().and_then(|p| p.value.as_i64()).unwrap_or_default();
        let found = self.prepared.get(&(handle as i32)).cloned();
        let (text, declared) =
            found.ok_or_else(|| SqlError::new(messages::PREPARED_HANDLE_UNKNOWN, &[&handle]))?;
        self.parameterized(&text, &declared, parameters.get(1..).unwrap_or_default(), sink)
    }

    fn parameterized(
        &mut self,
        text: &str,
        declared: &str,
        values: &[Parameter],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let declared = tsql::parse_parameters(declared, tsql::ParseOptions::default())?;
        let mut variables = Variables::new();
        bind(&declared, values, &mut variables)?;
        self.text(text, &mut variables, DoneScope::InProcedure, sink)?;
        self.collect_outputs(&declared, values, &variables);
        Ok(())
    }

    fn collect_outputs(
        &mut self,
        declared: &[ast::Parameter],
        values: &[Parameter],
        variables: &Variables,
    ) {
        for (i, parameter) in declared.iter().enumerate() {
            let Some(given) = given(parameter, i, values) else { continue };
            if let Some((sql_type, value)) = variables.get(&parameter.name.to_lowercase())
                && given.output
            {
                self.outputs.push((given.name.clone(), *sql_type, value.clone()));
            }
        }
    }

    pub(crate) fn execute(
        &mut self,
        execute: &ast::Execute,
        variables: &mut Variables,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let ast::ExecuteTarget::Procedure { name, arguments, .. } = &execute.what else {
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this EXEC"]));
        };
        let mut parameters = Vec::new();
        let mut targets = Vec::new();
        for argument in arguments {
            let scope = Scope { variables, row: None, count: 0, rows: 0 };
            let (sql_type, value) = eval(&argument.value, &scope)?;
            if let (true, ast::ExprKind::Variable(name)) = (argument.output, &argument.value.kind) {
                targets.push(name.to_lowercase());
            }
            parameters.push(Parameter {
                name: argument.name.as_ref().map(ToString::to_string).unwrap_or_default(),
                sql_type,
                value,
                output: argument.output,
                default: false,
                table: None,
            });
        }
        let outer = std::mem::take(&mut self.outputs);
        self.named(&name.to_string(), &parameters, sink)?;
        let outputs = std::mem::replace(&mut self.outputs, outer);
        let mut results: Vec<_> =
            targets.into_iter().zip(outputs.into_iter().map(|o| o.2)).collect();
        if let Some(result) = &execute.result {
            results.push((result.to_lowercase(), Value::Int(0)));
        }
        for (name, value) in results {
            if let Some(slot) = variables.get_mut(&name) {
                slot.1 = value;
            }
        }
        Ok(())
    }

    fn named(
        &mut self,
        name: &str,
        parameters: &[Parameter],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let bare = name.rsplit('.').next().unwrap_or(name);
        let bare = bare.trim_start_matches('[').trim_end_matches(']').to_lowercase();
        match bare.as_str() {
            "fake_lock_wait" => {
                let deadline = os::clock::monotonic_ns() + FOREVER_NS;
                return self.wait_until(WaitKind::LckX, deadline);
            }
            "fake_compute" => return self.compute(),
            "fake_flood" => return flood(sink),
            "fake_panic" => panic!("asked to"),
            _ => {}
        }
        let found = self.store.lock().procedures.get(&bare).cloned();
        let procedure =
            found.ok_or_else(|| SqlError::new(messages::EXECUTE_NOT_FOUND, &[&name]))?;
        let mut variables = Variables::new();
        bind(&procedure.parameters, parameters, &mut variables)?;
        self.statements(&procedure.body, &mut variables, DoneScope::InProcedure, sink)
            .map_err(|e| e.in_procedure(&procedure.name.object))?;
        self.collect_outputs(&procedure.parameters, parameters, &variables);
        Ok(())
    }

    /// Until it is told to end.
    fn compute(&self) -> SqlResult<()> {
        let mut n = 1_u64;
        loop {
            for _ in 0..10_000 {
                n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            }
            if self.waiter.check().is_err() && n != 0 {
                return Err(SqlError::raw(3617, 16, 1, "Cancelled.".to_owned()));
            }
        }
    }
}

/// Rows without end.
fn flood(sink: &mut dyn ResultSink) -> SqlResult<()> {
    let gone = |_| SqlError::raw(3617, 16, 1, "Cancelled.".to_owned());
    let column = ResultColumn {
        name: "flood".to_owned(),
        sql_type: SqlType::varchar(8000),
        collation: Collation::default(),
        nullable: false,
        identity: false,
        computed: false,
        untyped: false,
    };
    sink.columns(&[column]).map_err(gone)?;
    let row = [Value::varchar(&"x".repeat(4000))];
    loop {
        sink.row(&row).map_err(gone)?;
    }
}

fn text_of(parameter: Option<&Parameter>) -> String {
    parameter.and_then(|p| p.value.as_text()).unwrap_or_default()
}

fn given<'a>(
    declared: &ast::Parameter,
    i: usize,
    values: &'a [Parameter],
) -> Option<&'a Parameter> {
    let same = |p: &&Parameter| !p.name.is_empty() && p.name.eq_ignore_ascii_case(&declared.name);
    let by_place = values.get(i).filter(|p| p.name.is_empty());
    values.iter().find(same).or(by_place)
}

fn bind(
    declared: &[ast::Parameter],
    values: &[Parameter],
    variables: &mut Variables,
) -> SqlResult<()> {
    for (i, parameter) in declared.iter().enumerate() {
        let to = type_of(&parameter.type_name, 1)?;
        let value = match given(parameter, i, values) {
            Some(p) => types::convert(&p.value, p.sql_type, to, 0)?,
            None => Value::Null,
        };
        variables.insert(parameter.name.to_lowercase(), (to, value));
    }
    Ok(())
}
