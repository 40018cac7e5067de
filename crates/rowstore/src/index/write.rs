//! Writes B-trees of rows: insert, update, delete, each as one log group with its begin record.
//!
//! The leaf is latched and the row's lock tried. When the lock must be waited for, the latch is
//! released and the search begins again. A ghost with the key of a new row is revived in place,
//! once its deleter is known to have ended.

use crate::current::CurrentRow;
use crate::error::{RowError, RowResult};
use crate::ghosts::neighbours::Neighbours;
use crate::hobt::RowHobt;
use crate::locking::gap::Gap;
use crate::locking::row::{Attempt, RowLock, key_hash};
use crate::versions::TaggedRecord;
use crate::versions::in_row::ReplacedRecord;
use access::{Deed, InsertOutcome, LockPlan, RowKey, WriteError};
use base::PageId;
use base::limits::RECORD_BYTES_MAX;
use btree::{
    Bias, KeyBuf, KeyFields, LeafPair, LeafWrite, RECORD_MAX, STRUCTURE_LOG_BYTES_MAX, SearchKey,
    SplitPolicy,
};
use buffer::{Change, PageRef};
use lock::{Mode, Resource};
use page::{Field, IN_ROW_BYTES_MAX, VersionTag};
use std::cmp::Ordering;
use txn::Mutation;
use wal::Group;
use work::{CommitTime, Work};

/// How often a move tries to get room for both of its halves at once. They may be on two leaves.
const TRIES_MAX: u8 = 4;

/// How often a row is searched again after room was made for it. Other threads may have used the
/// room. In a damaged tree, a hint may find the row on another leaf than the search from the root.
const ROUNDS_MAX: u32 = 10_000;

/// The result of an insert.
enum PutOutcome {
    /// The row was inserted.
    Done,
    /// A live row has the key.
    Duplicate,
}

/// See [`RowHobt::room_of_row`].
const ROOM_OF_ROW: usize = 8;

impl RowHobt {
    pub(crate) fn key_resource(&self, key: &[Field<'_>]) -> Resource {
        Resource::key(self.home.database, self.spec.hobt, key_hash(self.tree().order(), key))
    }

    pub(crate) fn key_of_record<'a>(&'a self, record: &'a [u8], fields: &mut KeyFields<'a>) {
        let found = self.tree().key_of(record, fields);
        found.expect("a record that was just built has its key");
        let columns = self.tree().order().len();
        debug_assert_eq!(fields.as_slice().len(), columns, "the whole key");
    }

