//! Logins: every wish of encryption, strict, what is refused and how, sizes, limits, time.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod fake;
mod raw;

use fake::PASSWORD;
use raw::{House, RawClient, errors, house, house_with, login7, rows};
use server::Strictness;
use std::io::{Read as _, Write as _};
use std::time::Duration;
use tds::{
    Encryption, EnvChange, Login7, Prelogin, ProductVersion, Protection, Token, login_flags,
};
use types::Value;

fn one() -> Vec<Vec<Value>> {
    vec![vec![Value::Int(1)]]
}

/// A wish, the server's answer when it offers and when it forces encryption.
const WISHES: [(Encryption, Encryption, Encryption); 4] = [
    (Encryption::Off, Encryption::Off, Encryption::Required),
    (Encryption::On, Encryption::On, Encryption::On),
    (Encryption::NotSupported, Encryption::NotSupported, Encryption::Required),
    (Encryption::Required, Encryption::On, Encryption::On),
];

#[test]
fn a_client_gets_the_encryption_it_wishes() {
    let house = house();
    for (wish, offered, _) in WISHES {
        let mut raw = RawClient::open(&house);
        assert_eq!(raw.greet(wish).unwrap(), offered, "{wish:?}");
        let tokens = raw.login_after(&login7(), Some(wish.outcome(offered))).unwrap();
        assert!(tokens.iter().any(|t| matches!(t, Token::LoginAck(_))), "{wish:?} {tokens:?}");
        assert_eq!(raw.tls.is_some(), wish.outcome(offered) == Protection::Whole);
        assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), one(), "{wish:?}");
    }
}

#[test]
fn forced_encryption_refuses_who_has_none() {
    let house = house_with(|o| o.encryption = Strictness::Forced);
    for (wish, _, forced) in WISHES {
        let mut raw = RawClient::open(&house);
        let answer = raw.greet(wish);
        assert_eq!(answer.unwrap(), forced, "{wish:?}");
        if wish == Encryption::NotSupported {
            assert!(raw.is_closed());
            continue;
        }
        raw.login(&login7()).unwrap();
        assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), one(), "{wish:?}");
    }
    let mut bare = RawClient::open(&house);
    let refused = bare.login(&login7()).map(|tokens| errors(&tokens)).unwrap_or_default();
    assert!(!refused.is_empty(), "no login without PRELOGIN");
}

#[test]
fn strict_clients_come_with_either_version_number() {
    let house = house();
    for tds_version in [0x0800_0000, 0x7400_0004] {
        let mut raw = RawClient::open(&house);
        raw.strict().unwrap();
        raw.login(&Login7 { tds_version, ..login7() }).unwrap();
        assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), one(), "{tds_version:x}");
    }
    let mut lax = RawClient::open(&house);
    lax.greet(Encryption::On).unwrap();
    let tokens = lax.login(&Login7 { tds_version: 0x0800_0000, ..login7() }).unwrap();
    assert_eq!(errors(&tokens), [17802], "TDS 8 is strict or it is not");
}

#[test]
fn what_is_refused_and_with_which_error() {
    let refused = |login: Login7| {
        let house = house();
        let mut raw = RawClient::open(&house);
        raw.greet(Encryption::NotSupported).unwrap();
        let tokens = raw.login(&login).unwrap();
        assert!(raw.is_closed());
        errors(&tokens)
    };
    let text = |s: &str| s.to_owned();
    assert_eq!(refused(Login7 { password: text("wrong"), ..login7() }), [18456]);
    assert_eq!(refused(Login7 { user_name: text("nobody"), ..login7() }), [18456]);
    assert_eq!(refused(Login7 { user_name: String::new(), ..login7() }), [18456]);
    assert_eq!(refused(Login7 { database: text("missing"), ..login7() }), [4060, 18456]);
    assert_eq!(refused(Login7 { tds_version: 0x7100_0001, ..login7() }), [17802]);
    let option_flags2 = login_flags::INTEGRATED_SECURITY;
    assert_eq!(refused(Login7 { option_flags2, ..login7() }), [18452]);
    assert_eq!(refused(Login7 { attach_file: text("x.mdf"), ..login7() }), [40517]);
    assert_eq!(refused(Login7 { new_password: text("new"), ..login7() }), [40517]);
    let fed_auth = tds::Feature { id: tds::feature::FED_AUTH, data: vec![0] };
    assert_eq!(refused(Login7 { features: vec![fed_auth], ..login7() }), [40517]);
}

