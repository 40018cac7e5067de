//! Conditions.

use crate::binder::Binder;
use crate::expressions::collation::{agreed, of_comparison};
use crate::expressions::comparable::compared_as;
use crate::expressions::constant::{all_of, any_of, compared, negated};
use crate::expressions::deduction::{is_untyped_null, takes_any_type, untyped};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use builtins::LikePattern;
use plan::{CompareOp, LikeText, Predicate, Quantifier, Scalar, ScalarKind};
use std::sync::Arc;
use tsql::ast::{self, ConditionKind};
use types::{Collation, Family, Length, SqlType, comparison_type};

fn operator(op: ast::CompareOp) -> CompareOp {
    match op {
        ast::CompareOp::Equal => CompareOp::Equal,
        ast::CompareOp::NotEqual => CompareOp::NotEqual,
        ast::CompareOp::Less => CompareOp::Less,
        ast::CompareOp::LessOrEqual => CompareOp::LessOrEqual,
        ast::CompareOp::Greater => CompareOp::Greater,
        ast::CompareOp::GreaterOrEqual => CompareOp::GreaterOrEqual,
    }
}

fn is_variable(x: &Scalar) -> bool {
    matches!(x.kind, ScalarKind::Variable(_))
}

fn operation_name(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "equal to",
        CompareOp::NotEqual => "not equal to",
        CompareOp::Less => "less than",
        CompareOp::LessOrEqual => "less than or equal to",
        CompareOp::Greater => "greater than",
        CompareOp::GreaterOrEqual => "greater than or equal to",
    }
}

