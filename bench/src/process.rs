//! Processes of servers: started in a folder, their CPU time read, ended with their children.

use crate::figure::Outcome;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::{Pid, Uid, User};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const READY_SECONDS_MAX: u64 = 60;
/// A peer writes all of its pages before it stops.
const STOP_SECONDS_MAX: u64 = 300;
/// Clock ticks a second of /proc's times (USER_HZ, the same on every Linux architecture).
const TICKS: f64 = 100.0;

/// A server's process; killed with its children when dropped.
pub(crate) struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts it, its output beside its data.
    pub(crate) fn start(mut command: Command, folder: &Path) -> Outcome<Server> {
        let log = folder.join("output.log");
        let output = File::create(&log).map_err(|e| format!("create {}: {e}", log.display()))?;
        let errors = output.try_clone().map_err(|e| format!("share the log: {e}"))?;
        command.stdin(Stdio::null()).stdout(output).stderr(errors);
        let program = command.get_program().display().to_string();
        let child = command.spawn().map_err(|e| format!("start {program}: {e}"))?;
        Ok(Server { child, log })
    }

    /// Tries until it answers; a server that has ended ends the wait.
    pub(crate) fn ready<T>(
        &mut self,
        mut attempt: impl FnMut(&Server) -> Outcome<T>,
    ) -> Outcome<T> {
        let start = Instant::now();
        loop {
            let trouble = match attempt(self) {
                Ok(answer) => return Ok(answer),
                Err(trouble) => trouble,
            };
            let ended = self.child.try_wait().map_err(|e| format!("look at the server: {e}"))?;
            if ended.is_some() || start.elapsed() > Duration::from_secs(READY_SECONDS_MAX) {
                let said = self.said();
                return Err(format!("the server does not answer ({trouble}); it says: {said}"));
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// What it has printed.
    pub(crate) fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// SIGTERM, and the wait for its end.
    pub(crate) fn stop(&mut self) -> Outcome<()> {
        signal("-TERM", &[self.child.id()])?;
        self.gone(&[])
    }

    /// SIGKILL to it and its descendants, and the wait until none is left.
    pub(crate) fn kill(&mut self) -> Outcome<()> {
        let family: Vec<u32> = self.family().iter().map(|process| process.id).collect();
        signal("-KILL", &family)?;
        self.gone(&family)
    }

    fn gone(&mut self, family: &[u32]) -> Outcome<()> {
        let start = Instant::now();
        let there = |id: &u32| Path::new("/proc").join(id.to_string()).exists();
        while matches!(self.child.try_wait(), Ok(None)) || family.iter().any(there) {
            if start.elapsed() > Duration::from_secs(STOP_SECONDS_MAX) {
                return Err(format!("a server does not end within {STOP_SECONDS_MAX} s"));
            }
            thread::sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    /// The most memory that the process itself has had in use, in KB.
    pub(crate) fn peak_kb(&self) -> u64 {
        self.status_kb("VmHWM:")
    }

    /// The memory that the process itself has in use, in KB.
    pub(crate) fn resident_kb(&self) -> u64 {
        self.status_kb("VmRSS:")
    }

    fn status_kb(&self, field: &str) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(field));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// User and system time of it and all its descendants, those that have ended included.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        self.family().iter().map(Stat::seconds).sum()
    }

    /// It and its descendants.
    fn family(&self) -> Vec<Stat> {
        let mut processes = Vec::new();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            if let Some(stat) = Stat::read(&entry.path().join("stat")) {
                processes.push(stat);
            }
        }
        let mut family = vec![self.child.id()];
        let mut at = 0;
        while let Some(&parent) = family.get(at) {
            family.extend(processes.iter().filter(|p| p.parent == parent).map(|p| p.id));
            at += 1;
        }
        processes.retain(|p| family.contains(&p.id));
        processes
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end. Peers end their children.
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        let mut term = Command::new("kill");
        term.arg("-TERM").arg(self.child.id().to_string()).stderr(Stdio::null());
        if term.status().is_ok() {
            for _ in 0..500 {
                if !matches!(self.child.try_wait(), Ok(None)) {
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal(which: &str, processes: &[u32]) -> Outcome<()> {
    let mut kill = Command::new("kill");
    kill.arg(which).args(processes.iter().map(u32::to_string)).stderr(Stdio::null());
    // One that has just ended by itself is as good as killed.
    kill.status().map(drop).map_err(|e| format!("kill: {e}"))
}

/// What /proc says of a process.
struct Stat {
    id: u32,
    parent: u32,
    /// Of its own.
    ticks: u64,
    /// Of children that have ended.
    ended: u64,
}

impl Stat {
    fn read(path: &Path) -> Option<Stat> {
        Stat::parse(&fs::read_to_string(path).ok()?)
    }

    /// proc(5): `pid (name) state ppid … utime stime cutime cstime` at places 14 to 17.
    fn parse(text: &str) -> Option<Stat> {
        let id = text.split(' ').next()?.parse().ok()?;
        let rest: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let sum = |of: &[&str]| of.iter().map(|t| t.parse::<u64>().unwrap_or(0)).sum();
        let (ticks, ended) = (sum(rest.get(11..13)?), sum(rest.get(13..15)?));
        Some(Stat { id, parent: rest.get(1)?.parse().ok()?, ticks, ended })
    }

    /// CPU seconds of it and its ended children; its own to the nanosecond where it is still there.
    fn seconds(&self) -> f64 {
        let clock = clock_getcpuclockid(Pid::from_raw(self.id.cast_signed()));
        let own = clock.and_then(clock_gettime).map(|t| Duration::from(t).as_secs_f64());
        own.unwrap_or(self.ticks as f64 / TICKS) + self.ended as f64 / TICKS
    }
}

/// Runs to the end; its output, or what it said on failure.
pub(crate) fn output(mut command: Command) -> Outcome<String> {
    let program = command.get_program().display().to_string();
    let done = command.stdin(Stdio::null()).output().map_err(|e| format!("run {program}: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(format!("{program}: {}: {}", done.status, String::from_utf8_lossy(&done.stderr)))
}

/// Starts a client on statements whose last answers a row `held`, and leaves it there, waiting for
/// more.
pub(crate) fn hold(mut command: Command, sql: &str) -> Outcome<Child> {
    let program = command.get_program().display().to_string();
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("run {program}: {e}"))?;
    let input = child.stdin.as_mut().ok_or_else(|| format!("{program} has no input"))?;
    let fed = input.write_all(sql.as_bytes()).and_then(|()| input.flush());
    fed.map_err(|e| format!("feed {program}: {e}"))?;
    let output = child.stdout.as_mut().ok_or_else(|| format!("{program} has no output"))?;
    // Not read ahead: there is nothing behind the line.
    let mut said = String::new();
    while !said.lines().any(|line| line.trim() == "held") {
        let mut buffer = [0; 256];
        match output.read(&mut buffer) {
            Ok(n) if n > 0 => said += &String::from_utf8_lossy(&buffer[..n]),
            _ => return Err(format!("{program} ends: {said}")),
        }
    }
    Ok(child)
}

/// Runs commands at once; seconds from the first start to the last end.
pub(crate) fn together(commands: impl Iterator<Item = Command>) -> Outcome<f64> {
    let start = Instant::now();
    let mut children = Vec::new();
    for mut command in commands {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        children.push(command.spawn().map_err(|e| format!("start a client: {e}"))?);
    }
    for child in children {
        let done = child.wait_with_output().map_err(|e| format!("wait for a client: {e}"))?;
        if !done.status.success() {
            return Err(format!("a client: {}", String::from_utf8_lossy(&done.stderr)));
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

/// A command that runs as an unprivileged user where we are root: servers refuse root.
pub(crate) fn as_user(program: &Path, user: &str) -> Command {
    let mut command = Command::new(program);
    if let (true, Ok(Some(user))) = (Uid::effective().is_root(), User::from_name(user)) {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    command.current_dir("/");
    command
}

/// A program on the PATH, or where Debian's packages put it.
pub(crate) fn find(name: &str, beside: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).collect::<Vec<_>>();
    let folders = beside.iter().map(PathBuf::from).chain(on_path);
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Makes the folder, or empties it, for a user where we are root.
pub(crate) fn empty(folder: &Path, user: Option<&str>) -> Outcome<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|e| format!("empty {}: {e}", folder.display()))?;
    }
    fs::create_dir_all(folder).map_err(|e| format!("create {}: {e}", folder.display()))?;
    if let Some(Ok(Some(user))) = user.filter(|_| Uid::effective().is_root()).map(User::from_name) {
        std::os::unix::fs::chown(folder, Some(user.uid.as_raw()), Some(user.gid.as_raw()))
            .map_err(|e| format!("give away {}: {e}", folder.display()))?;
    }
    folder.canonicalize().map_err(|e| format!("find {}: {e}", folder.display()))
}

/// A port that was free a moment ago.
pub(crate) fn free_port() -> Outcome<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| format!("find a port: {e}"))?;
    listener.local_addr().map(|address| address.port()).map_err(|e| format!("find a port: {e}"))
}

#[cfg(test)]
mod tests {
    /// Names may hold spaces and parentheses.
    #[test]
    fn a_line_of_proc_is_read_from_behind_the_name() {
        let text = "42 (a (b) c) S 7 42 42 0 -1 0 1 2 3 4 100 20 3 1 20 0 1 0 5";
        let stat = super::Stat::parse(text).expect("a line of proc");
        assert_eq!((stat.id, stat.parent, stat.ticks, stat.ended), (42, 7, 120, 4));
    }
}
