//! `sp_getapplock` and `sp_releaseapplock`: locks that the application names.
//!
//! The result of a request is the procedure's status, never an error: 0 for granted, 1 for granted
//! after a wait, -1 for a timeout, -3 for a deadlock victim, -999 for an invalid parameter. The
//! transaction of a victim goes on.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::questions::application_locks::resource;
use crate::session::Session;
use crate::session::application_locks::{Holder, cut, holder_named, mode_named};
use base::{Message, SqlError, messages};
use lock::{LockError, Resource, Timeout};

const WRONG: i32 = -999;

const INNER: &str = "xp_userlock";

/// `sp_getapplock @Resource, @LockMode, @LockOwner, @LockTimeout, @DbPrincipal`
pub(crate) fn get(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    if call.get("@LockMode", 1).is_none() {
        let facts: [&dyn std::fmt::Display; 2] = [&"sp_getapplock", &"@LockMode"];
        return Err(SqlError::new(messages::EXECUTE_ARGUMENT_COUNT, &facts).into());
    }
    let wanted = call.text("@LockMode", 1);
    let Some(mode) = wanted.as_deref().and_then(mode_named) else {
        return Ok(not_recognized(wanted, "@LockMode", 26, out));
    };
    let holder = match holder(call, 2) {
        Ok(holder) => holder,
        Err(text) => return Ok(not_recognized(text, "@LockOwner", 39, out)),
    };
    if holder == Holder::Transaction && session.state.transaction.count == 0 {
        inform(out, messages::APPLOCK_NO_TRANSACTION, &[], 52);
        return Ok(WRONG);
    }
    let timeout = match call.number("@LockTimeout", 3) {
        None => session.state.settings.lock_timeout,
        Some(ms) if ms < -1 => {
            return Err(SqlError::new(messages::APPLOCK_TIMEOUT, &[&INNER]).with_state(2).into());
        }
        Some(ms) => Timeout::from_setting(i32::try_from(ms).unwrap_or(i32::MAX)),
    };
    let (resource, ..) = target(session, call, 4)?;
    let taken = {
        let locks = &session.state.application;
        locks.take(&*session.host, holder, resource, mode, timeout)
    };
    match taken {
        Ok(waited) => Ok(i32::from(waited)),
        Err(LockError::TimedOut { .. }) => Ok(-1),
        Err(LockError::DeadlockVictim { .. }) => Ok(-3),
        Err(e @ (LockError::Cancelled(_) | LockError::OutOfLockMemory)) => {
            Err(SqlError::from(e).into())
        }
    }
}

/// `sp_releaseapplock @Resource, @LockOwner, @DbPrincipal`
pub(crate) fn release(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let holder = match holder(call, 1) {
        Ok(holder) => holder,
        Err(text) => return Ok(not_recognized(text, "@LockOwner", 20, out)),
    };
    let (resource, principal, name) = target(session, call, 2)?;
    if holder == Holder::Transaction && session.state.transaction.count == 0 {
        return Err(SqlError::new(messages::NEEDS_USER_TRANSACTION, &[]).into());
    }
    if session.state.application.give_back(&*session.host, holder, resource) {
        return Ok(0);
    }
    let facts: [&dyn std::fmt::Display; 2] = [&principal, &name];
    Err(SqlError::new(messages::APPLOCK_NOT_HELD, &facts).into())
}

/// The owner that the call names; an error with the argument's text if it is unknown.
fn holder(call: &Call, position: usize) -> Result<Holder, Option<String>> {
    let Some(argument) = call.get("@LockOwner", position) else { return Ok(Holder::Transaction) };
    let text = argument.value.as_text();
    text.as_deref().and_then(holder_named).ok_or(text)
}

/// The principal and the name of the lock.
fn target(
    session: &Session,
    call: &Call,
    principal: usize,
) -> Result<(Resource, String, String), Failure> {
    let name = call.text("@Resource", 0);
    let missing = || SqlError::new(messages::APPLOCK_RESOURCE, &[&INNER]).with_state(5);
    let name = cut(&name.ok_or_else(missing)?);
    let given = call.get("@DbPrincipal", principal).is_some();
    let unknown = || SqlError::new(messages::APPLOCK_DATABASE, &[&INNER]);
    let principal = match call.text("@DbPrincipal", principal) {
        None if !given => "public".to_owned(),
        text => text.ok_or_else(unknown)?,
    };
    let resource = resource(&session.state, &principal, &name)?;
    Ok((resource, principal, name))
}

/// Sends message 15625, which is not an error.
fn not_recognized(text: Option<String>, parameter: &str, line: u32, out: &mut Output<'_>) -> i32 {
    let text = text.unwrap_or_else(|| "(null)".to_owned());
    inform(out, messages::OPTION_NOT_RECOGNIZED, &[&text, &parameter], line);
    WRONG
}

fn inform(out: &mut Output<'_>, what: Message, facts: &[&dyn std::fmt::Display], line: u32) {
    out.message(&SqlError::new(what, facts).in_procedure("sp_getapplock").at_line(line));
}
