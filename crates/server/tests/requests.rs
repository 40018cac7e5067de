//! Requests: several calls in a message, output parameters, transactions, reset, what is refused,
//! a panic, the stop.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod fake;
mod raw;

use os::task::spawn;
use raw::{RawClient, errors, house, house_with, rows, statuses};
use std::sync::Arc;
use std::time::Duration;
use tds::{
    Begin, DoneStatus, Encryption, EnvChange, Headers, PacketStatus, PacketType, ProcId, Procedure,
    RpcCall, RpcOptions, RpcParameter, Token, TransactionCommand,
};
use types::{SqlType, Value};

fn text(s: &str) -> RpcParameter {
    RpcParameter::input("", SqlType::nvarchar(4000), Value::nvarchar(s))
}

fn call(procedure: Procedure, parameters: Vec<RpcParameter>) -> RpcCall {
    RpcCall { procedure, options: RpcOptions::default(), parameters }
}

fn query(sql: &str) -> RpcCall {
    call(Procedure::Id(ProcId::ExecuteSql), vec![text(sql)])
}

#[test]
fn several_calls_of_a_message_are_all_run_and_one_done_is_the_last() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::On);
    let calls = [query("SELECT 1"), query("SELECT 1 / 0"), query("SELECT 3")];
    let tokens = raw.call(&calls).unwrap();
    assert_eq!(rows(&tokens), [[Value::Int(1)], [Value::Int(3)]]);
    assert_eq!(errors(&tokens), [8134]);
    let statuses = statuses(&tokens);
    let (last, others) = statuses.split_last().unwrap();
    assert!(others.iter().all(|s| s.has(DoneStatus::MORE)), "{statuses:?}");
    assert!(!last.has(DoneStatus::MORE), "{statuses:?}");
}

#[test]
fn output_parameters_stand_at_their_ordinals() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let body = "SET @b = @a; SET @c = @a + 1";
    let head = "CREATE PROCEDURE dbo.two @a int, @b int OUTPUT, @c int OUTPUT AS";
    raw.batch(&format!("{head} {body}")).unwrap();
    let int = |name: &str, n: Value, output: bool| RpcParameter {
        output,
        ..RpcParameter::input(name, SqlType::Int, n)
    };
    let parameters = vec![
        int("@c", Value::Null, true),
        int("@a", Value::Int(7), false),
        int("@b", Value::Null, true),
    ];
    let tokens = raw.call(&[call(Procedure::Name("dbo.two".to_owned()), parameters)]).unwrap();
    let mut found: Vec<_> = tokens
        .iter()
        .filter_map(|t| match t {
            Token::ReturnValue(v) => Some((v.ordinal, v.name.to_string(), v.value.clone())),
            _ => None,
        })
        .collect();
    found.sort_by_key(|v| v.0);
    let wanted = [(0, "@c".to_owned(), Value::Int(8)), (2, "@b".to_owned(), Value::Int(7))];
    assert_eq!(found, wanted);
}

#[test]
fn short_values_of_fixed_length_types_are_filled_up() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let parameters = vec![
        text("SELECT @a, @b, @c"),
        text("@a char(3), @b nchar(3), @c binary(3)"),
        RpcParameter::input("@a", SqlType::Char(3), Value::varchar("x")),
        RpcParameter::input("@b", SqlType::NChar(3), Value::nvarchar("y")),
        RpcParameter::input("@c", SqlType::Binary(3), Value::varbinary(&[1])),
    ];
    let tokens = raw.call(&[call(Procedure::Id(ProcId::ExecuteSql), parameters)]).unwrap();
    let wanted = [[Value::varchar("x  "), Value::nvarchar("y  "), Value::varbinary(&[1, 0, 0])]];
    assert_eq!(rows(&tokens), wanted);
}

