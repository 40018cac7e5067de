//! A tree is a sorted map: whatever is done to it, one record at a time.
#![allow(clippy::unwrap_used)]

mod rig;

use base::PageId;
use btree::{
    Bias, BulkLoad, FreeOutcome, LeafPair, LoggedChange, Position, SearchKey, SplitPolicy, Tree,
};
use buffer::{Change, Undo};
use page::Field;
use rig::{
    ModelKey, Op, Rig, Row, Schema, contents, expected, fields_of, key_bytes, perform, verified,
};
use sim::{Disk, DiskOptions, Options, Random, Simulation};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use wal::{Group, TransactionChain};

fn in_simulation(seed: u64, body: impl Fn(&Disk) + Send + Sync) {
    let run = Simulation::run(seed, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { seed, latency: false, ..DiskOptions::default() });
        body(&disk);
    });
    assert_eq!(run.ended, sim::RunEnd::Done(()), "seed {seed}");
}

fn drawn_op(random: &mut Random, schema: Schema, keys: u64) -> Op {
    let key = schema.key(random.below(keys) as u32);
    match random.below(8) {
        0..=3 => {
            let most = match schema {
                Schema::Bare => 1,
                Schema::Entries => 5,
                _ if random.one_in(50) => 5000,
                _ => 120,
            };
            // Trailing empty columns are not stored: no payload ends up like another.
            let n = random.below(most) as usize;
            let payload = match schema {
                Schema::Bare => Vec::new(),
                Schema::Entries => vec![random.below(250) as u8 + 1; 4],
                _ => vec![random.below(250) as u8; n],
            };
            Op::Put(key, payload)
        }
        4 => Op::Ghost(key),
        5 => Op::Unghost(key),
        _ => Op::Expunge(key),
    }
}

/// The record that a search should find.
fn model_seek<'m>(
    model: &'m BTreeMap<ModelKey, Row>,
    prefix: &ModelKey,
    bias: Bias,
) -> Option<&'m ModelKey> {
    let begins = |k: &ModelKey| k[..prefix.len()].cmp(&prefix[..]);
    match bias {
        Bias::FirstAtLeast => model.keys().find(|k| begins(k).is_ge()),
        Bias::FirstAbove => model.keys().find(|k| begins(k).is_gt()),
        Bias::LastAtMost => model.keys().rev().find(|k| begins(k).is_le()),
        Bias::LastBelow => model.keys().rev().find(|k| begins(k).is_lt()),
    }
}

const BIASES: [Bias; 4] = [Bias::FirstAtLeast, Bias::FirstAbove, Bias::LastAtMost, Bias::LastBelow];

fn check_seeks(tree: &Tree, schema: Schema, model: &BTreeMap<ModelKey, Row>, random: &mut Random) {
    let mut key = schema.key(random.below(2500) as u32);
    if random.one_in(3) {
        key.truncate(1);
    }
    for bias in BIASES {
        let bytes = key_bytes(&key);
        let fields = fields_of(&bytes);
        let want = model_seek(model, &key, bias);
        let found = tree.seek(SearchKey { fields: &fields, bias }).unwrap();
        let record = want.map(|k| schema.record(k, &model[k].1, model[k].0));
        assert_eq!(found.as_ref().map(|f| f.record().to_vec()), record, "{key:?} {bias:?}");
        if let (Some(found), Some(want)) = (&found, want) {
            assert_eq!(found.is_exact(), want[..key.len()] == key[..]);
            let mut position = Position::default();
            found.save(&mut position).unwrap();
            check_resume(tree, schema, model, want, &position);
        }
    }
}

fn check_resume(
    tree: &Tree,
    schema: Schema,
    model: &BTreeMap<ModelKey, Row>,
    at: &ModelKey,
    position: &Position,
) {
    let bytes = |k: &ModelKey| schema.record(k, &model[k].1, model[k].0);
    let after = (Bound::Excluded(at), Bound::Unbounded);
    let next = model.range::<ModelKey, _>(after).next().map(|(k, _)| bytes(k));
    let before = model.range::<ModelKey, _>(..at).next_back().map(|(k, _)| bytes(k));
    let resumed = |bias| tree.resume(position, bias).unwrap().map(|l| l.record().to_vec());
    assert_eq!(resumed(Bias::FirstAbove), next);
    assert_eq!(resumed(Bias::LastBelow), before);
    assert_eq!(resumed(Bias::FirstAtLeast), Some(bytes(at)));
}

