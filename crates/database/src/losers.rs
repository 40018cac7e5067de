//! Which losers are undone before a database is opened, and which while it is in use.
//!
//! Analysis records the units of each loser's log records. The undo of a loser that changed only
//! rows of tables is put off: the database opens with X locks on those tables
//! (`work/src/losers.rs`), and `instance` runs the undo beside the sessions. All others are undone
//! first. So are all losers of a database where undo beside sessions would not be sound:
//!
//! | undone first | because |
//! |---|---|
//! | a loser that made a unit, or changed a system table | definitions are read as they stand |
//! | a loser that changed a unit of no table | it is unknown what to lock |
//! | a small one, with accelerated recovery (`abort_versioned` has the others) | it is soon done |
//! | all, where an option asks for versions | former rows were lost with tempdb |
//! | all, in system databases | they are small, and other databases need them |
//! | all, where the data file has a limit | undo may need a page, and alone it gets one |
//! | a loser that cannot be taken over: no log, no lock | undo alone needs neither |
//!
//! About versions: tags from before the start are read as committed, so readers as of a moment
//! would take a loser's row for a committed one.
//!
//! Invariants
//!  1. Only the owner of its table's lock reads a row of a loser that was put off; so do readers of
//!     uncommitted rows.
//!  2. A crash during the undo, or a stop, leaves the same as a crash in any rollback: the next
//!     start finds the loser and its compensation records.
//!  3. While such a loser remains, the database is not closed cleanly, and its log from there on is
//!     kept.

use crate::database::Database;
use crate::files::DATA_FILE;
use crate::kept_records::{KeptOfLosers, silent_chain};
use base::{AllocUnitId, Lsn, ObjectId, SqlError, SqlResult, Xsn};
use catalog::{FileGrowth, FileOwner, FileSetting, SYSTEM_TABLES};
use os::clock::monotonic_ns;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{
    AbortedTransaction, Begin, EndPayload, KeptRecords, NumberPayload, UndoError, UndoScope,
};
use wal::{Group, Log, RecordFlags, RecordReader, RecordView, TransactionChain, WalError, kinds};
use work::{Loser, Work, WorkError};

/// Numbers up to this one are of system databases.
const SYSTEM_DATABASES: u16 = 4;
/// The log that undoing a record may write beyond the record's own length.
const COMPENSATION_BYTES: u64 = 64;

/// What a transaction without an end record has done so far.
#[derive(Default)]
struct Deeds {
    /// The units in ascending order.
    units: Vec<AllocUnitId>,
    undo_bytes: u64,
    defines: bool,
    /// The numbers in the version tags of its rows, without those of parts that were aborted.
    numbers: Vec<Xsn>,
    /// A part of it was aborted.
    has_aborted: bool,
    /// The first record that versions do not undo.
    log_from: Option<Lsn>,
}

/// What open transactions have done, as far as the log has been read.
#[derive(Default)]
pub(crate) struct OpenDeeds {
    open: BTreeMap<u32, Deeds>,
    /// The objects of ended transactions, to be used again: as many as transactions were open at a
    /// time.
    spare: Vec<Deeds>,
}

impl OpenDeeds {
    /// Processes a record of the log.
    pub(crate) fn see(&mut self, record: &RecordView<'_>) {
        let id = record.transaction();
        match record.kind() {
            _ if id == 0 => {}
            kinds::COMMIT | kinds::ABORT => {
                let ended = self.open.remove(&id);
                self.spare.extend(ended.map(Deeds::forgotten));
            }
            kinds::BEGIN | kinds::SAVEPOINT | kinds::PREPARE => {}
            kinds::VERSION_NUMBER => {
                let number = NumberPayload::parse(record.payload()).map(|n| n.0);
                self.open.entry(id).or_default().numbers.extend(number);
            }
            kinds::PART_ABORTED => self.open.entry(id).or_default().see_part_aborted(record),
            _ => {
                let spare = &mut self.spare;
                let fresh = || spare.pop().unwrap_or_default();
                self.open.entry(id).or_insert_with(fresh).see(record);
            }
        }
    }

