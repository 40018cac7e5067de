//! path.3, durability: crash runs on the simulated disk in their long form, planted faults that
//! they must catch, SIGKILLs of a real server, and the order of its system calls.

use super::Figure;
use super::kills::{self, Course, Versions};
use super::program::Ground;
use super::trace::{self, ACKNOWLEDGED_MIN};
use crate::process;
use crate::workspace::Outcome;
use std::process::Stdio;

const CRASH_POINTS_MIN: u64 = 2_000;
const FAULTS: u64 = 4;
/// Of `recovery`, which knows three faults of the log more.
const FAULTS_OF_RECOVERY: u64 = 7;
const DAMAGES: u64 = 300;
const KILLS: u32 = 200;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(vec![
        real_kills(ground),
        crash_points(
            ground,
            "simulated crashes of eight sessions (database)",
            &["--package", "database", "--test", "sessions"],
            ("GHOSTLIGHT_LONG", "1"),
        ),
        crash_points(
            ground,
            "simulated crashes of page groups (recovery)",
            &["--package", "recovery", "--test", "crash"],
            ("GHOSTLIGHT_CRASH_SEEDS", "0..90"),
        ),
        crash_points(
            ground,
            "the same with heaps, indexes, tables that come and go (database)",
            &["--package", "database", "--test", "whole"],
            ("GHOSTLIGHT_LONG", "1"),
        ),
        crash_points(
            ground,
            "crashes driven as T-SQL: eight sessions, DDL, TRUNCATE, #tables (instance)",
            &["--package", "instance", "--test", "crashes", "sessions_survive_crashes"],
            ("GHOSTLIGHT_LONG", "1"),
        ),
        mutations(ground, "recovery", "crash", FAULTS_OF_RECOVERY),
        mutations(ground, "database", "whole", FAULTS),
        mutations(ground, "instance", "crashes", FAULTS),
        damages(ground),
        traced(ground),
    ])
}

/// A test of the workspace in release; its output where it passed.
pub(super) fn test(ground: &Ground<'_>, arguments: &[&str], env: (&str, &str)) -> Outcome<String> {
    let mut command = process::cargo(ground.workspace, &["test", "--release", "--locked"]);
    command.args(arguments).args(["--", "--nocapture"]).env(env.0, env.1);
    let finished =
        command.stderr(Stdio::piped()).output().map_err(|e| format!("start cargo: {e}"))?;
    let output = String::from_utf8_lossy(&finished.stdout).into_owned();
    if finished.status.success() {
        return Ok(output);
    }
    let errors = String::from_utf8_lossy(&finished.stderr);
    let telling = |line: &&str| {
        line.contains("seed=") || line.contains("panicked") || line.starts_with("error")
    };
    let line = errors.lines().chain(output.lines()).find(telling);
    Err(format!("fails: {}", line.unwrap_or("without a word")))
}

pub(super) fn crash_points(
    ground: &Ground<'_>,
    what: &str,
    arguments: &[&str],
    env: (&str, &str),
) -> Figure {
    let limit = format!("at least {CRASH_POINTS_MIN} crash points");
    let (figure, pass) = match test(ground, arguments, env) {
        Ok(output) => {
            let points = count_before(&output, " crash points");
            let figure = format!("{points} crash points, all recovered");
            (figure, points >= CRASH_POINTS_MIN)
        }
        Err(why) => (why, false),
    };
    Figure { what: what.to_owned(), figure, limit, pass }
}

/// Damages of every kind, planted in databases of a seed that is new each time; and databases
/// without damage.
fn damages(ground: &Ground<'_>) -> Figure {
    let arguments = ["--package", "instance", "--test", "damage"];
    let count = DAMAGES.to_string();
    let (figure, pass) = match test(ground, &arguments, ("GHOSTLIGHT_DAMAGES", &count)) {
        Ok(output) => {
            let planted = count_before(&output, " damages planted");
            let sound = count_before(&output, " sound databases");
            let kinds = output.lines().filter(|line| line.contains(" planted, ")).count();
            let silent = output.lines().filter(|line| line.contains(" planted, "));
            let silent: u64 = silent.map(|line| count_before(line, " silent")).sum();
            for line in output.lines().filter(|line| line.contains(" planted, ")) {
                println!("  {line}");
            }
            let figure = format!(
                "{} of {planted} of {kinds} kinds; {sound} sound databases without report",
                planted - silent.min(planted)
            );
            (figure, planted == DAMAGES && silent == 0 && sound > 0)
        }
        Err(why) => (why, false),
    };
    let limit = format!("{DAMAGES} of {DAMAGES}, by object and page; no panic, no hang");
    let what = "planted damages that DBCC CHECKDB reports".to_owned();
    Figure { what, figure, limit, pass }
}

/// Planted faults that the crash runs of a package must see.
pub(super) fn mutations(ground: &Ground<'_>, package: &str, name: &str, faults: u64) -> Figure {
    let features = ["--features", "mutations", "each_mutation"];
    let arguments = [&["--package", package, "--test", name], &features[..]].concat();
    let (figure, pass) = match test(ground, &arguments, ("GHOSTLIGHT_CRASH_SEEDS", "0..1")) {
        Ok(output) => {
            let told = |line: &&str| line.contains("seed=") && line.contains(": ");
            let caught = output.lines().filter(told).count() as u64;
            (format!("{caught} faults caught"), caught == faults)
        }
        Err(why) => (why, false),
    };
    let limit = format!("{faults}, each within 500 crash points");
    Figure { what: format!("mutations ({package})"), figure, limit, pass }
}

fn real_kills(ground: &Ground<'_>) -> Figure {
    let run = || {
        let data = ground.folder("path.3")?.join("data");
        kills::drive(&Course {
            binary: &ground.binary()?,
            data: &data,
            kills: KILLS,
            seed: kills::any_seed(),
            versions: Versions::Off,
            activities: false,
        })
    };
    let (figure, pass) = match run() {
        Ok(counts) => {
            let pass = counts.kills == KILLS && counts.acknowledged > u64::from(KILLS);
            (counts.to_string(), pass)
        }
        Err(why) => (why, false),
    };
    let limit = format!("{KILLS} SIGKILLs, nothing lost, CHECKDB clean");
    Figure { what: "real disk".to_owned(), figure, limit, pass }
}

/// A server under strace: who is told when, by each way of writing the log.
fn traced(ground: &Ground<'_>) -> Figure {
    let (mut told, mut pass) = (Vec::new(), true);
    for way in trace::WAYS {
        match ground.binary().and_then(|binary| trace::drive(ground, &binary, way)) {
            Ok((found, doctored)) => {
                told.push(format!("{way}: {}", found.told(&doctored)));
                pass &= found.holds(&doctored);
            }
            Err(why) => (told, pass) = (vec![why], false),
        }
    }
    let limit = format!("at least {ACKNOWLEDGED_MIN}, none before, 2 of 2");
    let what = "system-call trace of full commits".to_owned();
    Figure { what, figure: told.join("; "), limit, pass }
}

/// The number before the words, 0 where they are not said.
pub(super) fn count_before(output: &str, words: &str) -> u64 {
    let before = output.lines().find_map(|line| line.split_once(words)).map(|(before, _)| before);
    before.and_then(|text| text.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    /// The count is the word before, wherever the line begins.
    #[test]
    fn counts() {
        let count = |text| super::count_before(text, " crash points");
        assert_eq!(count("test a ... 2104 crash points, Counts { .. }"), 2104);
        assert_eq!(count("7 crash points"), 7);
        assert_eq!(count("some crash points"), 0);
        assert_eq!(count(""), 0);
    }
}
