//! The common parts of views of row versions: numbers, and what is kept for which reader.

use crate::cell::big;
use crate::view::System;
use base::{DatabaseId, SqlResult, Xsn};
use database::Database;
use os::clock::monotonic_ns;
use rowstore::KeepReason;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use txn::{Lifetime, OpenSnapshot};
use types::Value;
use work::GhostRule;

/// Shown for transactions that have drawn no number.
pub(crate) const NO_NUMBER: u64 = 0;

/// `transaction_sequence_num`
pub(crate) fn number_of(xsn: Option<Xsn>) -> Value {
    big(xsn.map_or(NO_NUMBER, |xsn| xsn.0))
}

/// Whole seconds since a point of the monotonic clock.
pub(crate) fn elapsed_s(since_ns: u64) -> u64 {
    monotonic_ns().saturating_sub(since_ns) / 1_000_000_000
}

/// The number and size of kept rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct VersionCounts {
    pub(crate) versions: i64,
    pub(crate) bytes: i64,
    /// Ghosts on their leaves.
    pub(crate) ghosts: i64,
    pub(crate) ghost_bytes: i64,
    /// Ghosts in the graveyard.
    pub(crate) buried: i64,
    pub(crate) buried_bytes: i64,
    /// Of the versions those in the database's own store.
    pub(crate) own: i64,
    pub(crate) own_bytes: i64,
    /// Pages of that store.
    pub(crate) pages: i64,
}

impl VersionCounts {
    const fn version(bytes: usize) -> VersionCounts {
        VersionCounts { versions: 1, bytes: bytes as i64, ..VersionCounts::NOTHING }
    }

    const fn buried(bytes: usize) -> VersionCounts {
        VersionCounts { buried: 1, buried_bytes: bytes as i64, ..VersionCounts::NOTHING }
    }

    const fn ghost(bytes: usize) -> VersionCounts {
        VersionCounts { ghosts: 1, ghost_bytes: bytes as i64, ..VersionCounts::NOTHING }
    }

    const fn own(bytes: usize) -> VersionCounts {
        let bytes = bytes as i64;
        VersionCounts { versions: 1, bytes, own: 1, own_bytes: bytes, ..VersionCounts::NOTHING }
    }

    const PAGE: VersionCounts = VersionCounts { pages: 1, ..VersionCounts::NOTHING };

    const NOTHING: VersionCounts = VersionCounts {
        versions: 0,
        bytes: 0,
        ghosts: 0,
        ghost_bytes: 0,
        buried: 0,
        buried_bytes: 0,
        own: 0,
        own_bytes: 0,
        pages: 0,
    };

    fn add(&mut self, other: VersionCounts, times: i64) {
        self.versions += times * other.versions;
        self.bytes += times * other.bytes;
        self.ghosts += times * other.ghosts;
        self.ghost_bytes += times * other.ghost_bytes;
        self.buried += times * other.buried;
        self.buried_bytes += times * other.buried_bytes;
        self.own += times * other.own;
        self.own_bytes += times * other.own_bytes;
        self.pages += times * other.pages;
    }
}

/// What is kept for each of some readers, by database.
pub(crate) struct PinnedVersions {
    /// The readers in the order of their moments.
    readers: Vec<OpenSnapshot>,
    /// By database and position of a reader: the difference to what is kept for the reader before.
    /// So a version costs two entries, however many readers need it.
    steps: BTreeMap<DatabaseId, Vec<VersionCounts>>,
}

impl PinnedVersions {
    fn new(readers: Vec<OpenSnapshot>) -> PinnedVersions {
        debug_assert!(readers.is_sorted_by_key(|r| r.at), "in order");
        PinnedVersions { readers, steps: BTreeMap::new() }
    }

    fn keep(&mut self, database: DatabaseId, lifetime: Lifetime, kept: VersionCounts) {
        let readers = self.readers_of(lifetime);
        self.keep_for(database, readers, kept);
    }

    /// The positions of the readers within a lifetime.
    fn readers_of(&self, lifetime: Lifetime) -> Range<usize> {
        let from = self.readers.partition_point(|r| r.at < lifetime.b);
        let to = self.readers.partition_point(|r| r.at < lifetime.e);
        from..to.max(from)
    }

