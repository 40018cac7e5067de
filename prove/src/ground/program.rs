//! The program under proof: the build to ship, its runs measured, its server started and ended.

use crate::ground::client::Client;
use checks::{Outcome, Workspace, process};
use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

/// Of `sa` at servers that a proof starts.
pub const PASSWORD: &str = "Fake-engine-1";
/// What the issue asks for: ten minutes each.
pub(crate) const FUZZ_SECONDS: u64 = 600;
/// What the server prints before the address that it listens on.
const LISTENS: &str = "Ghostlight listens on ";
const ANSWER_SECONDS_MAX: u64 = 30;
const STOP_SECONDS_MAX: u64 = 30;

/// Where a proof happens: the sources, the binary, folders to run it in.
pub struct Ground<'a> {
    pub(crate) workspace: &'a Workspace,
    given: Option<PathBuf>,
    /// How long each fuzz target runs.
    pub(crate) fuzz_seconds: u64,
    /// The part of the rows and transactions that the long proofs of row versions ask for.
    pub(crate) scale: f64,
    /// An earlier binary, to compare with.
    pub(crate) before: Option<PathBuf>,
    /// The parts of a proof that are run; all of them where it is empty.
    pub(crate) only: String,
}

/// A run that has ended.
pub(crate) struct FinishedRun {
    pub(crate) output: String,
    pub(crate) succeeded: bool,
    /// The child's own, user and system.
    pub(crate) cpu: Duration,
    /// The most memory that was resident; sampled.
    pub(crate) peak_kb: u64,
    /// Bytes that read system calls returned; sampled.
    pub(crate) read_bytes: u64,
}

impl<'a> Ground<'a> {
    /// The ground of a whole proof; `given` is a binary that is proven instead of a build.
    #[must_use]
    pub fn new(workspace: &'a Workspace, given: Option<PathBuf>) -> Ground<'a> {
        let (scale, only) = (1.0, String::new());
        Ground { workspace, given, fuzz_seconds: FUZZ_SECONDS, scale, before: None, only }
    }

    /// That part of a number of rows or transactions.
    pub(crate) fn scaled(&self, whole: i64) -> i64 {
        (whole as f64 * self.scale) as i64
    }

    /// Whether what the proof asks for is run, not a part of it: only then it can pass.
    pub(crate) fn is_whole(&self) -> bool {
        self.scale >= 1.0 && self.only.is_empty()
    }

    /// Whether this part of a proof is to be run.
    pub(crate) fn has_part(&self, name: &str) -> bool {
        name.starts_with(&self.only)
    }

    /// What a limit says besides where only a part is run.
    pub(crate) fn of_the_whole(&self) -> &'static str {
        if self.is_whole() { "" } else { ", at full scale" }
    }

    /// The build to ship of this checkout, or the binary that was given.
    pub(crate) fn binary(&self) -> Outcome<PathBuf> {
        self.binary_of("ship")
    }

    /// A build of this checkout (debug, release, ship), or the binary that was given.
    ///
    /// # Errors
    /// It does not build.
    pub fn binary_of(&self, profile: &str) -> Outcome<PathBuf> {
        if let Some(given) = &self.given {
            return Ok(given.clone());
        }
        let cargos_name = if profile == "debug" { "dev" } else { profile };
        let mut command = process::cargo(self.workspace, &["build", "--quiet", "--locked"]);
        command.args(["--bin", "ghostlight", "--profile", cargos_name]);
        if !process::succeeds(command)? {
            return Err(format!("the {profile} binary does not build"));
        }
        Ok(self.workspace.target().join(profile).join("ghostlight"))
    }

    /// An empty folder of this name below cargo's output.
    pub(crate) fn folder(&self, name: &str) -> Outcome<PathBuf> {
        let folder = self.workspace.target().join("proofs").join(name);
        empty(&folder)?;
        Ok(folder)
    }

    /// A script below tests/proofs.
    pub(crate) fn script(&self, name: &str) -> PathBuf {
        self.workspace.root.join("tests/proofs").join(name)
    }

