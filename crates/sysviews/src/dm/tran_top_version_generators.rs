//! `sys.dm_tran_top_version_generators`: the heaps and indexes with the most bytes of stored
//! versions.

use crate::cell::int;
use crate::column::{Column, col};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use types::{SqlType, Value};

const COLUMNS: [Column; 3] = [
    col("database_id", SqlType::Int),
    col("rowset_id", SqlType::BigInt),
    col("aggregated_record_length_in_bytes", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_top_version_generators",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// The most rows that are shown.
const SHOWN: usize = 256;

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut bytes: BTreeMap<_, u64> = BTreeMap::new();
    rowstore::kept_versions(system.engine, system.waiter, &mut |versions| {
        for v in versions {
            *bytes.entry((v.database, v.hobt)).or_default() += v.record.len() as u64;
        }
        Ok(())
    })?;
    let mut all: Vec<_> = bytes.into_iter().collect();
    all.sort_by_key(|(_, bytes)| Reverse(*bytes));
    all.truncate(SHOWN);
    let row = |((database, hobt), bytes): (_, u64)| {
        let (database, hobt): (base::DatabaseId, base::HobtId) = (database, hobt);
        vec![int(database.0), Value::BigInt(hobt.as_bigint()), int(bytes)]
    };
    Ok(all.into_iter().map(row).collect())
}
