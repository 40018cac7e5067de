//! path.5, many clients: what an idle one costs. The clients are those of the server's example
//! `idle_memory`: encrypted, one prepared statement run.

use super::Figure;
use super::program::{Ground, Serving};
use crate::process;
use crate::workspace::Outcome;
use std::process::Stdio;

const CLIENTS: &str = "500";
const BYTES_MAX: i64 = 64 << 10;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let idle = idle(ground);
    let pass = idle.as_ref().is_ok_and(|bytes| *bytes <= BYTES_MAX);
    let figure = idle.map_or_else(|why| why, |bytes| format!("{:.1} KB", bytes as f64 / 1024.0));
    Ok(vec![
        Figure {
            what: format!("resident memory of a client, {CLIENTS} idle"),
            figure,
            limit: format!("{} KB", BYTES_MAX >> 10),
            pass,
        },
        Figure::unmeasured("64 active clients beside them", "no failure"),
        Figure::unmeasured("attention in a lock wait, a sort, a send", "100 ms each"),
    ])
}

/// Bytes of a client, as the example says it.
fn idle(ground: &Ground<'_>) -> Outcome<i64> {
    let build = ["build", "--quiet", "--release", "--locked", "--package", "server", "--example"];
    let mut cargo = process::cargo(ground.workspace, &build);
    cargo.arg("idle_memory");
    if !process::succeeds(cargo)? {
        return Err("the example idle_memory does not build".to_owned());
    }
    let data = ground.folder("path.5")?.join("data");
    let mut server = Serving::start(&ground.binary()?, &data)?;
    drop(server.client()?);
    let example = ground.workspace.target().join("release/examples/idle_memory");
    let finished = std::process::Command::new(example)
        .args([server.port.to_string().as_str(), CLIENTS])
        .env("SERVER_PID", server.id().to_string())
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("start idle_memory: {e}"))?;
    let output = String::from_utf8_lossy(&finished.stdout).into_owned();
    let bytes = output.trim().strip_suffix(" bytes a connection");
    let bytes = bytes.and_then(|text| text.rsplit(' ').next()?.parse().ok());
    let errors = String::from_utf8_lossy(&finished.stderr);
    let bytes = bytes.ok_or_else(|| format!("idle_memory fails: {}", errors.trim()))?;
    server.stop()?;
    Ok(bytes)
}
