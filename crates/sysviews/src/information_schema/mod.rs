//! The views of INFORMATION_SCHEMA, one in each file.

mod check_constraints;
mod column_domain_usage;
mod column_privileges;
mod columns;
mod constraint_column_usage;
mod constraint_table_usage;
mod domain_constraints;
mod domains;
mod key_column_usage;
mod parameters;
mod referential_constraints;
mod routine_columns;
mod routines;
mod schemata;
mod sequences;
mod table_constraints;
mod table_privileges;
mod tables;
mod view_column_usage;
mod view_table_usage;
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
    &referential_constraints::VIEW,
    &constraint_column_usage::VIEW,
    &constraint_table_usage::VIEW,
    &check_constraints::VIEW,
    &domains::VIEW,
    &sequences::VIEW,
    &parameters::VIEW,
    &view_table_usage::VIEW,
    &view_column_usage::VIEW,
    &column_domain_usage::VIEW,
    &domain_constraints::VIEW,
    &table_privileges::VIEW,
    &column_privileges::VIEW,
    &routine_columns::VIEW,
];
