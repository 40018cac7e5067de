//! The server under test: built once, started for each client on a free port and a fresh folder.

use super::wait;
use crate::process;
use crate::workspace::{Outcome, Workspace};
use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Of a server that listens on the loopback for the length of one test.
pub(crate) const PASSWORD: &str = "Driven-by-xtask-1";
const START_SECONDS_MAX: u64 = 30;
const STOP_SECONDS_MAX: u64 = 30;

/// A running server; ended when dropped, cleanly by `stop`.
pub(crate) struct Server {
    child: Option<Child>,
    pub(crate) port: u16,
    folder: PathBuf,
    log: PathBuf,
}

/// Builds the binary and tells where it is.
pub(crate) fn build(workspace: &Workspace, release: bool) -> Outcome<PathBuf> {
    let mut arguments = vec!["build", "--locked", "--bin", "ghostlight"];
    if release {
        arguments.push("--release");
    }
    if !process::succeeds(process::cargo(workspace, &arguments))? {
        return Err("the server does not build".to_owned());
    }
    let profile = if release { "release" } else { "debug" };
    Ok(workspace.target().join(profile).join("ghostlight"))
}

impl Server {
    /// Starts on an empty data folder below `work` and waits until the port answers.
    pub(crate) fn start(binary: &Path, work: &Path) -> Outcome<Server> {
        let folder = work.join("server-data");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|e| format!("empty the data folder: {e}"))?;
        }
        let log = work.join("server.log");
        let output = File::create(&log).map_err(|e| format!("create {}: {e}", log.display()))?;
        let errors = output.try_clone().map_err(|e| format!("share the server's log: {e}"))?;
        let port = free_port()?;
        let child = Command::new(binary)
            .arg("serve")
            .arg("--data")
            .arg(&folder)
            .arg("--listen")
            .arg(format!("127.0.0.1:{port}"))
            .env("GHOSTLIGHT_SA_PASSWORD", PASSWORD)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .spawn()
            .map_err(|e| format!("start {}: {e}", binary.display()))?;
        let mut server = Server { child: Some(child), port, folder, log };
        server.await_port()?;
        Ok(server)
    }

    fn await_port(&mut self) -> Outcome<()> {
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = match &mut self.child {
                Some(child) => child.try_wait().map_err(|e| format!("look at server: {e}"))?,
                None => None,
            };
            if ended.is_some() || start.elapsed() > Duration::from_secs(START_SECONDS_MAX) {
                return Err(format!("the server does not answer; it says:\n{}", self.said()));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The certificate that the server made at its first start.
    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.join("server.pem")
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// SIGTERM, as an operator would: a clean stop within the time limit, or a failure.
    pub(crate) fn stop(mut self) -> Outcome<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        if let Some(status) = child.try_wait().map_err(|e| format!("look at server: {e}"))? {
            return Err(format!("the server ended early ({status}); it says:\n{}", self.said()));
        }
        let mut kill = Command::new("kill");
        kill.arg("-TERM").arg(child.id().to_string());
        if !process::succeeds(kill)? {
            child.kill().and_then(|()| child.wait()).map_err(|e| format!("end server: {e}"))?;
            return Err("the server could not be sent SIGTERM".to_owned());
        }
        match wait(child, Duration::from_secs(STOP_SECONDS_MAX)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(format!("the server did not stop cleanly:\n{}", self.said())),
            Err(why) => Err(format!("stopping the server: {why}")),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself; then there is nothing to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A port that was free a moment ago: the system hands out others before it comes round again.
fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| format!("find a port: {e}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|e| format!("find a port: {e}"))
}
