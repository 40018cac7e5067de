//! `Change`: the only way to alter a page. It logs, applies, and stamps the LSN.
//!
//! The pages stay latched exclusively from before the log space is reserved until the operations
//! are applied. The whole change is one log group, which recovery replays whole or not at all. The
//! handler that redo uses applies each operation, too, from the payload as it stands in the log.
//!
//! Invariants
//!  1. A change that has applied an operation is finished. If it cannot be, the page differs from
//!     its log and the process stops.
//!  2. All pages that a change alters are stamped with the LSN of the group's end, as redo does. A
//!     page that it only holds stays as it is.
//!  3. A page is marked dirty from an LSN at or below its group's first record, before the group is
//!     appended. So a checkpoint that begins after the append sees it.

use crate::guard::WriteGuard;
use crate::pages::Pages;
use crate::state;
use base::{AllocUnitId, Lsn};
use page::{PageMut, PageView};
use wal::{Group, GroupRange, Kind, PageOp, RecordFlags, TransactionChain};

/// Pages one change may hold.
const PAGES_MAX: usize = 32;
/// Pages that need no heap allocation: most changes have one page, a new row's has one for each
/// index of its table.
const FEW: usize = 8;
const _: () = assert!(PAGES_MAX <= u32::BITS as usize);

/// A page within a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRef(u8);

/// Who undoes an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undo {
    /// Nothing undoes it: a change of structure is whole or absent, as one group.
    Never,
    /// The transaction, by walking its chain back.
    By(u32),
    /// The transaction, by its chain or by the version of the row that it has kept.
    ByVersions(u32),
    /// Nothing undoes it, as it is itself an undo: the transaction's rollback continues at `next`.
    Compensation {
        /// The transaction.
        transaction: u32,
        /// What to undo after this.
        next: Lsn,
    },
    /// Nothing undoes it, though it is in the transaction's chain.
    RedoOnly(u32),
}

/// An alteration of one or more pages under construction.
pub struct Change<'a> {
    pages: &'a Pages,
    group: &'a mut Group,
    few: [Option<WriteGuard<'a>>; FEW],
    /// The pages beyond [`FEW`].
    more: Vec<WriteGuard<'a>>,
    count: usize,
    /// Which of them have been altered, by position.
    touched: u32,
    started: bool,
}

impl<'a> Change<'a> {
    /// An empty change. The group's buffer is reused from change to change.
    pub fn new(pages: &'a Pages, group: &'a mut Group) -> Self {
        group.clear();
        assert!(group.is_empty(), "a change begins with nothing logged");
        let few = [const { None }; FEW];
        Change { pages, group, few, more: Vec::new(), count: 0, touched: 0, started: false }
    }

