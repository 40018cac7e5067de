//! File growth: longer file first, durably, then the maps that cover it, as one group.

use crate::format::{SIZE_AT, facts_of};
use crate::map::{INTERVAL_PAGES, is_system_extent};
use crate::redo::{bits_payload, format_payload, kinds, pfs_payload};
use crate::space::Space;
use crate::{SpaceError, diff_page, gam_page, ml_page, pfs_page, sgam_page};
use base::limits::PAGE_BYTES;
use base::{AllocUnitId, FileId, PageId};
use buffer::{Change, PageRef, Undo};
use page::{ExtentBits, PFS_INTERVAL, PageKind, Pfs};
use wal::{Group, LogReservation, TransactionChain};

/// How a data file grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GrowthOptions {
    /// Pages at a time; 0 = never.
    pub pages: u32,
    /// By how much of its size at a time; 0 = by pages.
    pub percent: u32,
    /// The largest it may become.
    pub max_pages: u32,
}

/// Pages of a gigabyte, and what their addresses take with what is known of each.
const GIGABYTE_PAGES: u32 = 1 << 17;
const GIGABYTE_BYTES: usize = (1 << 30) + (1 << 22);

impl Default for GrowthOptions {
    fn default() -> Self {
        GrowthOptions { pages: 8192, percent: 0, max_pages: u32::MAX / 8 * 8 }
    }
}

impl GrowthOptions {
    /// By how many pages a file of that size grows; whole extents.
    fn increment(&self, size_pages: u32) -> u32 {
        let pages = match self.percent {
            0 => self.pages.into(),
            percent => (u64::from(size_pages) * u64::from(percent)).div_ceil(100),
        };
        u32::try_from(pages.next_multiple_of(8)).unwrap_or(u32::MAX / 8 * 8)
    }
}

const NO_UNIT: AllocUnitId = AllocUnitId(0);
/// Pages that one growth group may cover: at most one new page of each map.
const STEP_PAGES: u32 = 4096;

impl Space {
    /// Makes some file longer.
    ///
    /// # Errors
    /// [`SpaceError::Full`] when none may or can grow.
    pub(crate) fn grow(&self) -> Result<(), SpaceError> {
        let before: u64 = self.total_pages();
        let _one = self.growing.lock();
        if self.total_pages() > before {
            return Ok(());
        }
        debug_assert_eq!(self.total_pages(), before, "a file is never shorter");
        let files: Vec<u16> = self.files.read().keys().copied().collect();
        for id in files {
            if self.grow_file(FileId(id))? {
                assert!(self.total_pages() > before, "a file that has grown is longer");
                return Ok(());
            }
        }
        Err(SpaceError::Full)
    }

    fn total_pages(&self) -> u64 {
        self.files.read().values().map(|f| u64::from(f.size_pages)).sum()
    }

