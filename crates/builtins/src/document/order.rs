//! STRING_AGG WITHIN GROUP (ORDER BY …): a text carries the bytes that it is ordered by.
//!
//! ```text
//! length of the sort key (4, little-endian) · sort key · the text's bytes
//! ```

use crate::call::Call;
use base::SqlResult;
use types::{Collation, Value, append_sort_key};

/// How a key orders, as one number: its collation's, doubled, and one more where it descends.
pub fn key_order(collation: Collation, descending: bool) -> i32 {
    i32::from(collation.id()) * 2 + i32::from(descending)
}

/// A text, then for each key its value and its order; NULL for no text.
pub(super) fn pair(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let Some(text) = args[0].as_bytes() else { return Ok(Value::Null) };
    os::values::room(4 * args.iter().map(Value::heap_bytes).sum::<usize>())?;
    let mut key = Vec::new();
    for pair in args[1..].chunks(2) {
        let [value, order] = pair else { break };
        let order = order.as_i64().unwrap_or(0);
        let collation = u16::try_from(order / 2).ok().and_then(Collation::by_id);
        let from = key.len();
        append_sort_key(value, collation.unwrap_or(call.collation), usize::MAX, &mut key);
        if order % 2 == 1 {
            key[from..].iter_mut().for_each(|b| *b = !*b);
        }
    }
    let mut out = (key.len() as u32).to_le_bytes().to_vec();
    out.extend_from_slice(&key);
    out.extend_from_slice(text);
    Ok(Value::Binary(out.into()))
}

/// The sort key and the text of a pair.
pub(crate) fn in_order(pair: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = pair.split_first_chunk::<4>() else { return (&[], &[]) };
    rest.split_at_checked(u32::from_le_bytes(*length) as usize).unwrap_or((&[], &[]))
}
