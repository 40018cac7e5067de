//! What sys.dm_db_index_physical_stats shows: one reading of each level.
//!
//! avg_page_space_used_in_percent is 100 x the mean over pages of
//! (8094 - free bytes) / 8094, a page without records counting 0; it and the record sizes
//! include ghosts, record_count does not.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use base::PageId;
use page::{PageView, RecordKind};

/// How much is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanMode {
    /// The level above the leaves (or the maps of a heap): no record figures.
    Limited,
    /// Every page.
    Detailed,
}

/// One level.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelStats {
    /// 0 is the leaf.
    pub level: u8,
    /// Pages.
    pub pages: u64,
    /// Runs of physically consecutive pages.
    pub fragments: u64,
    /// Pages whose successor is not the next page of the file.
    pub out_of_order: u64,
    /// Mean over pages of the space in use, in percent.
    pub space_used_percent: f64,
    /// Records that are not ghosts.
    pub records: u64,
    /// Ghosts that may be removed now.
    pub ghosts: u64,
    /// Bytes of all records, ghosts included.
    pub record_bytes: u64,
    /// Records, ghosts included.
    pub all_records: u64,
    /// The shortest record.
    pub min_record_bytes: u64,
    /// The longest record.
    pub max_record_bytes: u64,
}

/// How often a tree that changes meanwhile is read from its root.
const ATTEMPTS_MAX: u32 = 100;

impl LevelStats {
    fn add(&mut self, view: PageView<'_>, previous: Option<PageId>) {
        self.pages += 1;
        let follows = previous
            .is_some_and(|p| p.file == view.page_id().file && p.page + 1 == view.page_id().page);
        if !follows {
            self.fragments += 1;
            self.out_of_order += u64::from(previous.is_some());
        }
        debug_assert_eq!(self.fragments, self.out_of_order + 1, "each but the first is one");
        debug_assert!(self.fragments <= self.pages, "a fragment has a page");
        let used = 8094_i64 - i64::from(view.free_count());
        self.space_used_percent += 100.0 * used.max(0) as f64 / 8094.0;
        for slot in 0..view.slot_count() {
            let Some(record) = view.record(slot) else { continue };
            let n = record.len() as u64;
            let ghost = view.level() == 0 && RecordKind::of(record[0]).is_ghost();
            self.records += u64::from(!ghost);
            self.ghosts += u64::from(ghost);
            self.record_bytes += n;
            self.min_record_bytes =
                if self.all_records == 0 { n } else { self.min_record_bytes.min(n) };
            self.max_record_bytes = self.max_record_bytes.max(n);
            self.all_records += 1;
        }
        debug_assert_eq!(self.records + self.ghosts, self.all_records, "a record is either");
        debug_assert!(self.min_record_bytes <= self.max_record_bytes, "the shortest, the longest");
        debug_assert!(self.max_record_bytes <= self.record_bytes, "one of them");
    }
}

impl RowHobt {
    /// Reads every level, the root's last. One page is latched at a time: each page is true at
    /// its moment, the whole is not.
    ///
    /// # Errors
    /// Pages that cannot be read.
    pub fn physical_stats(&self) -> base::SqlResult<Vec<LevelStats>> {
        let mut levels = if self.tree.is_some() {
            let mut attempts = 1;
            loop {
                match self.tree_stats().map_err(|e| self.sql(e))? {
                    (levels, true) => break levels,
                    // A page was given back under our feet: from the root once more.
                    (_, false) if attempts < ATTEMPTS_MAX => attempts += 1,
                    (levels, false) => break levels,
                }
            }
        } else {
            self.heap_stats().map_err(|e| self.sql(e))?
        };
        for l in &mut levels {
            l.space_used_percent /= l.pages.max(1) as f64;
        }
        let percent = |l: &LevelStats| (0.0..=100.5).contains(&l.space_used_percent);
        assert!(levels.iter().all(percent), "a page is full at most");
        Ok(levels)
    }

    fn heap_stats(&self) -> RowResult<Vec<LevelStats>> {
        let mut stats = LevelStats::default();
        let mut previous = None;
        for id in self.home.space.unit_pages(&self.unit)?.pages {
            let guard = self.home.pages.read(id)?;
            if guard.view().alloc_unit() == self.spec.unit {
                stats.add(guard.view(), previous);
                previous = Some(id);
            }
        }
        Ok(vec![stats])
    }

    /// By level; whether every page that a link led to was one of the tree's.
    fn tree_stats(&self) -> RowResult<(Vec<LevelStats>, bool)> {
        let tree = self.tree();
        let mut first = tree.root();
        let mut levels = Vec::new();
        loop {
            let above = levels.last().map(|l: &LevelStats| l.level);
            let Some((stats, below)) = self.level_stats(first, above)? else {
                levels.reverse();
                return Ok((levels, false));
            };
            let level = stats.level;
            levels.push(stats);
            match below {
                Some(child) if level > 0 => first = child,
                _ => break,
            }
        }
        levels.reverse();
        let below = |l: &[LevelStats]| l[0].level + 1 == l[1].level;
        debug_assert!(levels.windows(2).all(below), "level by level");
        Ok((levels, true))
    }

    /// One level from its leftmost page on, and the leftmost page below it; `None` when a link
    /// leads to a page that is no page of the level.
    fn level_stats(
        &self,
        first: PageId,
        above: Option<u8>,
    ) -> RowResult<Option<(LevelStats, Option<PageId>)>> {
        let mut stats = LevelStats::default();
        let (mut at, mut previous, mut below) = (first, None, None);
        while !at.is_none() {
            let guard = self.home.pages.read(at)?;
            let view = guard.view();
            let level = match previous {
                None => above.map_or(view.level(), |above| above.wrapping_sub(1)),
                Some(_) => stats.level,
            };
            let follows = previous.is_none_or(|p| view.prev_page() == p);
            if view.alloc_unit() != self.spec.unit || view.level() != level || !follows {
                return Ok(None);
            }
            if previous.is_none() {
                stats.level = level;
                below = self.tree().leftmost_child(view);
            }
            stats.add(view, previous);
            previous = Some(at);
            at = view.next_page();
        }
        Ok(Some((stats, below)))
    }
}