    /// A page is kept once for each reader that needs any of its versions.
    fn keep_page(&mut self, database: DatabaseId, mut needed_by: Vec<Range<usize>>) {
        needed_by.sort_unstable_by_key(|readers| readers.start);
        let mut counted = 0;
        for readers in needed_by {
            let fresh = readers.start.max(counted)..readers.end;
            counted = counted.max(readers.end);
            self.keep_for(database, fresh, VersionCounts::PAGE);
        }
    }

    fn keep_for(
        &mut self,
        database: DatabaseId,
        Range { start: from, end: to }: Range<usize>,
        kept: VersionCounts,
    ) {
        if from < to {
            let places = self.readers.len() + 1;
            let fresh = || vec![VersionCounts::default(); places];
            let steps = self.steps.entry(database).or_insert_with(fresh);
            steps[from].add(kept, 1);
            steps[to].add(kept, -1);
        }
    }

    /// The readers for which something of a database is kept, with its size.
    pub(crate) fn told(&self) -> Vec<(DatabaseId, OpenSnapshot, VersionCounts)> {
        let mut all = Vec::new();
        for (database, steps) in &self.steps {
            let mut kept = VersionCounts::default();
            for (reader, step) in self.readers.iter().zip(steps) {
                kept.add(*step, 1);
                if kept != VersionCounts::default() {
                    all.push((*database, *reader, kept));
                }
            }
        }
        all
    }
}

/// What is kept, and for which readers.
pub(crate) struct Pins {
    pub(crate) snapshots: PinnedVersions,
    /// Under the rule TRANSACTION: the transactions that have used versions, whether or not they
    /// read, each from the moment of its first use.
    pub(crate) transactions: PinnedVersions,
    pub(crate) writers: BTreeMap<(DatabaseId, Xsn), VersionCounts>,
}

impl Pins {
    fn new(snapshots: Vec<OpenSnapshot>, transactions: Vec<OpenSnapshot>) -> Pins {
        let (snapshots, transactions) =
            (PinnedVersions::new(snapshots), PinnedVersions::new(transactions));
        Pins { snapshots, transactions, writers: BTreeMap::new() }
    }

    /// Reads all stored versions, the ghosts on noted pages, and those in graveyards.
    pub(crate) fn take(system: &System<'_>) -> SqlResult<Pins> {
        let transactions = &system.engine.transactions;
        let mut pins = Pins::new(transactions.snapshots.open(), transactions.users.open());
        let databases: BTreeMap<DatabaseId, _> =
            system.databases.all().into_iter().map(|d| (d.id(), d)).collect();
        rowstore::kept_versions(system.engine, system.waiter, &mut |versions| {
            for version in versions {
                let Some(database) = databases.get(&version.database) else { continue };
                let kept_for = version.kept_for(database.home(), system.engine);
                let kept = VersionCounts::version(version.record.len());
                pins.keep(version.database, kept_for, kept);
            }
            Ok(())
        })?;
        for id in databases.keys() {
            if let Some(held) = system.databases.hold(*id)? {
                pins.take_own(system, &held)?;
            }
        }
        for (id, database) in &databases {
            for sexton in database.home().graveyards().sextons() {
                let mut keep =
                    |of, bytes| pins.snapshots.keep(*id, of, VersionCounts::buried(bytes));
                sexton.tell(system.engine, &mut keep)?;
            }
        }
        for (id, database) in &databases {
            if pins.waits_for_nobody() || database.home().ghosts().count() == 0 {
                continue;
            }
            let Some(held) = system.databases.hold(*id)? else { continue };
            pins.take_ghosts(system, &held)?;
        }
        Ok(pins)
    }

    fn waits_for_nobody(&self) -> bool {
        self.snapshots.readers.is_empty() && self.transactions.readers.is_empty()
    }

    /// Reads the ghosts of a database on their leaves.
    fn take_ghosts(&mut self, system: &System<'_>, database: &Database) -> SqlResult<()> {
        let (id, rule) = (database.id(), system.engine.ghost_rule(database.home()));
        database.ghost_lifetimes(rule, system.waiter, &mut |of, bytes| {
            let ghost = VersionCounts::ghost(bytes);
            self.snapshots.keep(id, of, ghost);
            if rule == GhostRule::Transaction {
                self.transactions.keep(id, of, ghost);
            }
        })
    }

