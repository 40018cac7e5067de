//! What views of row versions share: numbers, and for whom what is kept.

use crate::cell::big;
use crate::view::System;
use base::{DatabaseId, SqlResult, Xsn};
use os::clock::monotonic_ns;
use rowstore::KeptFor;
use std::collections::BTreeMap;
use txn::{Lifetime, OpenSnapshot};
use types::Value;

/// Shown of transactions that have drawn no number.
pub(crate) const NO_NUMBER: u64 = 0;

/// `transaction_sequence_num`
pub(crate) fn number_of(xsn: Option<Xsn>) -> Value {
    big(xsn.map_or(NO_NUMBER, |xsn| xsn.0))
}

/// Whole seconds since a point of the monotonic clock.
pub(crate) fn elapsed_s(since_ns: u64) -> u64 {
    monotonic_ns().saturating_sub(since_ns) / 1_000_000_000
}

/// What is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) versions: i64,
    pub(crate) bytes: i64,
    /// On their leaves.
    pub(crate) ghosts: i64,
    /// In the graveyard.
    pub(crate) buried: i64,
    pub(crate) buried_bytes: i64,
}

impl Kept {
    const fn version(bytes: usize) -> Kept {
        Kept { versions: 1, bytes: bytes as i64, ..Kept::NOTHING }
    }

    const fn buried(bytes: usize) -> Kept {
        Kept { buried: 1, buried_bytes: bytes as i64, ..Kept::NOTHING }
    }

    const NOTHING: Kept = Kept { versions: 0, bytes: 0, ghosts: 0, buried: 0, buried_bytes: 0 };
    const GHOST: Kept = Kept { ghosts: 1, ..Kept::NOTHING };

    fn add(&mut self, other: Kept, times: i64) {
        self.versions += times * other.versions;
        self.bytes += times * other.bytes;
        self.ghosts += times * other.ghosts;
        self.buried += times * other.buried;
        self.buried_bytes += times * other.buried_bytes;
    }
}

/// What is kept for each of some snapshots and for each writer, by database.
pub(crate) struct Pins {
    /// In order of their points.
    pub(crate) snapshots: Vec<OpenSnapshot>,
    /// By database and place of a snapshot: by how much more is kept for it than for the one
    /// before. So a version costs two places, however many read it.
    steps: BTreeMap<DatabaseId, Vec<Kept>>,
    pub(crate) writers: BTreeMap<(DatabaseId, Xsn), Kept>,
}

impl Pins {
    pub(crate) fn new(snapshots: Vec<OpenSnapshot>) -> Pins {
        debug_assert!(snapshots.is_sorted_by_key(|s| s.at), "in order");
        Pins { snapshots, steps: BTreeMap::new(), writers: BTreeMap::new() }
    }

    /// Looks at all that is stored, at ghosts on noted pages and at those in graveyards.
    pub(crate) fn take(system: &System<'_>) -> SqlResult<Pins> {
        let mut pins = Pins::new(system.engine.transactions.snapshots.open());
        let databases: BTreeMap<DatabaseId, _> =
            system.databases.all().into_iter().map(|d| (d.id(), d)).collect();
        rowstore::kept_versions(system.engine, system.waiter, &mut |versions| {
            for version in versions {
                let Some(database) = databases.get(&version.database) else { continue };
                let kept_for = version.kept_for(database.home(), system.engine);
                pins.keep(version.database, kept_for, version.record.len());
            }
            Ok(())
        })?;
        for database in databases.values() {
            for sexton in database.home().graveyards().sextons() {
                let id = database.id();
                let mut keep = |of, bytes| pins.keep_between(id, of, Kept::buried(bytes));
                sexton.tell(system.engine, &mut keep)?;
            }
        }
        let noted = |d: &&std::sync::Arc<database::Database>| d.home().ghosts().count() > 0;
        for database in databases.values().filter(noted) {
            if pins.snapshots.is_empty() {
                break;
            }
            let id = database.id();
            let Some(held) = system.databases.hold(id)? else { continue };
            held.ghost_lifetimes(system.waiter, &mut |of| pins.keep_between(id, of, Kept::GHOST))?;
        }
        Ok(pins)
    }

    fn keep(&mut self, database: DatabaseId, kept_for: KeptFor, bytes: usize) {
        let kept = Kept::version(bytes);
        match kept_for {
            KeptFor::Nobody => {}
            KeptFor::Writer(xsn) => self.writers.entry((database, xsn)).or_default().add(kept, 1),
            KeptFor::Snapshots(lifetime) => self.keep_between(database, lifetime, kept),
        }
    }

    fn keep_between(&mut self, database: DatabaseId, lifetime: Lifetime, kept: Kept) {
        let from = self.snapshots.partition_point(|s| s.at < lifetime.b);
        let to = self.snapshots.partition_point(|s| s.at < lifetime.e);
        if from < to {
            let places = self.snapshots.len() + 1;
            let fresh = || vec![Kept::default(); places];
            let steps = self.steps.entry(database).or_insert_with(fresh);
            steps[from].add(kept, 1);
            steps[to].add(kept, -1);
        }
    }

    /// The snapshots for which something of a database is kept, with what it is.
    pub(crate) fn of_snapshots(&self) -> Vec<(DatabaseId, OpenSnapshot, Kept)> {
        let mut all = Vec::new();
        for (database, steps) in &self.steps {
            let mut kept = Kept::default();
            for (snapshot, step) in self.snapshots.iter().zip(steps) {
                kept.add(*step, 1);
                if kept != Kept::default() {
                    all.push((*database, *snapshot, kept));
                }
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use txn::{CommitTime, Reader};

    #[test]
    fn what_is_kept_is_counted_for_each_snapshot_that_lies_within() {
        let open = |at| OpenSnapshot { at: CommitTime(at), by: Reader::NOBODY };
        let points = [3, 5, 5, 8];
        let mut pins = Pins::new(points.map(open).to_vec());
        let (d, e) = (DatabaseId(5), DatabaseId(6));
        let mut expected = [[Kept::default(); 4]; 2];
        let spans = [(d, 0, 3), (d, 1, 4), (d, 5, 6), (d, 3, 9), (e, 8, 9), (d, 6, 8), (e, 9, 9)];
        for (n, (database, b, until)) in spans.into_iter().enumerate() {
            let lifetime = Lifetime { b: CommitTime(b), e: CommitTime(until) };
            pins.keep(database, KeptFor::Snapshots(lifetime), n + 1);
            for (at, sum) in points.iter().zip(&mut expected[usize::from(database == e)]) {
                if (b..until).contains(at) {
                    sum.add(Kept::version(n + 1), 1);
                }
            }
        }
        pins.keep(e, KeptFor::Writer(Xsn(4)), 9);
        pins.keep(e, KeptFor::Nobody, 9);
        let told = pins.of_snapshots();
        let all = [(d, expected[0]), (e, expected[1])];
        let wanted = all.iter().flat_map(|(id, kept)| kept.iter().map(move |k| (*id, *k)));
        let wanted: Vec<_> = wanted.filter(|(_, k)| *k != Kept::default()).collect();
        assert_eq!(told.iter().map(|t| (t.0, t.2)).collect::<Vec<_>>(), wanted);
        assert_eq!(pins.writers, BTreeMap::from([((e, Xsn(4)), Kept::version(9))]));
    }
}
