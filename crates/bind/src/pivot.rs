//! PIVOT and UNPIVOT, as the groupings and products that they are.
//!
//! PIVOT groups by every column of its source that it does not name; for each value of its list
//! it aggregates what rows with that value have. UNPIVOT takes each row once for each column of
//! its list and leaves out what is NULL there.

use crate::binder::Binder;
use crate::module::tables_of;
use crate::resolve::Resolved;
use crate::scope::{Body, Clause, Columns, DerivedColumn, Scope, Source};
use crate::select::{computed_columns, filtered};
use crate::source::From;
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use plan::{
    AggregateCall, CompareOp, Grouping, JoinKind, Logical, Predicate, Scalar, ScalarKind,
    ScalarType, Slot,
};
use tsql::ast;
use types::{Collation, SqlType, Value};

impl Binder<'_> {
    pub(crate) fn pivot(&mut self, pivot: &ast::Pivot) -> SqlResult<From> {
        let from = self.table_source(&pivot.source)?;
        let name = &pivot.aggregate.name.object;
        let Some(function) = Aggregate::by_name(name) else {
            let what = "built-in function name";
            return Err(SqlError::new(messages::NOT_RECOGNIZED, &[name, &what]));
        };
        if pivot.aggregate.star {
            return Err(SqlError::new(messages::PIVOT_NO_STAR, &[name]));
        }
        let all = self.all_columns(&from.sources)?;
        let scope = Scope::new(from.sources, Clause::Where);
        let (by, argument) = self.within(scope, |b| {
            let by = b.column(&pivot.column)?.scalar;
            let (argument, _) = b.aggregate_argument(function, &pivot.aggregate, false)?;
            Ok((by, argument))
        })?;
        let Some(argument) = argument else {
            return Err(SqlError::new(messages::PIVOT_NO_STAR, &[name]));
        };
        let named = argument.reads().slots;
        let by_slot = by.as_column();
        let mut columns: Vec<DerivedColumn> = Vec::new();
        for c in all {
            let slot = c.scalar.as_column();
            if slot == by_slot || slot.is_some_and(|s| named.contains(&s)) {
                continue;
            }
            columns.extend(slot.map(|slot| derived(c, slot)));
        }
        let keys = columns.iter().map(|c| (c.slot, c.ty.collation)).collect();
        let mut calls = Vec::with_capacity(pivot.values.len());
        for value in &pivot.values {
            let call = self.pivoted(function, &argument, &by, value)?;
            if columns.iter().any(|c| self.same(&c.name, value)) {
                let facts: [&dyn std::fmt::Display; 2] = [value, &pivot.alias];
                return Err(SqlError::new(messages::COLUMN_NAME_TWICE, &facts));
            }
            columns.push(computed_column(value.text.clone(), call.output, call.ty));
            calls.push(call);
        }
        let tree = Logical::Aggregate(Box::new(Grouping { input: from.tree, keys, calls }));
        Ok(one_source(tree, &pivot.alias, columns))
    }

    /// The aggregate of the rows that have one value.
    fn pivoted(
        &mut self,
        function: Aggregate,
        argument: &Scalar,
        by: &Scalar,
        value: &ast::Name,
    ) -> SqlResult<AggregateCall> {
        let text = self.constant(Value::nvarchar(value), SqlType::nvarchar(128));
        let wanted = self.implicit(text, by.ty.sql_type).map_err(|e| e.at_line(value.line))?;
        if wanted.as_constant().is_none() {
            let facts: [&dyn std::fmt::Display; 2] = [&"nvarchar", &by.ty.sql_type.error_name()];
            let error = SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &facts);
            return Err(error.at_line(value.line));
        }
        let has = Predicate::Compare {
            op: CompareOp::Equal,
            left: Box::new(by.clone()),
            right: Box::new(wanted),
            collation: by.ty.collation,
        };
        let ty = ScalarType { nullable: true, ..argument.ty };
        let kind = ScalarKind::Case { branches: vec![(has, argument.clone())], otherwise: None };
        let argument = Scalar { kind, ty };
        let ty = self.aggregate_type(function, Some(&argument))?;
        let output = self.new_slot();
        let (distinct, argument) = (false, Some(argument));
        Ok(AggregateCall { function, distinct, argument, separator: None, output, ty })
    }

    pub(crate) fn unpivot(&mut self, unpivot: &ast::Unpivot) -> SqlResult<From> {
        let from = self.table_source(&unpivot.source)?;
        let all = self.all_columns(&from.sources)?;
        let mut listed: Vec<Resolved> = Vec::with_capacity(unpivot.columns.len());
        for name in &unpivot.columns {
            let found = all.iter().find(|c| self.same(&c.name, name)).cloned();
            let found = found.ok_or_else(|| {
                SqlError::new(messages::INVALID_COLUMN, &[name]).at_line(name.line)
            })?;
            let first = listed.first().map_or(found.scalar.ty, |c| c.scalar.ty);
            let same = first.sql_type == found.scalar.ty.sql_type
                && (!first.sql_type.is_character() || first.collation == found.scalar.ty.collation);
            if !same {
                let error = SqlError::new(messages::UNPIVOT_TYPES, &[name]);
                return Err(error.at_line(name.line));
            }
            listed.push(found);
        }
        let slots: Vec<Slot> = listed.iter().filter_map(|c| c.scalar.as_column()).collect();
        let mut columns: Vec<DerivedColumn> = all
            .into_iter()
            .filter_map(|c| c.scalar.as_column().map(|slot| derived(c, slot)))
            .filter(|c| !slots.contains(&c.slot))
            .collect();
        let (number, value, name) = (self.new_slot(), self.new_slot(), self.new_slot());
        let ty = ScalarType {
            nullable: false,
            ..listed.first().map_or(self.plain(SqlType::Int, true), |c| c.scalar.ty)
        };
        let name_ty = self.plain(SqlType::nvarchar(128), false);
        let values = listed.iter().map(|c| c.scalar.clone());
        let names = listed.iter().map(|c| {
            let text = Value::nvarchar(&c.name);
            Scalar { kind: ScalarKind::Constant(text), ty: name_ty }
        });
        let computed = vec![
            (value, chosen(number, values, ScalarType { nullable: true, ..ty })),
            (name, chosen(number, names, name_ty)),
        ];
        let tree = computed_columns(times(from.tree, number, listed.len()), computed);
        let is_null = Predicate::IsNull(Box::new(Scalar::column(value, ty)));
        let tree = filtered(tree, Predicate::Not(Box::new(is_null)));
        columns.push(computed_column(unpivot.value.text.clone(), value, ty));
        columns.push(computed_column(unpivot.name.text.clone(), name, name_ty));
        for (n, c) in columns.iter().enumerate() {
            if columns[..n].iter().any(|d| self.same(&d.name, &c.name)) {
                let facts: [&dyn std::fmt::Display; 2] = [&c.name, &unpivot.alias];
                return Err(SqlError::new(messages::COLUMN_NAME_TWICE, &facts));
            }
        }
        Ok(one_source(tree, &unpivot.alias, columns))
    }

    /// Every column of some sources.
    fn all_columns(&mut self, sources: &[Source]) -> SqlResult<Vec<Resolved>> {
        let mut all = Vec::new();
        for source in sources {
            for n in 0..self.column_count(source) {
                all.push(self.column_of(source, n)?);
            }
        }
        Ok(all)
    }
}

