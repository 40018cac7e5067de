//! Catalog views, one in each file.

mod all_columns;
mod all_objects;
mod all_parameters;
mod all_sql_modules;
mod all_views;
mod allocation_units;
mod assemblies;
mod assembly_types;
mod certificates;
mod change_tracking_databases;
mod change_tracking_tables;
mod check_constraints;
mod column_list;
mod column_type_usages;
mod columns;
mod computed_columns;
mod configurations;
mod credentials;
mod data_spaces;
mod database_files;
mod database_permissions;
mod database_principals;
mod database_role_members;
mod database_scoped_configurations;
mod databases;
mod default_constraints;
mod destination_data_spaces;
mod event_notifications;
mod extended_properties;
mod external_tables;
mod file_list;
mod filegroups;
mod fn_helpcollations;
mod fn_listextendedproperty;
mod fn_phys_loc_cracker;
mod foreign_key_columns;
mod foreign_keys;
mod fulltext_catalogs;
mod fulltext_index_columns;
mod fulltext_indexes;
mod hash_indexes;
mod identity_columns;
mod index_columns;
mod indexes;
mod key_constraints;
mod linked_logins;
mod masked_columns;
mod master_files;
mod messages;
mod numbered_procedures;
mod object_list;
mod objects;
mod parameter_type_usages;
mod parameters;
mod partition_functions;
mod partition_parameters;
mod partition_range_values;
mod partition_schemes;
mod partitions;
mod periods;
mod principal_list;
mod procedures;
mod schemas;
mod security_policies;
mod security_predicates;
mod sequences;
mod server_permissions;
mod server_principals;
mod server_role_members;
mod server_triggers;
mod servers;
mod spatial_indexes;
mod sql_dependencies;
mod sql_expression_dependencies;
mod sql_logins;
mod sql_modules;
mod stats;
mod stats_columns;
mod symmetric_keys;
mod synonyms;
mod system_objects;
mod system_sql_modules;
mod system_views;
mod table_types;
mod tables;
mod time_zone_info;
mod trigger_events;
mod triggers;
mod types;
mod views;
mod xml_indexes;
mod xml_schema_collections;

use crate::view::View;

pub(crate) use column_list::system_type_id;
pub(crate) use file_list::{FileRow, files};
pub(crate) use index_columns::{OfIndex, index_columns};
pub(crate) use object_list::{ListedObject, all as all_objects, own as own_objects};
pub(crate) use principal_list::{Principal, principals};
pub(crate) use types::{NamedType, named_types};

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
    &fn_helpcollations::VIEW,
    &fn_listextendedproperty::VIEW,
    &database_scoped_configurations::VIEW,
    &synonyms::VIEW,
    &sql_expression_dependencies::VIEW,
    &all_parameters::VIEW,
    &all_sql_modules::VIEW,
    &all_views::VIEW,
    &assemblies::VIEW,
    &assembly_types::VIEW,
    &certificates::VIEW,
    &change_tracking_databases::VIEW,
    &change_tracking_tables::VIEW,
    &column_type_usages::VIEW,
    &credentials::VIEW,
    &data_spaces::VIEW,
    &database_permissions::VIEW,
    &database_principals::VIEW,
    &database_role_members::VIEW,
    &destination_data_spaces::VIEW,
    &event_notifications::VIEW,
    &external_tables::VIEW,
    &fulltext_catalogs::VIEW,
    &fulltext_index_columns::VIEW,
    &fulltext_indexes::VIEW,
    &hash_indexes::VIEW,
    &linked_logins::VIEW,
    &masked_columns::VIEW,
    &numbered_procedures::VIEW,
    &parameter_type_usages::VIEW,
    &partition_functions::VIEW,
    &partition_parameters::VIEW,
    &partition_range_values::VIEW,
    &partition_schemes::VIEW,
    &periods::VIEW,
    &security_policies::VIEW,
    &security_predicates::VIEW,
    &server_permissions::VIEW,
    &server_principals::VIEW,
    &server_role_members::VIEW,
    &server_triggers::VIEW,
    &spatial_indexes::VIEW,
    &sql_dependencies::VIEW,
    &sql_logins::VIEW,
    &symmetric_keys::VIEW,
    &system_sql_modules::VIEW,
    &xml_indexes::VIEW,
    &xml_schema_collections::VIEW,
    &servers::VIEW,
    &fn_phys_loc_cracker::VIEW,
];
