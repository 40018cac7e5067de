//! Locks that applications name: what `sp_getapplock` takes, APPLOCK_MODE and APPLOCK_TEST ask.
//!
//! Such a lock is one of the lock table's, of a database, a principal and a name, and is held to
//! the end of the transaction or of the session. The list here counts how often each was taken,
//! because it is given back as often.
//!
//! Invariants
//!  1. What the list of an owner counts, the lock table has as a long lock of that owner.
//!  2. The transaction's list is of one transaction: under another number it is empty.
//!
//! Source: Microsoft's pages of sp_getapplock, sp_releaseapplock, APPLOCK_MODE and APPLOCK_TEST;
//! numbers and states of errors are those that others recorded of SQL Server 2025.

use crate::host::Host;
use crate::session::registry::SessionEntry;
use crate::session::state::State;
use base::{SqlError, SqlResult, messages};
use lock::{Duration, LockError, Mode, Outcome, Owner, OwnerId, OwnerKind, Resource, Timeout};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::Value;

/// A name is cut there.
const NAME_MAX: usize = 255;

/// What can be asked for, with its name.
const MODES: [(&str, Mode); 5] = [
    ("Shared", Mode::S),
    ("Update", Mode::U),
    ("IntentShared", Mode::IS),
    ("IntentExclusive", Mode::IX),
    ("Exclusive", Mode::X),
];

/// Who holds such a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder {
    /// The open transaction, to its end.
    Transaction,
    /// The session, until it gives it back or ends.
    Session,
}

/// What an owner has taken, and how often.
#[derive(Default)]
struct Taken(BTreeMap<Resource, u32>);

/// The named locks of a session and its transaction.
pub(crate) struct ApplicationLocks {
    session: Arc<Owner>,
    transaction: Arc<Owner>,
    by_session: RefCell<Taken>,
    by_transaction: RefCell<(Option<OwnerId>, Taken)>,
}

impl ApplicationLocks {
    /// None yet. `transaction` is the owner that the session's transactions lock with.
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

    fn owner(&self, holder: Holder) -> &Arc<Owner> {
        match holder {
            Holder::Transaction => &self.transaction,
            Holder::Session => &self.session,
        }
    }

    /// Does something with an owner's list.
    fn with<T>(&self, holder: Holder, act: impl FnOnce(&mut Taken) -> T) -> T {
        match holder {
            Holder::Session => act(&mut self.by_session.borrow_mut()),
            Holder::Transaction => {
                let mut list = self.by_transaction.borrow_mut();
                let now = Some(self.transaction.id());
                if list.0 != now {
                    *list = (now, Taken::default());
                }
                act(&mut list.1)
            }
        }
    }

    fn holds(&self, resource: &Resource) -> bool {
        let held = |taken: &mut Taken| taken.0.contains_key(resource);
        self.with(Holder::Session, held) || self.with(Holder::Transaction, held)
    }

    /// Takes a lock once more; whether it had to wait.
    ///
    /// # Errors
    /// Those of a lock. A deadlock leaves the transaction as it is.
    pub(crate) fn take(
        &self,
        host: &dyn Host,
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

    /// Gives it back once; whether it was held.
    pub(crate) fn give_back(&self, host: &dyn Host, holder: Holder, resource: Resource) -> bool {
        match self.with(holder, |taken| taken.once_less(resource)) {
            None => false,
            Some(0) => host.engine().locks.release_long(self.owner(holder), resource),
            Some(_) => true,
        }
    }

    /// The session ends or is reset: its own locks go.
    pub(crate) fn clear(&self, host: &dyn Host) {
        self.by_session.borrow_mut().0.clear();
        host.engine().locks.release_all(&self.session);
    }
}

impl Taken {
    fn once_more(&mut self, resource: Resource) {
        let times = self.0.entry(resource).or_insert(0);
        *times = times.saturating_add(1);
    }