fn derived(c: Resolved, slot: Slot) -> DerivedColumn {
    let Resolved { name, user_type_id, scalar, .. } = c;
    DerivedColumn { name, slot, ty: scalar.ty, user_type_id, identity: false }
}

fn computed_column(name: Box<str>, slot: Slot, ty: ScalarType) -> DerivedColumn {
    DerivedColumn { name, slot, ty, user_type_id: 0, identity: false }
}

fn one_source(tree: Logical, alias: &ast::Name, columns: Vec<DerivedColumn>) -> From {
    let body = Some(Body { tables: tables_of(&tree), view: None });
    let source = Source {
        name: alias.text.clone(),
        schema: None,
        database: None,
        shown: alias.text.clone(),
        aliased: true,
        columns: Columns::Derived(columns),
        body,
    };
    From { tree, sources: vec![source] }
}

/// Each row once for each number below `count`.
fn times(tree: Logical, number: Slot, count: usize) -> Logical {
    let row = |n: usize| vec![Scalar::constant(Value::Int(n as i32), SqlType::Int)];
    Logical::Join {
        kind: JoinKind::Inner,
        left: Box::new(tree),
        right: Box::new(Logical::Values {
            rows: (0..count).map(row).collect(),
            columns: vec![number],
        }),
        on: Predicate::TRUE,
        hint: None,
        apply: false,
    }
}

/// The item of a number.
fn chosen(number: Slot, items: impl Iterator<Item = Scalar>, ty: ScalarType) -> Scalar {
    let is = |n: usize| Predicate::Compare {
        op: CompareOp::Equal,
        left: Box::new(Scalar::column(number, ScalarType::new(SqlType::Int, false))),
        right: Box::new(Scalar::constant(Value::Int(n as i32), SqlType::Int)),
        collation: Collation::default(),
    };
    let branches = items.enumerate().map(|(n, x)| (is(n), x)).collect();
    Scalar { kind: ScalarKind::Case { branches, otherwise: None }, ty }
}
