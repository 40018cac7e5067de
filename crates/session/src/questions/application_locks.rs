//! Locks that applications name: `sp_getapplock` takes them, APPLOCK_MODE and APPLOCK_TEST query
//! them.
//!
//! Source: Microsoft's pages of sp_getapplock, sp_releaseapplock, APPLOCK_MODE and APPLOCK_TEST.
//! The numbers and states of errors were recorded by others from SQL Server 2025.

use crate::session::application_locks::{Holder, MODES, cut, holder_named, mode_named};
use crate::session::state::State;
use base::{SqlError, SqlResult, messages};
use lock::{Mode, Owner, Resource};
use types::Value;

/// The number of a principal that dbo is, or is a member of.
fn principal_id(name: &str) -> SqlResult<i32> {
    match name {
        n if n.eq_ignore_ascii_case("public") => Ok(0),
        n if n.eq_ignore_ascii_case("dbo") => Ok(1),
        n if n.eq_ignore_ascii_case("db_owner") => Ok(16_384),
        _ => Err(SqlError::new(messages::APPLOCK_PRINCIPAL, &[&name])),
    }
}

/// The lock resource of a name. The session remembers the name for the DMVs.
///
/// # Errors
/// 1202 for an unknown principal.
pub(crate) fn resource(state: &State, principal: &str, name: &str) -> SqlResult<Resource> {
    let principal = principal_id(principal)?;
    let name = cut(name);
    let fnv = |seed: u64| {
        let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        name.bytes().fold(seed, step)
    };
    let (low, high) = (fnv(0xcbf2_9ce4_8422_2325), fnv(0x9E37_79B9_7F4A_7C15));
    let resource = Resource::application(state.database.id, principal, low, (high >> 32) as u32);
    state.entry.name_lock(resource, name, |lock| state.application.holds(lock));
    Ok(resource)
}

/// `APPLOCK_MODE(principal, resource, owner)`
pub(crate) fn mode(state: &State, args: &[Value]) -> SqlResult<Value> {
    let asked = LockQuestion::of(state, "APPLOCK_MODE", args, args.get(2))?;
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
    let asked = LockQuestion::of(state, NAME, args, args.get(3))?;
    let granted = state.host.engine().locks.would_grant(asked.owner, asked.resource, mode);
    Ok(Value::SmallInt(i16::from(granted)))
}

/// The lock that both functions ask about.
struct LockQuestion<'a> {
    owner: &'a Owner,
    resource: Resource,
}

impl LockQuestion<'_> {
    fn of<'a>(
        state: &'a State,
        function: &str,
        args: &[Value],
        owner: Option<&Value>,
    ) -> SqlResult<LockQuestion<'a>> {
        let principal = text_of(function, args, 0)?;
        let name = text_of(function, args, 1)?;
        let owner = owner.and_then(Value::as_text).unwrap_or_else(|| "Transaction".to_owned());
        let wrong = || SqlError::new(messages::APPLOCK_OWNER, &[&function.to_lowercase()]);
        let holder = holder_named(&owner).ok_or_else(wrong)?;
        if holder == Holder::Transaction && state.transaction.count == 0 {
            return Err(SqlError::new(messages::NEEDS_USER_TRANSACTION, &[]).with_state(2));
        }
        let resource = resource(state, &principal, &name)?;
        Ok(LockQuestion { owner: state.application.owner(holder), resource })
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
