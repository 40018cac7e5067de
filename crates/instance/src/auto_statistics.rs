//! Making statistics that nobody asked for: one at a time for each table, beside the transaction
//! of whoever compiles a query.
//!
//! Invariants
//!  1. What was made is everybody's before the transaction gives its Sch-S back: whoever alters
//!     the table afterwards begins with it.
//!  2. Nobody who compiles a query reads a sample of a table that has records by aborted
//!     transactions: for each of them the version before would be looked for, which may take
//!     seconds right after a start. The background makes such statistics when the cleaner has
//!     put the former rows back, and the query is planned with what is there.

use crate::asker::Asker;
use crate::ddl_call::{SessionPlaces, SessionTemp};
use crate::expressions::SessionExpressions;
use crate::instance::Instance;
use base::{AllocUnitId, DatabaseId, ObjectId, SessionId, SqlResult};
use catalog::view::SchemaId;
use ddl::{DdlContext, WantedStatistics};
use lock::Timeout;
use os::sync::Mutex;
use os::wait::Waiter;
use session::{GatherCall, TempTables};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::datetime::Dialect;
use work::{CommitMode, Work};

/// Tables whose statistics are being made, and tables that wait for the background.
#[derive(Default)]
pub(crate) struct Gathering {
    now: Mutex<BTreeSet<(DatabaseId, ObjectId)>>,
    later: Mutex<BTreeMap<(DatabaseId, ObjectId), LaterColumns>>,
}

/// The columns of a table whose statistics the background makes, by id.
#[derive(Default)]
struct LaterColumns {
    created: BTreeSet<i32>,
    updated: BTreeSet<i32>,
}

/// The turn of one table; given back when this is dropped.
struct Turn<'g>(&'g Gathering, (DatabaseId, ObjectId));

impl Gathering {
    fn turn(&self, table: (DatabaseId, ObjectId)) -> Option<Turn<'_>> {
        let is_first = self.now.lock().insert(table);
        is_first.then(|| Turn(self, table))
    }

    pub(crate) fn put_off(&self, table: (DatabaseId, ObjectId), columns: &[i32]) {
        self.later.lock().entry(table).or_default().updated.extend(columns);
    }

    /// The same for all that a query wants.
    fn put_off_wanted(&self, table: (DatabaseId, ObjectId), wanted: &WantedStatistics) {
        let mut later = self.later.lock();
        let columns = later.entry(table).or_default();
        if wanted.create {
            columns.created.extend(&wanted.columns);
        }
        if wanted.update {
            columns.updated.extend(&wanted.columns);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.now.lock().remove(&self.1);
    }
}

impl Instance {
    pub(crate) fn gather(&self, call: GatherCall<'_>) -> bool {
        let table = (call.database, call.wanted.table);
        if self.has_aborted_records(table) {
            self.gathering.put_off_wanted(table, call.wanted);
            return false;
        }
        let Some(_turn) = self.gathering.turn(table) else { return false };
        let mut work = Work::new(self.engine(), call.session, call.waiter);
        work.set_timeout(Timeout::NO_WAIT);
        work.begin(false, "AutoStatistics");
        let gathered = self.gather_in(&mut work, call.database, call.temp, call.wanted);
        let ended = match &gathered {
            Ok(true) => work.commit(CommitMode::Delayed),
            Ok(false) | Err(_) => work.roll_back(),
        };
        if let Err(e) = ended {
            self.write_log("spid", &format!("Statistics were not kept: {}", e.into_sql("").text()));
            return false;
        }
        let any = matches!(gathered, Ok(true));
        if any {
            self.definitions.moved();
        }
        any
    }

    fn gather_in(
        &self,
        work: &mut Work,
        database: DatabaseId,
        temp: &mut TempTables,
        wanted: &WantedStatistics,
    ) -> SqlResult<bool> {
        let Some(open) = self.database(database) else { return Ok(false) };
        let places = SessionPlaces::new(self, database, work);
        let mut temp = SessionTemp { temp, instance: self };
        let (mut deltas, mut messages, mut results) = (Vec::new(), Vec::new(), Vec::new());
        let asker = Asker::none(self, work);
        let mut cx = DdlContext {
            work,
            places: &places,
            databases: &asker,
            spill: &*self.spill,
            semaphores: &self.semaphores,
            threads: ddl::Threads::NONE,
            temp: &mut temp,
            expressions: &SessionExpressions { instance: self, dialect: Dialect::default() },
            settings: ddl::Settings {
                quoted_identifier: true,
                ansi_nulls: true,
                null_by_default: true,
                dialect: Dialect::default(),
            },
            schema: SchemaId::DBO,
            deltas: &mut deltas,
            messages: &mut messages,
            results: &mut results,
        };
        if !ddl::gather_statistics(&mut cx, wanted)? {
            return Ok(false);
        }
        let own: Vec<_> = deltas.into_iter().map(|(_, delta)| delta).collect();
        // Invariant 1.
        work.after_commit(move || open.publisher().publish_statistics(&own), || {});
        Ok(true)
    }

    /// Invariant 2.
    fn has_aborted_records(&self, (database, table): (DatabaseId, ObjectId)) -> bool {
        let Some(open) = self.database(database) else { return false };
        if open.home().aborted().is_empty() {
            return false;
        }
        let is_of_table = |unit: &AllocUnitId| {
            open.hobts().open_unit(*unit).is_some_and(|hobt| hobt.spec().object == table)
        };
        let aborted = open.home().aborted().list();
        aborted.iter().any(|a| a.units.is_empty() || a.units.iter().any(is_of_table))
    }

    /// Makes what was put off, but for tables that still have records by aborted transactions; a
    /// step of the background.
    pub(crate) fn gather_later(&self) {
        let mut tables = std::mem::take(&mut *self.gathering.later.lock());
        while let Some((table, columns)) = tables.pop_first() {
            if self.stopping.check().is_err() {
                return;
            }
            // Nobody drops a database in which this works.
            let _one = self.cleaning.lock();
            self.gather_put_off(table, &columns.created, (true, false));
            self.gather_put_off(table, &columns.updated, (false, true));
        }
    }

    fn gather_put_off(
        &self,
        (database, table): (DatabaseId, ObjectId),
        columns: &BTreeSet<i32>,
        (create, update): (bool, bool),
    ) {
        if columns.is_empty() {
            return;
        }
        let columns = columns.iter().copied().collect();
        let wanted = WantedStatistics { table, columns, create, update, temporary: None };
        self.gather(GatherCall {
            session: SessionId(1),
            waiter: Arc::new(Waiter::new()),
            database,
            temp: &mut TempTables::default(),
            wanted: &wanted,
        });
    }
}
