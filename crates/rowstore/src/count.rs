//! Counting rows: what sys.partitions shows.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use page::RecordKind;

impl RowHobt {
    /// Counts the live rows, for sys.partitions after a start.
    ///
    /// # Errors
    /// Pages that cannot be read.
    pub(crate) fn count_all(&self) -> RowResult<u64> {
        let mut rows = 0;
        match &self.tree {
            Some(tree) => {
                let mut at =
                    tree.seek(btree::SearchKey { fields: &[], bias: btree::Bias::FirstAtLeast })?;
                while let Some(leaf) = at {
                    rows += u64::from(!RecordKind::of(leaf.record()[0]).is_ghost());
                    at = leaf.forward()?;
                }
            }
            None => {
                for id in self.home.space.unit_pages(&self.unit)?.pages {
                    let guard = self.home.pages.read(id)?;
                    let view = guard.view();
                    let live =
                        |s: &u16| view.record(*s).is_some_and(|r| !RecordKind::of(r[0]).is_ghost());
                    rows += (0..view.slot_count()).filter(live).count() as u64;
                }
            }
        }
        Ok(rows)
    }

    /// Rows as sys.partitions shows them, uncommitted ones included; counted at the first
    /// question after a start.
    ///
    /// # Errors
    /// Pages that cannot be read.
    pub fn row_count(&self) -> base::SqlResult<u64> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.rows_known.load(Relaxed) == 0 {
            let counted = self.count_all().map_err(|e| self.sql(e))?;
            self.rows.store(counted as i64, Relaxed);
            self.rows_known.store(1, Relaxed);
        }
        Ok(self.rows.load(Relaxed).max(0) as u64)
    }
}
