//! Ctrl-C of `ghostlight sql`: from SIGINT to its message, remote and embedded, whatever the
//! statement does. The shell ends as an interrupted program does, with 130.

use crate::ground::figure::{Figure, Part};
use crate::ground::program::{PASSWORD, ServerProcess};
use checks::{Outcome, process};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const MS_MAX: f64 = 100.0;
const INTERRUPTED: i32 = 130;
/// Until an embedded engine has started on an empty folder and the statement runs.
const START: Duration = Duration::from_millis(1500);
const STATEMENTS: [&str; 3] = [
    "WAITFOR DELAY '00:01:00'; PRINT 'not here'",
    "DECLARE @i bigint = 0; WHILE 1 = 1 SET @i += 1; PRINT 'not here'",
    "SELECT TOP (1) a.number FROM master..spt_values a, master..spt_values b, \
     master..spt_values c ORDER BY (a.number * 7 + b.number * 11 + c.number) % 1009; \
     PRINT 'not here'",
];

pub(crate) fn measure(binary: &Path, work: &Path) -> Part {
    let data = work.join("shell-data");
    let mut server = ServerProcess::start(binary, &data)?;
    drop(server.client()?);
    let target = format!("127.0.0.1,{}", server.port()?);
    let remote = ["-S", &target, "-U", "sa", "-P", PASSWORD, "-C"];
    let figures = vec![
        figure("remote", binary, &remote)?,
        figure("embedded, in memory of its own", binary, &["--max-memory", "256MB"])?,
    ];
    server.stop()?;
    // What cannot be removed is emptied next time.
    let _ = std::fs::remove_dir_all(data);
    Ok(figures)
}

fn figure(how: &str, binary: &Path, options: &[&str]) -> Outcome<Figure> {
    let mut worst_ms = 0.0_f64;
    for statement in STATEMENTS {
        worst_ms = worst_ms.max(interrupted_ms(binary, options, statement)?);
    }
    Ok(Figure {
        what: format!("Ctrl-C of the shell, {how}"),
        figure: format!("worst of {}: {worst_ms:.1} ms", STATEMENTS.len()),
        limit: format!("{MS_MAX} ms"),
        pass: worst_ms <= MS_MAX,
    })
}

fn interrupted_ms(binary: &Path, options: &[&str], statement: &str) -> Outcome<f64> {
    let mut child = Command::new(binary)
        .arg("sql")
        .args(options)
        .args(["-Q", statement])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("start the shell: {e}"))?;
    thread::sleep(START);
    let mut kill = Command::new("kill");
    kill.arg("-INT").arg(child.id().to_string());
    let sent = Instant::now();
    let signalled = process::succeeds(kill)?;
    let mut said = Vec::new();
    let mut buffer = [0; 1024];
    let mut took = None;
    let mut errors = child.stderr.take().ok_or("the shell has no stderr")?;
    loop {
        let n = errors.read(&mut buffer).map_err(|e| format!("read the shell's errors: {e}"))?;
        said.extend_from_slice(&buffer[..n]);
        if took.is_none() && String::from_utf8_lossy(&said).contains("CTRL+C") {
            took = Some(sent.elapsed());
        }
        if n == 0 {
            break;
        }
    }
    let ended = child.wait_with_output().map_err(|e| format!("wait for the shell: {e}"))?;
    let out = String::from_utf8_lossy(&ended.stdout).into_owned();
    match took {
        Some(took) if ended.status.code() == Some(INTERRUPTED) && !out.contains("not here") => {
            Ok(took.as_secs_f64() * 1e3)
        }
        _ => {
            let said = String::from_utf8_lossy(&said);
            Err(format!("{statement}: signalled {signalled}, {}, {out} {said}", ended.status))
        }
    }
}
