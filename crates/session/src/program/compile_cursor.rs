//! Statements about cursors: checks names and options, and compiles them to steps.

use crate::program::compile::Compiler;
use crate::program::cursor_step::{CursorDeclaration, CursorKind, CursorStep, Direction};
use crate::program::steps::{ProgramParameter, Source, StepKind};
use base::{SqlError, SqlResult, messages};
use tsql::ast::{self, Statement, StatementKind as K};
use types::SqlType;

impl Compiler<'_, '_> {
    /// `@c CURSOR VARYING OUTPUT`, or `@c CURSOR OUTPUT` of sp_executesql: many published scripts
    /// write its parameters without VARYING.
    pub(crate) fn cursor_parameter(&mut self, p: &ast::Parameter) {
        let varying = p.varying || !self.is_of_module();
        if !varying || !p.output || p.default.is_some() || p.nullable.is_some() {
            let e = SqlError::new(messages::CURSOR_PARAMETER_OPTIONS, &[]).with_state(2);
            self.refuse(e.at_line(p.span.line));
        }
        if p.read_only {
            let e = SqlError::new(messages::READONLY_OF_SCALAR, &[&p.name]);
            self.refuse(e.at_line(p.span.line));
        }
        self.declare_cursor(&p.name);
        let parameter = ProgramParameter { output: true, table: None, cursor: true, default: None };
        self.add_parameter(parameter);
    }

    /// DECLARE c CURSOR, or SET `@c` = CURSOR, whose cursor is local.
    pub(crate) fn cursor(
        &mut self,
        name: &ast::Name,
        definition: ast::CursorDefinition,
        span: ast::Span,
    ) -> SqlResult<StepKind> {
        let has = |option: &str| definition.options.iter().any(|o| &**o == option);
        let pairs = [
            ("LOCAL", "GLOBAL"),
            ("FORWARD_ONLY", "SCROLL"),
            ("FAST_FORWARD", "SCROLL"),
            ("FAST_FORWARD", "SCROLL_LOCKS"),
            ("FAST_FORWARD", "OPTIMISTIC"),
            ("INSENSITIVE", "FORWARD_ONLY"),
        ];
        if let Some((a, b)) = pairs.iter().find(|(a, b)| has(a) && has(b)) {
            let args: [&dyn std::fmt::Display; 2] = [a, b];
            return Err(SqlError::new(messages::CURSOR_OPTIONS_CONFLICT, &args));
        }
        let (kind, read_only) = kind_of(&definition);
        let for_update = matches!(definition.purpose, Some(ast::CursorPurpose::Update(_)));
        let listed = match &definition.purpose {
            Some(ast::CursorPurpose::Update(_)) if read_only => {
                return Err(SqlError::new(messages::CURSOR_UPDATE_READ_ONLY, &[]));
            }
            Some(ast::CursorPurpose::Update(names)) => {
                names.iter().map(|n| n.text.clone()).collect()
            }
            _ => Vec::new(),
        };
        let named = ["STATIC", "KEYSET", "DYNAMIC"];
        let scroll = has("SCROLL") || (!has("FORWARD_ONLY") && named.iter().any(|k| has(k)));
        let warns = has("TYPE_WARNING");
        let variable = name.starts_with('@');
        let local = variable || has("LOCAL");
        if bind::into_of(&definition.query).is_some() {
            return Err(SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"INTO"]));
        }
        let statement = Statement { kind: K::Select(Box::new(definition.query)), span };
        let how =
            bind::Refetch { filtered: kind == CursorKind::Dynamic, locked: has("SCROLL_LOCKS") };
        let again = match kind {
            CursorKind::Static => None,
            CursorKind::Keyset | CursorKind::Dynamic => {
                Some(self.place(Source::CursorRow(statement.clone(), how), span.line))
            }
        };
        let source = match again {
            Some(_) => Source::Cursor(statement),
            None => Source::Statement(statement),
        };
        let place = self.place(source, span.line);
        let declared = CursorDeclaration {
            name: name.text.clone(),
            place,
            again,
            local,
            scroll,
            kind,
            read_only,
            for_update,
            listed,
            bounded: !has("FAST_FORWARD"),
            warns,
        };
        Ok(StepKind::Cursor(Box::new(CursorStep::Declare(declared))))
    }

    /// UPDATE or DELETE of the row that a cursor has fetched.
    pub(crate) fn change_current(
        &mut self,
        statement: Statement,
        cursor: ast::CursorName,
    ) -> SqlResult<StepKind> {
        let columns = match &statement.kind {
            K::Update(it) => it.assignments.iter().filter_map(set_name).collect(),
            _ => Vec::new(),
        };
        let line = statement.span.line;
        let cursor = self.cursor_name(cursor)?;
        let place = self.place(Source::Statement(statement), line);
        Ok(StepKind::Cursor(Box::new(CursorStep::Change { cursor, place, columns })))
    }

    pub(crate) fn fetch(&mut self, it: ast::Fetch) -> SqlResult<StepKind> {
        let mut into = Vec::with_capacity(it.into.len());
        for name in &it.into {
            into.push(self.variable(name)?.0);
        }
        let count = |c: &mut Self, x| c.scalar(x, Some(SqlType::BigInt));
        let direction = match it.direction {
            ast::FetchDirection::Next => Direction::Next,
            ast::FetchDirection::Prior => Direction::Prior,
            ast::FetchDirection::First => Direction::First,
            ast::FetchDirection::Last => Direction::Last,
            ast::FetchDirection::Absolute(x) => Direction::Absolute(count(self, x)),
            ast::FetchDirection::Relative(x) => Direction::Relative(count(self, x)),
        };
        let step = CursorStep::Fetch { from: self.cursor_name(it.cursor)?, direction, into };
        Ok(StepKind::Cursor(Box::new(step)))
    }

    /// A cursor variable must have been declared (137), and as a cursor (16948).
    pub(crate) fn cursor_name(&mut self, name: ast::CursorName) -> SqlResult<ast::CursorName> {
        if name.name.starts_with('@') && !self.is_cursor_variable(&name.name) {
            return Err(self.no_cursor(&name.name));
        }
        Ok(name)
    }

    /// The error of a variable that is no cursor where one is needed: it has another type, or does
    /// not exist.
    pub(crate) fn no_cursor(&self, name: &ast::Name) -> SqlError {
        let message = match self.is_variable(name) {
            true => messages::NOT_A_CURSOR_VARIABLE,
            false => messages::VARIABLE_UNDECLARED,
        };
        SqlError::new(message, &[name]).at_line(name.line)
    }

    /// SET `@c` = c2
    pub(crate) fn cursor_assignment(
        &mut self,
        variable: &ast::Name,
        value: &ast::Expr,
    ) -> SqlResult<StepKind> {
        let name = match &value.kind {
            ast::ExprKind::Variable(name) => name.clone(),
            ast::ExprKind::Column(c) if c.qualifier.is_none() => c.name.clone(),
            _ => return Err(SqlError::new(messages::SYNTAX_NEAR, &[&"="])),
        };
        let from = self.cursor_name(ast::CursorName { global: false, name })?;
        let variable = variable.text.clone();
        Ok(StepKind::Cursor(Box::new(CursorStep::Assign { variable, from })))
    }
}

