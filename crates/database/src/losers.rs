//! Which losers are undone before a database is opened, and which while it is in use.
//!
//! Analysis sees which units a loser's records are of. One that has changed rows of tables and
//! nothing else is put off: the database opens with X on those tables (`work/src/losers.rs`), and
//! `instance` runs the undo beside the sessions. All others are undone first, as are all of a
//! database where undo beside others would not be sound:
//!
//! | undone first | because |
//! |---|---|
//! | who made a unit, or changed a system table | definitions are read as they stand |
//! | who changed a unit that no table has | nobody knows what to lock |
//! | all, where an option asks for versions | former rows went with tempdb |
//! | all, in system databases | they are small, and others begin with them |
//! | all, where the data file has a limit | undo may need a page, and then is not refused one |
//! | who cannot be taken over: no log, no lock | beside nobody it needs neither |
//!
//! Of versions: tags of before the start are read as committed, so readers as of a moment would
//! take a loser's row for one.
//!
//! Invariants
//!  1. Nobody but the owner of its table's lock reads a row of a loser that was put off, but who
//!     reads uncommitted rows.
//!  2. A crash in the midst of it, or a stop, leaves what a crash in any rollback leaves: the next
//!     start finds the loser and its compensations.
//!  3. As long as one is left the database is not closed clean, and its log from there on stays.

use crate::database::Database;
use crate::files::DATA_FILE;
use base::{AllocUnitId, ObjectId, SqlError, SqlResult};
use catalog::{FileGrowth, FileOwner, FileSetting, SYSTEM_TABLES};
use os::clock::monotonic_ns;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{Begin, UndoError};
use wal::{Group, Log, RecordFlags, RecordReader, RecordView, TransactionChain, WalError, kinds};
use work::{Loser, Work, WorkError};

/// Numbers up to this one are of system databases.
const SYSTEM_DATABASES: u16 = 4;
/// What undoing a record may write beyond its own length.
const COMPENSATION_BYTES: u64 = 64;

/// What a transaction without an end has done so far.
#[derive(Default)]
struct Deeds {
    /// In order.
    units: Vec<AllocUnitId>,
    undo_bytes: u64,
    defines: bool,
}

/// What transactions do that the log shows, as long as it shows no end of them.
#[derive(Default)]
pub(crate) struct OpenDeeds {
    open: BTreeMap<u32, Deeds>,
    /// Of those that have ended, to be used again: there are as many as were open at a time.
    spare: Vec<Deeds>,
}

impl OpenDeeds {
    /// Takes a record of the log into account.
    pub(crate) fn see(&mut self, record: &RecordView<'_>) {
        let id = record.transaction();
        match record.kind() {
            _ if id == 0 => {}
            kinds::COMMIT | kinds::ABORT => {
                let ended = self.open.remove(&id);
                self.spare.extend(ended.map(Deeds::forgotten));
            }
            kinds::BEGIN | kinds::SAVEPOINT | kinds::PREPARE => {}
            _ => {
                let spare = &mut self.spare;
                let fresh = || spare.pop().unwrap_or_default();
                self.open.entry(id).or_insert_with(fresh).see(record);
            }
        }
    }

    /// Losers that changed nothing but rows of tables, and the others; each oldest first.
    ///
    /// # Errors
    /// A record of theirs that cannot be read.
    pub(crate) fn part(
        mut self,
        log: &Log,
        losers: &[TransactionChain],
    ) -> Result<(Vec<RowLoser>, Losers), WalError> {
        let (mut rows, mut others) = (Vec::new(), Vec::new());
        let mut reader = RecordReader::new(log);
        for chain in losers {
            let deeds = self.open.remove(&chain.id).unwrap_or_default();
            let first = reader.record(chain.first)?;
            let begin = Begin::parse(first.payload()).filter(|_| first.kind() == kinds::BEGIN);
            // Another than that is no log of ours; damage is told before anybody comes.
            let bounded = chain.first >= log.checkpoint().min_lsn;
            match begin {
                Some(begin) if bounded && !deeds.defines && !deeds.units.is_empty() => {
                    let (began_at, name) = (begin.at, begin.name.to_owned());
                    let Deeds { units, undo_bytes, .. } = deeds;
                    let loser = Loser { chain: *chain, began_at, name, undo_bytes };
                    rows.push(RowLoser { loser, units });
                }
                _ => others.push(*chain),
            }
        }
        Ok((rows, others))
    }
}

