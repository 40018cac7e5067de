//! The figures of sys.dm_db_index_physical_stats. One pass reads each level, or only the levels
//! above the leaves, which tell the number and the places of the leaves.
//!
//! ```text
//! mode       B-tree                                    heap
//! Limited    pages above the leaves; their entries     its maps
//!            are the leaves in key order
//! Detailed   every page                                every page
//! ```
//!
//! avg_page_space_used_in_percent is 100 x the mean over pages of (8094 - free bytes) / 8094, a
//! page without records counting 0; it and the record sizes include ghosts, record_count does not.
//!
//! Invariants
//!  1. While no thread changes the hobt, both modes find the same pages in the same order.
//!  2. A cancellation is checked at each page. It ends the pass, and then there is no result.

use crate::error::RowResult;
use crate::figures::page_order::PageOrder;
use crate::hobt::RowHobt;
use crate::versions::in_row::in_row_bytes;
use access::{Contents, LevelStats, ScanMode};
use base::PageId;
use buffer::ReadAhead;
use os::wait::Waiter;
use page::{PageView, RecordKind};
use work::Engine;

/// How often the walk begins again at the root of a tree that changes meanwhile.
const ATTEMPTS_MAX: u32 = 100;

/// A level that is being read.
#[derive(Default)]
struct LevelPass {
    /// The space in use is a sum until every page was seen.
    stats: LevelStats,
    order: PageOrder,
}

impl LevelPass {
    /// Counts a page that is not read.
    fn place(&mut self, id: PageId) {
        let stats = &mut self.stats;
        stats.pages += 1;
        stats.fragments += u64::from(!self.order.add(id));
        debug_assert!(stats.fragments <= stats.pages, "a fragment has a page");
    }

    fn add(&mut self, walk: &Walk<'_>, view: PageView<'_>) -> RowResult<()> {
        self.place(view.page_id());
        walk.add_contents(self.stats.contents.get_or_insert_default(), view)
    }

    /// The figures of the level, after all its pages were read.
    fn end(self, heap: bool) -> LevelStats {
        let LevelPass { stats: mut level, order } = self;
        level.out_of_order =
            if heap { level.fragments.saturating_sub(1) } else { order.out_of_order() };
        let pages = level.pages.max(1) as f64;
        if let Some(contents) = &mut level.contents {
            contents.space_used_percent /= pages;
            let percent = contents.space_used_percent;
            assert!((0.0..=100.5).contains(&percent), "a page is full at most: {percent}");
        }
        level
    }
}

/// A walk over the levels of a hobt, which a cancellation can end.
struct Walk<'h> {
    hobt: &'h RowHobt,
    mode: ScanMode,
    engine: &'h Engine,
    waiter: &'h Waiter,
}

/// A level of a tree, and the level below it.
struct Level {
    reading: LevelPass,
    /// Its leftmost child; none below a leaf.
    below: Option<PageId>,
    /// The leaves that are not read, as the level above them tells them.
    leaves: Option<LevelPass>,
}

impl RowHobt {
    /// The levels, the root's last. Only one page is latched at a time. So each page is read in a
    /// consistent state, but not the tree as a whole.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    pub(crate) fn physical_stats(
        &self,
        mode: ScanMode,
        engine: &Engine,
        waiter: &Waiter,
    ) -> base::SqlResult<Vec<LevelStats>> {
        let walk = Walk { hobt: self, mode, engine, waiter };
        let levels = walk.levels().map_err(|e| self.sql(e))?;
        let heap = self.tree.is_none();
        Ok(levels.into_iter().map(|level| level.end(heap)).collect())
    }

    /// The number of pages above the leaves. It reads no leaf.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    pub(crate) fn pages_above_leaves(
        &self,
        engine: &Engine,
        waiter: &Waiter,
    ) -> base::SqlResult<u64> {
        if self.tree.is_none() {
            return Ok(0);
        }
        let levels = self.physical_stats(ScanMode::Limited, engine, waiter)?;
        Ok(levels.iter().filter(|l| l.level > 0).map(|l| l.pages).sum())
    }
}

