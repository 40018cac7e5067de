//! Looking at all that is kept: for views, and for CHECKDB.
//!
//! A page is copied, or looked at, under its latch. What is told of a page is true of one moment;
//! of two pages, of two.

use super::{DatabaseStore, is_store_page, redo};
use crate::error::VersionError;
use crate::format::UNIT;
use crate::page_copy::PageCopy;
use base::{Lsn, PageId};
use buffer::Pages;
use os::wait::{CancelReason, Waiter};
use page::{Fault, Finding, PageKind, PageView, StoreKind};
use space::{AllocUnit, Space};
use std::collections::BTreeSet;

impl DatabaseStore {
    /// All its pages, those without versions among them.
    ///
    /// # Errors
    /// Damaged maps.
    pub fn pages(&self) -> Result<Vec<PageId>, VersionError> {
        self.unit()?;
        Ok(self.roster.lock().pages(0, usize::MAX).collect())
    }

    /// Copies a page. False when it is the store's no more.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn copy_page(&self, page: PageId, into: &mut PageCopy) -> Result<bool, VersionError> {
        match self.read_own(page)? {
            Some(guard) if is_store_page(guard.view()) => {
                into.put(StoreKind::Own, page, guard.view());
                into.of_database(self.space.pages().database());
                Ok(true)
            }
            Some(_) | None => Ok(false),
        }
    }
}

/// Checks the pages of a store whose IAM chain begins there: how many there are, and what is wrong
/// with them. The check of the maps tells what is wrong with the chain. Writers may go on: a page
/// that looks damaged counts only where the maps say a second time that it is the store's.
///
/// # Errors
/// The waiter's cancellation.
pub fn verify_store(
    space: &Space,
    first_iam: PageId,
    waiter: &Waiter,
) -> Result<(u64, Vec<Finding>), CancelReason> {
    let unit = AllocUnit::open(UNIT, first_iam);
    let pages = space.survey(&unit, waiter)?.found.pages;
    let mut wrong = Vec::new();
    for page in &pages {
        waiter.check()?;
        if !page_findings(space.pages(), *page).is_empty() {
            wrong.push(*page);
        }
    }
    let mut findings = Vec::new();
    if !wrong.is_empty() {
        let still: BTreeSet<PageId> =
            space.survey(&unit, waiter)?.found.pages.into_iter().collect();
        wrong.retain(|page| still.contains(page));
        findings.extend(wrong.iter().flat_map(|page| page_findings(space.pages(), *page)));
    }
    Ok((pages.len() as u64, findings))
}

fn page_findings(pages: &Pages, id: PageId) -> Vec<Finding> {
    let guard = match pages.read(id) {
        Ok(guard) => guard,
        Err(e) => return vec![Finding::new(id, Fault::Unreadable, e.to_string())],
    };
    let v = guard.view();
    if let Some(finding) = header_finding(id, v) {
        return vec![finding];
    }
    let damages = page::header_damages(v.0).into_iter().chain(page::damages(v.0));
    let mut found: Vec<Finding> = damages.map(|damage| Finding::damage(id, damage)).collect();
    if v.lsn() == Lsn::ZERO || v.lsn() >= pages.log().next_lsn() {
        let (field, stored) = ("m_lsn", v.lsn().vlf());
        found.push(Finding::damage(id, page::Damage::Header { field, stored, expected: 0 }));
    }
    for slot in (0..v.slot_count()).filter(|slot| v.slot_offset(*slot) != Some(0)) {
        if let (Some(record), None) = (v.record(slot), redo::version_of(v, slot)) {
            let text = "the record is a version";
            found.push(Finding::new(id, Fault::Kind, text).at(slot).of(record[0].into(), 0));
        }
    }
    found
}

/// Why a page is not one of the store.
fn header_finding(id: PageId, v: PageView<'_>) -> Option<Finding> {
    if v.page_id() != id {
        let text = format!("it says that it is {}", v.page_id());
        return Some(Finding::new(id, Fault::PageId, text));
    }
    if v.alloc_unit() != UNIT {
        let finding = Finding::new(id, Fault::Unit, "the page belongs to another unit");
        return Some(finding.of(v.alloc_unit().0.into(), UNIT.0.into()));
    }
    if v.kind() != Some(PageKind::Data) {
        let finding = Finding::new(id, Fault::PageKind, "the page has no versions");
        return Some(finding.of(v.kind_byte().into(), PageKind::Data as i64));
    }
    if v.level() != 0 {
        let finding = Finding::new(id, Fault::Level, "a store has one level");
        return Some(finding.of(v.level().into(), 0));
    }
    let what = page::fits::header(v).err()?;
    Some(Finding::new(id, Fault::Header, what))
}
