//! Undo of rows: each logged operation is undone at the place where its row is now.
//!
//! A compensation is one group with the operation that it makes: either both are in the log or
//! none. A row may have moved since (splits); it is found by its key. A row that does not fit its
//! page any more gets room by a split, whose group comes first and undoes nothing.
//!
//! What a transaction did in a unit that it made itself is dropped with the unit. If a crash came
//! before the unit's definition was written, as for an index that is built online, the unit is not
//! known. Undo finds that out at its first record, and remembers it for the others.

use crate::error::{RowError, RowResult};
use crate::hobt::RowHobt;
use access::{Deed, HobtDirectory};
use base::AllocUnitId;
use btree::{KeyFields, LeafWrite, LoggedChange, SplitPolicy};
use buffer::{Change, PageRef};
use os::sync::Mutex;
use space::AllocUnit;
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use txn::{UndoContext, UndoError, UndoHandler};
use wal::{RecordFlags, RecordReader, RecordView};
use work::{Engine, Home};

/// Undoes what rows' transactions did, in trees, heaps and to allocation units.
///
/// The home owns its undo handlers and the directory owns the home: what leads back is weak, so
/// that a database which is closed leaves memory.
pub struct RowUndo {
    home: Weak<Home>,
    directory: Weak<dyn HobtDirectory>,
    engine: Arc<Engine>,
    /// Units that are not known, made by transactions that are undone, until those come to that.
    unknown: Mutex<BTreeSet<(u32, AllocUnitId)>>,
}

impl RowUndo {
    /// The undo handler of a database, which finds hobts through a directory.
    pub fn new(home: &Arc<Home>, directory: &Arc<dyn HobtDirectory>, engine: &Arc<Engine>) -> Self {
        let (home, directory) = (Arc::downgrade(home), Arc::downgrade(directory));
        RowUndo { home, directory, engine: Arc::clone(engine), unknown: Mutex::default() }
    }

    fn home(&self) -> Arc<Home> {
        self.home.upgrade().expect("whoever undoes holds the home, which gave it this handler")
    }

    fn directory(&self, record: &RecordView<'_>) -> Result<Arc<dyn HobtDirectory>, UndoError> {
        let gone = || UndoError::Lost(record.lsn, "its database is closed");
        self.directory.upgrade().ok_or_else(gone)
    }

    /// A unit was made by the transaction: everything in it goes back. Its hobt's definition is
    /// gone already, since that was written later and undone before.
    fn undo_create(
        &self,
        directory: &dyn HobtDirectory,
        record: &RecordView<'_>,
        cx: &mut UndoContext<'_>,
    ) -> RowResult<bool> {
        let home = self.home();
        let Some(first_iam) = record.page() else { return Ok(false) };
        let unit = AllocUnit::open(record.alloc_unit(), first_iam);
        directory.undone(unit.id);
        self.unknown.lock().remove(&(cx.chain.id, unit.id));
        // The drop first: a crash after it repeats the drop, which frees what is left.
        if home.space.unit_exists(&unit)? {
            home.space.undo_unit(&unit)?;
        }
        self.note_undone(cx);
        Ok(true)
    }

    /// Logs that a record is dealt with, where its undo changes no page by itself.
    fn note_undone(&self, cx: &mut UndoContext<'_>) {
        let compensates = matches!(cx.undo, buffer::Undo::Compensation { .. });
        assert!(compensates, "what undoes is not undone");
        let next = match cx.undo {
            buffer::Undo::Compensation { next, .. } => next,
            _ => base::Lsn::ZERO,
        };
        cx.group.clear();
        let pushed = cx.group.push_compensation(cx.chain.id, next);
        assert!(pushed.is_ok(), "an empty group has room");
        let before = cx.chain.last;
        self.home().log().append(cx.group, cx.chain);
        assert!(cx.chain.last > before, "the chain has its compensation");
    }

    /// Whether a record's unit was found to be one of [`RowUndo::made_before`] already.
    fn is_unknown(&self, record: &RecordView<'_>, cx: &UndoContext<'_>) -> bool {
        self.unknown.lock().contains(&(cx.chain.id, record.alloc_unit()))
    }

    /// Whether the transaction of a record made the record's unit before it: then the rows go with
    /// the unit. Its definition may never have been written.
    fn made_before(&self, record: &RecordView<'_>) -> Result<bool, UndoError> {
        let home = self.home();
        let mut records = RecordReader::new(home.log());
        let mut at = record.previous();
        while at > base::Lsn::ZERO {
            let view = records.record(at)?;
            let skip = view.flags().has(RecordFlags::COMPENSATION);
            let makes = space::kinds::RANGE.contains(&view.kind().0);
            if !skip && makes && view.alloc_unit() == record.alloc_unit() {
                return Ok(true);
            }
            if view.previous() >= at {
                return Err(UndoError::Lost(at, "the transaction's chain does not go back"));
            }
            at = view.previous();
        }
        Ok(false)
    }
}

