//! The TDS server: listener, TLS, login, request loop.
//!
//! A connection costs one task of an async runtime and a few kilobytes. A running request costs one
//! thread of a bounded pool, as SQL Server's workers do. The runtime has no threads of its own: an
//! idle thread of the pool drives it (`workers.rs`). The task reads the socket all the time, so an
//! attention is noticed while a request runs. The worker encodes its results, encrypts them and
//! writes them to the socket itself; only what the socket does not take is left to the task. This
//! crate does not know the engine: [`Engine`] is the trait through which it asks.
//!
//! ```text
//! accept -> first byte 0x16 ---> TLS 1.2/1.3, ALPN tds/8.0 --+
//!        -> PRELOGIN -> TLS 1.2 within PRELOGIN packets -----+-> LOGIN7 -> idle <-> running
//! ```
//!
//! Invariants
//!  1. A session ([`session::Connection`]) is in one place: with a worker while a request runs;
//!     while idle, with the task, or in the link where the worker left it. A worker drops it, since
//!     its end may wait.
//!  2. A response ends with exactly one DONE without MORE, followed by EOM.
//!  3. An attention gets exactly one DONE with the attention bit, in a message of its own, after
//!     the response that it ended (with DONE_ERROR) or that had ended already: some drivers wait
//!     for the one message and then for the other.
//!  4. At most [`Options::output_bytes_max`] and one flush wait for a client that does not read;
//!     the request waits under ASYNC_NETWORK_IO.
//!  5. An idle connection holds no buffers; long requests are charged to the engine's memory.
//!
//! Not here: what a request means, and which password belongs to which login (the engine asks
//! [`password`]).

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
