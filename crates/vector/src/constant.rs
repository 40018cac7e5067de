//! `Constant`: a value that a column is compared with, made ready once for all batches.

use crate::lanes::{Lanes, float_of, whole_of, wide_of};
use types::{
    Collation, Family, SqlType, StorageOrder, Value, compare_storage, decode_storage,
    encode_storage,
};

/// A value as the lanes of a column have it.
#[derive(Clone, Debug)]
pub struct Constant(pub(crate) Lane);

#[derive(Clone, Debug)]
pub(crate) enum Lane {
    /// A comparison with it is unknown.
    Null,
    Whole(i64),
    Wide(i128),
    Float(f64),
    Bytes(Box<[u8]>, StorageOrder),
}

impl Constant {
    /// A value that a column of a type is compared with under a collation. `None` where no lane of
    /// the column could be this value, as 1.5 beside whole numbers: then the kernels cannot answer.
    pub fn new(value: &Value, column: SqlType, collation: Collation) -> Option<Constant> {
        if value.is_null() {
            return Some(Constant(Lane::Null));
        }
        Some(Constant(match Lanes::new(column) {
            Lanes::Whole(_) => Lane::Whole(whole_of(value, column)?),
            Lanes::Wide(_) => Lane::Wide(wide_of(value, column)?),
            Lanes::Float(_) => Lane::Float(float_of(value)?),
            Lanes::Bytes(_) => {
                let order = compare_storage(column, collation);
                Lane::Bytes(stored_beside(value, column)?, order)
            }
        }))
    }
}

/// The stored form of a value as it compares with those of a column: a string keeps its own length.
fn stored_beside(value: &Value, column: SqlType) -> Option<Box<[u8]>> {
    match (value, column.family()) {
        (Value::Char(b), Family::Char)
        | (Value::NChar(b), Family::NChar)
        | (Value::Binary(b), Family::Binary) => Some(b.as_slice().into()),
        (Value::Guid(_), Family::Guid)
        | (Value::DateTimeOffset(_), Family::Temporal)
        | (Value::Variant(_), Family::Variant) => {
            let mut stored = Vec::new();
            encode_storage(value, column, &mut stored);
            // A moment between two of the column's is none of them.
            let is_kept = decode_storage(&stored, column).is_ok_and(|back| back == *value);
            is_kept.then(|| stored.into())
        }
        _ => None,
    }
}
