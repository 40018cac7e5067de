//! Makes and drops hobts for definitions.

use crate::database::Database;
use crate::spec::row_spec;
use access::{Growth, Hobt, HobtUnit};
use base::{HobtId, PageId, SqlError, SqlResult, messages};
use catalog::{Builder, DroppedUnit, HobtPlaces, HobtSpec, UnitKind, UnitPlaces};
use std::sync::{Arc, Weak};
use work::Work;

/// The builder of a database; it keeps the database open.
pub(crate) struct DatabaseBuilder(pub(crate) Arc<Database>);

impl Builder for DatabaseBuilder {
    fn create_hobt(&self, work: &mut Work, spec: &HobtSpec) -> SqlResult<HobtPlaces> {
        let database = &self.0;
        let unit = database.ids.unit();
        let large = spec.may_have_large_values().then(|| database.ids.unit());
        let hobt = database.hobts.create(work, row_spec(spec, unit), large)?;
        let places = hobt.places();
        let large = hobt.units().into_iter().find(|u| u.pieces).map(places_of_large);
        database.hobts.enter(hobt);
        let tree = spec.kind.has_key();
        let rows = UnitPlaces {
            unit,
            kind: UnitKind::Rows,
            first_iam: places.first_iam,
            root: places.root,
            first_page: if tree { PageId::NONE } else { places.root },
        };
        Ok(HobtPlaces { units: [Some(rows), large].into_iter().flatten().collect() })
    }

    fn counts_on(&self, hobt: HobtId, former: HobtId) {
        let hobts = &self.0.hobts;
        if let (Some(hobt), Some(former)) = (hobts.get(hobt), hobts.get(former)) {
            hobts.enter(hobt.in_place_of(&*former));
        }
    }

    fn drop_hobt_after_commit(&self, work: &mut Work, dropped: &[DroppedUnit]) -> SqlResult<()> {
        let (database, dropped) = (Arc::downgrade(&self.0), dropped.to_vec());
        let (entering, entered) = (Weak::clone(&database), dropped.clone());
        let under_locks = move || {
            if let Some(database) = Weak::upgrade(&entering) {
                database.enter_drops(&entered);
            }
        };
        let then = move || {
            if let Some(database) = Weak::upgrade(&database) {
                database.free_entered(|d| dropped.contains(d));
            }
        };
        work.after_commit(under_locks, then);
        Ok(())
    }

    fn add_columns(&self, work: &mut Work, spec: &HobtSpec) -> SqlResult<Option<UnitPlaces>> {
        let database = &self.0;
        let missing = || SqlError::new(messages::INVALID_OBJECT, &[&spec.object_id]);
        let hobt = database.hobts.get(spec.hobt).ok_or_else(missing)?;
        let lacks_large = spec.may_have_large_values() && hobt.large().is_none();
        let large = lacks_large.then(|| database.ids.unit());
        let wide = hobt.with_columns(work, row_spec(spec, hobt.spec().unit), large)?;
        let made = wide.units().into_iter().find(|u| Some(u.unit) == large);
        database.hobts.enter(wide);
        Ok(made.map(places_of_large))
    }

    fn growth(&self, work: &Work, spec: &HobtSpec) -> SqlResult<Option<Growth>> {
        match self.0.hobts.get(spec.hobt) {
            Some(hobt) => hobt.growth(work.owner().waiter()),
            None => Err(SqlError::new(messages::INVALID_OBJECT, &[&spec.object_id])),
        }
    }

    fn reorganize(
        &self,
        work: &mut Work,
        spec: &HobtSpec,
        percent: u8,
        large: bool,
    ) -> SqlResult<()> {
        match self.0.hobts.get(spec.hobt) {
            Some(hobt) => hobt.reorganize(work, percent, large),
            None => Err(SqlError::new(messages::INVALID_OBJECT, &[&spec.object_id])),
        }
    }

    fn open(&self, spec: &HobtSpec) -> SqlResult<Arc<dyn Hobt>> {
        match self.0.hobts.get(spec.hobt) {
            Some(hobt) => Ok(hobt),
            None => Err(SqlError::new(messages::INVALID_OBJECT, &[&spec.object_id])),
        }
    }
}

fn places_of_large(pieces: HobtUnit) -> UnitPlaces {
    UnitPlaces {
        unit: pieces.unit,
        kind: UnitKind::Large,
        first_iam: pieces.places.first_iam,
        root: pieces.places.root,
        first_page: PageId::NONE,
    }
}

impl Database {
    /// Returns the builder, which makes and drops its hobts.
    pub fn builder(self: &Arc<Self>) -> Arc<dyn Builder> {
        Arc::new(DatabaseBuilder(Arc::clone(self)))
    }
}
