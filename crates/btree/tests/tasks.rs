//! Nine tasks at once on one tree in a small pool: nobody waits for ever, nothing is lost, and
//! readers meanwhile see keys in order and every record that nobody touched.
#![allow(clippy::unwrap_used)]

mod rig;

use btree::{Bias, LeafPair, Position, SearchKey, SplitPolicy, Tree};
use buffer::{Change, Undo};
use os::sync::Mutex;
use page::RecordKind;
use rig::{ModelKey, Op, Rig, Row, Schema, contents, expected, fields_of, key_bytes, perform};
use sim::{Disk, DiskOptions, Options, Random, Simulation};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use wal::{Group, TransactionChain};

const WRITERS: u64 = 6;
const READERS: u64 = 2;

struct SharedTree {
    rig: Rig,
    tree: Tree,
    schema: Schema,
    keys: u64,
    quiet: usize,
    /// Writers that have not ended.
    writing: AtomicU64,
    model: Mutex<BTreeMap<ModelKey, Row>>,
}

/// A writer owns the keys whose number leaves its own when divided; readers never see these
/// change under a latch, but see all of them move about.
fn write(shared: &SharedTree, seed: u64, me: u64, steps: u64) {
    let (mut random, mut group) = (Random::new(seed * 100 + me), Group::new());
    let mut mine: BTreeMap<ModelKey, Row> = BTreeMap::new();
    let SharedTree { tree, schema, .. } = shared;
    for step in 0..steps {
        // Fills for a while, then takes everything out in order of keys, so that leaves go.
        let own = shared.keys / 8;
        let shrinking = step / own % 2 == 1;
        let n = if shrinking { step % own } else { random.below(own) } * 8 + me;
        let key = schema.key(n as u32);
        let op = match random.below(8) {
            0..=3 if !shrinking => {
                Op::Put(key, vec![me as u8 + 1; payload_len(*schema, &mut random)])
            }
            4 if !shrinking => Op::Ghost(key),
            5 if !shrinking => Op::Unghost(key),
            6 if !shrinking && random.one_in(3) => {
                let other = random.below(shared.keys / 8) * 8 + me;
                move_key(shared, &mut group, &mut mine, (n, other));
                continue;
            }
            _ => Op::Expunge(key),
        };
        let policy = if random.one_in(2) { SplitPolicy::Append } else { SplitPolicy::Half };
        perform(tree, *schema, &mut group, &op, policy, Undo::Never, &mut || {});
        rig::model(&mut mine, &op);
        if let Op::Expunge(key) = &op {
            let _log = rig::reserve(tree);
            tree.free_if_empty(&mut group, &fields_of(&key_bytes(key))).unwrap();
            // What has gone is not misplaced, whatever goes on around it; nobody waits for ever.
            tree.check_absent(&fields_of(&key_bytes(key))).unwrap();
        }
    }
    shared.model.lock().append(&mut mine);
    shared.writing.fetch_sub(1, Relaxed);
}

/// Moves leaves about while others read and write them.
fn reorganize(shared: &SharedTree, seed: u64) {
    let (mut random, mut group) = (Random::new(seed * 100 + 90), Group::new());
    while shared.writing.load(Relaxed) > 0 {
        rig::reorganize(&shared.tree, shared.schema, &mut group, &mut random, shared.keys);
    }
}

fn payload_len(schema: Schema, random: &mut Random) -> usize {
    match schema {
        Schema::Bare => 0,
        Schema::Entries => 4,
        _ => {
            let most = if random.one_in(20) { 3000 } else { 200 };
            random.below(most) as usize
        }
    }
}

/// Expunges one record and inserts another in one change, where both leaves are to be had.
fn move_key(
    shared: &SharedTree,
    group: &mut Group,
    mine: &mut BTreeMap<ModelKey, Row>,
    (a, b): (u64, u64),
) {
    let SharedTree { tree, schema, .. } = shared;
    let (from, to) = (schema.key(a as u32), schema.key(b as u32));
    if from == to {
        return;
    }
    let payload = if *schema == Schema::Bare { Vec::new() } else { vec![77; 4] };
    let new = schema.record(&to, &payload, false);
    let (low, high) = if from < to { (&from, &to) } else { (&to, &from) };
    let (low_bytes, high_bytes) = (key_bytes(low), key_bytes(high));
    let _log = rig::reserve(tree);
    let pair = tree.seek_write_pair(&fields_of(&low_bytes), &fields_of(&high_bytes)).unwrap();
    let LeafPair::Two(left, right) = pair else { return };
    let (old, target) = if from < to { (&left, &right) } else { (&right, &left) };
    if !old.is_exact() || target.is_exact() || !target.has_room(new.len()) {
        return;
    }
    let (old_low, mut change) = (from < to, Change::new(tree.pages(), group));
    let (left, right) = (left.join(&mut change), right.join(&mut change));
    let (old, target) = if old_low { (left, right) } else { (right, left) };
    tree.expunge(&mut change, old.0, old.1, Undo::Never).unwrap();
    tree.insert(&mut change, target.0, target.1, &new, Undo::Never).unwrap();
    change.finish(&mut TransactionChain::default());
    mine.remove(&from);
    mine.insert(to, (false, payload));
}

