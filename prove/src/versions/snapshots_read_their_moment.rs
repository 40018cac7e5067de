//! versions.5, every snapshot reads its moment: random histories of an index and a heap against
//! copies of their rows; sessions of every level at once, in T-SQL; and planted faults that the
//! first of these tests must catch.

use crate::ground::figure::Figure;
use crate::ground::program::Ground;
use crate::ground::test_runs::{CAUGHT_SECONDS_MAX, caught, count_before, test};
use checks::Outcome;

const HISTORIES: u64 = 2_000;
/// A clustered index, a nonclustered one, a heap.
const KINDS: u64 = 3;
/// Faults of `txn::Mutation`, and what each is.
const MUTATIONS: [(&str, &str); 16] = [
    ("EarlyPoint", "a point that is read before it is registered"),
    ("ClockUnasked", "a commit told before a snapshot can see it"),
    ("ForgottenUnasked", "of four snapshots one not registered, and nobody asks"),
    ("NeededSettled", "a ghost settled though its row is needed"),
    ("AnothersSettled", "a ghost settled without a look at whose it is"),
    ("BuriedLate", "a ghost off its leaf before the graveyard has it"),
    ("RidReused", "a RID given anew while its former row lies in the graveyard"),
    ("LoggedPlace", "a row undone to the place of its version that the log has"),
    ("GhostsLost", "a split that leaves the ghosts of its upper half behind"),
    ("HintTrusted", "a ghost settled at the place where it was"),
    ("FreedLate", "a version freed when its row is not latched any more"),
    ("LastPruned", "only the previous version pruned"),
    ("EarlyStamp", "the stamp before the flush"),
    ("OwnRangeLost", "no range lock for a key in one's own gap"),
    ("LostIsNone", "a version that was not kept taken for none"),
    ("WriterPassed", "a row changed though its writer goes on"),
];

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    // The other histories of this test are the models of recovery.6.
    let arguments = ["--package", "database", "--test", "versions", "read_their_moment"];
    let seeds = HISTORIES.to_string();
    let (figure, pass) = match test(ground, &arguments, ("GHOSTLIGHT_SEEDS", &seeds)) {
        Ok(output) => {
            let held = |line: &&str| line.contains("read_their_moment ... ok");
            let kinds = output.lines().filter(held).count() as u64;
            let told = format!("{} histories of {kinds} kinds", kinds * HISTORIES);
            (format!("{told}, each snapshot exact, nothing left"), kinds == KINDS)
        }
        Err(why) => (why, false),
    };
    let mut figures = vec![Figure {
        what: "snapshots of random histories against a model (database)".to_owned(),
        figure,
        limit: format!("{} histories of {KINDS} kinds", KINDS * HISTORIES),
        pass,
    }];
    figures.push(concurrent(ground));
    figures.extend(mutations(ground));
    Ok(figures)
}

/// Sessions of every level over tables with all their indexes, while options are switched.
fn concurrent(ground: &Ground<'_>) -> Figure {
    let arguments = ["--package", "instance", "--test", "isolation"];
    let (figure, pass) =
        match test(ground, &arguments, ("GHOSTLIGHT_SEEDS", &HISTORIES.to_string())) {
            Ok(output) => {
                let held = count_before(&output, " histories, each read as its level has it");
                (format!("{held} histories, each read as its level has it"), held >= HISTORIES)
            }
            Err(why) => (why, false),
        };
    let what = "sessions of every level at once, in T-SQL (instance)".to_owned();
    Figure { what, figure, limit: format!("{HISTORIES} histories"), pass }
}

/// Both targets whole: a fault may be seen by a test that is not named after it.
fn mutations(ground: &Ground<'_>) -> Vec<Figure> {
    let targets = ["--test", "versions", "--test", "sessions"];
    let arguments = [&["--package", "database", "--features", "mutations"], &targets[..]].concat();
    let output = test(ground, &arguments, ("GHOSTLIGHT_SEEDS", "12"));
    let of = |(name, what): &(&str, &str)| {
        let (figure, pass) = match &output {
            Ok(output) => caught(output, name),
            Err(why) => (why.clone(), false),
        };
        let limit = format!("caught within {CAUGHT_SECONDS_MAX} s");
        Figure { what: format!("mutation {name}: {what}"), figure, limit, pass }
    };
    MUTATIONS.iter().map(of).collect()
}
