//! Catalog views, one a file.

mod all_columns;
mod all_objects;
mod allocation_units;
mod check_constraints;
mod column_list;
mod columns;
mod computed_columns;
mod configurations;
mod database_files;
mod database_scoped_configurations;
mod databases;
mod default_constraints;
mod extended_properties;
mod file_list;
mod filegroups;
mod fn_listextendedproperty;
mod foreign_key_columns;
mod foreign_keys;
mod identity_columns;
mod index_columns;
mod indexes;
mod key_constraints;
mod master_files;
mod messages;
mod object_list;
mod objects;
mod parameters;
mod partitions;
mod procedures;
mod schemas;
mod sequences;
mod sql_expression_dependencies;
mod sql_modules;
mod stats;
mod stats_columns;
mod synonyms;
mod system_objects;
mod system_views;
mod table_types;
mod tables;
mod time_zone_info;
mod trigger_events;
mod triggers;
mod types;
mod views;

use crate::view::View;

pub(crate) use object_list::own as own_objects;

/// All of them. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[
    &databases::VIEW,
    &objects::VIEW,
    &tables::VIEW,
    &time_zone_info::VIEW,
    &columns::VIEW,
    &indexes::VIEW,
    &index_columns::VIEW,
    &schemas::VIEW,
    &types::VIEW,
    &partitions::VIEW,
    &allocation_units::VIEW,
    &master_files::VIEW,
    &database_files::VIEW,
    &key_constraints::VIEW,
    &check_constraints::VIEW,
    &default_constraints::VIEW,
    &identity_columns::VIEW,
    &computed_columns::VIEW,
    &procedures::VIEW,
    &sql_modules::VIEW,
    &views::VIEW,
    &foreign_keys::VIEW,
    &foreign_key_columns::VIEW,
    &triggers::VIEW,
    &system_views::VIEW,
    &system_objects::VIEW,
    &all_objects::VIEW,
    &all_columns::VIEW,
    &configurations::VIEW,
    &messages::VIEW,
    &filegroups::VIEW,
    &stats::VIEW,
    &stats_columns::VIEW,
    &parameters::VIEW,
    &trigger_events::VIEW,
    &sequences::VIEW,
    &table_types::VIEW,
    &extended_properties::VIEW,
    &fn_listextendedproperty::VIEW,
    &database_scoped_configurations::VIEW,
    &synonyms::VIEW,
    &sql_expression_dependencies::VIEW,
];
