//! CHECKDB and CHECKTABLE: the verifier of every structure, and then the checks across structures.
//!
//! ```text
//! each hobt       pages, records, order, links, ghosts, allocation against reachability,
//!                 values off the rows                                       (rowstore, btree)
//! each table      what its rows say must be in each index against what is there   (indexes)
//! versions        pages and records of the database's own version store           (version)
//! the database    every extent and page has the owner that the maps say             (space)
//! ```
//!
//! Invariants
//!  1. The caller prevents changes of what is checked. Other tables may allocate meanwhile; a
//!     second look distinguishes that from damage. An index that is built online is skipped.
//!  2. All damage is reported, up to [`FINDINGS_MAX`]. Damage of one page does not hide that of
//!     another.
//!  3. Memory does not grow with the number of rows: sets of rows are fingerprints, sets of pages
//!     are bits.
//!  4. A cancellation is noticed at each page. A check that is cancelled reports nothing, because
//!     after half a reading sound pages look unreachable.

mod describe;
mod indexes;
mod owner;

use crate::boot;
use crate::database::Database;
use access::{HobtUnit, RowFinding, RowLocation, RowReport, StoredHobt};
use base::{HobtId, ObjectId, PageId, SqlError};
use catalog::view::{DatabaseView, Index, Object, PhysicalColumn, Table};
use os::wait::{CancelReason, Waiter};
use owner::Owner;
use space::{AllocUnit, Findings};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most findings that are kept; the rest is only counted.
pub(crate) const FINDINGS_MAX: usize = space::FINDINGS_MAX;
/// How often the maps are read before a finding counts, because other sessions may allocate.
const LOOKS: usize = 4;
const PAUSE_NS: u64 = 20_000_000;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFinding {
    /// The object; 0 for the maps.
    pub object: ObjectId,
    /// The page, if the finding is about one.
    pub page: PageId,
    /// The error as the user gets it.
    pub error: SqlError,
    /// The row, if it has a message of its own.
    pub row: Option<SqlError>,
}

/// The checked rows and pages of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckCounts {
    /// Rows of the heap or clustered index.
    pub rows: u64,
    /// Its pages.
    pub pages: u64,
}

/// The result of CHECKDB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Findings about maps: the owners of extents and pages.
    pub allocation: Vec<CheckFinding>,
    /// Findings about contents.
    pub consistency: Vec<CheckFinding>,
    /// What was checked, by object.
    pub objects: BTreeMap<i32, CheckCounts>,
    /// The number of findings that were not kept.
    pub dropped: u64,
}

impl CheckReport {
    /// Whether there is no finding.
    pub fn is_clean(&self) -> bool {
        self.allocation.is_empty() && self.consistency.is_empty() && self.dropped == 0
    }

    fn push(&mut self, finding: CheckFinding) {
        if self.consistency.len() < FINDINGS_MAX {
            self.consistency.push(finding);
        } else {
            self.dropped += 1;
        }
    }

    /// Adds findings about maps and chains.
    fn allocate(&mut self, db: &Database, owners: &BTreeMap<u32, Owner>, found: &Findings) {
        let room = FINDINGS_MAX.saturating_sub(self.allocation.len());
        let kept = found.kept.iter().take(room);
        self.allocation.extend(kept.map(|f| describe::map_finding(db, owners, f)));
        self.dropped += found.more + found.kept.len().saturating_sub(room) as u64;
        debug_assert!(self.allocation.len() <= FINDINGS_MAX, "invariant 2");
    }
}

/// What to check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckOptions {
    /// One table; `None` is the whole database.
    pub table: Option<ObjectId>,
    /// Whether nonclustered indexes of user tables are skipped.
    pub no_index: bool,
}

impl Database {
    /// Checks the whole database. The caller prevents changes.
    pub fn check(&self) -> CheckReport {
        let checked = self.check_with(CheckOptions::default(), &Waiter::new());
        checked.expect("nobody knows the waiter")
    }

