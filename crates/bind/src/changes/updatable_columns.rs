//! Changes through views, derived tables and common table expressions: which table is meant, and
//! which of its columns.
//!
//! A column of such a source is one of a table when its slot is; operators that make new rows out
//! of several (grouping, DISTINCT, UNION) stand in the way of any change. An OUTPUT names the
//! columns of the source: `inserted` computes them from the new row of the table.

use crate::binder::Binder;
use crate::changes::output::pseudo;
use crate::names::reference::BaseColumn;
use crate::names::resolve::where_true;
use crate::names::scope::{Body, Columns, DerivedColumn, GivenColumn, GivenValue, Source};
use base::{Message, SqlError, SqlResult, messages};
use catalog::view::Table;
use plan::{CheckConstraint, Logical, Predicate, Scalar, ScalarType, Slot, TableNo};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tsql::ast;

/// The columns of a source that is changed through, by position.
pub(crate) struct UpdatableColumns {
    /// Names as the source gives them, and what they are.
    columns: Vec<(Box<str>, BaseColumn)>,
    /// The same as the source gives them.
    given: Vec<DerivedColumn>,
    /// What is computed below them.
    computed: BTreeMap<Slot, Scalar>,
    name: Box<str>,
    is_view: bool,
}

/// The most expressions of views that a column of a new row is put together from.
const PARTS_MAX: usize = 4096;

/// What stands between a change and its table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Obstacle {
    Grouping,
    Union,
}

impl UpdatableColumns {
    /// 4406 or 4421: a column that no table has.
    pub(crate) fn derived(&self) -> SqlError {
        let message = match self.is_view {
            true => messages::VIEW_DERIVED_FIELD,
            false => messages::DERIVED_COLUMN_NOT_UPDATABLE,
        };
        SqlError::new(message, &[&self.name])
    }

    /// 4405 or 4420: several tables.
    fn several(&self) -> SqlError {
        let message = match self.is_view {
            true => messages::VIEW_SEVERAL_TABLES,
            false => messages::DERIVED_SEVERAL_TABLES,
        };
        SqlError::new(message, &[&self.name])
    }

    fn refused(&self, obstacle: Obstacle) -> SqlError {
        let message: Message = match (obstacle, self.is_view) {
            (Obstacle::Grouping, true) => messages::VIEW_GROUPED,
            (Obstacle::Grouping, false) => messages::DERIVED_GROUPED,
            (Obstacle::Union, true) => messages::VIEW_UNION,
            (Obstacle::Union, false) => messages::DERIVED_UNION,
        };
        SqlError::new(message, &[&self.name])
    }

    /// The ordinals of all columns, those of the identity left out.
    pub(crate) fn all(&self, no: TableNo, table: &Table) -> SqlResult<Vec<usize>> {
        let mut listed = Vec::with_capacity(self.columns.len());
        for (_, base) in &self.columns {
            match base {
                Some((of, _)) if *of != no => return Err(self.several()),
                Some((_, column)) if table.columns[*column].identity.is_some() => {}
                Some((_, column)) => listed.push(*column),
                None => return Err(self.derived()),
            }
        }
        Ok(listed)
    }
}

