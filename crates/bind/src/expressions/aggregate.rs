//! Aggregates, and what may stand beside them.
//!
//! An aggregate becomes a column of the grouping below: its call is noted in the scope, and the
//! expression reads the call's slot. When the select list is bound, [`GroupShape`] checks that
//! every other column is one that the rows of a group share, replacing whole grouping expressions
//! by their slots. Subqueries read those from the start (`Groups::of_group`).
//!
//! An aggregate that reads the columns of one outer query alone is that query's: its argument is
//! bound twice, once to see whose columns it names, then in the scope that owns it. (Rules from
//! messages 147, 4101, 8124, and from a public project's recorded probes.)

use crate::binder::Binder;
use crate::expressions::collation::{agreed, check_distinct};
use crate::names::scope::{Clause, ColumnRead};
use base::{SqlError, SqlResult, messages};
use builtins::{Aggregate, Percentile};
use plan::{
    AggregateCall, AggregatePhase, LikeText, Predicate, Scalar, ScalarKind, ScalarType, Slot,
};
use std::collections::BTreeSet;
use tsql::ast;
use types::SqlType;

impl Binder<'_> {
    /// A call of an aggregate, with OVER or without.
    pub(crate) fn aggregate(
        &mut self,
        aggregate: Aggregate,
        call: &ast::FunctionCall,
    ) -> SqlResult<Scalar> {
        if let Some(over) = &call.over {
            return self.window_aggregate(aggregate, call, over);
        }
        let Some(own) = self.scopes.len().checked_sub(1) else {
            return Err(SqlError::new(messages::AGGREGATE_IN_WHERE, &[]));
        };
        // Also within a subquery of its argument.
        if self.scopes.iter().any(|s| s.in_aggregate) {
            return Err(SqlError::new(messages::AGGREGATE_OF_AGGREGATE, &[]));
        }
        let owner = self.owner(aggregate, call)?;
        if owner == own {
            return self.own_aggregate(aggregate, call);
        }
        // It is one of that query's, wherever it is written.
        let within = self.scopes.split_off(owner + 1);
        let bound = self.own_aggregate(aggregate, call);
        self.scopes.extend(within);
        bound
    }

    /// The query that an aggregate belongs to: the one whose columns it reads, though it be
    /// written within a subquery of that; the one it is written in where it reads none (8124).
    fn owner(&mut self, aggregate: Aggregate, call: &ast::FunctionCall) -> SqlResult<usize> {
        let own = self.scopes.len() - 1;
        if own == 0 || self.scopes[own].barrier {
            self.aggregate_allowed(false)?;
            return Ok(own);
        }
        let before = self.named_scopes.replace(BTreeSet::new());
        let reads: Vec<usize> = self.scopes.iter().map(|s| s.reads.len()).collect();
        let bound = self.aggregated(aggregate, call);
        let named = std::mem::replace(&mut self.named_scopes, before).unwrap_or_default();
        for (scope, length) in self.scopes.iter_mut().zip(reads) {
            scope.reads.truncate(length);
        }
        if named.len() > 1 {
            return Err(SqlError::new(messages::AGGREGATE_OF_SEVERAL, &[]));
        }
        let owner = named.first().copied().unwrap_or(own);
        let within = self.scopes.split_off(owner + 1);
        let allowed = self.aggregate_allowed(owner != own);
        self.scopes.extend(within);
        allowed?;
        bound.map(|_| owner)
    }

    /// An aggregate of the innermost query.
    fn own_aggregate(
        &mut self,
        aggregate: Aggregate,
        call: &ast::FunctionCall,
    ) -> SqlResult<Scalar> {
        if let (Some(name), [_]) = (&self.in_recursion, self.scopes.as_slice()) {
            return Err(SqlError::new(messages::RECURSIVE_GROUP, &[name]));
        }
        let (aggregate, argument, separator) = self.aggregated(aggregate, call)?;
        if let Some(x) = argument.as_ref().filter(|_| call.distinct) {
            check_distinct(x.ty)?;
        }
        let ty = self.aggregate_type(aggregate, argument.as_ref())?;
        let scope = self.scopes.last_mut().expect("an aggregate is allowed only within a query");
        let known = scope.calls.iter().find(|c| {
            c.function == aggregate
                && c.distinct == call.distinct
                && c.argument == argument
                && c.separator == separator
        });
        if let Some(known) = known {
            return Ok(Scalar::column(known.output, known.ty));
        }
        let output = self.new_slot();
        let distinct = call.distinct && !matches!(aggregate, Aggregate::Min | Aggregate::Max);
        let phase = AggregatePhase::Whole;
        let function = aggregate;
        let entry = AggregateCall { function, distinct, argument, separator, output, ty, phase };
        let scope = self.scopes.last_mut().expect("the scope was there above");
        scope.calls.push(entry);
        Ok(Scalar::column(output, ty))
    }

    /// What is aggregated how, with the separator or fraction that goes with it.
    fn aggregated(
        &mut self,
        aggregate: Aggregate,
        call: &ast::FunctionCall,
    ) -> SqlResult<(Aggregate, Option<Scalar>, Option<Scalar>)> {
        if let Aggregate::ApproxPercentile(of) = aggregate {
            return self.ranked(of, call);
        }
        let (argument, separator) = self.aggregate_argument(aggregate, call, true)?;
        let (aggregate, argument) = match call.within_group.as_slice() {
            [] => (aggregate, argument),
            keys => self.ordered_argument(aggregate, call, argument, keys)?,
        };
        Ok((aggregate, argument, separator))
    }

    /// APPROX_PERCENTILE_CONT and _DISC: WITHIN GROUP says what is ranked, and from where.
    fn ranked(
        &mut self,
        of: Percentile,
        call: &ast::FunctionCall,
    ) -> SqlResult<(Aggregate, Option<Scalar>, Option<Scalar>)> {
        let name = call.name.object.to_ascii_lowercase();
        let key = match call.within_group.as_slice() {
            [key] => key,
            [] => return Err(SqlError::new(messages::NEEDS_WITHIN_GROUP, &[&name])),
            _ => return Err(SqlError::new(messages::WITHIN_GROUP_ONE, &[&name])),
        };
        let [fraction] = call.arguments.as_slice() else {
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&name, &1]));
        };
        let fraction = self.expr(fraction)?;
        let fraction = self.implicit(fraction, SqlType::Float)?;
        match fraction.as_constant() {
            Some(types::Value::Float(p)) if (0.0..=1.0).contains(p) => {}
            _ => return Err(SqlError::new(messages::PERCENTILE_RANGE, &[])),
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.in_aggregate = true;
        }
        let argument = self.expr(&key.expr);
        if let Some(scope) = self.scopes.last_mut() {
            scope.in_aggregate = false;
        }
        let of = Percentile { descending: key.descending, ..of };
        Ok((Aggregate::ApproxPercentile(of), Some(argument?), Some(fraction)))
    }

    /// STRING_AGG WITHIN GROUP: each text carries what it is ordered by.
    fn ordered_argument(
        &mut self,
        aggregate: Aggregate,
        call: &ast::FunctionCall,
        argument: Option<Scalar>,
        keys: &[ast::OrderItem],
    ) -> SqlResult<(Aggregate, Option<Scalar>)> {
        let Some(argument) = argument.filter(|_| aggregate == Aggregate::StringAgg) else {
            let name = call.name.object.to_ascii_lowercase();
            return Err(SqlError::new(messages::NO_WITHIN_GROUP, &[&name]));
        };
        let joined = aggregate.result_type(argument.ty.sql_type)?;
        let wide = joined.family() == types::Family::NChar;
        let text = self.implicit(argument, joined)?;
        let ty = ScalarType { sql_type: SqlType::VARBINARY_MAX, nullable: true, ..text.ty };
        let mut args = vec![text];
        for key in keys {
            if let Some(scope) = self.scopes.last_mut() {
                scope.in_aggregate = true;
            }
            let value = self.expr(&key.expr);
            if let Some(scope) = self.scopes.last_mut() {
                scope.in_aggregate = false;
            }
            let value = value?;
            let order = builtins::key_order(value.ty.collation, key.descending);
            args.push(value);
            args.push(self.constant(types::Value::Int(order), SqlType::Int));
        }
        let arg_types = args.iter().map(|a| a.ty.sql_type).collect();
        let kind = ScalarKind::Function { function: &builtins::ORDERED, args, arg_types };
        let joined = builtins::JoinedType { wide, max: joined.is_max() };
        Ok((Aggregate::StringAggOrdered(joined), Some(Scalar { kind, ty })))
    }

    /// Whether the innermost query may have an aggregate where it is being bound. `nested`: it is
    /// written in a subquery there.
    fn aggregate_allowed(&self, nested: bool) -> SqlResult<()> {
        let Some(scope) = self.scopes.last() else {
            return Err(SqlError::new(messages::AGGREGATE_IN_WHERE, &[]));
        };
        if scope.in_aggregate {
            return Err(SqlError::new(messages::AGGREGATE_OF_AGGREGATE, &[]));
        }
        let message = match scope.clause {
            Clause::SelectList | Clause::Having | Clause::OrderBy => return Ok(()),
            Clause::From if nested => messages::AGGREGATE_RIGHT_OF_APPLY,
            Clause::Where | Clause::From | Clause::Definition => messages::AGGREGATE_IN_WHERE,
            Clause::On => messages::AGGREGATE_IN_ON,
            Clause::GroupBy => messages::AGGREGATE_IN_GROUP_BY,
            Clause::Set => messages::AGGREGATE_IN_SET,
        };
        Err(SqlError::new(message, &[]))
    }

    /// What is aggregated, and STRING_AGG's separator. `inner`: columns within are those of
    /// ungrouped rows.
    pub(crate) fn aggregate_argument(
        &mut self,
        aggregate: Aggregate,
        call: &ast::FunctionCall,
        inner: bool,
    ) -> SqlResult<(Option<Scalar>, Option<Scalar>)> {
        let name = aggregate.name().to_ascii_lowercase();
        let counts = matches!(aggregate, Aggregate::Count | Aggregate::CountBig);
        if call.star {
            return match counts {
                true => Ok((None, None)),
                false => Err(SqlError::new(messages::SYNTAX_NEAR, &[&"*"])),
            };
        }
        let wanted = if aggregate == Aggregate::StringAgg { 2 } else { 1 };
        if call.arguments.len() != wanted {
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&name, &wanted]));
        }
        if inner && let Some(scope) = self.scopes.last_mut() {
            scope.in_aggregate = true;
        }
        let argument = self.expr(&call.arguments[0]);
        if inner && let Some(scope) = self.scopes.last_mut() {
            scope.in_aggregate = false;
        }
        let argument = argument?;
        let separator = match call.arguments.get(1) {
            Some(e) => Some(self.expr(e)?),
            None => None,
        };
        if matches!(aggregate, Aggregate::Min | Aggregate::Max | Aggregate::StringAgg) {
            agreed(std::iter::once(&argument).chain(&separator), &name)?;
        }
        let narrow = argument.ty.sql_type.family() == types::Family::Char;
        let joins = if narrow { SqlType::varchar(8000) } else { SqlType::nvarchar(4000) };
        let recoded = |x: Scalar| match narrow {
            true => self.on_its_way(x, argument.ty.collation),
            false => x,
        };
        let separator = separator.map(|x| self.implicit(recoded(x), joins)).transpose()?;
        if aggregate == Aggregate::StringAgg && !argument.ty.sql_type.is_character() {
            return Ok((Some(self.implicit(argument, SqlType::nvarchar(4000))?), separator));
        }
        Ok((Some(argument), separator))
    }

    pub(crate) fn aggregate_type(
        &self,
        aggregate: Aggregate,
        argument: Option<&Scalar>,
    ) -> SqlResult<ScalarType> {
        let over = argument.map_or(SqlType::Int, |x| x.ty.sql_type);
        let ty = self.plain(aggregate.result_type(over)?, true);
        Ok(match argument {
            Some(x)
                if x.ty.sql_type.is_character()
                    || matches!(aggregate, Aggregate::StringAggOrdered(_)) =>
            {
                ScalarType { collation: x.ty.collation, coercibility: x.ty.coercibility, ..ty }
            }
            _ => ty,
        })
    }
}