fn undo_error(record: &RecordView<'_>, e: RowError) -> UndoError {
    match e {
        RowError::Buffer(e) => UndoError::Buffer(e),
        RowError::Log(e) => UndoError::Log(e),
        RowError::Btree(_) => UndoError::Lost(record.lsn, "the tree is damaged or full"),
        RowError::Space(_) => UndoError::Lost(record.lsn, "no space for its undo"),
        RowError::Lock(_) => UndoError::Lost(record.lsn, "undo takes no locks"),
        RowError::Cancelled(_) => UndoError::Lost(record.lsn, "undo is not cancelled"),
        RowError::Version(_) => UndoError::Lost(record.lsn, "the version store is damaged"),
        RowError::Conflict => UndoError::Lost(record.lsn, "undo is nobody's conflict"),
        RowError::NotKept | RowError::Victim => UndoError::Lost(record.lsn, "undo reads as of now"),
        RowError::Sql(_) => UndoError::Lost(record.lsn, "undo draws no numbers"),
    }
}

/// Log of one run of compensations, about: a longer group may not fit the block that is open, and
/// waste what is left of it.
const RUN_BYTES: usize = 4 << 10;

impl UndoHandler for RowUndo {
    fn undo_run(
        &self,
        records: &[RecordView<'_>],
        cx: &mut UndoContext<'_>,
    ) -> Result<usize, UndoError> {
        let first = records.first().expect("a run has a record");
        let row_of_tree = !crate::HEAP_KINDS.contains(&first.kind().0)
            && !space::kinds::RANGE.contains(&first.kind().0);
        if records.len() > 1 && row_of_tree && !self.is_unknown(first, cx) {
            let hobt = self.directory(first)?.by_unit(first.alloc_unit());
            let hobt = hobt.as_deref().and_then(RowHobt::of);
            let run = hobt.map(|hobt| hobt.undo_replaces(&self.engine, records, cx));
            match run.unwrap_or(Ok(0)) {
                Ok(0) => {}
                Ok(count) => return Ok(count),
                Err(e) => return Err(undo_error(first, e)),
            }
        }
        self.undo(first, cx).map(|()| 1)
    }

    fn undo(&self, record: &RecordView<'_>, cx: &mut UndoContext<'_>) -> Result<(), UndoError> {
        let undoes = record.flags().has(RecordFlags::COMPENSATION);
        assert!(!undoes, "a compensation is not undone");
        let directory = self.directory(record)?;
        if space::kinds::RANGE.contains(&record.kind().0) {
            return match self.undo_create(&*directory, record, cx) {
                Ok(true) => Ok(()),
                Ok(false) => Err(UndoError::Lost(record.lsn, "it names no page")),
                Err(e) => Err(undo_error(record, e)),
            };
        }
        if self.is_unknown(record, cx) {
            self.note_undone(cx);
            return Ok(());
        }
        let Some(hobt) = directory.by_unit(record.alloc_unit()) else {
            if !self.made_before(record)? {
                return Err(UndoError::Lost(record.lsn, "its heap or index is not known"));
            }
            self.unknown.lock().insert((cx.chain.id, record.alloc_unit()));
            self.note_undone(cx);
            return Ok(());
        };
        let other = || UndoError::Lost(record.lsn, "its heap or index is of another format");
        let hobt = RowHobt::of(&*hobt).ok_or_else(other)?;
        assert_eq!(hobt.spec.unit, record.alloc_unit(), "the directory finds a unit's own hobt");
        let done = if crate::HEAP_KINDS.contains(&record.kind().0) {
            hobt.undo_heap(&self.engine, record, cx)
        } else {
            match btree::logged(record) {
                Some(logged) => hobt.undo_entry(&self.engine, &logged, cx),
                None => return Err(UndoError::Lost(record.lsn, "its bytes make no sense")),
            }
        };
        match done {
            Ok(true) => Ok(()),
            Ok(false) => Err(UndoError::Lost(record.lsn, "its row is not there")),
            Err(e) => Err(undo_error(record, e)),
        }
    }
}

/// A version of a change that is undone, and the change's number.
pub(crate) type TakenVersion = (version::VersionPtr, base::Xsn);

/// Frees versions of changes that were undone, behind the compensations in the log: a crash in
/// between must not leave a change without its version, by which recovery may undo it. What cannot
/// be freed is left to the store's reclaimer.
pub(crate) fn free_taken(home: &Home, taken: impl IntoIterator<Item = TakenVersion>) {
    for (place, superseder) in taken {
        let _ = home.version_stores().free(place, superseder);
    }
}

impl RowHobt {
    /// Takes back what an entry's or row's operation did; false when the row is not there.
    fn undo_entry(
        &self,
        engine: &Engine,
        logged: &LoggedChange<'_>,
        cx: &mut UndoContext<'_>,
    ) -> RowResult<bool> {
        let mut key = KeyFields::default();
        let parsed = match logged {
            LoggedChange::Insert { record } | LoggedChange::Expunge { record } => {
                self.tree().key_of(record, &mut key)
            }
            LoggedChange::Ghost { key: k } | LoggedChange::Unghost { key: k } => {
                btree::key_fields(k).map(|k| key = k)
            }
            LoggedChange::Modify(_) | LoggedChange::ModifyInRow(_) => {
                logged.replaced_key().and_then(btree::key_fields).map(|k| key = k)
            }
            LoggedChange::Structure => None,
        };
        if parsed.is_none() || key.as_slice().len() != self.tree().order().len() {
            return Ok(false);
        }
        match logged {
            LoggedChange::Insert { .. } => self.undo_insert(key.as_slice(), cx),
            LoggedChange::Ghost { .. } => self.undo_kind(key.as_slice(), true, cx),
            LoggedChange::Unghost { .. } => self.undo_kind(key.as_slice(), false, cx),
            LoggedChange::Modify(_) | LoggedChange::ModifyInRow(_) => {
                let mut out = Vec::new();
                self.undo_replace(engine, key.as_slice(), cx, &mut |now| {
                    logged.restore(now, &mut out).then(|| out.clone())
                })
            }
            LoggedChange::Expunge { .. } | LoggedChange::Structure => Ok(false),
        }
    }