    /// Reads the versions in a database's own store.
    fn take_own(&mut self, system: &System<'_>, database: &Database) -> SqlResult<()> {
        let id = database.id();
        database.own_versions(system.waiter, &mut |_, versions| {
            let (mut readers, mut writers) = (Vec::new(), BTreeSet::new());
            for version in versions {
                let kept_for = version.kept_for(database.home(), system.engine);
                match kept_for {
                    KeepReason::Nobody => {}
                    KeepReason::Writer(xsn) => drop(writers.insert(xsn)),
                    KeepReason::Snapshots(of) => readers.push(self.snapshots.readers_of(of)),
                }
                self.keep(id, kept_for, VersionCounts::own(version.record.len()));
            }
            self.snapshots.keep_page(id, readers);
            for xsn in writers {
                self.keep(id, KeepReason::Writer(xsn), VersionCounts::PAGE);
            }
            Ok(())
        })
    }

    fn keep(&mut self, database: DatabaseId, kept_for: KeepReason, kept: VersionCounts) {
        match kept_for {
            KeepReason::Nobody => {}
            KeepReason::Writer(xsn) => {
                self.writers.entry((database, xsn)).or_default().add(kept, 1)
            }
            KeepReason::Snapshots(lifetime) => self.snapshots.keep(database, lifetime, kept),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use txn::{CommitTime, Reader};

    #[test]
    fn what_is_kept_is_counted_for_each_snapshot_that_lies_within() {
        let open = |at| {
            let (ticket, drawn, by) = (0, Xsn(0), Reader::NOBODY);
            OpenSnapshot { ticket, at: CommitTime(at), drawn, by }
        };
        let points = [3, 5, 5, 8];
        let mut pins = Pins::new(points.map(open).to_vec(), Vec::new());
        let (d, e) = (DatabaseId(5), DatabaseId(6));
        let mut expected = [[VersionCounts::default(); 4]; 2];
        let spans = [(d, 0, 3), (d, 1, 4), (d, 5, 6), (d, 3, 9), (e, 8, 9), (d, 6, 8), (e, 9, 9)];
        for (n, (database, b, until)) in spans.into_iter().enumerate() {
            let lifetime = Lifetime { b: CommitTime(b), e: CommitTime(until) };
            let kept = VersionCounts::version(n + 1);
            pins.keep(database, KeepReason::Snapshots(lifetime), kept);
            for (at, sum) in points.iter().zip(&mut expected[usize::from(database == e)]) {
                if (b..until).contains(at) {
                    sum.add(VersionCounts::version(n + 1), 1);
                }
            }
        }
        pins.keep(e, KeepReason::Writer(Xsn(4)), VersionCounts::version(9));
        pins.keep(e, KeepReason::Nobody, VersionCounts::version(9));
        let told = pins.snapshots.told();
        let all = [(d, expected[0]), (e, expected[1])];
        let wanted = all.iter().flat_map(|(id, kept)| kept.iter().map(move |k| (*id, *k)));
        let wanted: Vec<_> = wanted.filter(|(_, k)| *k != VersionCounts::default()).collect();
        assert_eq!(told.iter().map(|t| (t.0, t.2)).collect::<Vec<_>>(), wanted);
        assert_eq!(pins.writers, BTreeMap::from([((e, Xsn(4)), VersionCounts::version(9))]));
    }

    /// A page counts once for each reader that needs one of its versions, however many it needs.
    #[test]
    fn a_page_is_counted_once_for_each_reader_that_needs_any_of_it() {
        let open = |at| {
            let (ticket, drawn, by) = (0, Xsn(0), Reader::NOBODY);
            OpenSnapshot { ticket, at: CommitTime(at), drawn, by }
        };
        let mut pinned = PinnedVersions::new([1, 2, 3, 4, 5, 6].map(open).to_vec());
        let d = DatabaseId(5);
        pinned.keep_page(d, vec![4..5, 0..2, 1..3, 1..2, 2..2]);
        pinned.keep_page(d, std::iter::once(2..6).collect());
        pinned.keep_page(d, Vec::new());
        let pages: Vec<_> = pinned.told().iter().map(|t| (t.1.at.0, t.2.pages)).collect();
        assert_eq!(pages, [(1, 1), (2, 1), (3, 2), (4, 1), (5, 2), (6, 1)]);
    }
}
