//! The INSERT that fills the table of a SELECT INTO.

use crate::binder::Binder;
use crate::changes::target::TargetTable;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Object, Table};
use plan::{
    ColumnSource, IdentityColumn, Insert, InsertColumn, LockHints, Logical, Query, Scalar,
    ScalarType, Slot, Statement,
};
use std::sync::Arc;

impl Binder<'_> {
    /// The query of a SELECT INTO as an INSERT into the table that has been made for it.
    pub(crate) fn insert_into_made(
        &mut self,
        query: Query<Logical>,
    ) -> SqlResult<Statement<Logical>> {
        let Some(into) = self.into.clone() else {
            return Err(SqlError::new(messages::INTERNAL, &[&"the SELECT has no INTO"]));
        };
        self.filled = None;
        let found = self.lookup(&into.name)?;
        let Object::Table(table) = found.object else {
            return Err(SqlError::new(messages::INVALID_OBJECT, &[&into.name]));
        };
        let same = table.columns.len() == into.columns.len()
            && table.columns.iter().zip(&into.columns).all(|(c, i)| c.sql_type == i.sql_type);
        if !same {
            let args: [&dyn std::fmt::Display; 1] = [&into.name.object];
            return Err(SqlError::new(messages::OBJECT_EXISTS, &args).with_state(6));
        }
        self.refer(&found.database, Object::Table(Arc::clone(&table)))?;
        let columns = self.made_columns(&table, &query)?;
        let identity = table.identity().and_then(|column| {
            let own = table.columns[column].identity?;
            let explicit = matches!(columns[column].source, ColumnSource::Value(_));
            Some(IdentityColumn { column, seed: own.seed, increment: own.increment, explicit })
        });
        let target = TargetTable { table, database: found.database };
        let target = self.target(&target, LockHints::default());
        let source = query.source;
        let insert = Insert { target, source, columns, identity, output: None };
        Ok(Statement::Insert(Box::new(insert)))
    }

    fn made_columns(
        &mut self,
        table: &Table,
        query: &Query<Logical>,
    ) -> SqlResult<Vec<InsertColumn>> {
        let mut columns = Vec::with_capacity(query.columns.len());
        for (n, c) in query.columns.iter().enumerate() {
            let source = match self.identity_functions.iter().any(|f| f.position == n) {
                true => ColumnSource::Identity,
                false => {
                    let ty = self.plain(c.sql_type, c.nullable);
                    let ty = ScalarType { collation: c.collation, ..ty };
                    let value = Scalar::column(c.slot, ty);
                    ColumnSource::Value(self.for_column(value, table, n)?)
                }
            };
            let slot: Slot = self.new_slot();
            columns.push(InsertColumn { slot, source });
        }
        Ok(columns)
    }
}
