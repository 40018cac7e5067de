//! Names for the ids in plans.

use crate::program::steps::Program;
use crate::tables::temp::TempTables;
use base::{DatabaseId, HobtId, ObjectId};
use catalog::view::{DatabaseView, IndexKind, PhysicalColumn, Table};
use plan::VariableId;
use showplan::{Hobt, HobtKind};
use std::sync::Arc;
use types::SqlType;

/// Names for the ids in the plans of a program.
pub(crate) struct PlanNames<'s> {
    pub(crate) views: &'s dyn Views,
    pub(crate) temp: Option<&'s TempTables>,
    pub(crate) program: &'s Program,
}

impl PlanNames<'_> {
    fn table(&self, database: DatabaseId, table: ObjectId) -> Option<Arc<Table>> {
        if let Some(number) = table.table_variable() {
            let variable = self.program.tables.get(usize::from(number));
            return variable.map(|t| Arc::clone(&t.definition));
        }
        let is = |t: &&Arc<Table>| t.database == database && t.object_id == table;
        let temporary = self.temp.and_then(|t| t.iter().find(is).cloned());
        temporary.or_else(|| self.views.view(database)?.table(table))
    }
}

impl showplan::Names for PlanNames<'_> {
    fn database(&self, id: DatabaseId) -> String {
        self.views.view(id).map_or_else(String::new, |v| v.name().to_owned())
    }

    fn hobt(&self, database: DatabaseId, table: ObjectId, hobt: HobtId) -> Hobt {
        let Some(table) = self.table(database, table) else { return Hobt::default() };
        let Some((index, _)) = table.partition(hobt) else { return Hobt::default() };
        let layout = table.hobt_layout(index);
        let name = |c: &PhysicalColumn| match c {
            PhysicalColumn::Column(n) => table.columns[*n].name.to_string(),
            PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier | PhysicalColumn::Rid => {
                String::new()
            }
        };
        Hobt {
            kind: match index.kind {
                IndexKind::Heap => HobtKind::Heap,
                IndexKind::Clustered => HobtKind::Clustered,
                IndexKind::Nonclustered => HobtKind::Nonclustered,
            },
            columns: layout.columns.iter().map(name).collect(),
            key: layout.key.iter().map(|k| k.field).collect(),
        }
    }

    fn begins_key(&self, database: DatabaseId, table: ObjectId, column: &str) -> bool {
        let Some(table) = self.table(database, table) else { return false };
        table.indexes.iter().any(|index| {
            let layout = table.hobt_layout(index);
            let first = layout.key.first().and_then(|k| layout.columns.get(k.field));
            matches!(first, Some(PhysicalColumn::Column(n)) if *table.columns[*n].name == *column)
        })
    }

    fn view_columns(&self, database: DatabaseId, view: ObjectId) -> Vec<String> {
        let Some(definitions) = self.views.view(database) else { return Vec::new() };
        let Some(view) = definitions.system().by_id(view) else { return Vec::new() };
        view.columns.iter().map(|c| c.name.to_string()).collect()
    }

    fn variable(&self, id: VariableId) -> String {
        self.program.variables.get(id.0 as usize).map_or_else(String::new, |v| v.name.to_string())
    }

    fn variable_type(&self, id: VariableId) -> Option<SqlType> {
        self.program.variables.get(id.0 as usize).map(|v| v.sql_type)
    }
}

/// Definitions of databases, which give names to the ids in plans.
pub trait Views {
    /// The view of an open database.
    fn view(&self, database: DatabaseId) -> Option<Arc<DatabaseView>>;
}
