//! Owners of locks: a transaction, a session, a cursor; never a thread.
//!
//! An owner keeps the list of what it holds, so that releasing everything costs as much as was
//! taken. Only the owner's own task touches the list. A thread that grants a lock to a waiter
//! leaves the list entry to that waiter. When several tasks read for one transaction, each has an
//! object of the same number with its own list and waiter; the owner takes over its list when the
//! task ends.
//!
//! Invariants
//!  1. A resource is in exactly one of the two lists iff the table has this owner as holder, except
//!     between a grant and the return of the call that asked for it.
//!  2. The list's latch is never taken while a partition's latch is held.

use crate::resource::Resource;
use base::SessionId;
use os::sync::Mutex;
use os::wait::Waiter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI8, AtomicU64, Ordering::Relaxed};

/// What an owner is, as request_owner_type of sys.dm_tran_locks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum OwnerKind {
    /// A transaction; number = transaction id.
    Transaction = 1,
    /// A cursor.
    Cursor = 2,
    /// A session, by `sp_getapplock`; number = session id.
    Session = 3,
    /// The S that every session holds on its database.
    SharedTransactionWorkspace = 4,
    /// The X of a session that has a database for itself.
    ExclusiveTransactionWorkspace = 5,
}

impl OwnerKind {
    /// The name that sys.dm_tran_locks shows.
    pub const fn name(self) -> &'static str {
        match self {
            OwnerKind::Transaction => "TRANSACTION",
            OwnerKind::Cursor => "CURSOR",
            OwnerKind::Session => "SESSION",
            OwnerKind::SharedTransactionWorkspace => "SHARED_TRANSACTION_WORKSPACE",
            OwnerKind::ExclusiveTransactionWorkspace => "EXCLUSIVE_TRANSACTION_WORKSPACE",
        }
    }
}

/// An owner's identity: its kind and a number that no other owner of the kind has meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OwnerId(u64);

const NUMBER_BITS: u32 = 56;

impl OwnerId {
    /// The owner of that kind and number.
    ///
    /// # Panics
    /// When the number needs more than 56 bits.
    pub const fn new(kind: OwnerKind, number: u64) -> Self {
        assert!(number < 1 << NUMBER_BITS, "an owner's number has 56 bits");
        OwnerId((kind as u64) << NUMBER_BITS | number)
    }

    /// What kind of owner.
    pub const fn kind(self) -> OwnerKind {
        assert!(self.0 >> NUMBER_BITS >= 1 && self.0 >> NUMBER_BITS <= 5, "a kind that there is");
        match self.0 >> NUMBER_BITS {
            1 => OwnerKind::Transaction,
            2 => OwnerKind::Cursor,
            3 => OwnerKind::Session,
            4 => OwnerKind::SharedTransactionWorkspace,
            _ => OwnerKind::ExclusiveTransactionWorkspace,
        }
    }

    /// The transaction id, session id, or whatever numbers this kind.
    pub const fn number(self) -> u64 {
        self.0 & ((1 << NUMBER_BITS) - 1)
    }
}

/// What an owner holds, by how long.
#[derive(Default)]
pub(crate) struct HeldList {
    pub(crate) long: Vec<Resource>,
    pub(crate) short: Vec<Resource>,
}

impl HeldList {
    /// Takes a resource off the short list. The latest come off first, so this is short too.
    pub(crate) fn remove_short(&mut self, resource: &Resource) -> bool {
        match self.short.iter().rposition(|r| r == resource) {
            Some(at) => {
                let removed = self.short.swap_remove(at);
                debug_assert_eq!(removed, *resource);
                debug_assert!(!self.short.contains(resource), "it stands there once");
                true
            }
            None => false,
        }
    }

    /// A short lock has become a long one.
    pub(crate) fn lengthen(&mut self, resource: Resource) {
        let was_short = self.remove_short(&resource);
        assert!(was_short, "what becomes long was held short: {resource:?}");
        debug_assert!(self.long.last() != Some(&resource), "it was not long");
        self.long.push(resource);
        debug_assert!(!self.short.contains(&resource), "invariant 1");
    }
}

/// Someone who holds and waits for locks.
pub struct Owner {
    id: AtomicU64,
    session: SessionId,
    waiter: Arc<Waiter>,
    priority: AtomicI8,
    log_bytes: AtomicU64,
    rolling_back: AtomicBool,
    /// It is another object of an owner, for a task that reads for it.
    helper: bool,
    pub(crate) held: Mutex<HeldList>,
}

