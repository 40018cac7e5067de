//! INSERT.

use crate::binder::Binder;
use crate::changes::output::made_row;
use crate::changes::row_slots::{RowAction, RowSlots};
use crate::changes::target::{TargetTable, free_columns, identity_column};
use crate::changes::updatable_columns::UpdatableColumns;
use crate::expressions::deduction::is_untyped_null;
use crate::expressions::draws::DrawRule;
use crate::names::hint::{self, Use};
use crate::names::result::{Place, QueryResult};
use crate::queries::document::refuse_document;
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Events, Object, Table};
use plan::{
    ColumnSource, Insert, InsertColumn, Logical, Scalar, ScalarKind, ScalarType, Slot, Statement,
    TableNo, VariableId,
};
use tsql::ast::{self, ExprKind, InsertSource};

/// What the source gives for each listed column.
pub(crate) struct InsertRows {
    pub(crate) tree: Logical,
    pub(crate) values: Vec<Scalar>,
}

impl Binder<'_> {
    pub(crate) fn insert(&mut self, s: &ast::Insert) -> SqlResult<Statement<Logical>> {
        self.options(&s.options)?;
        self.embeds = self.header.recompile;
        self.with_ctes(s.with.as_deref(), |b| b.insert_into(s))
    }

    fn insert_into(&mut self, s: &ast::Insert) -> SqlResult<Statement<Logical>> {
        let (found, through) = self.insert_target(s)?;
        self.writable(&found)?;
        if through.is_some()
            && let Some(parent) = self.base_parent(&found, Events::INSERT, s.output.as_deref())?
        {
            return self.instead_insert(s, &parent, through.as_ref());
        }
        let table = found.table.clone();
        let hints = hint::read(&s.target.hints, Some(&table), self.collation, Use::Insert)?;
        self.refer(&found.database, Object::Table(table.clone()))?;
        self.note_level(found.database.id(), &table, &hints.locks);
        let explicit = self.environment.identity_insert == Some(table.object_id);
        let seen = through.as_ref();
        let view = seen.map(|(_, t)| t);
        let mut listed = self.listed_columns(&s.columns, &found, view, explicit)?;
        if s.columns.is_empty() && !matches!(s.source, InsertSource::DefaultValues) {
            listed = match seen {
                Some((no, t)) => t.all(*no, &table)?,
                None => free_columns(&table),
            };
        }
        let mut given = self.given(s, &table, &listed)?;
        if let Some(top) = &s.top {
            if !self.draws.is_empty() {
                return Err(SqlError::new(messages::NEXT_VALUE_TOP, &[]));
            }
            let top = self.top(top, &[])?;
            given.tree = Logical::Top { input: Box::new(given.tree), top };
        }
        let columns = self.insert_columns(&table, &listed, given.values)?;
        let new: Vec<Option<Slot>> = table
            .columns
            .iter()
            .zip(&columns)
            .map(|(c, insert)| c.physical.map(|_| insert.slot))
            .collect();
        let mut target = self.target(&found, hints.locks);
        if !self.environment.unguarded.constraints {
            target.checks = self.checks(&table, &new, None)?;
        } else if table.trusts_constraints() {
            return Err(SqlError::new(messages::BULK_SCHEMA_CHANGED, &[]));
        }
        let slots = RowSlots { old: &[], new: &new };
        target.references = self.references(&found, RowAction::Insert, slots, None)?;
        if let Some((no, _)) = &through {
            target.checks.extend(self.view_checks(*no, &new, None));
        }
        let identity = identity_column(&table, &listed);
        let output = match &s.output {
            Some(o) if matches!(s.source, InsertSource::Execute(_)) => {
                return Err(unsupported("OUTPUT of INSERT EXEC", o.span.line));
            }
            Some(o) => {
                let inserted = match &through {
                    Some((no, t)) => self.given_row(t, *no, (&table, &new), None)?,
                    None => made_row(&table, &new, None),
                };
                Some(Box::new(self.output(o, vec![inserted])?))
            }
            None => None,
        };
        let insert = Insert { target, source: given.tree, columns, identity, output };
        Ok(Statement::Insert(Box::new(insert)))
    }

    /// The table, and the view or common table expression it is named through, if any.
    fn insert_target(
        &mut self,
        s: &ast::Insert,
    ) -> SqlResult<(TargetTable, Option<(TableNo, UpdatableColumns)>)> {
        let Some(view) = self.derived_target(&s.target, None)? else {
            return Ok((self.target_table(&s.target)?, None));
        };
        let source = view.sources.first().expect("a view is one source");
        let names: Vec<&ast::Name> = s.columns.iter().map(|c| &c.name).collect();
        let (no, through) = self.through(&view.tree, source, Some(&names))?;
        let target = self.as_target(no, source, &s.target)?;
        Ok((target, Some((no, through))))
    }

    /// The ordinals of the columns that get values, in the statement's order.
    pub(crate) fn listed_columns(
        &self,
        columns: &[ast::ColumnName],
        target: &TargetTable,
        through: Option<&UpdatableColumns>,
        explicit: bool,
    ) -> SqlResult<Vec<usize>> {
        let table = &target.table;
        let identity = table.identity();
        let shown = || table.name.clone();
        let mut listed = Vec::new();
        for name in columns {
            let line = name.name.line;
            let column = match through {
                Some(t) => self.through_column(t, &name.name)?,
                None => table.column(&name.name, self.collation).ok_or_else(|| {
                    SqlError::new(messages::INVALID_COLUMN, &[&name.name]).at_line(line)
                })?,
            };
            if listed.contains(&column) {
                let error = SqlError::new(messages::COLUMN_SPECIFIED_TWICE, &[&name.name]);
                return Err(error.at_line(line));
            }
            if table.columns[column].computed.is_some() {
                let error = SqlError::new(messages::UPDATE_COMPUTED, &[&name.name]);
                return Err(error.at_line(line));
            }
            listed.push(column);
        }
        if let Some(identity) = identity {
            let given = listed.contains(&identity);
            if given && !explicit {
                return Err(SqlError::new(messages::IDENTITY_INSERT_OFF, &[&shown()]));
            }
            if explicit && !columns.is_empty() && !given {
                return Err(SqlError::new(messages::IDENTITY_VALUE_REQUIRED, &[&shown()]));
            }
        }
        Ok(listed)
    }

    /// The source of rows, and what it gives for each listed column.
    pub(crate) fn given(
        &mut self,
        s: &ast::Insert,
        table: &Table,
        listed: &[usize],
    ) -> SqlResult<InsertRows> {
        let one_row = || Logical::Values { rows: vec![Vec::new()], columns: Vec::new() };
        let versioned = |&c: &usize| table.columns[c].sql_type == types::SqlType::RowVersion;
        let of_rows = matches!(s.source, InsertSource::Execute(_) | InsertSource::Query(_));
        if of_rows && listed.iter().any(versioned) {
            return Err(SqlError::new(messages::INSERT_ROW_VERSION, &[]));
        }
        match &s.source {
            InsertSource::DefaultValues => Ok(InsertRows { tree: one_row(), values: Vec::new() }),
            InsertSource::Execute(_) => {
                let first = self.environment.variables.first_free();
                let value = |(n, &column): (u32, &usize)| {
                    // It gets its value as the column takes it.
                    let column = &table.columns[column];
                    let ty = ScalarType {
                        collation: column.collation,
                        ..self.plain(column.sql_type, true)
                    };
                    Scalar { kind: ScalarKind::Variable(VariableId(first + n)), ty }
                };
                let values = (0..).zip(listed).map(value).collect();
                Ok(InsertRows { tree: one_row(), values })
            }
            InsertSource::Values(rows) => {
                let mut bound = Vec::with_capacity(rows.len());
                let mut drawn = Vec::new();
                for row in rows {
                    check_count(s, table, listed.len(), row.len(), true)?;
                    let row = |b: &mut Self| b.value_row(row, table, listed);
                    let mut values = self.drawing(DrawRule::Row, row)?;
                    if rows.len() == 1 {
                        return Ok(InsertRows { tree: one_row(), values });
                    }
                    self.draws.draw_in_row(&mut values, &mut drawn);
                    bound.push(values);
                }
                self.draws.set_drawn_by_rows(drawn);
                let result = self.rows_result(bound, listed.len())?;
                Ok(self.given_by(result))
            }
            InsertSource::Query(query) => {
                refuse_document(query, "INSERT")?;
                refuse_document(query, "INSERT")?;
                let result = self.query(query, Place::Statement)?;
                check_count(s, table, listed.len(), result.columns.len(), false)?;
                Ok(self.given_by(result))
            }
        }
    }

    fn given_by(&self, result: QueryResult) -> InsertRows {
        let value = |c: &crate::names::result::OutColumn| match c.untyped_null {
            true => Scalar::null(c.ty.sql_type),
            false => Scalar::column(c.slot, c.ty),
        };
        InsertRows { values: result.columns.iter().map(value).collect(), tree: result.tree }
    }

    pub(crate) fn value_row(
        &mut self,
        row: &[ast::Expr],
        table: &Table,
        listed: &[usize],
    ) -> SqlResult<Vec<Scalar>> {
        let mut bound = Vec::with_capacity(row.len());
        for (e, &column) in row.iter().zip(listed) {
            let identity = table.columns[column].identity.is_some();
            let versioned = table.columns[column].sql_type == types::SqlType::RowVersion;
            let value = match e.kind {
                ExprKind::Default if identity => {
                    return Err(
                        SqlError::new(messages::IDENTITY_VALUE_DEFAULT, &[]).at_line(e.span.line)
                    );
                }
                ExprKind::Default => self.default_value(table, column)?,
                ref kind if versioned && !matches!(kind, ExprKind::Literal(ast::Literal::Null)) => {
                    let error = SqlError::new(messages::INSERT_ROW_VERSION, &[]);
                    return Err(error.at_line(e.span.line));
                }
                _ => self.expr(e)?,
            };
            if identity && is_untyped_null(&value) {
                let error = SqlError::new(messages::IDENTITY_VALUE_DEFAULT, &[]);
                return Err(error.at_line(e.span.line));
            }
            bound.push(value);
        }
        Ok(bound)
    }

    pub(crate) fn insert_columns(
        &mut self,
        table: &Table,
        listed: &[usize],
        values: Vec<Scalar>,
    ) -> SqlResult<Vec<InsertColumn>> {
        let mut given: Vec<Option<Scalar>> = vec![None; table.columns.len()];
        for (&column, value) in listed.iter().zip(values) {
            given[column] = Some(self.for_column(value, table, column)?);
        }
        let mut columns = Vec::with_capacity(table.columns.len());
        for (n, value) in given.into_iter().enumerate() {
            let source = match value {
                Some(value) => ColumnSource::Value(value),
                None if table.columns[n].identity.is_some() => ColumnSource::Identity,
                None => ColumnSource::Value(self.default_value(table, n)?),
            };
            columns.push(InsertColumn { slot: self.new_slot(), source });
        }
        let slots: Vec<Option<Slot>> = columns.iter().map(|c| Some(c.slot)).collect();
        let mut values: Vec<&mut Scalar> = columns
            .iter_mut()
            .filter_map(|c| match &mut c.source {
                ColumnSource::Value(value) => Some(value),
                ColumnSource::Identity | ColumnSource::Computed(_) => None,
            })
            .collect();
        self.draws.draw_in(&mut values);
        for (n, column) in columns.iter_mut().enumerate() {
            if let Some(value) = self.computed_value(table, n, &slots)? {
                column.source = ColumnSource::Computed(value);
            }
        }
        Ok(columns)
    }
}

/// As many values as columns.
pub(crate) fn check_count(
    s: &ast::Insert,
    table: &Table,
    columns: usize,
    values: usize,
    constants: bool,
) -> SqlResult<()> {
    if columns == values {
        return Ok(());
    }
    let message = match (s.columns.is_empty(), constants, columns > values) {
        (true, ..) if table.identity().is_some() && values == columns + 1 => {
            return Err(SqlError::new(messages::INSERT_IDENTITY_NO_LIST, &[&table.name]));
        }
        (true, ..) => messages::INSERT_COUNT,
        (false, true, true) => messages::INSERT_MORE_COLUMNS,
        (false, true, false) => messages::INSERT_FEWER_COLUMNS,
        (false, false, true) => messages::INSERT_SELECT_FEWER,
        (false, false, false) => messages::INSERT_SELECT_MORE,
    };
    Err(SqlError::new(message, &[]))
}
