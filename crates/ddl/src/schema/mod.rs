//! CREATE SCHEMA

pub(crate) mod transfer;

use crate::context::{DdlContext, unsupported};
use base::{SqlError, SqlResult, messages};
use catalog::view::Schema;
use catalog::{Changes, Delta};
use tsql::ast::CreateSchema;

pub(crate) fn create(s: &CreateSchema, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let Some(name) = &s.name else { return Err(unsupported("AUTHORIZATION", 0)) };
    // Every session is dbo until there are principals.
    if let Some(owner) = &s.owner
        && !owner.eq_ignore_ascii_case("dbo")
    {
        return Err(unsupported("AUTHORIZATION", owner.line));
    }
    if !s.elements.is_empty() {
        return Err(unsupported("elements of CREATE SCHEMA", name.line));
    }
    let database = cx.place(None)?.view.id();
    catalog::lock_schema_name(cx.work, database, name)?;
    let place = cx.place(None)?;
    if place.view.schema(name).is_some() {
        let e = SqlError::new(messages::OBJECT_EXISTS, &[name]).at_line(name.line);
        return Err(cx.after(e, SqlError::new(messages::CREATE_SCHEMA_EXISTS, &[])));
    }
    let schema = Schema { id: place.ids.schema(), name: (**name).into(), properties: Vec::new() };
    Changes::new(&*place.system).put_schema(cx.work, &schema)?;
    cx.deltas.push((database, Delta::PutSchema(schema)));
    Ok(())
}
