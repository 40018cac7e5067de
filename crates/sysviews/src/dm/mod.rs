//! Dynamic management views, one in each file.

mod counters;
mod db_database_page_allocations;
mod db_index_fill_factors;
mod db_index_operational_stats;
mod db_index_physical_stats;
mod db_index_usage_stats;
mod db_log_info;
mod db_log_space_usage;
mod db_log_stats;
mod db_page_info;
mod db_partition_stats;
mod db_stats_histogram;
pub(crate) mod db_stats_properties;
mod exec_cached_plans;
mod exec_connections;
mod exec_input_buffer;
mod exec_plan_attributes;
mod exec_procedure_stats;
mod exec_query_memory_grants;
mod exec_query_plan;
mod exec_query_plan_stats;
mod exec_query_profiles;
mod exec_query_resource_semaphores;
mod exec_query_statistics_xml;
mod exec_query_stats;
mod exec_requests;
mod exec_session_wait_stats;
mod exec_sessions;
mod exec_sql_text;
mod exec_text_query_plan;
mod fn_virtualfilestats;
mod indexes;
mod io_virtual_file_stats;
pub(crate) mod locks;
mod os_latch_stats;
mod os_memory_clerks;
mod os_performance_counters;
mod os_spinlock_stats;
mod os_wait_stats;
mod os_waiting_tasks;
mod plan_list;
pub(crate) mod session_list;
mod sql_referencing_entities;
mod tran_aborted_transactions;
mod tran_active_snapshot_database_transactions;
mod tran_active_transactions;
mod tran_current_snapshot;
mod tran_current_transaction;
mod tran_database_transactions;
mod tran_kept_versions;
mod tran_locks;
mod tran_persistent_version_store_stats;
mod tran_session_transactions;
mod tran_top_version_generators;
mod tran_transactions_snapshot;
mod tran_version_blockers;
mod tran_version_store;
mod tran_version_store_space_usage;
mod versions;
mod xe_session_targets;
mod xe_sessions;

use crate::view::View;

/// All of them. Append only: the position is the object id.
pub(crate) const VIEWS: &[&View] = &[
    &db_index_physical_stats::VIEW,
    &os_wait_stats::VIEW,
    &db_partition_stats::VIEW,
    &tran_locks::VIEW,
    &exec_sessions::VIEW,
    &exec_requests::VIEW,
    &exec_connections::VIEW,
    &exec_sql_text::VIEW,
    &exec_input_buffer::VIEW,
    &io_virtual_file_stats::VIEW,
    &tran_active_transactions::VIEW,
    &tran_session_transactions::VIEW,
    &db_log_space_usage::VIEW,
    &db_log_info::VIEW,
    &os_waiting_tasks::VIEW,
    &exec_query_memory_grants::VIEW,
    &exec_query_resource_semaphores::VIEW,
    &db_stats_properties::VIEW,
    &db_stats_histogram::VIEW,
    &sql_referencing_entities::VIEW,
    &exec_query_stats::VIEW,
    &exec_procedure_stats::VIEW,
    &exec_cached_plans::VIEW,
    &exec_plan_attributes::VIEW,
    &exec_query_plan::VIEW,
    &exec_text_query_plan::VIEW,
    &os_memory_clerks::VIEW,
    &exec_query_profiles::VIEW,
    &exec_query_statistics_xml::VIEW,
    &exec_query_plan_stats::VIEW,
    &os_performance_counters::VIEW,
    &tran_database_transactions::VIEW,
    &xe_sessions::VIEW,
    &xe_session_targets::VIEW,
    &tran_active_snapshot_database_transactions::VIEW,
    &tran_version_store::VIEW,
    &tran_version_store_space_usage::VIEW,
    &tran_top_version_generators::VIEW,
    &tran_current_transaction::VIEW,
    &tran_current_snapshot::VIEW,
    &tran_transactions_snapshot::VIEW,
    &tran_version_blockers::VIEW,
    &db_page_info::VIEW,
    &db_database_page_allocations::VIEW,
    &db_log_stats::VIEW,
    &fn_virtualfilestats::VIEW,
    &exec_session_wait_stats::VIEW,
    &os_latch_stats::VIEW,
    &os_spinlock_stats::VIEW,
    &db_index_usage_stats::VIEW,
    &db_index_operational_stats::VIEW,
    &db_index_fill_factors::VIEW,
    &tran_persistent_version_store_stats::VIEW,
    &tran_aborted_transactions::VIEW,
    &tran_kept_versions::VIEW,
];
