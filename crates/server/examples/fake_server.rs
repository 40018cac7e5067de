//! The fake engine behind the real door, to drive the client tests without `instance`.
//!
//! Usage: `fake_server PORT [LIE] [verbose]`. Loopback only. The password comes from
//! GHOSTLIGHT_PASSWORD; the certificate goes to GHOSTLIGHT_CERTIFICATE if that is set. With a LIE
//! (values, nulls, errors …) every client test must fail.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a tool for developers")]

#[path = "../tests/fake/mod.rs"]
mod fake;

use server::{Certificate, Options, Place, Server};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let port = arguments.get(1).and_then(|p| p.parse().ok()).unwrap_or(0_u16);
    let lie = arguments.get(2).and_then(|name| fake::Lie::by_name(name)).unwrap_or_default();
    let verbose = arguments.iter().any(|a| a == "verbose");
    let password = std::env::var("GHOSTLIGHT_PASSWORD");
    let password = password.unwrap_or_else(|_| fake::PASSWORD.to_owned());
    let pem = Certificate::self_signed_pem(&["localhost".to_owned()]).expect("a key can be made");
    if let Ok(file) = std::env::var("GHOSTLIGHT_CERTIFICATE") {
        std::fs::write(file, &pem).expect("the certificate's file can be written");
    }
    let certificate = Certificate::from_pem(pem.as_bytes()).expect("it was just made");
    let place = Place::take(([127, 0, 0, 1], port).into()).expect("the port is free");
    let engine = fake::Fake::new(&password, lie, verbose);
    let server = Server::start(engine, place, Options::default(), certificate);
    let server = server.expect("the port is free");
    println!("listening on {}", server.address());
    loop {
        os::task::sleep_ns(1_000_000_000);
    }
}
