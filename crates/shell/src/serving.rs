//! `ghostlight serve`: an instance behind the TDS door until SIGTERM.

use crate::instance_options;
use crate::login_file::Logins;
use base::{SqlError, SqlResult, messages};
use instance::Instance;
use os::disk::{RealDisk, Way, write_logs_by};
use server::{Certificate, Options, Place, Server, Strictness};
use session::{Connection, Login};
use shell::{Encryption, EngineOptions, LogWrites, ServeOptions};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long running requests may take to end when the server stops.
const STOP_WITHIN: Duration = Duration::from_secs(10);

struct Door {
    instance: Arc<Instance>,
    logins: Logins,
}

impl server::Engine for Door {
    fn authenticate(&self, user: &str, password: &str) -> SqlResult<()> {
        if self.logins.verify(user, password) {
            return Ok(());
        }
        Err(SqlError::new(messages::LOGIN_FAILED, &[&user]))
    }

    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>> {
        Ok(Box::new(self.instance.connect(login)?))
    }

    fn memory(&self) -> Option<Arc<os::memory::Memory>> {
        Some(Arc::clone(self.instance.memory()))
    }

    fn server_name(&self) -> &str {
        self.instance.server_name()
    }

    fn log(&self, line: &str) {
        self.instance.write_log("Server", line);
    }
}

/// Runs the server; the exit code.
pub(crate) fn serve(options: &ServeOptions) -> i32 {
    match start(options) {
        Ok((instance, server)) => {
            println!("Ghostlight listens on {}.", server.address());
            wait_for_signal();
            instance.stops_soon();
            let ended = server.stop(STOP_WITHIN);
            match instance.stop() {
                Ok(()) if ended => 0,
                Ok(()) => {
                    eprintln!("Some requests did not end in time; the next start recovers.");
                    0
                }
                Err(e) => {
                    eprintln!("{e}");
                    1
                }
            }
        }
        Err(what) => {
            eprintln!("Ghostlight cannot start: {what}");
            1
        }
    }
}

fn start(options: &ServeOptions) -> Result<(Arc<Instance>, Server), String> {
    let asked = match options.log_writes {
        LogWrites::Measured => None,
        LogWrites::Direct => Some(Way::Direct),
        LogWrites::Cached => Some(Way::Cached),
    };
    asked.into_iter().for_each(write_logs_by);
    let disk = Arc::new(RealDisk);
    let (max_memory, trace_flags) = (options.max_memory, options.trace_flags.clone());
    let mut settings = instance_options(EngineOptions { max_memory, trace_flags }, false);
    settings.accelerated_recovery = options.accelerated_recovery;
    // Taken first, since the folder's lock names the port; told last, since who holds the folder
    // says more than who holds the port.
    let place = Place::take(options.listen);
    let address = place.as_ref().map_or(options.listen, Place::address);
    settings.address = format!("{},{}", address.ip(), address.port());
    let instance =
        Instance::open(disk.clone(), &options.data, settings).map_err(|e| e.text().to_owned())?;
    measure_disk(Arc::clone(&instance), options.data.clone());
    let logins = Logins::open(&*disk, &options.data).map_err(|e| format!("logins: {e}"))?;
    let certificate = certificate(&disk, options, &instance)?;
    let door = Arc::new(Door { instance: Arc::clone(&instance), logins });
    let encryption = match options.encrypt {
        Encryption::Offered => Strictness::Offered,
        Encryption::Required => Strictness::Forced,
    };
    let settings = Options { encryption, ..Options::default() };
    let server = place
        .and_then(|place| Server::start(door, place, settings, certificate))
        .map_err(|e| format!("listen on {}: {e}", options.listen))?;
    Ok((instance, server))
}

/// The operator's certificate, or our own; the error log tells when one was made.
fn certificate(
    disk: &RealDisk,
    options: &ServeOptions,
    instance: &Instance,
) -> Result<Certificate, String> {
    if let (Some(chain), Some(key)) = (&options.tls_cert, &options.tls_key) {
        return server::load(disk, chain, key).map_err(|e| format!("certificate {e}"));
    }
    let file = options.data.join("server.pem");
    let names = names(&options.listen);
    let (certificate, made) = server::load_or_create(disk, &file, &names)
        .map_err(|e| format!("certificate {}: {e}", file.display()))?;
    if made {
        let (of, file) = (names.join(", "), file.display());
        instance.write_log("Server", &format!("A certificate was made for {of}: {file}."));
    }
    Ok(certificate)
}

/// What the server is reached by.
fn names(listen: &SocketAddr) -> Vec<String> {
    let host = shell::host_name();
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let mut names = Vec::new();
    if host.chars().all(is_name) {
        names.push(host);
    }
    names.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
    if !listen.ip().is_unspecified() {
        names.push(listen.ip().to_string());
    }
    let mut once = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

/// How logs get to the disk fastest is found out beside what else starts, unless it was said. The
/// error log tells how they get there in truth.
fn measure_disk(instance: Arc<Instance>, folder: PathBuf) {
    os::task::spawn("disk measurement", move || {
        let of = folder.display();
        let line = match RealDisk.measure(&folder) {
            Ok(measured) => {
                let by = |(way, ns): &(&str, u64)| format!(" {way} took {} us.", ns / 1000);
                let took: String = measured.took.iter().map(by).collect();
                let sync = match measured.sure {
                    true => "",
                    false => " An fdatasync follows each write there.",
                };
                format!("Log files in {of} are written by way of {}.{sync}{took}", measured.chosen)
            }
            Err(e) => format!("How log files in {of} are written best was not measured: {e}."),
        };
        instance.write_log("Server", &line);
    });
}

/// Returns at SIGTERM or SIGINT.
fn wait_for_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    runtime.block_on(async {
        let (Ok(mut term), Ok(mut int)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return;
        };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
    });
}
