//! `sys.stats`: statistics of indexes, and statistics without an index.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, maybe, null, word, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{SchemaId, Statistics};
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const NO_AUTO_DROP: &str = "AUTO_DROP is refused yet.";
const NO_REPLICAS: &str = "There are no replicas.";
const BY_SORT: &str = "Statistics are made from sorted values.";

const COLUMNS: [Column; 17] = [
    col("object_id", SqlType::Int),
    maybe("name", SqlType::SYSNAME),
    col("stats_id", SqlType::Int),
    maybe("auto_created", BIT),
    maybe("user_created", BIT),
    maybe("no_recompute", BIT),
    maybe("has_filter", BIT),
    maybe("filter_definition", SqlType::NVARCHAR_MAX),
    zero("is_temporary", BIT, NO_REPLICAS),
    zero("is_incremental", BIT, NO_PARTITIONS),
    zero("has_persisted_sample", BIT, NO_PERSISTED_SAMPLE),
    zero("stats_generation_method", SqlType::Int, BY_SORT),
    word("stats_generation_method_desc", SqlType::nvarchar(80), "Sort based statistics", BY_SORT),
    zero("auto_drop", BIT, NO_AUTO_DROP),
    null("replica_role_id", SqlType::TinyInt, NO_REPLICAS),
    null("replica_role_desc", SqlType::nvarchar(60), NO_REPLICAS),
    null("replica_name", SqlType::SYSNAME, NO_REPLICAS),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "stats", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all(system)? {
        for s in table.all_statistics() {
            let automatic = s.index.is_none() && s.name.starts_with(Statistics::AUTOMATIC);
            let filter = s.index.and_then(|i| i.filter.as_deref());
            rows.push(vec![
                int(table.object_id.0),
                text(s.name),
                int(s.stats_id.0),
                bit(automatic),
                bit(s.index.is_none() && !automatic),
                bit(s.gathered.no_recompute),
                bit(!s.is_whole()),
                filter.map_or(Value::Null, |f| text(&f.text)),
            ]);
        }
    }
    Ok(rows)
}
