//! Views that are read as a stream, because what they show has no bound: a source of their own
//! gives row by row what a [`crate::view::View`] gives at once.

use crate::column::Column;
use crate::view::System;
use access::TableSource;
use base::SqlResult;
use catalog::view::SchemaId;
use std::sync::Arc;
use types::{SqlType, Value};

/// A view or function in schema sys: everything about it stands in one folder.
pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [(&'static str, SqlType)],
    pub(crate) columns: &'static [Column],
    /// The rows from now on.
    pub(crate) open: Open,
}

/// What gives a source for a view's arguments.
type Open = fn(&System<'_>, &[Value]) -> SqlResult<Arc<dyn TableSource>>;

/// What is declared of any view: one that answers at once, or a stream.
pub(crate) struct Declared {
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
pub(crate) fn declared() -> impl Iterator<Item = Declared> {
    let views = crate::view::views().map(|v| Declared {
        schema: v.schema,
        name: v.name,
        parameters: v.parameters,
        columns: v.columns,
    });
    views.chain(streams().map(|s| Declared {
        schema: SchemaId::SYS,
        name: s.name,
        parameters: Some(s.parameters),
        columns: s.columns,
    }))
}
