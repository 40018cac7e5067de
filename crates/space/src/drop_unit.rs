//! Drops an allocation unit: all its extents become free, then its IAM pages.
//!
//! It is called after the commit that dropped the unit, or by the undo of the transaction that made
//! it. A unit that a crash leaves half dropped is dropped again (deferred drop), which frees the
//! rest. Each step is a change of its own over at most 32 extents.

use crate::allocate::SYSTEM_CHANGE_BYTES;
use crate::redo::{bits_payload, kinds};
use crate::space::Space;
use crate::{AllocUnit, SpaceError, gam_page, iam, pfs_page, sgam_page};
use base::{AllocUnitId, ExtentId, PageId};
use buffer::{Change, Undo};
use os::wait::Waiter;
use page::{ExtentBits, PageKind, Pfs};
use wal::{Group, LogReservation, TransactionChain};

const STEP_EXTENTS: usize = 8;

impl Space {
    /// Frees every page of a unit. No other thread reads or changes it any more.
    ///
    /// # Errors
    /// Damaged maps, a full log, the cancellation of `stop`. What was freed stays freed, and the
    /// caller can call again.
    pub fn drop_unit(&self, unit: &AllocUnit, stop: &Waiter) -> Result<(), SpaceError> {
        self.give_back(unit, Some(stop))
    }

    /// The same in the undo of the transaction that made the unit. It needs no new log space: that
    /// transaction holds the reserve for its undo.
    ///
    /// # Errors
    /// Damaged maps.
    pub fn undo_unit(&self, unit: &AllocUnit) -> Result<(), SpaceError> {
        self.give_back(unit, None)
    }

    /// Frees an extent of a unit whose pages are not needed, whatever its maps say of them. The
    /// caller makes sure that no thread requests pages of the unit meanwhile, and holds no latch.
    ///
    /// # Errors
    /// Damaged maps, a full log; the extent still belongs to the unit.
    pub fn return_extent(&self, unit: &AllocUnit, extent: ExtentId) -> Result<(), SpaceError> {
        {
            // First the hints: a thread that chooses a page by a hint takes it for the unit's own.
            let mut hints = unit.hints.lock();
            hints.extent = hints.extent.filter(|e| *e != extent);
            hints.free.retain(|page| page.extent() != extent);
        }
        debug_assert_ne!(unit.first_iam.extent(), extent, "IAM pages lie in mixed extents");
        self.free_together(unit, &[extent], true)
    }

    /// Log for one step, unless the caller holds it already.
    fn log_for_step(&self, reserves: bool, bytes: u64) -> Result<LogReservation, SpaceError> {
        let mut log = LogReservation::none(self.pages.log());
        if reserves {
            log.grow(SYSTEM_CHANGE_BYTES + bytes)?;
            assert!(log.bytes() >= SYSTEM_CHANGE_BYTES + bytes, "what was asked for is held");
        }
        Ok(log)
    }

    fn give_back(&self, unit: &AllocUnit, stop: Option<&Waiter>) -> Result<(), SpaceError> {
        let reserves = stop.is_some();
        loop {
            let mut extents = Vec::new();
            self.each_extent(unit, &mut |_, e| {
                extents.push(e);
                Ok(())
            })?;
            if extents.is_empty() {
                break;
            }
            for step in extents.chunks(STEP_EXTENTS) {
                stop.map_or(Ok(()), Waiter::check)?;
                self.free_extents(unit, step, reserves)?;
            }
        }
        self.drop_chain(unit, reserves)
    }

    /// Frees extents that lie in one IAM, one GAM and one PFS interval each step.
    fn free_extents(
        &self,
        unit: &AllocUnit,
        extents: &[ExtentId],
        reserves: bool,
    ) -> Result<(), SpaceError> {
        let mut rest = extents;
        while let Some(first) = rest.first() {
            let maps = |e: &ExtentId| (gam_page(e.first_page()), pfs_page(e.first_page()));
            let n = rest.iter().take_while(|e| maps(e) == maps(first)).count();
            let (now, later) = rest.split_at(n);
            assert!(n > 0, "each step frees something");
            debug_assert!(now.len() <= STEP_EXTENTS, "a step has a bound");
            self.free_together(unit, now, reserves)?;
            rest = later;
        }
        Ok(())
    }

