//! path.3, durability: crash runs on the simulated disk in their long form, planted faults that
//! they must catch, SIGKILLs of a real server, and the order of its system calls.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use crate::ground::test_runs::{count_before, crash_points, test};
use crate::recovery::kills::{self, Course, Versions};
use crate::recovery::trace::{self, ACKNOWLEDGED_MIN};
use checks::Outcome;

const FAULTS: u64 = 4;
/// Of `database`, which knows six faults of accelerated recovery more.
const FAULTS_OF_DATABASE: u64 = 10;
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
        mutations(ground, "database", "whole", FAULTS_OF_DATABASE),
        mutations(ground, "instance", "crashes", FAULTS),
        damages(ground),
        traced(ground),
    ])
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
pub(crate) fn mutations(ground: &Ground<'_>, package: &str, name: &str, faults: u64) -> Figure {
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