/// Walks forwards or backwards, letting the latch go now and then; the keys that nobody writes
/// (those that leave 7) must all be met, in order.
fn read(shared: &SharedTree, seed: u64, me: u64) {
    let mut random = Random::new(seed * 100 + 50 + me);
    while shared.writing.load(Relaxed) > 0 {
        let forwards = random.one_in(2);
        let bias = if forwards { Bias::FirstAtLeast } else { Bias::LastAtMost };
        let mut at = shared.tree.seek(SearchKey { fields: &[], bias }).unwrap();
        let (mut last, mut quiet) = (Position::default(), 0);
        while let Some(leaf) = at {
            let mut position = Position::default();
            leaf.save(&mut position).unwrap();
            if !last.key().is_empty() {
                let order = {
                    let (a, b) = (last.key().fields(), position.key().fields());
                    shared.tree.order().compare_keys(a.as_slice(), b.as_slice()).unwrap()
                };
                assert!(if forwards { order.is_lt() } else { order.is_gt() }, "keys in order");
            }
            quiet += usize::from(is_quiet(shared.schema, leaf.record()));
            last = position;
            at = if random.one_in(10) {
                drop(leaf);
                let bias = if forwards { Bias::FirstAbove } else { Bias::LastBelow };
                shared.tree.resume(&last, bias).unwrap()
            } else if forwards {
                leaf.forward().unwrap()
            } else {
                leaf.back().unwrap()
            };
        }
        assert_eq!(quiet, shared.quiet, "records that nobody touches are met");
    }
}

/// Records that nobody writes are the ghosts of kind "version", or have a payload of their own.
fn is_quiet(schema: Schema, record: &[u8]) -> bool {
    match schema {
        Schema::Entries => record[1..5] == [251; 4],
        _ => record.ends_with(&[251]) && RecordKind::of(record[0]) == RecordKind::Primary,
    }
}

fn run(seed: u64, schema: Schema, keys: u64, steps: u64) {
    let run = Simulation::run(seed, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { seed, ..DiskOptions::default() });
        let rig = Rig::create(&disk, schema, 64);
        let tree = rig.tree(schema);
        let (mut group, mut model) = (Group::new(), BTreeMap::new());
        // In the upper half only, so that leaves of the lower half get empty and are freed, and
        // whoever loses the way there misses them.
        let mut quiet: Vec<ModelKey> = (7..keys).step_by(8).map(|n| schema.key(n as u32)).collect();
        quiet.sort();
        quiet.drain(..quiet.len() / 2);
        for key in &quiet {
            let payload = if schema == Schema::Entries { vec![251; 4] } else { vec![251; 60] };
            let op = Op::Put(key.clone(), payload);
            perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
            rig::model(&mut model, &op);
        }
        let shared = Arc::new(SharedTree {
            rig,
            tree,
            schema,
            keys,
            quiet: quiet.len(),
            writing: AtomicU64::new(WRITERS),
            model: Mutex::new(model),
        });
        let mut tasks = Vec::new();
        for me in 0..WRITERS {
            let shared = Arc::clone(&shared);
            tasks.push(os::task::spawn("writer", move || write(&shared, seed, me, steps)));
        }
        {
            let shared = Arc::clone(&shared);
            tasks.push(os::task::spawn("reorganizer", move || reorganize(&shared, seed)));
        }
        for me in 0..READERS {
            let shared = Arc::clone(&shared);
            tasks.push(os::task::spawn("reader", move || read(&shared, seed, me)));
        }
        for task in tasks {
            task.join().unwrap();
        }
        let model = shared.model.lock();
        assert!(contents(&shared.tree) == expected(schema, &model), "seed {seed}");
        assert_eq!(shared.rig.findings(&shared.tree), Vec::<String>::new(), "seed {seed}");
    });
    assert_eq!(run.ended, sim::RunEnd::Done(()), "seed {seed}");
}

/// `GHOSTLIGHT_SEEDS` makes it many more.
fn seeds() -> std::ops::Range<u64> {
    let n = std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok());
    0..n.unwrap_or(25)
}

#[test]
fn tasks_on_rows() {
    seeds().for_each(|seed| run(seed, Schema::Rows, 1600, 800));
}

#[test]
fn tasks_on_entries() {
    seeds().for_each(|seed| run(seed, Schema::Entries, 2400, 1200));
}

#[test]
fn tasks_on_long_keys() {
    seeds().for_each(|seed| run(seed, Schema::LongKeys, 480, 360));
}
