//! Answers that nobody reads wait where they are; in a process of their own, whose memory is seen.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test may fail")]

mod fake;
mod raw;

use raw::{RawClient, house_of, rows};
use tds::{Encryption, Headers, PacketType, ProcId, Procedure, RpcCall, RpcOptions, RpcParameter};
use types::{SqlType, Value};

const MS: u64 = 1_000_000;

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// A call that sends a long text and asks for it back.
fn echo(value: Value) -> RpcCall {
    let text = |s: &str| RpcParameter::input("", SqlType::nvarchar(4000), Value::nvarchar(s));
    let given = RpcParameter::input("@p", SqlType::VARCHAR_MAX, value);
    RpcCall {
        procedure: Procedure::Id(ProcId::ExecuteSql),
        options: RpcOptions::default(),
        parameters: vec![text("SELECT @p"), text("@p varchar(max)"), given],
    }
}

/// Long values that nobody reads are not kept as packets beside: each client costs what its value
/// does. Read at last, they are whole.
#[test]
fn long_values_that_nobody_reads_wait_where_they_are() {
    const VALUE_BYTES: usize = 6 << 20;
    const DEAF: usize = 12;
    let house = house_of(None, |_| {});
    let text: Vec<u8> = (0..VALUE_BYTES).map(|i| b'a' + (i % 23) as u8).collect();
    let long = Value::Char(text.into());
    let mut payload = Vec::new();
    tds::encode_rpc(&Headers::new(0), &[echo(long.clone())], &mut payload).unwrap();
    let mut clients: Vec<RawClient> =
        (0..DEAF).map(|_| RawClient::logged_in(&house, Encryption::NotSupported)).collect();
    let before = resident_bytes();
    for raw in &mut clients {
        raw.send(PacketType::Rpc, payload.clone()).unwrap();
    }
    os::task::sleep_ns(1500 * MS);
    let grown = resident_bytes().saturating_sub(before);
    // What came, and what was decoded of it.
    assert!(grown < DEAF * VALUE_BYTES * 5 / 2, "{} MB", grown >> 20);
    for raw in &mut clients {
        assert_eq!(rows(&raw.response().unwrap()), [[long.clone()]]);
    }
    // One that gives up in the middle of its value has its answer cut off, and goes on.
    let raw = &mut clients[0];
    raw.send(PacketType::Rpc, payload).unwrap();
    raw.attention().unwrap();
    assert!(raw.acknowledged().unwrap() <= 2);
    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), [[Value::Int(1)]]);
}
