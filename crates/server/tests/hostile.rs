//! Bytes that are no TDS, before and after login: an error or the end of that connection, never
//! of the server.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod fake;
mod raw;

use raw::{House, RawClient, errors, house, house_with, login7, rows};
use std::io::Write as _;
use std::time::Duration;
use tds::{Encryption, Headers, PacketStatus, PacketType, Prelogin, ProductVersion, frame};
use types::Value;

/// xorshift: the same bytes at every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % below.max(1)
    }

    /// Flips, cuts, doubles or inserts.
    fn spoil(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(3) {
            let at = self.roll(bytes.len());
            match self.roll(4) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.roll(8),
                1 => bytes.truncate(at),
                2 => bytes.insert(at, u8::try_from(self.roll(256)).unwrap()),
                _ => {
                    let tail = bytes[at..].to_vec();
                    bytes.extend(tail);
                }
            }
        }
    }
}

fn packets(kind: PacketType, payload: Vec<u8>) -> Vec<u8> {
    let mut out = Vec::new();
    frame(kind, PacketStatus::default(), 4096, payload, &mut out);
    out
}

fn serves(house: &House) {
    let mut raw = RawClient::logged_in(house, Encryption::NotSupported);
    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), [[Value::Int(1)]]);
}

fn all_gone(house: &House) {
    let patience = os::clock::monotonic_ns() + 20_000_000_000;
    while house.server.connections() > 0 {
        assert!(os::clock::monotonic_ns() < patience, "connections are left over");
        os::task::sleep_ns(2_000_000);
    }
}

#[test]
fn before_login() {
    let house = house_with(|o| o.login_timeout = Duration::from_secs(2));
    let mut hello = Vec::new();
    let version = Some(ProductVersion::SERVER);
    let encryption = Some(Encryption::NotSupported);
    Prelogin { version, encryption, ..Prelogin::default() }.encode(&mut hello);
    let mut record = Vec::new();
    login7().encode(&mut record);
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for i in 0..400 {
        let mut bytes = packets(PacketType::Prelogin, hello.clone());
        let mut login = packets(PacketType::Login, record.clone());
        match i % 4 {
            0 => dice.spoil(&mut bytes),
            1 => dice.spoil(&mut login),
            2 => bytes = (0..dice.roll(300)).map(|_| dice.roll(256) as u8).collect(),
            // TLS that is none, as strict clients begin.
            _ => bytes = [&[0x16, 3, 1, 0, 90][..], &bytes].concat(),
        }
        bytes.extend(login);
        let mut raw = RawClient::open(&house);
        // The server may have closed already.
        let _ = raw.socket.write_all(&bytes);
        if i % 50 == 0 {
            serves(&house);
        }
    }
    serves(&house);
    all_gone(&house);
}

#[test]
fn after_login() {
    let house = house();
    let mut dice = Dice(88_172_645_463_325_252);
    let mut batch = Vec::new();
    tds::encode_batch(&Headers::new(0), "SELECT 1; SELECT N'two'", &mut batch);
    let call = tds::RpcCall {
        procedure: tds::Procedure::Id(tds::ProcId::ExecuteSql),
        options: tds::RpcOptions::default(),
        parameters: vec![
            tds::RpcParameter::input(
                "",
                types::SqlType::NVARCHAR_MAX,
                Value::nvarchar("SELECT @p"),
            ),
            tds::RpcParameter::input("", types::SqlType::nvarchar(20), Value::nvarchar("@p int")),
            tds::RpcParameter::input("@p", types::SqlType::Int, Value::Int(5)),
        ],
    };
    let mut rpc = Vec::new();
    tds::encode_rpc(&Headers::new(0), &[call], &mut rpc).unwrap();
    let valid = [
        packets(PacketType::Batch, batch),
        packets(PacketType::Rpc, rpc),
        packets(PacketType::Attention, Vec::new()),
    ];
    for i in 0..400 {
        let wish = if i % 5 == 0 { Encryption::On } else { Encryption::NotSupported };
        let mut raw = RawClient::logged_in(&house, wish);
        for _ in 0..1 + dice.roll(3) {
            let mut bytes = valid[dice.roll(valid.len())].clone();
            dice.spoil(&mut bytes);
            let _ = raw.send_bytes(&bytes);
        }
        if i % 50 == 0 {
            serves(&house);
        }
    }
    serves(&house);
    all_gone(&house);
    let panics = house.engine.lines.lock().iter().filter(|l| l.contains("panicked")).count();
    assert_eq!(panics, 0, "bad bytes are no panic");
}

#[test]
fn a_message_longer_than_allowed_ends_the_connection_with_an_error() {
    let house = house_with(|o| o.request_bytes_max = 100_000);
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let long = format!("SELECT 1 -- {}", "x".repeat(60_000));
    let _ = raw.send_batch(&long);
    assert_eq!(errors(&raw.response().unwrap()), [50002]);
    assert!(raw.is_closed());
    serves(&house);
}

#[test]
fn a_packet_of_another_kind_within_a_message_ends_the_connection_with_an_error() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::On);
    let half = [0x01, 0x00, 0x00, 0x0A, 0, 0, 1, 0, b'S', 0];
    let other = [0x03, 0x01, 0x00, 0x0A, 0, 0, 1, 0, b'S', 0];
    raw.send_bytes(&[half, other].concat()).unwrap();
    assert_eq!(errors(&raw.response().unwrap()), [4002]);
    assert!(raw.is_closed());
}

#[test]
fn a_tls_record_that_was_altered_ends_the_connection() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::On);
    raw.socket.write_all(&[0x17, 3, 3, 0, 40]).unwrap();
    raw.socket.write_all(&[0xAA; 40]).unwrap();
    assert!(raw.is_closed());
    serves(&house);
    all_gone(&house);
}
