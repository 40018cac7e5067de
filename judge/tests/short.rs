//! Some trials, in seconds: every plan gives the same rows, a condition parts them, a rollback
//! leaves them.

/// Seeds that have found something once come first.
const SEEDS: [u64; 4] = [1, 2, 3, 5];
const STATEMENTS: u64 = 60;

#[test]
fn every_plan_gives_the_same_rows() {
    let mut all = judge::trial::Report::default();
    for seed in SEEDS {
        all.add(judge::trial::run(seed, STATEMENTS).expect("a trial runs"));
    }
    assert!(all.findings.is_empty(), "{:#?}", all.findings);
    assert!(all.with_rows * 4 > all.statements, "few answers have rows: {all:?}");
}
