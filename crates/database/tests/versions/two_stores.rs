//! A database that keeps versions in a store of its own: its home says where versions go, and the
//! pointer in a tag says where one is, also where the home has chosen anew since.

use super::*;
use toy_store::ToyStore;
use version::{StoreKind, VersionStore as _};

/// Takes out of the toy store what nobody reads.
fn clean(engine: &Engine, toy: &ToyStore) {
    let transactions = &engine.transactions;
    let horizon = transactions.snapshots.store_horizon(&transactions.commits);
    toy.reclaim(0, 0, &|by| transactions.commits.is_past(by, horizon)).unwrap();
}

/// Histories in which the home chooses another store again and again: chains lead from one into the
/// other and back, and every snapshot reads its moment all the same.
fn switching(kind: IndexKind) {
    let (mut kept, mut read_elsewhere) = ([0; 2], 0);
    for seed in 0..seeds() {
        let mut world = World::new(kind, seed * 983 + 3);
        let (engine, toy) = (Arc::clone(&world.env.engine), ToyStore::new());
        world.db.home().version_stores().set_own(toy.clone());
        world.with_versions();
        for step in 0..400 {
            let own = step % 40 < 20;
            world.db.home().version_stores().keep_own(own);
            let (before, reads) = (toy.usage().generated, toy.reads());
            world.step();
            world.look(false);
            if !own {
                assert_eq!(toy.usage().generated, before, "versions go where the home says");
                read_elsewhere += toy.reads() - reads;
            }
            if step % 30 == 0 {
                clean(&engine, &toy);
            }
        }
        let shared = engine.version_usage().unwrap().generated;
        kept = [kept[0] + shared, kept[1] + toy.usage().generated];
        world.finish();
        clean(&engine, &toy);
        assert_eq!(toy.len(), 0, "seed {seed}: versions that nobody needs");
    }
    let all_met = kept.iter().all(|n| *n > 0) && read_elsewhere > 0;
    assert!(all_met, "{kept:?} kept, {read_elsewhere} read where the home has not chosen");
}

#[test]
fn versions_of_a_clustered_index_are_found_in_two_stores() {
    switching(IndexKind::Clustered);
}

#[test]
fn versions_of_a_nonclustered_index_are_found_in_two_stores() {
    switching(IndexKind::Nonclustered);
}

#[test]
fn versions_of_a_heap_are_found_in_two_stores() {
    switching(IndexKind::Heap);
}

/// One row is changed twice, under each choice once: the first version is in the shared store, the
/// second in the database's own, and each is found by its pointer.
#[test]
fn the_home_chooses_and_the_pointer_tells() {
    let mut world = World::new(IndexKind::Clustered, 7);
    let toy = ToyStore::new();
    world.db.home().set_versioning(STATEMENT_VERSIONS);
    world.db.home().version_stores().set_own(toy.clone());
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let key = 1_i32.to_le_bytes();
    for (n, own) in [(1_u8, false), (2, false), (3, true)] {
        world.db.home().version_stores().keep_own(own);
        let bytes = [n; 10];
        let row = [Field::Inline(&key), Field::Inline(&bytes)];
        let work = &mut world.sessions[0].work;
        work.begin(true, "");
        match n {
            1 => drop(world.hobt.insert(work, &row, &plan).unwrap()),
            _ => {
                let found = RowKey { fields: &row[..1], hint: None };
                let _ = world.hobt.update(work, found, &row, &plan).unwrap();
            }
        }
        work.commit(CommitMode::Delayed).unwrap();
        world.snapshots.push((world.reader.statement_snapshot(), Rows::from([(1, (n, 10))])));
    }
    assert_eq!(toy.len(), 1, "the second change's version alone");
    let mut kinds = Vec::new();
    rowstore::kept_versions(&world.env.engine, &Waiter::new(), &mut |versions| {
        kinds.extend(versions.iter().map(|v| v.place.store));
        Ok(())
    })
    .unwrap();
    assert_eq!(kinds, [StoreKind::Shared], "the first change's version alone");
    world.committed = Rows::from([(1, (3, 10))]);
    for own in [false, true] {
        world.db.home().version_stores().keep_own(own);
        world.look(true);
    }
}
