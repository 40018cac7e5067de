//! Views that are read as a stream, because what they show has no bound: a source of their own
//! gives row by row what a [`crate::view::View`] gives at once.

use crate::column::Column;
use crate::view::System;
use access::TableSource;
use base::SqlResult;
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
