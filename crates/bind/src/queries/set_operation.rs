//! UNION, UNION ALL, EXCEPT, INTERSECT.
//!
//! Columns take the names of the first operand and the common type of all. EXCEPT and INTERSECT
//! tag each side and keep groups by the tags they have seen: NULLs are equal, as in GROUP BY.

use crate::binder::Binder;
use crate::expressions::collation::{check_united, is_elsewhere};
use crate::expressions::comparable::check_combined;
use crate::expressions::deduction::is_untyped_null;
use crate::names::from::no_changes_in_operand;
use crate::names::result::{OutColumn, QueryResult};
use crate::refusal::standing;
use crate::tree::{computed_columns, filtered};
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use plan::{
    AggregateCall, AggregatePhase, CombiningOperator, CompareOp, Grouping, Logical, Predicate,
    Scalar, ScalarKind, ScalarType, Slot,
};
use tsql::ast::{self, SetOperator};
use types::{Collation, SqlType, Value};

impl Binder<'_> {
    pub(crate) fn set_operation(&mut self, o: &ast::SetOperation) -> SqlResult<QueryResult> {
        no_changes_in_operand(&o.first)?;
        o.rest.iter().try_for_each(|operand| no_changes_in_operand(&operand.body))?;
        let mut left = self.body(&o.first)?;
        let mut rest = o.rest.iter().peekable();
        // Each stands in the next.
        let mut operations = 0;
        while let Some(operand) = rest.next() {
            let mut operands = vec![left, self.body(&operand.body)?];
            // A run of one operator is one list: the tree stays flat.
            let joins = operand.op != SetOperator::Intersect;
            while let Some(next) = rest.peek()
                && joins
                && next.op == operand.op
            {
                operands.push(self.body(&next.body)?);
                rest.next();
            }
            let line = operand.span.line;
            operations += 1;
            standing(operations).map_err(|e| e.at_line(line))?;
            left = self.combined(operand.op, operands).map_err(|e| e.at_line(line))?;
        }
        standing(left.tree.height())?;
        Ok(left)
    }

    fn combined(&mut self, op: SetOperator, operands: Vec<QueryResult>) -> SqlResult<QueryResult> {
        let columns = self.united_columns(op, &operands)?;
        if op != SetOperator::UnionAll {
            columns.iter().try_for_each(|c| check_combined(c.ty.sql_type))?;
        }
        let slots: Vec<Slot> = columns.iter().map(|c| c.slot).collect();
        let keys: Vec<(Slot, Collation)> =
            columns.iter().map(|c| (c.slot, c.ty.collation)).collect();
        let tagged = matches!(op, SetOperator::Except | SetOperator::Intersect);
        let tag = if tagged { Some(self.new_slot()) } else { None };
        let mut inputs = Vec::with_capacity(operands.len());
        for (n, operand) in operands.into_iter().enumerate() {
            // What is excepted is one side, of however many operands.
            inputs.push(self.operand(operand, &columns, tag.map(|_| n.min(1) as i32))?);
        }
        let outputs = slots.iter().copied().chain(tag).collect();
        let all = Logical::Concatenate { inputs, columns: outputs };
        let tree = match (op, tag) {
            (SetOperator::Union, _) => Logical::Distinct { input: Box::new(all), columns: keys },
            (_, Some(tag)) => self.by_tag(op, all, keys, tag),
            _ => all,
        };
        Ok(QueryResult { tree, columns, only_null: false })
    }

    /// The columns of the result: names of the first, types of all.
    fn united_columns(
        &mut self,
        op: SetOperator,
        operands: &[QueryResult],
    ) -> SqlResult<Vec<OutColumn>> {
        let first = &operands[0];
        if operands.iter().any(|o| o.columns.len() != first.columns.len()) {
            return Err(SqlError::new(messages::UNION_COUNT, &[]));
        }
        let mut columns = Vec::with_capacity(first.columns.len());
        for (n, named) in first.columns.iter().enumerate() {
            let scalars: Vec<Scalar> = operands.iter().map(|o| scalar_of(&o.columns[n])).collect();
            if let Some(name) = comparing(op) {
                check_united(scalars.iter(), name)?;
            }
            let ty = self.common(scalars.iter(), CombiningOperator::UnionAll)?;
            let ty = ty.unwrap_or_else(|| self.plain(SqlType::Int, true));
            columns.push(OutColumn {
                name: named.name.clone(),
                slot: self.new_slot(),
                ty,
                user_type_id: 0,
                identity: false,
                stored: false,
                source: None,
                untyped_null: scalars.iter().all(is_untyped_null),
                calculated: false,
            });
        }
        Ok(columns)
    }

    /// An operand with its columns converted, and the slots that go into the result's.
    fn operand(
        &mut self,
        operand: QueryResult,
        columns: &[OutColumn],
        tag: Option<i32>,
    ) -> SqlResult<(Logical, Vec<Slot>)> {
        let mut computed = Vec::new();
        let mut slots = Vec::with_capacity(columns.len() + 1);
        for (own, wanted) in operand.columns.iter().zip(columns) {
            if own.ty.sql_type == wanted.ty.sql_type && !is_elsewhere(own.ty, wanted.ty.collation) {
                slots.push(own.slot);
                continue;
            }
            let slot = self.new_slot();
            computed.push((slot, self.as_result(scalar_of(own), wanted.ty)?));
            slots.push(slot);
        }
        if let Some(tag) = tag {
            let slot = self.new_slot();
            computed.push((slot, Scalar::constant(Value::Int(tag), SqlType::Int)));
            slots.push(slot);
        }
        Ok((computed_columns(operand.tree, computed), slots))
    }

    /// EXCEPT keeps groups seen only with tag 0, INTERSECT those seen with both.
    fn by_tag(
        &mut self,
        op: SetOperator,
        all: Logical,
        keys: Vec<(Slot, Collation)>,
        tag: Slot,
    ) -> Logical {
        let ty = ScalarType::new(SqlType::Int, false);
        let mut calls = Vec::with_capacity(2);
        let mut bound = |function, value| {
            let output = self.new_slot();
            calls.push(AggregateCall {
                function,
                distinct: false,
                argument: Some(Scalar::column(tag, ty)),
                separator: None,
                output,
                ty,
                phase: AggregatePhase::Whole,
            });
            Predicate::Compare {
                op: CompareOp::Equal,
                left: Box::new(Scalar::column(output, ty)),
                right: Box::new(Scalar::constant(Value::Int(value), SqlType::Int)),
                collation: Collation::default(),
            }
        };
        let greatest = if op == SetOperator::Except { 0 } else { 1 };
        let least = bound(Aggregate::Min, 0);
        let kept = least.and(bound(Aggregate::Max, greatest));
        filtered(Logical::Aggregate(Box::new(Grouping { input: all, keys, calls })), kept)
    }
}

/// The name of an operator that compares rows.
fn comparing(op: SetOperator) -> Option<&'static str> {
    match op {
        SetOperator::UnionAll => None,
        SetOperator::Union => Some("UNION"),
        SetOperator::Except => Some("EXCEPT"),
        SetOperator::Intersect => Some("INTERSECT"),
    }
}

/// An operand's column; the word NULL stays one.
fn scalar_of(c: &OutColumn) -> Scalar {
    match c.untyped_null {
        true => Scalar { kind: ScalarKind::Constant(Value::Null), ty: c.ty },
        false => Scalar::column(c.slot, c.ty),
    }
}
