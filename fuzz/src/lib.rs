//! What is fuzzed: one function for each door that takes bytes from strangers, with its seeds.
//!
//! A [`Target`] is a name, the crates whose lines it should reach, a function that must end well
//! on any input, and a generator of valid inputs. `driver/` binds each to libFuzzer; `tests/`
//! runs each over its seeds and some thousand mutations on the stable toolchain; `cargo xtask
//! prove path.7` runs all for ten minutes each and prints what they covered. See README.md.

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a fuzzer stands beside the engine: it is the world, not part of it"
)]

mod database_files;
mod door;
mod input;
mod log_blocks;
mod log_image;
mod log_use;
mod memory;
mod mutate;
mod page_bytes;
mod redo;
mod table_values;
mod text;
mod values;
mod wire;
mod xml_text;

pub use input::Input;
pub use mutate::{Dice, mutate};
pub use text::words;

/// One door and how to knock at it.
pub struct Target {
    /// As the driver and `cargo xtask prove path.7` name it.
    pub name: &'static str,
    /// The crates whose coverage is counted.
    pub crates: &'static [&'static str],
    /// The longest input.
    pub bytes_max: usize,
    /// Ends, whatever the input; a panic, a hang or a leak is a finding.
    pub run: fn(&[u8]),
    /// Valid inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target {
        name: "tds_login",
        crates: &["tds"],
        bytes_max: 4 << 10,
        run: wire::run_login,
        seeds: wire::login_seeds,
    },
    Target {
        name: "tds_request",
        crates: &["tds"],
        bytes_max: 8 << 10,
        run: wire::run_request,
        seeds: wire::request_seeds,
    },
    Target {
        name: "tvp",
        crates: &["tds"],
        bytes_max: 4 << 10,
        run: table_values::run,
        seeds: table_values::seeds,
    },
    Target {
        name: "tsql",
        crates: &["tsql"],
        bytes_max: 16 << 10,
        run: text::run,
        seeds: text::seeds,
    },
    Target {
        name: "xml",
        crates: &["xml", "xquery"],
        bytes_max: 8 << 10,
        run: xml_text::run,
        seeds: xml_text::seeds,
    },
    Target {
        name: "page",
        crates: &["page"],
        bytes_max: 12 << 10,
        run: page_bytes::run,
        seeds: page_bytes::seeds,
    },
    Target {
        name: "log",
        crates: &["wal"],
        bytes_max: 4 << 10,
        run: log_blocks::run,
        seeds: log_blocks::seeds,
    },
    Target {
        name: "redo",
        crates: &["btree", "rowstore", "space", "page", "wal"],
        bytes_max: 10 << 10,
        run: redo::run,
        seeds: redo::seeds,
    },
    Target {
        name: "database",
        crates: &["recovery", "btree", "space", "page", "wal"],
        bytes_max: 2 << 10,
        run: database_files::run,
        seeds: database_files::seeds,
    },
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// Runs an input of a target.
///
/// # Panics
/// When there is no such target, and at every finding.
pub fn run(name: &str, data: &[u8]) {
    let target = target(name).expect("a driver names a target");
    (target.run)(data);
}
