//! Changes records of a leaf that is in a change.
//!
//! Slots come from [`Tree::seek_write`] and stay valid while the leaf is latched; an insert or an
//! expunge moves the slots behind it. Each operation is one log record. If a transaction may have
//! to undo it, the record carries the key, so that undo finds the row even if it has moved.

use crate::error::BtreeResult;
use crate::key::{KeyBuf, SmallBytes};
use crate::kinds::{DROP_FORM, Difference, InRowDifference, MODIFY_FRONT_BYTES, Operation, kind};
use crate::order::Part;
use crate::tree::Tree;
use buffer::{Change, PageRef, Undo};
use page::{
    Field, IN_ROW_BYTES_MAX, InRowVersion, VersionTag, check_drop_in_row, fits, plain_record,
};
use std::cmp::Ordering;

/// Bytes of log that an insert takes at most, its record header included.
pub const fn insert_log_bytes(record_bytes: usize) -> u64 {
    debug_assert!(record_bytes <= crate::RECORD_MAX, "a record fits an empty page");
    28 + record_bytes as u64
}

/// Bytes of log that a ghost or its revival takes at most. `key_bytes` is the spelled key: a byte
/// or three more than each column.
pub const fn ghost_log_bytes(key_bytes: usize) -> u64 {
    debug_assert!(key_bytes <= crate::RECORD_MAX + 3 * crate::ORDER_COLUMNS_MAX, "of a record");
    28 + key_bytes as u64
}

/// Bytes of log that a replacement or patch takes at most.
pub const fn replace_log_bytes(key_bytes: usize, old_bytes: usize, new_bytes: usize) -> u64 {
    debug_assert!(old_bytes <= crate::RECORD_MAX, "a record fits an empty page");
    (28 + MODIFY_FRONT_BYTES + key_bytes + old_bytes + new_bytes) as u64
}

/// Bytes of log that an expunge takes at most.
pub const fn expunge_log_bytes(record_bytes: usize) -> u64 {
    debug_assert!(record_bytes <= crate::RECORD_MAX, "a record fits an empty page");
    28 + record_bytes as u64
}

const fn by_transaction(undo: Undo) -> bool {
    matches!(undo, Undo::By(_) | Undo::ByVersions(_))
}

impl Tree {
    fn fits<T>(&self, change: &Change<'_>, page: PageRef, fit: fits::Fit<T>) -> BtreeResult<T> {
        fit.map_err(|what| self.corrupt(change.id(page), what))
    }

    fn log(
        &self,
        change: &mut Change<'_>,
        (page, slot): (PageRef, u16),
        operation: Operation,
        payload: &[&[u8]],
        undo: Undo,
    ) {
        debug_assert_eq!(change.view(page).level(), 0, "records stand on leaves");
        debug_assert_eq!(change.view(page).alloc_unit(), self.unit.id, "a page of this tree");
        debug_assert!(slot <= change.view(page).slot_count(), "a slot, or the one behind the last");
        let kind = kind(operation, self.context(0));
        change.apply(page, self.unit.id, kind, slot, payload, undo);
    }

    /// Inserts a record, live or a ghost, at the slot where its key belongs.
    /// [`LeafWrite::has_room`] has returned true.
    ///
    /// [`LeafWrite::has_room`]: crate::LeafWrite::has_room
    ///
    /// # Errors
    /// 824, before anything is changed.
    pub fn insert(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        record: &[u8],
        undo: Undo,
    ) -> BtreeResult<()> {
        self.check_insert(change, page, slot, record)?;
        self.insert_checked(change, page, slot, record, undo);
        Ok(())
    }

    /// The same when [`Tree::check_insert`] has succeeded and the leaf has not changed since.
    pub fn insert_checked(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        record: &[u8],
        undo: Undo,
    ) {
        let count = change.view(page).slot_count();
        self.log(change, (page, slot), Operation::Insert, &[record], undo);
        debug_assert_eq!(change.view(page).slot_count(), count + 1, "one record more");
        debug_assert_eq!(change.view(page).record(slot), Some(record), "at the slot of its key");
    }

    /// Whether [`Tree::insert`] would succeed: asked before something else is done in its change.
    ///
    /// # Errors
    /// 824.
    pub fn check_insert(
        &self,
        change: &Change<'_>,
        page: PageRef,
        slot: u16,
        record: &[u8],
    ) -> BtreeResult<()> {
        self.fits(change, page, fits::insert(change.view(page), slot, record))?;
        if cfg!(debug_assertions) && !self.is_between(change, page, slot, record) {
            return Err(self.corrupt(change.id(page), "the slot is not the key's"));
        }
        Ok(())
    }

