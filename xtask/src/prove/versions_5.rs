//! versions.5, every snapshot reads its moment: random histories of an index and a heap against
//! copies of their rows.

use super::Figure;
use super::path_3::test;
use super::program::Ground;
use crate::workspace::Outcome;

const HISTORIES: u64 = 2_000;
/// A clustered index, a nonclustered one, a heap.
const KINDS: u64 = 3;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let arguments = ["--package", "database", "--test", "versions"];
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
    Ok(vec![Figure {
        what: "snapshots of random histories against a model (database)".to_owned(),
        figure,
        limit: format!("{} histories of {KINDS} kinds", KINDS * HISTORIES),
        pass,
    }])
}
