//! Locks that applications name, as a session and its transaction hold them.
//!
//! Such a lock is an entry of the lock table. Its resource has a database, a principal and a name.
//! It is held to the end of the transaction or of the session. The list here counts how often each
//! lock was taken, because it must be released as often.
//!
//! Invariants
//!  1. For each lock that an owner's list counts, the lock table has a long lock of that owner.
//!  2. The transaction's list belongs to one transaction: under another transaction number it is
//!     empty.

use crate::host::storage::Storage;
use crate::session::registry::SessionEntry;
use lock::{Duration, LockError, Mode, Outcome, Owner, OwnerId, OwnerKind, Resource, Timeout};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longer names are cut to this length.
pub(crate) const NAME_MAX: usize = 255;

/// The modes that can be requested, with their names.
pub(crate) const MODES: [(&str, Mode); 5] = [
    ("Shared", Mode::S),
    ("Update", Mode::U),
    ("IntentShared", Mode::IS),
    ("IntentExclusive", Mode::IX),
    ("Exclusive", Mode::X),
];

/// The holder of such a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder {
    /// The open transaction, until it ends.
    Transaction,
    /// The session, until it releases the lock or ends.
    Session,
}

/// The locks that an owner has taken, and how often.
#[derive(Default)]
pub(crate) struct TakenLocks(BTreeMap<Resource, u32>);

/// The named locks of a session and its transaction.
pub(crate) struct ApplicationLocks {
    session: Arc<Owner>,
    transaction: Arc<Owner>,
    by_session: RefCell<TakenLocks>,
    by_transaction: RefCell<(Option<OwnerId>, TakenLocks)>,
}

impl ApplicationLocks {
    /// No locks yet. `transaction` is the lock owner of the session's transactions.
    pub(crate) fn new(entry: &SessionEntry, transaction: Arc<Owner>) -> ApplicationLocks {
        let id = entry.id();
        let owner = OwnerId::new(OwnerKind::Session, id.0.unsigned_abs().into());
        ApplicationLocks {
            session: Owner::new(owner, id, Arc::clone(transaction.waiter())),
            transaction,
            by_session: RefCell::default(),
            by_transaction: RefCell::default(),
        }
    }

    pub(crate) fn owner(&self, holder: Holder) -> &Arc<Owner> {
        match holder {
            Holder::Transaction => &self.transaction,
            Holder::Session => &self.session,
        }
    }

    /// Runs something with an owner's list.
    fn with<T>(&self, holder: Holder, act: impl FnOnce(&mut TakenLocks) -> T) -> T {
        match holder {
            Holder::Session => act(&mut self.by_session.borrow_mut()),
            Holder::Transaction => {
                let mut list = self.by_transaction.borrow_mut();
                let now = Some(self.transaction.id());
                if list.0 != now {
                    *list = (now, TakenLocks::default());
                }
                act(&mut list.1)
            }
        }
    }

    pub(crate) fn holds(&self, resource: &Resource) -> bool {
        let held = |taken: &mut TakenLocks| taken.0.contains_key(resource);
        self.with(Holder::Session, held) || self.with(Holder::Transaction, held)
    }

    /// Takes a lock once more. Returns whether it had to wait.
    ///
    /// # Errors
    /// Those of a lock. A deadlock leaves the transaction as it is.
    pub(crate) fn take(
        &self,
        host: &dyn Storage,
        holder: Holder,
        resource: Resource,
        mode: Mode,
        timeout: Timeout,
    ) -> Result<bool, LockError> {
        let (locks, owner) = (&host.engine().locks, self.owner(holder));
        if holder == Holder::Session {
            owner.set_priority(self.transaction.priority());
        }
        let waited = match locks.try_lock(owner, resource, mode, Duration::Long, None)? {
            Outcome::Granted { .. } | Outcome::AlreadyHeld => false,
            Outcome::Wait(ticket) => {
                locks.wait(ticket, timeout, None)?;
                true
            }
        };
        self.with(holder, |taken| taken.once_more(resource));
        Ok(waited)
    }

    /// Releases a lock once. Returns whether it was held.
    pub(crate) fn give_back(&self, host: &dyn Storage, holder: Holder, resource: Resource) -> bool {
        match self.with(holder, |taken| taken.once_less(resource)) {
            None => false,
            Some(0) => host.engine().locks.release_long(self.owner(holder), resource),
            Some(_) => true,
        }
    }

    /// The session ends or is reset: releases its own locks.
    pub(crate) fn clear(&self, host: &dyn Storage) {
        self.by_session.borrow_mut().0.clear();
        host.engine().locks.release_all(&self.session);
    }
}

impl TakenLocks {
    fn once_more(&mut self, resource: Resource) {
        let times = self.0.entry(resource).or_insert(0);
        *times = times.saturating_add(1);
    }

    /// How often it must still be released; `None` if it was not taken.
    fn once_less(&mut self, resource: Resource) -> Option<u32> {
        let times = self.0.get_mut(&resource)?;
        *times -= 1;
        let left = *times;
        if left == 0 {
            self.0.remove(&resource);
        }
        Some(left)
    }
}

/// A mode by its name in any case.
pub(crate) fn mode_named(name: &str) -> Option<Mode> {
    let name = name.trim_end();
    MODES.iter().find(|m| m.0.eq_ignore_ascii_case(name)).map(|m| m.1)
}

/// A holder by its name in any case.
pub(crate) fn holder_named(name: &str) -> Option<Holder> {
    match name.trim_end() {
        n if n.eq_ignore_ascii_case("Transaction") => Some(Holder::Transaction),
        n if n.eq_ignore_ascii_case("Session") => Some(Holder::Session),
        _ => None,
    }
}

/// A name as it is compared: cut to the maximum length, all other differences count.
pub(crate) fn cut(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}
