//! `sys.tables`: the tables of the current database.

use super::object_list;
use crate::cell::int;
use crate::column::{Column, col, join, null, number, word, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const TINY: SqlType = SqlType::TinyInt;
const DESC: SqlType = SqlType::nvarchar(60);
const NO_RETENTION: &str = "There is no data retention.";

const COLUMNS: [Column; 44] = join(
    object_list::of_kind("U", "USER_TABLE"),
    [
        zero("lob_data_space_id", INT, NO_LARGE_UNITS),
        null("filestream_data_space_id", INT, NO_FILESTREAM),
        col("max_column_id_used", INT),
        zero("lock_on_bulk_load", BIT, "sp_tableoption does not exist yet."),
        number("uses_ansi_nulls", BIT, 1, "Tables are always made with ANSI_NULLS ON."),
        zero("is_replicated", BIT, NO_REPLICATION),
        zero("has_replication_filter", BIT, NO_REPLICATION),
        zero("is_merge_published", BIT, NO_REPLICATION),
        zero("is_sync_tran_subscribed", BIT, NO_REPLICATION),
        zero("has_unchecked_assembly_data", BIT, NO_CLR),
        zero("text_in_row_limit", INT, "There is no type text."),
        zero("large_value_types_out_of_row", BIT, "sp_tableoption does not exist yet."),
        zero("is_tracked_by_cdc", BIT, NO_CDC),
        zero("lock_escalation", TINY, "LOCK_ESCALATION cannot be set yet."),
        word("lock_escalation_desc", DESC, "TABLE", "LOCK_ESCALATION cannot be set yet."),
        zero("is_filetable", BIT, NO_FILESTREAM),
        zero("is_memory_optimized", BIT, NO_MEMORY_TABLES),
        zero("durability", TINY, NO_MEMORY_TABLES),
        word("durability_desc", DESC, "SCHEMA_AND_DATA", NO_MEMORY_TABLES),
        zero("temporal_type", TINY, NO_TEMPORAL),
        word("temporal_type_desc", DESC, "NON_TEMPORAL_TABLE", NO_TEMPORAL),
        null("history_table_id", INT, NO_TEMPORAL),
        zero("is_remote_data_archive_enabled", BIT, NO_STRETCH),
        zero("is_external", BIT, "There are no external tables."),
        null("history_retention_period", INT, NO_TEMPORAL),
        null("history_retention_period_unit", INT, NO_TEMPORAL),
        null("history_retention_period_unit_desc", SqlType::nvarchar(10), NO_TEMPORAL),
        zero("is_node", BIT, NO_GRAPH),
        zero("is_edge", BIT, NO_GRAPH),
        number("data_retention_period", INT, -1, NO_RETENTION),
        number("data_retention_period_unit", INT, -1, NO_RETENTION),
        word("data_retention_period_unit_desc", SqlType::nvarchar(10), "INFINITE", NO_RETENTION),
    ],
);

const LEDGER: [Column; 4] = [
    zero("ledger_type", TINY, NO_LEDGER),
    word("ledger_type_desc", DESC, "NON_LEDGER_TABLE", NO_LEDGER),
    null("ledger_view_id", INT, NO_LEDGER),
    zero("is_dropped_ledger_table", BIT, NO_LEDGER),
];

const ALL: [Column; 48] = join(COLUMNS, LEDGER);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "tables", parameters: None, columns: &ALL, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let tables = tables::own(system)?;
    let mut rows = Vec::new();
    for listed in object_list::own_of(system, "U")? {
        let table = tables.iter().find(|t| t.object_id == listed.id);
        let last = table.and_then(|t| t.columns.iter().map(|c| c.column_id).max());
        let mut cells = listed.kind_cells();
        cells.push(int(last.unwrap_or(0)));
        rows.push(cells);
    }
    Ok(rows)
}
