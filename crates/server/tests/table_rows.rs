//! Rows of a table-valued parameter are counted as what they become: many times their bytes.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test may fail")]

mod fake;
mod raw;

use os::memory::Memory;
use raw::{RawClient, errors, house_of, rows};
use tds::{Encryption, Headers, PacketType};
use types::Value;

const LIMIT_BYTES: usize = 48 << 20;

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// A call with a table of so many rows, each a tinyint that is NULL: two bytes.
fn call_with_table(rows: usize) -> Vec<u8> {
    let mut out = Vec::new();
    tds::encode_rpc(&Headers::new(0), &[], &mut out).unwrap();
    let name: Vec<u8> = "dbo.take".encode_utf16().flat_map(u16::to_le_bytes).collect();
    out.extend_from_slice(&[8, 0]);
    out.extend_from_slice(&name);
    // No options; a parameter without a name and flags; a table of an unnamed type.
    out.extend_from_slice(&[0, 0, 0, 0, 0xF3, 0, 0, 0]);
    // One column: user type, flags, INTN of one byte, no name; no order.
    out.extend_from_slice(&[1, 0, 0, 0, 0, 0, 1, 0, 0x26, 1, 0, 0]);
    out.extend([1, 0].repeat(rows));
    out.push(0);
    out
}

/// A table that has no room is refused with 701, and the connection goes on.
#[test]
fn rows_of_a_table_are_counted() {
    let memory = Memory::new(LIMIT_BYTES);
    let house = house_of(Some(memory.clone()), |_| {});
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let before = resident_bytes();
    for (rows, refused) in [(2_000_000, true), (1_000, false)] {
        raw.send(PacketType::Rpc, call_with_table(rows)).unwrap();
        let tokens = raw.response().unwrap();
        assert_eq!(errors(&tokens).contains(&701), refused, "{rows}: {tokens:?}");
        let grown = resident_bytes().saturating_sub(before);
        assert!(grown < 2 * LIMIT_BYTES, "{grown} bytes");
        assert_eq!(rows_of_one(&mut raw), [[Value::Int(1)]], "the connection goes on");
    }
    assert_eq!(memory.reserved_bytes(), 0, "what has gone is not charged");
}

fn rows_of_one(raw: &mut RawClient) -> Vec<Vec<Value>> {
    rows(&raw.batch("SELECT 1").unwrap())
}
