//! The binary `ghostlight`: the shell with an engine and a server wired to it.

mod login_file;
mod serving;

use base::SqlResult;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use session::{Connection, Login};
use shell::{Engine, EngineOptions, Wiring};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Counts, so that the engine knows what it has made.
#[global_allocator]
static ALLOCATOR: os::heap::CountingAllocator<mimalloc::MiMalloc> =
    os::heap::CountingAllocator(mimalloc::MiMalloc);

fn main() -> ExitCode {
    let wiring = Wiring { open, serve: serving::serve };
    let code = shell::run(std::env::args_os(), wiring);
    // As every shell sees an exit code: its lowest byte.
    ExitCode::from((code & 0xFF) as u8)
}

/// The engine of this process, as the shell drives it.
struct EmbeddedEngine(Arc<Instance>);

impl Engine for EmbeddedEngine {
    fn server_name(&self) -> String {
        self.0.server_name().to_owned()
    }

    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>> {
        Ok(Box::new(self.0.connect(login)?))
    }

    fn stop(self: Box<Self>) -> SqlResult<()> {
        self.0.stop()
    }
}

/// The least that an engine gets, whatever `--max-memory` says.
const MEMORY_MIN: usize = 16 << 20;

/// Options of an instance by the command line.
fn instance_options(wishes: EngineOptions, embedded: bool) -> InstanceOptions {
    let trace_flags = wishes.trace_flags;
    let command = format!("ghostlight {}", if embedded { "sql" } else { "serve" });
    let there = os::machine::memory_bytes();
    let memory = wishes.max_memory.map_or_else(|| by_default(there), |wished| wished.min(there));
    let max_memory_bytes = usize::try_from(memory).unwrap_or(usize::MAX).max(MEMORY_MIN);
    InstanceOptions {
        max_memory_bytes,
        embedded,
        trace_flags,
        command,
        ..InstanceOptions::default()
    }
}

/// What the engine may use where `--max-memory` does not say: a quarter of what there is.
fn by_default(machine_bytes: u64) -> u64 {
    (machine_bytes / 4).clamp(64 << 20, 4 << 30)
}

fn open(folder: &Path, wishes: EngineOptions) -> SqlResult<Box<dyn Engine>> {
    let options = instance_options(wishes, true);
    let instance = Instance::open(Arc::new(RealDisk), folder, options)?;
    Ok(Box::new(EmbeddedEngine(instance)))
}
