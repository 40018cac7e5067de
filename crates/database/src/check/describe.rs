//! From findings to the messages of SQL Server's CHECKDB.

use super::CheckFinding;
use super::owner::Owner;
use crate::database::Database;
use access::RowFinding;
use base::{AllocUnitId, ExtentId, Message, ObjectId, PageId, SqlError, messages as m};
use page::{Damage, Fault};
use space::{Finding, diff_page, gam_page, pfs_page, sgam_page};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A message that begins with object, index, partition, unit, type.
fn about(owner: &Owner, page: PageId, message: Message, rest: &[&dyn Display]) -> CheckFinding {
    let (partition, unit) = (owner.hobt.as_bigint(), owner.unit.as_bigint());
    let mut args: Vec<&dyn Display> =
        vec![&owner.object, &owner.index, &partition, &unit, &owner.kind];
    args.extend(rest);
    let error = SqlError::new(message, &args);
    CheckFinding { object: owner.object, page, error, row: None }
}

/// Message 8970.
pub(super) fn null(owner: &Owner, (page, slot): (PageId, u16), column: &str) -> CheckFinding {
    about(owner, page, m::CHECKDB_NOT_NULL, &[&page, &slot, &column])
}

/// A finding of a hobt's verifier.
pub(super) fn row_finding(database: &Database, owner: &Owner, f: &RowFinding) -> CheckFinding {
    match f {
        RowFinding::Page(f) => page_finding(owner, f),
        RowFinding::Record(page, slot, fault) => {
            let rest: [&dyn Display; 5] = [page, slot, &fault.test, &fault.found, &fault.wanted];
            about(owner, *page, m::CHECKDB_RECORD, &rest)
        }
        RowFinding::Unreachable(page) => about(owner, *page, m::CHECKDB_NOT_SEEN, &[page]),
        RowFinding::NotAllocated(page) => pfs(owner.object, *page, 0, 0x40),
        RowFinding::NotInIam(page) => {
            let (id, sgam, map) = (database.id, sgam_page(*page), pfs_page(*page));
            let args: [&dyn Display; 5] = [page, &id, &sgam, &map, &"ALLOCATED"];
            let error = SqlError::new(m::CHECKDB_NOT_IN_IAM, &args);
            CheckFinding { object: owner.object, page: *page, error, row: None }
        }
        RowFinding::ValueMissing(page, slot, value) => {
            about(owner, *page, m::CHECKDB_OFF_ROW, &[value, page, slot])
        }
        RowFinding::ValueUnreferenced(page, slot, value) => {
            about(owner, *page, m::CHECKDB_OFF_ROW_LOST, &[page, slot, value])
        }
        RowFinding::ValueBroken(page, slot, value) => {
            about(owner, *page, m::CHECKDB_OFF_ROW_NODE, &[page, slot, value])
        }
        RowFinding::NoForwarded(page, slot, to) => {
            let args: [&dyn Display; 5] = [&owner.object, page, slot, &to.0, &to.1];
            let error = SqlError::new(m::CHECKDB_NO_FORWARDED, &args);
            CheckFinding { object: owner.object, page: *page, error, row: None }
        }
        RowFinding::NoStub(page, slot, home) => {
            let args: [&dyn Display; 5] = [&owner.object, page, slot, &home.0, &home.1];
            let error = SqlError::new(m::CHECKDB_NO_FORWARDING, &args);
            CheckFinding { object: owner.object, page: *page, error, row: None }
        }
    }
}

/// The name of something that a map marks beyond the end of the file.
fn of_map(map: PageId) -> String {
    format!("Allocation page {map}, extent")
}

fn pfs(object: ObjectId, page: PageId, found: u8, expected: u8) -> CheckFinding {
    let map = pfs_page(page);
    let (found, expected) = (format!("{found:#x}"), format!("{expected:#x}"));
    let error = SqlError::new(m::CHECKDB_PFS, &[&page, &map, &found, &expected]);
    CheckFinding { object, page, error, row: None }
}

fn page_finding(owner: &Owner, f: &page::Finding) -> CheckFinding {
    let (page, slot, (found, expected)) = (f.page, f.slot, f.values);
    let (other, other_slot) = (f.other, f.other_slot);
    let tell = |message, rest: &[&dyn Display]| about(owner, page, message, rest);
    if let Some(damage) = &f.damage {
        return damage_of(owner, page, damage);
    }
    match f.fault {
        Fault::Unreadable => tell(m::CHECKDB_PAGE, &[&page, &f.text]),
        Fault::Unit => {
            // The message names the unit in the page header, in the list of the unit that leads to
            // the page.
            let named = Owner::unknown(AllocUnitId(found as u32));
            let told = about(&named, page, m::CHECKDB_OTHER_OWNER, &[&page]);
            CheckFinding { object: owner.object, ..told }
        }
        Fault::PageId => tell(m::CHECKDB_PAGE_ID, &[&page, &f.text]),
        Fault::Level => tell(m::CHECKDB_LEVEL, &[&page, &found, &expected, &other]),
        Fault::PageKind => tell(m::CHECKDB_PAGE_TYPE, &[&page, &found]),
        Fault::Header | Fault::Slots => tell(m::CHECKDB_TEST, &[&page, &f.text, &found, &expected]),
        Fault::NoRecord => tell(m::CHECKDB_SLOT, &[&page, &slot, &0]),
        Fault::Record | Fault::Key | Fault::Kind => {
            tell(m::CHECKDB_RECORD, &[&page, &slot, &f.text, &found, &expected])
        }
        Fault::Order => tell(m::CHECKDB_ORDER, &[&page, &other_slot, &slot]),
        Fault::Low => tell(m::CHECKDB_LOW_KEY, &[&page, &slot, &other, &other_slot]),
        Fault::High => tell(m::CHECKDB_HIGH_KEY, &[&page, &slot, &other, &other_slot]),
        Fault::Previous => tell(m::CHECKDB_PREVIOUS, &[&page, &other, &other_slot, &f.text]),
        Fault::Next => tell(m::CHECKDB_LINK, &[&f.text]),
        Fault::Last => tell(m::CHECKDB_NEXT, &[&page, &other]),
        Fault::Twice => tell(m::CHECKDB_TWO_PARENTS, &[&page, &other, &other_slot]),
        Fault::Child => tell(m::CHECKDB_CHILD, &[&page, &slot, &other]),
    }
}

