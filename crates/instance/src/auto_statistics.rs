//! Making statistics that nobody asked for: one at a time for each table, beside the transaction
//! of whoever compiles a query.
//!
//! Invariants
//!  1. What was made is everybody's before the transaction gives its Sch-S back: whoever alters
//!     the table afterwards begins with it.

use crate::asker::Asker;
use crate::ddl_call::{SessionPlaces, SessionTemp};
use crate::expressions::SessionExpressions;
use crate::instance::Instance;
use base::{DatabaseId, ObjectId, SessionId, SqlResult};
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
    later: Mutex<BTreeMap<(DatabaseId, ObjectId), BTreeSet<i32>>>,
}

/// The turn of one table; given back when this is dropped.
struct Turn<'g>(&'g Gathering, (DatabaseId, ObjectId));

impl Gathering {
    fn turn(&self, table: (DatabaseId, ObjectId)) -> Option<Turn<'_>> {
        let is_first = self.now.lock().insert(table);
        is_first.then(|| Turn(self, table))
    }

    pub(crate) fn put_off(&self, table: (DatabaseId, ObjectId), columns: &[i32]) {
        self.later.lock().entry(table).or_default().extend(columns);
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

    /// Updates what was put off; a step of the background.
    pub(crate) fn gather_later(&self) {
        let tables = std::mem::take(&mut *self.gathering.later.lock());
        for ((database, table), columns) in tables {
            if self.stopping.check().is_err() {
                return;
            }
            // Nobody drops a database in which this works.
            let _one = self.cleaning.lock();
            let columns = columns.into_iter().collect();
            let wanted = WantedStatistics { table, columns, update: true, ..Default::default() };
            self.gather(GatherCall {
                session: SessionId(1),
                waiter: Arc::new(Waiter::new()),
                database,
                temp: &mut TempTables::default(),
                wanted: &wanted,
            });
        }
    }
}
