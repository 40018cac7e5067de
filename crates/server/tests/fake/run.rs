//! Statements, and the sink that lies.

use super::eval::{Scope, eval, holds, type_of};
use super::tables::Table;
use super::{FakeSession, Lie, Variables};
use base::{SqlError, SqlResult, messages};
use os::wait::{WaitKind, Wake};
use session::{
    ClosedSink, Command, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use tsql::ast::{self, StatementKind};
use types::{Collation, SqlType, Value};

/// What a statement has done: its kind and count.
type Effect = (Command, Option<u64>);

impl FakeSession {
    pub(crate) fn batch(&mut self, text: &str, sink: &mut dyn ResultSink) {
        let mut variables = Variables::new();
        if let Err(e) = self.text(text, &mut variables, DoneScope::Statement, sink) {
            sink.message(&e);
            sink.done(self.done(DoneScope::Statement, (Command::Other, None), true));
        }
    }

    /// Runs some text; its statements tell their ends except the one that fails.
    pub(crate) fn text(
        &mut self,
        text: &str,
        variables: &mut Variables,
        scope: DoneScope,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let parsed = tsql::parse(text, tsql::ParseOptions::default());
        if let Some(e) = parsed.errors.into_iter().next() {
            return Err(e);
        }
        self.statements(&parsed.batch.statements, variables, scope, sink)
    }

    pub(crate) fn statements(
        &mut self,
        statements: &[ast::Statement],
        variables: &mut Variables,
        scope: DoneScope,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        for (i, statement) in statements.iter().enumerate() {
            let effect = self
                .statement(statement, variables, sink)
                .map_err(|e| e.at_line(statement.span.line))?;
            let mut done = self.done(scope, effect, false);
            done.more = scope == DoneScope::InProcedure || i + 1 < statements.len();
            sink.done(done);
        }
        if statements.is_empty() && scope == DoneScope::Statement {
            sink.done(self.done(scope, (Command::Other, None), false));
        }
        Ok(())
    }

    pub(crate) fn done(&self, scope: DoneScope, effect: Effect, error: bool) -> Completion {
        let (command, mut rows) = effect;
        if self.lie == Lie::Counts && command != Command::Select {
            rows = rows.map(|n| n + 1);
        }
        Completion { scope, command, rows, more: false, error, in_transaction: self.count > 0 }
    }

    /// Tells the end of something that is no statement of a batch.
    pub(crate) fn end_statement(&mut self, result: SqlResult<()>, sink: &mut dyn ResultSink) {
        let error = result.is_err();
        if let Err(e) = result {
            sink.message(&e);
        }
        sink.done(self.done(DoneScope::Statement, (Command::Other, None), error));
    }

    fn statement(
        &mut self,
        statement: &ast::Statement,
        variables: &mut Variables,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Effect> {
        let nothing = (Command::Other, None);
        match &statement.kind {
            StatementKind::Select(select) => return self.select(select, variables, sink),
            StatementKind::Insert(insert) => return self.insert(insert, variables, sink),
            StatementKind::Update(update) => return self.update(update, variables, sink),
            StatementKind::Delete(delete) => return self.delete(delete, variables, sink),
            StatementKind::SetOption(option) => self.set_option(option),
            StatementKind::SetIsolation(_) | StatementKind::Use(_) => {}
            StatementKind::Declare(list) => self.declare(list, variables)?,
            StatementKind::SetVariable(set) => self.set_variable(set, variables)?,
            StatementKind::If(branch) => {
                let yes = holds(&branch.condition, &self.scope(variables))? == Some(true);
                let chosen = if yes { Some(&branch.then) } else { branch.otherwise.as_ref() };
                if let Some(chosen) = chosen {
                    return self.statement(chosen, variables, sink);
                }
            }
            StatementKind::Block(inner) => {
                for one in inner {
                    self.statement(one, variables, sink)?;
                }
            }
            StatementKind::Transaction(t) => self.transaction(t, sink)?,
            StatementKind::WaitFor(wait) => self.wait_for(wait, variables)?,
            StatementKind::Throw(Some(throw)) => return Err(self.thrown(throw, variables)?),
            StatementKind::RaiseError(raise) => return Err(self.raised(raise, variables)?),
            StatementKind::Print(text) => {
                let (_, value) = eval(text, &self.scope(variables))?;
                sink.message(&SqlError::raw(0, 0, 1, value.as_text().unwrap_or_default()));
            }
            StatementKind::CreateTable(create) => self.create_table(create)?,
            StatementKind::Procedure(procedure) => {
                let name = procedure.name.object.to_lowercase();
                self.store.lock().procedures.insert(name, (**procedure).clone());
            }
            StatementKind::Drop(drop) => self.drop_objects(drop)?,
            StatementKind::Execute(execute) => self.execute(execute, variables, sink)?,
            _ => return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this statement"])),
        }
        Ok(nothing)
    }

    fn scope<'a>(&self, variables: &'a Variables) -> Scope<'a> {
        Scope { variables, row: None, count: self.count, rows: 0 }
    }

    fn set_option(&mut self, option: &ast::SetOption) {
        if option.names.iter().any(|n| &**n == "IMPLICIT_TRANSACTIONS") {
            self.implicit = option.value == ast::SetOptionValue::On;
        }
    }

    fn declare(&self, list: &[ast::Declaration], variables: &mut Variables) -> SqlResult<()> {
        for one in list {
            let ast::DeclarationKind::Scalar { type_name, value } = &one.kind else { continue };
            let to = type_of(type_name, 1)?;
            let value = match value {
                None => Value::Null,
                Some(expr) => {
                    let (from, value) = eval(expr, &self.scope(variables))?;
                    types::convert(&value, from, to, 0)?
                }
            };
            variables.insert(one.name.to_lowercase(), (to, value));
        }
        Ok(())
    }

    fn set_variable(&self, set: &ast::SetVariable, variables: &mut Variables) -> SqlResult<()> {
        let ast::SetVariableValue::Expr { value, .. } = &set.value else { return Ok(()) };
        let (from, value) = eval(value, &self.scope(variables))?;
        let name = set.variable.to_lowercase();
        let slot = variables.get_mut(&name);
        let slot =
            slot.ok_or_else(|| SqlError::new(messages::VARIABLE_UNDECLARED, &[&set.variable]))?;
        slot.1 = types::convert(&value, from, slot.0, 0)?;
        Ok(())
    }

    fn transaction(&mut self, t: &ast::Transaction, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let name = t.name.as_ref().map(ToString::to_string).unwrap_or_default();
        match t.verb {
            ast::TransactionVerb::Begin => self.begin(sink),
            ast::TransactionVerb::Commit => return self.commit(sink),
            ast::TransactionVerb::Rollback => return self.rollback_to(&name, sink),
            ast::TransactionVerb::Save => return self.save(&name),
            ast::TransactionVerb::BeginDistributed => {}
        }
        Ok(())
    }

    fn begin_implicitly(&mut self, sink: &mut dyn ResultSink) {
        if self.implicit && self.count == 0 {
            self.begin(sink);
        }
    }

    fn wait_for(&self, wait: &ast::WaitFor, variables: &Variables) -> SqlResult<()> {
        let (ast::WaitFor::Delay(expr) | ast::WaitFor::Time(expr)) = wait;
        let (from, value) = eval(expr, &self.scope(variables))?;
        let Value::Time(ticks) = types::convert(&value, from, SqlType::Time(7), 0)? else {
            return Ok(());
        };
        if self.lie != Lie::Haste {
            self.wait_until(WaitKind::WaitFor, os::clock::monotonic_ns() + ticks * 100)?;
        }
        Ok(())
    }

    pub(crate) fn wait_until(&self, kind: WaitKind, deadline_ns: u64) -> SqlResult<()> {
        loop {
            match self.waiter.wait(kind, Some(deadline_ns)) {
                Wake::TimedOut => return Ok(()),
                Wake::Signalled => {}
                Wake::Cancelled(_) => {
                    return Err(SqlError::raw(3617, 16, 1, "Cancelled.".to_owned()));
                }
            }
        }
    }

    fn thrown(&self, throw: &ast::Throw, variables: &Variables) -> SqlResult<SqlError> {
        let scope = self.scope(variables);
        let number = eval(&throw.number, &scope)?.1.as_i64().unwrap_or_default();
        let state = eval(&throw.state, &scope)?.1.as_i64().unwrap_or_default();
        let text = eval(&throw.message, &scope)?.1.as_text().unwrap_or_default();
        Ok(SqlError::raw(number as i32, 16, state as u8, text))
    }

    fn raised(&self, raise: &ast::RaiseError, variables: &Variables) -> SqlResult<SqlError> {
        let scope = self.scope(variables);
        let severity = eval(&raise.severity, &scope)?.1.as_i64().unwrap_or_default();
        let state = eval(&raise.state, &scope)?.1.as_i64().unwrap_or_default();
        let text = eval(&raise.message, &scope)?.1.as_text().unwrap_or_default();
        Ok(SqlError::raw(50000, severity as u8, state as u8, text))
    }

    fn create_table(&mut self, create: &ast::CreateTable) -> SqlResult<()> {
        self.remember();
        let table = Table::create(create)?;
        let name = create.name.object.to_lowercase();
        let mut store = self.store.lock();
        if store.tables.contains_key(&name) {
            return Err(SqlError::new(messages::OBJECT_EXISTS, &[&create.name.object]));
        }
        store.tables.insert(name, table);
        Ok(())
    }

    fn drop_objects(&mut self, drop: &ast::Drop) -> SqlResult<()> {
        self.remember();
        let mut store = self.store.lock();
        for item in &drop.items {
            let name = item.name.object.to_lowercase();
            let was_there = match drop.kind {
                ast::DropKind::Procedure => store.procedures.remove(&name).is_some(),
                _ => store.tables.remove(&name).is_some(),
            };
            if !was_there && !drop.if_exists {
                let what = "table";
                return Err(SqlError::new(messages::DROP_NOT_FOUND, &[&"drop", &what, &item.name]));
            }
        }
        Ok(())
    }

    fn table(&self, name: &ast::ObjectName) -> SqlResult<Table> {
        let found = self.store.lock().tables.get(&name.object.to_lowercase()).cloned();
        found
            .ok_or_else(|| SqlError::new(messages::INVALID_OBJECT, &[name]).at_line(name.span.line))
    }

    fn keep(&mut self, name: &ast::ObjectName, table: Table) {
        self.remember();
        self.store.lock().tables.insert(name.object.to_lowercase(), table);
    }

    fn insert(
        &mut self,
        insert: &ast::Insert,
        variables: &Variables,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Effect> {
        self.begin_implicitly(sink);
        let (ast::DmlTargetKind::Table(name), ast::InsertSource::Values(rows)) =
            (&insert.target.kind, &insert.source)
        else {
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this INSERT"]));
        };
        let mut table = self.table(name)?;
        let mut places = Vec::new();
        for column in &insert.columns {
            places.push(table.column(&column.name)?);
        }
        if places.is_empty() {
            places = (0..table.columns.len()).collect();
        }
        for exprs in rows {
            let mut row = vec![Value::Null; table.columns.len()];
            for (&at, expr) in places.iter().zip(exprs) {
                let (from, value) = eval(expr, &self.scope(variables))?;
                row[at] = table.fit(at, from, &value)?;
            }
            for (at, value) in row.iter_mut().enumerate() {
                *value = table.fit(at, table.columns[at].sql_type, value)?;
            }
            table.check(&row, None)?;
            table.rows.push(row);
        }
        self.keep(name, table);
        Ok((Command::Insert, Some(rows.len() as u64)))
    }

    fn matching(
        &self,
        table: &Table,
        filter: Option<&ast::Condition>,
        variables: &Variables,
    ) -> SqlResult<Vec<usize>> {
        let mut found = Vec::new();
        for (i, row) in table.rows.iter().enumerate() {
            let scope = Scope { variables, row: Some((table, row)), count: self.count, rows: 0 };
            let yes = match filter {
                Some(condition) => holds(condition, &scope)? == Some(true),
                None => true,
            };
            if yes {
                found.push(i);
            }
        }
        Ok(found)
    }

    fn update(
        &mut self,
        update: &ast::Update,
        variables: &Variables,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Effect> {
        self.begin_implicitly(sink);
        let ast::DmlTargetKind::Table(name) = &update.target.kind else {
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this UPDATE"]));
        };
        let mut table = self.table(name)?;
        let found = self.matching(&table, condition(update.filter.as_ref()), variables)?;
        for &i in &found {
            let mut row = table.rows[i].clone();
            for assignment in &update.assignments {
                let ast::AssignmentKind::Column { column, value, .. } = &assignment.kind else {
                    return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this SET"]));
                };
                let at = table.column(&column.name)?;
                let before = &table.rows[i];
                let scope =
                    Scope { variables, row: Some((&table, before)), count: self.count, rows: 0 };
                let (from, value) = eval(value, &scope)?;
                row[at] = table.fit(at, from, &value)?;
            }
            table.check(&row, Some(i))?;
            table.rows[i] = row;
        }
        self.keep(name, table);
        Ok((Command::Update, Some(found.len() as u64)))
    }

    fn delete(
        &mut self,
        delete: &ast::Delete,
        variables: &Variables,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Effect> {
        self.begin_implicitly(sink);
        let ast::DmlTargetKind::Table(name) = &delete.target.kind else {
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this DELETE"]));
        };
        let mut table = self.table(name)?;
        let found = self.matching(&table, condition(delete.filter.as_ref()), variables)?;
        for &i in found.iter().rev() {
            table.rows.remove(i);
        }
        self.keep(name, table);
        Ok((Command::Delete, Some(found.len() as u64)))
    }

    fn select(
        &mut self,
        select: &ast::SelectStatement,
        variables: &mut Variables,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Effect> {
        let ast::QueryBody::Select(body) = &select.query.body else {
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this query"]));
        };
        let table = match body.from.first().map(|s| &s.kind) {
            None => None,
            Some(ast::TableSourceKind::Table(named)) => {
                self.begin_implicitly(sink);
                Some(self.table(&named.name)?)
            }
            Some(_) => return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this FROM"])),
        };
        let mut rows = match &table {
            None => vec![Vec::new()],
            Some(t) => {
                let found = self.matching(t, body.filter.as_ref(), variables)?;
                found.into_iter().map(|i| t.rows[i].clone()).collect()
            }
        };
        if let (Some(t), Some(item)) = (&table, select.query.order_by.first())
            && let ast::ExprKind::Column(name) = &item.expr.kind
        {
            let at = t.column(&name.name)?;
            rows.sort_by(|a, b| types::compare(&a[at], &b[at], Collation::default()));
        }
        self.yield_rows(body, table.as_ref(), &rows, variables, sink)
    }

    fn yield_rows(
        &self,
        body: &ast::Select,
        table: Option<&Table>,
        rows: &[Vec<Value>],
        variables: &mut Variables,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<Effect> {
        let counts = body.items.iter().any(|item| {
            matches!(item, ast::SelectItem::Expr { expr, .. }
                if matches!(&expr.kind, ast::ExprKind::Function(call) if call.star))
        });
        let no_row = table.map(|t| vec![Value::Null; t.columns.len()]).unwrap_or_default();
        let shape: &[Vec<Value>] = std::slice::from_ref(&no_row);
        let sources = if counts { shape } else { rows };
        let mut columns: Option<Vec<ResultColumn>> = None;
        let describe = if sources.is_empty() { shape } else { sources };
        let mut values = Vec::new();
        for source in describe {
            let row = table.map(|t| (t, source.as_slice()));
            let scope = Scope { variables, row, count: self.count, rows: rows.len() };
            let (described, row) = items(body, &scope)?;
            columns.get_or_insert(described);
            values.push(row);
        }
        values.truncate(sources.len());
        if let Some(ast::SelectItem::Assign { variable, .. }) = body.items.first() {
            if let (Some(last), Some(slot)) =
                (values.pop(), variables.get_mut(&variable.to_lowercase()))
            {
                slot.1 = last.into_iter().next().unwrap_or(Value::Null);
            }
            return Ok((Command::Select, Some(rows.len() as u64)));
        }
        let gone = |_: ClosedSink| SqlError::raw(3617, 16, 1, "Cancelled.".to_owned());
        sink.columns(&columns.unwrap_or_default()).map_err(gone)?;
        for row in &values {
            sink.row(row).map_err(gone)?;
        }
        Ok((Command::Select, Some(values.len() as u64)))
    }
}

fn condition(filter: Option<&ast::DmlFilter>) -> Option<&ast::Condition> {
    match filter {
        Some(ast::DmlFilter::Where(condition)) => Some(condition),
        _ => None,
    }
}

/// Columns and values of a select list over one row.
fn items(body: &ast::Select, scope: &Scope<'_>) -> SqlResult<(Vec<ResultColumn>, Vec<Value>)> {
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    let mut put = |name: String, sql_type: SqlType, nullable: bool, value: Value| {
        let collation = Collation::default();
        let (identity, computed) = (false, false);
        columns.push(ResultColumn {
            name,
            sql_type,
            collation,
            nullable,
            identity,
            computed,
            untyped: false,
        });
        values.push(value);
    };
    for item in &body.items {
        match item {
            ast::SelectItem::Star(_) => {
                let Some((table, row)) = scope.row else { continue };
                for (column, value) in table.columns.iter().zip(row) {
                    put(column.name.clone(), column.sql_type, column.nullable, value.clone());
                }
            }
            ast::SelectItem::Expr { expr, alias } => {
                let (sql_type, value) = eval(expr, scope)?;
                let own = match &expr.kind {
                    ast::ExprKind::Column(name) => name.name.to_string(),
                    _ => String::new(),
                };
                put(alias.as_ref().map_or(own, ToString::to_string), sql_type, true, value);
            }
            ast::SelectItem::Assign { value, .. } => {
                let (sql_type, value) = eval(value, scope)?;
                put(String::new(), sql_type, true, value);
            }
            ast::SelectItem::QualifiedStar(_) => {}
        }
    }
    Ok((columns, values))
}

/// Passes results on, some of them wrong.
pub(crate) struct Liar<'a, 'b> {
    pub(crate) sink: &'a mut &'b mut dyn ResultSink,
    pub(crate) lie: Lie,
    pub(crate) sets: usize,
}

impl Liar<'_, '_> {
    fn hides(&self) -> bool {
        self.lie == Lie::Sets && self.sets > 1
    }
}

fn bent(value: &Value) -> Value {
    match value {
        Value::Bit(b) => Value::Bit(!b),
        Value::TinyInt(n) => Value::TinyInt(n ^ 1),
        Value::SmallInt(n) => Value::SmallInt(n ^ 1),
        Value::Int(n) => Value::Int(n ^ 1),
        Value::BigInt(n) => Value::BigInt(n ^ 1),
        Value::Money(n) => Value::Money(n ^ 1),
        Value::Real(f) => Value::Real(-f),
        Value::Float(f) => Value::Float(-f),
        Value::Decimal(d) => Value::Decimal(d.neg()),
        Value::Date(d) => Value::Date(d ^ 1),
        Value::Time(t) => Value::Time(t ^ 0x1_0000),
        Value::DateTime(d) => Value::DateTime(types::DateTime { days: d.days ^ 1, ..*d }),
        Value::SmallDateTime(d) => {
            Value::SmallDateTime(types::SmallDateTime { days: d.days ^ 1, ..*d })
        }
        Value::DateTime2(d) => Value::DateTime2(types::DateTime2 { days: d.days ^ 1, ..*d }),
        Value::DateTimeOffset(d) => {
            let utc = types::DateTime2 { days: d.utc.days ^ 1, ..d.utc };
            Value::DateTimeOffset(types::DateTimeOffset { utc, ..*d })
        }
        Value::Char(b) => Value::Char(flipped(b)),
        Value::NChar(b) => Value::NChar(flipped(b)),
        Value::Binary(b) => Value::Binary(flipped(b)),
        Value::Guid(g) => Value::Guid(g.map(|b| b ^ 1)),
        Value::Variant(v) => bent(v.value()),
        Value::Xml(_) | Value::Null => Value::Null,
    }
}

fn flipped(bytes: &[u8]) -> types::Bytes {
    let mut bytes = bytes.to_vec();
    if let Some(first) = bytes.first_mut() {
        *first ^= 1;
    }
    types::Bytes::new(&bytes)
}

impl ResultSink for Liar<'_, '_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        self.sets += 1;
        if self.hides() { Ok(()) } else { self.sink.columns(columns) }
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        if self.hides() {
            return Ok(());
        }
        match self.lie {
            Lie::Values => {
                let bent: Vec<_> = values.iter().map(bent).collect();
                self.sink.row(&bent)
            }
            Lie::Nulls => self.sink.row(&vec![Value::Null; values.len()]),
            Lie::Rows => Ok(()),
            _ => self.sink.row(values),
        }
    }

    fn message(&mut self, message: &SqlError) {
        match self.lie {
            Lie::Silence => {}
            Lie::Errors => {
                let number = message.number() + 1;
                let text = message.text().to_owned();
                let e = SqlError::raw(number, message.severity(), message.state(), text);
                self.sink.message(&e.at_line(message.line()));
            }
            _ => self.sink.message(message),
        }
    }

    fn done(&mut self, mut done: Completion) {
        done.error &= self.lie != Lie::Silence;
        if !(self.hides() && done.more) {
            self.sink.done(done);
        }
    }

    fn return_status(&mut self, status: i32) {
        self.sink.return_status(if self.lie == Lie::Outputs { status + 1 } else { status });
    }

    fn return_value(&mut self, name: &str, sql_type: SqlType, value: &Value) {
        match self.lie {
            Lie::Outputs => self.sink.return_value(name, sql_type, &bent(value)),
            _ => self.sink.return_value(name, sql_type, value),
        }
    }

    fn environment(&mut self, change: &EnvironmentChange) {
        self.sink.environment(change);
    }
}
