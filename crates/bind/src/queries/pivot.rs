//! PIVOT and UNPIVOT, as the groupings and products that they are.
//!
//! PIVOT groups by every column of its source that it does not name; for each value of its list
//! it aggregates what rows with that value have. UNPIVOT takes each row once for each column of
//! its list and leaves out what is NULL there.
//!
//! Columns are known by their place among those of the source: several may be one slot, and a
//! computed one has none before it gets one here.

use crate::binder::Binder;
use crate::names::from::FromPart;
use crate::names::from::no_changes;
use crate::names::resolve::ResolvedColumn;
use crate::names::scope::{Body, Columns, DerivedColumn, Source};
use crate::tree::{computed_columns, filtered, tables_of};
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use plan::{
    AggregateCall, AggregatePhase, CompareOp, Grouping, JoinKind, Logical, Predicate, Scalar,
    ScalarKind, ScalarType, Slot,
};
use tsql::ast;
use types::{Collation, SqlType, Value};

impl Binder<'_> {
    pub(crate) fn pivot(&mut self, pivot: &ast::Pivot) -> SqlResult<FromPart> {
        no_changes([&pivot.source], messages::CHANGES_IN_PIVOT)?;
        let from = self.table_source(&pivot.source)?;
        let name = &pivot.aggregate.object;
        let Some(function) = Aggregate::by_name(name) else {
            let what = "built-in function name";
            return Err(SqlError::new(messages::NOT_RECOGNIZED, &[name, &what]));
        };
        let Some(argument) = &pivot.argument else {
            return Err(SqlError::new(messages::SYNTAX_NEAR, &[&"*"]));
        };
        if function == Aggregate::StringAgg {
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&"string_agg", &2]));
        }
        let all = self.all_columns(&from.sources)?;
        let by = self.place_of(&from.sources, &pivot.column)?;
        let argument = self.place_of(&from.sources, argument)?;
        let kept = |n: &usize| *n != by && *n != argument;
        let (tree, mut columns) = self.kept_columns(from.tree, &all, kept);
        let mut keys: Vec<(Slot, Collation)> = Vec::with_capacity(columns.len());
        for c in &columns {
            if !keys.iter().any(|(slot, _)| *slot == c.slot) {
                keys.push((c.slot, c.ty.collation));
            }
        }
        let (by, argument) = (&all[by].scalar, &all[argument].scalar);
        let mut calls = Vec::with_capacity(pivot.values.len());
        for value in &pivot.values {
            let call = self.pivoted(function, argument, by, value)?;
            columns.push(computed_column(value.text.clone(), call.output, call.ty));
            calls.push(call);
        }
        self.named_once(&columns, &pivot.alias)?;
        let tree = Logical::Aggregate(Box::new(Grouping { input: tree, keys, calls }));
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
        let (separator, phase) = (None, AggregatePhase::Whole);
        Ok(AggregateCall { function, distinct, argument, separator, output, ty, phase })
    }

    pub(crate) fn unpivot(&mut self, unpivot: &ast::Unpivot) -> SqlResult<FromPart> {
        no_changes([&unpivot.source], messages::CHANGES_IN_PIVOT)?;
        let from = self.table_source(&unpivot.source)?;
        let all = self.all_columns(&from.sources)?;
        let listed = self.unpivoted(&from.sources, &all, &unpivot.columns)?;
        let kept = |n: &usize| !listed.contains(n);
        let (tree, mut columns) = self.kept_columns(from.tree, &all, kept);
        let listed: Vec<&ResolvedColumn> = listed.iter().map(|&n| &all[n]).collect();
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
        let tree = computed_columns(times(tree, number, listed.len()), computed);
        let is_null = Predicate::IsNull(Box::new(Scalar::column(value, ty)));
        let tree = filtered(tree, Predicate::Not(Box::new(is_null)));
        columns.push(computed_column(unpivot.value.text.clone(), value, ty));
        columns.push(computed_column(unpivot.name.text.clone(), name, name_ty));
        self.named_once(&columns, &unpivot.alias)?;
        Ok(one_source(tree, &unpivot.alias, columns))
    }

    /// The places of the columns of an UNPIVOT's list: of one type, each once.
    fn unpivoted(
        &self,
        sources: &[Source],
        all: &[ResolvedColumn],
        names: &[ast::Name],
    ) -> SqlResult<Vec<usize>> {
        let mut listed: Vec<usize> = Vec::with_capacity(names.len());
        for name in names {
            let fail = |message| Err(SqlError::new(message, &[name]).at_line(name.line));
            let named = ast::ColumnName { qualifier: None, name: name.clone() };
            let found = self.place_of(sources, &named)?;
            let (first, own) = (listed.first().map_or(found, |n| *n), all[found].scalar.ty);
            let first = all[first].scalar.ty;
            let same = first.sql_type == own.sql_type
                && (!first.sql_type.is_character() || first.collation == own.collation);
            if !same {
                return fail(messages::UNPIVOT_TYPES);
            }
            if listed.contains(&found) {
                return fail(messages::UNPIVOT_TWICE);
            }
            listed.push(found);
        }
        Ok(listed)
    }

    /// The place of a named column among all of some sources.
    fn place_of(&self, sources: &[Source], name: &ast::ColumnName) -> SqlResult<usize> {
        let (source, column) = self.find_among(sources, name)?;
        let before = sources[..source].iter().map(|s| self.column_count(s)).sum::<usize>();
        Ok(before + column)
    }

    /// The columns at some places, each in a slot: what has none is computed.
    fn kept_columns(
        &mut self,
        tree: Logical,
        all: &[ResolvedColumn],
        kept: impl Fn(&usize) -> bool,
    ) -> (Logical, Vec<DerivedColumn>) {
        let mut columns = Vec::with_capacity(all.len());
        let mut computed = Vec::new();
        for (_, c) in all.iter().enumerate().filter(|(n, _)| kept(n)) {
            let slot = c.scalar.as_column().unwrap_or_else(|| {
                let slot = self.new_slot();
                computed.push((slot, c.scalar.clone()));
                slot
            });
            let ResolvedColumn { name, user_type_id, scalar, .. } = c.clone();
            columns.push(DerivedColumn {
                name,
                slot,
                ty: scalar.ty,
                user_type_id,
                identity: false,
            });
        }
        (computed_columns(tree, computed), columns)
    }

    /// 8156: two columns of the result have one name.
    fn named_once(&self, columns: &[DerivedColumn], alias: &ast::Name) -> SqlResult<()> {
        for (n, c) in columns.iter().enumerate() {
            if columns[..n].iter().any(|d| self.same(&d.name, &c.name)) {
                let facts: [&dyn std::fmt::Display; 2] = [&c.name, alias];
                return Err(SqlError::new(messages::COLUMN_NAME_TWICE, &facts));
            }
        }
        Ok(())
    }

    /// Every column of some sources.
    fn all_columns(&mut self, sources: &[Source]) -> SqlResult<Vec<ResolvedColumn>> {
        let mut all = Vec::new();
        for source in sources {
            for n in 0..self.column_count(source) {
                all.push(self.column_of(source, n)?);
            }
        }
        Ok(all)
    }
}

fn computed_column(name: Box<str>, slot: Slot, ty: ScalarType) -> DerivedColumn {
    DerivedColumn { name, slot, ty, user_type_id: 0, identity: false }
}

fn one_source(tree: Logical, alias: &ast::Name, columns: Vec<DerivedColumn>) -> FromPart {
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
    FromPart { tree, sources: vec![source] }
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