    /// How often it is still to be given back; none where it was not taken.
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

/// The number of a principal that dbo is, or is a member of.
fn principal_id(name: &str) -> SqlResult<i32> {
    match name {
        n if n.eq_ignore_ascii_case("public") => Ok(0),
        n if n.eq_ignore_ascii_case("dbo") => Ok(1),
        n if n.eq_ignore_ascii_case("db_owner") => Ok(16_384),
        _ => Err(SqlError::new(messages::APPLOCK_PRINCIPAL, &[&name])),
    }
}

/// A name as it counts: cut, every other difference matters.
pub(crate) fn cut(name: &str) -> String {
    name.chars().take(NAME_MAX).collect()
}

/// The lock that a name stands for. The session remembers the name, for the DMVs.
///
/// # Errors
/// 1202 for a principal that there isn't.
pub(crate) fn resource(state: &State, principal: &str, name: &str) -> SqlResult<Resource> {
    let principal = principal_id(principal)?;
    let name = cut(name);
    let fnv = |seed: u64| {
        let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        name.bytes().fold(seed, step)
    };
    let (low, high) = (fnv(0xcbf2_9ce4_8422_2325), fnv(0x9E37_79B9_7F4A_7C15));
    let resource = Resource::application(state.database, principal, low, (high >> 32) as u32);
    state.entry.name_lock(resource, name, |lock| state.application.holds(lock));
    Ok(resource)
}

/// `APPLOCK_MODE(principal, resource, owner)`
pub(crate) fn mode(state: &State, args: &[Value]) -> SqlResult<Value> {
    let asked = Asked::of(state, "APPLOCK_MODE", args, args.get(2))?;
    let held = state.host.engine().locks.held_mode(asked.owner, asked.resource);
    let name = match held {
        Mode::NL => "NoLock",
        Mode::SIX => "SharedIntentExclusive",
        Mode::UIX => "UpdateIntentExclusive",
        _ => MODES.iter().find(|m| m.1 == held).map_or("NoLock", |m| m.0),
    };
    Ok(Value::nvarchar(name))
}

/// `APPLOCK_TEST(principal, resource, mode, owner)`
pub(crate) fn test(state: &State, args: &[Value]) -> SqlResult<Value> {
    const NAME: &str = "APPLOCK_TEST";
    let mode = text_of(NAME, args, 2)?;
    let mode = mode_named(&mode)
        .ok_or_else(|| SqlError::new(messages::APPLOCK_MODE, &[&NAME.to_lowercase()]))?;
    let asked = Asked::of(state, NAME, args, args.get(3))?;
    let granted = state.host.engine().locks.would_grant(asked.owner, asked.resource, mode);
    Ok(Value::SmallInt(i16::from(granted)))
}

/// What both functions ask about.
struct Asked<'a> {
    owner: &'a Owner,
    resource: Resource,
}

impl Asked<'_> {
    fn of<'a>(
        state: &'a State,
        function: &str,
        args: &[Value],
        owner: Option<&Value>,
    ) -> SqlResult<Asked<'a>> {
        let principal = text_of(function, args, 0)?;
        let name = text_of(function, args, 1)?;
        let owner = owner.and_then(Value::as_text).unwrap_or_else(|| "Transaction".to_owned());
        let wrong = || SqlError::new(messages::APPLOCK_OWNER, &[&function.to_lowercase()]);
        let holder = holder_named(&owner).ok_or_else(wrong)?;
        if holder == Holder::Transaction && state.tran_count == 0 {
            return Err(SqlError::new(messages::NEEDS_USER_TRANSACTION, &[]).with_state(2));
        }
        let resource = resource(state, &principal, &name)?;
        Ok(Asked { owner: state.application.owner(holder), resource })
    }
}

/// An argument that must not be NULL.
fn text_of(function: &str, args: &[Value], at: usize) -> SqlResult<String> {
    let text = args.get(at).and_then(|v| v.as_text());
    text.ok_or_else(|| {
        let place = at + 1;
        let facts: [&dyn std::fmt::Display; 3] = [&"NULL", &place, &function.to_lowercase()];
        SqlError::new(messages::ARGUMENT_TYPE_INVALID, &facts)
    })
}