    /// Reserves log for splits, makes room for a record, and leaves the search to the caller, which
    /// calls again if that was not enough. Ghosts that are not needed are removed first.
    pub(crate) fn room_for(
        &self,
        work: &mut Work,
        key: &[Field<'_>],
        bytes: usize,
        policy: SplitPolicy,
    ) -> RowResult<()> {
        assert!(bytes <= 2 * RECORD_MAX, "a record and the growth of another at most");
        let bytes = bytes.min(RECORD_MAX);
        debug_assert_eq!(key.len(), self.tree().order().len(), "a place has a whole key");
        if self.clear_leaf(work, key)? {
            return Ok(());
        }
        #[cfg(feature = "mutations")]
        let policy = match work.engine().transactions.mutations.has(Mutation::GhostsLost) {
            true => SplitPolicy::WithoutGhosts,
            false => policy,
        };
        let part = work.part(&self.home);
        part.reserve(STRUCTURE_LOG_BYTES_MAX as usize)?;
        let ghosts = self.split(&mut part.group, key, bytes, policy)?;
        for page in ghosts.into_iter().flatten() {
            work.ghosts_moved(&self.settler(), page);
        }
        Ok(())
    }

    /// Makes room by a split, and notes the pages with ghosts around the place for the cleaner, as
    /// the split may have moved them. Returns these pages.
    pub(crate) fn split(
        &self,
        group: &mut Group,
        key: &[Field<'_>],
        bytes: usize,
        policy: SplitPolicy,
    ) -> RowResult<[Option<PageId>; 3]> {
        assert!(bytes > 0, "room is made for something");
        self.tree().make_room(group, key, bytes, policy)?;
        let mut around = {
            let leaf = self.tree().seek_write(key)?;
            [leaf.view().prev_page(), leaf.page_id(), leaf.view().next_page()].map(Some)
        };
        // This is checked after the split: a ghost that was noted before it may be on another page
        // now.
        for place in &mut around {
            let Some(page) = place.take().filter(|p| !p.is_none()) else { continue };
            if self.home.pages.read_again(page)?.view().ghost_count() > 0 {
                self.home.ghosts().note(page);
                *place = Some(page);
            }
        }
        Ok(around)
    }

    pub(crate) fn entry_insert(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        plan: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        if self.spec.uniquifier && !self.keeps_uniquifiers() {
            return self.insert_with_uniquifier(work, row, plan);
        }
        debug_assert!(self.is_row(row), "one field a column");
        let mut record = std::mem::take(&mut work.record);
        record.clear();
        self.encode(row, &mut record);
        let fits = self.check_length(&record);
        let put =
            fits.and_then(|()| self.put(work, &record, plan).map_err(|e| self.write_error(e)));
        work.record = record;
        match put? {
            PutOutcome::Done => Ok(InsertOutcome::default()),
            PutOutcome::Duplicate => Err(WriteError::Duplicate),
        }
    }

    fn check_length(&self, record: &[u8]) -> Result<(), WriteError> {
        if record.len() <= RECORD_BYTES_MAX {
            return Ok(());
        }
        Err(WriteError::RowTooLong { bytes: record.len() })
    }

    /// Inserts a row whose key other rows may have: it then gets the next uniquifier of this key.
    fn insert_with_uniquifier(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        plan: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let at = self.uniquifier_at();
        let at = at.expect("only an index that is not unique tells its rows apart");
        let mut record = Vec::new();
        let mut next = self.next_uniquifier(row).map_err(|e| self.write_error(e))?;
        loop {
            let bytes = next.unwrap_or(0).to_le_bytes();
            let mut whole = row.to_vec();
            whole[at] = if next.is_some() { Field::Inline(&bytes) } else { Field::Null };
            self.encode(&whole, &mut record);
            self.check_length(&record)?;
            match self.put(work, &record, plan).map_err(|e| self.write_error(e))? {
                PutOutcome::Done => return Ok(InsertOutcome { rid: None, uniquifier: next }),
                // Another transaction was faster with the same key.
                PutOutcome::Duplicate => next = Some(next.map_or(1, |n| n + 1)),
            }
            if next.is_some_and(|n| n >= u32::MAX >> 1) {
                let partition = self.spec.hobt;
                return Err(WriteError::Sql(base::SqlError::new(
                    base::messages::UNIQUIFIER_OVERFLOW,
                    &[&partition],
                )));
            }
        }
    }

    /// The uniquifier after the last one of a row's declared key; `None` when the key is new.
    fn next_uniquifier(&self, row: &[Field<'_>]) -> RowResult<Option<u32>> {
        let tree = self.tree();
        let declared = &tree.order().columns()[..tree.order().len() - 1];
        debug_assert_eq!(declared.len() + 1, self.spec.key.len(), "all but the uniquifier");
        let prefix: Vec<Field<'_>> = declared.iter().map(|c| row[c.leaf_column]).collect();
        let search = SearchKey { fields: &prefix, bias: Bias::LastAtMost };
        let mut next = None;
        if let Some(last) = tree.seek(search)?
            && tree.compare(last.record(), &prefix) == Some(Ordering::Equal)
        {
            next = Some(self.uniquifier_after(last.record()));
        }
        // A ghost in the graveyard may have the number, and a snapshot may see its row.
        if self.state.graves.may_be_seen(CommitTime(0)) {
            self.state.graves.last_of(tree, &KeyBuf::of(&prefix), &mut |ghost| {
                next = next.max(Some(self.uniquifier_after(ghost)));
            })?;
        }
        Ok(next)
    }

    fn uniquifier_after(&self, record: &[u8]) -> u32 {
        let field = self.uniquifier_at().and_then(|at| self.layout.field(record, at));
        match field {
            Some(Field::Inline(b)) if b.len() == 4 => {
                u32::from_le_bytes([b[0], b[1], b[2], b[3]]).saturating_add(1)
            }
            _ => 1,
        }
    }

    /// Bytes that an append leaves free for each row: with accelerated recovery, what the in-row
    /// version of a column of 4 bytes takes, or of two side by side.
    pub(crate) fn room_of_row(&self) -> usize {
        if self.home.is_accelerated() { ROOM_OF_ROW } else { 0 }
    }

    /// Inserts a record at the place of its key.
    fn put(&self, work: &mut Work, record: &[u8], plan: &LockPlan) -> RowResult<PutOutcome> {
        assert!(record.len() <= RECORD_BYTES_MAX, "the row was made to fit");
        let covered = self.lock_for_change(work, plan)?;
        let tree = self.tree();
        let mut fields = KeyFields::default();
        self.key_of_record(record, &mut fields);
        let key = fields.as_slice();
        let resource = self.key_resource(key);
        let mut new = self.written(work, record)?;
        loop {
            let bytes = new.record.len();
            work.part(&self.home).reserve(2 * bytes + 256)?;
            let leaf = tree.seek_write(key)?;
            let exact = leaf.is_exact();
            if exact && !covered {
                // The record's own spelling of the key is what its owner locked.
                if let Some(ticket) = self.test_present(work, &leaf)? {
                    drop(leaf);
                    self.wait(work, ticket, plan)?;
                    continue;
                }
            }
            let at = (leaf.page_id(), leaf.slot());
            let ghost = match leaf.record().map(|r| self.stands_for_row(r, at)).transpose()? {
                Some(true) => return Ok(PutOutcome::Duplicate),
                Some(false) => true,
                None => false,
            };
            if !leaf.takes(bytes, self.room_of_row()) {
                let wanted = bytes + leaf.left_free(self.room_of_row());
                drop(leaf);
                self.room_for(work, key, wanted, SplitPolicy::Append)?;
                continue;
            }
            let tried = match (covered, ghost) {
                (true, _) => Attempt::Granted,
                // A ghost has the key already: the insert divides no gap.
                (false, true) => self.try_exclusive(work, leaf.page_id(), resource)?,
                (false, false) => self.try_new_key(work, &leaf, resource)?,
            };
            if let Attempt::Wait(ticket) = tried {
                drop(leaf);
                self.wait(work, ticket, plan)?;
                continue;
            }
            debug_assert!(self.holds(work, resource, Mode::X), "what is put is locked");
            if leaf.record().is_some_and(|r| self.is_aborted(r, at)) {
                drop(leaf);
                self.revert_key(work, key)?;
                continue;
            }
            match leaf.record().filter(|_| ghost) {
                Some(record) => {
                    let place = (leaf.page_id(), leaf.slot());
                    self.judge_ghost(work, plan, (record, place), key)?;
                }
                None => self.judge_graves(work, plan, key)?,
            }
            let over = leaf.record().filter(|_| ghost);
            let over = over.map(|ghost| ReplacedRecord::of(ghost, leaf.page_id()));
            if let Some(room) = self.link_to(work, &mut new, over)? {
                drop(leaf);
                work.make_version_room(&self.home, room)?;
                continue;
            }
            self.log_put_entry(work, leaf, &new, ghost)?;
            return Ok(PutOutcome::Done);
        }
    }

    /// Inserts a record at its place, in a log group of its own.
    fn log_put_entry(
        &self,
        work: &mut Work,
        leaf: LeafWrite<'_>,
        new: &TaggedRecord<'_>,
        revives: bool,
    ) -> RowResult<()> {
        let (tree, record) = (self.tree(), &new.record[..]);
        assert_eq!(leaf.is_exact(), revives, "a key is put once, or its ghost is revived");
        assert!(leaf.takes(record.len(), 0), "room was made");
        let at = (leaf.page_id(), leaf.slot());
        let is_row =
            leaf.record().is_some_and(|r| matches!(self.current(r, at), CurrentRow::Row(_)));
        debug_assert!(!is_row, "rule 4: only what is no row is put over");
        let mut beside = self.beside(work, &leaf);
        let session = work.session();
        let xsn = self.drawn(work);
        let part = work.part(&self.home);
        let (undo, begin) = (part.undo_of_row(xsn, self.spec.unit), part.begin());
        let before = part.chain.last;
        let mut change = Change::new(&self.home.pages, &mut part.group);
        begin.log(&mut change, session);
        let (page, slot) = leaf.join(&mut change);
        if revives {
            tree.replace(&mut change, page, slot, record, undo)?;
        } else {
            tree.insert(&mut change, page, slot, record, undo)?;
        }
        beside.expunge(self, &mut change, page, (!revives).then_some(slot));
        let dropped = new.tested.finish();
        change.finish(&mut part.chain);
        debug_assert!(part.chain.last > before, "the change is its transaction's");
        part.logged(2 * record.len());
        self.count_rows(1);
        dropped
    }

    /// Tests whether another transaction holds the row that has the key of a new one.
    fn test_present(
        &self,
        work: &mut Work,
        leaf: &LeafWrite<'_>,
    ) -> RowResult<Option<lock::Ticket>> {
        debug_assert!(leaf.is_exact(), "somebody has the key");
        let Some(record) = leaf.record() else { return Ok(None) };
        let Some(resource) = self.record_resource(record) else { return Ok(None) };
        let at = (record, (leaf.page_id(), leaf.slot()));
        if let Some(ticket) = self.try_writer(work, at, true)? {
            return Ok(Some(ticket));
        }
        Ok(match self.try_row(work, leaf.page_id(), resource, RowLock::Test(Mode::U))? {
            Attempt::Wait(ticket) => Some(ticket),
            Attempt::Granted => None,
        })
    }

    /// The latched leaf of a key whose row is live and locked X; `None` when there is no such row.
    pub(crate) fn row_for_change(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> RowResult<Option<LeafWrite<'_>>> {
        let covered = self.lock_for_change(work, plan)?;
        let RowKey { fields: key, mut hint } = *key;
        debug_assert_eq!(key.len(), self.spec.key.len(), "a row is named by its whole key");
        let tree = self.tree();
        loop {
            let seen = hint.take().and_then(|at| tree.seen_write(key, at.page, at.slot));
            let leaf = match seen {
                Some(leaf) => leaf,
                None => tree.seek_write(key)?,
            };
            let Some(record) = leaf.record() else {
                self.judge_graves(work, plan, key)?;
                drop(leaf);
                tree.check_absent(key)?;
                return Ok(None);
            };
            if !covered {
                let resource = self.record_resource(record);
                let resource = resource.expect("a record that was found by its key has one");
                let at = (record, (leaf.page_id(), leaf.slot()));
                let tried = match self.try_writer(work, at, true)? {
                    Some(ticket) => Attempt::Wait(ticket),
                    None => self.try_exclusive(work, leaf.page_id(), resource)?,
                };
                if let Attempt::Wait(ticket) = tried {
                    drop(leaf);
                    self.wait(work, ticket, plan)?;
                    continue;
                }
            }
            let at = (leaf.page_id(), leaf.slot());
            if leaf.record().is_some_and(|r| self.is_aborted(r, at)) {
                drop(leaf);
                self.revert_key(work, key)?;
                continue;
            }
            let live = leaf.record().is_some_and(|r| self.is_row_to_change(r, at));
            let locked = || {
                let of = leaf.record().and_then(|r| self.record_resource(r));
                of.is_none_or(|of| self.holds(work, of, Mode::X))
            };
            debug_assert!(!live || locked(), "rule 2: locked by the key that stands in the tree");
            if let Some(record) = leaf.record() {
                self.judge(work, plan, (record, (leaf.page_id(), leaf.slot())))?;
            }
            return Ok(live.then_some(leaf));
        }
    }

    pub(crate) fn entry_delete(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> Result<(), WriteError> {
        let done = self.ghost_entry(work, key, plan).map_err(|e| self.write_error(e))?;
        if done { Ok(()) } else { Err(WriteError::Vanished) }
    }

    fn ghost_entry(&self, work: &mut Work, key: &RowKey<'_>, plan: &LockPlan) -> RowResult<bool> {
        self.draw(work)?;
        for _ in 0..ROUNDS_MAX {
            work.part(&self.home).reserve(2048)?;
            let Some(leaf) = self.row_for_change(work, key, plan)? else { return Ok(false) };
            if self.ghost_record(work, leaf, &KeyBuf::of(key.fields))? {
                return Ok(true);
            }
        }
        Err(self.no_room())
    }

    #[cold]
    fn no_room(&self) -> RowError {
        self.home.pages.corrupt(self.tree().root(), "no split makes room for a row").into()
    }

    /// Turns the live record under the latch into a ghost, in a log group of its own. The
    /// transaction's number was drawn before. Returns false when it had to make room first, for
    /// which it released the latch.
    pub(crate) fn ghost_record(
        &self,
        work: &mut Work,
        leaf: LeafWrite<'_>,
        spelled: &KeyBuf,
    ) -> RowResult<bool> {
        let old = leaf.record().expect("a live row becomes a ghost");
        assert!(!page::is_ghost_record(old), "a live row becomes a ghost");
        assert!(leaf.is_exact(), "the row is the key's");
        debug_assert!(!spelled.is_empty(), "rule 3: its deleter finds it by its key");
        // If readers may need the row, the ghost names its deleter and keeps the row's former
        // state.
        let mut tagged = self.drawn(work).map(|_| self.ghost_of(work, old));
        if let Some(ghost) = &mut tagged {
            let bytes = ghost.record.len();
            if !leaf.has_room_to_replace(bytes) {
                drop(leaf);
                self.room_for(work, spelled.fields().as_slice(), bytes, SplitPolicy::Half)?;
                return Ok(false);
            }
            let row = Some(ReplacedRecord::of(old, leaf.page_id()));
            if let Some(room) = self.link_to(work, ghost, row)? {
                drop(leaf);
                work.make_version_room(&self.home, room)?;
                return Ok(false);
            }
        }
        let mut beside = self.beside(work, &leaf);
        let session = work.session();
        let xsn = self.drawn(work);
        let part = work.part(&self.home);
        let (undo, begin) = (part.undo_of_row(xsn, self.spec.unit), part.begin());
        let before = part.chain.last;
        let mut change = Change::new(&self.home.pages, &mut part.group);
        begin.log(&mut change, session);
        let id = leaf.page_id();
        let (page, slot) = leaf.join(&mut change);
        match &tagged {
            Some(ghost) => self.tree().replace(&mut change, page, slot, &ghost.record, undo)?,
            None => self.tree().ghost(&mut change, page, slot, undo)?,
        }
        beside.expunge(self, &mut change, page, None);
        let bytes = change.logged_bytes();
        let dropped = tagged.map_or(Ok(()), |ghost| ghost.tested.finish());
        change.finish(&mut part.chain);
        debug_assert!(part.chain.last > before, "the change is its transaction's");
        part.logged(bytes);
        work.ghosted(&self.settler(), spelled.bytes(), (id, slot));
        self.count_rows(-1);
        self.did(Deed::LeafGhost);
        dropped.map(|()| true)
    }

    pub(crate) fn entry_update(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        row: &[Field<'_>],
        plan: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let mut record = std::mem::take(&mut work.record);
        self.encode(row, &mut record);
        self.check_length(&record)?;
        let mut fields = KeyFields::default();
        self.key_of_record(&record, &mut fields);
        debug_assert_eq!(key.fields.len(), self.spec.key.len(), "a row is named by its whole key");
        let order = self.tree().order().compare_keys(key.fields, fields.as_slice());
        if order == Some(Ordering::Equal) {
            let new = self.written_whole(work, record);
            let mut new = new.map_err(|e| self.write_error(e))?;
            let done = self.replace_row(work, key, &mut new, plan);
            work.record = new.record.into_owned();
            return match done.map_err(|e| self.write_error(e))? {
                true => Ok(self.inserted_of(row)),
                false => Err(WriteError::Vanished),
            };
        }
        if self.spec.uniquifier {
            // The new key may need another uniquifier, so this takes two groups of one transaction.
            self.entry_delete(work, key, plan)?;
            let mut row = row.to_vec();
            if let Some(uniquifier) = self.uniquifier_at().and_then(|at| row.get_mut(at)) {
                *uniquifier = Field::Null;
            }
            let moved = self.insert_with_uniquifier(work, &row, plan);
            self.did_times(Deed::LeafInsert, u64::from(moved.is_ok()));
            return moved;
        }
        let spelled = KeyBuf::of(key.fields);
        let done = self.move_row(work, &spelled, &record, plan);
        match done.map_err(|e| self.write_error(e))? {
            Some(PutOutcome::Done) => Ok(InsertOutcome::default()),
            Some(PutOutcome::Duplicate) => Err(WriteError::Duplicate),
            None => Err(WriteError::Vanished),
        }
    }

    fn inserted_of(&self, row: &[Field<'_>]) -> InsertOutcome {
        let uniquifier = match self.uniquifier_at().and_then(|at| row.get(at)) {
            Some(Field::Inline(b)) if b.len() == 4 => {
                Some(u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            }
            _ => None,
        };
        InsertOutcome { rid: None, uniquifier }
    }

    /// Replaces a row that keeps its key.
    fn replace_row(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        new: &mut TaggedRecord<'_>,
        plan: &LockPlan,
    ) -> RowResult<bool> {
        for _ in 0..ROUNDS_MAX {
            let bytes = new.record.len();
            work.part(&self.home).reserve(3 * bytes + 512 + IN_ROW_BYTES_MAX)?;
            let Some(leaf) = self.row_for_change(work, key, plan)? else { return Ok(false) };
            let old = leaf.record().expect("the row is there");
            if VersionTag::differs_only(old, &new.record) {
                if let Some(resource) = self.record_resource(old) {
                    self.keep_unchanged(work, leaf.page_id(), resource)?;
                }
                return Ok(true);
            }
            if !leaf.has_room_to_replace(bytes) {
                drop(leaf);
                self.room_for(work, key.fields, bytes, SplitPolicy::Half)?;
                continue;
            }
            let room = usize::from(leaf.view().free_count()) + old.len() - bytes;
            let row = ReplacedRecord { record: old, page: leaf.page_id(), room };
            if let Some(room) = self.link_entry_to(work, new, row)? {
                drop(leaf);
                work.make_version_room(&self.home, room)?;
                continue;
            }
            let kept = self.tree().compare(&new.record, key.fields);
            debug_assert_eq!(kept, Some(Ordering::Equal), "the row keeps its key");
            let late = work.engine().transactions.mutations.has(Mutation::FreedLate);
            let mut beside = self.beside(work, &leaf);
            let session = work.session();
            let xsn = self.drawn(work);
            let part = work.part(&self.home);
            let (undo, begin) = (part.undo_of_row(xsn, self.spec.unit), part.begin());
            let before = part.chain.last;
            let mut change = Change::new(&self.home.pages, &mut part.group);
            begin.log(&mut change, session);
            let (page, slot) = leaf.join(&mut change);
            if new.in_row > 0 {
                let record = (&new.record[..], new.in_row);
                self.tree().replace_in_row(&mut change, page, slot, record, undo)?;
            } else {
                self.tree().replace(&mut change, page, slot, &new.record, undo)?;
            }
            beside.expunge(self, &mut change, page, None);
            let bytes = change.logged_bytes();
            assert!(bytes > 0, "what was changed is logged");
            // Its undo logs the two tails, which differ in their tags.
            let undo_bytes = if new.in_row > 0 { 2 * (new.record.len() + new.in_row) } else { 0 };
            let dropped = new.tested.end(change, &mut part.chain, late);
            debug_assert!(part.chain.last > before, "the change is its transaction's");
            part.logged(bytes + undo_bytes);
            self.did(Deed::LeafUpdate);
            return dropped.map(|()| true);
        }
        Err(self.no_room())
    }

    /// Moves a row to another key: its old record becomes a ghost, and the new one is inserted, in
    /// one group. `None` when the row does not exist.
    fn move_row(
        &self,
        work: &mut Work,
        old: &KeyBuf,
        record: &[u8],
        plan: &LockPlan,
    ) -> RowResult<Option<PutOutcome>> {
        assert!(!self.spec.uniquifier, "its new key may need another uniquifier");
        let covered = self.lock_for_change(work, plan)?;
        let mut fields = KeyFields::default();
        self.key_of_record(record, &mut fields);
        let new = fields.as_slice();
        let new_spelled = KeyBuf::of(new);
        let resources = [self.key_resource(old.fields().as_slice()), self.key_resource(new)];
        let (mut put, mut tries) = (self.written(work, record)?, 0);
        loop {
            if tries > TRIES_MAX {
                return self.move_in_two_steps(work, old, record, plan);
            }
            work.part(&self.home).reserve(6 * record.len() + 512)?;
            let old_fields = old.fields();
            let mut pair = LatchedPair::seek(self, old_fields.as_slice(), new)?;
            if !covered {
                match pair.try_locks(self, work, &resources)? {
                    PairLocks::Granted => {}
                    PairLocks::Wait(ticket) => {
                        drop(pair);
                        self.wait(work, ticket, plan)?;
                        continue;
                    }
                    PairLocks::OutOfOrder => {
                        drop(pair);
                        return self.move_in_two_steps(work, old, record, plan);
                    }
                }
            }
            if let Some(is_old) = pair.aborted(self) {
                drop(pair);
                self.revert_key(work, if is_old { old_fields.as_slice() } else { new })?;
                continue;
            }
            pair.judge(self, work, plan, (old, &new_spelled))?;
            let ghost = match pair.rows(self)? {
                (false, _) => return Ok(None),
                (true, Some(true)) => return Ok(Some(PutOutcome::Duplicate)),
                (true, there) => there.is_some(),
            };
            let tagged = pair.old_record().filter(|_| put.xsn.is_some());
            let mut left = tagged.map(|old| self.ghost_of(work, old));
            let left_bytes = left.as_ref().map(|l| l.record.len());
            if let Some((lacks_old, bytes)) = pair.lacks(put.record.len(), left_bytes, ghost) {
                drop(pair);
                let place = if lacks_old { old_fields.as_slice() } else { new };
                self.room_for(work, place, bytes, SplitPolicy::Half)?;
                tries += 1;
                continue;
            }
            debug_assert!(resources.iter().all(|r| self.holds(work, *r, Mode::X)), "both keys");
            if let Some(room) = pair.link(self, work, &mut put, left.as_mut())? {
                drop(pair);
                work.make_version_room(&self.home, room)?;
                // Two long images do not fit one page of the store together.
                tries += TRIES_MAX;
                continue;
            }
            let hint = pair.log(self, work, (&put, left.as_ref()), ghost)?;
            work.ghosted(&self.settler(), old.bytes(), hint);
            return Ok(Some(PutOutcome::Done));
        }
    }
}

impl RowHobt {
    /// Like [`Self::move_row`], in two groups of one transaction.
    fn move_in_two_steps(
        &self,
        work: &mut Work,
        old: &KeyBuf,
        record: &[u8],
        plan: &LockPlan,
    ) -> RowResult<Option<PutOutcome>> {
        assert!(!old.is_empty(), "the row has a key");
        match self.ghost_entry(
            work,
            &RowKey { fields: old.fields().as_slice(), hint: None },
            plan,
        )? {
            true => {
                let put = self.put(work, record, plan)?;
                self.did_times(Deed::LeafInsert, u64::from(matches!(put, PutOutcome::Done)));
                Ok(Some(put))
            }
            false => Ok(None),
        }
    }
}

/// The result of the lock requests of a move.
enum PairLocks {
    Granted,
    Wait(lock::Ticket),
    /// The new key's gap ends on a leaf between the two that are latched.
    OutOfOrder,
}

/// The latched places of an old and a new key.
struct LatchedPair<'t> {
    pair: Option<LeafPair<'t>>,
    old_is_first: bool,
}

impl<'t> LatchedPair<'t> {
    fn seek(hobt: &'t RowHobt, old: &[Field<'_>], new: &[Field<'_>]) -> RowResult<Self> {
        let tree = hobt.tree();
        let order = tree.order().compare_keys(old, new);
        debug_assert_ne!(order, Some(Ordering::Equal), "the row gets another key");
        let old_is_first = order == Some(Ordering::Less);
        let (a, b) = if old_is_first { (old, new) } else { (new, old) };
        let pair = tree.seek_write_pair(a, b)?;
        if let LeafPair::Two(first, second) = &pair {
            assert_ne!(first.page_id(), second.page_id(), "a leaf is latched once");
        }
        Ok(LatchedPair { pair: Some(pair), old_is_first })
    }

    fn pair(&self) -> &LeafPair<'t> {
        self.pair.as_ref().expect("it is taken once, at the end")
    }

    /// Leaf, slot and exactness of the old (`true`) or the new key.
    fn place(&self, old: bool) -> (&LeafWrite<'t>, u16, bool) {
        let first = old == self.old_is_first;
        if let LeafPair::One(leaf, (second, _)) = self.pair() {
            debug_assert!(leaf.slot() <= *second, "the lesser key comes first");
        }
        match self.pair() {
            LeafPair::One(leaf, _) if first => (leaf, leaf.slot(), leaf.is_exact()),
            LeafPair::One(leaf, (slot, exact)) => (leaf, *slot, *exact),
            LeafPair::Two(leaf, _) if first => (leaf, leaf.slot(), leaf.is_exact()),
            LeafPair::Two(_, leaf) => (leaf, leaf.slot(), leaf.is_exact()),
        }
    }

    fn record_at(&self, old: bool) -> Option<&[u8]> {
        let (leaf, slot, exact) = self.place(old);
        debug_assert!(slot <= leaf.view().slot_count(), "a place of the leaf");
        if exact { leaf.view().record(slot) } else { None }
    }

    /// The place of the record of the old or the new key.
    fn at(&self, old: bool) -> (PageId, u16) {
        let (leaf, slot, _) = self.place(old);
        (leaf.page_id(), slot)
    }

    fn old_record(&self) -> Option<&[u8]> {
        self.record_at(true)
    }

    fn new_record(&self) -> Option<&[u8]> {
        self.record_at(false)
    }

    /// Whether the old key has a row that may be changed; and, if a record has the new key, whether
    /// it is a row.
    fn rows(&self, hobt: &RowHobt) -> RowResult<(bool, Option<bool>)> {
        let old = self.old_record().is_some_and(|r| hobt.is_row_to_change(r, self.at(true)));
        let new = self.new_record().map(|r| hobt.stands_for_row(r, self.at(false)));
        Ok((old, new.transpose()?))
    }

    /// Which of the two records is by an aborted transaction: the old (`true`) or the new one.
    fn aborted(&self, hobt: &RowHobt) -> Option<bool> {
        let is_aborted = |old: &bool| {
            self.record_at(*old).is_some_and(|record| hobt.is_aborted(record, self.at(*old)))
        };
        [true, false].into_iter().find(is_aborted)
    }

    /// Refuses the move if another transaction has changed the row since its changer's moment, or
    /// has deleted one with the new key since then.
    fn judge(
        &self,
        hobt: &RowHobt,
        work: &Work,
        plan: &LockPlan,
        (old, new): (&KeyBuf, &KeyBuf),
    ) -> RowResult<()> {
        match self.old_record() {
            Some(record) => hobt.judge(work, plan, (record, self.at(true)))?,
            None => hobt.judge_graves(work, plan, old.fields().as_slice())?,
        }
        match self.new_record() {
            Some(record) => match hobt.stands_for_row(record, self.at(false))? {
                true => Ok(()),
                false => {
                    let ghost = (record, self.at(false));
                    hobt.judge_ghost(work, plan, ghost, new.fields().as_slice())
                }
            },
            None => hobt.judge_graves(work, plan, new.fields().as_slice()),
        }
    }

    /// The leaf without enough room (true: that of the old key), and the length of the record that
    /// needs it. The old row stays as a ghost of length `ghost`, or of its own length.
    fn lacks(&self, bytes: usize, ghost: Option<usize>, replaces: bool) -> Option<(bool, usize)> {
        debug_assert!(!replaces || self.new_record().is_some(), "what is replaced is there");
        let free = |old| usize::from(self.place(old).0.view().free_count());
        let grows = match (ghost, self.old_record()) {
            (Some(ghost), Some(row)) => ghost.saturating_sub(row.len()),
            _ => 0,
        };
        let takes = match self.new_record().filter(|_| replaces) {
            Some(ghost) => bytes.saturating_sub(ghost.len()),
            None => page::slot_cost(bytes),
        };
        let one = matches!(self.pair(), LeafPair::One(..));
        match one {
            true if grows + takes > free(false) => Some((false, bytes + grows)),
            false if takes > free(false) => Some((false, bytes)),
            false if grows > free(true) => Some((true, ghost.unwrap_or_default())),
            true | false => None,
        }
    }

    /// Requests X on both keys, also in the spelling of their present records. For a new key it
    /// tests the gap first.
    fn try_locks(
        &mut self,
        hobt: &RowHobt,
        work: &mut Work,
        resources: &[Resource; 2],
    ) -> RowResult<PairLocks> {
        for (resource, old) in resources.iter().zip([true, false]) {
            let (leaf, slot, _) = self.place(old);
            let page = leaf.page_id();
            if let Some(record) = self.record_at(old)
                && let Some(ticket) = hobt.try_writer(work, (record, (page, slot)), true)?
            {
                return Ok(PairLocks::Wait(ticket));
            }
            let own = self.record_at(old).and_then(|r| hobt.record_resource(r));
            if let Some(own) = own.filter(|own| own != resource)
                && let Attempt::Wait(ticket) = hobt.try_exclusive(work, page, own)?
            {
                return Ok(PairLocks::Wait(ticket));
            }
            let ask = match own {
                Some(_) => RowLock::Long(Mode::X),
                None if old => RowLock::Long(Mode::X),
                None => match self.try_gap(hobt, work)? {
                    None => return Ok(PairLocks::OutOfOrder),
                    Some(Gap::Wait(ticket)) => return Ok(PairLocks::Wait(ticket)),
                    Some(Gap::Open(ask)) => ask,
                },
            };
            if let Attempt::Wait(ticket) = hobt.try_changed(work, page, *resource, ask)? {
                return Ok(PairLocks::Wait(ticket));
            }
        }
        Ok(PairLocks::Granted)
    }

    /// Tests the gap of the new key. The latches of both leaves are held. If the gap reaches beyond
    /// the first leaf, it must end on the second (btree rule 1); otherwise the result is `None`.
    fn try_gap(&self, hobt: &RowHobt, work: &mut Work) -> RowResult<Option<Gap>> {
        debug_assert!(self.new_record().is_none(), "a key that is there divides nothing");
        let (leaf, slot, _) = self.place(false);
        if let LeafPair::Two(first, second) = self.pair()
            && !self.old_is_first
            && slot >= first.view().slot_count()
        {
            assert_eq!(first.page_id(), leaf.page_id(), "the new key is the lesser");
            return match first.next_page() == second.page_id() {
                true => hobt.try_gap(work, second, 0).map(Some),
                false => Ok(None),
            };
        }
        hobt.try_gap(work, leaf, slot).map(Some)
    }

    /// Fills in the tags of the record that is inserted and of the ghost that stays. Returns the
    /// length of an image for which the store has no room.
    fn link(
        &self,
        hobt: &RowHobt,
        work: &mut Work,
        put: &mut TaggedRecord<'_>,
        left: Option<&mut TaggedRecord<'_>>,
    ) -> RowResult<Option<usize>> {
        let place = |record, old| ReplacedRecord::of(record, self.at(old).0);
        let ghost = self.new_record().map(|record| place(record, false));
        let room = hobt.link_to(work, put, ghost)?;
        match left.filter(|_| room.is_none()) {
            Some(left) => {
                let row = self.old_record().map(|record| place(record, true));
                hobt.link_to(work, left, row)
            }
            None => Ok(room),
        }
    }

    /// Logs both halves as one group. Returns the place of the ghost.
    fn log(
        &mut self,
        hobt: &'t RowHobt,
        work: &mut Work,
        (new, left): (&TaggedRecord<'_>, Option<&TaggedRecord<'_>>),
        revives: bool,
    ) -> RowResult<(PageId, u16)> {
        let record = &new.record[..];
        assert!(self.old_record().is_some(), "what moves is there");
        assert_eq!(self.new_record().is_some(), revives, "its new place is free, or a ghost's");
        let left_bytes = left.map(|l| l.record.len());
        assert!(self.lacks(record.len(), left_bytes, revives).is_none(), "room was made");
        let is_row = |record: Option<&[u8]>, old| {
            record.is_some_and(|r| matches!(hobt.current(r, self.at(old)), CurrentRow::Row(_)))
        };
        debug_assert!(is_row(self.old_record(), true), "a live row moves");
        debug_assert!(!is_row(self.new_record(), false), "rule 4: what is no row is put over");
        let (old_leaf, old_slot, _) = self.place(true);
        let old_page = old_leaf.page_id();
        let new_slot = self.place(false).1;
        let [mut beside_old, mut beside_new] = self.beside(hobt, work);
        let session = work.session();
        let xsn = hobt.drawn(work);
        let part = work.part(&hobt.home);
        let (undo, begin) = (part.undo_of_row(xsn, hobt.spec.unit), part.begin());
        let before = part.chain.last;
        let mut change = Change::new(&hobt.home.pages, &mut part.group);
        begin.log(&mut change, session);
        let (old_ref, new_ref) = self.join(&mut change);
        let tree = hobt.tree();
        if !revives {
            tree.check_insert(&change, new_ref, new_slot, record)?;
        }
        match left {
            Some(ghost) => tree.replace(&mut change, old_ref, old_slot, &ghost.record, undo)?,
            None => tree.ghost(&mut change, old_ref, old_slot, undo)?,
        }
        if revives {
            tree.replace(&mut change, new_ref, new_slot, record, undo)?;
        } else {
            tree.insert(&mut change, new_ref, new_slot, record, undo)?;
        }
        let put = (!revives).then_some(new_slot);
        beside_new.expunge(hobt, &mut change, new_ref, put);
        beside_old.expunge(hobt, &mut change, old_ref, None);
        let bytes = change.logged_bytes();
        let dropped = new.tested.finish();
        let dropped_left = left.map_or(Ok(()), |left| left.tested.finish());
        change.finish(&mut part.chain);
        debug_assert!(part.chain.last > before, "the change is its transaction's");
        part.logged(bytes);
        let counts = hobt.state.counts();
        counts.add(Deed::LeafGhost, 1);
        counts.add(Deed::LeafInsert, 1);
        dropped.and(dropped_left).map(|()| (old_page, old_slot))
    }

    /// The neighbouring ghosts to remove at the old key's place and at the new one's. On one leaf
    /// all of them belong to the new one's. The two places themselves are no neighbours.
    fn beside(&self, hobt: &RowHobt, work: &Work) -> [Neighbours; 2] {
        let mut beside = [Neighbours::default(), Neighbours::default()];
        let one = matches!(self.pair(), LeafPair::One(..));
        for old in [false, true] {
            let (leaf, slot, exact) = self.place(old);
            let with = &mut beside[usize::from(one || !old)];
            hobt.beside_slot(work, leaf, (slot, exact), with);
        }
        if one && self.new_record().is_some() {
            beside[1].keep(self.place(false).1);
        }
        beside
    }

    fn join<'s>(&mut self, change: &mut Change<'s>) -> (PageRef, PageRef)
    where
        't: 's,
    {
        match self.pair.take().expect("it is taken once") {
            LeafPair::One(leaf, _) => {
                let (page, _) = leaf.join(change);
                (page, page)
            }
            LeafPair::Two(first, second) => {
                let (a, _) = first.join(change);
                let (b, _) = second.join(change);
                if self.old_is_first { (a, b) } else { (b, a) }
            }
        }
    }
}
