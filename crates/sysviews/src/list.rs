//! The list of views: their order, their object ids, and how a view is opened by its id.

use crate::column::Column;
use crate::rowset::Rowset;
use crate::stream::Stream;
use crate::view::{System, View};
use access::TableSource;
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{SchemaId, SystemObjects, VirtualColumn, VirtualParameter, VirtualTable};
use std::sync::Arc;
use types::{SqlType, Value};

/// The declaration of any view: one that returns all rows at once, or a stream.
pub(crate) struct ViewDeclaration {
    pub(crate) schema: SchemaId,
    pub(crate) name: &'static str,
    pub(crate) parameters: Option<&'static [(&'static str, SqlType)]>,
    pub(crate) columns: &'static [Column],
}

/// Every stream; its position behind all views gives its object id.
pub(crate) fn streams() -> impl Iterator<Item = &'static Stream> {
    crate::log::STREAMS.iter().copied()
}

/// Every view, and then every stream: in the order of their object ids.
pub(crate) fn declared() -> impl Iterator<Item = ViewDeclaration> {
    let views = views().map(|v| ViewDeclaration {
        schema: v.schema,
        name: v.name,
        parameters: v.parameters,
        columns: v.columns,
    });
    views.chain(streams().map(|s| ViewDeclaration {
        schema: SchemaId::SYS,
        name: s.name,
        parameters: Some(s.parameters),
        columns: s.columns,
    }))
}

/// Every view; its position gives its object id.
pub(crate) fn views() -> impl Iterator<Item = &'static View> {
    let sys = crate::sys::VIEWS.iter().chain(crate::dm::VIEWS);
    let sys = sys.chain(crate::information_schema::VIEWS).chain(crate::dbo::VIEWS);
    sys.chain(crate::compat::VIEWS).copied()
}

/// Ids of views count down from here.
const FIRST_ID: i32 = -101;

fn id_of(position: usize) -> ObjectId {
    ObjectId(FIRST_ID - position as i32)
}

pub(crate) fn schema_name(id: SchemaId) -> &'static str {
    match id {
        SchemaId::SYS => "sys",
        SchemaId::INFORMATION_SCHEMA => "INFORMATION_SCHEMA",
        _ => "dbo",
    }
}

/// The definitions of all views, for every database's catalog.
pub fn all() -> SystemObjects {
    SystemObjects::new(declared().enumerate().map(|(i, v)| {
        VirtualTable {
            object_id: id_of(i),
            schema_id: v.schema,
            schema_name: schema_name(v.schema).into(),
            name: v.name.into(),
            compatibility: crate::compat::VIEWS.iter().any(|c| c.name == v.name),
            parameters: v.parameters.map(|p| {
                let parameter = |(name, sql_type): &(&str, SqlType)| VirtualParameter {
                    name: (*name).into(),
                    sql_type: *sql_type,
                };
                p.iter().map(parameter).collect()
            }),
            columns: v
                .columns
                .iter()
                .map(|c| VirtualColumn {
                    name: c.name.into(),
                    sql_type: c.sql_type,
                    nullable: c.nullable,
                })
                .collect(),
        }
    }))
}

/// Opens a view with its arguments and takes its present rows.
///
/// # Errors
/// An unknown id, arguments that the function refuses, damaged pages, the waiter's cancellation.
pub fn open(
    system: &System<'_>,
    object: ObjectId,
    arguments: &[Value],
) -> SqlResult<Arc<dyn TableSource>> {
    let unknown = || SqlError::new(messages::INVALID_OBJECT, &[&object]);
    let position = usize::try_from(i64::from(FIRST_ID) - i64::from(object.0));
    let position = position.map_err(|_| unknown())?;
    if let Some(view) = views().nth(position) {
        let rows = (view.rows)(system, arguments)?;
        return Ok(Arc::new(Rowset::new(view.columns, rows)));
    }
    let stream = streams().nth(position - views().count()).ok_or_else(unknown)?;
    (stream.open)(system, arguments)
}