/// The shape of a grouped query: what its expressions may read.
pub(crate) struct GroupShape<'s> {
    /// Grouping expressions with the slots that hold them.
    pub(crate) keys: &'s [(Scalar, Slot)],
    /// Reads of the query's own columns.
    pub(crate) reads: &'s [ColumnRead],
    /// There is a GROUP BY clause (even if only HAVING or an aggregate makes the group).
    pub(crate) clause_present: bool,
    /// There are grouping sets: any of its expressions may be NULL.
    pub(crate) sets: bool,
}

impl GroupShape<'_> {
    /// What a grouping expression becomes above the groups.
    fn regrouped(&self, x: &mut Scalar, slot: Slot) {
        x.kind = ScalarKind::Column(slot);
        x.ty.nullable |= self.sets;
    }

    /// Replaces grouping expressions by their slots; what is left must not read ungrouped columns.
    pub(crate) fn scalar(&self, x: &mut Scalar) -> SqlResult<()> {
        if let Some((_, slot)) = self.keys.iter().find(|(key, _)| key.kind == x.kind) {
            self.regrouped(x, *slot);
            return Ok(());
        }
        use ScalarKind as K;
        match &mut x.kind {
            K::Constant(_) | K::Variable(_) | K::Global(_) | K::Subquery(_) => {}
            K::Column(slot) => self.allowed(*slot)?,
            K::Negate(x) | K::BitNot(x) => self.scalar(x)?,
            K::Binary { left, right, .. } => {
                self.scalar(left)?;
                self.scalar(right)?;
            }
            K::Case { branches, otherwise } => {
                for (when, then) in branches {
                    self.predicate(when)?;
                    self.scalar(then)?;
                }
                if let Some(x) = otherwise {
                    self.scalar(x)?;
                }
            }
            K::Coalesce(items) => items.iter_mut().try_for_each(|x| self.scalar(x))?,
            K::Cast { operand, style, .. } => {
                self.scalar(operand)?;
                if let Some(x) = style {
                    self.scalar(x)?;
                }
            }
            K::Function { args, .. } => args.iter_mut().try_for_each(|x| self.scalar(x))?,
            K::Method { args, .. } => args.iter_mut().try_for_each(|x| self.scalar(x))?,
            K::Call(call) => call.args.iter_mut().try_for_each(|x| self.scalar(x))?,
            K::Let { value, body, .. } => {
                self.scalar(value)?;
                self.scalar(body)?;
            }
        }
        Ok(())
    }

    pub(crate) fn predicate(&self, p: &mut Predicate) -> SqlResult<()> {
        use Predicate as P;
        match p {
            P::Constant(_) | P::Exists(_) => Ok(()),
            P::Compare { left, right, .. } | P::IsDistinct { left, right, .. } => {
                self.scalar(left)?;
                self.scalar(right)
            }
            P::IsNull(x) => self.scalar(x),
            P::Like { operand, pattern, .. } => {
                self.scalar(operand)?;
                match pattern {
                    LikeText::Dynamic { pattern, .. } => self.scalar(pattern),
                    LikeText::Compiled(_) => Ok(()),
                }
            }
            P::InList { operand, list, .. } => {
                self.scalar(operand)?;
                list.iter_mut().try_for_each(|x| self.scalar(x))
            }
            P::Quantified { operand, .. } => self.scalar(operand),
            P::Not(p) => self.predicate(p),
            P::And(parts) | P::Or(parts) => parts.iter_mut().try_for_each(|p| self.predicate(p)),
            P::Let { value, body, .. } => {
                self.scalar(value)?;
                self.predicate(body)
            }
        }
    }

    /// Subqueries of grouped clauses read outer columns: those must be grouping columns.
    pub(crate) fn nested_reads(&self) -> SqlResult<()> {
        let shared: BTreeSet<Slot> = self.keys.iter().map(|(_, slot)| *slot).collect();
        let grouped = |r: &&ColumnRead| r.nested && r.clause.is_of_groups();
        match self.reads.iter().filter(grouped).find(|r| !shared.contains(&r.slot)) {
            Some(read) => Err(self.error(read)),
            None => Ok(()),
        }
    }

    fn allowed(&self, slot: Slot) -> SqlResult<()> {
        match self.reads.iter().find(|r| r.slot == slot && r.clause.is_of_groups()) {
            Some(read) => Err(self.error(read)),
            None => Ok(()),
        }
    }

    fn error(&self, read: &ColumnRead) -> SqlError {
        let message = match (read.clause, self.clause_present) {
            (Clause::Having, _) => messages::AGGREGATE_REQUIRED_HAVING,
            (Clause::OrderBy, true) => messages::AGGREGATE_REQUIRED_ORDER,
            (Clause::OrderBy, false) => messages::AGGREGATE_REQUIRED_ORDER_PLAIN,
            _ => messages::AGGREGATE_REQUIRED,
        };
        SqlError::new(message, &[&read.shown]).at_line(read.line)
    }
}