/// The kind that a declaration asks for, and whether it is read-only.
fn kind_of(definition: &ast::CursorDefinition) -> (CursorKind, bool) {
    let has = |option: &str| definition.options.iter().any(|o| &**o == option);
    let copies = ["STATIC", "INSENSITIVE", "FAST_FORWARD"].iter().any(|k| has(k));
    let read_only = copies
        || has("READ_ONLY")
        || matches!(definition.purpose, Some(ast::CursorPurpose::ReadOnly));
    let kind = match () {
        () if copies => CursorKind::Static,
        () if has("KEYSET") || (has("SCROLL") && !has("DYNAMIC")) => CursorKind::Keyset,
        () => CursorKind::Dynamic,
    };
    (kind, read_only)
}

/// The column that an item of SET changes.
fn set_name(a: &ast::Assignment) -> Option<Box<str>> {
    match &a.kind {
        ast::AssignmentKind::Column { column, .. }
        | ast::AssignmentKind::VariableColumn { column, .. }
        | ast::AssignmentKind::Method { column, .. } => Some(column.name.text.clone()),
        ast::AssignmentKind::Variable { .. } => None,
    }
}

/// The cursor of an UPDATE or DELETE WHERE CURRENT OF.
pub(crate) fn current_of(statement: &Statement) -> Option<&ast::CursorName> {
    let filter = match &statement.kind {
        K::Update(it) => &it.filter,
        K::Delete(it) => &it.filter,
        _ => return None,
    };
    match filter {
        Some(ast::DmlFilter::CurrentOf(cursor)) => Some(cursor),
        Some(ast::DmlFilter::Where(_)) | None => None,
    }
}
