//! What sessions ask of the process.

use crate::closed::ClosedEntry;
use crate::instance::{Instance, same_name};
use crate::private_tables::is_private;
use access::{Hobts, Spill};
use base::{DatabaseId, FileId, HobtId, ObjectId, SessionId, SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Identity, Object, Sequence, Table};
use catalog::{Builder, Changes, DatabaseOptions, Delta, ROW_VERSIONS};
use database::{Database, SweepRequest};
use exec::{GrantTerms, IdentitySource};
use lock::{Duration, Mode, Owner, OwnerId, OwnerKind, Resource, Timeout};
use os::wait::CancelReason;
use plan::IdentityColumn;
use plancache::Cache;
use session::{
    Configuration, Databases, DdlAnswer, DdlCall, DeclareCall, Definitions, ErrorLog, GatherCall,
    Numbers, PageRequest, Pages, PagesRequest, Process, Program, Registry, Rowset, Statistics,
    StatisticsTerms, Storage, TemporaryTables,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Value;
use work::{Engine, Home, STATEMENT_VERSIONS, SnapshotState, Work};

impl Storage for Instance {
    fn engine(&self) -> &Arc<Engine> {
        &self.env.engine
    }

    fn hobts(&self) -> &dyn Hobts {
        self
    }

    fn spill(&self) -> &dyn Spill {
        &*self.spill
    }

    fn identity(&self) -> &dyn IdentitySource {
        self
    }

    fn grant(&self) -> GrantTerms<'_> {
        GrantTerms { semaphores: &self.semaphores, workers: Some(&self.query_workers) }
    }

    fn home(&self, database: DatabaseId) -> Option<Arc<Home>> {
        self.database(database).map(|d| Arc::clone(d.home()))
    }

    fn hobt_size(&self, database: DatabaseId, hobt: HobtId) -> Option<optimize::Size> {
        let found = self.database(database)?.hobts().get(hobt)?;
        let size = found.measured_size(&os::wait::Waiter::new()).ok()?;
        Some(optimize::Size { rows: size.rows as f64, pages: size.pages as f64 })
    }

    fn plan_memory(&self) -> optimize::Memory {
        let pool = self.env.pool.frame_count();
        let workspace = self.semaphores.workspace();
        optimize::Memory { pool_pages: pool as f64, work_bytes: workspace.query_bytes_max as f64 }
    }
}

impl Process for Instance {
    fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    fn programs(&self) -> &Cache<Program> {
        &self.programs
    }

    fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    fn keep_configuration(&self) -> SqlResult<()> {
        let path = self.dir.join(crate::configured::NAME);
        let failed = |e| SqlError::new(messages::EXPAND_FILE_FAILED, &[&e, &path.display()]);
        let configured = self.configuration.all_configured();
        crate::configured::write(&*self.env.disk, &self.dir, &configured).map_err(failed)
    }

    fn reconfigure(&self) {
        if self.configuration.install() {
            self.programs.clear();
        }
        self.configure_memory();
        self.configure_cleaner();
    }

    fn server_property(&self, name: &str) -> Value {
        crate::facts::server_property(self, name)
    }

    fn kill(&self, by: SessionId, target: SessionId) -> SqlResult<()> {
        if by == target {
            return Err(SqlError::new(messages::KILL_SELF, &[]));
        }
        let entry = self.registry.find(target);
        let entry = entry.ok_or_else(|| SqlError::new(messages::KILL_NOT_FOUND, &[&target]))?;
        entry.waiter().cancel(CancelReason::Kill);
        self.write_log("spid", &format!("Process {target} was killed by process {by}."));
        Ok(())
    }

    fn shutdown(&self, _nowait: bool) -> SqlResult<()> {
        self.write_log("spid", "SHUTDOWN was asked for.");
        self.stopping.cancel(CancelReason::Shutdown);
        Ok(())
    }
}

impl ErrorLog for Instance {
    fn log(&self, line: &str) {
        self.write_log("spid", line);
    }