/// Chains of transactions without an end.
pub(crate) type Losers = Vec<TransactionChain>;

/// A loser that changed nothing but rows of these units.
pub(crate) struct RowLoser {
    loser: Loser,
    units: Vec<AllocUnitId>,
}

impl Deeds {
    fn see(&mut self, record: &RecordView<'_>) {
        if record.flags().has(RecordFlags::COMPENSATION | RecordFlags::REDO_ONLY) {
            return;
        }
        self.undo_bytes += record.bytes.len() as u64 + COMPENSATION_BYTES;
        let unit = record.alloc_unit();
        let makes = space::kinds::RANGE.contains(&record.kind().0);
        if makes || record.page().is_none() {
            self.defines = true;
        } else if let Err(at) = self.units.binary_search(&unit) {
            self.units.insert(at, unit);
            self.defines |= SYSTEM_TABLES.iter().any(|table| table.id.unit() == unit);
        }
    }

    fn forgotten(mut self) -> Deeds {
        self.units.clear();
        Deeds { units: self.units, ..Deeds::default() }
    }
}

/// Losers that have a table in common, directly or by others of them.
struct LoserGroup {
    losers: Vec<Loser>,
    tables: BTreeSet<ObjectId>,
}

/// How losers fared that were put off.
#[derive(Debug, Default)]
pub struct DeferredUndo {
    /// Undone.
    pub undone: usize,
    /// Left to the next start.
    pub left: usize,
    /// Time of it.
    pub undo_ns: u64,
    /// Why some were left, where nobody has stopped it.
    pub error: Option<SqlError>,
}

impl Database {
    /// Whether undo beside others is sound here.
    fn may_put_off(&self) -> bool {
        let options = self.options.read();
        let versioned = options.read_committed_snapshot || options.snapshot_isolation;
        // Undo may need a page: alone it is not refused one for the file's limit.
        let own = self.loaded_files.of(FileOwner::Itself, DATA_FILE);
        let may_not_grow =
            |file: &FileSetting| file.bytes_max.is_some() || file.growth == FileGrowth::Bytes(0);
        if own.is_some_and(may_not_grow) {
            return false;
        }
        self.survives && self.id.0 > SYSTEM_DATABASES && !versioned && !options.optimized_locking
    }

    /// Takes over the losers that can be undone while others are here; the others are given back.
    pub(crate) fn put_off(&self, losers: Vec<RowLoser>) -> Losers {
        if !self.may_put_off() {
            return losers.into_iter().map(|l| l.loser.chain).collect();
        }
        let mut now = Losers::new();
        let mut together: Vec<LoserGroup> = Vec::new();
        for RowLoser { loser, units } in losers {
            match self.tables_of(&units) {
                Some(tables) => join(&mut together, LoserGroup { losers: vec![loser], tables }),
                None => now.push(loser.chain),
            }
        }
        together.sort_unstable_by_key(|t| t.losers[0].chain.first);
        for LoserGroup { losers, tables } in together {
            let engine = &self.env.engine;
            match Work::of_losers(engine, &self.home, &losers, tables.iter().copied()) {
                Ok(work) => self.put_off.lock().push(PutOffWork { work, losers: losers.len() }),
                Err(_) => now.extend(losers.iter().map(|l| l.chain)),
            }
        }
        now
    }

