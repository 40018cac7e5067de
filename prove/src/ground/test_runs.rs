//! Tests of the workspace that a proof runs at length, and what their output counts: crash points,
//! and planted faults that were caught.

use super::figure::Figure;
use super::program::Ground;
use checks::{Outcome, process};
use std::process::Stdio;

const CRASH_POINTS_MIN: u64 = 2_000;
pub(crate) const CAUGHT_SECONDS_MAX: f64 = 600.0;

/// A test of the workspace in release; its output where it passed.
pub(crate) fn test(ground: &Ground<'_>, arguments: &[&str], env: (&str, &str)) -> Outcome<String> {
    let mut command = process::cargo(ground.workspace, &["test", "--release", "--locked"]);
    command.args(arguments).args(["--", "--nocapture"]).env(env.0, env.1);
    let finished =
        command.stderr(Stdio::piped()).output().map_err(|e| format!("start cargo: {e}"))?;
    let output = String::from_utf8_lossy(&finished.stdout).into_owned();
    if finished.status.success() {
        return Ok(output);
    }
    let errors = String::from_utf8_lossy(&finished.stderr);
    let kept = ground.workspace.target().join("proofs").join("failed-test.log");
    let whole = format!("{arguments:?} {env:?}\n{errors}\n{output}");
    std::fs::write(&kept, whole).map_err(|e| format!("write {}: {e}", kept.display()))?;
    Err(format!("fails: {}; its output: {}", why(&errors, &output), kept.display()))
}

/// The line that tells why a test failed: of a panic also its message, which is the line behind.
fn why(errors: &str, output: &str) -> String {
    let lines: Vec<&str> = errors.lines().chain(output.lines()).collect();
    let seed = lines.iter().find(|line| line.contains("seed="));
    let telling = lines.iter().position(|l| l.contains("panicked") || l.starts_with("error"));
    let panic = telling.map(|at| lines[at..].iter().take(2).copied().collect::<Vec<_>>().join(" "));
    let told: Vec<String> = panic.into_iter().chain(seed.map(|line| (*line).to_owned())).collect();
    if told.is_empty() { "without a word".to_owned() } else { told.join("; ") }
}

pub(crate) fn crash_points(
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

/// The number before the words, 0 where they are not said.
pub(crate) fn count_before(output: &str, words: &str) -> u64 {
    let before = output.lines().find_map(|line| line.split_once(words)).map(|(before, _)| before);
    before.and_then(|text| text.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

/// What has caught a fault, and in how long at most: of lines "mutation NAME: 1.2 s, BY: MESSAGE".
pub(crate) fn caught(output: &str, name: &str) -> (String, bool) {
    let begin = format!("mutation {name}: ");
    let told: Vec<_> = output.lines().filter_map(|line| line.strip_prefix(&begin)).collect();
    let seconds = |line: &str| line.split_once(" s, ").and_then(|(s, _)| s.parse::<f64>().ok());
    let pass = !told.is_empty()
        && told.iter().all(|line| seconds(line).is_some_and(|s| s <= CAUGHT_SECONDS_MAX));
    let short = |line: &&str| line.chars().take(150).collect::<String>();
    (told.iter().map(short).collect::<Vec<_>>().join("; "), pass)
}

#[cfg(test)]
mod tests {
    use super::{caught, count_before, why};

    /// A panic is told with its message, and a simulation with its seed.
    #[test]
    fn failures_tell_why() {
        let errors = "Compiling\nthread 'x' panicked at a.rs:1:2:\na page's LSN only grows\nnote";
        let told = "thread 'x' panicked at a.rs:1:2: a page's LSN only grows; failed at seed=7";
        assert_eq!(why(errors, "failed at seed=7"), told);
        assert_eq!(why("", ""), "without a word");
    }

    /// The count is the word before, wherever the line begins.
    #[test]
    fn counts() {
        let count = |text| count_before(text, " crash points");
        assert_eq!(count("test a ... 2104 crash points, Counts { .. }"), 2104);
        assert_eq!(count("7 crash points"), 7);
        assert_eq!(count("some crash points"), 0);
        assert_eq!(count(""), 0);
    }

    /// Each line of a fault counts, others do not; none at all is no catch.
    #[test]
    fn lines_of_a_fault_tell_what_caught_it() {
        let output = "test a ... \nmutation A: 1.5 s, x: y\nmutation B: 2 s, z\nmutation A: 3 s, w";
        assert_eq!(caught(output, "A"), ("1.5 s, x: y; 3 s, w".to_owned(), true));
        assert_eq!(caught(output, "C"), (String::new(), false));
        assert!(!caught("mutation A: 601 s, x", "A").1);
    }
}