impl Binder<'_> {
    /// The position of a source's column by name: 207.
    pub(crate) fn through_position(
        &self,
        t: &UpdatableColumns,
        name: &ast::Name,
    ) -> SqlResult<usize> {
        let found = t.columns.iter().position(|(known, _)| self.same(known, name));
        found.ok_or_else(|| SqlError::new(messages::INVALID_COLUMN, &[name]).at_line(name.line))
    }

    /// The ordinal in its table of a source's column.
    pub(crate) fn through_column(
        &self,
        t: &UpdatableColumns,
        name: &ast::Name,
    ) -> SqlResult<usize> {
        let base = t.columns[self.through_position(t, name)?].1;
        base.map(|(_, column)| column).ok_or_else(|| t.derived())
    }

    /// The table that a change of some columns of a source concerns; all of them for a DELETE,
    /// which needs a source of one table.
    pub(crate) fn through(
        &self,
        tree: &Logical,
        source: &Source,
        changed: Option<&[&ast::Name]>,
    ) -> SqlResult<(TableNo, UpdatableColumns)> {
        let (Columns::Derived(columns), Some(body)) = (&source.columns, &source.body) else {
            return Err(SqlError::new(messages::INTERNAL, &[&"a table is changed directly"]));
        };
        let mut computed = BTreeMap::new();
        tree.for_each(&mut |node| {
            if let Logical::Compute { columns, .. } = node {
                computed.extend(columns.iter().cloned());
            }
        });
        let through = UpdatableColumns {
            given: columns.clone(),
            computed,
            columns: columns
                .iter()
                .map(|c| (c.name.clone(), self.references.base_column(c.slot)))
                .collect(),
            name: body.view.clone().unwrap_or_else(|| source.name.clone()),
            is_view: body.view.is_some(),
        };
        if let Some(obstacle) = obstacle(tree, body, None) {
            return Err(through.refused(obstacle));
        }
        let no = match changed {
            Some(names) => self.one_table(&through, names)?,
            None => {
                let mut tables = BTreeSet::new();
                tree.for_each(&mut |node| {
                    tables.extend(table_of(node).filter(|no| body.tables.contains(&no.0)));
                });
                match (tables.len(), tables.first()) {
                    (1, Some(no)) => *no,
                    (0, _) => return Err(through.derived()),
                    _ => return Err(through.several()),
                }
            }
        };
        Ok((no, through))
    }

    /// The columns of a source as a change of its table makes them, where `present` if that is not
    /// everywhere: `inserted` of an OUTPUT.
    pub(crate) fn given_row(
        &mut self,
        t: &UpdatableColumns,
        no: TableNo,
        (table, new): (&Table, &[Option<Slot>]),
        present: Option<&Predicate>,
    ) -> SqlResult<Source> {
        let row = NewRow { no, table, new };
        let mut columns = Vec::with_capacity(t.given.len());
        for c in &t.given {
            let value = match self.given_value(t, &row, c.slot, c.ty, &mut 0)? {
                GivenValue::Value(x) => GivenValue::Value(match present {
                    Some(present) => where_true(present.clone(), x),
                    None => x,
                }),
                other => other,
            };
            let (name, user_type_id) = (c.name.clone(), c.user_type_id);
            columns.push(GivenColumn { name, user_type_id, value });
        }
        Ok(pseudo("inserted", Columns::Given(Arc::new(columns))))
    }

    /// A slot of a view's row over the new row of its table.
    fn given_value(
        &self,
        t: &UpdatableColumns,
        row: &NewRow<'_>,
        slot: Slot,
        ty: ScalarType,
        parts: &mut usize,
    ) -> SqlResult<GivenValue> {
        *parts += 1;
        if *parts > PARTS_MAX {
            return Err(SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
        }
        if let Some((no, column)) = self.references.base_column(slot) {
            let new = row.new.get(column).copied().flatten().filter(|_| no == row.no);
            let nullable = row.table.columns.get(column).is_none_or(|c| c.nullable);
            return Ok(match new {
                Some(new) => GivenValue::Value(Scalar::column(new, ScalarType { nullable, ..ty })),
                None => GivenValue::OtherTable,
            });
        }
        let Some(made) = t.computed.get(&slot) else { return Ok(GivenValue::OtherTable) };
        if !made.reads().subqueries.is_empty() {
            return Ok(GivenValue::Subquery);
        }
        let mut value = made.clone();
        // Not replaced where it is found: what is put there must not be looked at again.
        let mut reads: BTreeMap<Slot, ScalarType> = BTreeMap::new();
        value.rewrite(&mut |x| {
            if let Some(slot) = x.as_column() {
                reads.insert(slot, x.ty);
            }
        });
        let own = made.reads().slots;
        let mut parts_of: BTreeMap<Slot, Scalar> = BTreeMap::new();
        for (slot, ty) in reads.into_iter().filter(|(slot, _)| own.contains(slot)) {
            match self.given_value(t, row, slot, ty, parts)? {
                GivenValue::Value(x) => drop(parts_of.insert(slot, x)),
                other => return Ok(other),
            }
        }
        let mut size = 0;
        value.rewrite(&mut |x| {
            if let Some(part) = x.as_column().and_then(|slot| parts_of.get(&slot)) {
                size += 1;
                *x = part.clone();
            }
        });
        *parts += size;
        Ok(GivenValue::Value(value))
    }

    fn one_table(&self, through: &UpdatableColumns, names: &[&ast::Name]) -> SqlResult<TableNo> {
        let mut tables = BTreeSet::new();
        if names.is_empty() {
            tables.extend(through.columns.iter().filter_map(|c| c.1).map(|(no, _)| no));
        }
        for name in names {
            let base = through.columns[self.through_position(through, name)?].1;
            tables.insert(base.ok_or_else(|| through.derived())?.0);
        }
        match (tables.len(), tables.first()) {
            (1, Some(no)) => Ok(*no),
            (0, _) => Err(through.derived()),
            _ => Err(through.several()),
        }
    }

    /// What views WITH CHECK OPTION ask of new rows; only conditions on one of `changed`, if given.
    pub(crate) fn view_checks(
        &self,
        no: TableNo,
        new: &[Option<Slot>],
        changed: Option<&BTreeSet<Slot>>,
    ) -> Vec<CheckConstraint> {
        let used = self.references.used(no);
        let slots: BTreeMap<Slot, Slot> =
            used.iter().filter_map(|(c, s)| Some((*s, new.get(*c).copied().flatten()?))).collect();
        let mut out = Vec::new();
        for view in self.modules.checked_above(no) {
            for condition in &view.conditions {
                let mut predicate = condition.clone();
                predicate.rewrite(&mut |x| {
                    if let Some(new) = x.as_column().and_then(|slot| slots.get(&slot)) {
                        *x = Scalar::column(*new, x.ty);
                    }
                });
                if changed.is_some_and(|c| c.is_disjoint(&predicate.reads().slots)) {
                    continue;
                }
                let name = view.name.clone();
                out.push(CheckConstraint { name, column: None, predicate, of_view: true });
            }
        }
        out
    }
}