    fn free_together(
        &self,
        unit: &AllocUnit,
        extents: &[ExtentId],
        reserves: bool,
    ) -> Result<(), SpaceError> {
        let first = extents[0].first_page();
        debug_assert!(
            extents.iter().all(|e| gam_page(e.first_page()) == gam_page(first)),
            "one GAM"
        );
        debug_assert!(
            extents.iter().all(|e| pfs_page(e.first_page()) == pfs_page(first)),
            "one PFS"
        );
        let iam_id = self.iam_covering(unit, extents[0])?;
        let _log = self.log_for_step(reserves, extents.len() as u64 * 500)?;
        let mut group = Group::new();
        let mut change = Change::new(&self.pages, &mut group);
        let iam = change.add(self.pages.write(iam_id)?);
        let gam = change.add(self.pages.write(gam_page(first))?);
        let pfs = change.add(self.pages.write(pfs_page(first))?);
        self.check_kind(&change, gam, PageKind::Gam)?;
        self.check_kind(&change, pfs, PageKind::Pfs)?;
        let no_unit = AllocUnitId(0);
        let mut freed = false;
        for e in extents
            .iter()
            .filter(|e| ExtentBits::get(change.view(iam), e.extent))
            .copied()
            .collect::<Vec<_>>()
        {
            freed = true;
            let off = bits_payload(e.extent, 1, false);
            change.apply(iam, unit.id, kinds::SET_BITS, 0, &[&off], Undo::Never);
            let on = bits_payload(e.extent, 1, true);
            change.apply(gam, no_unit, kinds::SET_BITS, 0, &[&on], Undo::Never);
            debug_assert!(
                !ExtentBits::get(change.view(iam), e.extent),
                "rule 3: no longer the unit's"
            );
            debug_assert!(ExtentBits::get(change.view(gam), e.extent), "rule 3: and free");
            for n in 0..8 {
                let page = PageId { file: e.file, page: e.first_page().page + n };
                if Pfs::get(change.view(pfs), page.page).is_allocated() {
                    self.set_pfs(&mut change, pfs, page, Pfs(0));
                }
            }
        }
        if freed {
            change.finish(&mut TransactionChain::default());
        }
        extents.iter().for_each(|e| self.forget_full(*e));
        Ok(())
    }

    /// Frees the IAM pages, the head last: while it is there, the unit can be dropped again.
    fn drop_chain(&self, unit: &AllocUnit, reserves: bool) -> Result<(), SpaceError> {
        loop {
            let mut chain = Vec::new();
            let mut at = unit.first_iam;
            while !at.is_none() {
                let next = self.iam(unit, at, chain.len())?.view().next_page();
                chain.push(at);
                at = next;
            }
            debug_assert!(chain.first().is_none_or(|head| *head == unit.first_iam), "head first");
            let last = chain.pop().unwrap_or(unit.first_iam);
            self.free_mixed(unit, last, chain.last().copied(), reserves)?;
            assert!(last != unit.first_iam || chain.is_empty(), "rule 7: the head goes last");
            if chain.is_empty() {
                return Ok(());
            }
        }
    }

    fn free_mixed(
        &self,
        unit: &AllocUnit,
        page: PageId,
        before: Option<PageId>,
        reserves: bool,
    ) -> Result<(), SpaceError> {
        assert!(before.is_some() || page == unit.first_iam, "rule 7: only the head is first");
        debug_assert_ne!(before, Some(page), "a chain is no ring");
        let _log = self.log_for_step(reserves, 0)?;
        let mut group = Group::new();
        let mut change = Change::new(&self.pages, &mut group);
        let before = match before {
            Some(before) => Some(change.add(self.pages.write(before)?)),
            None => None,
        };
        let sgam = change.add(self.pages.write(sgam_page(page))?);
        self.check_kind(&change, sgam, PageKind::Sgam)?;
        let pfs = change.add(self.pages.write(pfs_page(page))?);
        self.check_pfs(&change, pfs, page, true)?;
        if let Some(before) = before {
            let none = [0; 6];
            change.apply(before, unit.id, kinds::LINK_IAM, 0, &[&none], Undo::Never);
            debug_assert!(change.view(before).next_page().is_none(), "the chain ends before it");
        }
        self.set_pfs(&mut change, pfs, page, Pfs(0));
        let on = bits_payload(page.extent().extent, 1, true);
        change.apply(sgam, AllocUnitId(0), kinds::SET_BITS, 0, &[&on], Undo::Never);
        debug_assert!(!Pfs::get(change.view(pfs), page.page).is_allocated(), "rule 3");
        debug_assert!(
            ExtentBits::get(change.view(sgam), page.extent().extent),
            "there is room now"
        );
        change.finish(&mut TransactionChain::default());
        Ok(())
    }

    /// Whether a unit with that head is still there: what a deferred drop asks first.
    ///
    /// # Errors
    /// Damaged maps.
    pub fn unit_exists(&self, unit: &AllocUnit) -> Result<bool, SpaceError> {
        let pfs = self.map(pfs_page(unit.first_iam), PageKind::Pfs)?;
        let byte = Pfs::get(pfs.view(), unit.first_iam.page);
        drop(pfs);
        if !byte.is_allocated() || byte.0 & Pfs::IAM == 0 {
            return Ok(false);
        }
        let head = self.map(unit.first_iam, PageKind::Iam)?;
        Ok(head.view().alloc_unit() == unit.id && iam::sequence(head.view()) == 0)
    }
}