    /// `ghostlight sql` over scripts, embedded on a folder, its rows as `a|b|c`.
    pub(crate) fn sql(&self, data: &Path, scripts: &[&str]) -> Outcome<Command> {
        let mut command = Command::new(self.binary()?);
        command.arg("sql").args(scripts.iter().map(|name| self.script(name)));
        command.arg("--data").arg(data).args(["-W", "-b", "-h", "-1", "-s", "|"]);
        Ok(command)
    }
}

/// Makes the folder, or empties it.
///
/// # Errors
/// The system refuses.
pub fn empty(folder: &Path) -> Outcome<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|e| format!("empty {}: {e}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|e| format!("create {}: {e}", folder.display()))
}

fn children_cpu() -> Outcome<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| format!("read CPU time: {e}"))?;
    let time = |t: nix::sys::time::TimeVal| {
        Duration::new(t.tv_sec().unsigned_abs(), 0)
            + Duration::from_micros(t.tv_usec().unsigned_abs())
    };
    Ok(time(usage.user_time()) + time(usage.system_time()))
}

/// Runs to the end within `at_most`, output to a file, memory and reads sampled meanwhile.
pub(crate) fn finish(mut command: Command, log: &Path, at_most: Duration) -> Outcome<FinishedRun> {
    let output = File::create(log).map_err(|e| format!("create {}: {e}", log.display()))?;
    let errors = output.try_clone().map_err(|e| format!("share {}: {e}", log.display()))?;
    let before = children_cpu()?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .spawn()
        .map_err(|e| format!("start {}: {e}", command.get_program().display()))?;
    let (mut peak_kb, mut read_bytes) = (0, 0);
    let status = loop {
        peak_kb = of_process(child.id(), "status", "VmHWM:").unwrap_or(0).max(peak_kb);
        read_bytes = of_process(child.id(), "io", "rchar:").unwrap_or(0).max(read_bytes);
        if let Some(status) = child.try_wait().map_err(|e| format!("wait: {e}"))? {
            break status;
        }
        if start.elapsed() > at_most {
            end(&mut child);
            let said = fs::read_to_string(log).unwrap_or_default();
            return Err(format!("no end after {} s; it says: {said}", at_most.as_secs()));
        }
        thread::sleep(Duration::from_millis(5));
    };
    let cpu = children_cpu()?.saturating_sub(before);
    let mut output = fs::read_to_string(log).map_err(|e| format!("read {}: {e}", log.display()))?;
    if !status.success() {
        output += &format!("{status}");
    }
    Ok(FinishedRun { output, succeeded: status.success(), cpu, peak_kb, read_bytes })
}

/// A number of a file of /proc.
pub(crate) fn of_process(id: u32, file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{id}/{file}")).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn end(child: &mut Child) {
    // It may have ended by itself; then there is nothing to end.
    let _ = child.kill();
    let _ = child.wait();
}

impl FinishedRun {
    /// The rows whose first column is `name`, the rest of each as numbers.
    pub(crate) fn rows(&self, name: &str) -> Vec<Vec<i64>> {
        let row = |line: &str| {
            let (first, rest) = line.split_once('|')?;
            let numbers = rest.split('|').map(|n| n.trim().parse().ok()).collect::<Option<_>>();
            numbers.filter(|_| first.trim() == name)
        };
        self.output.lines().filter_map(row).collect()
    }
}

/// `ghostlight serve` of a proof; ended when dropped.
pub struct ServerProcess {
    child: Child,
    port: OnceLock<u16>,
    log: PathBuf,
    pub(crate) started: Instant,
}

impl ServerProcess {
    /// Starts on a data folder; the log of its output lies beside it.
    ///
    /// # Errors
    /// The binary cannot be started.
    pub fn start(binary: &Path, data: &Path) -> Outcome<ServerProcess> {
        ServerProcess::start_with(binary, data, &[])
    }

    /// The same with more options.
    pub(crate) fn start_with(
        binary: &Path,
        data: &Path,
        options: &[&str],
    ) -> Outcome<ServerProcess> {
        ServerProcess::spawn(Command::new(binary), data, "log", options)
    }

    /// The same under a program that runs the command it is given, as the same process.
    pub(crate) fn start_under(
        mut tool: Command,
        binary: &Path,
        data: &Path,
        options: &[&str],
    ) -> Outcome<ServerProcess> {
        tool.arg(binary);
        ServerProcess::spawn(tool, data, "log", options)
    }

