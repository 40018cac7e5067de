//! Open transactions: what each unit of work publishes about its own, a user's or a single
//! statement's.
//!
//! A unit of work has an entry as long as it exists. At the begin and end of a transaction it
//! writes a few words of its own, without a lock and on cache lines that no other thread writes. A
//! reader goes over all entries.
//!
//! Invariants
//!  1. The number is written last at the begin and erased first at the end. A reader that finds the
//!     same number before and after it has read the rest has read about one transaction, since each
//!     number is given once.

use crate::table::Transactions;
use base::{DatabaseId, SessionId, TransactionId, Xsn};
use os::sync::PaddedCell;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU16, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
    fence,
};

/// How many databases of a transaction are published.
pub const TOLD_DATABASES: usize = 16;

/// An open transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Its number.
    pub id: TransactionId,
    /// Its session; below 51 for the engine's own.
    pub session: SessionId,
    /// Wall time of its begin, nanoseconds since 1970; of a statement's own the time of the last
    /// tick before it.
    pub began_at: i64,
    /// The number that it writes versions under, once it has written any.
    pub xsn: Option<Xsn>,
    /// Whether it has read as of a moment.
    pub reads_versions: bool,
    /// Whether it is being undone.
    pub rolling_back: bool,
    /// Databases whose tables its statements have locked, the first [`TOLD_DATABASES`] of them.
    pub databases: Vec<DatabaseId>,
}

/// What a unit of work publishes about its transaction.
pub struct OpenEntry {
    session: SessionId,
    told: PaddedCell<PublishedState>,
}

#[derive(Default)]
struct PublishedState {
    id: AtomicU64,
    began_at: AtomicI64,
    xsn: AtomicU64,
    reads_versions: AtomicBool,
    rolling_back: AtomicBool,
    database_count: AtomicU8,
    databases: [AtomicU16; TOLD_DATABASES],
}

const _: () = assert!(size_of::<PublishedState>() <= 64, "a line");

impl OpenEntry {
    /// A transaction begins.
    pub fn begin(&self, id: TransactionId, began_at: i64) {
        assert_eq!(self.told.id.load(Relaxed), 0, "a unit of work has one transaction at a time");
        self.told.began_at.store(began_at, Relaxed);
        self.told.xsn.store(Xsn::NONE.0, Relaxed);
        self.told.reads_versions.store(false, Relaxed);
        self.told.rolling_back.store(false, Relaxed);
        self.told.database_count.store(0, Relaxed);
        self.told.id.store(id.0, Release);
    }

    /// It has drawn the number that it writes versions under.
    pub fn writes_versions(&self, xsn: Xsn) {
        assert_ne!(xsn, Xsn::NONE, "versions are written under a number");
        assert_ne!(self.told.id.load(Relaxed), 0, "by a transaction");
        self.told.xsn.store(xsn.0, Relaxed);
    }

    /// It reads as of a moment. A thread that reads for it also calls this.
    pub fn reads_versions(&self) {
        self.told.reads_versions.store(true, Relaxed);
    }

    /// Its statement has locked tables of a database.
    #[inline]
    pub fn touches(&self, database: DatabaseId) {
        let told = &*self.told;
        let count = usize::from(told.database_count.load(Relaxed));
        let known = &told.databases[..count];
        let fresh = known.iter().all(|d| d.load(Relaxed) != database.0);
        if fresh && count < TOLD_DATABASES && told.id.load(Relaxed) != 0 {
            told.databases[count].store(database.0, Relaxed);
            told.database_count.store(count as u8 + 1, Release);
        }
    }

    /// It is being undone from now on.
    pub fn rolls_back(&self) {
        assert_ne!(self.told.id.load(Relaxed), 0, "what is undone is a transaction's");
        self.told.rolling_back.store(true, Relaxed);
    }

    /// It is over, if there is one.
    pub fn end(&self) {
        self.told.id.store(0, Relaxed);
        // A reader that reads something of the next transaction finds this one's number gone.
        fence(Release);
    }

    fn read(&self) -> Option<Open> {
        let id = self.told.id.load(Acquire);
        let xsn = Xsn(self.told.xsn.load(Relaxed));
        let count = usize::from(self.told.database_count.load(Acquire));
        let databases = self.told.databases.iter().take(count);
        let open = Open {
            id: TransactionId(id),
            session: self.session,
            began_at: self.told.began_at.load(Relaxed),
            xsn: (xsn != Xsn::NONE).then_some(xsn),
            reads_versions: self.told.reads_versions.load(Relaxed),
            rolling_back: self.told.rolling_back.load(Relaxed),
            databases: databases.map(|d| DatabaseId(d.load(Relaxed))).collect(),
        };
        fence(Acquire);
        (id != 0 && self.told.id.load(Relaxed) == id).then_some(open)
    }
}

impl Transactions {
    /// An entry for a unit of work of a session.
    pub fn enlist(&self, session: SessionId) -> Arc<OpenEntry> {
        let entry = Arc::new(OpenEntry { session, told: PaddedCell::default() });
        self.works.lock().push(Arc::clone(&entry));
        entry
    }

    /// The unit of work is gone.
    pub fn delist(&self, entry: &Arc<OpenEntry>) {
        assert_eq!(entry.told.id.load(Relaxed), 0, "its transaction is over");
        let mut works = self.works.lock();
        let at = works.iter().position(|e| Arc::ptr_eq(e, entry));
        works.swap_remove(at.expect("an entry is listed until its unit of work is gone"));
    }

    /// The open transactions, oldest first: those of users, of single statements, and the engine's
    /// own. They are not read at one instant.
    pub fn open(&self) -> Vec<Open> {
        let works = self.works.lock().clone();
        let mut open: Vec<Open> = works.iter().filter_map(|e| e.read()).collect();
        open.sort_unstable_by_key(|o| o.id.0);
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_open_is_told_by_its_own_entry() {
        let transactions = Transactions::default();
        let [a, b] = [51, -1].map(|n| transactions.enlist(SessionId(n)));
        assert_eq!(transactions.open(), []);
        let (first, second) = (transactions.next_id(), transactions.next_id());
        b.begin(second, 20);
        a.begin(first, 10);
        a.writes_versions(Xsn(7));
        b.rolls_back();
        b.reads_versions();
        b.touches(DatabaseId(5));
        (1..100).for_each(|n| a.touches(DatabaseId(n % 3)));
        let open = transactions.open();
        assert_eq!(open[0].databases, [1, 2, 0].map(DatabaseId));
        assert_eq!(open[1].databases, [DatabaseId(5)]);
        assert_eq!(open.iter().map(|o| o.id).collect::<Vec<_>>(), [first, second]);
        assert_eq!(
            (open[0].session, open[0].began_at, open[0].xsn),
            (SessionId(51), 10, Some(Xsn(7)))
        );
        assert_eq!((open[1].rolling_back, open[1].xsn), (true, None));
        assert_eq!((open[0].reads_versions, open[1].reads_versions), (false, true));
        a.end();
        a.begin(transactions.next_id(), 30);
        let next = transactions.open().remove(1);
        assert_eq!((next.xsn, next.databases), (None, vec![]), "nothing is left of the one before");
        (1..100).for_each(|n| a.touches(DatabaseId(n)));
        assert_eq!(transactions.open()[1].databases.len(), TOLD_DATABASES);
        b.end();
        transactions.delist(&b);
        assert_eq!(transactions.open().len(), 1);
    }
}
