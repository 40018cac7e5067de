//! How two values compare as SQL says it: true, false, or unknown.

use plan::CompareOp;
use types::{Collation, Value, compare};

/// A comparison: unknown when a side is NULL.
#[inline]
pub(crate) fn compared(op: CompareOp, l: &Value, r: &Value, collation: Collation) -> Option<bool> {
    if let (Value::Int(l), Value::Int(r)) = (l, r) {
        return Some(op.holds(l.cmp(r)));
    }
    if l.is_null() || r.is_null() {
        return None;
    }
    Some(op.holds(compare(l, r, collation)))
}
