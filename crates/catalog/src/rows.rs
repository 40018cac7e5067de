//! Rows of system tables read and written through the same door as any rows.

use crate::error::CatalogError;
use crate::spec::SystemHobts;
use crate::sysrows::SystemRow;
use access::{Field, Isolation, LockPlan, RowKey, ScanRange, WriteError};
use base::{SqlError, SqlResult};
use types::{SqlType, Value, decode_storage, encode_storage};
use work::Work;

/// Definitions are guarded by object and name locks, not by the locks of their rows.
const READ: LockPlan = LockPlan::read(Isolation::ReadUncommitted);
/// Writers hold their rows, so that undo and two writers of one row cannot meet.
const WRITE: LockPlan = LockPlan::change(Isolation::ReadCommitted);

/// The stored bytes of values.
pub(crate) struct StoredValues(Vec<Option<Vec<u8>>>);

impl StoredValues {
    pub(crate) fn new(values: &[Value], types: impl Iterator<Item = SqlType>) -> StoredValues {
        let bytes = values.iter().zip(types).map(|(value, sql_type)| {
            (!value.is_null()).then(|| {
                let mut out = Vec::new();
                encode_storage(value, sql_type, &mut out);
                out
            })
        });
        StoredValues(bytes.collect())
    }

    pub(crate) fn of<R: SystemRow>(row: &R) -> StoredValues {
        StoredValues::new(&row.values(), R::DEFINITION.columns.iter().map(|c| c.sql_type))
    }

    /// The first `n` columns: a key.
    pub(crate) fn first(&self, n: usize) -> Vec<Field<'_>> {
        let stored = self.0.iter().take(n);
        stored.map(|b| b.as_deref().map_or(Field::Null, Field::Inline)).collect()
    }

    fn all(&self) -> Vec<Field<'_>> {
        self.first(self.0.len())
    }
}

/// All rows of a system table in key order.
pub(crate) fn scan<R: SystemRow>(system: &dyn SystemHobts, work: &mut Work) -> SqlResult<Vec<R>> {
    read(system, work, &ScanRange::default())
}

/// The rows whose first key columns are these.
pub(crate) fn find<R: SystemRow>(
    system: &dyn SystemHobts,
    work: &mut Work,
    key: &[Value],
) -> SqlResult<Vec<R>> {
    let key = StoredValues::new(key, R::DEFINITION.columns.iter().map(|c| c.sql_type));
    let fields = key.all();
    read(system, work, &ScanRange::equal(&fields))
}

fn read<R: SystemRow>(
    system: &dyn SystemHobts,
    work: &mut Work,
    range: &ScanRange<'_>,
) -> SqlResult<Vec<R>> {
    let table = R::DEFINITION;
    let hobt = system.open(table.id);
    let mut cursor = hobt.scan(work, range, &READ)?;
    let mut rows = Vec::new();
    let mut values = Vec::with_capacity(table.columns.len());
    while cursor.next(work)? {
        values.clear();
        for (n, column) in table.columns.iter().enumerate() {
            values.push(match cursor.field(n)? {
                Field::Null => Value::Null,
                Field::Inline(bytes) => decode_storage(bytes, column.sql_type)?,
                Field::OffRow(_) => {
                    return Err(CatalogError::corrupt(table.name, "a value off its row").into());
                }
            });
        }
        let row = R::from_values(&values);
        rows.push(row.ok_or_else(|| CatalogError::corrupt(table.name, format!("{values:?}")))?);
    }
    Ok(rows)
}

/// Inserts a row.
pub(crate) fn insert<R: SystemRow>(
    system: &dyn SystemHobts,
    work: &mut Work,
    row: &R,
) -> SqlResult<()> {
    let hobt = system.open(R::DEFINITION.id);
    let stored = StoredValues::of(row);
    hobt.insert(work, &stored.all(), &WRITE).map(drop).map_err(failed::<R>)
}

/// Replaces the row of the same key.
pub(crate) fn update<R: SystemRow>(
    system: &dyn SystemHobts,
    work: &mut Work,
    row: &R,
) -> SqlResult<()> {
    let hobt = system.open(R::DEFINITION.id);
    let stored = StoredValues::of(row);
    let fields = stored.first(R::DEFINITION.key);
    let key = RowKey { fields: &fields, hint: None };
    hobt.update(work, key, &stored.all(), &WRITE).map(drop).map_err(failed::<R>)
}

/// Deletes the row of the same key.
pub(crate) fn delete<R: SystemRow>(
    system: &dyn SystemHobts,
    work: &mut Work,
    row: &R,
) -> SqlResult<()> {
    let hobt = system.open(R::DEFINITION.id);
    let stored = StoredValues::of(row);
    let fields = stored.first(R::DEFINITION.key);
    hobt.delete(work, RowKey { fields: &fields, hint: None }, &WRITE).map_err(failed::<R>)
}

fn failed<R: SystemRow>(e: WriteError) -> SqlError {
    match e {
        WriteError::Sql(e) => e,
        other => {
            CatalogError::NotWritten { table: R::DEFINITION.name, why: format!("{other:?}") }.into()
        }
    }
}
