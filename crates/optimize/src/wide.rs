//! Which indexes a change leaves for later, each to be changed by itself in the order of its key.
//!
//! A row at a time, the entries of an index lie anywhere in it. That costs nothing while its pages
//! are in memory; where all that is changed does not fit, each entry reads a page and writes
//! another to make room. Kept and sorted, the entries touch each page once.
//!
//! Rules
//!  1. All of a statement's rows are changed at once where one row can be skipped for an index
//!     (IGNORE_DUP_KEY), and where a function of the user may look at the table in between.
//!  2. MERGE and the rows of OUTPUT INTO are changed row by row.
//!  3. Among equal keys what goes comes before what comes: the sort says so.

use crate::convert::{Cardinality, Optimizer};
use crate::node::Node;
use plan::{
    ChangedId, ChangedRows, Delete, EntryField, EntryWork, Estimate, FollowUpId, IndexChange,
    IndexTarget, Insert, KeptSlots, Logical, OldRow, Physical, Place, Slot, Sort, SortKey, Split,
    SplitColumn, Target, Update, WideChange,
};
use std::collections::BTreeSet;
use types::{Collation, SqlType};

/// Rows for which nothing is worth a thought.
const FEW_ROWS: f64 = 100.0;
/// Bytes of a page that rows fill, and what a row takes beside its values.
const PAGE_BYTES: f64 = 8_096.0;
const ENTRY_BYTES: f64 = 11.0;

/// Where a change has its rows.
struct Rows<'r> {
    old: Option<&'r OldRow>,
    new: Option<OldRow>,
    place: Place,
}