    fn error_log(&self, number: u32) -> std::io::Result<Option<(Arc<dyn os::disk::File>, u64)>> {
        self.log.file(number)
    }

    fn cycle_error_log(&self) -> SqlResult<()> {
        self.log.cycle().map_err(|e| {
            SqlError::new(messages::ERROR_LOG_NOT_CYCLED, &[&"errorlog", &"errorlog.1", &e])
        })
    }
}

impl Databases for Instance {
    fn databases(&self) -> Vec<(DatabaseId, String)> {
        let open = self.databases.read();
        let mut all: BTreeMap<_, _> =
            open.iter().map(|(id, o)| (*id, o.database.home().name())).collect();
        drop(open);
        for (id, closed) in self.closed.read().iter() {
            all.entry(*id).or_insert_with(|| closed.name.clone());
        }
        all.into_iter().collect()
    }

    fn database_id(&self, name: &str) -> Option<DatabaseId> {
        let open = self.database_by_name(name).map(|d| d.id());
        open.or_else(|| self.closed_by_name(name).map(|(id, _)| id))
    }

    fn refused_database(&self, name: &str) -> Option<SqlError> {
        match self.database_by_name(name) {
            Some(_) => None,
            None => self.closed_by_name(name).map(|(_, closed)| closed.refusal()),
        }
    }

    fn has_access(&self, session: SessionId, name: &str) -> Option<bool> {
        match self.database_by_name(name) {
            Some(database) => Some(self.could_be_in(&database, session)),
            None => self.closed_by_name(name).map(|_| false),
        }
    }

    fn enter_database(
        &self,
        workspace: &Arc<Owner>,
        timeout: Timeout,
        name: &str,
        leaves: Option<DatabaseId>,
    ) -> SqlResult<DatabaseId> {
        let unknown = || SqlError::new(messages::DATABASE_NOT_FOUND, &[&name]);
        let found = self.database_by_name(name).ok_or_else(|| self.not_open(name))?;
        if !self.share_database(workspace, timeout, &found, Duration::Short)? {
            return Err(unknown());
        }
        if let Some(old) = leaves {
            self.leave_database(workspace, old);
        }
        Ok(found.id())
    }

    fn leave_database(&self, workspace: &Owner, database: DatabaseId) {
        self.let_go(workspace, database);
    }

    fn hold_database(&self, work: &Work, database: DatabaseId) -> SqlResult<()> {
        if !is_locked(database) {
            return Ok(());
        }
        self.hold(work.owner(), work.timeout(), database, Duration::Long).map(drop)
    }

    fn database_options(&self, database: DatabaseId) -> Option<DatabaseOptions> {
        self.database(database).map(|d| d.options())
    }

    fn reads_versions(&self, database: DatabaseId) -> bool {
        let on = |d: Arc<Database>| d.home().versioning() & STATEMENT_VERSIONS != 0;
        self.database(database).is_some_and(on)
    }

    fn database_property(&self, database: DatabaseId, name: &str) -> Value {
        crate::facts::database_property(self, database, name)
    }

    fn files(&self, database: DatabaseId) -> Vec<(u16, String)> {
        let Some(database) = self.database(database) else { return Vec::new() };
        let name = database.home().name();
        vec![(1, name.clone()), (2, format!("{name}_log"))]
    }
}

impl Definitions for Instance {
    fn view(&self, session: SessionId, database: DatabaseId) -> Option<Arc<DatabaseView>> {
        Some(self.view_of(session, &*self.database(database)?))
    }

    fn schema_version(&self, session: SessionId, database: DatabaseId) -> Option<u64> {
        self.view(session, database).map(|v| v.schema_version())
    }

    fn definitions_epoch(&self) -> u64 {
        self.definitions.epoch()
    }

    fn definitions_mark(&self, session: SessionId) -> u64 {
        self.definitions.mark(session)
    }

