//! recovery.6, crashes with accelerated recovery off, on and switched: on the simulated disk, and
//! SIGKILLs of a real server beside large transactions that are rolled back; histories of aborted
//! transactions against models; and planted faults that these must catch.

use crate::ground::figure::{Figure, Part, measures};
use crate::ground::program::Ground;
use crate::ground::test_runs::{CAUGHT_SECONDS_MAX, crash_points, test};
use crate::recovery::kills::{self, Course, Versions};
use checks::Outcome;
use std::time::Instant;

/// Of each setting.
const KILLS: i64 = 100;
const HISTORIES: i64 = 2_000;
/// Faults, by the names that `database/tests/whole` has for them, and what each is.
const MUTATIONS: [(&str, &str); 8] = [
    ("map uncarried", "a map entry lost at a checkpoint"),
    ("active ones uncarried", "an open transaction lost at a checkpoint"),
    ("forgotten early", "a transaction forgotten before its last row"),
    ("reclaimed unasked", "a version freed that a revert needs"),
    ("map unread", "a tag from before the start taken as committed"),
    ("kept record lost", "an entry of the secondary log lost"),
    ("aborted passed", "`current` passing an aborted writer"),
    ("redo-only skipped", "a record that is for redo alone skipped"),
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(measures(
        ground,
        &[("kills", real_kills), ("crashes", crashes), ("models", models), ("faults", faults)],
    ))
}

fn real_kills(ground: &Ground<'_>) -> Part {
    let settings = [
        ("off", Versions::On),
        ("on", Versions::Accelerated),
        ("switched after each recovery", Versions::AcceleratedSwitched),
    ];
    Ok(settings.into_iter().map(|(name, versions)| killed(ground, name, versions)).collect())
}

fn killed(ground: &Ground<'_>, name: &str, versions: Versions) -> Figure {
    let wanted = u32::try_from(ground.scaled(KILLS).max(2)).unwrap_or(u32::MAX);
    let run = || {
        let data = ground.folder("recovery.6")?.join("data");
        kills::drive(&Course {
            binary: &ground.binary()?,
            data: &data,
            kills: wanted,
            seed: kills::any_seed(),
            versions,
            activities: false,
        })
    };
    let (figure, pass) = match run() {
        Ok(counts) => {
            let large = versions == Versions::On || counts.rolled_back > 0;
            let worked = counts.acknowledged > u64::from(wanted);
            (counts.to_string(), counts.kills == wanted && worked && large)
        }
        Err(why) => (why, false),
    };
    Figure {
        what: format!("real disk, accelerated recovery {name}"),
        figure,
        limit: format!("{wanted} SIGKILLs, nothing lost, CHECKDB clean"),
        pass,
    }
}

fn crashes(ground: &Ground<'_>) -> Part {
    let of = |what: &str, package: &str, name: &str| {
        let arguments = ["--package", package, "--test", name];
        crash_points(ground, what, &arguments, ("GHOSTLIGHT_LONG", "1"))
    };
    Ok(vec![
        of("whole databases, every third accelerated (database)", "database", "whole"),
        of("eight sessions, versions on, off and switched (database)", "database", "sessions"),
        of("T-SQL: eight sessions, DDL, TRUNCATE, #tables (instance)", "instance", "crashes"),
    ])
}

/// Histories with aborted transactions, savepoints and restarts, each snapshot against its model.
fn models(ground: &Ground<'_>) -> Part {
    let seeds = ground.scaled(HISTORIES).max(10).to_string();
    let arguments = ["--package", "database", "--test", "versions"];
    let output = test(ground, &arguments, ("GHOSTLIGHT_SEEDS", &seeds))?;
    let held: Vec<&str> = output.lines().filter(|line| line.ends_with(" ... ok")).collect();
    let of = |module: &str| held.iter().filter(|line| line.contains(module)).count();
    let modules = ["reverts::", "aborted::", "own_store::", "sweep::"];
    let counts = modules.map(of);
    let told: Vec<String> =
        modules.iter().zip(counts).map(|(module, n)| format!("{n} of {module}")).collect();
    Ok(vec![Figure {
        what: format!("models of reverts, aborted rows, the own store and sweeps, {seeds} seeds"),
        figure: format!("{} hold", told.join(", ")),
        limit: "all, and some of each".to_owned(),
        pass: counts.iter().all(|n| *n > 0),
    }])
}

fn faults(ground: &Ground<'_>) -> Part {
    let arguments =
        ["--package", "database", "--features", "mutations", "--test", "whole", "each_mutation"];
    let began = Instant::now();
    let output = test(ground, &arguments, ("GHOSTLIGHT_CRASH_SEEDS", "0..1"));
    let seconds = began.elapsed().as_secs_f64();
    let of = |(name, what): &(&str, &str)| {
        let (figure, pass) = match &output {
            Ok(output) => {
                let begin = format!("{name}, seed ");
                let line = output.lines().find(|line| line.starts_with(&begin));
                let line = line.unwrap_or_default().chars().take(150).collect::<String>();
                let pass =
                    !line.is_empty() && seconds <= MUTATIONS.len() as f64 * CAUGHT_SECONDS_MAX;
                (line, pass)
            }
            Err(why) => (why.clone(), false),
        };
        let limit = "caught within 500 crash points".to_owned();
        Figure { what: format!("mutation {name}: {what}"), figure, limit, pass }
    };
    Ok(MUTATIONS.iter().map(of).collect())
}
