//! Statements about cursors: names and options, checked and made into steps.

use crate::compile::Compiler;
use crate::cursor::{CursorStep, Declared, Direction};
use crate::plans::{Source, StepKind};
use base::{SqlError, SqlResult, messages};
use tsql::ast::{self, Statement, StatementKind as K};
use types::SqlType;

impl Compiler<'_, '_> {
    /// DECLARE c CURSOR, or SET `@c` = CURSOR, which is local.
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
        for (option, what) in [
            ("SCROLL_LOCKS", "a cursor with SCROLL_LOCKS"),
            ("OPTIMISTIC", "a cursor with OPTIMISTIC"),
        ] {
            if has(option) {
                return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]));
            }
        }
        if matches!(definition.purpose, Some(ast::CursorPurpose::Update(_))) {
            let what = "a cursor FOR UPDATE";
            return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what]));
        }
        let kinds = ["STATIC", "KEYSET", "DYNAMIC"];
        let scroll = has("SCROLL") || (!has("FORWARD_ONLY") && kinds.iter().any(|k| has(k)));
        let warns = has("TYPE_WARNING") && !has("STATIC") && !has("INSENSITIVE");
        let variable = name.starts_with('@');
        let local = variable || has("LOCAL");
        if bind::into_of(&definition.query).is_some() {
            return Err(SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"INTO"]));
        }
        let kind = K::Select(Box::new(definition.query));
        let place = self.place(Source::Statement(Statement { kind, span }), span.line);
        let declared = Declared { name: name.text.clone(), place, local, scroll, warns };
        Ok(StepKind::Cursor(Box::new(CursorStep::Declare(declared))))
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

    /// A cursor variable must have been declared: 137.
    pub(crate) fn cursor_name(&mut self, name: ast::CursorName) -> SqlResult<ast::CursorName> {
        if name.name.starts_with('@') && !self.is_cursor_variable(&name.name) {
            let e = SqlError::new(messages::VARIABLE_UNDECLARED, &[&name.name]);
            return Err(e.at_line(name.name.line));
        }
        Ok(name)
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
