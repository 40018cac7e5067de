//! What the scenes share: a table, owners by number, and a shorthand for asking.

#![allow(dead_code)]

use base::{DatabaseId, HobtId, ObjectId, SessionId};
use lock::{Duration, LockError, Mode, Options, Outcome, Owner, OwnerId, OwnerKind, Resource};
use lock::{Table, Ticket, Timeout};
use os::wait::Waiter;
use std::sync::Arc;

pub(crate) const DB: DatabaseId = DatabaseId(5);
pub(crate) const HOBT: HobtId = HobtId(7);

pub(crate) fn table() -> Arc<Table> {
    Table::new(&Options::default())
}

pub(crate) fn owner(n: u64) -> Arc<Owner> {
    let id = OwnerId::new(OwnerKind::Transaction, n);
    Owner::new(id, SessionId(50 + n as i16), Arc::new(Waiter::new()))
}

pub(crate) fn key(n: u64) -> Resource {
    Resource::key(DB, HOBT, n)
}

pub(crate) fn object(n: i32) -> Resource {
    Resource::object(DB, ObjectId(n))
}

/// Takes a lock to the transaction's end that must be free.
pub(crate) fn take(t: &Arc<Table>, o: &Arc<Owner>, r: Resource, m: Mode) {
    let got = t.try_lock(o, r, m, Duration::Long, None).expect("there is memory");
    assert!(!matches!(got, Outcome::Wait(_)), "{m:?} is free");
}

/// Asks for a lock that must not be free.
pub(crate) fn ask(t: &Arc<Table>, o: &Arc<Owner>, r: Resource, m: Mode) -> Ticket {
    ask_for(t, o, r, m, Duration::Long)
}

pub(crate) fn ask_for(t: &Arc<Table>, o: &Arc<Owner>, r: Resource, m: Mode, d: Duration) -> Ticket {
    match t.try_lock(o, r, m, d, None).expect("there is memory") {
        Outcome::Wait(ticket) => ticket,
        free => panic!("{m:?} should wait: {free:?}"),
    }
}

/// Whether a queued request has been granted; it is over either way.
pub(crate) fn granted(t: &Arc<Table>, ticket: Ticket) -> bool {
    match t.wait(ticket, Timeout::NO_WAIT, None) {
        Ok(_) => true,
        Err(LockError::TimedOut { .. }) => false,
        Err(e) => panic!("{e:?}"),
    }
}

/// Ends these transactions.
pub(crate) fn end(t: &Arc<Table>, owners: &[&Arc<Owner>]) {
    owners.iter().for_each(|o| t.release_all(o));
}