impl Binder<'_> {
    /// A condition.
    pub(crate) fn condition(&mut self, c: &ast::Condition) -> SqlResult<Predicate> {
        let bound = self.nested(1, |b| b.condition_kind(c));
        bound.map_err(|e| e.at_line(c.span.line))
    }

    fn condition_kind(&mut self, c: &ast::Condition) -> SqlResult<Predicate> {
        let not = |p: Predicate, yes: bool| if yes { negated(p) } else { p };
        Ok(match &c.kind {
            ConditionKind::Compare { op, left, right } => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                self.compare(operator(*op), left, right)?
            }
            ConditionKind::Between { operand, low, high, negated } => {
                not(self.between(operand, low, high)?, *negated)
            }
            ConditionKind::InList { operand, list, negated } => {
                not(self.in_list(operand, list)?, *negated)
            }
            ConditionKind::InQuery { operand, query, negated } => {
                let op = CompareOp::Equal;
                not(self.quantified(op, operand, Quantifier::Any, query)?, *negated)
            }
            ConditionKind::Quantified { op, left, quantifier, query } => {
                let quantifier = match quantifier {
                    ast::Quantifier::All => Quantifier::All,
                    ast::Quantifier::Any => Quantifier::Any,
                };
                self.quantified(operator(*op), left, quantifier, query)?
            }
            ConditionKind::Like { operand, pattern, escape, negated } => {
                not(self.like(operand, pattern, escape.as_deref())?, *negated)
            }
            ConditionKind::IsNull { operand, negated } => {
                let x = self.maybe_node(operand)?;
                let p = match x.as_constant() {
                    Some(v) => Predicate::Constant(Some(v.is_null())),
                    None => match self.known_value(&x) {
                        Some(v) => Predicate::Constant(Some(v.is_null())),
                        None => Predicate::IsNull(Box::new(x)),
                    },
                };
                not(p, *negated)
            }
            ConditionKind::IsDistinct { left, right, negated } => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let (left, right, collation) =
                    self.alike(left, right, if *negated { "is" } else { "is not" })?;
                let (left, right) = (Box::new(left), Box::new(right));
                not(Predicate::IsDistinct { left, right, collation }, *negated)
            }
            ConditionKind::Exists(query) => {
                let (subquery, _) = self.subquery(query, true)?;
                Predicate::Exists(self.subplans.add_subquery(subquery))
            }
            ConditionKind::Not(inner) => negated(self.condition(inner)?),
            ConditionKind::And(parts) => all_of(self.conditions(parts)?),
            ConditionKind::Or(parts) => any_of(self.conditions(parts)?),
            ConditionKind::Updated(column) => return self.updated(column),
            ConditionKind::FullText { function, .. } => {
                return Err(unsupported(function, c.span.line));
            }
        })
    }

    fn conditions(&mut self, parts: &[ast::Condition]) -> SqlResult<Vec<Predicate>> {
        parts.iter().map(|p| self.condition(p)).collect()
    }

    /// Both sides in a form in which they compare.
    fn alike(
        &self,
        left: Scalar,
        right: Scalar,
        operation: &str,
    ) -> SqlResult<(Scalar, Scalar, Collation)> {
        self.meet([&left, &right]);
        let collation = of_comparison(&left, &right, operation)?;
        let to = match (takes_any_type(&left), takes_any_type(&right)) {
            (true, _) => right.ty.sql_type,
            (_, true) => left.ty.sql_type,
            _ => compared_as(left.ty.sql_type, right.ty.sql_type, operation)?,
        };
        let (left, right) = (self.recoded(left, collation), self.recoded(right, collation));
        Ok((self.for_comparison(left, to)?, self.for_comparison(right, to)?, collation))
    }

    pub(crate) fn compare(
        &self,
        op: CompareOp,
        left: Scalar,
        right: Scalar,
    ) -> SqlResult<Predicate> {
        if let Some(p) = self.null_aware(op, &left, &right)? {
            return Ok(p);
        }
        self.compare_as_ansi(op, left, right)
    }

    /// Under ANSI_NULLS OFF `=` and `<>` take NULL for a value where one side is NULL as it is
    /// written, or a variable that is NULL; columns and other expressions compare as ever. From
    /// the reference of SET ANSI_NULLS.
    fn null_aware(
        &self,
        op: CompareOp,
        left: &Scalar,
        right: &Scalar,
    ) -> SqlResult<Option<Predicate>> {
        let equal = match op {
            _ if self.ansi_nulls => return Ok(None),
            CompareOp::Equal => true,
            CompareOp::NotEqual => false,
            _ => return Ok(None),
        };
        let is_null = |x: &Scalar| match x.as_constant() {
            Some(v) => Predicate::Constant(Some(v.is_null())),
            None => Predicate::IsNull(Box::new(x.clone())),
        };
        let as_said = |p: Predicate| if equal { p } else { negated(p) };
        if is_variable(left) && is_variable(right) {
            let same = self.compare_as_ansi(CompareOp::Equal, left.clone(), right.clone())?;
            let neither = vec![negated(is_null(left)), negated(is_null(right)), same];
            let both = all_of(vec![is_null(left), is_null(right)]);
            return Ok(Some(as_said(any_of(vec![both, all_of(neither)]))));
        }
        let (given, other) = match () {
            () if is_untyped_null(right) => return Ok(Some(as_said(is_null(left)))),
            () if is_untyped_null(left) => return Ok(Some(as_said(is_null(right)))),
            () if is_variable(right) => (right, left),
            () if is_variable(left) => (left, right),
            () => return Ok(None),
        };
        let with_value = self.compare_as_ansi(op, left.clone(), right.clone())?;
        let without = all_of(vec![is_null(given), as_said(is_null(other))]);
        let with_value = all_of(vec![negated(is_null(given)), with_value]);
        Ok(Some(any_of(vec![without, with_value])))
    }

    fn compare_as_ansi(&self, op: CompareOp, left: Scalar, right: Scalar) -> SqlResult<Predicate> {
        if !matches!(op, CompareOp::Equal | CompareOp::NotEqual) {
            self.meet_generally(&[&left, &right]);
        }
        let (left, right, collation) = self.alike(left, right, operation_name(op))?;
        if let Some(known) = compared(op, &left, &right, collation) {
            return Ok(known);
        }
        let (left, right) = (Box::new(left), Box::new(right));
        Ok(Predicate::Compare { op, left, right, collation })
    }

    /// A predicate over an operand that is computed once.
    fn with_shared(
        &mut self,
        x: Scalar,
        body: impl FnOnce(&mut Self, Scalar) -> SqlResult<Predicate>,
    ) -> SqlResult<Predicate> {
        let (shared, bound_to) = self.shared(x);
        let body = body(self, shared)?;
        Ok(match bound_to {
            Some((slot, value)) => {
                Predicate::Let { slot, value: Box::new(value), body: Box::new(body) }
            }
            None => body,
        })
    }

    fn between(
        &mut self,
        operand: &ast::Expr,
        low: &ast::Expr,
        high: &ast::Expr,
    ) -> SqlResult<Predicate> {
        let x = self.expr(operand)?;
        let (low, high) = (self.expr(low)?, self.expr(high)?);
        self.with_shared(x, |b, x| {
            let from = b.compare(CompareOp::GreaterOrEqual, x.clone(), low)?;
            let to = b.compare(CompareOp::LessOrEqual, x, high)?;
            Ok(all_of(vec![from, to]))
        })
    }

    fn in_list(&mut self, operand: &ast::Expr, list: &[ast::Expr]) -> SqlResult<Predicate> {
        let x = self.expr(operand)?;
        let mut items = Vec::with_capacity(list.len());
        for item in list {
            items.push(self.expr(item)?);
        }
        let plain = self.ansi_nulls || !items.iter().any(|i| is_untyped_null(i) || is_variable(i));
        if plain && let Some(p) = self.uniform_list(&x, &items)? {
            return Ok(p);
        }
        self.with_shared(x, |b, x| {
            let parts: SqlResult<Vec<Predicate>> = items
                .into_iter()
                .map(|item| b.compare(CompareOp::Equal, x.clone(), item))
                .collect();
            Ok(any_of(parts?))
        })
    }

    /// A list whose members all compare in one type and collation, as one predicate.
    fn uniform_list(&self, x: &Scalar, items: &[Scalar]) -> SqlResult<Option<Predicate>> {
        let [first, rest @ ..] = items else { return Ok(None) };
        let untyped = |item: &Scalar| untyped(item).is_some();
        if items.iter().any(untyped) {
            return Ok(None);
        }
        if rest.is_empty() || takes_any_type(x) || x.as_constant().is_some() {
            return Ok(None);
        }
        let mut to = None;
        for item in std::iter::once(first).chain(rest) {
            if is_untyped_null(item) {
                continue;
            }
            let t = comparison_type(x.ty.sql_type, item.ty.sql_type)?;
            let same = to.is_none_or(|known: SqlType| {
                known.family() == t.family() && known.family() != Family::Temporal || known == t
            });
            if !same {
                return Ok(None);
            }
            to = Some(t);
        }
        let Some(to) = to else { return Ok(None) };
        let collation = of_comparison(x, first, operation_name(CompareOp::Equal))?;
        let operand = self.for_comparison(self.recoded(x.clone(), collation), to)?;
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            if of_comparison(x, item, operation_name(CompareOp::Equal))? != collation {
                return Ok(None);
            }
            list.push(self.for_comparison(self.recoded(item.clone(), collation), to)?);
        }
        Ok(Some(Predicate::InList { operand: Box::new(operand), list, collation }))
    }

    fn quantified(
        &mut self,
        op: CompareOp,
        left: &ast::Expr,
        quantifier: Quantifier,
        query: &ast::Query,
    ) -> SqlResult<Predicate> {
        let operand = self.expr(left)?;
        let (mut subquery, untyped) = self.subquery(query, false)?;
        let column = subquery.columns[0];
        let right = match untyped {
            true => Scalar { ty: subquery.ty, ..Scalar::null(subquery.ty.sql_type) },
            false => Scalar::column(column, subquery.ty),
        };
        let (operand, right, collation) = self.alike(operand, right, operation_name(op))?;
        // The subquery gives the type that is compared.
        if right.as_column() != Some(column) {
            let slot = self.new_slot();
            subquery.ty = right.ty;
            subquery.source = plan::Logical::Compute {
                input: Box::new(subquery.source),
                columns: vec![(slot, right)],
            };
            subquery.columns = vec![slot];
        }
        let subquery = self.subplans.add_subquery(subquery);
        Ok(Predicate::Quantified {
            op,
            quantifier,
            operand: Box::new(operand),
            subquery,
            collation,
        })
    }

    fn like(
        &mut self,
        operand: &ast::Expr,
        pattern: &ast::Expr,
        escape: Option<&ast::Expr>,
    ) -> SqlResult<Predicate> {
        let operand = self.expr(operand)?;
        let pattern = self.expr(pattern)?;
        let escape = match escape {
            Some(e) => Some(self.expr(e)?),
            None => None,
        };
        self.meet_generally(&[&operand, &pattern]);
        let operand = self.text_of(operand, 1)?;
        let pattern = self.text_of(pattern, 2)?;
        let wide = [&operand, &pattern].iter().any(|x| x.ty.sql_type.family() == Family::NChar);
        let texts = [&operand, &pattern].into_iter().chain(&escape);
        let found = agreed(texts, "like")?;
        let collation = found.map_or(operand.ty.collation, |(collation, _)| collation);
        let (operand, pattern) = match wide {
            true => (self.widened(operand)?, self.widened(pattern)?),
            false => (self.recoded(operand, collation), self.recoded(pattern, collation)),
        };
        let escape = match escape {
            // Two characters suffice to see that it is not one.
            Some(x) => Some(self.implicit(x, SqlType::nvarchar(2))?),
            None => None,
        };
        let constant_escape = match &escape {
            None => Some(None),
            Some(x) => match x.as_constant().and_then(|v| v.as_text()) {
                Some(text) if text.chars().count() != 1 => {
                    return Err(SqlError::new(messages::LIKE_ESCAPE, &[&text]));
                }
                text => text.map(|t| t.chars().next()),
            },
        };
        let pattern = match (pattern.as_constant(), constant_escape) {
            (Some(p), Some(e)) if !p.is_null() => {
                LikeText::Compiled(Arc::new(LikePattern::compile(p, e, collation)))
            }
            _ => LikeText::Dynamic { pattern: Box::new(pattern), escape: escape.map(Box::new) },
        };
        Ok(Predicate::Like { operand: Box::new(operand), pattern, collation })
    }

    /// An operand of LIKE as text.
    fn text_of(&self, x: Scalar, position: usize) -> SqlResult<Scalar> {
        if x.ty.sql_type.is_character() {
            return Ok(x);
        }
        if matches!(x.ty.sql_type.family(), Family::Binary | Family::Variant) {
            let name = x.ty.sql_type.error_name();
            let error =
                SqlError::new(messages::ARGUMENT_TYPE_INVALID, &[&name, &position, &"like"]);
            return Err(error);
        }
        self.implicit(x, SqlType::varchar(8000))
    }

    fn widened(&self, x: Scalar) -> SqlResult<Scalar> {
        let to = match x.ty.sql_type {
            SqlType::Char(n) => SqlType::NVarChar(Length::N(n.min(4000))),
            SqlType::VarChar(Length::N(n)) => SqlType::NVarChar(Length::N(n.min(4000))),
            SqlType::VarChar(Length::Max) | SqlType::Text => SqlType::NVARCHAR_MAX,
            _ => return Ok(x),
        };
        self.implicit(x, to)
    }
}
