//! CREATE and DROP SYNONYM. CREATE does not check that the target exists; its use does.

use crate::context::{DdlContext, Place, unsupported};
use crate::locate::{is_temporary, locked_object, name_taken, schema_for};
use base::{SqlError, SqlResult, messages};
use catalog::view::{BaseName, Object, Synonym};
use catalog::{Changes, Delta};
use std::sync::Arc;
use tsql::ast::{CreateSynonym, Name};

pub(crate) fn create(s: &CreateSynonym, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let line = s.name.span.line;
    if is_temporary(&s.name) {
        return Err(unsupported("temporary synonyms", line));
    }
    if s.name.database.is_some() {
        let e = SqlError::new(messages::CREATE_PREFIX_DATABASE, &[&"CREATE SYNONYM"]);
        return Err(e.at_line(line));
    }
    if s.target.server.is_some() {
        return Err(unsupported("linked servers", s.target.span.line));
    }
    let (place, schema) = schema_for(cx, &s.name)?;
    let found = locked_object(cx, &s.name)?.filter(|(_, o)| o.schema_id() == schema.id);
    if found.is_some() || name_taken(&place, schema.id, &s.name.object) {
        let e = SqlError::new(messages::OBJECT_EXISTS, &[&s.name.object]).with_state(3);
        return Err(e.at_line(line));
    }
    let part = |name: &Option<Name>| name.as_ref().map(|n| n.text.clone());
    let made = Synonym {
        object_id: place.ids.object(),
        schema_id: schema.id,
        schema_name: schema.name.clone(),
        name: s.name.object.text.clone(),
        base: BaseName {
            server: None,
            database: part(&s.target.database),
            schema: part(&s.target.schema),
            object: s.target.object.text.clone(),
        },
        properties: Vec::new(),
    };
    let database = place.view.id();
    catalog::lock_object(cx.work, database, made.object_id)?;
    Changes::new(&*place.system).put_synonym(cx.work, None, &made)?;
    cx.deltas.push((database, Delta::PutObject(Object::Synonym(Arc::new(made)))));
    Ok(())
}

/// DROP SYNONYM
pub(crate) fn drop(cx: &mut DdlContext<'_>, place: &Place, synonym: &Synonym) -> SqlResult<()> {
    let database = place.view.id();
    catalog::lock_name(cx.work, database, synonym.schema_id, &synonym.name)?;
    Changes::new(&*place.system).remove_synonym(cx.work, synonym)?;
    cx.deltas.push((database, Delta::RemoveObject(synonym.object_id)));
    Ok(())
}
