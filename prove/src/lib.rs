//! The proofs: what the issues ask Ghostlight to show, each measured and judged.
//!
//! ```text
//!   proofs             the list: name, alias, what it proves; chooses and runs them
//!   write_path, recovery, versions, queries, server, truth, house, rules_of_the_source
//!                      the proofs by their goal, one a module
//!   ground             what they stand on: the program, its server, clients, figures
//! ```
//! A proof measures; it prints each figure beside its limit and says pass or fail. A figure that
//! nothing measures fails: an unproven line is never a pass. `cargo xtask prove` calls it; a proof
//! runs the program as its users do, so nothing of the engine but its formats is named here.

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "proofs measure a real program from outside: no simulator schedules them"
)]

mod ground;
mod house;
mod proofs;
mod queries;
mod recovery;
mod rules_of_the_source;
mod server;
mod truth;
mod versions;
mod write_path;

pub use ground::client::{Answer, Client, asked};
pub use ground::lines::Tools;
pub use ground::program::{Ground, PASSWORD, ServerProcess, empty};
pub use ground::scene::session;
pub use proofs::{Options, run};
pub use recovery::{kills, trace};