    /// Whether a record would stand behind the one before the slot and before the one in it.
    fn is_between(&self, change: &Change<'_>, page: PageRef, slot: u16, record: &[u8]) -> bool {
        debug_assert!(slot <= change.view(page).slot_count(), "a slot, or the one behind the last");
        let mut key = crate::KeyFields::default();
        if self.shape.key_of(Part::Leaf, record, &mut key).is_none() {
            return false;
        }
        let order = |slot: u16| {
            let other = change.view(page).record(slot)?;
            self.shape.compare(Part::Leaf, other, key.as_slice())
        };
        let before = slot == 0 || order(slot - 1) == Some(Ordering::Less);
        before && order(slot).is_none_or(|o| o == Ordering::Greater)
    }

    /// Makes a live record a ghost.
    ///
    /// # Errors
    /// 824, before anything is changed.
    pub fn ghost(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        undo: Undo,
    ) -> BtreeResult<()> {
        self.fits(change, page, fits::ghost(change.view(page), slot))?;
        let key = self.undo_key(change, page, slot, undo)?;
        debug_assert_eq!(
            by_transaction(undo),
            !key.is_empty(),
            "rule 10: undo finds it by its key"
        );
        let ghosts = change.view(page).ghost_count();
        self.log(change, (page, slot), Operation::Ghost, &[key.bytes()], undo);
        debug_assert_eq!(change.view(page).ghost_count(), ghosts + 1, "one ghost more");
        Ok(())
    }

    /// Makes a ghost live again.
    ///
    /// # Errors
    /// 824, before anything is changed.
    pub fn unghost(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        undo: Undo,
    ) -> BtreeResult<()> {
        self.fits(change, page, fits::unghost(change.view(page), slot))?;
        let key = self.undo_key(change, page, slot, undo)?;
        debug_assert_eq!(
            by_transaction(undo),
            !key.is_empty(),
            "rule 10: undo finds it by its key"
        );
        let ghosts = change.view(page).ghost_count();
        self.log(change, (page, slot), Operation::Unghost, &[key.bytes()], undo);
        debug_assert_eq!(change.view(page).ghost_count() + 1, ghosts, "one ghost less");
        Ok(())
    }

    /// Takes a record out of the page.
    ///
    /// # Errors
    /// 824, before anything is changed.
    pub fn expunge(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        undo: Undo,
    ) -> BtreeResult<()> {
        let count = change.view(page).slot_count();
        let record = self.fits(change, page, fits::remove(change.view(page), slot))?;
        if by_transaction(undo) {
            let record = SmallBytes::of(record);
            self.log(change, (page, slot), Operation::Expunge, &[record.as_slice()], undo);
        } else {
            self.log(change, (page, slot), Operation::Expunge, &[], undo);
        }
        debug_assert_eq!(change.view(page).slot_count() + 1, count, "one record less");
        Ok(())
    }