    /// The leaf of a key whose record is to be undone. What a later part of the transaction wrote
    /// there, which was aborted, is reverted first.
    fn leaf_to_undo(&self, key: &[page::Field<'_>]) -> RowResult<LeafWrite<'_>> {
        loop {
            let leaf = self.tree().seek_write(key)?;
            let at = (leaf.page_id(), leaf.slot());
            if !leaf.record().is_some_and(|record| self.is_aborted(record, at)) {
                return Ok(leaf);
            }
            drop(leaf);
            self.revert_key_for_undo(key)?;
        }
    }

    /// Takes an inserted row out.
    fn undo_insert(&self, key: &[page::Field<'_>], cx: &mut UndoContext<'_>) -> RowResult<bool> {
        let tree = self.tree();
        let leaf = self.leaf_to_undo(key)?;
        if leaf.record().is_none() {
            return Ok(false);
        }
        let empties = leaf.view().slot_count() == 1 && leaf.page_id() != tree.root();
        let before = cx.chain.last;
        let mut change = Change::new(cx.pages, cx.group);
        let (page, slot) = leaf.join(&mut change);
        if cx.keeps_keys {
            // Its own lock may guard the gap below (locking/gap.rs, invariant 2).
            let id = change.id(page);
            tree.ghost(&mut change, page, slot, cx.undo)?;
            change.finish(cx.chain);
            debug_assert!(cx.chain.last > before, "the chain has its compensation");
            self.count_rows(-1);
            self.home.ghosts().note(id);
            return Ok(true);
        }
        tree.expunge(&mut change, page, slot, cx.undo)?;
        change.finish(cx.chain);
        debug_assert!(cx.chain.last > before, "the chain has its compensation");
        self.count_rows(-1);
        self.did(Deed::LeafDelete);
        if empties {
            // An empty leaf is sound; it does no harm that it could not be freed now.
            let _ = tree.free_if_empty(cx.group, key);
        }
        Ok(true)
    }

    fn undo_kind(
        &self,
        key: &[page::Field<'_>],
        revive: bool,
        cx: &mut UndoContext<'_>,
    ) -> RowResult<bool> {
        let tree = self.tree();
        let leaf = self.leaf_to_undo(key)?;
        if leaf.record().is_none_or(|r| page::is_ghost_record(r) != revive) {
            return Ok(false);
        }
        let before = cx.chain.last;
        let mut change = Change::new(cx.pages, cx.group);
        let (page, slot) = leaf.join(&mut change);
        if revive {
            tree.unghost(&mut change, page, slot, cx.undo)?;
        } else {
            self.home.ghosts().note(change.id(page));
            tree.ghost(&mut change, page, slot, cx.undo)?;
        }
        change.finish(cx.chain);
        debug_assert!(cx.chain.last > before, "the chain has its compensation");
        self.count_rows(if revive { 1 } else { -1 });
        Ok(true)
    }

    /// Puts back what was there before, of as many rows in a row as are on one leaf now and were
    /// replaced: one search from the root, one latch, one group. How many; 0 where the first is
    /// something else, or has no room.
    fn undo_replaces(
        &self,
        engine: &Engine,
        records: &[RecordView<'_>],
        cx: &mut UndoContext<'_>,
    ) -> RowResult<usize> {
        let tree = self.tree();
        let Some(first) = records.first().and_then(|r| self.replaced(r)) else { return Ok(0) };
        let before = cx.chain.last;
        let leaf = tree.seek_write(first.1.as_slice())?;
        let mut change = Change::new(cx.pages, cx.group);
        let (page, _) = leaf.join(&mut change);
        let (mut count, mut rows, mut old, mut taken) = (0, 0, Vec::new(), Vec::new());
        for record in records {
            let next = record.previous();
            let undo = buffer::Undo::Compensation { transaction: cx.chain.id, next };
            let undone = self.put_back(engine, &mut change, page, (record, undo), &mut old);
            match undone {
                Ok(Some((more, of))) => {
                    rows += more;
                    taken.extend(of);
                }
                // The next call begins with it, and tells what is wrong.
                Ok(None) | Err(_) if count > 0 => break,
                Ok(None) => return Ok(0),
                Err(e) => return Err(e),
            }
            count += 1;
            if change.logged_bytes() > RUN_BYTES {
                break;
            }
        }
        change.finish_then(cx.chain, || free_taken(&self.home, taken));
        debug_assert!(cx.chain.last > before, "the chain has its compensations");
        self.count_rows(rows);
        Ok(count)
    }

    /// What a replacement said, and the key of its row.
    fn replaced<'r>(&self, record: &RecordView<'r>) -> Option<(LoggedChange<'r>, KeyFields<'r>)> {
        let logged = btree::logged(record)?;
        let key = btree::key_fields(logged.replaced_key()?)?;
        (key.as_slice().len() == self.tree().order().len()).then_some((logged, key))
    }

    /// Puts back one row of a leaf that is in the change; how many rows more there are then, and
    /// the version to be freed. `None`, and nothing has changed, where it is not there as it was
    /// left, or has no room.
    fn put_back(
        &self,
        engine: &Engine,
        change: &mut Change<'_>,
        page: PageRef,
        (record, undo): (&RecordView<'_>, buffer::Undo),
        old: &mut Vec<u8>,
    ) -> RowResult<Option<(i64, Option<TakenVersion>)>> {
        let Some((logged, key)) = self.replaced(record) else { return Ok(None) };
        let Some(slot) = self.tree().slot_in(change, page, key.as_slice())? else {
            return Ok(None);
        };
        let view = change.view(page);
        let now = view.record(slot).expect("the slot of a key has a record");
        if self.is_aborted(now, (change.id(page), slot)) {
            return Ok(None);
        }
        if !logged.restore(now, old) {
            return Ok(None);
        }
        let taken = self.retake(engine, now, old)?;
        if old.len() > now.len() + usize::from(view.free_count()) {
            return Ok(None);
        }
        let was_ghost = page::is_ghost_record(now);
        let is_ghost = page::is_ghost_record(old);
        if is_ghost {
            self.home.ghosts().note(change.id(page));
        }
        self.tree().replace(change, page, slot, old, undo)?;
        Ok(Some((i64::from(was_ghost) - i64::from(is_ghost), taken)))
    }

    fn undo_replace(
        &self,
        engine: &Engine,
        key: &[page::Field<'_>],
        cx: &mut UndoContext<'_>,
        former: &mut dyn FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> RowResult<bool> {
        let tree = self.tree();
        loop {
            let leaf = self.leaf_to_undo(key)?;
            let Some(now) = leaf.record() else { return Ok(false) };
            let was_ghost = page::is_ghost_record(now);
            let Some(mut old) = former(now) else { return Ok(false) };
            let taken = self.retake(engine, now, &mut old)?;
            if leaf.has_room_to_replace(old.len()) {
                let is_ghost = page::is_ghost_record(&old);
                let before = cx.chain.last;
                let mut change = Change::new(cx.pages, cx.group);
                let (page, slot) = leaf.join(&mut change);
                if is_ghost {
                    self.home.ghosts().note(change.id(page));
                }
                tree.replace(&mut change, page, slot, &old, cx.undo)?;
                change.finish_then(cx.chain, || free_taken(&self.home, taken));
                debug_assert!(cx.chain.last > before, "the chain has its compensation");
                self.count_rows(i64::from(was_ghost) - i64::from(is_ghost));
                return Ok(true);
            }
            drop(leaf);
            let _ = self.split(cx.group, key, old.len(), SplitPolicy::Half)?;
        }
    }
}
