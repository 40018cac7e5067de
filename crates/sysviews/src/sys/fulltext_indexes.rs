//! `sys.fulltext_indexes`: full-text indexes; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_FULL_TEXT;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 15] = no_rows(
    [
        col("object_id", SqlType::Int),
        col("unique_index_id", SqlType::Int),
        maybe("fulltext_catalog_id", SqlType::Int),
        col("is_enabled", SqlType::Bit),
        maybe("change_tracking_state", SqlType::Char(1)),
        maybe("change_tracking_state_desc", SqlType::nvarchar(60)),
        col("has_crawl_completed", SqlType::Bit),
        col("crawl_type", SqlType::Char(1)),
        maybe("crawl_type_desc", SqlType::nvarchar(60)),
        maybe("crawl_start_date", SqlType::DateTime),
        maybe("crawl_end_date", SqlType::DateTime),
        maybe("incremental_timestamp", SqlType::Binary(8)),
        maybe("stoplist_id", SqlType::Int),
        col("data_space_id", SqlType::Int),
        maybe("property_list_id", SqlType::Int),
    ],
    NO_FULL_TEXT,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "fulltext_indexes",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