impl Optimizer<'_> {
    pub(crate) fn widen_insert(&mut self, i: &mut Insert<Logical>, node: &Node) {
        let Some(chosen) = self.chosen(&i.target, node, true) else { return };
        let columns = i.columns.iter().map(|c| Some(c.slot)).collect();
        let place = self.new_place(&i.target);
        let rows = Rows { old: None, new: Some(new_row(columns, place)), place };
        self.widen(&mut i.target, &rows, &chosen, node);
    }

    pub(crate) fn widen_update(&mut self, u: &mut Update<Logical>, node: &Node) {
        let Some(chosen) = self.chosen(&u.target, node, false) else { return };
        let place = self.new_place(&u.target);
        let new = new_row(u.new.clone(), place);
        let rows = Rows { old: Some(&u.old), new: Some(new), place };
        self.widen(&mut u.target, &rows, &chosen, node);
    }

    pub(crate) fn widen_delete(&mut self, d: &mut Delete<Logical>, node: &Node) {
        let Some(chosen) = self.chosen(&d.target, node, false) else { return };
        let rows = Rows { old: Some(&d.old), new: None, place: Place::default() };
        self.widen(&mut d.target, &rows, &chosen, node);
    }

    /// The indexes that are better changed by themselves.
    fn chosen(&self, target: &Target, node: &Node, grows: bool) -> Option<Vec<usize>> {
        let several = |(n, i): &(usize, &IndexTarget)| *n > 0 && i.affected;
        let all = target.indexes.iter().enumerate().filter(several);
        let indexes: Vec<usize> = all.map(|(n, _)| n).collect();
        let skips = target.indexes.iter().any(|i| i.ignore_duplicates);
        let few = node.rows < FEW_ROWS && !self.hints.wide;
        if node.single || indexes.is_empty() || skips || self.calls || few {
            return None;
        }
        if self.hints.wide {
            return Some(indexes);
        }
        let rows = node.rows;
        let size = |n: usize| self.pages(target, n, if grows { rows } else { 0.0 });
        let all: f64 = size(0) + indexes.iter().map(|&n| size(n)).sum::<f64>();
        let mut gain = 0.0;
        let mut width = 0.0;
        let mut chosen = Vec::new();
        for n in indexes {
            let entry = entry_bytes(target, &target.indexes[n]);
            let narrow = self.prices.entries_anywhere(rows, size(n), all);
            let wide = self.prices.entries_in_order(rows, size(n), all, entry);
            if narrow > wide {
                gain += narrow - wide;
                width += entry;
                chosen.push(n);
            }
        }
        let kept = self.prices.spool(rows, width, chosen.len() as f64).sum();
        (gain > kept).then_some(chosen)
    }

    /// The pages of an index, with so many rows more.
    fn pages(&self, target: &Target, n: usize, more: f64) -> f64 {
        let index = &target.indexes[n];
        let now = self.estimator.facts().size(target.database, index.hobt);
        let own = now.map_or(1.0, |s| s.pages);
        own + more * (entry_bytes(target, index) + ENTRY_BYTES) / PAGE_BYTES
    }

    /// Slots for the place of a base row, of the parts that places of this table have.
    fn new_place(&self, target: &Target) -> Place {
        let has = |field| target.indexes.iter().any(|i| i.fields.contains(&field));
        Place {
            uniquifier: has(EntryField::Uniquifier).then(|| self.new_slot()),
            rid: has(EntryField::Rid).then(|| self.new_slot()),
        }
    }

    fn widen(&mut self, target: &mut Target, rows: &Rows<'_>, chosen: &[usize], node: &Node) {
        let id = match &target.references.kept {
            Some(kept) => kept.id,
            None => ChangedId(self.next_changed),
        };
        let of = Cardinality { rows: node.rows, single: false };
        self.changed.insert(id, of);
        let mut kept: Vec<Slot> = Vec::new();
        let mut wide = WideChange { place: rows.place, changes: Vec::new() };
        for &n in chosen {
            let Some((change, estimates)) = self.index_change(target, n, rows, id) else {
                continue;
            };
            let number = self.follow_ups + self.index_changes.len();
            wide.changes.push(FollowUpId(number as u32));
            change.source.for_each(&mut |node| {
                if let Physical::Changed(ChangedRows { columns, .. }) = node {
                    kept.extend(columns);
                }
            });
            target.indexes[n].wide = true;
            self.index_changes.push((change, estimates));
        }
        if wide.changes.is_empty() {
            return;
        }
        self.next_changed = self.next_changed.max(id.0 + 1);
        let slots = &mut target
            .references
            .kept
            .get_or_insert_with(|| KeptSlots { id, slots: vec![] })
            .slots;
        slots.extend(kept);
        slots.sort_unstable();
        slots.dedup();
        target.wide = Some(Box::new(wide));
    }

    /// The change of one index; none where the plan has not all that its entries need.
    fn index_change(
        &self,
        target: &Target,
        n: usize,
        rows: &Rows<'_>,
        id: ChangedId,
    ) -> Option<(IndexChange<Physical>, Vec<Estimate>)> {
        let index = &target.indexes[n];
        let (key, all) = (key_parts(target, index), entry_parts(target, index));
        let new = rows.new.as_ref();
        let (work, before, after, node) = match (rows.old, new) {
            (None, Some(new)) => {
                let new = some_of(new, &all)?;
                (EntryWork::Insert, OldRow::default(), new.clone(), self.kept_rows(id, [&new]))
            }
            (Some(old), None) => {
                let old = some_of(old, &key)?;
                (EntryWork::Delete, old.clone(), OldRow::default(), self.kept_rows(id, [&old]))
            }
            (Some(old), Some(new)) if index.key_changes => {
                some_of(old, &key)?;
                let new = some_of(new, &all)?;
                let action = self.new_slot();
                let (node, row) = self.split(id, action, old, &new, &all);
                (EntryWork::Split(action), row.clone(), row, node)
            }
            (Some(old), Some(new)) => {
                let (old, new) = (some_of(old, &key)?, some_of(new, &all)?);
                let node = self.kept_rows(id, [&old, &new]);
                (EntryWork::Update, old, new, node)
            }
            (None, None) => return None,
        };
        let by = if work == EntryWork::Insert { &after } else { &before };
        let mut keys = sort_keys(target, index, by)?;
        if let EntryWork::Split(slot) = work {
            keys.push(SortKey { slot, descending: false, collation: Collation::default() });
        }
        let node = self.in_key_order(node, keys);
        let estimates = node.estimates();
        let mut target = target.clone();
        target.indexes = vec![IndexTarget { wide: true, ..index.clone() }];
        target.checks = Vec::new();
        target.references = plan::References::default();
        target.wide = None;
        Some((IndexChange { target, source: node.tree, work, before, after }, estimates))
    }

    /// What was kept of changed rows for some entries.
    fn kept_rows<'r>(&self, id: ChangedId, rows: impl IntoIterator<Item = &'r OldRow>) -> Node {
        let slots: BTreeSet<Slot> = rows.into_iter().flat_map(slots_of).collect();
        let slots: Vec<Slot> = slots.into_iter().collect();
        self.changed_rows(id, &slots)
    }

    /// The old and the new entry of each row, in slots of their own.
    fn split(
        &self,
        id: ChangedId,
        action: Slot,
        old: &OldRow,
        new: &OldRow,
        parts: &[EntryField],
    ) -> (Node, OldRow) {
        let mut row = OldRow::default();
        let mut columns = Vec::with_capacity(parts.len());
        for &part in parts {
            let Some(new) = part_of(new, part) else { continue };
            let to = self.new_slot();
            columns.push(SplitColumn { old: part_of(old, part), new, to });
            set_part(&mut row, part, to);
        }
        let read: BTreeSet<Slot> =
            columns.iter().flat_map(|c| c.old.into_iter().chain([c.new])).collect();
        let kept = self.changed_rows(id, &read.into_iter().collect::<Vec<_>>());
        let (rows, cost) = (2.0 * kept.rows, self.prices.compute(2.0 * kept.rows, 1));
        let node =
            kept.over(cost, |input| Physical::Split(Box::new(Split { input, action, columns })));
        (Node { rows, ..node }, row)
    }

    fn in_key_order(&self, node: Node, keys: Vec<SortKey>) -> Node {
        let cost = self.prices.sort(node.rows, node.width);
        node.gathered(cost, |input| {
            let carried = input.written();
            Physical::Sort(Sort { input: Box::new(input), keys, carried, distinct: false })
        })
    }
}

