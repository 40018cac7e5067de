//! What equal stored values have in common, for whoever knows a value by a hash: lock resources.
//!
//! Invariant: forms that [`crate::compare_storage`] calls equal feed a hasher alike.

use crate::{Collation, SqlType, Variant};
use std::hash::Hasher;

/// Feeds a hasher with what equality looks at in a stored form.
#[derive(Clone, Copy, Debug)]
pub struct StorageHash {
    /// Given a form, `rule` and the hasher.
    pub function: fn(&[u8], u16, &mut dyn Hasher),
    /// The number of the collation.
    pub rule: u16,
}

impl StorageHash {
    /// Feeds a hasher with what equality looks at in a stored form.
    pub fn feed(&self, bytes: &[u8], state: &mut dyn Hasher) {
        (self.function)(bytes, self.rule, state);
    }
}

/// The function that hashes stored forms of a type; `None` where equal values have equal bytes.
/// It does not panic for bytes that are no values.
pub fn hash_storage(sql_type: SqlType, collation: Collation) -> Option<StorageHash> {
    let function: fn(&[u8], u16, &mut dyn Hasher) = match sql_type {
        SqlType::Bit
        | SqlType::TinyInt
        | SqlType::SmallInt
        | SqlType::Int
        | SqlType::BigInt
        | SqlType::SmallMoney
        | SqlType::Money
        | SqlType::Date
        | SqlType::Time(_)
        | SqlType::DateTime
        | SqlType::DateTime2(_)
        | SqlType::SmallDateTime
        | SqlType::UniqueIdentifier => return None,
        SqlType::Decimal { .. } => |bytes, _, state| hash_decimal(bytes, state),
        SqlType::Real | SqlType::Float => |bytes, _, state| hash_float(bytes, state),
        SqlType::DateTimeOffset(_) => |bytes, _, state| hash_offset(bytes, state),
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::RowVersion | SqlType::Xml => {
            |bytes, _, state| hash_binary(bytes, state)
        }
        SqlType::Char(_) | SqlType::VarChar(_) => hash_char,
        SqlType::NChar(_) | SqlType::NVarChar(_) => hash_nchar,
        SqlType::Variant => |bytes, _, state| hash_variant(bytes, state),
        // Nobody compares them.
        SqlType::Text | SqlType::NText | SqlType::Image => return None,
    };
    Some(StorageHash { function, rule: collation.id() })
}

/// Zero has two signs.
fn hash_decimal(bytes: &[u8], state: &mut dyn Hasher) {
    let zero = bytes.get(1..).is_none_or(|magnitude| magnitude.iter().all(|&b| b == 0));
    state.write(if zero { &[] } else { bytes });
}

/// Zero has two signs, and what is not a number many forms.
fn hash_float(bytes: &[u8], state: &mut dyn Hasher) {
    let number = match *bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0.0,
    };
    match (number == 0.0, number.is_nan()) {
        (true, _) => state.write_u8(0),
        (_, true) => state.write_u8(1),
        _ => state.write(bytes),
    }
}

/// The moment alone: the offset behind it says only how it is shown.
fn hash_offset(bytes: &[u8], state: &mut dyn Hasher) {
    state.write(&bytes[..bytes.len().saturating_sub(2)]);
}

/// The shorter one counts as padded with zeros.
fn hash_binary(bytes: &[u8], state: &mut dyn Hasher) {
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    state.write(&bytes[..end]);
}

/// What equal variants of any types have in common.
fn hash_variant(bytes: &[u8], mut state: &mut dyn Hasher) {
    match Variant::decode(bytes) {
        Some(variant) => variant.hash(&mut state),
        None => state.write(bytes),
    }
}

fn hash_char(bytes: &[u8], rule: u16, mut state: &mut dyn Hasher) {
    Collation::by_rule(rule).hash_char(bytes, &mut state);
}

fn hash_nchar(bytes: &[u8], rule: u16, mut state: &mut dyn Hasher) {
    Collation::by_rule(rule).hash_nchar(bytes, &mut state);
}
