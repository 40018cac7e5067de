//! LSNs as arguments: `0x0000001f:000000c8:0001`, or in decimal `31:200:1`, as `fn_dblog` accepts
//! them. An LSN that `fn_dblog` shows has no `0x` in front; the caller must add it.

use base::{Lsn, SqlError, SqlResult, messages};
use types::Value;

/// The LSN of an argument; `None` for NULL.
///
/// # Errors
/// 9005.
pub(crate) fn argument(value: Option<&Value>) -> SqlResult<Option<Lsn>> {
    let Some(value) = value.filter(|v| !v.is_null()) else { return Ok(None) };
    let named = parse(value.to_string().trim());
    named.map(Some).ok_or_else(|| SqlError::new(messages::LSN_ARGUMENT, &[]))
}

fn parse(s: &str) -> Option<Lsn> {
    let hex = s.strip_prefix("0x").or_else(|| s.strip_prefix("0X"));
    let (radix, parts) = (if hex.is_some() { 16 } else { 10 }, hex.unwrap_or(s).split(':'));
    let parts: Option<Vec<u32>> = parts.map(|p| u32::from_str_radix(p, radix).ok()).collect();
    let &[vlf, block, slot] = parts?.as_slice() else { return None };
    let slot = u16::try_from(slot).ok().filter(|&slot| slot <= Lsn::SLOT_MAX)?;
    (block <= Lsn::BLOCK_MAX).then(|| Lsn::new(vlf, block, slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read_and_others_refused() {
        let lsn = Lsn::new(31, 200, 1);
        for spelled in ["0x0000001f:000000c8:0001", "0X1F:C8:1", "31:200:1", "00000031:200:0001"] {
            assert_eq!(parse(spelled), Some(lsn), "{spelled}");
        }
        for broken in
            ["", "31:200", "31:200:1:1", "0000001f:000000c8:0001", "1:9999999:1", "1:1:-1"]
        {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }
}
