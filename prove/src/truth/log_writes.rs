//! truth.1.3: how logs get to the disk where a file system's word for a durable write is not taken.
//!
//! Linux sends no fsync over FUSE for some writes to O_DSYNC files; there, on network file systems
//! and on all others that are not known to keep their word, an fdatasync follows each write. Memory
//! (tmpfs) is such a file system, and is everywhere: the calls of a server on it are looked at.

use crate::ground::client::asked;
use crate::ground::figure::Figure;
use crate::ground::program::{Ground, ServerProcess, finish};
use checks::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const COMMITS: usize = 200;
const MEMORY: &str = "/dev/shm";
const TRACE_WAIT: Duration = Duration::from_secs(10);

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let (binary, folder) = (ground.binary()?, ground.folder("truth.1.3")?);
    let mut figures = vec![refused(&binary, &folder)?];
    for way in ["direct", "cached", "measured"] {
        figures.push(synced(&binary, &folder, way)?);
    }
    Ok(figures)
}

/// The way that there was once.
fn refused(binary: &Path, folder: &Path) -> Outcome<Figure> {
    let mut command = Command::new(binary);
    command.args(["serve", "--log-writes", "io-uring", "--data"]).arg(folder.join("none"));
    let ended = finish(command, &folder.join("refused"), Duration::from_secs(30))?;
    let told = ended.output.contains("not written by io_uring any more");
    Ok(Figure {
        what: "--log-writes io-uring".to_owned(),
        figure: if told { "refused by name".to_owned() } else { ended.output },
        limit: "refused by name".to_owned(),
        pass: told && !ended.succeeded,
    })
}

/// A folder that is gone when the proof is over.
struct TemporaryFolder(PathBuf);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn synced(binary: &Path, folder: &Path, way: &str) -> Outcome<Figure> {
    let place =
        TemporaryFolder(Path::new(MEMORY).join(format!("ghostlight-{}", std::process::id())));
    fs::create_dir_all(&place.0).map_err(|e| format!("create {}: {e}", place.0.display()))?;
    let trace = folder.join(format!("calls-{way}"));
    let mut strace = Command::new("strace");
    let calls = "trace=pwrite64,pwritev,pwritev2,fdatasync,fsync";
    strace.args(["-D", "-f", "-q", "-y", "-s", "0", "-e", calls, "-o"]).arg(&trace);
    let options = ["--log-writes", way];
    let mut server = ServerProcess::start_under(strace, binary, &place.0.join("data"), &options)?;
    let mut client = server.client()?;
    asked(&mut client, "CREATE DATABASE d")?;
    asked(&mut client, "CREATE TABLE d.dbo.t (id int)")?;
    for row in 0..COMMITS {
        asked(&mut client, &format!("INSERT d.dbo.t VALUES ({row})"))?;
    }
    server.stop()?;
    let (writes, bare) = judged(&finished(&trace)?);
    Ok(Figure {
        what: format!("writes of a log on tmpfs, {way}"),
        figure: format!("{writes} of blocks, {bare} without an fdatasync behind them"),
        limit: format!("{COMMITS} at least, 0"),
        pass: writes >= COMMITS && bare == 0,
    })
}

/// The trace, once strace has written all of it.
fn finished(trace: &Path) -> Outcome<String> {
    let (mut before, started) = (0, std::time::Instant::now());
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let text = fs::read_to_string(trace).map_err(|e| format!("read the trace: {e}"))?;
        if text.len() == before || started.elapsed() > TRACE_WAIT {
            return Ok(text);
        }
        before = text.len();
    }
}

/// Threads whose writes of the log no sync of theirs has followed yet. The file's header may be
/// written without: nobody relies on that.
fn judged(trace: &str) -> (usize, usize) {
    let mut open: Vec<&str> = Vec::new();
    let (mut writes, mut bare) = (0, 0);
    for line in trace.lines().filter(|line| line.contains("/d_log.ldf>")) {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if call.starts_with("fdatasync(") || call.starts_with("fsync(") {
            open.retain(|other| *other != thread);
        } else if call.starts_with("pwrite") && !is_of_header(call) {
            writes += 1;
            // A run of blocks may be several writes, with a sync behind the last.
            bare += usize::from(call.contains("DSYNC") && open.contains(&thread));
            open.push(thread);
        }
    }
    (writes, bare + open.len())
}

/// Below the first virtual log file.
fn is_of_header(call: &str) -> bool {
    // A call that another thread's came into ends in the midst of its line.
    let call = call.split(" <unfinished").next().unwrap_or(call);
    let arguments = call.rsplit_once(')').map_or(call, |(arguments, _)| arguments);
    let offset = arguments.split(", ").filter_map(|part| part.parse::<u64>().ok()).last();
    offset.is_some_and(|offset| offset < 8192)
}

#[cfg(test)]
mod tests {
    use super::judged;

    /// A write that is only said to be durable is seen, also one behind a sync.
    #[test]
    fn a_write_without_a_sync_is_seen() {
        let write = "7 pwritev2(9</m/d_log.ldf>, [{\"\"...}], 1, 20480, RWF_DSYNC) = 512\n";
        let sync = "7 fdatasync(8</m/d_log.ldf>) = 0\n";
        assert_eq!(judged(&format!("{write}{sync}{write}{sync}")), (2, 0));
        assert_eq!(judged(&format!("{write}{sync}{write}")), (2, 1));
        assert_eq!(judged(&format!("{write}{write}{sync}")), (2, 1));
        let cut = "7 pwrite64(8</m/d_log.ldf>, \"\"..., 512, 20480 <unfinished ...>\n";
        assert_eq!(judged(cut), (1, 1));
        let header = "7 pwrite64(8</m/d_log.ldf>, \"\"..., 512, 1536) = 512\n";
        assert_eq!(judged(&format!("{write}{sync}{header}")), (1, 0));
    }
}
