//! The table references of a statement, and the slots of its rows: invariant 2 of the crate.

use catalog::view::{Object, Table, VirtualTable};
use plan::{GetColumn, Slot, TableNo};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A table reference with the columns that were mentioned so far.
pub(crate) struct Reference {
    pub(crate) object: Object,
    /// How many modules were being expanded.
    pub(crate) depth: usize,
    pub(crate) used: BTreeMap<usize, Slot>,
    /// Where the place of its row goes.
    pub(crate) location: Option<Slot>,
    /// Where what tells its row apart goes, besides keys.
    place: Option<Slot>,
}

impl Reference {
    /// The columns that were mentioned.
    pub(crate) fn columns(&self) -> Vec<GetColumn> {
        self.used.iter().map(|(&column, &slot)| GetColumn { column, slot }).collect()
    }
}

/// The table and column that a column of a derived source is, if it is one.
pub(crate) type BaseColumn = Option<(TableNo, usize)>;

/// What `plan::TableNo` counts.
#[derive(Default)]
pub(crate) struct References {
    list: Vec<Reference>,
    /// On a side of an outer join that may be absent.
    nullable: BTreeSet<TableNo>,
    /// What is not NULL beside the rows of such a reference.
    flags: BTreeMap<TableNo, Slot>,
    /// How many slots there are.
    slots: u32,
}

impl References {
    pub(crate) fn new_slot(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }

    /// How many slots there are.
    pub(crate) fn slot_count(&self) -> u32 {
        self.slots
    }

    /// A further reference, within so many modules.
    pub(crate) fn add(&mut self, object: Object, depth: usize) -> TableNo {
        let used = BTreeMap::new();
        self.list.push(Reference { object, depth, used, location: None, place: None });
        TableNo(self.list.len() as u32 - 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Reference> {
        self.list.iter()
    }

    /// The columns of a reference that were mentioned, with their slots.
    pub(crate) fn used(&self, no: TableNo) -> &BTreeMap<usize, Slot> {
        &self.list[no.0 as usize].used
    }

    /// The slot of a column of a reference.
    pub(crate) fn use_column(&mut self, table: TableNo, column: usize) -> Slot {
        if let Some(&slot) = self.list[table.0 as usize].used.get(&column) {
            return slot;
        }
        let slot = self.new_slot();
        self.list[table.0 as usize].used.insert(column, slot);
        slot
    }

    /// The slot of the place of a reference's row.
    pub(crate) fn use_location(&mut self, table: TableNo) -> Slot {
        if let Some(slot) = self.list[table.0 as usize].location {
            return slot;
        }
        let slot = self.new_slot();
        self.list[table.0 as usize].location = Some(slot);
        slot
    }

    /// The slot of what tells a reference's rows apart besides keys.
    pub(crate) fn use_place(&mut self, table: TableNo) -> Slot {
        if let Some(slot) = self.list[table.0 as usize].place {
            return slot;
        }
        let slot = self.new_slot();
        self.list[table.0 as usize].place = Some(slot);
        slot
    }

    pub(crate) fn table(&self, no: TableNo) -> Option<Arc<Table>> {
        match &self.list[no.0 as usize].object {
            Object::Table(t) => Some(Arc::clone(t)),
            Object::Virtual(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Module(_) => {
                None
            }
        }
    }

    pub(crate) fn virtual_table(&self, no: TableNo) -> Option<Arc<VirtualTable>> {
        match &self.list[no.0 as usize].object {
            Object::Virtual(v) => Some(Arc::clone(v)),
            Object::Table(_) | Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) => None,
        }
    }

    /// The table and column that a slot is of, when it is one of a table.
    pub(crate) fn base_column(&self, slot: Slot) -> BaseColumn {
        self.list.iter().enumerate().find_map(|(no, reference)| {
            let Object::Table(_) = reference.object else { return None };
            let column = reference.used.iter().find(|(_, s)| **s == slot)?;
            Some((TableNo(no as u32), *column.0))
        })
    }

    /// An outer join may have no row of a reference.
    pub(crate) fn make_nullable(&mut self, no: TableNo) {
        self.nullable.insert(no);
    }

    /// Whether an outer join may have no row of a reference.
    pub(crate) fn is_nullable(&self, no: TableNo) -> bool {
        self.nullable.contains(&no)
    }

    /// The slot of what is not NULL beside the rows of a reference.
    pub(crate) fn flag(&mut self, no: TableNo) -> Slot {
        if let Some(&slot) = self.flags.get(&no) {
            return slot;
        }
        let slot = self.new_slot();
        self.flags.insert(no, slot);
        slot
    }

    /// The references whose rows are flagged, and where.
    pub(crate) fn flags(&self) -> BTreeMap<TableNo, Slot> {
        self.flags.clone()
    }

    /// What the references are of, at the end.
    pub(crate) fn into_objects(self) -> Vec<Object> {
        self.list.into_iter().map(|r| r.object).collect()
    }
}
