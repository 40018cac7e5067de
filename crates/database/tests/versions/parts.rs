//! Parts of transactions are rolled back: to marks, again and again, from the log and by versions.
//! Rows and values are then as they were at the mark, for the transaction itself and, after its
//! end, for everybody; what others read as of an earlier moment stays as it was.
//!
//! Few records are undone from the log here, so that histories draw many numbers. Rows grow and
//! shrink: those of a heap are forwarded, moved again, and come home, within tails and behind them.

use super::*;
use database::SweepRequest;
use work::RECOVERY_VERSIONS;

const KEYS: usize = 24;
const LENGTHS: [usize; 6] = [3, 40, 300, 1500, 3000, 7000];

/// A mark, and what was there when it was taken.
type Point = (Mark, Rows, Rids);

struct Parts {
    world: World,
    rows: Rows,
    rids: Rids,
    points: Vec<Point>,
    /// Numbers that were aborted while their transactions went on.
    nested: usize,
}

impl Parts {
    fn new(kind: IndexKind, seed: u64) -> Parts {
        let world = World::undone_from_log(kind, seed, seed % 9);
        let home = world.db.home();
        home.set_versioning(STATEMENT_VERSIONS | TRANSACTION_VERSIONS | RECOVERY_VERSIONS);
        home.choose_store(true);
        home.set_optimized_locking(seed.is_multiple_of(3));
        let (rows, rids) = (Rows::new(), Rids::new());
        Parts { world, rows, rids, points: Vec::new(), nested: 0 }
    }

    fn change(&mut self) {
        let world = &mut self.world;
        let key = world.draw.below(KEYS) as i32;
        let value = (world.draw.below(250) as u8, LENGTHS[world.draw.below(LENGTHS.len())]);
        if !self.rows.contains_key(&key) {
            let rid = aborted::put(world, key, value);
            self.rids.extend(rid.map(|rid| (key, rid)));
            self.rows.insert(key, value);
        } else if world.draw.below(5) == 0 {
            aborted::change(world, &self.rids, (key, None)).unwrap();
            self.rows.remove(&key);
            self.rids.remove(&key);
        } else {
            aborted::change(world, &self.rids, (key, Some(value))).unwrap();
            self.rows.insert(key, value);
        }
    }

    /// Back to one of the marks; those behind it are gone, and it stays.
    fn go_back(&mut self) {
        if self.points.is_empty() {
            return;
        }
        let to = self.world.draw.below(self.points.len());
        self.points.truncate(to + 1);
        let (mark, rows, rids) = self.points[to].clone();
        let before = self.aborted_parts();
        self.world.sessions[0].work.roll_back_to(&mark).unwrap();
        self.nested += self.aborted_parts().saturating_sub(before);
        (self.rows, self.rids) = (rows, rids);
        self.finds_its_rows();
    }

    fn aborted_parts(&self) -> usize {
        self.world.db.home().aborted().list().iter().filter(|a| a.nested).count()
    }

    fn finds_its_rows(&mut self) {
        let work = &mut self.world.sessions[0].work;
        let plan = LockPlan::read(Isolation::ReadCommitted);
        let mut cursor = self.world.hobt.scan(work, &ScanRange::default(), &plan).unwrap();
        let found = rows_of(&mut *cursor, work).unwrap();
        assert_eq!(found, self.rows, "its own rows");
    }

    fn clean(&mut self) {
        match self.world.draw.below(8) {
            0 => _ = self.world.db.sweep_versions(SweepRequest::ALL, &Waiter::new()).unwrap(),
            1 => _ = self.world.db.checkpoint(false).unwrap(),
            2 => _ = self.world.db.clean_ghosts(None, 20).unwrap(),
            _ => {}
        }
    }

    fn transaction(&mut self) {
        let (rows, rids) = (self.rows.clone(), self.rids.clone());
        let now = self.world.reader.statement_snapshot();
        self.world.sessions[0].work.begin(true, "");
        for _ in 0..3 + self.world.draw.below(25) {
            match self.world.draw.below(6) {
                0 => {
                    let mark = self.world.sessions[0].work.mark();
                    self.points.push((mark, self.rows.clone(), self.rids.clone()));
                }
                1 => self.go_back(),
                _ => self.change(),
            }
            self.clean();
        }
        self.points.clear();
        let as_of = LockPlan { as_of: Some(now.at()), ..LockPlan::read(Isolation::ReadCommitted) };
        assert_eq!(aborted::read(&mut self.world, &as_of, false), rows, "as of before");
        drop(now);
        let work = &mut self.world.sessions[0].work;
        match self.world.draw.below(2) {
            0 => work.commit(CommitMode::Delayed).unwrap(),
            _ => {
                work.roll_back().unwrap();
                (self.rows, self.rids) = (rows, rids);
            }
        }
        let plan = LockPlan::read(Isolation::ReadCommitted);
        assert_eq!(aborted::read(&mut self.world, &plan, false), self.rows, "after its end");
        self.world.committed = self.rows.clone();
    }
}

fn histories(kind: IndexKind, fault: Option<Mutation>) {
    let mut nested = 0;
    for seed in 0..6 * seeds() {
        // The last that is printed is the one that failed.
        println!("seed {seed}");
        let mut parts = Parts::new(kind, seed);
        parts.world.plant(fault);
        for _ in 0..12 {
            parts.transaction();
        }
        nested += parts.nested;
        let Parts { world, .. } = parts;
        let _ = world.db.sweep_versions(SweepRequest::ALL, &Waiter::new()).unwrap();
        assert!(world.db.home().aborted().is_empty(), "a sweep reverts all");
        world.finish();
    }
    println!("{kind:?}: {nested} parts were rolled back by versions");
    assert!(nested > 6 * seeds() as usize, "{nested}");
}

#[test]
fn parts_of_transactions_on_a_clustered_index() {
    histories(IndexKind::Clustered, None);
}

#[test]
fn parts_of_transactions_on_a_nonclustered_index() {
    histories(IndexKind::Nonclustered, None);
}

#[test]
fn parts_of_transactions_on_a_heap() {
    histories(IndexKind::Heap, None);
}

/// What lies behind a mark is undone from the log, or by what was kept of it.
#[cfg(feature = "mutations")]
#[test]
fn a_tail_that_is_not_kept_is_caught() {
    for kind in [IndexKind::Clustered, IndexKind::Nonclustered, IndexKind::Heap] {
        let fault = Mutation::TailUnkept;
        faults::caught(fault, &format!("parts, {kind:?}"), || histories(kind, Some(fault)));
    }
}
