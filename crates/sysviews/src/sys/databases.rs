//! `sys.databases`: every database with its options; a database that is not open shows none.

use crate::cell::{bit, int, text};
use crate::column::{Column, Constant, col, fixed, join, maybe, null, number, word, zero};
use crate::reason::*;
use crate::view::{ClosedDatabase, Rows, System, View};
use catalog::view::SchemaId;
use catalog::{DatabaseOptions, DelayedDurability};
use database::Database;
use types::{SqlType, Value};
use work::SnapshotState;

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const TINY: SqlType = SqlType::TinyInt;
const DESC: SqlType = SqlType::nvarchar(60);
const OWNER: &str = "All databases belong to sa.";

const IDENTITY: [Column; 20] = [
    col("name", SqlType::SYSNAME),
    col("database_id", INT),
    null("source_database_id", INT, "There are no database snapshots."),
    fixed("owner_sid", SqlType::varbinary(85), Constant::Bytes(&[1]), OWNER),
    null("create_date", SqlType::DateTime, "Databases do not keep when they were made yet."),
    maybe("compatibility_level", TINY),
    maybe("collation_name", SqlType::SYSNAME),
    maybe("user_access", TINY),
    maybe("user_access_desc", DESC),
    maybe("is_read_only", BIT),
    maybe("is_auto_close_on", BIT),
    maybe("is_auto_shrink_on", BIT),
    col("state", TINY),
    col("state_desc", DESC),
    zero("is_in_standby", BIT, NO_BACKUP),
    zero("is_cleanly_shutdown", BIT, "AUTO_CLOSE cannot be ON."),
    zero("is_supplemental_logging_enabled", BIT, NO_REPLICATION),
    maybe("snapshot_isolation_state", TINY),
    maybe("snapshot_isolation_state_desc", DESC),
    maybe("is_read_committed_snapshot_on", BIT),
];

const SETTINGS: [Column; 18] = [
    maybe("recovery_model", TINY),
    maybe("recovery_model_desc", DESC),
    maybe("page_verify_option", TINY),
    maybe("page_verify_option_desc", DESC),
    maybe("is_auto_create_stats_on", BIT),
    zero("is_auto_create_stats_incremental_on", BIT, NO_PARTITIONS),
    maybe("is_auto_update_stats_on", BIT),
    maybe("is_auto_update_stats_async_on", BIT),
    maybe("is_ansi_null_default_on", BIT),
    maybe("is_ansi_nulls_on", BIT),
    maybe("is_ansi_padding_on", BIT),
    maybe("is_ansi_warnings_on", BIT),
    maybe("is_arithabort_on", BIT),
    maybe("is_concat_null_yields_null_on", BIT),
    maybe("is_numeric_roundabort_on", BIT),
    maybe("is_quoted_identifier_on", BIT),
    maybe("is_recursive_triggers_on", BIT),
    maybe("is_cursor_close_on_commit_on", BIT),
];

const FEATURES: [Column; 23] = [
    zero("is_local_cursor_default", BIT, "There are no server cursors of T-SQL yet."),
    zero("is_fulltext_enabled", BIT, NO_FULL_TEXT),
    zero("is_trustworthy_on", BIT, "TRUSTWORTHY cannot be set yet."),
    zero("is_db_chaining_on", BIT, "DB_CHAINING cannot be set yet."),
    maybe("is_parameterization_forced", BIT),
    zero("is_master_key_encrypted_by_server", BIT, NO_ENCRYPTION),
    zero("is_query_store_on", BIT, "There is no Query Store yet."),
    zero("is_published", BIT, NO_REPLICATION),
    zero("is_subscribed", BIT, NO_REPLICATION),
    zero("is_merge_published", BIT, NO_REPLICATION),
    zero("is_distributor", BIT, NO_REPLICATION),
    zero("is_sync_with_backup", BIT, NO_REPLICATION),
    zero("service_broker_guid", SqlType::UniqueIdentifier, NO_BROKER),
    zero("is_broker_enabled", BIT, NO_BROKER),
    maybe("log_reuse_wait", TINY),
    maybe("log_reuse_wait_desc", DESC),
    zero("is_date_correlation_on", BIT, "There are no date correlation statistics."),
    zero("is_cdc_enabled", BIT, NO_CDC),
    zero("is_encrypted", BIT, NO_ENCRYPTION),
    zero("is_honor_broker_priority_on", BIT, NO_BROKER),
    null("replica_id", SqlType::UniqueIdentifier, NO_GROUPS),
    null("group_database_id", SqlType::UniqueIdentifier, NO_GROUPS),
    null("resource_pool_id", INT, NO_MEMORY_TABLES),
];

const CONTAINMENT: [Column; 12] = [
    null("default_language_lcid", SqlType::SmallInt, NO_CONTAINMENT),
    null("default_language_name", SqlType::nvarchar(128), NO_CONTAINMENT),
    null("default_fulltext_language_lcid", INT, NO_CONTAINMENT),
    null("default_fulltext_language_name", SqlType::nvarchar(128), NO_CONTAINMENT),
    null("is_nested_triggers_on", BIT, NO_CONTAINMENT),
    null("is_transform_noise_words_on", BIT, NO_CONTAINMENT),
    null("two_digit_year_cutoff", SqlType::SmallInt, NO_CONTAINMENT),
    zero("containment", TINY, NO_CONTAINMENT),
    word("containment_desc", DESC, "NONE", NO_CONTAINMENT),
    maybe("target_recovery_time_in_seconds", INT),
    maybe("delayed_durability", INT),
    maybe("delayed_durability_desc", DESC),
];

