//! Making and dropping hobts for definitions.

use crate::database::Database;
use crate::spec::row_spec;
use access::Hobt;
use base::{PageId, SqlError, SqlResult, messages};
use catalog::view::IndexKind;
use catalog::{
    Builder, Changes, DroppedUnit, HobtPlaces, HobtSpec, SystemHobts, UnitKind, UnitPlaces,
};
use rowstore::RowHobt;
use space::AllocUnit;
use std::sync::{Arc, Weak};
use work::{CommitMode, Work};

/// A database's builder; it keeps the database open.
pub(crate) struct DatabaseBuilder(pub(crate) Arc<Database>);

impl Builder for DatabaseBuilder {
    fn create_hobt(&self, work: &mut Work, spec: &HobtSpec) -> SqlResult<HobtPlaces> {
        let database = &self.0;
        let unit = database.ids.unit();
        let (home, of_rows) = (&database.home, row_spec(spec, unit));
        let hobt = match spec.may_have_large_values() {
            true => RowHobt::create_with_large(work, home, of_rows, database.ids.unit())?,
            false => RowHobt::create(work, home, of_rows)?,
        };
        let places = hobt.places();
        let large = hobt.large().map(|pieces| UnitPlaces {
            unit: pieces.spec().unit,
            kind: UnitKind::Large,
            first_iam: pieces.places().first_iam,
            root: pieces.places().root,
            first_page: PageId::NONE,
        });
        database.hobts.enter(hobt);
        let tree = spec.kind != IndexKind::Heap;
        let rows = UnitPlaces {
            unit,
            kind: UnitKind::Rows,
            first_iam: places.first_iam,
            root: places.root,
            first_page: if tree { PageId::NONE } else { places.root },
        };
        Ok(HobtPlaces { units: [Some(rows), large].into_iter().flatten().collect() })
    }

    fn drop_hobt_after_commit(&self, work: &mut Work, dropped: &[DroppedUnit]) -> SqlResult<()> {
        let (database, dropped) = (Arc::downgrade(&self.0), dropped.to_vec());
        work.after_commit(move || {
            if let Some(database) = Weak::upgrade(&database) {
                database.free_dropped(&dropped);
            }
        });
        Ok(())
    }

    fn open(&self, spec: &HobtSpec) -> SqlResult<Arc<dyn Hobt>> {
        match self.0.hobts.get(spec.hobt) {
            Some(hobt) => Ok(hobt),
            None => Err(SqlError::new(messages::INVALID_OBJECT, &[&spec.object_id])),
        }
    }
}

impl Database {
    /// Who makes and drops its hobts.
    pub fn builder(self: &Arc<Self>) -> Arc<dyn Builder> {
        Arc::new(DatabaseBuilder(Arc::clone(self)))
    }

    /// Units that a crash left to be freed.
    pub(crate) fn remember_drops(&self, dropped: Vec<DroppedUnit>) {
        let pending = self.hobts.pending();
        pending.lock().extend(dropped);
    }

    /// Frees them.
    pub(crate) fn finish_drops(&self) {
        let dropped = std::mem::take(&mut *self.hobts.pending().lock());
        self.free_dropped(&dropped);
    }

    /// Frees units whose owners' drop has committed, and strikes them from the list. What cannot
    /// be freed now stays on the list for the next start.
    pub(crate) fn free_dropped(&self, dropped: &[DroppedUnit]) {
        for d in dropped {
            self.hobts.forget(d.hobt);
            let unit = AllocUnit::open(d.places.unit, d.places.first_iam);
            let freed = match self.space.unit_exists(&unit) {
                Ok(true) => self.space.drop_unit(&unit),
                Ok(false) => Ok(()),
                Err(e) => Err(e),
            };
            if freed.is_ok() {
                // Not striking it only repeats the question at the next start.
                let _ = self.strike(d);
            }
        }
    }

    fn strike(&self, dropped: &DroppedUnit) -> SqlResult<()> {
        let mut work = self.system_work();
        work.begin(false, "DeferredAllocUnitDrop");
        let system: &dyn SystemHobts = &*self.hobts;
        let struck = Changes::new(system).finish_drop(&mut work, dropped.places.unit);
        match struck {
            Ok(()) => work.commit(CommitMode::Delayed).map_err(|e| e.into_sql(&self.home.name())),
            Err(e) => {
                work.roll_back().map_err(|e| e.into_sql(&self.home.name()))?;
                Err(e)
            }
        }
    }
}