    fn definitions_committing(&self, session: SessionId, work: &mut Work) {
        let deltas = self.definitions.deltas(session);
        for (id, open) in self.databases.read().iter() {
            let own = deltas.iter().filter(|(d, _)| d == id).map(|(_, delta)| delta.clone());
            let own: Vec<_> = own.collect();
            let before = open.database.publisher().current();
            open.database.publisher().publish(&own);
            note_redefined(work, open.database.home(), &before, &own);
        }
        self.definitions.set(session, Vec::new());
    }

    fn definitions_undone(&self, session: SessionId, mark: u64) {
        self.definitions.undo(session, mark);
    }

    fn ddl(&self, call: DdlCall<'_>) -> SqlResult<DdlAnswer> {
        self.run_ddl(call)
    }
}

impl TemporaryTables for Instance {
    fn declare_table(&self, call: DeclareCall<'_>) -> SqlResult<Table> {
        self.run_declare(call)
    }

    fn make_table(&self, work: &mut Work, definition: &Table) -> SqlResult<Arc<Table>> {
        self.make_private_table(work, definition)
    }

    fn empty_table(&self, table: &Table) -> SqlResult<bool> {
        self.empty_private_table(table)
    }

    fn drop_temp_tables(&self, work: &mut Work, tables: &[Arc<Table>]) -> SqlResult<()> {
        let Some(tempdb) = self.database(crate::start::TEMPDB) else { return Ok(()) };
        let system = Arc::clone(tempdb.hobts());
        let changes = Changes::new(&*system);
        let builder: Arc<dyn Builder> = tempdb.builder();
        if tables.is_empty() {
            return Ok(());
        }
        for table in tables {
            for (_, partition) in table.partitions() {
                let dropped = changes.drop_hobt(work, partition.hobt)?;
                builder.drop_hobt_after_commit(work, &dropped)?;
            }
            let stored = tempdb.view().table(table.object_id);
            changes.remove_table(work, stored.as_deref().unwrap_or(table))?;
            let gone = [catalog::Delta::RemoveObject(table.object_id)];
            match is_private(table) {
                true => {
                    tempdb.identities().forget(table.counter());
                    tempdb.publisher().publish_statistics(&gone);
                }
                false => drop(tempdb.publisher().publish(&gone)),
            }
        }
        if !tables.iter().all(|t| is_private(t)) {
            self.definitions.moved();
        }
        Ok(())
    }

    fn drop_global(&self, work: &mut Work, tables: &[ObjectId]) -> SqlResult<()> {
        let Some(tempdb) = self.database(crate::start::TEMPDB) else { return Ok(()) };
        for id in tables {
            if tempdb.view().table(*id).is_none() {
                continue;
            }
            catalog::lock_object(work, tempdb.id(), *id)?;
            // Another session may have dropped it before the lock was granted.
            if let Some(table) = tempdb.view().table(*id) {
                self.drop_temp_tables(work, &[table])?;
            }
        }
        Ok(())
    }
}

impl Statistics for Instance {
    fn statistics_terms(&self, database: DatabaseId) -> Option<StatisticsTerms> {
        let database = self.database(database)?;
        let options = database.options();
        let written = !options.read_only && !database.is_emergency();
        Some(StatisticsTerms {
            create: options.auto_create_statistics && written,
            update: options.auto_update_statistics && written,
            asynchronous: options.auto_update_statistics_async,
            modifications: Arc::clone(database.modifications()),
        })
    }

    fn gather_statistics(&self, call: GatherCall<'_>) -> bool {
        self.gather(call)
    }

    fn update_statistics_later(&self, database: DatabaseId, table: ObjectId, columns: &[i32]) {
        self.gathering.put_off((database, table), columns);
    }

    fn rows_changed(
        &self,
        database: DatabaseId,
        table: ObjectId,
        columns: Option<&[i32]>,
        rows: u64,
    ) {
        let Some(database) = self.database(database) else { return };
        if database.modifications().count(table, columns, rows) {
            self.definitions.moved();
        }
    }
}

