//! `sys.dm_tran_version_store`: every stored version, with its bytes.

use crate::cell::{big, int};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use base::{SqlError, messages};
use catalog::view::SchemaId;
use database::Database;
use page::VersionPtr;
use rowstore::KeptVersion;
use std::sync::Arc;
use types::{Bytes, SqlType, Value};

const BIG: SqlType = SqlType::BigInt;
const SMALL: SqlType = SqlType::SmallInt;
const IMAGE: SqlType = SqlType::varbinary(PART_BYTES_MAX as u16);

const COLUMNS: [Column; 10] = [
    col("transaction_sequence_num", BIG),
    col("version_sequence_num", BIG),
    col("database_id", SqlType::Int),
    col("rowset_id", BIG),
    col("status", SqlType::TinyInt),
    maybe("min_length_in_bytes", SMALL),
    col("record_length_first_part_in_bytes", SMALL),
    maybe("record_image_first_part", IMAGE),
    col("record_length_second_part_in_bytes", SMALL),
    maybe("record_image_second_part", IMAGE),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_version_store",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// The most bytes of a part; the rest of a longer record is its second part.
const PART_BYTES_MAX: usize = 8000;
/// A larger store is refused, because the whole store is in memory while it is shown.
const BYTES_MAX: usize = 256 << 20;
/// The bytes of a row without the images.
const ROW_BYTES: usize = 600;

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    rowstore::kept_versions(system.engine, system.waiter, &mut |versions| {
        for version in versions {
            bytes += ROW_BYTES + version.record.len();
            rows.push(row(system.databases.get(version.database), version));
        }
        match bytes > BYTES_MAX {
            true => Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"])),
            false => Ok(()),
        }
    })?;
    Ok(rows)
}

fn row(database: Option<Arc<Database>>, version: &KeptVersion<'_>) -> Vec<Value> {
    let VersionPtr { page, slot, .. } = version.place;
    let place = u64::from(page.file.0) << 48 | u64::from(page.page) << 16 | u64::from(slot.0);
    let hobt = database.and_then(|d| d.hobts().get(version.hobt));
    let (first, second) = version.record.split_at(version.record.len().min(PART_BYTES_MAX));
    let length = |part: &[u8]| Value::SmallInt(part.len() as i16);
    let image = |part: &[u8]| match part.is_empty() {
        true => Value::Null,
        false => Value::Binary(Bytes::new(part)),
    };
    vec![
        big(version.superseder.0),
        big(place),
        int(version.database.0),
        Value::BigInt(version.hobt.as_bigint()),
        Value::TinyInt(u8::from(!second.is_empty())),
        version.fixed_bytes(hobt.as_deref()).map_or(Value::Null, |n| Value::SmallInt(n as i16)),
        length(first),
        image(first),
        length(second),
        image(second),
    ]
}
