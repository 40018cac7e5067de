//! The rules of the source tree that a machine checks, and the tree itself as files.
//!
//! ```text
//!   layers    crates against layers.toml       messages   the message table
//!   circles   files of a crate that name each other
//!   operators files that name a physical operator
//!   border    types that only their owner names
//!   tidy      rules of style                   ratchet    what may only shrink
//!   rooms     how full they are, for a proof
//!   workspace the tree's files                 process    cargo and other programs
//! ```
//! `xtask` and `prove` stand on it; it names neither, nor the engine.

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a tool beside the engine: no simulator schedules it or tears its files"
)]

mod border;
mod circles;
mod count;
pub mod layers;
mod lex;
pub mod messages;
mod operators;
pub mod process;
mod ratchet;
mod rooms;
mod standing;
mod survey;
pub mod tidy;
mod workspace;

pub use count::Count;
pub use rooms::counts;
pub use standing::{LongestItem, StandingReport};
pub use tidy::Asserts;
pub use workspace::{Outcome, Violation, Workspace};
