//! The TDS door: listener, TLS, login, request loop.
//!
//! A connection costs one task of an async runtime and a few kilobytes; a running request costs
//! one thread of a bounded pool, as SQL Server's workers do. The runtime has no threads of its own:
//! a thread of the pool that has nothing to run drives it (`workers.rs`). The task reads the socket
//! all the time, so an attention is seen while a request runs; the worker encodes its results,
//! encrypts them and writes them to the socket itself, and only what the socket does not take is
//! left to the task. What the engine is, this crate does not know: [`Engine`] is what it asks.
//!
//! ```text
//! accept -> first byte 0x16 ---> TLS 1.2/1.3, ALPN tds/8.0 --+
//!        -> PRELOGIN -> TLS 1.2 within PRELOGIN packets -----+-> LOGIN7 -> idle <-> running
//! ```
//!
//! Invariants
//!  1. A session ([`session::Connection`]) is at one place: with a worker while a request runs,
//!     with the task or in the link, where the worker left it, while idle. It is dropped on a
//!     worker, since its end may wait.
//!  2. A response ends with exactly one DONE without MORE, and EOM stands behind it.
//!  3. An attention gets exactly one DONE with the attention bit, in a message of its own, behind
//!     the response that it ended (with DONE_ERROR) or that had ended already: some drivers wait
//!     for the one message and then for the other.
//!  4. No more than [`Options::output_bytes_max`] and one flush wait for a client that does not
//!     read; the request waits under ASYNC_NETWORK_IO.
//!  5. An idle connection holds no buffers; long requests are charged to the engine's memory.
//!
//! Not here: what a request means; passwords of whom (the engine asks [`password`]).

#![forbid(unsafe_code)]

mod account;
mod bulk;
mod certificate;
mod connection;
mod engine;
mod entrance;
mod failures;
mod handshake;
mod inflow;
mod link;
mod listener;
mod login;
mod options;
pub mod password;
mod request;
mod response;
mod throttle;
mod wire;
mod workers;

pub use certificate::{Certificate, load, load_or_create};
pub use engine::Engine;
pub use listener::{Place, Server};
pub use options::{Options, Strictness};
