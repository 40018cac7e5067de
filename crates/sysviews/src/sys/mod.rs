//! Catalog views, one a file.

mod databases;
mod objects;

use crate::view::View;

/// All of them. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[&databases::VIEW, &objects::VIEW];
