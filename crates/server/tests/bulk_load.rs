//! Bulk loads are run while they come: of any length, ended by an attention, and what is wrong with
//! one costs it alone.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod fake;
mod raw;

use raw::{House, RawClient, errors, house_with, rows};
use tds::{
    Column, ColumnFlags, DoneKind, DoneStatus, DoneToken, Encryption, PacketType, RowEncoder,
    TdsVersion, Token, encode_columns,
};
use types::{SqlType, Value};

const MORE: u8 = 0;
const EOM: u8 = 1;
const GIVEN_UP: u8 = 3;

/// A house where no whole message may be longer than this.
const REQUEST_BYTES_MAX: usize = 1 << 20;

fn house() -> House {
    house_with(|o| o.request_bytes_max = REQUEST_BYTES_MAX)
}

fn columns() -> [Column<'static>; 2] {
    [
        Column::new("n", SqlType::Int, ColumnFlags::NULLABLE),
        Column::new("s", SqlType::varchar(8000), ColumnFlags::NULLABLE),
    ]
}

fn head() -> Vec<u8> {
    let mut out = Vec::new();
    encode_columns(&columns(), TdsVersion::V7_4, &mut out);
    out
}

fn row(n: i32, bytes: usize) -> Vec<u8> {
    let (columns, mut out) = (columns(), Vec::new());
    let encoder = RowEncoder::new(&columns, TdsVersion::V7_4);
    let values = [Value::Int(n), Value::varchar(&"x".repeat(bytes))];
    encoder.encode(&values, &mut out).unwrap();
    out
}

fn done() -> Vec<u8> {
    let mut out = Vec::new();
    DoneToken::new(DoneKind::Done, DoneStatus::FINAL).encode(&mut out);
    out
}

/// Packets of a bulk load; the last one with a status.
fn send(raw: &mut RawClient, payload: &[u8], last: u8) {
    let count = payload.len().div_ceil(4000).max(1);
    let mut packets = Vec::new();
    for n in 0..count {
        let body = &payload[n * 4000..payload.len().min((n + 1) * 4000)];
        let length = u16::try_from(body.len() + 8).unwrap().to_be_bytes();
        let status = if n + 1 == count { last } else { MORE };
        let kind = PacketType::BulkLoad as u8;
        packets.extend([kind, status, length[0], length[1], 0, 0, 1, 0]);
        packets.extend_from_slice(body);
    }
    raw.send_bytes(&packets).unwrap();
}

fn counted(tokens: &[Token]) -> Option<u64> {
    tokens.iter().find_map(|t| match t {
        Token::Done(d) if d.status.has(DoneStatus::COUNT) => Some(d.count),
        _ => None,
    })
}

fn works(raw: &mut RawClient) {
    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), [[Value::Int(1)]]);
}

/// Forty times what a message may have.
#[test]
fn a_load_of_any_length_is_taken() {
    let house = house();
    for wish in [Encryption::NotSupported, Encryption::On] {
        let mut raw = RawClient::logged_in(&house, wish);
        send(&mut raw, &head(), MORE);
        let mut block = Vec::new();
        (0..100).for_each(|n| block.extend(row(n, 5000)));
        for _ in 0..80 {
            send(&mut raw, &block, MORE);
        }
        send(&mut raw, &done(), EOM);
        assert_eq!(counted(&raw.response().unwrap()), Some(8000));
        works(&mut raw);
    }
}

#[test]
fn an_attention_in_the_middle_ends_it() {
    let house = house();
    for behind in [0, 3, 3000] {
        let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
        let mut sent = head();
        (0..500).for_each(|n| sent.extend(row(n, 100)));
        sent.truncate(sent.len() - behind);
        send(&mut raw, &sent, MORE);
        os::task::sleep_ns(20_000_000);
        raw.attention().unwrap();
        assert_eq!(raw.acknowledged().unwrap(), 2, "the load, then the acknowledgement");
        works(&mut raw);
    }
}

/// The session may be on its way back from the request before when the first packet is there, and
/// no other comes.
#[test]
fn a_load_begins_with_its_first_packet() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    for _ in 0..30 {
        works(&mut raw);
        send(&mut raw, &[head(), row(1, 100)].concat(), MORE);
        os::task::sleep_ns(20_000_000);
        raw.attention().unwrap();
        assert_eq!(raw.acknowledged().unwrap(), 2, "the load, then the acknowledgement");
    }
}

/// The worker has given the load up when most of it is still to come.
#[test]
fn bytes_that_are_no_rows_cost_the_load_alone() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let mut sent = head();
    (0..50).for_each(|n| sent.extend(row(n, 1000)));
    sent.push(0xff);
    send(&mut raw, &sent, MORE);
    let mut block = Vec::new();
    (0..100).for_each(|n| block.extend(row(n, 5000)));
    for _ in 0..20 {
        send(&mut raw, &block, MORE);
    }
    send(&mut raw, &done(), EOM);
    assert_eq!(errors(&raw.response().unwrap()).len(), 1);
    works(&mut raw);
}

/// What ends within a row, and what the client gives up, is no load.
#[test]
fn a_load_that_is_cut_off_is_told() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let mut sent = head();
    (0..50).for_each(|n| sent.extend(row(n, 1000)));
    // The first ends within a value: its length reaches beyond the end.
    for (cut, last, told) in [(7, EOM, 4815), (0, GIVEN_UP, 4804), (7, GIVEN_UP, 4804)] {
        send(&mut raw, &sent[..sent.len() - cut], MORE);
        os::task::sleep_ns(20_000_000);
        send(&mut raw, &[], last);
        assert_eq!(errors(&raw.response().unwrap()), [told]);
        works(&mut raw);
    }
    // As FreeTDS ends it: behind a row.
    send(&mut raw, &sent, MORE);
    send(&mut raw, &[], EOM);
    assert_eq!(counted(&raw.response().unwrap()), Some(50));
}

/// A value as long as no message may be is refused when that much has come; the client may go.
#[test]
fn a_row_is_bounded_and_a_client_may_vanish() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let columns = [Column::new("b", SqlType::VARBINARY_MAX, ColumnFlags::NULLABLE)];
    let mut sent = Vec::new();
    encode_columns(&columns, TdsVersion::V7_4, &mut sent);
    let encoder = RowEncoder::new(&columns, TdsVersion::V7_4);
    encoder.encode(&[Value::varbinary(&vec![7; 3 << 20])], &mut sent).unwrap();
    send(&mut raw, &sent, MORE);
    send(&mut raw, &done(), EOM);
    assert_eq!(errors(&raw.response().unwrap()).len(), 1);
    works(&mut raw);
    send(&mut raw, &sent[..1000], MORE);
    drop(raw);
    let mut next = RawClient::logged_in(&house, Encryption::NotSupported);
    works(&mut next);
    assert!(house.server.stop(std::time::Duration::from_secs(10)), "no worker waits for ever");
}
