//! What committed transactions have read and written of each other makes no circle that their level
//! does not allow (Adya, Liskov, O'Neil, "Generalized Isolation Level Definitions", 2000): none at
//! all under SERIALIZABLE, and under SNAPSHOT none with fewer than two anti-dependencies.
//!
//! A key that came and went since a transaction's moment is no conflict (rule 20 of rowstore): who
//! puts it anew depends on nobody.
//!
//! Sessions take turns over few keys of a clustered index; who would have to wait is rolled back.
//! Each read finds what was committed last, or at its transaction's moment, or is the reader's own.

use super::{Draw, World};
use access::WriteError;
use access::{Field, Isolation, KeyBound, LockPlan, RowKey, ScanRange};
use catalog::view::IndexKind;
use std::collections::{BTreeMap, BTreeSet};
use txn::Mutation;
use work::{CommitMode, Snapshot};

const SESSIONS: usize = 4;
const KEYS: i32 = 14;

/// What a key was after each commit that changed it, and by whom; at first nothing, by 0.
type States = BTreeMap<i32, Vec<(u64, Option<u8>)>>;

#[derive(Default)]
struct Transaction {
    id: u64,
    moment: Option<(Snapshot, BTreeMap<i32, usize>)>,
    writes: BTreeMap<i32, Option<u8>>,
    /// Keys, and which of their states were read.
    reads: BTreeSet<(i32, usize)>,
}

struct Histories {
    world: World,
    level: Isolation,
    open: Vec<Option<Transaction>>,
    states: States,
    reads: BTreeMap<u64, BTreeSet<(i32, usize)>>,
    /// States of keys that had come and gone since their writer's moment.
    anew: BTreeSet<(i32, usize)>,
    last: u64,
}

impl Histories {
    fn new(level: Isolation, seed: u64, fault: Option<Mutation>) -> Histories {
        let mut world = World::new(IndexKind::Clustered, seed);
        world.plant(fault);
        world.draw = Draw(seed);
        world.with_versions();
        let states = (0..KEYS).map(|key| (key, vec![(0, None)])).collect();
        let open = (0..SESSIONS).map(|_| None).collect();
        Histories {
            world,
            level,
            open,
            states,
            reads: BTreeMap::new(),
            anew: BTreeSet::new(),
            last: 0,
        }
    }

    fn plan(&self, n: usize, change: bool) -> LockPlan {
        let of = self.open[n].as_ref().expect("a transaction is open");
        let at = of.moment.as_ref().map(|(snapshot, _)| snapshot.at());
        let plan = if change { LockPlan::change(self.level) } else { LockPlan::read(self.level) };
        LockPlan { as_of: at, unchanged_since: at, ..plan }
    }

    fn step(&mut self) {
        let n = self.world.draw.below(SESSIONS);
        if self.open[n].is_none() {
            return self.begin(n);
        }
        match self.world.draw.below(10) {
            0..4 => self.read(n),
            4..8 => self.write(n),
            8 => self.end(n, true),
            _ if self.world.draw.below(4) == 0 => self.end(n, false),
            _ => self.world.clean(),
        }
    }

    fn begin(&mut self, n: usize) {
        self.world.sessions[n].work.begin(true, "");
        self.last += 1;
        let snapshot = self.level == Isolation::Snapshot;
        let moment = snapshot.then(|| {
            let lengths = self.states.iter().map(|(key, s)| (*key, s.len() - 1)).collect();
            (self.world.sessions[n].work.statement_snapshot(), lengths)
        });
        self.open[n] = Some(Transaction { id: self.last, moment, ..Transaction::default() });
    }

    /// Reads a range, and learns of each of its keys what it is.
    fn read(&mut self, n: usize) {
        let low = self.world.draw.below(KEYS as usize) as i32;
        let high = (low + self.world.draw.below(5) as i32).min(KEYS - 1);
        let plan = self.plan(n, false);
        let (first, last) = (low.to_le_bytes(), high.to_le_bytes());
        let ends = [[Field::Inline(&first)], [Field::Inline(&last)]];
        let bound = |n: usize| Some(KeyBound { fields: &ends[n], inclusive: true });
        let backward = self.world.draw.below(3) == 0;
        let range = ScanRange { lower: bound(0), upper: bound(1), backward };
        let work = &mut self.world.sessions[n].work;
        let found = self.world.hobt.scan(work, &range, &plan).and_then(|mut cursor| {
            let mut found = BTreeMap::new();
            while cursor.next(work)? {
                let key = cursor.field(0)?.inline().map(|b| <[u8; 4]>::try_from(b).unwrap());
                let value = cursor.field(1)?.inline().map(|b| b[0]);
                found.insert(i32::from_le_bytes(key.unwrap()), value.unwrap());
            }
            Ok(found)
        });
        let Ok(found) = found else { return self.end(n, false) };
        for key in low..=high {
            self.learn(n, key, found.get(&key).copied());
        }
    }

    fn learn(&mut self, n: usize, key: i32, found: Option<u8>) {
        let states = &self.states[&key];
        let of = self.open[n].as_mut().expect("a transaction is open");
        if let Some(own) = of.writes.get(&key) {
            return assert_eq!(found, *own, "key {key}, which is its own");
        }
        let at = of.moment.as_ref().map_or(states.len() - 1, |(_, lengths)| lengths[&key]);
        assert_eq!(found, states[at].1, "key {key} in state {at} of {states:?}");
        of.reads.insert((key, at));
    }

