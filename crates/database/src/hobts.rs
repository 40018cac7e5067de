//! The open hobts of a database, by number and by allocation unit. Only this module makes and opens
//! them, each in the format that stores its spec.
//!
//! Undo may need a hobt that is not open yet, because only an unfinished transaction knew it. Then
//! the definitions are read again, uncommitted ones included.

use crate::spec::row_spec;
use access::{Formats, HobtDirectory, HobtPlaces, StoredHobt};
use base::{AllocUnitId, DatabaseId, HobtId, SqlResult};
use catalog::view::{Object, Partition, SystemObjects, Table};
use catalog::{CatalogContents, HobtSpec, SYSTEM_TABLES, SystemHobts, SystemTableId, UnitKind};
use os::sync::RwLock;
use std::collections::BTreeMap;
use std::sync::Arc;
use work::{Engine, Home, Work};

#[derive(Default)]
struct Open {
    by_hobt: BTreeMap<HobtId, Arc<dyn StoredHobt>>,
    by_unit: BTreeMap<AllocUnitId, Arc<dyn StoredHobt>>,
}

/// The open hobts of a database.
pub struct OpenHobts {
    home: Arc<Home>,
    engine: Arc<Engine>,
    system: Arc<SystemObjects>,
    formats: Formats,
    open: RwLock<Open>,
}

impl OpenHobts {
    pub(crate) fn new(
        home: &Arc<Home>,
        engine: &Arc<Engine>,
        system: &Arc<SystemObjects>,
        formats: &Formats,
    ) -> Arc<OpenHobts> {
        Arc::new(OpenHobts {
            home: Arc::clone(home),
            engine: Arc::clone(engine),
            system: Arc::clone(system),
            formats: formats.clone(),
            open: RwLock::default(),
        })
    }

    /// Makes a hobt, which must then be entered; as [`access::StorageFormat::create`].
    pub(crate) fn create(
        &self,
        work: &mut Work,
        spec: access::HobtSpec,
        large: Option<AllocUnitId>,
    ) -> SqlResult<Arc<dyn StoredHobt>> {
        self.formats.of(&spec).create(work, &self.home, spec, large)
    }

    /// Enters a hobt that exists on disk; as [`access::StorageFormat::open`].
    fn enter_stored(
        &self,
        spec: access::HobtSpec,
        places: HobtPlaces,
        large: Option<(AllocUnitId, HobtPlaces)>,
    ) {
        self.enter(self.formats.of(&spec).open(&self.home, spec, places, large));
    }

    /// Enters an open hobt.
    pub(crate) fn enter(&self, hobt: Arc<dyn StoredHobt>) {
        let mut open = self.open.write();
        for tree in [Some(Arc::clone(&hobt)), hobt.large()].into_iter().flatten() {
            open.by_unit.insert(tree.spec().unit, tree);
        }
        open.by_hobt.insert(hobt.spec().hobt, hobt);
    }

    /// Forgets a dropped hobt. The caller holds the locks of its drop.
    pub(crate) fn forget(&self, hobt: HobtId) {
        let mut open = self.open.write();
        if let Some(gone) = open.by_hobt.remove(&hobt) {
            gone.mark_dropped();
            for tree in [Some(Arc::clone(&gone)), gone.large()].into_iter().flatten() {
                open.by_unit.remove(&tree.spec().unit);
            }
        }
    }

    /// The hobt of a number.
    pub fn get(&self, hobt: HobtId) -> Option<Arc<dyn StoredHobt>> {
        self.open.read().by_hobt.get(&hobt).cloned()
    }

    /// The open hobt or tree of large values with an allocation unit.
    pub fn open_unit(&self, unit: AllocUnitId) -> Option<Arc<dyn StoredHobt>> {
        self.open.read().by_unit.get(&unit).cloned()
    }

    /// All open hobts, by number.
    pub fn all(&self) -> Vec<Arc<dyn StoredHobt>> {
        self.open.read().by_hobt.values().cloned().collect()
    }

    /// Opens the system tables of the boot page.
    pub(crate) fn enter_system(&self, places: &[(SystemTableId, HobtPlaces)]) {
        for (id, places) in places {
            let spec = HobtSpec::of_system(self.home.database, id.table());
            self.enter_stored(row_spec(&spec, id.unit()), *places, None);
        }
        assert_eq!(self.open.read().by_hobt.len(), SYSTEM_TABLES.len());
    }

    /// Opens the hobts of the loaded definitions that are not open yet.
    pub(crate) fn enter_loaded(&self, loaded: &CatalogContents) {
        for object in loaded.view.objects() {
            if let Object::Table(table) = object {
                self.enter_table(table, loaded);
            }
        }
    }

    fn enter_table(&self, table: &Table, loaded: &CatalogContents) {
        for (index, Partition { hobt, .. }) in table.partitions() {
            let units = loaded.places.get(&hobt).filter(|_| self.get(hobt).is_none());
            let Some((units, rows)) = units.and_then(|u| Some((u, u.rows()?))) else { continue };
            let spec = row_spec(&HobtSpec::of_hobt(table, index, hobt), rows.unit);
            let places = HobtPlaces { first_iam: rows.first_iam, root: rows.root };
            let large = units.units.iter().find(|u| u.kind == UnitKind::Large);
            let large =
                large.map(|u| (u.unit, HobtPlaces { first_iam: u.first_iam, root: u.root }));
            self.enter_stored(spec, places, large);
        }
    }

    fn load_again(&self) {
        let session = base::SessionId(1);
        let mut work = Work::new(&self.engine, session, Arc::new(os::wait::Waiter::new()));
        let name = self.home.name();
        let (id, system) = (self.home.database, Arc::clone(&self.system));
        // The caller reports what cannot be read now: its hobt stays unknown.
        if let Ok(loaded) = catalog::load_for_undo(self, &mut work, id, &name, system) {
            self.enter_loaded(&loaded);
        }
    }

    pub(crate) fn database(&self) -> DatabaseId {
        self.home.database
    }
}

impl HobtDirectory for OpenHobts {
    fn by_unit(&self, unit: AllocUnitId) -> Option<Arc<dyn StoredHobt>> {
        let known = |open: &Open| open.by_unit.get(&unit).cloned();
        if let Some(found) = known(&self.open.read()) {
            return Some(found);
        }
        self.load_again();
        known(&self.open.read())
    }

    fn undone(&self, unit: AllocUnitId) {
        let mut open = self.open.write();
        let Some(gone) = open.by_unit.remove(&unit) else { return };
        gone.mark_dropped();
        let hobt = gone.spec().hobt;
        match open.by_hobt.get(&hobt).filter(|h| h.spec().unit != unit).cloned() {
            // The rows existed before their unit of large values.
            Some(rows) if !rows.is_dropped() => {
                let alone = rows.without_large();
                open.by_unit.insert(alone.spec().unit, Arc::clone(&alone));
                open.by_hobt.insert(hobt, alone);
            }
            Some(_) | None => drop(open.by_hobt.remove(&hobt)),
        }
    }
}

impl SystemHobts for OpenHobts {
    fn open(&self, table: SystemTableId) -> Arc<dyn access::Hobt> {
        self.get(table.hobt()).expect("system tables are opened first")
    }
}