#[test]
fn a_login_without_prelogin_is_plain() {
    let house = house();
    let mut raw = RawClient::open(&house);
    raw.login(&login7()).unwrap();
    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), one());
}

#[test]
fn the_packet_size_is_the_clients_within_limits() {
    let house = house();
    let cases = [
        (Encryption::NotSupported, 0, 4096),
        (Encryption::NotSupported, 1, 512),
        (Encryption::NotSupported, 8000, 8000),
        (Encryption::NotSupported, 1 << 20, 32767),
        (Encryption::On, 1 << 20, 16383),
    ];
    for (wish, packet_size, got) in cases {
        let mut raw = RawClient::open(&house);
        raw.greet(wish).unwrap();
        let tokens = raw.login(&Login7 { packet_size, ..login7() }).unwrap();
        let change = Token::EnvChange(EnvChange::PacketSize { new: got, old: 4096 });
        assert!(tokens.contains(&change), "{packet_size}: {tokens:?}");
        raw.packet_bytes = u16::try_from(got).unwrap();
        let text = "x".repeat(70_000);
        let found = rows(&raw.batch(&format!("SELECT N'{text}'")).unwrap());
        assert_eq!(found, [[Value::nvarchar(&text)]], "{packet_size}");
    }
}

#[test]
fn too_many_sessions_are_told_so() {
    let house = house_with(|o| o.connections_max = 2);
    let (_one, _two) = (
        RawClient::logged_in(&house, Encryption::NotSupported),
        RawClient::logged_in(&house, Encryption::NotSupported),
    );
    let mut three = RawClient::open(&house);
    three.greet(Encryption::NotSupported).unwrap();
    assert_eq!(errors(&three.login(&login7()).unwrap()), [17809]);
}

#[test]
fn who_does_not_log_in_in_time_is_cut_off() {
    let house = house_with(|o| o.login_timeout = Duration::from_millis(300));
    let before = os::clock::monotonic_ns();
    let mut silent = RawClient::open(&house);
    let mut half = RawClient::open(&house);
    half.greet(Encryption::On).unwrap();
    assert!(silent.is_closed() && half.is_closed());
    let took = (os::clock::monotonic_ns() - before) / 1_000_000;
    assert!((250..5000).contains(&took), "{took} ms");
    assert!(house.engine.lines.lock().iter().any(|l| l.contains("no login within")));
}

/// An attempt at `sa` from an address of this machine: whether it was refused, and how long it
/// took.
fn attempt(house: &House, from: [u8; 4], user: &str, password: &str) -> (bool, u64) {
    let before = os::clock::monotonic_ns();
    let mut raw = RawClient::open_from(house, from);
    raw.greet(Encryption::NotSupported).unwrap();
    let (user_name, password) = (user.to_owned(), password.to_owned());
    let login = Login7 { user_name, password, ..login7() };
    let refused = !errors(&raw.login(&login).unwrap()).is_empty();
    (refused, (os::clock::monotonic_ns() - before) / 1_000_000)
}

const HERE: [u8; 4] = [127, 0, 0, 1];
const ELSEWHERE: [u8; 4] = [127, 0, 0, 9];

#[test]
fn attempts_at_an_account_are_spaced_out_for_their_address() {
    let house = house();
    for _ in 0..5 {
        assert!(attempt(&house, HERE, "sa", "wrong").0);
    }
    let (refused, waited) = attempt(&house, HERE, "sa", "wrong");
    assert!(refused && waited >= 150, "{waited} ms");
    let (refused, waited) = attempt(&house, ELSEWHERE, "sa", PASSWORD);
    assert!(!refused && waited < 300, "the owner comes in from elsewhere: {waited} ms");
    let (refused, waited) = attempt(&house, HERE, "sa", PASSWORD);
    assert!(!refused && waited >= 300, "the right one from there waits: {waited} ms");
    let (refused, waited) = attempt(&house, HERE, "sa", PASSWORD);
    assert!(!refused && waited < 300, "a success forgets: {waited} ms");
}

