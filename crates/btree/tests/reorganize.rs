//! Leaves half full and in no order become full and ordered, and every record stays.
#![allow(clippy::unwrap_used)]

mod rig;

use base::PageId;
use btree::{CompactOutcome, SplitPolicy, Tree};
use buffer::Undo;
use rig::{Op, Rig, Schema, contents, perform};
use sim::{Disk, DiskOptions, Options, Random, Simulation};
use wal::Group;

/// The leaves in the order of their keys, with a key of each.
fn leaves(tree: &Tree) -> Vec<btree::LeafUse> {
    let first = btree::SearchKey { fields: &[], bias: btree::Bias::FirstAtLeast };
    let mut next = tree.seek(first).unwrap().map(|leaf| {
        let mut key = btree::KeyBuf::default();
        leaf.copy_key(&mut key).unwrap();
        key
    });
    let mut all = Vec::new();
    while let Some(key) = next.take() {
        let Some(found) = tree.leaves_beside(key.fields().as_slice()).unwrap() else { break };
        all.extend(found.leaves);
        next = found.next;
    }
    all
}

fn filled(disk: &Disk, schema: Schema, rows: u32) -> (Rig, Tree) {
    let rig = Rig::create(disk, schema, 128);
    let tree = rig.tree(schema);
    let (mut group, mut random) = (Group::new(), Random::new(3));
    let mut keys: Vec<u32> = (0..rows).collect();
    keys.sort_by_cached_key(|_| random.next_u64());
    for n in keys {
        let op = Op::Put(schema.key(n), vec![n as u8; 40]);
        perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
        if n % 10 == 0 {
            let ghost = Op::Ghost(schema.key(n));
            perform(&tree, schema, &mut group, &ghost, SplitPolicy::Half, Undo::Never, &mut || {});
        }
    }
    (rig, tree)
}

fn in_simulation(body: impl Fn(&Disk) + Send + Sync) {
    let run = Simulation::run(1, Options::default(), |_| {
        body(&Disk::new(DiskOptions { seed: 1, ..DiskOptions::default() }));
    });
    assert_eq!(run.ended, sim::RunEnd::Done(()));
}

#[test]
fn leaves_become_as_full_as_is_asked_for() {
    for (schema, fill, most) in
        [(Schema::Rows, 100, 0.80), (Schema::Rows, 80, 0.95), (Schema::LongKeys, 100, 0.95)]
    {
        in_simulation(|disk| {
            let (rig, tree) = filled(disk, schema, 4000);
            let (before, all) = (leaves(&tree), contents(&tree));
            let mut group = Group::new();
            let bytes = 8096 * fill / 100;
            let mut into = before[0].key.clone();
            for from in &before[1..] {
                let _log = rig::reserve(&tree);
                let step = tree.compact(&mut group, into.fields().as_slice(), bytes).unwrap();
                into = match step {
                    CompactOutcome::Merged => into,
                    CompactOutcome::Moved(_, rest) => rest,
                    CompactOutcome::Kept => from.key.clone(),
                };
            }
            let fullest = before.iter().map(|l| l.used).max().unwrap();
            let after = leaves(&tree);
            let share = after.len() as f64 / before.len() as f64;
            assert!(share < most, "{schema:?} {fill}: {} of {}", after.len(), before.len());
            assert!(after.iter().all(|l| l.used <= bytes.max(fullest)), "as it was told");
            assert!(contents(&tree) == all, "every record, ghosts too, stays as it is");
            assert_eq!(rig.findings(&tree), Vec::<String>::new());
        });
    }
}

#[test]
fn pages_come_into_the_order_of_their_keys() {
    in_simulation(|disk| {
        let schema = Schema::Rows;
        let (rig, tree) = filled(disk, schema, 4000);
        let all = contents(&tree);
        let mut group = Group::new();
        let mut order: Vec<(PageId, btree::KeyBuf)> =
            leaves(&tree).into_iter().map(|l| (l.id, l.key)).collect();
        let mut wanted: Vec<PageId> = order.iter().map(|l| l.0).collect();
        wanted.sort();
        assert!(order.iter().zip(&wanted).any(|(l, w)| l.0 != *w), "they are in no order");
        for n in 0..order.len() {
            let at = order.iter().position(|l| l.0 == wanted[n]).unwrap();
            if at == n {
                continue;
            }
            let _log = rig::reserve(&tree);
            let (a, b) = (order[n].1.fields(), order[at].1.fields());
            assert!(tree.exchange_leaves(&mut group, a.as_slice(), b.as_slice()).unwrap());
            let moved = order[n].0;
            order[n].0 = wanted[n];
            order[at].0 = moved;
        }
        let ids: Vec<PageId> = leaves(&tree).into_iter().map(|l| l.id).collect();
        assert_eq!(ids, wanted);
        assert!(contents(&tree) == all, "every record stays where its key is");
        assert_eq!(rig.findings(&tree), Vec::<String>::new());
    });
}
