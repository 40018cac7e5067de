//! Refuses to drop or change a module or object that another one still uses (3729).

use crate::context::{DdlContext, Place};
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Module, Object};

/// Fails with 3729 if a schema-bound module is bound to an object.
pub(crate) fn not_bound(
    place: &Place,
    object: ObjectId,
    verb: &dyn std::fmt::Display,
    named: &str,
) -> SqlResult<()> {
    match place.view.bound_to(object, None) {
        Some(user) => {
            let args: [&dyn std::fmt::Display; 3] = [verb, &named, &user.name];
            Err(SqlError::new(messages::DROP_SCHEMA_REFERENCED, &args))
        }
        None => Ok(()),
    }
}

/// Fails with 3729 if a schema-bound module is bound to a module, or a table's definition names it.
pub(crate) fn not_used(
    cx: &DdlContext<'_>,
    place: &Place,
    module: &Module,
    verb: &str,
) -> SqlResult<()> {
    let named = module.two_part_name();
    not_bound(place, module.object_id, &verb, &named)?;
    if !module.kind.is_function() {
        return Ok(());
    }
    let user = place.view.objects().find_map(|o| match o {
        Object::Table(t) => cx.expressions.user_of(&place.view, t, module),
        Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => None,
    });
    let Some(user) = user else { return Ok(()) };
    Err(SqlError::new(messages::DROP_SCHEMA_REFERENCED, &[&verb, &named, &user]))
}