    fn write(&mut self, n: usize) {
        let key = self.world.draw.below(KEYS as usize) as i32;
        // Another than the last: what changes nothing is no change.
        self.world.next = self.world.next.wrapping_add(1);
        let (what, value) = (self.world.draw.below(6), self.world.next);
        let plan = self.plan(n, true);
        let (name, bytes) = (key.to_le_bytes(), [value; 1_500]);
        let row = [Field::Inline(&name), Field::Inline(&bytes)];
        let found = RowKey { fields: &row[..1], hint: None };
        let work = &mut self.world.sessions[n].work;
        let hobt = &self.world.hobt;
        let done = match what {
            0..3 => hobt.insert(work, &row, &plan).map(|_| Some(value)),
            3 | 4 => hobt.update(work, found, &row, &plan).map(|_| Some(value)),
            _ => hobt.delete(work, found, &plan).map(|()| None),
        };
        match done {
            Ok(now) => {
                let of = self.open[n].as_mut().expect("a transaction is open");
                of.writes.insert(key, now);
            }
            Err(WriteError::Vanished | WriteError::Duplicate) => {}
            Err(WriteError::Conflict | WriteError::Sql(_)) => self.end(n, false),
            Err(e) => panic!("{e:?}"),
        }
    }

    fn end(&mut self, n: usize, commits: bool) {
        let of = self.open[n].take().expect("a transaction is open");
        let work = &mut self.world.sessions[n].work;
        if !commits {
            return work.roll_back().unwrap();
        }
        work.commit(CommitMode::Delayed).unwrap();
        for (key, now) in &of.writes {
            let states = self.states.get_mut(key).expect("a known key");
            let read = of.moment.as_ref().map_or(states.len() - 1, |(_, lengths)| lengths[key]);
            if read + 1 < states.len() {
                let nothing = states[read].1.is_none() && states[states.len() - 1].1.is_none();
                assert!(nothing, "key {key} was changed since state {read} of {states:?}");
                self.anew.insert((*key, states.len()));
            }
            states.push((of.id, *now));
        }
        self.reads.insert(of.id, of.reads);
    }

    /// Who has to come before whom: dependencies, and anti-dependencies.
    fn edges(&self) -> [BTreeSet<(u64, u64)>; 2] {
        let (mut depends, mut anti) = (BTreeSet::new(), BTreeSet::new());
        for (key, states) in &self.states {
            let pairs = states.windows(2).enumerate();
            let of_both = pairs.filter(|(n, _)| !self.anew.contains(&(*key, n + 1)));
            depends.extend(of_both.map(|(_, w)| (w[0].0, w[1].0)));
        }
        for (reader, reads) in &self.reads {
            for (key, at) in reads {
                let states = &self.states[key];
                depends.insert((states[*at].0, *reader));
                anti.extend(states.get(at + 1).map(|next| (*reader, next.0)));
            }
        }
        for edges in [&mut depends, &mut anti] {
            edges.retain(|(from, to)| from != to);
        }
        [depends, anti]
    }

    fn judge(&self) {
        let [depends, anti] = self.edges();
        let all: BTreeSet<_> = match self.level {
            Isolation::Serializable => depends.union(&anti).copied().collect(),
            _ => depends.clone(),
        };
        for (from, to) in &all {
            assert!(!leads(&all, *to, *from), "{from} is before {to} and behind it");
        }
        for (from, to) in anti.iter().filter(|_| self.level == Isolation::Snapshot) {
            assert!(!leads(&depends, *to, *from), "{from} has not seen {to}, and is behind it");
        }
    }
}

fn leads(edges: &BTreeSet<(u64, u64)>, from: u64, to: u64) -> bool {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            next.extend(edges.range((at, 0)..=(at, u64::MAX)).map(|(_, to)| *to));
        }
    }
    false
}

fn run(level: Isolation, seeds: u64, fault: Option<Mutation>) {
    let (mut committed, mut anti) = (0, 0);
    for seed in 0..seeds {
        let mut histories = Histories::new(level, seed * 7919 + 3, fault);
        for _ in 0..400 {
            histories.step();
        }
        for n in 0..SESSIONS {
            if histories.open[n].is_some() {
                histories.end(n, true);
            }
        }
        histories.judge();
        committed += histories.reads.len();
        anti += histories.edges()[1].len();
    }
    let enough = committed > 20 * seeds as usize && anti > 10 * seeds as usize;
    assert!(enough, "the histories say something: {committed}, {anti}");
}

#[test]
fn serializable_transactions_make_no_circle() {
    run(Isolation::Serializable, super::seeds(), None);
}

#[test]
fn snapshot_transactions_make_no_circle_without_two_anti_dependencies() {
    run(Isolation::Snapshot, super::seeds(), None);
}

/// A key that is put into a gap of one's own, and guards no part of it, lets phantoms in.
#[cfg(feature = "mutations")]
#[test]
fn a_gap_that_is_lost_is_caught() {
    let fault = Mutation::OwnRangeLost;
    super::faults::caught(fault, "circles", || run(Isolation::Serializable, 300, Some(fault)));
}

/// A ghost that is settled while its deleter goes on is missed when he takes it back.
#[cfg(feature = "mutations")]
#[test]
fn a_ghost_of_another_that_is_settled_is_caught() {
    let fault = Mutation::AnothersSettled;
    super::faults::caught(fault, "circles", || run(Isolation::Snapshot, 3_000, Some(fault)));
}