    fn grow_file(&self, id: FileId) -> Result<bool, SpaceError> {
        let Some(facts) = self.files.read().get(&id.0).copied() else { return Ok(false) };
        let from = facts.size_pages;
        let wanted = facts.growth.increment(from);
        let to = from.saturating_add(wanted).min(facts.growth.max_pages / 8 * 8);
        if to <= from {
            return Ok(false);
        }
        match self.lengthen(id, from, to) {
            Ok(()) => Ok(true),
            Err(SpaceError::Disk(_)) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Makes a file as long as that, whatever its limit says, unless it is longer.
    ///
    /// # Errors
    /// [`SpaceError::Disk`], the file is as it was; what the maps cost, it has some of it then.
    pub fn resize(&self, id: FileId, pages: u32) -> Result<(), SpaceError> {
        let _one = self.growing.lock();
        let to = pages.checked_next_multiple_of(8).ok_or(SpaceError::Full)?;
        match self.size_pages(id) {
            Some(from) if from < to => self.lengthen(id, from, to),
            _ => Ok(()),
        }
    }

    /// Says how a file grows from now on, and how far.
    ///
    /// # Errors
    /// Its size, when it is larger than that already; nothing is changed then.
    pub fn limit_growth(&self, id: FileId, growth: GrowthOptions) -> Result<(), u32> {
        let _one = self.growing.lock();
        match self.size_pages(id) {
            Some(size) if size > growth.max_pages => Err(size),
            _ => {
                self.set_growth(id, growth);
                Ok(())
            }
        }
    }

    /// Longer file first, durably, then the maps. One grows at a time.
    fn lengthen(&self, id: FileId, from: u32, to: u32) -> Result<(), SpaceError> {
        assert!(from < to && to.is_multiple_of(8), "by whole extents");
        let file = self.pages.file(id).expect("a file of the space is attached");
        // Pages have addresses as long as the file is: a gigabyte of them at a time.
        let gigabytes = |pages: u32| pages.div_ceil(GIGABYTE_PAGES) as usize;
        let more = gigabytes(to) - gigabytes(from);
        if more > 0 && !os::heap::has_addresses(more * GIGABYTE_BYTES) {
            return Err(SpaceError::Disk(std::io::ErrorKind::OutOfMemory.into()));
        }
        file.set_len(u64::from(to) * PAGE_BYTES as u64).map_err(SpaceError::Disk)?;
        if let Err(e) = file.sync() {
            os::stop::process(&format!("sync of a grown data file failed: {e}"));
        }
        let mut at = from;
        while at < to {
            let end = at.saturating_add(STEP_PAGES).min(to);
            let next_interval = (at / INTERVAL_PAGES + 1).saturating_mul(INTERVAL_PAGES);
            let end = end.min(next_interval);
            assert!(at < end && end <= to, "rule 5: only what is durable is covered");
            self.cover_pages(id, at, end)?;
            if let Some(f) = self.files.write().get_mut(&id.0) {
                debug_assert_eq!(f.size_pages, at, "one grows at a time");
                f.size_pages = end;
                f.freed += 1;
                f.first_maybe_free = f.first_maybe_free.min(at / 8);
            }
            at = end;
        }
        debug_assert_eq!(self.size_pages(id), Some(to), "the maps cover the whole file");
        Ok(())
    }

    /// Makes the maps cover pages `from..to`, which lie within one GAM interval.
    fn cover_pages(&self, file: FileId, from: u32, to: u32) -> Result<(), SpaceError> {
        assert!(from < to && to - from <= STEP_PAGES, "a step has a bound");
        assert_eq!(from / INTERVAL_PAGES, (to - 1) / INTERVAL_PAGES, "within one GAM interval");
        let mut log = LogReservation::none(self.pages.log());
        log.patiently(None, |own| own.grow(4096))?;
        let mut group = Group::new();
        let mut change = Change::new(&self.pages, &mut group);
        let page = |page| PageId { file, page };
        let header = change.add(self.pages.write(page(0))?);
        self.check_kind(&change, header, PageKind::FileHeader)?;
        let fresh_interval = from > 0 && from.is_multiple_of(INTERVAL_PAGES);
        let gam = self.map_page(&mut change, gam_page(page(from)), fresh_interval)?;
        if !fresh_interval {
            self.check_kind(&change, gam, PageKind::Gam)?;
        }
        let mut maps = Vec::new();
        if fresh_interval {
            for (id, kind) in [
                (sgam_page(page(from)), PageKind::Sgam),
                (diff_page(page(from)), PageKind::DiffMap),
                (ml_page(page(from)), PageKind::BulkMap),
            ] {
                maps.push((change.add(self.pages.write_new(id)?), kind));
            }
        }
        let new_pfs = from.next_multiple_of(PFS_INTERVAL);
        let new_pfs = (from > 0 && new_pfs < to).then_some(page(new_pfs));
        let old_pfs = pfs_page(page(from));
        let old_pfs = match Some(old_pfs) == new_pfs {
            true => None,
            false => Some(change.add(self.pages.write(old_pfs)?)),
        };
        if let Some(pfs) = old_pfs {
            self.check_kind(&change, pfs, PageKind::Pfs)?;
        }
        let new_pfs = match new_pfs {
            Some(id) => Some(change.add(self.pages.write_new(id)?)),
            None => None,
        };
        if fresh_interval {
            let payload = format_payload(PageKind::Gam, false);
            change.apply(gam, NO_UNIT, kinds::FORMAT, 0, &[&payload], Undo::Never);
        }
        for (map, kind) in maps {
            let payload = format_payload(kind, kind == PageKind::DiffMap);
            change.apply(map, NO_UNIT, kinds::FORMAT, 0, &[&payload], Undo::Never);
        }
        if let Some(pfs) = new_pfs {
            let payload = format_payload(PageKind::Pfs, false);
            change.apply(pfs, NO_UNIT, kinds::FORMAT, 0, &[&payload], Undo::Never);
        }
        self.free_range(&mut change, gam, from / 8, to / 8);
        self.take_system_extents(&mut change, file, from / 8..to / 8, [old_pfs, new_pfs]);
        let mut size = [0; 6];
        size[..2].copy_from_slice(&(SIZE_AT as u16).to_le_bytes());
        size[2..].copy_from_slice(&to.to_le_bytes());
        change.apply(header, NO_UNIT, kinds::SET_FACTS, 0, &[&size], Undo::Never);
        assert_eq!(facts_of(change.view(header)).size_pages, to);
        change.finish(&mut TransactionChain::default());
        Ok(())
    }

    fn map_page<'a>(
        &'a self,
        change: &mut Change<'a>,
        id: PageId,
        fresh: bool,
    ) -> Result<PageRef, SpaceError> {
        debug_assert!(change.find(id).is_none(), "nobody waits for his own latch");
        let guard = if fresh { self.pages.write_new(id)? } else { self.pages.write(id)? };
        Ok(change.add(guard))
    }

    /// Marks extents free, but those that hold maps.
    fn free_range(&self, change: &mut Change<'_>, gam: PageRef, from: u32, to: u32) {
        debug_assert!(from <= to, "a range of extents");
        let mut at = from;
        while at < to {
            let n = (at..to).take_while(|&e| !is_system_extent(e)).count() as u32;
            if n > 0 {
                let payload = bits_payload(at, n, true);
                change.apply(gam, NO_UNIT, kinds::SET_BITS, 0, &[&payload], Undo::Never);
                debug_assert!(ExtentBits::get(change.view(gam), at + n - 1), "free to the last");
            }
            at += n + 1;
        }
    }

    /// Pages of extents that hold maps are allocated, for good.
    fn take_system_extents(
        &self,
        change: &mut Change<'_>,
        file: FileId,
        extents: std::ops::Range<u32>,
        pfs: [Option<PageRef>; 2],
    ) {
        for e in extents.filter(|&e| is_system_extent(e)) {
            for n in e * 8..e * 8 + 8 {
                let covering = pfs_page(PageId { file, page: n });
                let on = pfs.iter().flatten().find(|&&p| change.id(p) == covering).copied();
                let on = on.expect("the PFS page of every new page is in the change");
                let payload = pfs_payload(n, Pfs(0), Pfs(Pfs::ALLOCATED));
                change.apply(on, NO_UNIT, kinds::SET_PFS, 0, &[&payload], Undo::Never);
                debug_assert!(Pfs::get(change.view(on), n).is_allocated(), "for good");
            }
        }
    }
}