impl Walk<'_> {
    /// Adds the contents of a page.
    fn add_contents(&self, to: &mut Contents, view: PageView<'_>) -> RowResult<()> {
        let used = 8094_i64 - i64::from(view.free_count());
        to.space_used_percent += 100.0 * used.max(0) as f64 / 8094.0;
        for slot in 0..view.slot_count() {
            let Some(record) = view.record(slot) else { continue };
            let n = record.len() as u64;
            let leaf = view.level() == 0;
            let ghost = leaf && page::is_ghost_record(record);
            let place = (view.page_id(), slot);
            to.records += u64::from(!ghost);
            to.forwarded += u64::from(RecordKind::of(record[0]) == RecordKind::Forwarded);
            let former = leaf && self.hobt.has_former(record, place)?;
            to.versions += u64::from(former);
            let in_row = if leaf { in_row_bytes(record) as u64 } else { 0 };
            to.in_row += u64::from(in_row > 0);
            to.in_row_bytes += in_row;
            to.off_row += if former { self.hobt.stored_in_own(record, place)? } else { 0 };
            let removable = ghost && self.hobt.ghost_need(self.engine, record, place)?.is_some();
            to.ghosts += u64::from(removable);
            to.version_ghosts += u64::from(ghost && !removable);
            to.record_bytes += n;
            to.min_record_bytes = if to.all_records == 0 { n } else { to.min_record_bytes.min(n) };
            to.max_record_bytes = to.max_record_bytes.max(n);
            to.all_records += 1;
        }
        let ghosts = to.ghosts + to.version_ghosts;
        debug_assert_eq!(to.records + ghosts, to.all_records, "a record is either");
        debug_assert!(to.min_record_bytes <= to.max_record_bytes, "the shortest, the longest");
        debug_assert!(to.max_record_bytes <= to.record_bytes, "one of them");
        Ok(())
    }

    fn levels(&self) -> RowResult<Vec<LevelPass>> {
        if self.hobt.tree.is_none() {
            return self.heap();
        }
        let mut attempts = 1;
        loop {
            match self.tree()? {
                // A page was freed meanwhile: the walk begins again at the root.
                (_, false) if attempts < ATTEMPTS_MAX => attempts += 1,
                (levels, _) => return Ok(levels),
            }
        }
    }

    fn heap(&self) -> RowResult<Vec<LevelPass>> {
        let (home, spec) = (&self.hobt.home, &self.hobt.spec);
        let contents = (self.mode == ScanMode::Detailed).then(Contents::default);
        let stats = LevelStats { contents, ..LevelStats::default() };
        let mut reading = LevelPass { stats, ..LevelPass::default() };
        let mut previous = None;
        let mut ahead = ReadAhead::whole();
        for id in home.space.unit_pages(&self.hobt.unit, self.waiter)?.pages {
            self.waiter.check()?;
            if self.mode == ScanMode::Limited {
                reading.place(id);
                previous = Some(id);
                continue;
            }
            ahead.step(&home.pages, previous.unwrap_or(PageId::NONE), id);
            let guard = home.pages.read(id)?;
            if guard.view().alloc_unit() == spec.unit {
                reading.add(self, guard.view())?;
                previous = Some(id);
            }
        }
        Ok(vec![reading])
    }

    /// The levels, and whether every link led to a page of the tree.
    fn tree(&self) -> RowResult<(Vec<LevelPass>, bool)> {
        let mut first = self.hobt.tree().root();
        let mut levels: Vec<LevelPass> = Vec::new();
        let whole = loop {
            let above = levels.last().map(|l| l.stats.level);
            let Some(level) = self.level(first, above)? else { break false };
            levels.push(level.reading);
            match (level.leaves, level.below) {
                (Some(leaves), _) => {
                    levels.push(leaves);
                    break true;
                }
                (None, Some(child)) => first = child,
                (None, None) => break true,
            }
        };
        levels.reverse();
        let below = |l: &[LevelPass]| l[0].stats.level + 1 == l[1].stats.level;
        debug_assert!(levels.windows(2).all(below), "level by level");
        debug_assert!(!whole || levels[0].stats.level == 0, "down to the leaves");
        Ok((levels, whole))
    }

    /// One level from its leftmost page on; `None` when a link leads to a page that does not belong
    /// to the level.
    fn level(&self, first: PageId, above: Option<u8>) -> RowResult<Option<Level>> {
        let mut found = Level { reading: LevelPass::default(), below: None, leaves: None };
        let mut ahead = ReadAhead::new();
        let (mut at, mut previous) = (first, None);
        while !at.is_none() {
            self.waiter.check()?;
            let guard = self.hobt.home.pages.read(at)?;
            let view = guard.view();
            let level = match previous {
                None => above.map_or(view.level(), |above| above.wrapping_sub(1)),
                Some(_) => found.reading.stats.level,
            };
            let follows = previous.is_none_or(|p| view.prev_page() == p);
            if view.alloc_unit() != self.hobt.spec.unit || view.level() != level || !follows {
                return Ok(None);
            }
            found.reading.stats.level = level;
            self.page(view, previous, &mut found)?;
            previous = Some(at);
            let next = view.next_page();
            drop(guard);
            ahead.step(&self.hobt.home.pages, at, next);
            at = next;
        }
        Ok(Some(found))
    }

    /// Adds a page of a level, and the leaves below it if they are not read.
    fn page(
        &self,
        view: PageView<'_>,
        previous: Option<PageId>,
        found: &mut Level,
    ) -> RowResult<()> {
        let limited = self.mode == ScanMode::Limited;
        if limited {
            found.reading.place(view.page_id());
        } else {
            found.reading.add(self, view)?;
        }
        let lists_leaves = limited && view.level() == 1;
        if view.level() == 0 || (previous.is_some() && !lists_leaves) {
            return Ok(());
        }
        let children = self.hobt.tree().children(view)?;
        if previous.is_none() {
            found.below = children.first().copied();
        }
        if lists_leaves {
            let leaves = found.leaves.get_or_insert_default();
            for child in children {
                leaves.place(child);
            }
        }
        Ok(())
    }
}