    /// Takes the losers whose rows are undone by versions out of the others: those that checkpoints
    /// carried (`open`), as the log before may be gone, and those that have logged more than the
    /// log undoes fast. Small ones stay among the others, up to
    /// `undone_records_max` records in all.
    ///
    /// # Errors
    /// A record of theirs that cannot be read.
    pub(crate) fn take_versioned(
        &mut self,
        (log, undone_records_max): (&Log, u64),
        losers: &mut Losers,
        (mut open, kept): (BTreeMap<u32, Vec<AbortedTransaction>>, &mut KeptOfLosers),
    ) -> Result<Vec<VersionedLoser>, WalError> {
        let mut reader = RecordReader::new(log);
        let (mut versioned, mut records) = (Vec::new(), 0);
        let mut all = std::mem::take(losers);
        all.sort_by_key(|chain| chain.records);
        for chain in all {
            let carried = open.remove(&chain.id).unwrap_or_default();
            let found = self.open.get(&chain.id);
            let numbers = found.map_or(0, |deeds| deeds.numbers.len()) + carried.len();
            let has_parts = numbers > 1 || found.is_some_and(|deeds| deeds.has_aborted);
            let whole = carried.iter().all(|a| chain.first <= a.begin);
            records += chain.records;
            let small = whole && !has_parts && records <= undone_records_max;
            if small || numbers == 0 && !has_parts {
                losers.push(chain);
                continue;
            }
            let deeds = self.open.remove(&chain.id).unwrap_or_default();
            match deeds.aborted(&mut reader, chain, carried)? {
                Some(aborted) => {
                    let (log_from, kept) = (deeds.log_from, kept.remove(&chain.id));
                    versioned.push(VersionedLoser { chain, aborted, log_from, kept });
                }
                // Damage, which is reported where it is undone.
                None => losers.push(chain),
            }
        }
        losers.sort_unstable_by_key(|chain| chain.first);
        // These have logged nothing since.
        let silent = |(id, aborted)| VersionedLoser::silent(id, aborted, kept.remove(&id));
        versioned.extend(open.into_iter().filter_map(silent));
        for (id, kept) in kept {
            if !losers.iter().any(|chain| chain.id == *id) {
                losers.extend(silent_chain(*id, kept));
            }
        }
        Ok(versioned)
    }

