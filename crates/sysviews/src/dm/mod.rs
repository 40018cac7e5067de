//! Dynamic management views, one a file.

mod db_index_physical_stats;
mod os_wait_stats;

use crate::view::View;

/// All of them. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[&db_index_physical_stats::VIEW, &os_wait_stats::VIEW];