    /// The database's pages.
    pub fn pages(&self) -> &'a Pages {
        self.pages
    }

    /// Takes a latched page into the change, which keeps it until it is finished.
    pub fn add(&mut self, guard: WriteGuard<'a>) -> PageRef {
        assert!(self.count < PAGES_MAX, "a change holds a bounded number of pages");
        debug_assert!(state::is_exclusive(guard.slot.state()), "a change holds its pages alone");
        match self.few.get_mut(self.count) {
            Some(place) => *place = Some(guard),
            None => self.more.push(guard),
        }
        self.count += 1;
        PageRef(self.count as u8 - 1)
    }

    /// The page of that id, if the change holds it.
    pub fn find(&self, id: base::PageId) -> Option<PageRef> {
        debug_assert!(self.count <= PAGES_MAX, "a bounded number of pages");
        (0..self.count as u8).map(PageRef).find(|page| self.guard(*page).id() == id)
    }

    fn guard(&self, page: PageRef) -> &WriteGuard<'a> {
        debug_assert!(usize::from(page.0) < self.count, "a page reference is of this change");
        let n = usize::from(page.0);
        let guard = self.few.get(n).map_or_else(|| self.more.get(n - FEW), Option::as_ref);
        guard.expect("a page reference is of this change")
    }

    /// A page as it is with the operations so far.
    pub fn view(&self, page: PageRef) -> PageView<'_> {
        self.guard(page).view()
    }

    /// The id of a page.
    pub fn id(&self, page: PageRef) -> base::PageId {
        self.guard(page).id()
    }

    /// Notes that a page's slots are sound, which the caller knows.
    pub fn note_inspected(&self, page: PageRef) {
        self.guard(page).note_inspected();
    }

    /// Bytes logged so far; a change may log at most 60 KB.
    pub fn logged_bytes(&self) -> usize {
        self.group.len()
    }

    /// Logs a record that changes no page: a transaction's begin, in the group of its first
    /// change.
    pub fn log_plain(&mut self, kind: Kind, transaction: u32, payload: &[u8]) {
        self.started = true;
        let pushed = self.group.push_plain(kind, transaction, payload);
        assert!(pushed.is_ok(), "a change fits its group");
    }

    /// Logs an operation on a page and applies it.
    pub fn apply(
        &mut self,
        page: PageRef,
        unit: AllocUnitId,
        kind: Kind,
        slot: u16,
        payload: &[&[u8]],
        undo: Undo,
    ) {
        self.started = true;
        let (flags, transaction, next) = match undo {
            Undo::Never => (0, 0, Lsn::ZERO),
            Undo::By(transaction) => (0, transaction, Lsn::ZERO),
            Undo::ByVersions(transaction) => (RecordFlags::VERSIONED, transaction, Lsn::ZERO),
            Undo::RedoOnly(transaction) => (RecordFlags::REDO_ONLY, transaction, Lsn::ZERO),
            Undo::Compensation { transaction, next } => {
                (RecordFlags::COMPENSATION, transaction, next)
            }
        };
        let nobody = matches!(undo, Undo::Never);
        debug_assert_eq!(nobody, transaction == 0, "a transaction's operation names it");
        let id = self.id(page);
        let flags = RecordFlags(flags);
        let pushed =
            self.group.push_page(kind, flags, transaction, next, (id, slot, unit), payload);
        assert!(pushed.is_ok(), "a change fits its group");
        self.touched |= 1 << page.0;
        let op = PageOp { kind, page: id, slot, unit, payload: self.group.last_payload() };
        let n = usize::from(page.0);
        let guard = match self.few.get_mut(n) {
            Some(place) => place.as_mut(),
            None => self.more.get_mut(n - FEW),
        };
        let guard = guard.expect("a page reference is of this change");
        if let Err(e) = self.pages.redo.apply(&op, guard.bytes_mut()) {
            // Record and page come from the same caller here: if they do not fit, that is our bug.
            os::stop::process(&format!("operation {kind:?} does not fit page {id}: {}", e.0));
        }
        debug_assert_eq!(self.view(page).page_id(), id, "an operation leaves the page its name");
    }

    /// Appends the group, stamps the pages and releases them.
    pub fn finish(self, chain: &mut TransactionChain) -> GroupRange {
        self.finish_then(chain, || ())
    }

    /// The same. `then` is done behind the group in the log, while the pages are latched still.
    pub fn finish_then(mut self, chain: &mut TransactionChain, then: impl FnOnce()) -> GroupRange {
        assert!(self.started, "a change that is finished changes something");
        let log = self.pages.writer.log();
        let since = log.next_lsn();
        self.each_touched(|guard| guard.mark_dirty(since));
        let appended = log.append(self.group, chain);
        assert!(since <= appended.first, "invariant 3");
        let stamp = self.stamp(appended);
        self.each_touched(|guard| {
            assert!(guard.view().lsn() < stamp, "a page's LSN only grows");
            debug_assert!(guard.dirty_since() <= appended.first, "invariant 3");
            PageMut(guard.bytes_mut()).set_lsn(stamp);
            debug_assert_eq!(guard.view().lsn(), stamp, "invariant 2");
        });
        self.started = false;
        then();
        appended
    }

    /// The pages that have records in the group; others are only held.
    fn each_touched(&mut self, mut each: impl FnMut(&mut WriteGuard<'a>)) {
        let beyond = self.touched.checked_shr(self.count as u32).unwrap_or(0);
        debug_assert_eq!(beyond, 0, "only what it holds is altered");
        for (i, guard) in self.few.iter_mut().flatten().chain(&mut self.more).enumerate() {
            if self.touched & (1 << i) != 0 {
                each(guard);
            }
        }
    }

    fn stamp(&self, appended: GroupRange) -> Lsn {
        debug_assert!(appended.first <= appended.last, "a group has a record");
        if self.pages.writer.mutations.skip_group_end() { appended.first } else { appended.last }
    }
}

impl Drop for Change<'_> {
    fn drop(&mut self) {
        // A record without a page may be given up: it has changed nothing.
        if self.started && self.touched != 0 && !os::sched::crashed() {
            os::stop::process("a page was changed and the change not logged");
        }
    }
}
