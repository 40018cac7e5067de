//! What an idle connection costs: resident memory with N encrypted connections that ran one
//! prepared statement, less that without, per connection.
//!
//! Usage: `idle_memory PORT [N]` beside a `fake_server PORT`, with its process id in SERVER_PID.
//! The server's own memory is read, so the clients here do not count.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for developers")]

#[path = "../tests/fake/mod.rs"]
mod fake;
#[path = "../tests/raw/mod.rs"]
mod raw;

use tds::{Encryption, ProcId, Procedure, RpcCall, RpcOptions, RpcParameter};
use types::{SqlType, Value};

fn resident_kb(pid: &str) -> i64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn prepared() -> RpcCall {
    let text = |s: &str| RpcParameter::input("", SqlType::nvarchar(200), Value::nvarchar(s));
    let handle =
        RpcParameter { output: true, ..RpcParameter::input("", SqlType::Int, Value::Null) };
    let value = RpcParameter::input("@p", SqlType::Int, Value::Int(7));
    RpcCall {
        procedure: Procedure::Id(ProcId::PrepExec),
        options: RpcOptions::default(),
        parameters: vec![handle, text("@p int"), text("SELECT @p + 1"), value],
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let address = format!("127.0.0.1:{}", arguments[1]).parse().unwrap();
    let connections: usize = arguments.get(2).and_then(|n| n.parse().ok()).unwrap_or(500);
    let pid = std::env::var("SERVER_PID").unwrap();
    let one = || {
        let mut client = raw::RawClient::open_at(address);
        client.greet(Encryption::On).unwrap();
        client.login(&raw::login7()).unwrap();
        assert_eq!(raw::rows(&client.call(&[prepared()]).unwrap()), [[Value::Int(8)]]);
        client
    };
    drop(one());
    os::task::sleep_ns(500_000_000);
    let before = resident_kb(&pid);
    let clients: Vec<_> = (0..connections).map(|_| one()).collect();
    os::task::sleep_ns(500_000_000);
    let after = resident_kb(&pid);
    let bytes = (after - before) * 1024 / i64::try_from(clients.len()).unwrap();
    println!("{before} KB, {after} KB with {connections}: {bytes} bytes a connection");
}
