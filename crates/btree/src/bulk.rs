//! `BulkLoad`: loads sorted records into an empty tree, page by page at the right edge.
//!
//! Each page is a log group: the new leaf is filled, linked and entered into its parent; a full
//! parent is split by appending. So the tree is sound after each group, and a crash leaves the
//! beginning of a load; the index build that was interrupted then drops the unit. With PAD_INDEX, a
//! page above the leaves (the root too) keeps room for later entries once it has two entries.

use crate::error::BtreeResult;
use crate::kinds::{Operation, kind};
use crate::order::{KeyFields, Part};
use crate::split::push_record;
use crate::tree::Tree;
use base::limits::PAGE_BODY_BYTES;
use buffer::{Change, Undo};
use page::fits;
use page::slot_cost;
use std::cmp::Ordering;
use wal::{Group, TransactionChain};

/// Bytes of log that one page of a load takes at most.
pub const BULK_PAGE_LOG_BYTES: u64 = crate::STRUCTURE_LOG_BYTES_MAX;

/// A load in progress. No other thread changes the tree meanwhile.
pub struct BulkLoad<'t> {
    tree: &'t Tree,
    /// Bytes of records and slots that fill a leaf.
    fill: usize,
    /// Bytes that stay free on the pages above.
    spare: usize,
    batch: Vec<u8>,
    batch_cost: usize,
    /// The first record of the batch, whose key becomes the separator.
    first: Vec<u8>,
    last: Vec<u8>,
    pages: u64,
    records: u64,
}

impl<'t> BulkLoad<'t> {
    /// A load into an empty tree: leaves and the pages above them are filled so far, in percent;
    /// 0 is 100.
    pub fn new(tree: &'t Tree, leaf_fill: u8, interior_fill: u8) -> Self {
        assert!(leaf_fill <= 100 && interior_fill <= 100, "a page is filled as far as it goes");
        let bytes = |percent: u8| match percent {
            1..=99 => PAGE_BODY_BYTES * usize::from(percent) / 100,
            _ => PAGE_BODY_BYTES,
        };
        BulkLoad {
            tree,
            fill: bytes(leaf_fill),
            spare: PAGE_BODY_BYTES - bytes(interior_fill),
            batch: Vec::with_capacity(8192),
            batch_cost: 0,
            first: Vec::new(),
            last: Vec::new(),
            pages: 0,
            records: 0,
        }
    }

    /// Adds a record behind all so far. Returns whether that wrote a page, so that the caller can
    /// renew its log reservation ([`BULK_PAGE_LOG_BYTES`] a page).
    ///
    /// # Errors
    /// 823, 824, 701, 1105 or 9002.
    ///
    /// # Panics
    /// When the record is not behind the one before: the caller's sort is wrong.
    pub fn push(&mut self, group: &mut Group, record: &[u8]) -> BtreeResult<bool> {
        assert!(record.len() <= crate::RECORD_MAX, "a record fits an empty page");
        if !self.last.is_empty() {
            let order = self.order_against_last(record);
            assert_eq!(order, Some(Ordering::Greater), "a load is sorted and has no duplicates");
        }
        let cost = slot_cost(record.len());
        let full = self.batch_cost > 0 && self.batch_cost + cost > self.fill;
        if full {
            self.write_page(group)?;
        }
        if self.batch.is_empty() {
            self.first.clear();
            self.first.extend_from_slice(record);
        }
        push_record(&mut self.batch, record);
        self.batch_cost += cost;
        debug_assert!(self.batch_cost <= PAGE_BODY_BYTES, "a batch fits a page");
        self.last.clear();
        self.last.extend_from_slice(record);
        self.records += 1;
        debug_assert!(self.records > self.pages, "no page is written without a record");
        Ok(full)
    }

    fn order_against_last(&self, record: &[u8]) -> Option<Ordering> {
        debug_assert!(!self.last.is_empty(), "there was one before");
        let mut key = KeyFields::default();
        self.tree.shape.key_of(Part::Leaf, &self.last, &mut key)?;
        self.tree.shape.compare(Part::Leaf, record, key.as_slice())
    }

    /// Writes the last page; the number of records loaded.
    ///
    /// # Errors
    /// 823, 824, 701, 1105 or 9002.
    pub fn finish(mut self, group: &mut Group) -> BtreeResult<u64> {
        if !self.batch.is_empty() {
            self.write_page(group)?;
        }
        assert!(self.batch.is_empty() && self.batch_cost == 0, "every record is on a page");
        assert_eq!(self.pages == 0, self.records == 0, "records are on pages");
        Ok(self.records)
    }

    fn write_page(&mut self, group: &mut Group) -> BtreeResult<()> {
        assert!(!self.batch.is_empty() && !self.first.is_empty(), "a page has records");
        let tree = self.tree;
        if self.pages == 0 {
            self.fill_root(group)?;
        } else {
            let mut key = KeyFields::default();
            let found = tree.shape.key_of(Part::Leaf, &self.first, &mut key);
            found.ok_or_else(|| tree.corrupt(tree.root, fits::NO_KEY))?;
            tree.append_page(group, key.as_slice(), &self.batch, self.spare)?;
        }
        self.pages += 1;
        self.batch.clear();
        self.batch_cost = 0;
        Ok(())
    }

    /// The first page goes to the root, which is the only leaf.
    fn fill_root(&self, group: &mut Group) -> BtreeResult<()> {
        let tree = self.tree;
        let root = tree.pages.write(tree.root)?;
        tree.check_page(tree.root, root.view(), 0)?;
        assert_eq!(root.view().slot_count(), 0, "a load begins with an empty tree");
        let mut change = Change::new(&tree.pages, group);
        let root = change.add(root);
        let fill = kind(Operation::InsertMany, tree.context(0));
        change.apply(root, tree.unit.id, fill, 0, &[&self.batch], Undo::Never);
        debug_assert!(change.view(root).slot_count() > 0, "the first records are in the root");
        assert!(change.logged_bytes() as u64 <= BULK_PAGE_LOG_BYTES, "a page has its bound");
        change.finish(&mut TransactionChain::default());
        Ok(())
    }
}
