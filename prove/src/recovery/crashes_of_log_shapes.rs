//! log.5, crashes while the log and indexes change their shape, and on a full disk: SIGKILLs of a
//! real server beside each activity, a real file system without room, simulated crashes of both,
//! and three planted faults of the log, chosen at run time in one build.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use crate::ground::test_runs::{caught, crash_points, test};
use crate::recovery::activities::ActivityKills;
use crate::recovery::full_disk;
use crate::recovery::kills::{self, Counts, Course, Versions};
use checks::Outcome;

/// In all, by turns of the activities.
const KILLS: i64 = 270;
/// Of the kills of an activity, how many are to come within it.
const WITHIN_MIN: u32 = 5;
const ROUNDS: i64 = 24;
/// Refusals for want of room that the rounds must show.
const WANTED: [&str; 2] = ["1105", "9002"];
/// Faults of the log, by the names that `wal` has for them, and what each is.
const MUTATIONS: [(&str, &str); 3] = [
    ("group-tail", "the last record of a group is lost"),
    ("early-reuse", "a virtual log file is used again one checkpoint early"),
    ("reserve", "log is promised without a look whether there is room"),
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut figures = real_kills(ground);
    figures.push(real_full_disk(ground));
    figures.push(crash_points(
        ground,
        "simulated crashes while the log grows and shrinks and the disk is full (recovery)",
        &["--package", "recovery", "--test", "crash"],
        ("GHOSTLIGHT_CRASH_SEEDS", "0..90"),
    ));
    figures.push(crash_points(
        ground,
        "simulated crashes of a log that grows, wraps and leaves virtual log files (wal)",
        &["--package", "wal", "--test", "crash"],
        ("GHOSTLIGHT_LONG", "1"),
    ));
    figures.extend(mutations(ground));
    Ok(figures)
}

/// A figure for each activity, also for those that the server refuses.
fn real_kills(ground: &Ground<'_>) -> Vec<Figure> {
    let kills = u32::try_from(ground.scaled(KILLS)).unwrap_or(u32::MAX);
    let run = || {
        let data = ground.folder("log.5")?.join("data");
        kills::drive(&Course {
            binary: &ground.binary()?,
            data: &data,
            kills,
            seed: kills::any_seed(),
            versions: Versions::Off,
            activities: true,
        })
    };
    let told = run();
    let mut figures = vec![all_kills(ground, kills, &told)];
    if let Ok(counts) = &told {
        figures.extend(counts.activities.iter().map(|told| activity(ground, told)));
    }
    figures
}

fn all_kills(ground: &Ground<'_>, kills: u32, told: &Outcome<Counts>) -> Figure {
    let (figure, pass) = match told {
        Ok(counts) => {
            let pass = counts.kills == kills && counts.acknowledged > u64::from(kills);
            (counts.to_string(), pass && ground.is_whole())
        }
        Err(why) => (why.clone(), false),
    };
    let what = "real disk, beside a fifth session".to_owned();
    let whole = ground.of_the_whole();
    let limit = format!("{kills} SIGKILLs, nothing lost, CHECKDB clean{whole}");
    Figure { what, figure, limit, pass }
}

fn activity(ground: &Ground<'_>, told: &ActivityKills) -> Figure {
    let figure = match &told.refused {
        Some(error) => format!("refused: {error}"),
        None => format!(
            "{} of {} kills came within it, which was done {} times before them",
            told.within, told.kills, told.answered
        ),
    };
    let pass = told.refused.is_none() && told.within >= WITHIN_MIN && ground.is_whole();
    let limit = format!("at least {WITHIN_MIN} kills within{}", ground.of_the_whole());
    Figure { what: format!("beside: {}", told.name), figure, limit, pass }
}

fn real_full_disk(ground: &Ground<'_>) -> Figure {
    let rounds = u32::try_from(ground.scaled(ROUNDS).max(2)).unwrap_or(u32::MAX);
    let run = || {
        let folder = ground.folder("log.5-full")?;
        full_disk::drive(&ground.binary()?, &folder, rounds, kills::any_seed(), false)
    };
    let (figure, pass) = match run() {
        Ok(seen) => {
            let refused = |number: &str| seen.refusals.get(number).is_some_and(|n| *n > 0);
            let pass = WANTED.iter().all(|number| refused(number))
                && seen.full_starts * 2 >= seen.rounds - 1
                && seen.again > 0;
            (seen.to_string(), pass && ground.is_whole())
        }
        Err(why) => (why, false),
    };
    let limit = format!(
        "{rounds} rounds: {} and nothing else, all of it rolled back, the server goes on, starts \
         in the full state, and refuses nothing when there is room{}",
        WANTED.join(", "),
        ground.of_the_whole()
    );
    Figure { what: "a real disk that is full".to_owned(), figure, limit, pass }
}

/// One build, in which each fault is chosen when its turn comes.
fn mutations(ground: &Ground<'_>) -> Vec<Figure> {
    let arguments =
        ["--package", "recovery", "--features", "mutations", "--test", "crash", "each_mutation"];
    let output = test(ground, &arguments, ("GHOSTLIGHT_CRASH_SEEDS", "0..1"));
    let of = |(name, what): &(&str, &str)| {
        let (figure, pass) = match &output {
            Ok(output) => caught(output, name),
            Err(why) => (why.clone(), false),
        };
        let limit = "caught within 500 crash points".to_owned();
        Figure { what: format!("mutation {name}: {what}"), figure, limit, pass }
    };
    MUTATIONS.iter().map(of).collect()
}