/// Guessing does not fill the log: a few lines, and the number of the others when it stops.
#[test]
fn failures_are_told_in_numbers() {
    let house = house();
    let guesses = 25;
    for n in 0..guesses {
        assert!(attempt(&house, HERE, &format!("user{n}"), "wrong").0);
    }
    let engine = std::sync::Arc::clone(&house.engine);
    let lines = || engine.lines.lock().clone();
    let told = lines().iter().filter(|l| l.contains("refused")).count();
    assert_eq!(told, 5, "{:?}", lines());
    house.server.stop(Duration::from_secs(5));
    let number = format!("{} more logins from 127.0.0.1 failed", guesses - 5);
    assert!(lines().iter().any(|l| l.contains(&number)), "{:?}", lines());
}

/// A client that is gone before its failure is noticed has an address all the same.
#[test]
fn who_slams_the_door_fills_no_log() {
    let house = house();
    for n in 0..40 {
        let mut raw = RawClient::open_from(&house, HERE);
        // A packet that states a length of 7.
        raw.socket.write_all(&[0x12, 1, 0, 7, 0, 0, 1, 0]).unwrap();
        if n % 8 == 0 {
            // This one waits for its end: of a reset the server may have read nothing.
            let _ = raw.socket.read_to_end(&mut Vec::new());
        }
        let at_once = Some(Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(&raw.socket, at_once).unwrap();
    }
    let engine = std::sync::Arc::clone(&house.engine);
    house.server.stop(Duration::from_secs(5));
    let lines = engine.lines.lock().clone();
    let of_clients: Vec<_> = lines.iter().filter(|l| l.starts_with("client ")).collect();
    assert!(!of_clients.is_empty() && of_clients.len() <= 5, "{lines:?}");
    assert!(of_clients.iter().all(|l| l.starts_with("client 127.0.0.1:")), "{of_clients:?}");
}

/// A client that says nothing, or a byte now and then, keeps nobody out for long.
#[test]
fn a_crowd_at_the_door_gives_way() {
    let house = house_with(|o| o.logins_max = 8);
    let mut crowd: Vec<RawClient> = (0..20).map(|_| RawClient::open(&house)).collect();
    for raw in &mut crowd {
        // The beginning of a PRELOGIN.
        let _ = raw.socket.write_all(&[0x12]);
    }
    let (refused, waited) = attempt(&house, ELSEWHERE, "sa", PASSWORD);
    assert!(!refused && waited < 10_000, "{waited} ms");
    assert!(crowd[0].is_closed(), "the one that stood there longest");
}

/// Without MARS a client that wants it comes in, and is told when it uses it all the same.
#[test]
fn who_wants_mars_goes_without() {
    let house = house();
    let mut raw = RawClient::open(&house);
    let asked = Prelogin {
        version: Some(ProductVersion::SERVER),
        encryption: Some(Encryption::NotSupported),
        mars: Some(true),
        ..Prelogin::default()
    };
    let of_sql_client = Prelogin { fed_auth_required: Some(1), ..asked.clone() };
    let answer = RawClient::open(&house).ask_prelogin(&of_sql_client);
    assert_eq!(answer.unwrap().mars, Some(false), "SqlClient wants a no");
    let answer = raw.ask_prelogin(&asked);
    assert_eq!(answer.unwrap().mars, None, "ODBC wants a server that does not know it");
    raw.login(&login7()).unwrap();
    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), one());
    // SYN of session 0, 16 bytes long.
    let syn = [0x53, 1, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0];
    raw.socket.write_all(&syn).unwrap();
    let tokens = raw.response().unwrap();
    assert_eq!(errors(&tokens), [40517]);
    let text = format!("{tokens:?}");
    assert!(text.contains("multiple active result sets (MARS)"), "{text}");
    assert!(raw.is_closed());

    let mut early = RawClient::open(&house);
    early.socket.write_all(&syn).unwrap();
    assert_eq!(errors(&early.response().unwrap()), [40517], "before any login");
    assert!(early.is_closed());
}
