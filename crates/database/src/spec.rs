//! From SQL types to widths and comparisons, which a storage format gets instead of types.

use access::HobtKind;
use catalog::view::{IndexKind, stored_width};
use catalog::{HobtSpec, SYSTEM_TABLES};
use page::{Compare, KeyColumn, Number};
use std::cmp::Ordering;
use types::SqlType;

/// Uniquifiers are ordered as numbers; their bytes are little-endian.
fn compare_uniquifiers(a: &[u8], b: &[u8], _: u16) -> Ordering {
    let number = |b: &[u8]| b.iter().rev().fold(0_u64, |n, &x| (n << 8) | u64::from(x));
    number(a).cmp(&number(b))
}

/// How values of a type map to numbers in the same order.
fn number(sql_type: SqlType) -> Option<Number> {
    match sql_type {
        SqlType::SmallInt | SqlType::Int | SqlType::BigInt => Some(Number::Signed),
        SqlType::Money | SqlType::SmallMoney | SqlType::DateTime => Some(Number::Signed),
        SqlType::TinyInt | SqlType::Date | SqlType::Time(_) => Some(Number::Unsigned),
        SqlType::SmallDateTime | SqlType::DateTime2(_) => Some(Number::Unsigned),
        _ => None,
    }
}

/// The part of a definition that a storage format needs.
pub(crate) fn row_spec(spec: &HobtSpec, unit: base::AllocUnitId) -> access::HobtSpec {
    let kind = match spec.kind {
        IndexKind::Heap => HobtKind::Heap,
        IndexKind::Clustered => HobtKind::Clustered,
        IndexKind::Nonclustered => HobtKind::Nonclustered,
    };
    let uniquifier = kind == HobtKind::Clustered && !spec.unique;
    let last = spec.key.len().wrapping_sub(1);
    let key_column = |(n, k): (usize, &catalog::view::KeyField)| {
        let column = &spec.columns[k.field];
        let (sql_type, collation) = (column.sql_type, column.collation);
        let (compare, hash): (Compare, _) = match uniquifier && n == last {
            true => (compare_uniquifiers, None),
            false => {
                let hash = types::hash_storage(sql_type, collation).map(|hash| hash.function);
                (types::compare_storage(sql_type, collation).function, hash)
            }
        };
        let number = number(sql_type).filter(|_| !(uniquifier && n == last));
        let weights = types::storage_weights(sql_type, collation);
        let (descending, leaf_column) = (k.descending, k.field);
        let rule = collation.id();
        KeyColumn { hash, compare, rule, number, weights, descending, leaf_column }
    };
    access::HobtSpec {
        hobt: spec.hobt,
        unit,
        object: spec.object_id,
        kind,
        widths: spec.columns.iter().map(|c| stored_width(c.sql_type)).collect(),
        added: spec.added.clone(),
        nullable: spec.columns.iter().any(|c| c.nullable),
        key: spec.key.iter().enumerate().map(key_column).collect(),
        nullable_key: spec.key.iter().any(|k| spec.columns[k.field].nullable),
        uniquifier,
        pieces: false,
        versions: SYSTEM_TABLES.iter().all(|t| t.id.hobt() != spec.hobt),
    }
}