fn backwards(tree: &Tree) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    let mut at = tree.seek(SearchKey { fields: &[], bias: Bias::LastAtMost }).unwrap();
    while let Some(leaf) = at {
        all.push(leaf.record().to_vec());
        at = leaf.back().unwrap();
    }
    all.reverse();
    all
}

/// A leaf that was found for a key some steps ago: whatever has become of the tree meanwhile, it is
/// the key's, or it is not taken for that.
fn check_spot(tree: &Tree, key: &ModelKey, spot: &btree::Spot) -> bool {
    let bytes = key_bytes(key);
    let fields = fields_of(&bytes);
    let latched = tree.latch_spot(spot);
    let found = latched.and_then(|leaf| tree.search_spot(leaf, &fields, (40, 0)).unwrap());
    let Some(leaf) = found else { return false };
    let (place, exact) = ((leaf.page_id(), leaf.slot()), leaf.is_exact());
    assert!(leaf.has_room(40) && !exact);
    drop(leaf);
    let sought = tree.seek_write(&fields).unwrap();
    assert_eq!((place, false), ((sought.page_id(), sought.slot()), sought.is_exact()));
    true
}

/// The place of a record some steps ago: the record is taken there if, and only if, it stands there
/// still and is no ghost.
fn check_seen(tree: &Tree, key: &ModelKey, (page, slot): (PageId, u16)) -> bool {
    let bytes = key_bytes(key);
    let fields = fields_of(&bytes);
    let seen = tree.seen_write(&fields, page, slot);
    let taken = seen.map(|leaf| (leaf.page_id(), leaf.slot(), leaf.record().unwrap().to_vec()));
    let sought = tree.seek_write(&fields).unwrap();
    let live = sought.record().filter(|r| !page::is_ghost_record(r));
    let there = live.map(|r| (sought.page_id(), sought.slot(), r.to_vec()));
    assert_eq!(taken, there.filter(|(p, s, _)| (*p, *s) == (page, slot)), "{key:?}");
    taken.is_some()
}

fn run_model(seed: u64, schema: Schema, keys: u64, steps: u32) {
    in_simulation(seed, |disk| {
        let rig = Rig::create(disk, schema, 64);
        let tree = rig.tree(schema);
        let mut random = Random::new(seed);
        let (mut model, mut group) = (BTreeMap::new(), Group::new());
        let (mut spot, mut taken, mut left) = (None, 0, 0);
        let (mut seen, mut trusted, mut doubted) = (None, 0, 0);
        for step in 0..steps {
            if step % 8 == 0 {
                let key = schema.key(random.below(keys) as u32);
                let found = tree.find_spot(&fields_of(&key_bytes(&key))).unwrap();
                spot = Some((key, found));
            }
            if step % 8 == 4 {
                let key = schema.key(random.below(keys) as u32);
                let bytes = key_bytes(&key);
                let leaf = tree.seek_write(&fields_of(&bytes)).unwrap();
                let place = leaf.is_exact().then(|| (leaf.page_id(), leaf.slot()));
                seen = place.map(|place| (key, place));
            }
            // Now and then a run of expunges, so that leaves and interior pages go.
            let op = match drawn_op(&mut random, schema, keys) {
                op if step / 500 % 3 == 2 && !random.one_in(6) => Op::Expunge(op.key().clone()),
                op => op,
            };
            let policy = if random.one_in(2) { SplitPolicy::Append } else { SplitPolicy::Half };
            let undo = if random.one_in(2) { Undo::Never } else { Undo::By(9) };
            perform(&tree, schema, &mut group, &op, policy, undo, &mut || {});
            rig::model(&mut model, &op);
            if let Op::Expunge(key) = &op {
                let bytes = key_bytes(key);
                let _log = rig::reserve(&tree);
                tree.free_if_empty(&mut group, &fields_of(&bytes)).unwrap();
            }
            if random.one_in(8) {
                rig::reorganize(&tree, schema, &mut group, &mut random, keys);
            }
            if random.one_in(6)
                && let Some((key, spot)) = spot.take()
            {
                match check_spot(&tree, &key, &spot) {
                    true => taken += 1,
                    false => left += 1,
                }
            }
            if random.one_in(6)
                && let Some((key, place)) = seen.take()
            {
                match check_seen(&tree, &key, place) {
                    true => trusted += 1,
                    false => doubted += 1,
                }
            }
            if step % 20 == 0 {
                check_seeks(&tree, schema, &model, &mut random);
            }
            if step % 400 == 0 {
                assert!(contents(&tree) == expected(schema, &model), "seed {seed} step {step}");
                assert_eq!(rig.findings(&tree), Vec::<String>::new(), "seed {seed} step {step}");
            }
        }
        assert!(taken > steps / 50 && left > 0, "{taken} leaves were the keys', {left} were not");
        assert!(trusted > 0 && doubted > 0, "{trusted} places were right, {doubted} were not");
        let all = contents(&tree);
        assert!(all == expected(schema, &model));
        assert_eq!(backwards(&tree), all.into_iter().map(|(_, r)| r).collect::<Vec<_>>());
        assert_eq!(rig.findings(&tree), Vec::<String>::new());
    });
}