fn new_row(columns: Vec<Option<Slot>>, place: Place) -> OldRow {
    OldRow { columns, uniquifier: place.uniquifier, rid: place.rid, hint: None }
}

/// What tells an entry and its base row from others, and what its index's filter looks at.
fn key_parts(target: &Target, index: &IndexTarget) -> Vec<EntryField> {
    let key = index.key.iter().map(|part| index.fields[part.field]);
    let place = |f: &EntryField| matches!(f, EntryField::Uniquifier | EntryField::Rid);
    let place = index.fields.iter().copied().filter(place);
    each_once(key.chain(place).chain(filter_parts(target, index)))
}

/// What an entry consists of, and what its index's filter looks at.
fn entry_parts(target: &Target, index: &IndexTarget) -> Vec<EntryField> {
    each_once(index.fields.iter().copied().chain(filter_parts(target, index)))
}

fn filter_parts<'t>(
    target: &'t Target,
    index: &'t IndexTarget,
) -> impl Iterator<Item = EntryField> + 't {
    let reads = |c: &usize| index.filter.as_ref().is_some_and(|f| f.reads(*c));
    (0..target.columns.len()).filter(reads).map(EntryField::Column)
}

fn each_once(parts: impl Iterator<Item = EntryField>) -> Vec<EntryField> {
    let mut all: Vec<EntryField> = Vec::new();
    for part in parts {
        if part != EntryField::Dropped && !all.contains(&part) {
            all.push(part);
        }
    }
    all
}

/// Some parts of a row; none where it has not all of them.
fn some_of(row: &OldRow, parts: &[EntryField]) -> Option<OldRow> {
    let mut some = OldRow::default();
    for &part in parts {
        set_part(&mut some, part, part_of(row, part)?);
    }
    Some(some)
}

fn part_of(row: &OldRow, part: EntryField) -> Option<Slot> {
    match part {
        EntryField::Column(c) => row.columns.get(c).copied().flatten(),
        EntryField::Uniquifier => row.uniquifier,
        EntryField::Rid => row.rid,
        EntryField::Dropped => None,
    }
}

fn set_part(row: &mut OldRow, part: EntryField, slot: Slot) {
    match part {
        EntryField::Column(c) => {
            if row.columns.len() <= c {
                row.columns.resize(c + 1, None);
            }
            row.columns[c] = Some(slot);
        }
        EntryField::Uniquifier => row.uniquifier = Some(slot),
        EntryField::Rid => row.rid = Some(slot),
        EntryField::Dropped => {}
    }
}

fn slots_of(row: &OldRow) -> impl Iterator<Item = Slot> + '_ {
    row.columns.iter().copied().chain([row.uniquifier, row.rid]).flatten()
}

/// The order of an index's key.
fn sort_keys(target: &Target, index: &IndexTarget, row: &OldRow) -> Option<Vec<SortKey>> {
    let key = |part: &plan::KeyPart| {
        let field = index.fields[part.field];
        let collation = match field {
            EntryField::Column(c) => target.columns[c].collation,
            _ => Collation::default(),
        };
        Some(SortKey { slot: part_of(row, field)?, descending: part.descending, collation })
    };
    index.key.iter().map(key).collect()
}

/// Bytes of an entry's values, by their types.
fn entry_bytes(target: &Target, index: &IndexTarget) -> f64 {
    let bytes = |field: &EntryField| match field {
        EntryField::Column(c) => column_bytes(target.columns[*c].sql_type),
        EntryField::Dropped => 0.0,
        EntryField::Uniquifier => 4.0,
        EntryField::Rid => 8.0,
    };
    index.fields.iter().map(bytes).sum()
}

/// Half of what a type of varying length may have; of a max type what stays in a row of many.
fn column_bytes(sql_type: SqlType) -> f64 {
    let most = f64::from(sql_type.max_length());
    match types::fixed_width(sql_type) {
        Some(bytes) => f64::from(bytes),
        None if most < 0.0 => 256.0,
        None => most / 2.0,
    }
}
