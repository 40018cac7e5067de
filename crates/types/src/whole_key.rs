//! The key of a whole number: what sort keys and the weights of collations are made of.

/// 1 to 9 bytes: small numbers are frequent.
pub(crate) fn append_whole(n: i64, out: &mut Vec<u8>) {
    let (magnitude, negative) = if n < 0 { (!n as u64, true) } else { (n as u64, false) };
    let count = 8 - magnitude.leading_zeros() as usize / 8;
    out.push(if negative { 0x7F - count as u8 } else { 0x80 + count as u8 });
    out.extend_from_slice(&n.to_be_bytes()[8 - count..]);
}