    /// The slot of a key on a leaf that is in a change; `None` when it is not there. Only one leaf
    /// can have a given whole key.
    ///
    /// # Errors
    /// 824.
    pub fn slot_in(
        &self,
        change: &Change<'_>,
        page: PageRef,
        key: &[Field<'_>],
    ) -> BtreeResult<Option<u16>> {
        let (id, view) = (change.id(page), change.view(page));
        debug_assert_eq!(view.alloc_unit(), self.unit.id, "a page of this tree");
        debug_assert_eq!(view.level(), 0, "records stand on leaves");
        let slot = self.lower_bound((id, view), Part::Leaf, &self.sought(key), false, 0)?;
        let Some(record) = view.record(slot) else { return Ok(None) };
        let order = self.shape.compare(Part::Leaf, record, key);
        let order = order.ok_or_else(|| self.corrupt(id, fits::NO_KEY))?;
        Ok((order == Ordering::Equal).then_some(slot))
    }

    /// Puts another record with the same key in place of one; logs only the bytes that differ.
    ///
    /// # Errors
    /// 824, before anything is changed.
    pub fn replace(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        record: &[u8],
        undo: Undo,
    ) -> BtreeResult<()> {
        self.fits(change, page, fits::replace(change.view(page), slot, record))?;
        debug_assert!(self.keeps_key(change, page, slot, record), "a key is never replaced");
        let key = self.undo_key(change, page, slot, undo)?;
        let old = change.view(page).record(slot).expect("a record was just found there");
        let between = Difference::between(key.bytes(), old, record);
        let before = SmallBytes::of(between.before);
        let (front, from) = (between.front(), usize::from(between.from));
        let after = &record[from..from + between.after.len()];
        debug_assert_eq!(
            by_transaction(undo),
            !key.is_empty(),
            "rule 10: undo finds it by its key"
        );
        let payload = [&front[..], key.bytes(), before.as_slice(), after];
        self.log(change, (page, slot), Operation::Modify, &payload, undo);
        debug_assert_eq!(change.view(page).record(slot), Some(record), "as it was asked for");
        Ok(())
    }

    /// The same where the record that is replaced stays in the new one, as an in-row version of so
    /// many bytes. `record` has the tag of its writer and no version: that is made where the page
    /// is changed. The log record says so, and has neither the version nor the tags.
    ///
    /// # Errors
    /// 824, before anything is changed.
    ///
    /// # Panics
    /// When the record has no tag.
    pub fn replace_in_row(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        (record, version): (&[u8], usize),
        undo: Undo,
    ) -> BtreeResult<()> {
        let fit = fits::replace_in_row(change.view(page), slot, record, version);
        self.fits(change, page, fit)?;
        debug_assert!(self.keeps_key(change, page, slot, record), "a key is never replaced");
        let key = self.undo_key(change, page, slot, undo)?;
        let old = change.view(page).record(slot).expect("a record was just found there");
        let length = || InRowVersion::length_of(old, record, IN_ROW_BYTES_MAX);
        debug_assert_eq!(length(), Some(version), "room was made for what is left");
        let tags = "the record is not one with a version tag";
        let tag = VersionTag::of(record).expect("who leaves a version says who he is");
        let rows = plain_record(old).zip(plain_record(record)).ok_or(tags);
        let (was, is) = self.fits(change, page, rows)?;
        let difference = Difference::between_parts(key.bytes(), was, is);
        let before = SmallBytes::of(difference.before);
        let was_untagged = !VersionTag::is_on(old);
        let in_row = InRowDifference { difference, writer: tag.writer, was_untagged };
        let fronts = (in_row.front(), difference.front());
        // The status stands apart.
        let from = usize::from(difference.from) - 1;
        let after = &is.1[from..from + difference.after.len()];
        let payload = [&fronts.0[..], &fronts.1, key.bytes(), before.as_slice(), after];
        self.log(change, (page, slot), Operation::ModifyInRow, &payload, undo);
        let now = || change.view(page).record(slot);
        debug_assert_eq!(now().map(<[u8]>::len), Some(record.len() + version), "as it was told");
        debug_assert!(now().is_some_and(|r| VersionTag::differs_only(r, record)), "as asked for");
        Ok(())
    }

    /// Takes in-row versions out of the records of a leaf: `slots` has two bytes for each. No
    /// transaction undoes that.
    ///
    /// # Errors
    /// 824, before anything is changed.
    pub fn drop_in_row(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slots: &[u8],
    ) -> BtreeResult<()> {
        self.fits(change, page, check_drop_in_row(change.view(page), slots))?;
        let payload = [&[DROP_FORM][..], slots];
        self.log(change, (page, 0), Operation::ModifyInRow, &payload, Undo::Never);
        Ok(())
    }

    fn keeps_key(&self, change: &Change<'_>, page: PageRef, slot: u16, record: &[u8]) -> bool {
        debug_assert!(slot < change.view(page).slot_count(), "the slot of a record");
        let mut key = crate::KeyFields::default();
        let old = change.view(page).record(slot);
        self.shape.key_of(Part::Leaf, record, &mut key).is_some()
            && old.is_some_and(|old| {
                self.shape.compare(Part::Leaf, old, key.as_slice()) == Some(Ordering::Equal)
            })
    }

    /// Overwrites bytes of a record, none of them of its key, its status byte or a length.
    ///
    /// # Errors
    /// 824, before anything is changed.
    ///
    /// # Panics
    /// When the bytes are not within the record.
    pub fn patch(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        slot: u16,
        within: usize,
        bytes: &[u8],
        undo: Undo,
    ) -> BtreeResult<()> {
        self.fits(change, page, fits::remove(change.view(page), slot))?;
        let key = self.undo_key(change, page, slot, undo)?;
        let old = change.view(page).record(slot).expect("a record was just found there");
        assert!(within >= 1 && within + bytes.len() <= old.len(), "a patch is within its record");
        let between = Difference {
            status: (old[0], old[0]),
            from: within as u16,
            key: key.bytes(),
            before: &old[within..within + bytes.len()],
            after: bytes,
        };
        let before = SmallBytes::of(between.before);
        let front = between.front();
        debug_assert_eq!(
            by_transaction(undo),
            !key.is_empty(),
            "rule 10: undo finds it by its key"
        );
        let (length, end) = (old.len(), within + bytes.len());
        let payload = [&front[..], key.bytes(), before.as_slice(), bytes];
        self.log(change, (page, slot), Operation::Modify, &payload, undo);
        let now = change.view(page).record(slot);
        debug_assert!(now.is_none_or(|now| now.len() == length), "a patch keeps the length");
        debug_assert!(now.is_none_or(|now| now[within..end] == *bytes), "the bytes are in place");
        Ok(())
    }

    /// The key of a slot's record if a transaction may have to find it again; else nothing.
    fn undo_key(
        &self,
        change: &Change<'_>,
        page: PageRef,
        slot: u16,
        undo: Undo,
    ) -> BtreeResult<KeyBuf> {
        let mut key = KeyBuf::default();
        if by_transaction(undo) {
            let record = change.view(page).record(slot).ok_or(fits::NO_RECORD);
            let record = self.fits(change, page, record)?;
            let copied = self.shape.copy_key(Part::Leaf, record, &mut key);
            self.fits(change, page, copied.ok_or(fits::NO_KEY))?;
        }
        Ok(key)
    }
}
