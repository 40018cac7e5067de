//! `sp_rename @objname, @newname [, @objtype]`

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::host::definitions::ProcedureCall;
use crate::host::definitions::RenameCall;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = call.text("@objname", 0).unwrap_or_default();
    let new_name = call.text("@newname", 1).unwrap_or_default();
    let name = tsql::parse_object_name(&name)?;
    if new_name.is_empty() {
        return Err(SqlError::new(messages::RENAME_NAME_INVALID, &[&new_name]).into());
    }
    if new_name.chars().count() > base::limits::IDENTIFIER_CHARS_MAX {
        return Err(SqlError::new(messages::RENAME_NAME_TOO_LONG, &[&new_name]).into());
    }
    let kind = call.text("@objtype", 2);
    let rename = RenameCall { name, new_name, kind };
    session.define_by_call(&ProcedureCall::Rename(rename), out)?;
    Ok(0)
}
