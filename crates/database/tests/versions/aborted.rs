//! Rows by transactions in the aborted map count as their former versions, for everybody who reads
//! and for all who count, though their bytes stay where they are.
//!
//! A transaction that stays in the map is made as accelerated recovery will leave one: it enters
//! the map before its locks go, and nothing that it wrote is taken back. Its number ends like a
//! commit's here: the map alone says that it was aborted.

use super::*;
use access::Strength;
use txn::AbortedTransaction;

/// Rows before, of which the aborted transaction changes every third, deletes every third, and puts
/// as many others behind them.
const ROWS: i32 = 90;

struct Story {
    world: World,
    before: Rows,
    after: Rows,
    rids: Rids,
    aborted: base::Xsn,
}

fn plan() -> LockPlan {
    LockPlan::change(Isolation::ReadCommitted)
}

/// Puts a row, whose RID is told in a heap.
pub(super) fn put(world: &mut World, key: i32, value: Value) -> Option<[u8; 8]> {
    let (name, bytes) = (key.to_le_bytes(), vec![value.0; value.1]);
    let row = [Field::Inline(&name), Field::Inline(&bytes)];
    world.hobt.insert(&mut world.sessions[0].work, &row, &plan()).unwrap().rid
}

/// What a row is called.
fn name_of(world: &World, rids: &Rids, key: i32) -> Vec<u8> {
    match world.kind {
        IndexKind::Heap => rids[&key].to_vec(),
        _ => key.to_le_bytes().to_vec(),
    }
}

pub(super) fn change(
    world: &mut World,
    rids: &Rids,
    (key, value): (i32, Option<Value>),
) -> Result<(), WriteError> {
    let (old, new) = (name_of(world, rids, key), key.to_le_bytes());
    let name = [Field::Inline(&old)];
    let found = RowKey { fields: &name, hint: None };
    let work = &mut world.sessions[0].work;
    let Some((byte, length)) = value else { return world.hobt.delete(work, found, &plan()) };
    let bytes = vec![byte; length];
    let row = [Field::Inline(&new), Field::Inline(&bytes)];
    world.hobt.update(work, found, &row, &plan()).map(drop)
}

/// A transaction changes rows and enters the map; `twice` says that another did before it. A long
/// value takes a heap's row elsewhere, behind a stub.
fn story(kind: IndexKind, twice: bool) -> Story {
    let mut world = World::new(kind, 7);
    world.db.home().set_versioning(STATEMENT_VERSIONS | TRANSACTION_VERSIONS);
    let (mut before, mut rids) = (Rows::new(), Rids::new());
    world.sessions[0].work.begin(true, "");
    for key in 0..ROWS {
        let value = (key as u8, 20 + key as usize);
        rids.extend(put(&mut world, key, value).map(|rid| (key, rid)));
        before.insert(key, value);
    }
    world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
    let (mut after, mut aborted) = (before.clone(), base::Xsn::NONE);
    world.sessions[0].work.begin(true, "");
    for key in 0..ROWS {
        let value = match key % 3 {
            0 => Some((200, if key % 2 == 0 { 700 } else { 10 })),
            1 => None,
            _ => continue,
        };
        if let (true, Some(value)) = (twice, value) {
            change(&mut world, &rids, (key, Some((value.0 + 1, 5)))).unwrap();
        }
        change(&mut world, &rids, (key, value)).unwrap();
        match value {
            Some(value) => after.insert(key, value),
            None => after.remove(&key),
        };
        put(&mut world, ROWS + key, (7, 30));
        after.insert(ROWS + key, (7, 30));
    }
    aborted.0 = world.sessions[0].work.xsn().unwrap().0;
    world.db.home().aborted().enter(AbortedTransaction {
        xsn: aborted,
        id: world.sessions[0].work.transaction_id().unwrap(),
        began_at: 0,
        begin: base::Lsn(1),
        end: base::Lsn(2),
        nested: false,
        units: Vec::new(),
    });
    world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
    Story { world, before, after, rids, aborted }
}

/// What is read under a plan, forwards or backwards.
pub(super) fn read(world: &mut World, plan: &LockPlan, backward: bool) -> Rows {
    let work = &mut world.reader;
    work.begin(true, "");
    let range = ScanRange { backward, ..ScanRange::default() };
    let mut cursor = world.hobt.scan(work, &range, plan).unwrap();
    let order = (world.kind != IndexKind::Heap).then_some(backward);
    let rows = rows_in_order(&mut *cursor, work, order).unwrap();
    drop(cursor);
    work.commit(CommitMode::Delayed).unwrap();
    rows
}

