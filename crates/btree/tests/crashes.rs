//! A crash leaves a sound tree, with every change that was promised and no half of any.
#![allow(clippy::unwrap_used)]

mod rig;

use base::Lsn;
use btree::{SplitPolicy, Tree};
use buffer::Undo;
use os::sync::Mutex;
use rig::{
    ModelKey, Op, Rig, Row, Schema, TreeStart, contents, expected, fields_of, key_bytes, perform,
};
use sim::harness::{Plan, crash_runs};
use sim::{Disk, DiskOptions, Random};
use std::collections::BTreeMap;
use std::sync::Arc;
use wal::Group;

const TASKS: u64 = 3;
const KEYS: u64 = 600;
/// The keys that recovered trees are tried with.
const LATER_KEYS: u32 = 10_000;

/// What is known of a run.
#[derive(Default)]
struct Oracle(Mutex<OracleState>);

#[derive(Default)]
struct OracleState {
    made: Option<TreeStart>,
    /// Changes and the ends of their groups.
    history: Vec<(Lsn, Op)>,
    /// Changes that may or may not have been logged, by task.
    pending: BTreeMap<u64, Op>,
    /// Everything up to here is durable.
    durable: Lsn,
}

fn schema_of(seed: u64) -> Schema {
    [Schema::LongKeys, Schema::Rows, Schema::Entries][seed as usize % 3]
}

fn drawn(random: &mut Random, schema: Schema, me: u64, step: u64) -> Op {
    let key = schema.key((random.below(KEYS / TASKS) * TASKS + me) as u32);
    let shrinking = step / 40 % 2 == 1;
    match random.below(8) {
        0..=3 if !shrinking => {
            let most = if random.one_in(4) { 2500 } else { 400 };
            let n = if schema == Schema::Entries { 4 } else { random.below(most) as usize };
            Op::Put(key, vec![step as u8 | 1; n])
        }
        4 => Op::Ghost(key),
        5 => Op::Unghost(key),
        _ => Op::Expunge(key),
    }
}

/// One session: changes, each in a group; now and then a flush, whose answer is a promise.
fn session(rig: &Rig, tree: &Tree, schema: Schema, (seed, me): (u64, u64), promised: &Oracle) {
    let (mut random, mut group) = (Random::new(seed * 10 + me), Group::new());
    for step in 0..120 {
        if random.one_in(5) {
            rig::reorganize(tree, schema, &mut group, &mut random, KEYS);
        }
        let op = drawn(&mut random, schema, me, step);
        let policy = if random.one_in(2) { SplitPolicy::Append } else { SplitPolicy::Half };
        let end = perform(tree, schema, &mut group, &op, policy, Undo::Never, &mut || {
            promised.0.lock().pending.insert(me, op.clone());
        });
        {
            let mut known = promised.0.lock();
            known.pending.remove(&me);
            known.history.extend(end.map(|end| (end, op.clone())));
        }
        if let Op::Expunge(key) = &op {
            let _log = rig::reserve(tree);
            tree.free_if_empty(&mut group, &fields_of(&key_bytes(key))).unwrap();
        }
        if let Some(end) = end.filter(|_| random.one_in(8)) {
            rig.log.flush_to(end);
            let mut known = promised.0.lock();
            known.durable = known.durable.max(end);
        }
    }
}

fn workload(disk: Arc<Disk>, seed: u64, promised: Arc<Oracle>) {
    let schema = schema_of(seed);
    let rig = Arc::new(Rig::create(&*disk, schema, 64));
    promised.0.lock().made = Some(rig.made());
    let mut tasks = Vec::new();
    for me in 0..TASKS {
        let (rig, promised) = (Arc::clone(&rig), Arc::clone(&promised));
        tasks.push(os::task::spawn("session", move || {
            let tree = rig.tree(schema);
            session(&rig, &tree, schema, (seed, me), &promised);
        }));
    }
    for _ in 0..3 {
        os::task::sleep_ns(300_000);
        rig.checkpoint();
    }
    for task in tasks {
        if let Err(payload) = task.join() {
            std::panic::resume_unwind(payload);
        }
    }
}

fn verify(disk: Arc<Disk>, promised: Arc<Oracle>) {
    let known = promised.0.lock();
    let Some(made) = known.made else { return };
    let schema = known.history.first().map_or(Schema::Rows, |(_, op)| match op.key().len() {
        2 => Schema::Entries,
        _ if matches!(op.key()[0], rig::Part::Text(_)) => Schema::LongKeys,
        _ => Schema::Rows,
    });
    let (rig, survived) = Rig::recover(&*disk, made, 64);
    if known.history.is_empty() {
        return;
    }
    let tree = rig.tree(schema);
    assert_eq!(rig.findings(&tree), Vec::<String>::new());
    let mut history: Vec<&(Lsn, Op)> = known.history.iter().collect();
    history.sort_by_key(|(end, _)| *end);
    let mut model: BTreeMap<ModelKey, Row> = BTreeMap::new();
    let mut lost = false;
    for (end, op) in history {
        if survived.has(*end) {
            assert!(!lost, "what is lost is a suffix");
            rig::model(&mut model, op);
        } else {
            lost = true;
            assert!(*end > known.durable, "{op:?} at {end} was promised");
        }
    }
    let mut unsure: Vec<ModelKey> = known.pending.values().map(|op| op.key().clone()).collect();
    // A recovery that was cut off may have gone on already.
    unsure.extend((LATER_KEYS..LATER_KEYS + 60).map(|n| schema.key(n)));
    let sure = |all: Vec<(Vec<u8>, Vec<u8>)>| -> Vec<(Vec<u8>, Vec<u8>)> {
        let spelled = |k: &ModelKey| btree::KeyBuf::of(&fields_of(&key_bytes(k))).bytes().to_vec();
        let unsure: Vec<Vec<u8>> = unsure.iter().map(spelled).collect();
        all.into_iter().filter(|(k, _)| !unsure.contains(k)).collect()
    };
    let (found, wanted) = (sure(contents(&tree)), sure(expected(schema, &model)));
    let wrong: Vec<_> = found.iter().filter(|r| !wanted.contains(r)).map(|r| &r.0).collect();
    let gone: Vec<_> = wanted.iter().filter(|r| !found.contains(r)).map(|r| &r.0).collect();
    assert!(wrong.is_empty() && gone.is_empty(), "wrong: {wrong:?}, gone: {gone:?}");
    goes_on(&rig, &tree, schema);
}

/// The recovered tree can be changed like any other.
fn goes_on(rig: &Rig, tree: &Tree, schema: Schema) {
    let mut group = Group::new();
    for n in 0..60 {
        let payload = vec![3; if schema == Schema::Entries { 4 } else { 300 }];
        let op = Op::Put(schema.key(LATER_KEYS + n), payload);
        perform(tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
    }
    assert_eq!(rig.findings(tree), Vec::<String>::new());
}

/// `GHOSTLIGHT_SEEDS` makes it many more.
#[test]
fn random_groups_survive_crashes_anywhere() {
    let seeds = std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok());
    let plan = Plan {
        seeds: 0..seeds.unwrap_or(9),
        cases: 30,
        disk: DiskOptions { latency: true, ..DiskOptions::default() },
        ..Plan::default()
    };
    let counts = crash_runs(&plan, workload, verify);
    println!("{counts:?}");
    assert!(counts.crash_points() >= plan.seeds.end * plan.cases);
}