#[test]
fn a_tree_of_rows_is_a_sorted_map() {
    (1..5).for_each(|seed| run_model(seed, Schema::Rows, 2000, 4000));
}

#[test]
fn a_tree_of_short_rows_is_a_sorted_map() {
    (1..3).for_each(|seed| run_model(seed, Schema::Bare, 3000, 9000));
}

#[test]
fn a_tree_of_entries_with_nulls_and_descending_columns_is_a_sorted_map() {
    (1..4).for_each(|seed| run_model(seed, Schema::Entries, 2500, 5000));
}

#[test]
fn a_tree_of_long_keys_grows_high_and_shrinks() {
    (1..5).for_each(|seed| run_model(seed, Schema::LongKeys, 1500, 5000));
}

/// The seeds' table: 123,456 ascending rows of 25 bytes are 823 leaves, 2 pages and a root.
#[test]
fn half_splits_leave_the_pages_of_the_published_figures() {
    in_simulation(1, |disk| {
        let schema = Schema::Rows;
        let rig = Rig::create(disk, schema, 4096);
        let tree = rig.tree(schema);
        let mut group = Group::new();
        // 4 + 4 + 2 + 1 + 2 + 2 + 10 = 25 bytes.
        for n in 0..123_456 {
            let op = Op::Put(schema.key(n), vec![7; 10]);
            perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
        }
        let mut levels = [0; 4];
        let findings = verified(&tree, &mut |_, v| levels[usize::from(v.level())] += 1);
        assert_eq!((findings.len(), levels), (0, [823, 2, 1, 0]));
    });
}

/// A key's update is one group: the old record a ghost, the new one in, on one leaf or on two.
#[test]
fn a_record_moves_to_another_key_in_one_group() {
    in_simulation(3, |disk| {
        let schema = Schema::Rows;
        let rig = Rig::create(disk, schema, 64);
        let tree = rig.tree(schema);
        let mut group = Group::new();
        for n in (0..2000).step_by(2) {
            let op = Op::Put(schema.key(n), vec![1; 40]);
            perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
        }
        let mut two = 0;
        for (from, to) in [(10, 13), (10, 1501), (0, 1999), (1200, 1207)] {
            let old_key = schema.key(from);
            let new = schema.record(&schema.key(to), b"moved", false);
            let (a, b) = (key_bytes(&old_key), key_bytes(&schema.key(to)));
            let pair = tree.seek_write_pair(&fields_of(&a), &fields_of(&b)).unwrap();
            let mut change = Change::new(tree.pages(), &mut group);
            match pair {
                LeafPair::One(leaf, (slot, exact)) => {
                    assert!(!exact);
                    let (page, old_slot) = leaf.join(&mut change);
                    let _ = tree.ghost(&mut change, page, old_slot, Undo::By(4));
                    tree.insert(&mut change, page, slot, &new, Undo::By(4)).unwrap();
                }
                LeafPair::Two(left, right) => {
                    two += 1;
                    assert!(right.has_room(new.len()));
                    let (page, slot) = left.join(&mut change);
                    let _ = tree.ghost(&mut change, page, slot, Undo::By(4));
                    let (page, slot) = right.join(&mut change);
                    tree.insert(&mut change, page, slot, &new, Undo::By(4)).unwrap();
                }
            }
            change.finish(&mut TransactionChain { id: 4, ..Default::default() });
        }
        assert!(two >= 2);
        assert_eq!(verified(&tree, &mut |_, _| {}), Vec::new());
    });
}

