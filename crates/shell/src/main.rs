//! The binary `ghostlight`: the shell with an engine and a server wired to it.

use base::{SqlError, SqlResult};
use shell::{Engine, ServeOptions, Wiring};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let wiring = Wiring { open, serve };
    let code = shell::run(std::env::args_os(), wiring);
    // As every shell sees an exit code: its lowest byte.
    ExitCode::from((code & 0xFF) as u8)
}

fn open(_folder: &Path, _memory: Option<u64>) -> SqlResult<Box<dyn Engine>> {
    Err(SqlError::raw(0, 16, 1, "The embedded engine is not wired yet".to_owned()))
}

fn serve(_options: &ServeOptions) -> i32 {
    eprintln!("ghostlight serve: not wired yet");
    1
}