impl Owner {
    /// An owner that holds nothing. It waits at `waiter`, whose cancellation ends its waits.
    pub fn new(id: OwnerId, session: SessionId, waiter: Arc<Waiter>) -> Arc<Self> {
        Arc::new(Owner::of(id, session, waiter))
    }

    fn of(id: OwnerId, session: SessionId, waiter: Arc<Waiter>) -> Owner {
        Owner {
            id: AtomicU64::new(id.0),
            session,
            waiter,
            priority: AtomicI8::new(0),
            log_bytes: AtomicU64::new(0),
            rolling_back: AtomicBool::new(false),
            helper: false,
            held: Mutex::new(HeldList::default()),
        }
    }

    /// Another object of this owner, with that id, for a task that waits by itself. It has the same
    /// priority and counts the log used so far.
    pub fn helper(&self, id: OwnerId, waiter: Arc<Waiter>) -> Arc<Self> {
        let mut helper = Owner::of(id, self.session, waiter);
        helper.helper = true;
        helper.set_priority(self.priority());
        helper.add_log_bytes(self.log_bytes());
        Arc::new(helper)
    }

    /// Whether it was made by [`Owner::helper`].
    pub fn is_helper(&self) -> bool {
        self.helper
    }

    /// Makes the same object the owner of the next transaction: its lists keep their memory.
    ///
    /// # Panics
    /// When it still holds a lock.
    pub fn renew(&self, id: OwnerId) {
        assert_eq!(self.held_count(), 0, "an owner gives all locks back before it is renewed");
        assert_eq!(id.kind(), self.id().kind(), "a transaction's owner is a transaction's again");
        self.id.store(id.0, Relaxed);
        self.log_bytes.store(0, Relaxed);
        self.rolling_back.store(false, Relaxed);
    }

    /// Who this is.
    #[inline]
    pub fn id(&self) -> OwnerId {
        OwnerId(self.id.load(Relaxed))
    }

    /// The session it belongs to; 0 and below for the engine's own.
    #[inline]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Where it waits.
    pub fn waiter(&self) -> &Arc<Waiter> {
        &self.waiter
    }

    /// SET DEADLOCK_PRIORITY: -10 to 10, the lowest dies first.
    ///
    /// # Panics
    /// When it is outside that range.
    pub fn set_priority(&self, priority: i8) {
        assert!((-10..=10).contains(&priority), "a deadlock priority is -10 to 10");
        self.priority.store(priority, Relaxed);
    }

    /// The deadlock priority.
    pub fn priority(&self) -> i8 {
        let priority = self.priority.load(Relaxed);
        debug_assert!((-10..=10).contains(&priority), "as it was set");
        priority
    }

    /// Adds to the log it has used: what its rollback would cost.
    #[inline]
    pub fn add_log_bytes(&self, bytes: u64) {
        let before = self.log_bytes.fetch_add(bytes, Relaxed);
        debug_assert!(before.checked_add(bytes).is_some(), "what a rollback costs is counted");
    }

    /// The log it has used.
    pub fn log_bytes(&self) -> u64 {
        self.log_bytes.load(Relaxed)
    }

    /// Marks it as rolling back: then it is never chosen as a deadlock victim.
    pub fn set_rolling_back(&self, rolling_back: bool) {
        self.rolling_back.store(rolling_back, Relaxed);
    }

    /// Whether it is rolling back.
    pub fn is_rolling_back(&self) -> bool {
        self.rolling_back.load(Relaxed)
    }

    /// Takes over the list of another object of the same owner, whose task has ended. A resource
    /// that several of them hold has one holder in the table; it is in the list of the object that
    /// was granted it first.
    ///
    /// # Panics
    /// When it is another owner's.
    pub fn take_over(&self, helper: &Owner) {
        assert_eq!(self.id(), helper.id(), "a helper asks in its owner's name");
        let listed = std::mem::take(&mut *helper.held.lock());
        let mut held = self.held.lock();
        held.short.extend(listed.short);
        held.long.extend(listed.long);
    }

    /// How many resources it holds.
    pub fn held_count(&self) -> usize {
        let held = self.held.lock();
        let both = held.short.last().is_some_and(|r| held.long.last() == Some(r));
        debug_assert!(!both, "invariant 1");
        held.long.len() + held.short.len()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if !std::thread::panicking() && !os::sched::crashed() {
            let held = self.held.get_mut();
            let count = held.long.len() + held.short.len();
            debug_assert_eq!(count, 0, "an owner gives all locks back before it is dropped");
        }
    }
}
