//! path.8, start-up: from the start of the process to the first row a raw TDS client receives,
//! on an empty folder and on one that was stopped cleanly; and the size of the binary.

use crate::ground::figure::{Figure, median};
use crate::ground::program::{Ground, ServerProcess, empty};
use checks::{Outcome, process};
use std::fs;
use std::path::Path;
use std::process::Command;

const REPETITIONS: usize = 5;
const EMPTY_MS_MAX: f64 = 300.0;
const EXISTING_MS_MAX: f64 = 50.0;
const STRIPPED_BYTES_MAX: u64 = 30 << 20;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let binary = ground.binary()?;
    let work = ground.folder("path.8")?;
    let data = work.join("data");
    let (mut made, mut existing) = (Vec::new(), Vec::new());
    for _ in 0..REPETITIONS {
        empty(&data)?;
        made.push(first_row_ms(&binary, &data)?);
        existing.push(first_row_ms(&binary, &data)?);
    }
    Ok(vec![
        milliseconds("empty folder to first row", median(made), EMPTY_MS_MAX),
        milliseconds("existing folder to first row", median(existing), EXISTING_MS_MAX),
        stripped(&binary, &work)?,
    ])
}

/// Starts, asks, and stops cleanly.
fn first_row_ms(binary: &Path, data: &Path) -> Outcome<f64> {
    let mut server = ServerProcess::start(binary, data)?;
    let mut client = server.client()?;
    let answer = client.batch("SELECT 1").map_err(|e| format!("SELECT 1: {e}"))?;
    let took = server.started.elapsed();
    if answer.rows != [[1]] {
        return Err(format!("SELECT 1 answers {:?}, {:?}", answer.rows, answer.errors));
    }
    drop(client);
    server.stop()?;
    Ok(took.as_secs_f64() * 1e3)
}

fn milliseconds(what: &str, figure: f64, limit: f64) -> Figure {
    Figure {
        what: format!("{what}, median of {REPETITIONS}"),
        figure: format!("{figure:.0} ms"),
        limit: format!("{limit:.0} ms"),
        pass: figure <= limit,
    }
}

fn stripped(binary: &Path, work: &Path) -> Outcome<Figure> {
    let copy = work.join("ghostlight-stripped");
    let mut strip = Command::new("strip");
    strip.arg("-o").arg(&copy).arg(binary);
    if !process::succeeds(strip)? {
        return Err("strip fails".to_owned());
    }
    let bytes = fs::metadata(&copy).map_err(|e| format!("look at the stripped copy: {e}"))?.len();
    Ok(Figure {
        what: "stripped binary".to_owned(),
        figure: format!("{:.1} MB", bytes as f64 / f64::from(1 << 20)),
        limit: format!("{} MB", STRIPPED_BYTES_MAX >> 20),
        pass: bytes < STRIPPED_BYTES_MAX,
    })
}
