//! Bytes on a heap's pages that are reserved for rollbacks.
//!
//! A row that shrinks frees bytes. Until its transaction has ended, no other transaction uses them,
//! so that undo can put the row back where it was, however full the disk is. SQL Server keeps such
//! a reserve on the page (m_reservedCnt). Here it is in memory: after a start, no transaction
//! writes a heap before the unfinished ones there are undone.
//!
//! A transaction that is aborted by the map has ended, and its promises with it. A row of it that
//! is reverted later may find no room on its page; it is forwarded then (`revert/row.rs`).
//!
//! Invariants
//!  1. A promise (reservation) is made under the latch of its page, in the change that frees the
//!     bytes.
//!  2. A thread that puts bytes on a page checks the promises under the page's latch. A new slot
//!     uses no promised bytes, not even those of its own transaction: undo takes the record out,
//!     but leaves the slot. A row that grows in its slot may use those of its own transaction.
//!  3. A promise is an upper bound of what rollbacks need. It is not lowered when a row grows again
//!     or a part is undone. So undo does not check, and finds room in any order.
//!  4. The promise of a transaction whose rollback failed stays. The promise of one that has ended
//!     is removed when its page is looked at, or settled, or when there are many.

use base::PageId;
use base::limits::PAGE_BYTES;
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use work::PartMark;

/// The number of pages with promises from which on promises of ended transactions are removed.
const PAGES_UNSWEPT: usize = 1024;

/// A promise to one transaction.
struct Promise {
    to: PartMark,
    bytes: usize,
}

/// The promises on a heap's pages. A promise takes about 100 bytes for each page and transaction.
#[derive(Default)]
pub(crate) struct Promises {
    /// The number of pages with promises. Mostly it is 0, and then no further check is made.
    count: AtomicUsize,
    pages: Mutex<Pages>,
}

#[derive(Default)]
struct Pages {
    by_page: BTreeMap<PageId, Vec<Promise>>,
    /// The number of pages at which all promises are looked at.
    swept_at: usize,
}

impl Promises {
    /// Adds a promise: a row of the page has shrunk by `bytes`.
    pub(crate) fn add(&self, page: PageId, to: PartMark, bytes: usize) {
        let mut pages = self.pages.lock();
        if pages.by_page.len() >= pages.swept_at.max(PAGES_UNSWEPT) {
            pages.by_page.retain(|_, of| {
                of.retain(|p| !p.to.is_over());
                !of.is_empty()
            });
            pages.swept_at = 2 * pages.by_page.len();
        }
        let of = pages.by_page.entry(page).or_insert_with(|| Vec::with_capacity(1));
        match of.iter_mut().find(|p| p.to.is_same(&to)) {
            // A page has no more bytes.
            Some(promise) => promise.bytes = (promise.bytes + bytes).min(PAGE_BYTES),
            None => of.push(Promise { to, bytes }),
        }
        self.count.store(pages.by_page.len(), Release);
    }

    /// Forgets the promises on a page to transactions that have ended.
    pub(crate) fn forget_ended(&self, page: PageId) {
        self.bytes(page, 0);
    }

    /// The bytes of a page that are promised to transactions other than `but`, a transaction's
    /// number in the log (0: to any).
    pub(crate) fn bytes(&self, page: PageId, but: u32) -> usize {
        if self.count.load(Acquire) == 0 {
            return 0;
        }
        let mut pages = self.pages.lock();
        let Some(of) = pages.by_page.get_mut(&page) else { return 0 };
        of.retain(|p| !p.to.is_over());
        let others = of.iter().filter(|p| p.to.chain() != but);
        let bytes = others.map(|p| p.bytes).sum();
        if of.is_empty() {
            pages.by_page.remove(&page);
            self.count.store(pages.by_page.len(), Release);
        }
        bytes
    }
}