impl Numbers for Instance {
    fn identity_current(&self, database: DatabaseId, table: &Table) -> Option<i128> {
        let column = &table.columns[table.identity()?];
        let seed = column.identity.map(|i| i.seed);
        let last = self.database(database)?.identities().last(table.counter());
        last.or(seed)
    }

    fn next_row_version(&self, database: DatabaseId) -> SqlResult<u64> {
        let db = self.database(database);
        let db = db.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]))?;
        let next = db.identities().next(HobtId::ROW_VERSIONS, ROW_VERSIONS, &*db)?;
        Ok(u64::try_from(next).unwrap_or(u64::MAX))
    }

    fn row_version(&self, database: DatabaseId) -> u64 {
        let last =
            self.database(database).and_then(|db| db.identities().last(HobtId::ROW_VERSIONS));
        u64::try_from(last.unwrap_or(ROW_VERSIONS.seed - 1)).unwrap_or(u64::MAX)
    }

    fn next_value(&self, database: DatabaseId, sequence: &Sequence) -> SqlResult<i128> {
        let db = self.database(database);
        let db = db.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]))?;
        db.identities().next_of(sequence, &*db)
    }
}

impl Pages for Instance {
    fn clean_ghosts(
        &self,
        work: &Work,
        database: DatabaseId,
        file: Option<FileId>,
        rest_ns: u64,
    ) -> SqlResult<()> {
        self.clean_all_ghosts(work, database, (file, rest_ns))
    }

    fn sweep_versions(
        &self,
        work: &Work,
        database: DatabaseId,
        asked: SweepRequest,
    ) -> SqlResult<()> {
        self.sweep_versions_of(work, database, asked)
    }

    fn show_page(&self, work: &Work, ask: &PageRequest) -> SqlResult<DdlAnswer> {
        self.with_system(work, ask.database, |system| sysviews::show_page(system, ask))
    }

    fn list_pages(&self, work: &Work, ask: &PagesRequest) -> SqlResult<Rowset> {
        self.with_system(work, ask.table.database, |system| sysviews::list_pages(system, ask))
    }
}

/// Objects of a database are defined anew by a transaction that is about to commit: who reads as of
/// an earlier moment is refused them from then on.
fn note_redefined(work: &mut Work, home: &Arc<Home>, before: &DatabaseView, deltas: &[Delta]) {
    let same = |new: &Object| match new {
        Object::Table(t) => before.table(t.object_id).is_some_and(|old| old.has_rows_of(t)),
        _ => false,
    };
    let object = |delta: &Delta| match delta {
        Delta::PutObject(object) => Some(object.object_id()).filter(|_| !same(object)),
        Delta::RemoveObject(id) => Some(*id),
        _ => None,
    };
    let objects: Vec<ObjectId> = deltas.iter().filter_map(object).collect();
    if objects.is_empty() || home.snapshot_state() == SnapshotState::Off {
        return;
    }
    let (engine, home) = (Arc::clone(work.engine()), Arc::clone(home));
    let note = move || {
        let transactions = &engine.transactions;
        engine.note_versions();
        // After the transaction's own commit, before anybody gets at its tables.
        let at = transactions.commits.commit(transactions.commits.begin());
        let oldest = transactions.snapshots.horizon(&transactions.commits);
        home.note_redefined(objects.into_iter(), at, oldest);
    };
    work.after_commit(note, || {});
}

/// Nobody can take master or tempdb away, so nobody locks them: SQL Server does not either.
pub(crate) fn is_locked(database: DatabaseId) -> bool {
    database != crate::start::MASTER && database != crate::start::TEMPDB
}

