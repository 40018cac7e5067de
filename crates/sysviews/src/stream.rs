//! Views that are read as a stream, because their size has no bound. A source of their own returns
//! row by row what a [`crate::view::View`] returns at once.

use crate::column::Column;
use crate::view::System;
use access::TableSource;
use base::SqlResult;
use std::sync::Arc;
use types::{SqlType, Value};

/// A view or function in schema sys: everything about it is in one folder.
pub(crate) struct Stream {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [(&'static str, SqlType)],
    pub(crate) columns: &'static [Column],
    /// Opens its rows from now on.
    pub(crate) open: Open,
}

/// Opens a source for a view's arguments.
type Open = fn(&System<'_>, &[Value]) -> SqlResult<Arc<dyn TableSource>>;
