//! path.5, many clients: what an idle one costs, 64 that work beside them, attentions answered in
//! time, and clients that go away without a word.

mod attention;
mod crowd;
mod ctrl_c;
mod vanish;

use crate::ground::figure::{Figure, Part};
use crate::ground::program::{Ground, ServerProcess};
use checks::Outcome;
use std::path::Path;

/// Little memory: what is large spills.
const LITTLE: [&str; 2] = ["--max-memory", "128MB"];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let binary = ground.binary()?;
    let work = ground.folder("path.5")?;
    let part = |name: &str, options: &[&str], measure: fn(&mut ServerProcess) -> Part| {
        let figures = with_server(&binary, &work.join(name), options, measure);
        figures.unwrap_or_else(|why| vec![failed(name, why)])
    };
    let mut figures = part("crowd", &[], crowd::measure);
    figures.extend(part("attention", &[], |server| attention::measure(server, "in memory")));
    let spilling: fn(&mut ServerProcess) -> Part = |server| attention::measure(server, "spilling");
    figures.extend(part("attention-spilling", &LITTLE, spilling));
    let shell = ctrl_c::measure(&binary, &work);
    figures.extend(shell.unwrap_or_else(|why| vec![failed("Ctrl-C", why)]));
    figures.extend(part("vanish", &[], vanish::measure));
    Ok(figures)
}

fn failed(what: &str, why: String) -> Figure {
    let limit = "its figures".to_owned();
    Figure { what: what.to_owned(), figure: why, limit, pass: false }
}

/// A server of its own for a part; its data does not stay.
fn with_server(
    binary: &Path,
    folder: &Path,
    options: &[&str],
    measure: fn(&mut ServerProcess) -> Part,
) -> Part {
    std::fs::create_dir_all(folder).map_err(|e| format!("create {}: {e}", folder.display()))?;
    let data = folder.join("data");
    let mut server = ServerProcess::start_with(binary, &data, options)?;
    let figures = measure(&mut server)?;
    server.stop()?;
    // What cannot be removed is emptied next time.
    let _ = std::fs::remove_dir_all(data);
    Ok(figures)
}
