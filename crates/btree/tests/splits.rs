//! The counters of a tree's pages tell what has become of them, and where splits fell.
#![allow(clippy::unwrap_used)]

mod rig;

use btree::{BulkLoad, FreeOutcome, SplitPolicy, Tree};
use buffer::Undo;
use rig::{Op, Rig, Schema, fields_of, key_bytes, perform, reserve, verified};
use sim::{Disk, DiskOptions, Options, Random, Simulation};
use wal::Group;

const SCHEMA: Schema = Schema::Rows;

fn in_simulation(body: impl Fn(&Tree, &mut dyn FnMut(u32, usize, SplitPolicy)) + Send + Sync) {
    let run = Simulation::run(7, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { seed: 7, latency: false, ..DiskOptions::default() });
        let rig = Rig::create(&disk, SCHEMA, 512);
        let tree = rig.tree(SCHEMA);
        let mut put = |n: u32, bytes: usize, policy| {
            let (key, mut group) = (SCHEMA.key(n), Group::new());
            let op = Op::Put(key, vec![n as u8 | 1; bytes]);
            perform(&tree, SCHEMA, &mut group, &op, policy, Undo::Never, &mut || {});
        };
        body(&tree, &mut put);
        assert_pages_are_counted(&tree);
    });
    assert_eq!(run.ended, sim::RunEnd::Done(()));
}

/// Invariant 1 of the counters.
fn assert_pages_are_counted(tree: &Tree) {
    let (mut leaves, mut interior) = (0, 0);
    let faults = verified(tree, &mut |_, v| match v.level() {
        0 => leaves += 1,
        _ => interior += 1,
    });
    assert_eq!(faults, Vec::new());
    let seen = tree.splits();
    let (l, i) = (seen.leaf, seen.interior);
    assert_eq!(1 + l.loaded + l.appends + l.splits - l.freed, leaves, "{seen:?}");
    let roots = seen.roots + seen.loaded_roots;
    assert_eq!(roots + i.loaded + i.appends + i.splits - i.freed, interior, "{seen:?}");
}

#[test]
fn rows_in_order_append_and_move_nothing() {
    in_simulation(|tree, put| {
        (0..3000).for_each(|n| put(n, 400, SplitPolicy::Append));
        let seen = tree.splits();
        assert_eq!((seen.leaf.splits, seen.interior.splits), (0, 0), "{seen:?}");
        assert!(seen.leaf.appends > 140 && seen.roots == 1, "{seen:?}");
    });
}

#[test]
fn rows_in_descending_order_split_what_the_last_split_has_left() {
    in_simulation(|tree, put| {
        (0..3000).rev().for_each(|n| put(n, 400, SplitPolicy::Append));
        let leaf = tree.splits().leaf;
        assert_eq!((leaf.appends, leaf.at_end, leaf.longer), (0, 0, 0), "{leaf:?}");
        assert_eq!(leaf.beside_last, leaf.splits - 1, "all but the first: {leaf:?}");
    });
}

#[test]
fn rows_behind_those_of_a_group_split_at_the_page_s_end() {
    in_simulation(|tree, put| {
        // Others stand behind the place where rows are added in order.
        (5000..5010).for_each(|n| put(n, 400, SplitPolicy::Append));
        (0..2000).for_each(|n| put(n, 400, SplitPolicy::Append));
        let leaf = tree.splits().leaf;
        assert!(leaf.at_end > 10 && leaf.at_end + 1 >= leaf.splits, "{leaf:?}");
        assert_eq!(leaf.longer, 0, "{leaf:?}");
    });
}

#[test]
fn rows_all_over_split_all_over_and_longer_ones_are_told_apart() {
    in_simulation(|tree, put| {
        let mut random = Random::new(3);
        for _ in 0..4000 {
            put(random.below(60_000) as u32, 300, SplitPolicy::Append);
        }
        let before = tree.splits().leaf;
        assert!(before.splits > 100 && before.longer == 0, "{before:?}");
        assert!(before.beside_last * 5 < before.splits, "spread, so seldom twice: {before:?}");
        assert!(before.at_end * 5 < before.splits, "{before:?}");
        let mut keys = Random::new(3);
        for _ in 0..500 {
            put(keys.below(60_000) as u32, 3000, SplitPolicy::Half);
        }
        let leaf = tree.splits().leaf;
        assert!(leaf.longer > 50, "{leaf:?}");
        assert_eq!(leaf.longer - before.longer, leaf.splits - before.splits, "{leaf:?}");
    });
}

#[test]
fn loaded_pages_and_freed_ones_are_counted_apart() {
    in_simulation(|tree, put| {
        let mut group = Group::new();
        let mut load = BulkLoad::new(tree, 100, 100);
        for n in 0..20_000 {
            let _log = reserve(tree);
            load.push(&mut group, &SCHEMA.record(&SCHEMA.key(n), &[1; 60], false)).unwrap();
        }
        load.finish(&mut group).unwrap();
        let loaded = tree.splits();
        assert!(loaded.leaf.loaded > 150 && loaded.loaded_roots == 1, "{loaded:?}");
        assert_eq!((loaded.leaf.allocated(), loaded.roots), (0, 0), "{loaded:?}");
        // A full page splits at the first row that comes between others.
        put(10_000, 3000, SplitPolicy::Half);
        assert_eq!(tree.splits().leaf.splits, 1);
        for n in 0..1000 {
            let key = SCHEMA.key(n);
            let gone = Op::Expunge(key.clone());
            perform(tree, SCHEMA, &mut group, &gone, SplitPolicy::Half, Undo::Never, &mut || {});
            let bytes = key_bytes(&key);
            let _log = reserve(tree);
            let freed = tree.free_if_empty(&mut group, &fields_of(&bytes)).unwrap();
            assert_ne!(freed, FreeOutcome::Busy);
        }
        let seen = tree.splits().leaf;
        assert!(seen.freed >= 8 && seen.freed <= 12, "{seen:?}");
    });
}