/// Everybody who reads, or counts, finds these rows.
fn all_find(world: &mut World, rows: &Rows) {
    let levels = [
        Isolation::ReadUncommitted,
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ];
    for level in levels {
        let search = LockPlan { strength: Strength::Update, ..LockPlan::read(level) };
        let backwards: &[bool] =
            if world.kind == IndexKind::Heap { &[false] } else { &[false, true] };
        for (plan, backward) in [LockPlan::read(level), search]
            .iter()
            .flat_map(|p| backwards.iter().map(move |b| (p, *b)))
        {
            assert_eq!(&read(world, plan, backward), rows, "{plan:?}, backward {backward}");
        }
    }
    let snapshot = world.reader.statement_snapshot();
    let as_of = LockPlan { as_of: Some(snapshot.at()), ..LockPlan::read(Isolation::ReadCommitted) };
    assert_eq!(&read(world, &as_of, false), rows, "as of now");
    drop(snapshot);
    // Each key by itself.
    let whole = LockPlan::read(Isolation::ReadCommitted);
    for key in (0..2 * ROWS).filter(|_| world.kind != IndexKind::Heap) {
        let bytes = key.to_le_bytes();
        let fields = [Field::Inline(&bytes)];
        let work = &mut world.reader;
        work.begin(true, "");
        let mut cursor = world.hobt.scan(work, &ScanRange::equal(&fields), &whole).unwrap();
        let found = rows_of(&mut *cursor, work).unwrap();
        drop(cursor);
        work.commit(CommitMode::Delayed).unwrap();
        assert_eq!(found.get(&key), rows.get(&key), "key {key}");
    }
    let mut verified = 0;
    let report = world.hobt.verify(&Waiter::new(), &mut |_| verified += 1).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert_eq!(verified, rows.len(), "CHECKDB counts the same rows");
}

fn counts_as_before(kind: IndexKind) {
    for twice in [false, true] {
        let Story { mut world, before, after, aborted, .. } = story(kind, twice);
        all_find(&mut world, &before);
        // It was the map alone that told.
        world.db.home().aborted().forget(aborted);
        all_find(&mut world, &after);
    }
}

#[test]
fn rows_of_an_aborted_transaction_in_a_clustered_index_are_those_before_it() {
    counts_as_before(IndexKind::Clustered);
}

#[test]
fn rows_of_an_aborted_transaction_in_a_nonclustered_index_are_those_before_it() {
    counts_as_before(IndexKind::Nonclustered);
}

#[test]
fn rows_of_an_aborted_transaction_in_a_heap_are_those_before_it() {
    counts_as_before(IndexKind::Heap);
}

/// Rows are counted as they are, when nobody has counted them yet.
#[test]
fn rows_are_counted_without_those_of_an_aborted_transaction() {
    for kind in [IndexKind::Clustered, IndexKind::Heap] {
        let Story { world, before, after, aborted, .. } = story(kind, false);
        let reopened = || {
            let (spec, places) = (world.hobt.spec().clone(), world.hobt.places());
            database::formats().of(&spec).open(world.db.home(), spec, places, None)
        };
        assert_eq!(reopened().row_count(&Waiter::new()).unwrap(), before.len() as u64);
        world.db.home().aborted().forget(aborted);
        assert_eq!(reopened().row_count(&Waiter::new()).unwrap(), after.len() as u64);
    }
}

/// The cleaner reverts the records of aborted transactions on a page before it cleans the page. So
/// their ghosts are rows again, and the cleaner does not remove them.
#[test]
fn a_page_that_is_cleaned_is_reverted() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        let Story { mut world, before, aborted, .. } = story(kind, true);
        let mut rounds = 0;
        while world.db.home().ghosts().count() > 0 && rounds < 100 {
            let _ = world.db.clean_ghosts(None, 100).unwrap();
            all_find(&mut world, &before);
            rounds += 1;
        }
        let left = reverts::numbers_on_pages((&world.db, &world.hobt)).contains(&aborted);
        assert!(!left || kind != IndexKind::Heap, "each page of a heap has a ghost");
    }
}

/// A writer meets the rows of an aborted transaction as they were before it: a key that the
/// transaction has put is free, one that it has deleted or changed is not. What the writer changes
/// is the row before, and if the change is taken back, that row is there again.
#[test]
fn writers_meet_rows_of_an_aborted_transaction() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        let Story { mut world, mut before, rids, .. } = story(kind, false);
        if kind != IndexKind::Heap {
            let (free, taken) = (ROWS.to_le_bytes(), [0_i32, 1].map(i32::to_le_bytes));
            let work = &mut world.sessions[0].work;
            work.begin(true, "");
            for name in &taken {
                let row = [Field::Inline(name), Field::Inline(&[9])];
                let put = world.hobt.insert(work, &row, &plan());
                assert!(matches!(put, Err(WriteError::Duplicate)), "{put:?}");
            }
            let row = [Field::Inline(&free), Field::Inline(&[9; 50])];
            world.hobt.insert(work, &row, &plan()).unwrap();
            work.commit(CommitMode::Delayed).unwrap();
            before.insert(ROWS, (9, 50));
        }
        // Keys that were changed and deleted, by their remainders, one of each for each change.
        let values = [None, Some((9, 40)), Some((8, 900))];
        for (n, value) in values.into_iter().enumerate() {
            for key in [6 * n as i32, 6 * n as i32 + 1, 6 * n as i32 + 3] {
                world.sessions[0].work.begin(true, "");
                change(&mut world, &rids, (key, value)).unwrap();
                world.sessions[0].work.roll_back().unwrap();
                all_find(&mut world, &before);
                world.sessions[0].work.begin(true, "");
                change(&mut world, &rids, (key, value)).unwrap();
                world.sessions[0].work.commit(CommitMode::Delayed).unwrap();
                match value {
                    Some(value) => before.insert(key, value),
                    None => before.remove(&key),
                };
                all_find(&mut world, &before);
            }
        }
        // After the sweep no page and no version has a record of the transaction.
        let mut sweep = reverts::Sweep::default();
        while sweep.step((&world.db, &world.hobt), 3).is_none() {}
        all_find(&mut world, &before);
    }
}
