//! Isolation: a batch scan sees, waits for and locks what a scan of row mode does.

use super::*;
use work::CommitMode;

/// The keys of rows, sorted: a heap puts a new row where one was before.
fn keys(run: Run) -> Vec<i32> {
    let key = |row: Row| match row[0] {
        Value::Int(key) => key,
        ref other => panic!("{other:?} is no key"),
    };
    let mut keys: Vec<i32> = run.rows.unwrap().into_iter().map(key).collect();
    keys.sort_unstable();
    keys
}

fn plan_with(locks: plan::LockHints) -> PhysicalPlan {
    let a = Access { locks, ..filtered(cmp(CompareOp::GreaterOrEqual, column(0), int(0))) };
    query(access(a), &[0], COLUMNS)
}

/// Another has changed rows and has not ended: who reads committed rows by locks is told that he
/// would wait (1222), who skips locked rows has the others, who reads uncommitted rows has them as
/// they are, and a snapshot has them as they were.
#[test]
fn rows_of_open_transactions() {
    for kind in KINDS {
        let table = Table::new(kind);
        let mut reader = table.session(52);
        reader.begin(true, "");
        let snapshot = reader.statement_snapshot();
        let mut writer = table.session(53);
        writer.begin(true, "");
        table.delete(&mut writer, 1_500);
        table.insert(&mut writer, ROWS);
        let read = scan().locks;
        let plain = plan_with(read);
        let refused = both(&table, &mut reader, &plain, PLAIN, 1);
        assert_eq!(refused.rows.unwrap_err().number(), 1222);
        let before: Vec<i32> = (0..ROWS).filter(|key| key % 7 != 3).collect();
        let without: Vec<i32> = before.iter().copied().filter(|key| *key != 1_500).collect();
        let skipping = plan_with(plan::LockHints { read_past: true, ..read });
        assert_eq!(keys(both(&table, &mut reader, &skipping, PLAIN, 1)), without);
        let dirty = Level { isolation: Isolation::ReadUncommitted, as_of: None };
        let now = keys(both(&table, &mut reader, &plain, dirty, 1));
        assert_eq!(now, [&without[..], &[ROWS]].concat());
        let at = Some(snapshot.at());
        for isolation in [Isolation::Snapshot, Isolation::ReadCommitted] {
            let then = Level { isolation, as_of: at };
            assert_eq!(keys(both(&table, &mut reader, &plain, then, 1)), before);
        }
        drop(snapshot);
        writer.commit(CommitMode::Delayed).unwrap();
        assert_eq!(keys(both(&table, &mut reader, &plain, PLAIN, 1)), now);
    }
}

/// Rows that were read stay locked at REPEATABLE READ and above, and at no level below.
#[test]
fn rows_that_were_read_are_locked_as_the_level_says() {
    let levels = [
        (Isolation::ReadUncommitted, false),
        (Isolation::ReadCommitted, false),
        (Isolation::RepeatableRead, true),
        (Isolation::Serializable, true),
    ];
    for (kind, (isolation, is_locked)) in KINDS.into_iter().flat_map(|k| levels.map(|l| (k, l))) {
        let table = Table::new(kind);
        let mut reader = table.session(52);
        reader.begin(true, "");
        let level = Level { isolation, as_of: None };
        let executor = Executor::by_batches(&plan_with(scan().locks)).unwrap();
        let found = run(&table, &mut reader, executor, level).rows.unwrap();
        assert!(table.counted.batches.load(Relaxed) > 0 && found.len() > 2_000);
        let mut writer = table.session(53);
        writer.begin(true, "");
        let deleted = table.try_delete(&mut writer, 700);
        assert_eq!(deleted.is_err(), is_locked, "{kind:?} {isolation:?}");
        writer.roll_back().unwrap();
        reader.commit(CommitMode::Delayed).unwrap();
        writer.begin(true, "");
        table.delete(&mut writer, 700);
    }
}