    /// Starts on a folder that another one is started on, too: its output lies in another file.
    pub(crate) fn start_beside(binary: &Path, data: &Path) -> Outcome<ServerProcess> {
        ServerProcess::spawn(Command::new(binary), data, "beside.log", &[])
    }

    fn spawn(
        mut command: Command,
        data: &Path,
        log: &str,
        options: &[&str],
    ) -> Outcome<ServerProcess> {
        let log = data.with_extension(log);
        let output = File::create(&log).map_err(|e| format!("create {}: {e}", log.display()))?;
        let errors = output.try_clone().map_err(|e| format!("share the log: {e}"))?;
        command.arg("serve").arg("--data").arg(data);
        command.args(["--listen", "127.0.0.1:0"]).args(options);
        command.env("GHOSTLIGHT_SA_PASSWORD", PASSWORD);
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let started = Instant::now();
        let child = command.spawn();
        let child = child.map_err(|e| format!("start {}: {e}", command.get_program().display()))?;
        Ok(ServerProcess { child, port: OnceLock::new(), log, started })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// User and system time of all its threads so far, to the nanosecond.
    pub(crate) fn cpu(&self) -> Outcome<Duration> {
        let id = self.child.id().cast_signed();
        let clock = clock_getcpuclockid(Pid::from_raw(id));
        let time = clock.and_then(clock_gettime);
        time.map(Duration::from).map_err(|e| format!("read the server's CPU time: {e}"))
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The port that the system gave the server, once it has said that it listens.
    fn known_port(&self) -> Option<u16> {
        if self.port.get().is_none() {
            let said = self.said();
            let line = said.lines().find_map(|line| line.strip_prefix(LISTENS))?;
            let address: SocketAddr = line.strip_suffix('.')?.parse().ok()?;
            // Nobody sets another value.
            let _ = self.port.set(address.port());
        }
        self.port.get().copied()
    }

    /// The same, once `client` has let somebody in.
    ///
    /// # Errors
    /// It has not said that it listens.
    pub fn port(&self) -> Outcome<u16> {
        let port = self.known_port();
        port.ok_or_else(|| format!("the server does not listen; it says: {}", self.said()))
    }

    /// A session, as soon as the server lets one in.
    ///
    /// # Errors
    /// It ended, or lets nobody in.
    pub fn client(&mut self) -> Outcome<Client> {
        loop {
            let trouble = match self.known_port().map(|port| Client::login(port, "sa", PASSWORD)) {
                Some(Ok(client)) => return Ok(client),
                Some(Err(trouble)) => trouble.to_string(),
                None => "it does not listen".to_owned(),
            };
            let ended = self.child.try_wait().map_err(|e| format!("look at the server: {e}"))?;
            if ended.is_some() || self.started.elapsed() > Duration::from_secs(ANSWER_SECONDS_MAX) {
                return Err(format!("no answer ({trouble}); the server says: {}", self.said()));
            }
            thread::sleep(Duration::from_micros(500));
        }
    }

    /// SIGKILL, and the wait until nothing of the process is left.
    pub(crate) fn kill(mut self) -> Outcome<()> {
        let early = self.child.try_wait().map_err(|e| format!("look at the server: {e}"))?;
        if let Some(status) = early {
            let said = self.said();
            return Err(format!("the server ended by itself ({status}); it says: {said}"));
        }
        end(&mut self.child);
        Ok(())
    }

    /// SIGTERM, as an operator would: a clean stop within the time limit, or a failure.
    ///
    /// # Errors
    /// It does not stop, or not cleanly.
    pub fn stop(mut self) -> Outcome<()> {
        let mut kill = Command::new("kill");
        kill.arg("-TERM").arg(self.child.id().to_string());
        if !process::succeeds(kill)? {
            return Err("the server could not be sent SIGTERM".to_owned());
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(STOP_SECONDS_MAX) {
            match self.child.try_wait().map_err(|e| format!("look at the server: {e}"))? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server did not stop cleanly: {status}")),
                None => thread::sleep(Duration::from_millis(5)),
            }
        }
        Err(format!("the server does not stop within {STOP_SECONDS_MAX} s"))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}