#[test]
fn transaction_requests_and_reset_tell_what_they_changed() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    let ask = |raw: &mut RawClient, command: TransactionCommand| {
        let mut payload = Vec::new();
        command.encode(&Headers::new(0), &mut payload);
        raw.send(PacketType::Transaction, payload).unwrap();
        raw.response().unwrap()
    };
    let depth = |raw: &mut RawClient| rows(&raw.batch("SELECT @@TRANCOUNT").unwrap())[0][0].clone();
    let tokens = ask(&mut raw, TransactionCommand::Begin(Begin::default()));
    assert!(matches!(tokens[0], Token::EnvChange(EnvChange::BeginTransaction(_))), "{tokens:?}");
    assert_eq!(depth(&mut raw), Value::Int(1));
    let then = Some(Begin::default());
    let tokens = ask(&mut raw, TransactionCommand::Commit { name: String::new(), then });
    assert!(matches!(
        tokens[..],
        [
            Token::EnvChange(EnvChange::CommitTransaction(_)),
            Token::EnvChange(EnvChange::BeginTransaction(_)),
            Token::Done(_)
        ]
    ));
    let mut payload = Vec::new();
    tds::encode_batch(&Headers::new(0), "SELECT @@TRANCOUNT", &mut payload);
    raw.send_with(PacketType::Batch, PacketStatus::RESET_CONNECTION, payload).unwrap();
    let tokens = raw.response().unwrap();
    assert_eq!(rows(&tokens), [[Value::Int(0)]], "the reset rolled back");
    assert!(tokens.contains(&Token::EnvChange(EnvChange::ResetAck)));
    let nothing = TransactionCommand::Commit { name: String::new(), then: None };
    assert_eq!(errors(&ask(&mut raw, nothing)), [3902]);
}

#[test]
fn a_bulk_load_is_refused_by_name_and_the_session_goes_on() {
    let house = house();
    let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
    raw.send(PacketType::BulkLoad, vec![0x81, 0, 0]).unwrap();
    let tokens = raw.response().unwrap();
    assert!(tokens.iter().any(|t| matches!(t, Token::Error(n) if n.text.contains("bulk load"))));
    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), [[Value::Int(1)]]);
}

#[test]
fn a_panic_ends_its_connection_alone() {
    let house = house();
    let mut bystander = RawClient::logged_in(&house, Encryption::On);
    let mut raw = RawClient::logged_in(&house, Encryption::On);
    assert_eq!(errors(&raw.batch("EXEC fake_panic").unwrap()), [50001]);
    assert!(raw.is_closed());
    assert_eq!(rows(&bystander.batch("SELECT 1").unwrap()), [[Value::Int(1)]]);
    assert!(house.engine.lines.lock().iter().any(|l| l.contains("panicked: asked to")));
}

#[test]
fn more_requests_than_workers_wait_their_turn() {
    let house = Arc::new(house_with(|o| o.workers_max = 2));
    let clients: Vec<_> = (0..12)
        .map(|_| {
            let house = Arc::clone(&house);
            spawn("client", move || {
                let mut raw = RawClient::logged_in(&house, Encryption::NotSupported);
                for _ in 0..5 {
                    raw.batch("WAITFOR DELAY '00:00:00.005'").unwrap();
                    assert_eq!(rows(&raw.batch("SELECT 1").unwrap()), [[Value::Int(1)]]);
                }
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
}

#[test]
fn a_stop_ends_what_runs_and_what_is_idle() {
    let house = house();
    let mut idle = RawClient::logged_in(&house, Encryption::On);
    let mut unborn = RawClient::open(&house);
    let mut busy = RawClient::logged_in(&house, Encryption::On);
    busy.send_batch("EXEC fake_lock_wait").unwrap();
    os::task::sleep_ns(50_000_000);
    let before = os::clock::monotonic_ns();
    assert!(house.server.stop(Duration::from_secs(10)));
    let took = (os::clock::monotonic_ns() - before) / 1_000_000;
    assert!(took < 1000, "{took} ms");
    assert!(idle.is_closed() && busy.is_closed() && unborn.is_closed());
}

#[test]
fn a_killed_session_ends_idle_or_busy() {
    let house = house();
    let mut busy = RawClient::logged_in(&house, Encryption::On);
    let mut idle = RawClient::logged_in(&house, Encryption::On);
    busy.send_batch("EXEC fake_lock_wait").unwrap();
    os::task::sleep_ns(20_000_000);
    let before = os::clock::monotonic_ns();
    house.engine.waiters.lock().iter().for_each(|w| w.cancel(os::wait::CancelReason::Kill));
    assert!(idle.is_closed() && busy.is_closed());
    let took = (os::clock::monotonic_ns() - before) / 1_000_000;
    assert!(took < 1000, "{took} ms");
}