fn damage_of(owner: &Owner, page: PageId, damage: &Damage) -> CheckFinding {
    let tell = |message, rest: &[&dyn Display]| about(owner, page, message, rest);
    match damage {
        Damage::SlotCount(n) => {
            tell(m::CHECKDB_TEST, &[&page, &"m_slotCnt fits the page", n, &4048])
        }
        Damage::Slot(slot) => tell(m::CHECKDB_SLOT, &[&page, slot, &"of it"]),
        Damage::Overlap(slot, before) => tell(m::CHECKDB_OVERLAP, &[&page, slot, before]),
        Damage::FreeCount { stored, computed } => {
            tell(m::CHECKDB_TEST, &[&page, &"m_freeCnt == freeCnt", stored, computed])
        }
        Damage::FreeData(at) => tell(m::CHECKDB_FREE_SPACE, &[&page, at]),
        Damage::GhostCount { stored, counted } => {
            tell(m::CHECKDB_GHOSTS, &[&page, stored, counted])
        }
        Damage::Header { field, stored, expected } => {
            tell(m::CHECKDB_TEST, &[&page, field, stored, expected])
        }
    }
}

/// Facts for messages about the maps.
struct Maps<'d> {
    database: &'d Database,
    owners: &'d BTreeMap<u32, Owner>,
}

impl Maps<'_> {
    fn owner(&self, unit: AllocUnitId) -> Owner {
        self.owners.get(&unit.0).cloned().unwrap_or_else(|| Owner::unknown(unit))
    }

    fn tell(
        &self,
        unit: AllocUnitId,
        page: PageId,
        message: Message,
        args: &[&dyn Display],
    ) -> CheckFinding {
        let (object, error) = (self.owner(unit).object, SqlError::new(message, args));
        CheckFinding { object, page, error, row: None }
    }

    fn extent(&self, unit: AllocUnitId, e: ExtentId, message: Message) -> CheckFinding {
        let (id, first) = (self.database.id, e.first_page());
        let (gam, sgam) = (gam_page(first), sgam_page(first));
        self.tell(unit, first, message, &[&first, &id, &gam, &sgam])
    }
}

/// A finding about the maps.
pub(super) fn map_finding(
    database: &Database,
    owners: &BTreeMap<u32, Owner>,
    f: &Finding,
) -> CheckFinding {
    let (maps, nobody) = (Maps { database, owners }, AllocUnitId(0));
    match f {
        Finding::OwnedTwice(e, _, unit) | Finding::OwnedButFree(e, unit) => {
            maps.extent(*unit, *e, m::CHECKDB_ALLOCATED_TWICE)
        }
        Finding::Mixed(e) => maps.extent(nobody, *e, m::CHECKDB_ALLOCATED_TWICE),
        Finding::Lost(e) => maps.extent(nobody, *e, m::CHECKDB_ALLOCATION),
        Finding::MixedButFree(e) => maps.extent(nobody, *e, m::CHECKDB_GAM_AND_SGAM),
        Finding::NotToGive(e, map) => {
            let first = e.first_page();
            maps.tell(nobody, first, m::PAGE_OUT_OF_RANGE, &[&of_map(*map), &first])
        }
        Finding::Pfs(page, found, expected) => pfs(ObjectId(0), *page, *found, *expected),
        Finding::NoChain(page, byte) => {
            let (id, flags) = (database.id, format!("{byte:#x}"));
            let (sgam, map) = (sgam_page(*page), pfs_page(*page));
            let args: [&dyn Display; 5] = [page, &id, &sgam, &map, &flags];
            maps.tell(nobody, *page, m::CHECKDB_NOT_IN_IAM, &args)
        }
        Finding::Stray(e, unit) => {
            let owner = maps.owner(*unit);
            about(&owner, e.first_page(), m::CHECKDB_EXTENT_RANGE, &[&e.first_page()])
        }
        Finding::Changed(e, map) => {
            let first = e.first_page();
            if *map == diff_page(first) {
                return about(&maps.owner(nobody), first, m::CHECKDB_CHANGED, &[&first]);
            }
            maps.tell(nobody, first, m::PAGE_OUT_OF_RANGE, &[&of_map(*map), &first])
        }
        Finding::Unreadable(page, unit, what) => {
            maps.tell(*unit, *page, m::CHECKDB_ALLOCATION_PAGE, &[page, what])
        }
        Finding::Header(page, unit, damage) => damage_of(&maps.owner(*unit), *page, damage),
        Finding::IntervalTwice(unit, a, b) => {
            about(&maps.owner(*unit), *b, m::CHECKDB_IAM_TWICE, &[a, b])
        }
        Finding::Chain(unit, page, found, expected) => {
            let rest: [&dyn Display; 3] = [page, found, expected];
            about(&maps.owner(*unit), *page, m::CHECKDB_IAM_SEQUENCE, &rest)
        }
    }
}
