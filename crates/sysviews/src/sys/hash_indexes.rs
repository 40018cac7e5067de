//! `sys.hash_indexes`: hash indexes of memory-optimized tables; there are none.

use crate::column::{Column, col, join, no_rows};
use crate::reason::NO_MEMORY_TABLES;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 24] =
    no_rows(join(super::indexes::COLUMNS, [col("bucket_count", SqlType::Int)]), NO_MEMORY_TABLES);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "hash_indexes", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
