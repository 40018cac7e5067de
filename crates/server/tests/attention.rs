//! Attentions: answered within 100 ms whatever the request does, once each, and the session goes
//! on.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod fake;
mod raw;

use os::wait::WaitKind;
use raw::{House, RawClient, house, rows};
use std::io::Read as _;
use tds::{DoneStatus, Encryption, PacketStatus, PacketType};
use types::Value;

const MS: u64 = 1_000_000;

fn works(raw: &mut RawClient) {
    let tokens = raw.batch("SELECT 1").unwrap();
    assert_eq!(rows(&tokens), [[Value::Int(1)]]);
    assert!(!raw::statuses(&tokens).iter().any(|s| s.has(DoneStatus::ATTENTION)));
}

/// Runs a batch, sends an attention after a while; milliseconds until it is acknowledged.
fn interrupted(house: &House, wish: Encryption, text: &str, after_ns: u64) -> u64 {
    let mut raw = RawClient::logged_in(house, wish);
    raw.send_batch(text).unwrap();
    os::task::sleep_ns(after_ns);
    let sent = os::clock::monotonic_ns();
    raw.attention().unwrap();
    assert_eq!(raw.acknowledged().unwrap(), 2, "the cut off response, then the acknowledgement");
    let took = (os::clock::monotonic_ns() - sent) / MS;
    works(&mut raw);
    took
}

#[test]
fn in_a_lock_wait_and_in_a_long_computation() {
    let house = house();
    for wish in [Encryption::NotSupported, Encryption::On] {
        for text in ["EXEC fake_lock_wait", "EXEC fake_compute", "WAITFOR DELAY '00:01:00'"] {
            let took = interrupted(&house, wish, text, 50 * MS);
            assert!(took < 100, "{text}: {took} ms");
        }
    }
}

#[test]
fn while_sending_to_a_client_that_does_not_read() {
    let house = house();
    for wish in [Encryption::NotSupported, Encryption::On] {
        let waits = || os::wait::totals()[WaitKind::AsyncNetworkIo as usize].count;
        let before = waits();
        let mut raw = RawClient::logged_in(&house, wish);
        raw.send_batch("EXEC fake_flood").unwrap();
        // Until the request waits for us: then it holds no more than it may.
        let patience = os::clock::monotonic_ns() + 10_000 * MS;
        while waits() == before {
            assert!(os::clock::monotonic_ns() < patience, "the flood does not stop");
            os::task::sleep_ns(5 * MS);
        }
        raw.attention().unwrap();
        os::task::sleep_ns(100 * MS);
        // The response was cut off by then: what is left to read is what the sockets hold.
        let sent = os::clock::monotonic_ns();
        raw.acknowledged().unwrap();
        let took = (os::clock::monotonic_ns() - sent) / MS;
        assert!(took < 1000, "{took} ms");
        works(&mut raw);
    }
}

#[test]
fn at_any_moment_it_is_acknowledged_once() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::Off.answer_forced());
    for i in 0..300_u64 {
        raw.send_batch("SELECT 1; SELECT 2; SELECT 3").unwrap();
        os::task::sleep_ns((i * 7919) % 400_000);
        raw.attention().unwrap();
        assert_eq!(raw.acknowledged().unwrap(), 2);
        if i % 10 == 0 {
            works(&mut raw);
        }
    }
    raw.attention().unwrap();
    assert_eq!(raw.acknowledged().unwrap(), 1, "with nothing to interrupt");
    works(&mut raw);
}

#[test]
fn a_request_given_up_half_sent_is_not_run() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let mut payload = Vec::new();
    tds::encode_batch(&tds::Headers::new(0), "CREATE TABLE dbo.half (id int)", &mut payload);
    let ignore = PacketStatus::IGNORE.and(PacketStatus::EOM);
    raw.send_with(PacketType::Batch, ignore, payload).unwrap();
    let tokens = raw.response().unwrap();
    assert_eq!(raw::statuses(&tokens), [DoneStatus::ERROR]);
    assert_eq!(raw::errors(&raw.batch("SELECT * FROM dbo.half").unwrap()), [208]);
}

#[test]
fn a_client_that_leaves_ends_its_request() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    raw.send_batch("EXEC fake_flood").unwrap();
    let mut some = [0; 4096];
    raw.socket.read_exact(&mut some).unwrap();
    drop(raw);
    let patience = os::clock::monotonic_ns() + 10_000 * MS;
    while house.server.connections() > 0 {
        assert!(os::clock::monotonic_ns() < patience, "the request goes on for nobody");
        os::task::sleep_ns(5 * MS);
    }
}

/// A request that waits behind another is read, and so is what comes behind it.
#[test]
fn behind_a_second_request_an_attention_and_an_end_are_noticed() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::On);
    raw.send_batch("WAITFOR DELAY '00:01:00'").unwrap();
    raw.send_batch("SELECT 2").unwrap();
    os::task::sleep_ns(50 * MS);
    let sent = os::clock::monotonic_ns();
    raw.attention().unwrap();
    assert_eq!(raw.acknowledged().unwrap(), 2, "the second request is given up with the first");
    assert!(os::clock::monotonic_ns() - sent < 1000 * MS);
    works(&mut raw);
    raw.send_batch("WAITFOR DELAY '00:01:00'").unwrap();
    raw.send_batch("SELECT 2").unwrap();
    os::task::sleep_ns(50 * MS);
    drop(raw);
    let patience = os::clock::monotonic_ns() + 10_000 * MS;
    while house.server.connections() > 0 {
        assert!(os::clock::monotonic_ns() < patience, "the request goes on for nobody");
        os::task::sleep_ns(5 * MS);
    }
}

/// Requests that come together are answered in their order.
#[test]
fn requests_that_came_together_are_answered_in_turn() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    for _ in 0..20 {
        raw.send_batch("SELECT 1").unwrap();
    }
    for _ in 0..20 {
        assert_eq!(rows(&raw.response().unwrap()), [[Value::Int(1)]]);
    }
}
