//! `sp_settriggerorder @triggername, @order, @stmttype [, @namespace]`: the trigger that fires
//! first or last for a statement.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::host::definitions::ProcedureCall;
use crate::host::definitions::TriggerOrderCall;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use catalog::view::Events;
use ddl::TriggerOrder;

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let written = call.text("@triggername", 0).unwrap_or_default();
    let word = |name, at| call.text(name, at).unwrap_or_default().to_ascii_lowercase();
    if !word("@namespace", 3).is_empty() {
        return Err(Failure::unsupported("sp_settriggerorder of DDL and LOGON triggers"));
    }
    let invalid = || SqlError::new(messages::SYSTEM_PROCEDURE_ARGUMENT, &[&"sp_settriggerorder"]);
    let order = match &*word("@order", 1) {
        "first" => TriggerOrder::First,
        "last" => TriggerOrder::Last,
        "none" => TriggerOrder::Neither,
        _ => return Err(invalid().into()),
    };
    let event = match &*word("@stmttype", 2) {
        "insert" => Events::INSERT,
        "update" => Events::UPDATE,
        "delete" => Events::DELETE,
        _ => return Err(invalid().into()),
    };
    let missing = || SqlError::new(messages::TRIGGER_NOT_FOUND, &[&written]);
    let name = tsql::parse_object_name(&written).map_err(|_| missing())?;
    let ordered = TriggerOrderCall { name, order, event };
    session.define_by_call(&ProcedureCall::TriggerOrder(ordered), out)?;
    Ok(0)
}