const LATER: [Column; 17] = [
    zero("is_memory_optimized_elevate_to_snapshot_on", BIT, NO_MEMORY_TABLES),
    zero("is_federation_member", BIT, NO_SYNAPSE),
    zero("is_remote_data_archive_enabled", BIT, NO_STRETCH),
    zero("is_mixed_page_allocation_on", BIT, "Space is given out in extents of one owner."),
    number("is_temporal_history_retention_enabled", BIT, 1, NO_TEMPORAL),
    zero("catalog_collation_type", INT, NO_CONTAINMENT),
    word("catalog_collation_type_desc", DESC, "DATABASE_DEFAULT", NO_CONTAINMENT),
    maybe("physical_database_name", SqlType::nvarchar(128)),
    zero("is_result_set_caching_on", BIT, NO_SYNAPSE),
    maybe("is_accelerated_database_recovery_on", BIT),
    zero("is_tempdb_spill_to_remote_store", BIT, NO_SYNAPSE),
    zero("is_stale_page_detection_on", BIT, NO_SYNAPSE),
    zero("is_memory_optimized_enabled", BIT, NO_MEMORY_TABLES),
    zero("is_data_retention_enabled", BIT, "There is no data retention."),
    zero("is_ledger_on", BIT, NO_LEDGER),
    zero("is_change_feed_enabled", BIT, NO_SYNAPSE),
    maybe("is_optimized_locking_on", BIT),
];

const A: [Column; 38] = join(IDENTITY, SETTINGS);
const B: [Column; 61] = join(A, FEATURES);
const C: [Column; 73] = join(B, CONTAINMENT);
const COLUMNS: [Column; 90] = join(C, LATER);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "databases", parameters: None, columns: &COLUMNS, rows };

fn durability_number(setting: DelayedDurability) -> i32 {
    setting as i32
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let row = |db: std::sync::Arc<Database>| {
        let options = db.options();
        let mut cells = identity(&db, &options);
        cells.extend(settings(&options));
        let because = db.log().reuse_wait();
        cells.extend([
            bit(options.forced_parameterization),
            Value::TinyInt(because.number()),
            text(because.name()),
            int(options.target_recovery_seconds),
            int(durability_number(options.delayed_durability)),
            text(options.delayed_durability.name()),
            text(&db.home().name()),
            bit(options.accelerated_recovery),
            bit(options.optimized_locking),
        ]);
        cells
    };
    let open = system.databases.all().into_iter().map(|db| (db.id(), row(db)));
    let closed = system.databases.closed().into_iter().map(|db| (db.id, closed(&db)));
    let rows: std::collections::BTreeMap<_, _> = closed.chain(open).collect();
    Ok(rows.into_values().collect())
}

/// The cells of a database that is not open: name, number, whether it is read-only, state and state
/// name, and at the end its name again. Everything else is in its files.
fn closed(db: &ClosedDatabase) -> Vec<Value> {
    let computed = COLUMNS.iter().filter(|column| column.constant.is_none());
    let cell = |column: &Column| match column.name {
        "name" | "physical_database_name" => text(&db.name),
        "database_id" => int(db.id.0),
        "is_read_only" => bit(db.read_only),
        "state" => Value::TinyInt(db.state as u8),
        "state_desc" => text(db.state.name()),
        _ => Value::Null,
    };
    computed.map(cell).collect()
}

fn identity(db: &Database, options: &DatabaseOptions) -> Vec<Value> {
    let snapshots = db.home().snapshot_state();
    vec![
        text(&db.home().name()),
        int(db.id().0),
        Value::TinyInt(options.compatibility_level),
        text(db.view().collation().name()),
        Value::TinyInt(options.user_access as u8),
        text(options.user_access.name()),
        bit(options.read_only),
        bit(options.auto_close),
        bit(options.auto_shrink),
        Value::TinyInt(db.state() as u8),
        text(db.state().name()),
        Value::TinyInt(snapshots as u8),
        text(match snapshots {
            SnapshotState::Off => "OFF",
            SnapshotState::On => "ON",
            SnapshotState::ToOff => "IN_TRANSITION_TO_OFF",
            SnapshotState::ToOn => "IN_TRANSITION_TO_ON",
        }),
        bit(options.read_committed_snapshot),
    ]
}

fn settings(options: &DatabaseOptions) -> Vec<Value> {
    vec![
        Value::TinyInt(options.recovery as u8),
        text(options.recovery.name()),
        Value::TinyInt(options.page_verify as u8),
        text(options.page_verify.name()),
        bit(options.auto_create_statistics),
        bit(options.auto_update_statistics),
        bit(options.auto_update_statistics_async),
        bit(options.ansi_null_default),
        bit(options.ansi_nulls),
        bit(options.ansi_padding),
        bit(options.ansi_warnings),
        bit(options.arith_abort),
        bit(options.concat_null_yields_null),
        bit(options.numeric_round_abort),
        bit(options.quoted_identifier),
        bit(options.recursive_triggers),
        bit(options.cursor_close_on_commit),
    ]
}
