//! Methods of the xml type: of a variable, of any value, of a column (which the grammar reads as a
//! function's name), and `nodes()` in FROM.
//!
//! The expression is read here, once. What it names of the statement (`sql:variable`,
//! `sql:column`) is bound where the method stands and becomes an argument of the call.
//!
//! A column that `nodes()` gives is a node of its document: only methods and IS NULL take it.

use crate::binder::Binder;
use crate::expressions::collation::is_narrow;
use crate::names::from::{FromPart, check_alias_count};
use crate::names::scope::{Columns, DerivedColumn, Source};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use builtins::{TableFunction, XmlMethod};
use plan::{FunctionRows, Logical, Scalar, ScalarKind};
use std::sync::Arc;
use tsql::ast::{self, ExprKind};
use types::{CodePage, SqlType};
use xquery::{Method, Query, Setting, SqlName};

/// What a method is called on.
struct Target {
    value: Scalar,
    /// As errors name it: of a column, its source and name.
    subject: String,
    /// As written, for a mutator's errors.
    written: Box<str>,
    /// A row of `nodes()`.
    at_node: bool,
}

impl Binder<'_> {
    /// `target.method(…)` as a value.
    pub(crate) fn method(&mut self, call: &ast::MethodCall, line: u32) -> SqlResult<Scalar> {
        let ast::MethodTarget::Value(target) = &call.target else {
            return Err(unsupported("methods of types", line));
        };
        let target = self.called_on(target)?;
        match call.mutator {
            true => self.modified(target, &call.method, &call.arguments),
            false => self.called(target, &call.method, &call.arguments),
        }
    }

    /// `column.method(…)`, which is read as a function; none when there is no such column.
    pub(crate) fn column_method(&mut self, call: &ast::FunctionCall) -> SqlResult<Option<Scalar>> {
        let Some(column) = self.column_before(&call.name) else { return Ok(None) };
        let span = call.span;
        let target =
            self.called_on(&ast::Expr { kind: ExprKind::Column(Box::new(column)), span })?;
        self.called(target, &call.name.object, &call.arguments).map(Some)
    }

    /// The column that stands before the last part of a name, where that could be a method.
    fn column_before(&mut self, name: &ast::ObjectName) -> Option<ast::ColumnName> {
        Method::by_name(&name.object)?;
        let column = name.schema.clone()?;
        if name.server.is_some() {
            return None;
        }
        let qualifier = name.database.as_ref().map(|table| {
            Box::new(ast::ObjectName {
                server: None,
                database: None,
                schema: None,
                object: table.clone(),
                span: name.span,
            })
        });
        let column = ast::ColumnName { qualifier, name: column };
        self.finds(&column).then_some(column)
    }

    fn called(
        &mut self,
        target: Target,
        method: &ast::Name,
        arguments: &[ast::Expr],
    ) -> SqlResult<Scalar> {
        let known = match Method::by_name(method) {
            None | Some(Method::Nodes) => {
                return Err(SqlError::new(messages::METHOD_UNKNOWN, &[method]));
            }
            Some(Method::Modify) => {
                return Err(SqlError::new(messages::MUTATOR_UNEXPECTED, &[method]));
            }
            Some(known) => known,
        };
        self.read_method(target, known, arguments)
    }

    /// `modify()` of a variable or column: the value that it is to have.
    fn modified(
        &mut self,
        target: Target,
        method: &ast::Name,
        arguments: &[ast::Expr],
    ) -> SqlResult<Scalar> {
        match Method::by_name(method) {
            Some(Method::Modify) => self.read_method(target, Method::Modify, arguments),
            Some(_) => Err(SqlError::new(messages::MUTATOR_EXPECTED, &[method])),
            None => Err(SqlError::new(messages::METHOD_UNKNOWN, &[method])),
        }
    }

    fn read_method(
        &mut self,
        target: Target,
        method: Method,
        arguments: &[ast::Expr],
    ) -> SqlResult<Scalar> {
        let count = if method == Method::Value { 2 } else { 1 };
        if arguments.len() != count {
            let facts: [&dyn std::fmt::Display; 2] = [&method.name(), &count];
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &facts));
        }
        let result = match method {
            Method::Value => value_type(literal(arguments, 1, method)?)?,
            Method::Exist => SqlType::Bit,
            Method::Query | Method::Modify | Method::Nodes => SqlType::Xml,
        };
        // Text is given as characters, which become bytes of the database's code page here.
        let given = match is_narrow(result) && self.collation.code_page() != CodePage::Cp1252 {
            true => SqlType::NVARCHAR_MAX,
            false => result,
        };
        let (method, args) = self.compiled(target, method, arguments, given)?;
        let ty = self.plain(given, true);
        let value = Scalar { kind: ScalarKind::Method { method, args }, ty };
        Ok(if given == result { value } else { self.converted(value, result) })
    }

    fn compiled(
        &mut self,
        target: Target,
        method: Method,
        arguments: &[ast::Expr],
        result: SqlType,
    ) -> SqlResult<(Arc<XmlMethod>, Vec<Scalar>)> {
        let text = literal(arguments, 0, method)?;
        let namespaces = self.xml_namespaces.clone();
        let Target { value, subject, written, at_node } = target;
        let setting = Setting { method, subject: &subject, namespaces: &namespaces, at_node };
        let (mut args, mut types) = (vec![value], Vec::new());
        let query = Query::read(text, &setting, &mut |name| {
            let value = self.statement_value(name)?;
            let value = self.in_characters(value);
            types.push(value.ty.sql_type);
            args.push(value);
            Ok(types.last().copied().unwrap_or(SqlType::Int))
        })?;
        let method = XmlMethod { query, result, types: types.into(), subject: written };
        Ok((Arc::new(method), args))
    }

    /// What `sql:variable` or `sql:column` names.
    fn statement_value(&mut self, name: &SqlName) -> SqlResult<Scalar> {
        let parsed = |text: &str| tsql::parse_expression(text, tsql::ParseOptions::default());
        match name {
            SqlName::Variable(text) => {
                let unknown = || SqlError::new(messages::XQUERY_SQL_VARIABLE, &[text]);
                match parsed(text).map(|e| e.kind) {
                    Ok(ExprKind::Variable(name)) => self.variable(&name).map_err(|_| unknown()),
                    _ => Err(unknown()),
                }
            }
            SqlName::Column(text) => match parsed(text)? {
                e if matches!(e.kind, ExprKind::Column(_)) => self.expr(&e),
                _ => Err(SqlError::new(messages::INVALID_COLUMN, &[text])),
            },
        }
    }

    /// What a method is called on: 258 when it is no xml.
    fn called_on(&mut self, e: &ast::Expr) -> SqlResult<Target> {
        let (value, written) = match &e.kind {
            ExprKind::Column(name) => (self.column(name)?.scalar, name.name.text.clone()),
            ExprKind::Variable(name) => (self.expr(e)?, name.text.clone()),
            _ => (self.expr(e)?, "".into()),
        };
        if value.ty.sql_type != SqlType::Xml {
            let name = value.ty.sql_type.error_name();
            return Err(SqlError::new(messages::METHODS_OF_TYPE, &[&name]));
        }
        let slot = value.as_column();
        let node = slot.and_then(|slot| self.node_columns.get(&slot).cloned());
        let at_node = node.is_some();
        let read = |slot| {
            let reads = self.scopes.iter().rev().flat_map(|s| s.reads.iter().rev());
            reads.into_iter().find(|r| r.slot == slot).map(|r| r.shown.clone())
        };
        let subject = node.or_else(|| slot.and_then(read)).unwrap_or_default();
        Ok(Target { value, subject, written, at_node })
    }

    /// `value.nodes(…) AS t(c)`
    pub(crate) fn nodes(
        &mut self,
        call: &ast::MethodCall,
        alias: Option<&ast::Name>,
        columns: &[ast::Name],
    ) -> SqlResult<FromPart> {
        let ast::MethodTarget::Value(target) = &call.target else {
            return Err(unsupported("methods of types", call.method.line));
        };
        if Method::by_name(&call.method) != Some(Method::Nodes) {
            return Err(SqlError::new(messages::METHOD_UNKNOWN, &[&call.method]));
        }
        let target = self.called_on(target)?;
        self.node_rows(target, &call.arguments, alias, columns)
    }

    /// `t.x.nodes(…) AS u(c)`, which is read as a function; none when there is no such column.
    pub(crate) fn column_nodes(&mut self, f: &ast::TableFunction) -> SqlResult<Option<FromPart>> {
        if Method::by_name(&f.call.name.object) != Some(Method::Nodes) {
            return Ok(None);
        }
        let Some(column) = self.column_before(&f.call.name) else { return Ok(None) };
        let span = f.call.span;
        let target =
            self.called_on(&ast::Expr { kind: ExprKind::Column(Box::new(column)), span })?;
        self.node_rows(target, &f.call.arguments, f.alias.as_ref(), &f.columns).map(Some)
    }

    fn node_rows(
        &mut self,
        target: Target,
        arguments: &[ast::Expr],
        alias: Option<&ast::Name>,
        columns: &[ast::Name],
    ) -> SqlResult<FromPart> {
        let (Some(alias), [first, ..]) = (alias, columns) else {
            return Err(SqlError::new(messages::XML_NODES_ALIAS, &[]).with_state(0));
        };
        check_alias_count(alias, 1, columns)?;
        if arguments.len() != 1 {
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&"nodes", &1]));
        }
        let subject = target.subject.clone();
        let (method, arguments) = self.compiled(target, Method::Nodes, arguments, SqlType::Xml)?;
        let slot = self.new_slot();
        self.node_columns.insert(slot, subject);
        let read =
            FunctionRows { function: TableFunction::Nodes(method), arguments, columns: vec![slot] };
        let column = DerivedColumn {
            name: first.text.clone(),
            slot,
            ty: self.plain(SqlType::Xml, false),
            user_type_id: 0,
            identity: false,
        };
        let source = Source {
            name: alias.text.clone(),
            schema: None,
            database: None,
            shown: alias.text.clone(),
            aliased: true,
            columns: Columns::Derived(vec![column]),
            body: None,
        };
        Ok(FromPart { tree: Logical::Function(Box::new(read)), sources: vec![source] })
    }

    /// 493 for a column of `nodes()` where it may not stand.
    pub(crate) fn no_node(&self, x: &Scalar, name: &str) -> SqlResult<()> {
        match x.as_column().is_some_and(|slot| self.node_columns.contains_key(&slot)) {
            true => Err(SqlError::new(messages::NODES_COLUMN, &[&name])),
            false => Ok(()),
        }
    }

    /// An operand of IS NULL, which may be a column of `nodes()`.
    pub(crate) fn maybe_node(&mut self, e: &ast::Expr) -> SqlResult<Scalar> {
        match &e.kind {
            ExprKind::Column(name) => Ok(self.column(name)?.scalar),
            _ => self.expr(e),
        }
    }
}

/// An argument, which is a string written out.
fn literal(arguments: &[ast::Expr], n: usize, method: Method) -> SqlResult<&str> {
    match arguments.get(n).map(|a| &a.kind) {
        Some(ExprKind::Literal(ast::Literal::String(s) | ast::Literal::National(s))) => Ok(s),
        _ => Err(SqlError::new(messages::METHOD_LITERAL, &[&(n + 1), &method.name()])),
    }
}

/// The type that value() is to give.
fn value_type(text: &str) -> SqlResult<SqlType> {
    let invalid = || SqlError::new(messages::XML_VALUE_TYPE, &[&text]);
    let cast = format!("CAST(NULL AS {text})");
    let parsed = tsql::parse_expression(&cast, tsql::ParseOptions::default());
    let Ok(ExprKind::Cast(cast)) = parsed.map(|e| e.kind) else { return Err(invalid()) };
    match crate::expressions::convert::declared_type(&cast.target, 1) {
        Ok(SqlType::Xml) | Err(_) => Err(invalid()),
        Ok(t) => Ok(t),
    }
}
