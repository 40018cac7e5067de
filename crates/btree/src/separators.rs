//! Keys that divide a range: what interior pages tell about the distribution of keys.
//!
//! The walk goes level by level. Each time it goes down from the root, latch by latch as every
//! search does (rule 1), so it never reads a page that no longer belongs to the tree. Changes
//! between two ways down only make the parts less equal: any keys in order divide a range.

use crate::error::BtreeResult;
use crate::key::KeyBuf;
use crate::tree::Tree;
use buffer::ReadGuard;
use os::wait::Waiter;
use page::Field;
use std::cmp::Ordering;

/// Cancellation is checked once in so many pages.
const PAGES_PER_CHECK: usize = 64;

impl Tree {
    /// Keys within a range (ends are keys or the beginnings of some; none means everything), in
    /// order, each once: at least `wanted` where the pages above the leaves have so many. Stops
    /// early when the waiter is cancelled.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn separators(
        &self,
        lower: &[Field<'_>],
        upper: &[Field<'_>],
        wanted: usize,
        waiter: &Waiter,
    ) -> BtreeResult<Vec<KeyBuf>> {
        let mut found: Vec<KeyBuf> = Vec::new();
        let mut level = self.level_count()?;
        while level > 1 && found.len() < wanted {
            level -= 1;
            let mut finer = Vec::new();
            for at in 0..=found.len() {
                if at.is_multiple_of(PAGES_PER_CHECK) && waiter.cancellation().is_some() {
                    return Ok(found);
                }
                let end = found.get(at);
                match at.checked_sub(1).map(|before| &found[before]) {
                    None => self.keys_of_page(level, lower, (lower, upper), end, &mut finer)?,
                    Some(from) => {
                        finer.push(from.clone());
                        let fields = from.fields();
                        let from = fields.as_slice();
                        self.keys_of_page(level, from, (from, upper), end, &mut finer)?;
                    }
                }
            }
            found = finer;
        }
        Ok(found)
    }

    /// The keys of the page at a level that a key leads to, behind `ends.0`, before `end` and not
    /// beyond `ends.1`.
    fn keys_of_page(
        &self,
        level: u8,
        key: &[Field<'_>],
        ends: (&[Field<'_>], &[Field<'_>]),
        end: Option<&KeyBuf>,
        out: &mut Vec<KeyBuf>,
    ) -> BtreeResult<()> {
        let whole = key.len() == self.shape.order.len();
        let Some(page) = self.interior_at(level, key, whole)? else { return Ok(()) };
        let end = end.map(KeyBuf::fields);
        for slot in 1..page.view().slot_count() {
            let mut found = KeyBuf::default();
            self.copy_fence(&page, slot, &mut found)?;
            let fields = found.fields();
            let order = |other: &[Field<'_>]| {
                let own = fields.as_slice();
                let both = own.len().min(other.len());
                self.shape.order.compare_keys(&own[..both], &other[..both])
            };
            let behind = match whole {
                true => order(ends.0) == Some(Ordering::Greater),
                false => order(ends.0) != Some(Ordering::Less),
            };
            let before = end.as_ref().is_none_or(|e| order(e.as_slice()) == Some(Ordering::Less));
            if behind && before && order(ends.1) != Some(Ordering::Greater) {
                out.push(found);
            }
        }
        Ok(())
    }

    /// The interior page at a level that a key leads to; `None` where the tree is not so high.
    pub(crate) fn interior_at(
        &self,
        level: u8,
        key: &[Field<'_>],
        after: bool,
    ) -> BtreeResult<Option<ReadGuard<'_>>> {
        assert!(level > 0, "leaves hold no separators");
        let (mut at, mut here) = self.read_root()?;
        if here < level {
            return Ok(None);
        }
        let key = self.sought(key);
        while here > level {
            let slot = self.child_slot((at.id(), at.view()), &key, after)?;
            let child = self.child(at.id(), at.view(), slot)?;
            let next = self.pages.read(child)?;
            here -= 1;
            self.check_page(child, next.view(), here)?;
            at = next;
        }
        Ok(Some(at))
    }
}