    /// Checks the database or a table of it. The caller prevents changes of what is checked.
    ///
    /// # Errors
    /// The waiter's cancellation.
    pub fn check_with(
        &self,
        options: CheckOptions,
        waiter: &Waiter,
    ) -> Result<CheckReport, CancelReason> {
        let mut report = CheckReport::default();
        let view = self.view();
        let mut hobts: BTreeMap<HobtId, Arc<dyn StoredHobt>> =
            self.hobts.all().into_iter().map(|h| (h.spec().hobt, h)).collect();
        if let Some(object) = options.table {
            hobts.retain(|_, h| h.spec().object == object);
        }
        for object in view.objects() {
            if let Object::Table(table) = object
                && options.table.is_none_or(|one| one == table.object_id)
            {
                self.check_table(table, &mut hobts, options.no_index, &mut report, waiter)?;
            }
        }
        // The rest: system tables, and hobts that are not committed yet.
        for hobt in hobts.values().filter(|_| options.table.is_none() || !options.no_index) {
            self.check_alone(&**hobt, &mut report, waiter)?;
        }
        match options.table {
            Some(table) => self.check_chains(table, &mut report, waiter)?,
            // Pages that spills use in tempdb are in no catalog.
            None if self.survives => {
                self.check_versions(&mut report, waiter)?;
                self.check_maps(&mut report, waiter)?;
            }
            None => {}
        }
        Ok(report)
    }

    /// Checks a table with its indexes, and removes them from the list.
    fn check_table(
        &self,
        table: &Table,
        hobts: &mut BTreeMap<HobtId, Arc<dyn StoredHobt>>,
        no_index: bool,
        report: &mut CheckReport,
        waiter: &Waiter,
    ) -> Result<(), CancelReason> {
        let Some(base) = take(hobts, table.base()) else { return Ok(()) };
        let mut indexes = Vec::new();
        for index in table.indexes.iter().skip(1) {
            let own = take(hobts, index);
            if let Some(own) = own.filter(|_| !no_index && !index.disabled) {
                indexes.push((index, own));
            }
        }
        indexes::check(self, table, &base, &indexes, report, waiter)
    }

    fn check_alone(
        &self,
        hobt: &dyn StoredHobt,
        report: &mut CheckReport,
        waiter: &Waiter,
    ) -> Result<(), CancelReason> {
        let found = hobt.verify(waiter, &mut |_| {})?;
        if self.is_at_work(hobt) {
            return Ok(());
        }
        let owner = Owner::of(hobt, None);
        self.take_in(hobt, &owner, &found, report);
        let looked = report.objects.entry(hobt.spec().object.0).or_default();
        *looked =
            CheckCounts { rows: looked.rows.max(found.rows), pages: looked.pages + found.pages };
        Ok(())
    }

    /// Whether an online build makes a hobt now, or has been rolled back. The caller asks after it
    /// has checked the hobt: if this is false, nothing changed meanwhile. Another hobt may be
    /// registered by now.
    fn is_at_work(&self, hobt: &dyn StoredHobt) -> bool {
        self.hobts.get(hobt.spec().hobt).is_none_or(|now| now.is_private())
    }

    /// Adds the findings of a hobt's verifier.
    fn take_in(
        &self,
        hobt: &dyn StoredHobt,
        owner: &Owner,
        found: &RowReport,
        report: &mut CheckReport,
    ) {
        for finding in &found.findings {
            report.push(describe::row_finding(self, owner, finding));
        }
        if let Some(large) = hobt.units().into_iter().find(|u| u.pieces) {
            let of_large = owner.large(large.unit);
            for finding in &found.large {
                let about_rows = matches!(finding, RowFinding::ValueMissing(..));
                let owner = if about_rows { owner } else { &of_large };
                report.push(describe::row_finding(self, owner, finding));
            }
        }
    }

    /// Finds NULL in columns that are NOT NULL.
    fn check_nulls(
        table: &Table,
        layout: &page::RowLayout,
        owner: &Owner,
        row: RowLocation<'_>,
        found: &mut Vec<CheckFinding>,
    ) {
        let columns = table.hobt_layout(table.base()).columns;
        for (at, column) in columns.iter().enumerate() {
            if let PhysicalColumn::Column(n) = column
                && !table.columns[*n].nullable
                && layout.field(row.record, at) == Some(page::Field::Null)
                && found.len() < FINDINGS_MAX
            {
                found.push(describe::null(owner, (row.page, row.slot), &table.columns[*n].name));
            }
        }
    }

