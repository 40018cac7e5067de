//! `sys.views`: user views.

use super::object_list;
use crate::cell::bit;
use crate::column::{Column, col, join, word, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;

pub(super) const COLUMNS: [Column; 23] = join(
    object_list::of_kind("V", "VIEW"),
    [
        zero("is_replicated", BIT, NO_REPLICATION),
        zero("has_replication_filter", BIT, NO_REPLICATION),
        zero("has_opaque_metadata", BIT, "WITH VIEW_METADATA is refused."),
        zero("has_unchecked_assembly_data", BIT, NO_CLR),
        col("with_check_option", BIT),
        zero("is_date_correlation_view", BIT, "There are no date correlation statistics."),
        zero("is_tracked_by_cdc", BIT, NO_CDC),
        zero("has_snapshot", BIT, NO_ROWS_OF_VIEWS),
        zero("ledger_view_type", SqlType::TinyInt, NO_LEDGER),
        word("ledger_view_type_desc", SqlType::nvarchar(60), "NON_LEDGER_VIEW", NO_LEDGER),
        zero("is_dropped_ledger_view", BIT, NO_LEDGER),
    ],
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "views", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let modules = tables::modules(system)?;
    let cells = |l: &object_list::ListedObject| {
        let module = modules.iter().find(|m| m.object_id == l.id);
        let mut cells = l.kind_cells();
        cells.push(bit(module.is_some_and(|m| m.options.check_option)));
        cells
    };
    Ok(object_list::own_of(system, "V")?.iter().map(cells).collect())
}