/// What undo needs is in the log: the key, and the bytes as they were.
#[test]
fn the_log_holds_what_undo_needs_and_little_more() {
    in_simulation(4, |disk| {
        let schema = Schema::Rows;
        let rig = Rig::create(disk, schema, 64);
        let tree = rig.tree(schema);
        let mut group = Group::new();
        let key = schema.key(60);
        let mut sizes = Vec::new();
        let mut old = schema.record(&key, b"first", false);
        for op in [
            Op::Put(key.clone(), b"first".to_vec()),
            Op::Put(key.clone(), b"fixst and more".to_vec()),
            Op::Ghost(key.clone()),
            Op::Unghost(key.clone()),
            Op::Expunge(key.clone()),
        ] {
            let by = Undo::By(4);
            let at = perform(&tree, schema, &mut group, &op, SplitPolicy::Half, by, &mut || {});
            let mut records = wal::RecordReader::new(&rig.log);
            let view = records.record(at.unwrap()).unwrap();
            sizes.push(view.bytes.len());
            let handler = rig::redo_table().handler(view.kind()).unwrap().describe(&view);
            let names = (handler.operation, handler.context);
            let bytes = key_bytes(&key);
            let spelled = btree::KeyBuf::of(&fields_of(&bytes));
            match btree::logged(&view).unwrap() {
                LoggedChange::Insert { record } => {
                    assert_eq!((record, names), (&old[..], ("LOP_INSERT_ROWS", "LCX_CLUSTERED")));
                }
                LoggedChange::Modify(d) => {
                    assert_eq!(names, ("LOP_MODIFY_ROW", "LCX_CLUSTERED"));
                    assert_eq!(d.key, spelled.bytes());
                    let now = schema.record(&key, b"fixst and more", false);
                    let mut before = Vec::new();
                    assert!(d.restore(&now, &mut before) && before == old);
                    assert!(!d.restore(&old, &mut before), "another record is refused");
                    old = now;
                }
                LoggedChange::ModifyInRow(_) => panic!("no version was left in a row"),
                LoggedChange::Ghost { key } => {
                    assert_eq!(
                        (key, names),
                        (spelled.bytes(), ("LOP_DELETE_ROWS", "LCX_MARK_AS_GHOST"))
                    );
                }
                LoggedChange::Unghost { key } => assert_eq!(key, spelled.bytes()),
                LoggedChange::Expunge { record } => {
                    assert_eq!((record, names), (&old[..], ("LOP_EXPUNGE_ROWS", "LCX_CLUSTERED")));
                }
                LoggedChange::Structure => panic!("no structure was changed"),
            }
        }
        // Header 28; row of 16 and 5; difference; key of 4 and its length.
        assert_eq!((sizes[0], sizes[2], sizes[3]), (28 + 20, 28 + 5, 28 + 5));
        assert!(sizes[1] <= 28 + 8 + 5 + 7 + 16, "{sizes:?}");
    });
}

