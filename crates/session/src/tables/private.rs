//! The tables behind the table variables of one activation, and how plans find them. `variable.rs`
//! has the rules.

use crate::host::Host;
use crate::host::storage::Storage;
use crate::program::steps::Program;
use access::{Hobt, Hobts, TableSource};
use base::{DatabaseId, HobtId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::Table;
use exec::IdentitySource;
use plan::{CAPTURES, IdentityColumn, PhysicalPlan};
use std::sync::Arc;
use types::Value;
use work::{CommitMode, Mark, Work};

/// The table behind a table variable in one activation.
pub(crate) struct PrivateTable {
    /// Its definition in tempdb.
    pub(crate) table: Arc<Table>,
    /// Its heap and indexes, in the order of the definition.
    hobts: Vec<Arc<dyn Hobt>>,
}

impl PrivateTable {
    /// The size of its heap or of an index.
    pub(crate) fn size(&self, position: usize) -> Option<optimize::Size> {
        let size = self.hobts.get(position)?.size();
        Some(optimize::Size { rows: size.rows as f64, pages: size.pages as f64 })
    }

    /// Its rows.
    pub(crate) fn rows(&self) -> &dyn Hobt {
        let base =
            self.hobts.first().expect("a table has a heap or a clustered index, listed first");
        &**base
    }
}

/// The tables that a plan with table variables finds by id.
pub(crate) struct PrivateTables<'a> {
    pub(crate) host: &'a dyn Storage,
    pub(crate) made: &'a [Option<Arc<PrivateTable>>],
    /// Rows captured for triggers.
    pub(crate) captures: &'a [Option<Arc<PrivateTable>>],
}

impl PrivateTables<'_> {
    fn of(&self, number: u16) -> SqlResult<&PrivateTable> {
        let made = match number.checked_sub(CAPTURES) {
            Some(n) => self.captures.get(usize::from(n)),
            None => self.made.get(usize::from(number)),
        };
        let made = made.and_then(Option::as_deref);
        let what = "a table variable was not made";
        made.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&what]))
    }
}

impl Hobts for PrivateTables<'_> {
    fn hobt(&self, database: DatabaseId, hobt: HobtId) -> SqlResult<Arc<dyn Hobt>> {
        let Some((number, position)) = hobt.table_variable() else {
            return self.host.hobts().hobt(database, hobt);
        };
        let found = self.of(number)?.hobts.get(position);
        let what = "a table variable lacks an index";
        found.cloned().ok_or_else(|| SqlError::new(messages::INTERNAL, &[&what]))
    }

    fn system_view(
        &self,
        database: DatabaseId,
        object: ObjectId,
        arguments: &[Value],
        work: &Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        self.host.hobts().system_view(database, object, arguments, work)
    }
}

impl IdentitySource for PrivateTables<'_> {
    fn next(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
    ) -> SqlResult<i128> {
        let object = match object.table_variable() {
            Some(number) => self.of(number)?.table.object_id,
            None => object,
        };
        self.host.identity().next(work, database, object, column)
    }

    fn given(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
        value: i128,
    ) -> SqlResult<()> {
        let object = match object.table_variable() {
            Some(number) => self.of(number)?.table.object_id,
            None => object,
        };
        self.host.identity().given(work, database, object, column, value)
    }
}

/// Makes a table for a table variable of a program.
pub(crate) fn make_table(
    host: &dyn Host,
    private: &mut Work,
    program: &Program,
    number: u16,
) -> SqlResult<Arc<PrivateTable>> {
    let Some(definition) = program.tables.get(usize::from(number)) else {
        let what = "a table variable has no definition";
        return Err(SqlError::new(messages::INTERNAL, &[&what]));
    };
    make_of(host, private, &definition.definition)
}

/// Makes a table from a definition.
pub(crate) fn make_of(
    host: &dyn Host,
    private: &mut Work,
    definition: &Table,
) -> SqlResult<Arc<PrivateTable>> {
    let table = host.make_table(private, definition)?;
    let mut hobts = Vec::with_capacity(table.indexes.len());
    for index in &table.indexes {
        hobts.push(host.hobts().hobt(table.database, index.partitions.sole())?);
    }
    Ok(Arc::new(PrivateTable { table, hobts }))
}

/// Runs something in a transaction of its own.
pub(crate) fn at_once<T>(
    work: &mut Work,
    f: impl FnOnce(&mut Work) -> SqlResult<T>,
) -> SqlResult<T> {
    work.begin(false, "");
    let result = f(work);
    let ended = match &result {
        Ok(_) => work.commit(CommitMode::Full),
        Err(_) => work.roll_back(),
    };
    ended.map_err(|e| e.into_sql("tempdb"))?;
    result
}

/// The table variables that a plan names, by number.
pub(crate) fn touched(plan: &PhysicalPlan) -> Vec<u16> {
    plan.header.references.iter().filter_map(|r| r.object.table_variable()).collect()
}

/// What a statement does to its session's private unit of work.
pub(crate) enum PrivatePart {
    /// Nothing.
    Reads,
    /// The statement began it.
    Begun,
    /// The statement runs within another one that began it.
    Within(Mark),
}
