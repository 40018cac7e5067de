//! What DBCC PAGE and page views ask of a hobt: the layout of the entries above its leaves, where
//! an entry leads, and by which name a row of an index is locked.

use crate::hobt::RowHobt;
use base::PageId;
use lock::Resource;
use page::RowLayout;

impl RowHobt {
    /// The columns of an entry above the leaves, the key's in order; none of a heap.
    pub fn interior_layout(&self) -> Option<&RowLayout> {
        self.tree.as_ref().map(btree::Tree::interior_layout)
    }

    /// Where an entry above the leaves leads; none of a heap, and where its bytes make no sense.
    pub fn child_of(&self, entry: &[u8]) -> Option<PageId> {
        self.tree.as_ref()?.child_of(entry)
    }

    /// The lock of a leaf's record; none of a heap, and where its bytes make no sense.
    pub fn key_lock(&self, record: &[u8]) -> Option<Resource> {
        let mut key = btree::KeyBuf::default();
        self.tree.as_ref()?.copy_key(record, &mut key)?;
        Some(self.key_resource(key.fields().as_slice()))
    }
}