impl Instance {
    /// S on a database; false when it was dropped while that was waited for.
    fn share_database(
        &self,
        owner: &Arc<Owner>,
        timeout: Timeout,
        database: &Arc<Database>,
        duration: Duration,
    ) -> SqlResult<bool> {
        let id = database.id();
        if is_locked(id) {
            let resource = Resource::database(id);
            self.engine().locks.lock(owner, resource, Mode::S, duration, timeout, None)?;
        }
        let open = self.is_open(database);
        let refused = match open {
            true => self.may_be_in(database, owner.session()),
            false => Ok(()),
        };
        if (!open || refused.is_err()) && duration == Duration::Short {
            self.let_go(owner, id);
        }
        refused.map(|()| open)
    }

    /// S on a database: to the end of the transaction that works in it, or for a statement,
    /// whatever the session's own database is, until [`Instance::let_go`].
    pub(crate) fn hold(
        &self,
        owner: &Arc<Owner>,
        timeout: Timeout,
        id: DatabaseId,
        duration: Duration,
    ) -> SqlResult<Arc<Database>> {
        let unknown = || {
            let closed = self.closed.read().get(&id).map(ClosedEntry::refusal);
            closed.unwrap_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&id]))
        };
        let found = self.database(id).ok_or_else(unknown)?;
        match self.share_database(owner, timeout, &found, duration)? {
            true => Ok(found),
            false => Err(unknown()),
        }
    }

    /// The end of a statement's [`Instance::hold`].
    pub(crate) fn let_go(&self, owner: &Owner, id: DatabaseId) {
        if is_locked(id) {
            self.engine().locks.release(owner, Resource::database(id));
        }
    }

    pub(crate) fn is_open(&self, database: &Arc<Database>) -> bool {
        self.database(database.id()).is_some_and(|now| Arc::ptr_eq(&now, database))
    }

    /// X on a database for whoever is about to drop it; `None` while anybody is in it.
    pub(crate) fn seize_database(&self, id: DatabaseId) -> SqlResult<Option<SeizedDatabase<'_>>> {
        assert!(is_locked(id), "system databases stay");
        let kind = OwnerKind::ExclusiveTransactionWorkspace;
        let owner = Owner::new(OwnerId::new(kind, id.0.into()), SessionId(0), Arc::default());
        let (locks, resource) = (&self.engine().locks, Resource::database(id));
        let held = locks.try_lock_now(&owner, resource, Mode::X, Duration::Long, None)?;
        Ok(held.map(|_| SeizedDatabase { locks, owner }))
    }

    /// The table that an identity value is for, as the session sees it.
    fn identity_table(
        &self,
        work: &Work,
        database: DatabaseId,
        object: ObjectId,
    ) -> SqlResult<Arc<Table>> {
        let view = Definitions::view(self, work.session(), database);
        let table = view.and_then(|v| v.table(object));
        table.ok_or_else(|| SqlError::new(messages::INVALID_OBJECT, &[&object]))
    }
}

/// X on a database, given back when this is dropped.
pub(crate) struct SeizedDatabase<'i> {
    locks: &'i Arc<lock::Table>,
    owner: Arc<Owner>,
}

impl Drop for SeizedDatabase<'_> {
    fn drop(&mut self) {
        self.locks.release_all(&self.owner);
    }
}

impl IdentitySource for Instance {
    fn next(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
    ) -> SqlResult<i128> {
        let table = self.identity_table(work, database, object)?;
        let db = self.database(database);
        let db = db.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]))?;
        let (seed, increment) = (column.seed, column.increment);
        let identity = Identity { seed, increment, not_for_replication: false };
        db.identities().next(table.counter(), identity, &*db)
    }

    fn given(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
        value: i128,
    ) -> SqlResult<()> {
        let table = self.identity_table(work, database, object)?;
        let db = self.database(database);
        let db = db.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]))?;
        let (seed, increment) = (column.seed, column.increment);
        let identity = Identity { seed, increment, not_for_replication: false };
        db.identities().note(table.counter(), identity, value, &*db)
    }
}

/// Whether a name is that of a system database.
pub(crate) fn is_system(name: &str) -> bool {
    crate::start::SYSTEM.iter().any(|(_, n)| same_name(n, name))
}
