//! path.1, the one-row story: 123,456 changes of its key leave one page, one row and no ghosts,
//! through the shell's embedded engine and through a real client.

use crate::ground::figure::Figure;
use crate::ground::program::{Ground, PASSWORD, ServerProcess, finish};
use checks::Outcome;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The story: a new database, its options, the table, the loop, the question.
const SCRIPTS: [&str; 5] = [
    "one_row/0_database.sql",
    "one_row/1_options.sql",
    "one_row/2_table.sql",
    "one_row/3_loop.sql",
    "one_row/4_shape.sql",
];
/// Level, pages, used %, bytes of a record, rows, ghosts, versions, ghosts of versions.
const SHAPE: &str = "0|1|0.1359|11|1|0|0|0";
const AT_MOST: Duration = Duration::from_secs(300);

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("path.1")?;
    let command = ground.sql(&work.join("data"), &SCRIPTS)?;
    let finished = finish(command, &work.join("sql.log"), AT_MOST);
    let embedded = judge("ghostlight sql", finished.map(|f| (f.output, f.succeeded)));
    let remote = judge("go-sqlcmd", through_sqlcmd(ground, &work));
    Ok(vec![embedded, remote])
}

/// The same scripts through go-sqlcmd, against a server on a folder of its own.
fn through_sqlcmd(ground: &Ground<'_>, work: &Path) -> Outcome<(String, bool)> {
    let sqlcmd = ground.workspace.target().join("clients/go-sqlcmd/sqlcmd");
    if !sqlcmd.is_file() {
        return Err(
            "not measured: go-sqlcmd is not built; `cargo xtask test --clients` does".into()
        );
    }
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("served"))?;
    drop(server.client()?);
    let mut command = Command::new(sqlcmd);
    command.args(["-S", &format!("tcp:127.0.0.1,{}", server.port()?), "-U", "sa", "-C"]);
    command.args(["-W", "-b", "-h", "-1", "-s", "|"]);
    command.env("SQLCMDPASSWORD", PASSWORD);
    for script in SCRIPTS {
        command.arg("-i").arg(ground.script(script));
    }
    let finished = finish(command, &work.join("sqlcmd.log"), AT_MOST)?;
    server.stop()?;
    Ok((finished.output, finished.succeeded))
}

/// Passes where the run ended well and its one row of eight columns is the expected one.
fn judge(what: &str, run: Outcome<(String, bool)>) -> Figure {
    let (figure, pass) = match run {
        Ok((output, succeeded)) => {
            let row = output.lines().map(str::trim).rfind(|line| line.matches('|').count() == 7);
            let pass = succeeded && row == Some(SHAPE);
            let said = || output.trim().replace('\n', " / ");
            (row.filter(|_| succeeded).map_or_else(said, str::to_owned), pass)
        }
        Err(why) => (why, false),
    };
    Figure { what: what.to_owned(), figure, limit: SHAPE.to_owned(), pass }
}