/// Only the last leaf stays when all records go, whatever the order they go in.
#[test]
fn a_tree_emptied_in_any_order_keeps_one_leaf() {
    for seed in 0..4 {
        in_simulation(seed, |disk| {
            let schema = Schema::LongKeys;
            let rig = Rig::create(disk, schema, 128);
            let tree = rig.tree(schema);
            let (mut group, mut random) = (Group::new(), Random::new(seed));
            let mut keys: Vec<ModelKey> = (0..600).map(|n| schema.key(n)).collect();
            for key in &keys {
                let op = Op::Put(key.clone(), vec![1; 300]);
                perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
            }
            assert!(tree.level_count().unwrap() >= 3);
            match seed {
                0 => keys.sort(),
                1 => keys.sort_by(|a, b| b.cmp(a)),
                _ => keys.sort_by_cached_key(|_| random.next_u64()),
            }
            for key in &keys {
                let op = Op::Expunge(key.clone());
                perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
                let bytes = key_bytes(key);
                let _log = rig::reserve(&tree);
                let freed = tree.free_if_empty(&mut group, &fields_of(&bytes)).unwrap();
                assert_ne!(freed, FreeOutcome::Busy, "nobody else is there");
            }
            assert_eq!(rig.findings(&tree), Vec::<String>::new());
            let mut leaves = 0;
            verified(&tree, &mut |_, v| leaves += u32::from(v.level() == 0));
            assert_eq!((leaves, contents(&tree).len()), (1, 0), "seed {seed}");
        });
    }
}

#[test]
fn a_sorted_load_fills_pages_as_it_is_told() {
    for (fill_factor, least, most) in [(100, 27, 28), (50, 54, 56), (0, 27, 28)] {
        in_simulation(5, |disk| {
            let schema = Schema::Rows;
            let rig = Rig::create(disk, schema, 64);
            let tree = rig.tree(schema);
            let mut group = Group::new();
            let mut load = BulkLoad::new(&tree, fill_factor, 100);
            let mut model = BTreeMap::new();
            for n in 0..8000 {
                let (key, payload) = (schema.key(n), vec![n as u8; 10]);
                let _log = rig::reserve(&tree);
                load.push(&mut group, &schema.record(&key, &payload, false)).unwrap();
                model.insert(key, (false, payload));
            }
            assert_eq!(load.finish(&mut group).unwrap(), 8000);
            let mut leaves = 0;
            assert_eq!(
                verified(&tree, &mut |_, v| leaves += u32::from(v.level() == 0)),
                Vec::new()
            );
            assert!((least..=most).contains(&leaves), "{leaves} leaves at {fill_factor} %");
            assert_eq!(contents(&tree), expected(schema, &model));
            assert_eq!(rig.findings(&tree), Vec::<String>::new());
        });
    }
}

/// Entries of about 400 bytes: whole pages above the leaves take a dozen and more, half filled ones
/// half as many, and none is left with less than two.
#[test]
fn a_sorted_load_leaves_room_above_the_leaves() {
    for (interior_fill, wanted) in [(100, 12..=22), (50, 4..=10), (1, 2..=3)] {
        in_simulation(7, |disk| {
            let schema = Schema::LongKeys;
            let rig = Rig::create(disk, schema, 64);
            let tree = rig.tree(schema);
            let mut group = Group::new();
            let mut load = BulkLoad::new(&tree, 100, interior_fill);
            let mut keys: Vec<ModelKey> = (0..800).map(|n| schema.key(n)).collect();
            keys.sort();
            for key in &keys {
                let _log = rig::reserve(&tree);
                load.push(&mut group, &schema.record(key, &[7; 10], false)).unwrap();
            }
            assert_eq!(load.finish(&mut group).unwrap(), 800);
            let (mut entries, mut fullest) = (Vec::new(), 0);
            let found = verified(&tree, &mut |_, v| {
                if v.level() > 0 {
                    entries.push(v.slot_count());
                    fullest = fullest.max(v.slot_count());
                }
            });
            assert_eq!(found, Vec::new());
            assert!(wanted.contains(&fullest), "{interior_fill}: {entries:?}");
            assert!(entries.len() > 3 && entries.iter().all(|n| *n >= 2), "{entries:?}");
            assert_eq!(contents(&tree).len(), 800);
        });
    }
}

/// An int key's interior entry is 11 bytes, as in the published figures.
#[test]
fn an_interior_entry_of_an_int_is_eleven_bytes() {
    in_simulation(6, |disk| {
        let rig = Rig::create(disk, Schema::Bare, 64);
        let tree = rig.tree(Schema::Bare);
        assert_eq!(tree.interior_layout().min_len(), 11);
        assert_eq!(tree.interior_layout().encoded_len(&[Field::Inline(&[0; 4])], false), 11);
        drop(Arc::clone(&rig.space));
    });
}
