//! What clients send stays within the engine's memory, whatever they send, and the door stays open.

#![allow(missing_docs, clippy::unwrap_used, reason = "a test may fail")]

mod fake;
mod raw;

use os::memory::Memory;
use raw::{House, RawClient, errors, house_of, rows};
use tds::{Encryption, Headers, PacketStatus, PacketType, Token};
use types::Value;

const LIMIT_BYTES: usize = 48 << 20;
const REQUEST_BYTES: usize = 12 << 20;
const CLIENTS: usize = 24;
const MS: u64 = 1_000_000;

fn resident_bytes() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// One packet of a batch.
fn packet(status: PacketStatus, body: &[u8]) -> Vec<u8> {
    let length = (body.len() + tds::HEADER_BYTES) as u16;
    let header =
        tds::PacketHeader { kind: PacketType::Batch, status, length, spid: 0, id: 1 }.encode();
    [&header[..], body].concat()
}

/// A batch with a comment of that length, but for its last packet.
fn send_most(raw: &mut RawClient, first: PacketStatus, text: &str, bytes: usize) {
    let mut head = Vec::new();
    tds::encode_batch(&Headers::new(0), text, &mut head);
    raw.send_bytes(&packet(first, &head)).unwrap();
    let piece = packet(PacketStatus::default(), &b"x\0".repeat(16 << 10));
    for _ in 0..bytes / piece.len() {
        raw.send_bytes(&piece).unwrap();
    }
}

fn send_rest(raw: &mut RawClient) {
    raw.send_bytes(&packet(PacketStatus::EOM, b"x\0")).unwrap();
}

fn settled(memory: &Memory) -> usize {
    let mut last = usize::MAX;
    loop {
        os::task::sleep_ns(200 * MS);
        let now = memory.reserved_bytes();
        if now == last {
            return now;
        }
        last = now;
    }
}

/// The process's memory is one test's at a time.
static ALONE: os::sync::Mutex<()> = os::sync::Mutex::new(());

fn one_large(house: &House) {
    let mut raw = RawClient::logged_in(house, Encryption::NotSupported);
    send_most(&mut raw, PacketStatus::default(), "SELECT 1 --", REQUEST_BYTES);
    send_rest(&mut raw);
    assert_eq!(rows(&raw.response().unwrap()), [[Value::Int(1)]]);
}

/// Many clients send long requests at once: what is kept of them stays within the limit, some are
/// refused with 701, nobody is thrown out, and at the end nothing is charged.
#[test]
fn long_requests_of_many_clients_stay_within_the_limit() {
    let _alone = ALONE.lock();
    let memory = Memory::new(LIMIT_BYTES);
    let house = house_of(Some(memory.clone()), |_| {});
    let mut clients: Vec<RawClient> =
        (0..CLIENTS).map(|_| RawClient::logged_in(&house, Encryption::NotSupported)).collect();
    let before = resident_bytes();
    for raw in &mut clients {
        send_most(raw, PacketStatus::default(), "SELECT 1 --", REQUEST_BYTES);
    }
    let charged = settled(&memory);
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 2 * LIMIT_BYTES, "{grown} bytes of {} are kept", CLIENTS * REQUEST_BYTES);
    assert!(charged <= LIMIT_BYTES && charged > REQUEST_BYTES, "{charged} bytes are charged");
    let mut refused = 0;
    for raw in &mut clients {
        send_rest(raw);
        let tokens = raw.response().unwrap();
        match errors(&tokens)[..] {
            [] => assert_eq!(rows(&tokens), [[Value::Int(1)]]),
            [701] => refused += 1,
            _ => panic!("{tokens:?}"),
        }
    }
    assert!((1..CLIENTS).contains(&refused), "{refused} of {CLIENTS} are refused");
    for raw in &mut clients {
        let tokens = raw.batch("SELECT 1").unwrap();
        assert_eq!(rows(&tokens), [[Value::Int(1)]], "the connection goes on");
    }
    assert_eq!(settled(&memory), 0, "the charge goes with its request");
    one_large(&house);
}

/// A refused request resets its session all the same, and an attention ends what is refused.
#[test]
fn a_refused_request_resets_its_session_and_may_be_given_up() {
    let _alone = ALONE.lock();
    let memory = Memory::new(1 << 20);
    let house = house_of(Some(memory.clone()), |_| {});
    let mut raw = RawClient::logged_in(&house, Encryption::On);
    send_most(&mut raw, PacketStatus::RESET_CONNECTION, "SELECT 1 --", 2 << 20);
    send_rest(&mut raw);
    let tokens = raw.response().unwrap();
    assert_eq!(errors(&tokens), [701]);
    let reset = |t: &Token| matches!(t, Token::EnvChange(e) if format!("{e:?}").contains("Reset"));
    assert!(tokens.iter().any(reset), "{tokens:?}");
    send_most(&mut raw, PacketStatus::default(), "SELECT 1 --", 2 << 20);
    raw.attention().unwrap();
    assert_eq!(raw.acknowledged().unwrap(), 1);
    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), [[Value::Int(1)]]);
    assert_eq!(settled(&memory), 0);
}
