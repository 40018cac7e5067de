//! Scalar expressions.

use crate::binder::Binder;
use crate::expressions::collation::settled;
use crate::expressions::deduction::{is_untyped_null, takes_any_type, untyped};
use crate::expressions::draws::DrawRule;
use crate::names::scope::Clause;
use base::{SqlError, SqlResult, messages};
use plan::{CombiningOperator, Predicate, Scalar, ScalarKind, ScalarType, Subquery};
use tsql::ast::{self, ExprKind};
use types::{BinaryOp, Collation, SqlType, common_type, negated_type, operation};

/// What an operator does: some are functions by another name.
enum Operation {
    Operator(BinaryOp),
    Function(&'static str),
}

fn operator(op: ast::BinaryOp) -> Operation {
    Operation::Operator(match op {
        ast::BinaryOp::Add => BinaryOp::Add,
        ast::BinaryOp::Subtract => BinaryOp::Sub,
        ast::BinaryOp::Multiply => BinaryOp::Mul,
        ast::BinaryOp::Divide => BinaryOp::Div,
        ast::BinaryOp::Modulo => BinaryOp::Modulo,
        ast::BinaryOp::BitAnd => BinaryOp::BitAnd,
        ast::BinaryOp::BitOr => BinaryOp::BitOr,
        ast::BinaryOp::BitXor => BinaryOp::BitXor,
        ast::BinaryOp::ShiftLeft => return Operation::Function("LEFT_SHIFT"),
        ast::BinaryOp::ShiftRight => return Operation::Function("RIGHT_SHIFT"),
    })
}

/// The operator of a compound assignment; None for `=`.
pub(crate) fn assigning_operator(op: ast::AssignOp) -> Option<BinaryOp> {
    Some(match op {
        ast::AssignOp::Set => return None,
        ast::AssignOp::Add => BinaryOp::Add,
        ast::AssignOp::Subtract => BinaryOp::Sub,
        ast::AssignOp::Multiply => BinaryOp::Mul,
        ast::AssignOp::Divide => BinaryOp::Div,
        ast::AssignOp::Modulo => BinaryOp::Modulo,
        ast::AssignOp::BitAnd => BinaryOp::BitAnd,
        ast::AssignOp::BitXor => BinaryOp::BitXor,
        ast::AssignOp::BitOr => BinaryOp::BitOr,
    })
}

/// Operators of a chain, each the left side of the next, that make a tree of that height.
const PART_LINKS: usize = 1024;

impl Binder<'_> {
    /// An expression.
    pub(crate) fn expr(&mut self, e: &ast::Expr) -> SqlResult<Scalar> {
        let rule = match self.draws.rule() {
            rule @ DrawRule::Refused(_) => rule,
            _ if is_conditional(&e.kind) => DrawRule::Refused(messages::NEXT_VALUE_CONDITIONAL),
            rule => rule,
        };
        let reads = self.reads_outside();
        let bound = self.nested(1, |b| b.drawing(rule, |b| b.expr_kind(e)));
        let bound = bound.map_err(|error| error.at_line(e.span.line))?;
        Ok(match reads {
            Some(reads) => self.of_outer_group(bound, &reads),
            None => bound,
        })
    }