/// The row that a change makes.
struct NewRow<'r> {
    no: TableNo,
    table: &'r Table,
    new: &'r [Option<Slot>],
}

/// The rows of a view or its like as they were.
pub(crate) fn given_deleted(source: &Source) -> Source {
    match &source.columns {
        Columns::Derived(columns) => pseudo("deleted", Columns::Derived(columns.clone())),
        other => pseudo("deleted", other.clone()),
    }
}

fn table_of(node: &Logical) -> Option<TableNo> {
    match node {
        Logical::Get(get) => Some(get.table),
        _ => None,
    }
}

/// What stands above a table of the body.
fn obstacle(tree: &Logical, body: &Body, above: Option<Obstacle>) -> Option<Obstacle> {
    let within = |input: &Logical, above| obstacle(input, body, above);
    match tree {
        Logical::Get(get) => above.filter(|_| body.tables.contains(&get.table.0)),
        Logical::Virtual(_)
        | Logical::Function(_)
        | Logical::Values { .. }
        | Logical::Changed { .. } => None,
        Logical::Filter { input, .. }
        | Logical::Compute { input, .. }
        | Logical::Window { input, .. }
        | Logical::Sort { input, .. }
        | Logical::Top { input, .. } => within(input, above),
        Logical::Distinct { input, .. } => within(input, above.or(Some(Obstacle::Grouping))),
        Logical::Aggregate(a) => within(&a.input, above.or(Some(Obstacle::Grouping))),
        Logical::Join { left, right, .. } => within(left, above).or_else(|| within(right, above)),
        Logical::Concatenate { inputs, .. } => {
            inputs.iter().find_map(|(input, _)| within(input, Some(Obstacle::Union)))
        }
        Logical::Recursive(r) => {
            r.inputs().find_map(|(input, _)| within(input, Some(Obstacle::Union)))
        }
    }
}