    /// The tables that units are of, if all are known.
    fn tables_of(&self, units: &[AllocUnitId]) -> Option<BTreeSet<ObjectId>> {
        units.iter().map(|unit| Some(self.hobts.open_unit(*unit)?.spec().object)).collect()
    }

    /// Losers whose undo is still to begin.
    pub fn put_off_count(&self) -> usize {
        self.put_off.lock().iter().map(|w| w.losers).sum()
    }

    /// Undoes what was put off, the newest first, while others work here; until the database is
    /// closed. Once.
    pub fn undo_put_off(&self) -> DeferredUndo {
        let from = monotonic_ns();
        let mut report = DeferredUndo::default();
        let goes_on = || self.stopping.check().is_ok();
        loop {
            // Not under the latch: others count meanwhile.
            let next = self.put_off.lock().pop();
            let Some(PutOffWork { mut work, losers }) = next else { break };
            match work.roll_back_while(&goes_on) {
                Ok(()) => report.undone += losers,
                Err(e) => {
                    report.left += losers;
                    if !matches!(e, WorkError::Undo(UndoError::Stopped)) {
                        report.error = Some(e.into_sql(&self.home.name()));
                    }
                }
            }
        }
        report.undo_ns = monotonic_ns().saturating_sub(from);
        if report.undone > 0 {
            self.recovered.store(true, Relaxed);
        }
        report
    }
}

/// A unit of work of some losers.
pub(crate) struct PutOffWork {
    work: Work,
    losers: usize,
}

/// Puts losers to those with whom they have a table in common: oldest first, the oldest group too.
fn join(all: &mut Vec<LoserGroup>, mut one: LoserGroup) {
    let mut apart = Vec::new();
    for mut other in all.drain(..) {
        if other.tables.is_disjoint(&one.tables) {
            apart.push(other);
        } else {
            one.losers.append(&mut other.losers);
            one.tables.append(&mut other.tables);
        }
    }
    one.losers.sort_unstable_by_key(|l| l.chain.first);
    apart.push(one);
    *all = apart;
}

/// Rolls back losers, the newest first, while nobody else is in the database.
pub(crate) fn undo_alone(home: &Arc<work::Home>, losers: &[TransactionChain]) -> SqlResult<usize> {
    let mut losers = losers.to_vec();
    losers.sort_by_key(|l| std::cmp::Reverse(l.last));
    let mut group = Group::new();
    let undo = home.undo();
    for loser in &mut losers {
        let end = base::Lsn::ZERO;
        txn::roll_back(&home.pages, &undo, &mut group, loser, end, false, &|_| true)
            .map_err(|e| WorkError::Undo(e).into_sql(&home.name()))?;
        group.clear();
        let pushed = group.push_plain(kinds::ABORT, loser.id, &[0; 8]);
        assert!(pushed.is_ok(), "an empty group has room for an abort");
        home.log().append(&mut group, loser);
    }
    Ok(losers.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Lsn;

    fn together(first: u64, tables: &[i32]) -> LoserGroup {
        let chain = TransactionChain { first: Lsn(first), ..TransactionChain::default() };
        let loser = Loser { chain, began_at: 0, name: String::new(), undo_bytes: 0 };
        LoserGroup { losers: vec![loser], tables: tables.iter().copied().map(ObjectId).collect() }
    }

    /// Whoever shares a table, also by another loser, is undone by one: both would hold X on it.
    #[test]
    fn losers_that_share_a_table_are_undone_together() {
        let mut all = Vec::new();
        for (first, tables) in [(1, &[1][..]), (2, &[2, 3]), (3, &[4]), (4, &[1, 3]), (5, &[5])] {
            join(&mut all, together(first, tables));
        }
        let firsts = |t: &LoserGroup| t.losers.iter().map(|l| l.chain.first.0).collect::<Vec<_>>();
        let mut found: Vec<_> = all.iter().map(firsts).collect();
        found.sort();
        assert_eq!(found, [vec![1, 2, 4], vec![3], vec![5]]);
    }
}