    /// Divides losers into those that changed only rows of tables, and the others; each oldest
    /// first.
    ///
    /// # Errors
    /// A record of theirs that cannot be read.
    pub(crate) fn part(
        mut self,
        log: &Log,
        losers: &[TransactionChain],
        kept: &KeptOfLosers,
    ) -> Result<(Vec<RowLoser>, Losers), WalError> {
        let (mut rows, mut others) = (Vec::new(), Vec::new());
        let mut reader = RecordReader::new(log);
        for chain in losers {
            if kept.contains_key(&chain.id) {
                others.push(*chain);
                continue;
            }
            let deeds = self.open.remove(&chain.id).unwrap_or_default();
            let first = reader.record(chain.first)?;
            let begin = Begin::parse(first.payload()).filter(|_| first.kind() == kinds::BEGIN);
            // A chain that begins before the log which the checkpoint keeps is damage. It is
            // reported before the database is in use.
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

/// The chains of transactions without an end record.
pub(crate) type Losers = Vec<TransactionChain>;

/// A loser that changed only rows of these units.
pub(crate) struct RowLoser {
    loser: Loser,
    units: Vec<AllocUnitId>,
}

/// A loser whose rows are undone by versions.
pub(crate) struct VersionedLoser {
    chain: TransactionChain,
    /// With each of its numbers; none where all its parts were aborted before.
    aborted: Vec<AbortedTransaction>,
    /// From where on the log undoes the rest, if there is any.
    log_from: Option<Lsn>,
    /// What was kept of it out of the log before.
    kept: Option<KeptRecords>,
}

impl VersionedLoser {
    /// One that has logged nothing behind the checkpoint.
    fn silent(
        id: u32,
        aborted: Vec<AbortedTransaction>,
        kept: Option<KeptRecords>,
    ) -> Option<VersionedLoser> {
        let first = aborted.first()?.begin;
        let last = kept.as_ref().and_then(KeptRecords::ends).map_or(first, |(_, last)| last);
        let chain = TransactionChain { id, first, last, ..TransactionChain::default() };
        Some(VersionedLoser { chain, aborted, log_from: None, kept })
    }

    /// The scope of what versions do not undo.
    fn unversioned(&self) -> Option<UndoScope<'_>> {
        let kept = self.kept.as_ref();
        let oldest = kept.and_then(KeptRecords::ends).map(|(first, _)| first);
        let from = oldest.or(self.log_from)?;
        Some(UndoScope::unversioned_from(from).with(kept))
    }
}

impl Deeds {
    /// What the aborted map says of a loser, for each of its numbers: which of the units it has
    /// changed under which number is not known. `None` where its begin record makes no sense.
    fn aborted(
        &self,
        reader: &mut RecordReader<'_>,
        chain: TransactionChain,
        carried: Vec<AbortedTransaction>,
    ) -> Result<Option<Vec<AbortedTransaction>>, WalError> {
        let begun = match carried.first() {
            Some(carried) => AbortedTransaction { units: Vec::new(), ..carried.clone() },
            None => {
                let first = reader.record(chain.first)?;
                let begin = Begin::parse(first.payload()).filter(|_| first.kind() == kinds::BEGIN);
                let Some(begin) = begin else { return Ok(None) };
                AbortedTransaction {
                    xsn: Xsn::NONE,
                    id: begin.id,
                    began_at: begin.at,
                    begin: chain.first,
                    end: chain.last,
                    nested: false,
                    units: Vec::new(),
                }
            }
        };
        let known = |xsn: &Xsn| carried.iter().any(|carried| carried.xsn == *xsn);
        let fresh = self
            .numbers
            .iter()
            .copied()
            .filter(|xsn| !known(xsn))
            .map(|xsn| AbortedTransaction { xsn, units: self.units.clone(), ..begun.clone() });
        let fresh: Vec<_> = fresh.collect();
        let carried = carried.into_iter().map(|carried| carried.also_changing(&self.units));
        let mut aborted: Vec<_> = carried.chain(fresh).collect();
        aborted.sort_unstable_by_key(|aborted| aborted.xsn);
        Ok(Some(aborted))
    }

    fn see_part_aborted(&mut self, record: &RecordView<'_>) {
        let front = EndPayload { at: 0 }.bytes().len();
        let stays = record.payload().get(front..).unwrap_or_default();
        if let Some((aborted, _)) = AbortedTransaction::parse(stays, record.lsn) {
            self.numbers.retain(|xsn| *xsn != aborted.xsn);
        }
        self.has_aborted = true;
        self.see(record);
    }

    fn see(&mut self, record: &RecordView<'_>) {
        if record.flags().has(RecordFlags::COMPENSATION) {
            // What is behind the record that is undone next was undone.
            self.log_from = self.log_from.filter(|from| *from <= record.previous());
        }
        if record.flags().has(RecordFlags::COMPENSATION | RecordFlags::REDO_ONLY) {
            return;
        }
        if record.flags().needs_log() {
            self.log_from = self.log_from.or(Some(record.lsn));
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

/// Losers that are connected by common tables.
struct LoserGroup {
    losers: Vec<Loser>,
    tables: BTreeSet<ObjectId>,
}

/// The result of the undo that was put off.
#[derive(Debug, Default)]
pub struct DeferredUndo {
    /// The losers that were undone.
    pub undone: usize,
    /// The losers that remain for the next start.
    pub left: usize,
    /// The duration.
    pub undo_ns: u64,
    /// Why some remain, unless the undo was stopped.
    pub error: Option<SqlError>,
}

impl Database {
    /// Whether undo beside sessions is sound here.
    fn may_put_off(&self) -> bool {
        let options = self.options.read();
        let versioned = options.read_committed_snapshot
            || options.snapshot_isolation
            || options.accelerated_recovery;
        // Undo may need a page. If it runs alone, the file's limit does not apply.
        let own = self.loaded_files.of(FileOwner::Itself, DATA_FILE);
        let may_not_grow =
            |file: &FileSetting| file.bytes_max.is_some() || file.growth == FileGrowth::Bytes(0);
        if own.is_some_and(may_not_grow) {
            return false;
        }
        self.survives && self.id.0 > SYSTEM_DATABASES && !versioned && !options.optimized_locking
    }

    /// Takes over the losers that can be undone beside sessions. Returns the others.
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

    /// The tables of the units, if all are known.
    fn tables_of(&self, units: &[AllocUnitId]) -> Option<BTreeSet<ObjectId>> {
        units.iter().map(|unit| Some(self.hobts.open_unit(*unit)?.spec().object)).collect()
    }

    /// The losers whose undo has not begun yet.
    pub fn put_off_count(&self) -> usize {
        self.put_off.lock().iter().map(|w| w.losers).sum()
    }

    /// Undoes the losers that were put off, the newest first, beside sessions, until the database
    /// is closed. Called once.
    pub fn undo_put_off(&self) -> DeferredUndo {
        let from = monotonic_ns();
        let mut report = DeferredUndo::default();
        let goes_on = || self.stopping.check().is_ok();
        loop {
            // Not under the latch, because other threads count meanwhile.
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

/// The unit of work that undoes some losers.
pub(crate) struct PutOffWork {
    work: Work,
    losers: usize,
}

/// Merges a loser with the groups that share a table with it. Groups and their losers are ordered
/// by age, oldest first.
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

/// Aborts losers whose rows are undone by versions, whatever their size: they enter the aborted
/// map. What versions do not undo is undone first. No session uses the database yet.
pub(crate) fn abort_versioned(
    home: &Arc<work::Home>,
    losers: Vec<VersionedLoser>,
) -> SqlResult<usize> {
    let (mut group, undo, count) = (Group::new(), home.undo(), losers.len());
    for loser in losers {
        let mut chain = loser.chain;
        if let Some(scope) = loser.unversioned() {
            txn::roll_back(&home.pages, &undo, &mut group, &mut chain, scope, &|_| true)
                .map_err(|e| WorkError::Undo(e).into_sql(&home.name()))?;
        }
        let mut aborted = loser.aborted;
        let mut append = |kind, aborted: Option<AbortedTransaction>| {
            let mut payload = EndPayload { at: os::clock::now().0 }.bytes().to_vec();
            aborted.iter().for_each(|aborted| aborted.spell(&mut payload));
            group.clear();
            let pushed = match kind {
                kinds::ABORT => group.push_plain(kind, chain.id, &payload),
                part => group.push_compensation_of(part, chain.id, chain.last, &payload),
            };
            assert!(pushed.is_ok(), "an empty group has room for an abort");
            let end = home.log().append(&mut group, &mut chain).last;
            let aborted = aborted.map(|aborted| AbortedTransaction { end, ..aborted });
            aborted.into_iter().for_each(|aborted| home.enter_aborted_again(aborted));
        };
        let first = (!aborted.is_empty()).then(|| aborted.remove(0));
        // The newest first: what a later number did stands on what an earlier one did.
        for part in aborted.into_iter().rev() {
            append(kinds::PART_ABORTED, Some(AbortedTransaction { nested: true, ..part }));
        }
        append(kinds::ABORT, first);
    }
    Ok(count)
}

/// Rolls back losers, the newest first, while no session uses the database.
pub(crate) fn undo_alone(
    home: &Arc<work::Home>,
    losers: &[TransactionChain],
    kept: &KeptOfLosers,
) -> SqlResult<usize> {
    let mut losers = losers.to_vec();
    losers.sort_by_key(|l| std::cmp::Reverse(l.last));
    let mut group = Group::new();
    let undo = home.undo();
    for loser in &mut losers {
        let scope = UndoScope::ALL.with(kept.get(&loser.id));
        txn::roll_back(&home.pages, &undo, &mut group, loser, scope, &|_| true)
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

    /// One unit of work undoes all losers that share a table, even through another loser, because
    /// each would need X on it.
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