    fn expr_kind(&mut self, e: &ast::Expr) -> SqlResult<Scalar> {
        let line = e.span.line;
        match &e.kind {
            ExprKind::Literal(l) => self.literal(l),
            ExprKind::Variable(name) => self.variable(name).map(|x| self.embedded(x)),
            ExprKind::Global(name) => self.global(name),
            ExprKind::Column(name) => {
                let column = self.column(name)?.scalar;
                self.no_node(&column, &name.name)?;
                Ok(column)
            }
            ExprKind::Unary { op, operand } => self.unary(*op, operand),
            ExprKind::Arithmetic(chain) => self.arithmetic(chain),
            ExprKind::Case(case) => self.case(case),
            ExprKind::Iif(iif) => {
                let condition = self.condition(&iif.condition)?;
                let then = self.expr(&iif.then)?;
                let otherwise = self.expr(&iif.otherwise)?;
                self.choice(vec![(condition, then)], Some(otherwise))
            }
            ExprKind::Cast(c) => self.cast(c),
            ExprKind::Collate { operand, collation } => self.collate(operand, collation),
            ExprKind::Function(call) => self.function(call),
            ExprKind::Niladic(name) => self.niladic(name),
            ExprKind::Trim(t) => self.trim(t),
            ExprKind::Subquery(q) => self.scalar_subquery(q),
            ExprKind::Odbc { tag, text } => self.odbc_literal(tag, text),
            ExprKind::Default => Err(SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"DEFAULT"])),
            ExprKind::AtTimeZone { operand, zone } => self.at_time_zone(operand, zone),
            ExprKind::Method(call) => self.method(call, line),
            ExprKind::NextValue(n) => self.next_value(n, line),
            ExprKind::Identity(_) => {
                Err(SqlError::new(messages::IDENTITY_FUNCTION_NO_INTO, &[]).at_line(line))
            }
        }
    }

    /// A variable or parameter.
    pub(crate) fn variable(&self, name: &ast::Name) -> SqlResult<Scalar> {
        if let Some(parameter) = self.module_parameter(name) {
            return parameter;
        }
        let Some((id, sql_type)) = self.environment.variables.variable(name) else {
            let undeclared = || SqlError::new(messages::VARIABLE_UNDECLARED, &[name]);
            return self.undeclared(name).ok_or_else(|| undeclared().at_line(name.line));
        };
        Ok(Scalar { kind: ScalarKind::Variable(id), ty: self.plain(sql_type, true) })
    }

    /// The value of a variable in its place, in conditions of a plan for one run. NULL stays a
    /// variable: its type matters.
    fn embedded(&self, x: Scalar) -> Scalar {
        match self.known_value(&x).filter(|v| !v.is_null()) {
            Some(value) => {
                let ty = plan::ScalarType { nullable: false, ..x.ty };
                Scalar { kind: ScalarKind::Constant(value), ty }
            }
            None => x,
        }
    }

    /// The value that a variable has in this run, where the plan may be made for it: in WHERE and
    /// ON of a statement with OPTION (RECOMPILE).
    pub(crate) fn known_value(&self, x: &Scalar) -> Option<types::Value> {
        let of_condition =
            self.scopes.last().is_some_and(|s| matches!(s.clause, Clause::Where | Clause::On));
        let ScalarKind::Variable(id) = x.kind else { return None };
        let embeds = self.embeds && self.ansi_nulls && of_condition;
        embeds.then(|| self.environment.variables.value(id)).flatten()
    }

    fn global(&self, name: &ast::Name) -> SqlResult<Scalar> {
        match builtins::global(name) {
            Some((fact, sql_type)) => {
                Ok(Scalar { kind: ScalarKind::Global(fact), ty: self.plain(sql_type, true) })
            }
            None => Err(SqlError::new(messages::VARIABLE_UNDECLARED, &[name]).at_line(name.line)),
        }
    }

    fn unary(&mut self, op: ast::UnaryOp, operand: &ast::Expr) -> SqlResult<Scalar> {
        let x = self.expr(operand)?;
        self.meet_generally(&[&x]);
        match op {
            ast::UnaryOp::Plus => Ok(x),
            ast::UnaryOp::Minus => {
                let x = match x.ty.sql_type {
                    t if t.is_character() => self.implicit(x, SqlType::Int)?,
                    _ => x,
                };
                let ty = x.ty.converted(negated_type(x.ty.sql_type)?);
                Ok(self.folding.fold(Scalar { kind: ScalarKind::Negate(Box::new(x)), ty }))
            }
            ast::UnaryOp::BitNot => {
                if x.ty.sql_type.family() != types::Family::Integer {
                    let name = x.ty.sql_type.error_name();
                    let error = SqlError::new(messages::OPERAND_TYPE_INVALID, &[&name, &"'~'"]);
                    return Err(error);
                }
                let ty = x.ty;
                Ok(self.folding.fold(Scalar { kind: ScalarKind::BitNot(Box::new(x)), ty }))
            }
        }
    }

    /// A chain of operators, folded from the left. A long one is several, each of which begins
    /// with what the one before has put into a slot: so the tree is no higher for it.
    fn arithmetic(&mut self, chain: &ast::Arithmetic) -> SqlResult<Scalar> {
        let parts = chain.rest.len() / PART_LINKS;
        self.nested(parts, |b| {
            b.chained(chain.rest.len().min(PART_LINKS), |b| {
                let mut shared = Vec::with_capacity(parts);
                let body = b.parts_of_chain(chain, &mut shared)?;
                Ok(shared.into_iter().rev().fold(body, |body, (slot, value)| {
                    let ty = body.ty;
                    let (value, body) = (Box::new(value), Box::new(body));
                    Scalar { kind: ScalarKind::Let { slot, value, body }, ty }
                }))
            })
        })
    }

    /// The last part of a chain; the parts before are shared.
    fn parts_of_chain(
        &mut self,
        chain: &ast::Arithmetic,
        shared: &mut Vec<(plan::Slot, Scalar)>,
    ) -> SqlResult<Scalar> {
        let reads = self.reads_outside();
        let mut left = self.expr(&chain.first)?;
        let mut first = Some(&chain.first);
        for (n, term) in chain.rest.iter().enumerate() {
            if n > 0 && n.is_multiple_of(PART_LINKS) {
                let (column, value) = self.shared(left);
                left = column;
                shared.extend(value);
            }
            let right = self.expr(&term.operand)?;
            let right_type = right.ty.sql_type;
            let right = self.digits_counted(right, &term.operand, left.ty.sql_type)?;
            if let Some(first) = first.take() {
                left = self.digits_counted(left, first, right_type)?;
            }
            let bound = match operator(term.op) {
                Operation::Operator(op) => self.binary(op, left, right),
                Operation::Function(name) => self.known_function(name, vec![left, right]),
            };
            left = bound.map_err(|e| e.at_line(term.operand.span.line))?;
            if let Some(reads) = &reads {
                left = self.of_outer_group(left, reads);
            }
        }
        Ok(left)
    }

    /// An operator between two values.
    pub(crate) fn binary(&self, op: BinaryOp, left: Scalar, right: Scalar) -> SqlResult<Scalar> {
        self.meet_generally(&[&left, &right]);
        // The word NULL takes the other side's type; beside a string it is one of length 1.
        let (a, b) = match (takes_any_type(&left), takes_any_type(&right)) {
            (true, false) => (beside(&left, right.ty.sql_type), right.ty.sql_type),
            (false, true) => (left.ty.sql_type, beside(&right, left.ty.sql_type)),
            _ => (left.ty.sql_type, right.ty.sql_type),
        };
        let operation =
            operation(op, a, b).or_else(|e| match (untyped(&left), untyped(&right)) {
                (Some(_), None) => self.with_some_type(|t| operation(op, t, b)),
                (None, Some(_)) => self.with_some_type(|t| operation(op, a, t)),
                _ => Err(e),
            })?;
        let nullable = left.ty.nullable || right.ty.nullable;
        let ty = self.plain(operation.result, nullable);
        let ty = settled(ty, [&left, &right].into_iter(), CombiningOperator::Add)?;
        let side = |x: Scalar, sql_type| self.as_result(x, ScalarType { sql_type, ..ty });
        let (left, right) = (side(left, operation.left)?, side(right, operation.right)?);
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(self.folding.fold(Scalar { kind: ScalarKind::Binary { op, left, right }, ty }))
    }

    fn collate(&mut self, operand: &ast::Expr, name: &ast::Name) -> SqlResult<Scalar> {
        let x = self.expr(operand)?;
        let collation = match &**name {
            "database_default" | "DATABASE_DEFAULT" | "catalog_default" => Some(self.collation),
            other => Collation::by_name(other),
        };
        let Some(collation) = collation else {
            return Err(SqlError::new(messages::COLLATION_INVALID, &[name]).at_line(name.line));
        };
        if !x.ty.sql_type.is_character() {
            let name = x.ty.sql_type.error_name();
            return Err(SqlError::new(messages::COLLATE_TYPE, &[&name]));
        }
        self.collated(x, collation)
    }

    fn case(&mut self, case: &ast::Case) -> SqlResult<Scalar> {
        let otherwise = |b: &mut Self| match &case.otherwise {
            Some(e) => b.expr(e).map(Some),
            None => Ok(None),
        };
        match &case.branches {
            ast::CaseBranches::Searched(whens) => {
                let mut branches = Vec::with_capacity(whens.len());
                for (when, then) in whens {
                    branches.push((self.condition(when)?, self.expr(then)?));
                }
                let otherwise = otherwise(self)?;
                self.choice(branches, otherwise)
            }
            ast::CaseBranches::Simple { operand, whens } => {
                let operand = self.expr(operand)?;
                let (shared, bound_to) = self.shared(operand);
                let mut branches = Vec::with_capacity(whens.len());
                for (when, then) in whens {
                    let value = self.expr(when)?;
                    let test = self.compare(plan::CompareOp::Equal, shared.clone(), value)?;
                    branches.push((test, self.expr(then)?));
                }
                let otherwise = otherwise(self)?;
                let body = self.choice(branches, otherwise)?;
                Ok(match bound_to {
                    Some((slot, value)) => {
                        let ty = body.ty;
                        let (value, body) = (Box::new(value), Box::new(body));
                        Scalar { kind: ScalarKind::Let { slot, value, body }, ty }
                    }
                    None => body,
                })
            }
        }
    }

    /// Something that is to be used several times: itself if it is simple, else a slot and what
    /// is to be put there once.
    pub(crate) fn shared(&mut self, x: Scalar) -> (Scalar, Option<(plan::Slot, Scalar)>) {
        match x.kind {
            ScalarKind::Constant(_)
            | ScalarKind::Column(_)
            | ScalarKind::Variable(_)
            | ScalarKind::Global(_) => (x, None),
            // A range may be asked of the column.
            ScalarKind::Cast { ref operand, style: None, attempt: false, .. }
                if operand.as_column().is_some()
                    && types::kept(operand.ty.sql_type, x.ty.sql_type).is_some() =>
            {
                (x, None)
            }
            _ => {
                let slot = self.new_slot();
                (Scalar::column(slot, x.ty), Some((slot, x)))
            }
        }
    }

    /// CASE over bound branches: results converted to their common type.
    pub(crate) fn choice(
        &mut self,
        branches: Vec<(Predicate, Scalar)>,
        otherwise: Option<Scalar>,
    ) -> SqlResult<Scalar> {
        let results = branches.iter().map(|(_, x)| x).chain(&otherwise);
        if self.environment.deduction.is_some() {
            self.meet_generally(&results.clone().collect::<Vec<_>>());
        }
        let Some(mut ty) = self.common(results, CombiningOperator::Case)? else {
            return Err(SqlError::new(messages::CASE_ALL_NULL, &[]));
        };
        ty.nullable |= otherwise.is_none();
        let mut converted = Vec::with_capacity(branches.len());
        for (when, then) in branches {
            converted.push((when, self.as_result(then, ty)?));
        }
        let otherwise = match otherwise {
            Some(x) => Some(Box::new(self.as_result(x, ty)?)),
            None => None,
        };
        Ok(Scalar { kind: ScalarKind::Case { branches: converted, otherwise }, ty })
    }

    /// The common type of expressions that an operator takes; None when all are the word NULL.
    pub(crate) fn common<'x>(
        &self,
        items: impl Iterator<Item = &'x Scalar> + Clone,
        operator: CombiningOperator,
    ) -> SqlResult<Option<ScalarType>> {
        let nullable = items.clone().any(|x| x.ty.nullable);
        let typed = items.filter(|x| !takes_any_type(x));
        let mut common: Option<SqlType> = None;
        for x in typed.clone() {
            common = Some(match common {
                None => x.ty.sql_type,
                Some(known) => common_type(known, x.ty.sql_type)?,
            });
        }
        let ty = common.map(|sql_type| self.plain(sql_type, nullable));
        ty.map(|ty| settled(ty, typed, operator)).transpose()
    }

    fn scalar_subquery(&mut self, query: &ast::Query) -> SqlResult<Scalar> {
        let (mut subquery, untyped) = self.subquery(query, false)?;
        subquery.scalar = true;
        let mut ty = ScalarType { nullable: true, ..subquery.ty };
        if untyped {
            // (SELECT NULL) is the word NULL: what else would ORDER BY (SELECT NULL) be.
            ty.sql_type = SqlType::Int;
            return Ok(Scalar { kind: ScalarKind::Constant(types::Value::Null), ty });
        }
        let id = self.subplans.add_subquery(subquery);
        Ok(Scalar { kind: ScalarKind::Subquery(id), ty })
    }

    /// A subquery of one column; true when that is the word NULL and nothing else. `exists`: its
    /// columns do not matter.
    pub(crate) fn subquery(
        &mut self,
        query: &ast::Query,
        exists: bool,
    ) -> SqlResult<(Subquery<plan::Logical>, bool)> {
        if self.scopes.last().is_some_and(|s| s.clause == crate::names::scope::Clause::Definition) {
            return Err(SqlError::new(messages::SUBQUERY_NOT_ALLOWED, &[]));
        }
        if self.scopes.last().is_some_and(|s| s.in_aggregate) {
            return Err(SqlError::new(messages::AGGREGATE_OF_AGGREGATE, &[]));
        }
        let bound = self.query(query, crate::names::result::Place::Subquery { exists })?;
        if !exists && bound.columns.len() != 1 {
            let error = SqlError::new(messages::SUBQUERY_ONE_COLUMN, &[]);
            return Err(error.at_line(query.span.line));
        }
        let ty = bound.columns.first().map_or_else(|| self.plain(SqlType::Int, true), |c| c.ty);
        let untyped = bound.only_null;
        let columns =
            if exists { Vec::new() } else { bound.columns.iter().map(|c| c.slot).collect() };
        let (source, outer) = (bound.tree, Vec::new());
        let (scalar, session) = (false, false);
        Ok((Subquery { source, columns, ty, scalar, outer, session }, untyped))
    }
}

/// The type of an operand that takes any, beside another one.
fn beside(operand: &Scalar, other: SqlType) -> SqlType {
    match other {
        _ if !is_untyped_null(operand) => other,
        SqlType::Char(_) | SqlType::VarChar(_) => SqlType::varchar(1),
        SqlType::NChar(_) | SqlType::NVarChar(_) => SqlType::nvarchar(1),
        SqlType::Binary(_) | SqlType::VarBinary(_) => SqlType::varbinary(1),
        other => other,
    }
}

/// Whether an expression may leave parts of it uncomputed.
fn is_conditional(kind: &ExprKind) -> bool {
    const FUNCTIONS: [&str; 4] = ["COALESCE", "NULLIF", "ISNULL", "CHOOSE"];
    match kind {
        ExprKind::Case(_) | ExprKind::Iif(_) => true,
        ExprKind::Function(call) => {
            FUNCTIONS.iter().any(|f| f.eq_ignore_ascii_case(&call.name.object))
        }
        _ => false,
    }
}
