//! `sp_recompile 'object'`: a procedure, or every program that names a table, is compiled again at
//! its next run.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::program::steps::Program;
use crate::session::Session;
use base::{SqlError, messages};
use catalog::view::Object;
use plan::Reference;
use plancache::Entry;

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = call.text("@objname", 0).unwrap_or_default();
    let unknown = || SqlError::new(messages::OBJECT_NOT_FOUND_OR_DENIED, &[&name]);
    let spelled = tsql::parse_object_name(&name).map_err(|_| unknown())?;
    let found = session.find_object(&spelled, session.state.database.id);
    let (database, object) = found.ok_or_else(unknown)?;
    let programs = session.host.programs();
    match &object {
        Object::Module(module) => programs.clear_object(database, module.object_id),
        Object::Table(table) => {
            let table = Reference { database, object: table.object_id };
            programs.remove_where(|e| names(e, &table));
        }
        Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => {
            return Err(unknown().into());
        }
    }
    out.message(&SqlError::new(messages::MARKED_FOR_RECOMPILE, &[&name]).at_line(1));
    Ok(0)
}

/// Whether any plan of a program refers to a table.
fn names(entry: &Entry<Program>, table: &Reference) -> bool {
    let mut plans = entry.value.places.iter().filter_map(|p| p.cell.shown());
    plans.any(|s| s.plan.header.references.contains(table))
}
