//! Table variables as tables of tempdb: made, with numbers of their own, from a definition.

use crate::asker::Asker;
use crate::ddl_call::SessionPlaces;
use crate::expressions::SessionExpressions;
use crate::instance::Instance;
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Object, Table};
use catalog::{Builder, Changes, Delta, HobtSpec};
use ddl::DdlContext;
use session::{DeclareCall, Switches};
use std::sync::Arc;
use work::Work;

/// No table variable's definition touches temporary tables.
struct NoTemp;

impl ddl::TempTables for NoTemp {
    fn made_global(&mut self, _: ObjectId) {}

    fn find(&self, _: &str) -> Option<Arc<Table>> {
        None
    }

    fn put(&mut self, _: Arc<Table>) {}

    fn is_made_here(&self, _: &str) -> bool {
        false
    }

    fn remove(&mut self, _: &Table) {}

    fn next_suffix(&mut self) -> u64 {
        0
    }
}

impl Instance {
    pub(crate) fn run_declare(&self, call: DeclareCall<'_>) -> SqlResult<Table> {
        let s = call.settings;
        let mut deltas = self.definitions.deltas(call.session);
        let places = SessionPlaces::new(self, call.database, call.work);
        let places = places.with_changes(call.session, deltas.len());
        let (mut messages, mut results) = (Vec::new(), Vec::new());
        let asker = Asker::none(self, call.work);
        let mut cx = DdlContext {
            work: call.work,
            places: &places,
            databases: &asker,
            spill: &*self.spill,
            semaphores: &self.semaphores,
            threads: ddl::Threads::NONE,
            temp: &mut NoTemp,
            expressions: &SessionExpressions { instance: self, dialect: s.dialect() },
            settings: ddl::Settings {
                quoted_identifier: s.is_on(Switches::QUOTED_IDENTIFIER),
                ansi_nulls: s.is_on(Switches::ANSI_NULLS),
                null_by_default: true,
                dialect: s.dialect(),
            },
            schema: call.schema,
            deltas: &mut deltas,
            messages: &mut messages,
            results: &mut results,
        };
        let text = tsql::ast::ParsedText::whole(call.text);
        let drafted = ddl::declare(call.name, call.number, call.definition, text, &mut cx);
        drafted
            .map_err(|last| messages.into_iter().find(|m| m.severity() > 10).unwrap_or(last))
            .map(|table| Table { database: crate::start::TEMPDB, ..table })
    }

    /// A table of tempdb by a table variable's definition. It is seen at once: only its name tells
    /// others of it.
    pub(crate) fn make_private_table(
        &self,
        work: &mut Work,
        definition: &Table,
    ) -> SqlResult<Arc<Table>> {
        let unknown = || SqlError::new(messages::DATABASE_NOT_FOUND, &[&"tempdb"]);
        let tempdb = self.database(crate::start::TEMPDB).ok_or_else(unknown)?;
        let ids = tempdb.ids();
        let mut table = definition.clone();
        table.object_id = ids.object();
        table.name = generated_name(table.object_id);
        for index in &mut table.indexes {
            index.partitions = index.partitions.renewed(|| ids.hobt());
            index.constraint_id = index.constraint_id.map(|_| ids.object());
        }
        for check in &mut table.checks {
            check.object_id = ids.object();
        }
        for default in table.columns.iter_mut().filter_map(|c| c.default.as_mut()) {
            default.object_id = ids.object();
        }
        let system = Arc::clone(tempdb.hobts());
        let changes = Changes::new(&*system);
        let builder: Arc<dyn Builder> = tempdb.builder();
        for (index, partition) in table.partitions() {
            let spec = HobtSpec::of_hobt(&table, index, partition.hobt);
            let places = builder.create_hobt(work, &spec)?;
            changes.put_places(work, spec.hobt, &places)?;
        }
        changes.put_table(work, None, &table)?;
        let table = Arc::new(table);
        let object = Object::Table(Arc::clone(&table));
        // Plans know it by its number: what names mean, and so the version, stays.
        tempdb.publisher().publish_statistics(&[Delta::PutObject(object)]);
        Ok(table)
    }

    /// Makes a table variable's table what it was when it was made, if it is small.
    pub(crate) fn empty_private_table(&self, table: &Table) -> SqlResult<bool> {
        debug_assert!(is_private(table), "others may know of it");
        let Some(tempdb) = self.database(crate::start::TEMPDB) else { return Ok(false) };
        for (_, partition) in table.partitions() {
            let Some(hobt) = tempdb.hobts().get(partition.hobt) else { return Ok(false) };
            if !hobt.empty_if_small()? {
                return Ok(false);
            }
        }
        tempdb.identities().forget(table.counter());
        Ok(true)
    }
}

/// Whether a table of tempdb is a table variable's.
pub(crate) fn is_private(table: &Table) -> bool {
    table.name == generated_name(table.object_id)
}

/// What tempdb calls a table variable's table.
fn generated_name(id: ObjectId) -> Box<str> {
    format!("#{:08X}", id.0).into()
}
