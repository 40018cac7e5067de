//! What stands in schema dbo of master, one a file.

mod spt_values;

use crate::view::View;

/// All of them. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[&spt_values::VIEW];
