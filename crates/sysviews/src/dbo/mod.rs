//! The objects of schema dbo in master, one in each file.

mod spt_values;

use crate::view::View;

/// All of them. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[&spt_values::VIEW];