    /// The chains of the units of one table.
    fn check_chains(
        &self,
        table: ObjectId,
        report: &mut CheckReport,
        waiter: &Waiter,
    ) -> Result<(), CancelReason> {
        for hobt in self.hobts.all().iter().filter(|h| h.spec().object == table) {
            for one in hobt.units() {
                let findings = self.space.survey(&opened(one), waiter)?.findings;
                if self.is_at_work(&**hobt) {
                    continue;
                }
                let owners = owners_of(&self.view(), &self.hobts.all());
                report.allocate(self, &owners, &findings);
            }
        }
        Ok(())
    }

    /// Checks the pages of the database's own version store.
    fn check_versions(
        &self,
        report: &mut CheckReport,
        waiter: &Waiter,
    ) -> Result<(), CancelReason> {
        // A boot page that cannot be read is a finding of the maps.
        let Ok(Some(first_iam)) = boot::read_store(&self.pages) else { return Ok(()) };
        let (_, findings) = version::verify_store(&self.space, first_iam, waiter)?;
        let owner = Owner::of_versions();
        for finding in findings {
            report.push(describe::row_finding(self, &owner, &RowFinding::Page(finding)));
        }
        Ok(())
    }

    /// Compares the maps with all units. A finding that appears only once comes from another
    /// session's allocation.
    fn check_maps(&self, report: &mut CheckReport, waiter: &Waiter) -> Result<(), CancelReason> {
        let mut sure: Option<Findings> = None;
        for look in 0..LOOKS {
            let hobts = self.hobts.all();
            let mut units: Vec<AllocUnit> =
                hobts.iter().flat_map(|h| h.units()).map(opened).collect();
            let dropped: Vec<_> = self
                .drops
                .units()
                .into_iter()
                .filter(|d| units.iter().all(|u| u.id != d.places.unit))
                .map(|d| AllocUnit::open(d.places.unit, d.places.first_iam))
                .filter(|u| self.space.unit_exists(u).unwrap_or(true))
                .collect();
            units.extend(dropped);
            let store = boot::read_store(&self.pages).ok().flatten();
            units.extend(store.map(|first| AllocUnit::open(version::VERSION_UNIT, first)));
            let units: Vec<&AllocUnit> = units.iter().collect();
            let mut found = self.space.check(&units, waiter)?;
            if let Some(before) = &sure {
                found = found.seen_twice(before);
            }
            let clean = found.is_empty();
            sure = Some(found);
            if clean {
                break;
            }
            if look + 1 < LOOKS {
                os::task::sleep_ns(PAUSE_NS);
            }
        }
        let owners = owners_of(&self.view(), &self.hobts.all());
        report.allocate(self, &owners, &sure.unwrap_or_default());
        Ok(())
    }
}

/// Takes the partitions of an index out of a list; `None` where one of them is not there.
fn take(
    hobts: &mut BTreeMap<HobtId, Arc<dyn StoredHobt>>,
    index: &Index,
) -> Option<Vec<Arc<dyn StoredHobt>>> {
    let own = index.partitions.iter().map(|p| hobts.get(&p.hobt).cloned());
    let own = own.collect::<Option<Vec<_>>>()?;
    index.partitions.iter().for_each(|p| drop(hobts.remove(&p.hobt)));
    Some(own)
}

fn opened(unit: HobtUnit) -> AllocUnit {
    AllocUnit::open(unit.unit, unit.places.first_iam)
}

/// The owner of each unit.
fn owners_of(view: &DatabaseView, hobts: &[Arc<dyn StoredHobt>]) -> BTreeMap<u32, Owner> {
    let mut owners = BTreeMap::new();
    owners.insert(version::VERSION_UNIT.0, Owner::of_versions());
    for hobt in hobts {
        let table = view.table(hobt.spec().object);
        let owner = Owner::of(&**hobt, table.as_deref());
        for unit in hobt.units().into_iter().filter(|u| u.pieces) {
            owners.insert(unit.unit.0, owner.large(unit.unit));
        }
        owners.insert(hobt.spec().unit.0, owner);
    }
    owners
}
