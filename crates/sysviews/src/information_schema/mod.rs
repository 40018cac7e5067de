//! The views of INFORMATION_SCHEMA, one a file.

mod columns;
mod key_column_usage;
mod routines;
mod schemata;
mod table_constraints;
mod tables;
mod views;

use crate::view::View;

/// All of them. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[
    &tables::VIEW,
    &columns::VIEW,
    &schemata::VIEW,
    &routines::VIEW,
    &table_constraints::VIEW,
    &key_column_usage::VIEW,
    &views::VIEW,
];
