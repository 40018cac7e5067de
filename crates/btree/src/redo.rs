//! `BtreeRedo`: the only code that changes bytes of a tree's pages.
//!
//! Do is redo: `buffer::Change` calls it for the operation just logged, recovery for the one
//! read back. It knows nothing of keys: slots were found when the operation was logged.

use crate::key::SmallBytes;
use crate::kinds::{
    Context, DROP_FORM, Difference, InRowDifference, Operation, page_id_of, parts, u16_of,
};
use page::{PageBytes, PageKind, PageMut, PageView};
use page::{drop_in_row, fits, runs};
use wal::{ApplyError, PageOp, RecordDescription, RecordView, RedoHandler};

/// Owner of the kinds of this crate.
pub struct BtreeRedo;

/// Bytes of a record that is built without the heap.
const FEW: usize = 192;
const SHORT: ApplyError = ApplyError("the log record is too short");

impl RedoHandler for BtreeRedo {
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        let (operation, _) = parts(op.kind).ok_or(ApplyError("no kind of a tree"))?;
        let before = (PageView(page).slot_count(), PageView(page).ghost_count());
        if operation != Operation::Format && PageView(page).alloc_unit() != op.unit {
            return Err(ApplyError("the page belongs to another unit"));
        }
        match operation {
            Operation::Format => format(op, page),
            Operation::Insert => insert(page, op.slot, op.payload),
            Operation::InsertMany => insert_many(op, page),
            Operation::Ghost => {
                let kind = fits::ghost(PageView(page), op.slot).map_err(ApplyError)?;
                PageMut(page).set_record_kind(op.slot, kind);
                debug_assert_eq!(PageView(page).ghost_count(), before.1 + 1, "one ghost more");
                Ok(())
            }
            Operation::Unghost => {
                let kind = fits::unghost(PageView(page), op.slot).map_err(ApplyError)?;
                PageMut(page).set_record_kind(op.slot, kind);
                debug_assert_eq!(PageView(page).ghost_count() + 1, before.1, "one ghost less");
                Ok(())
            }
            Operation::Expunge => {
                fits::remove(PageView(page), op.slot).map_err(ApplyError)?;
                PageMut(page).remove(op.slot);
                debug_assert_eq!(PageView(page).slot_count() + 1, before.0, "one record less");
                Ok(())
            }
            Operation::Modify => modify(op, page),
            Operation::ModifyInRow => modify_in_row(op, page),
            Operation::Truncate => truncate(op, page),
            Operation::Link => link(op, page),
        }
    }

    fn describe<'a>(&self, record: &RecordView<'a>) -> RecordDescription<'a> {
        describe(record)
    }

    fn explain(&self, record: &RecordView<'_>) -> String {
        explain(record)
    }
}

fn format(op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
    let p: &[u8; 16] = op.payload.try_into().map_err(|_| SHORT)?;
    let kind = match PageKind::from_byte(p[0]) {
        Some(kind @ (PageKind::Data | PageKind::Index)) => kind,
        _ => return Err(ApplyError("no kind of a tree's page")),
    };
    let mut page = PageMut(page);
    page.format(kind, op.page, op.unit, p[1], u16_of(p, 2).ok_or(SHORT)?);
    page.set_prev_page(page_id_of(&p[4..]).ok_or(SHORT)?);
    page.set_next_page(page_id_of(&p[10..]).ok_or(SHORT)?);
    debug_assert_eq!(page.view().slot_count(), 0, "a page begins empty");
    debug_assert_eq!((page.view().page_id(), page.view().alloc_unit()), (op.page, op.unit));
    Ok(())
}

fn insert(page: &mut PageBytes, slot: u16, record: &[u8]) -> Result<(), ApplyError> {
    fits::insert(PageView(page), slot, record).map_err(ApplyError)?;
    let (count, free) = (PageView(page).slot_count(), PageView(page).free_count());
    PageMut(page).insert(slot, record);
    debug_assert_eq!(PageView(page).slot_count(), count + 1, "one record more");
    debug_assert_eq!(PageView(page).record(slot), Some(record), "read as written");
    let taken = usize::from(free - PageView(page).free_count());
    debug_assert_eq!(taken, page::slot_cost(record.len()), "free space is counted");
    Ok(())
}

/// The records of an INSERT_MANY payload.
pub(crate) fn batch_records(payload: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut rest = payload;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let record = u16_of(rest, 0).and_then(|n| rest.get(2..2 + usize::from(n)));
        rest = record.map_or(&[], |r| &rest[2 + r.len()..]);
        Some(record)
    })
}

fn insert_many(op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
    let (mut slot, before) = (op.slot, PageView(page).slot_count());
    if slot == before && runs::append(page, batch_records(op.payload)).map_err(ApplyError)? {
        return Ok(());
    }
    for record in batch_records(op.payload) {
        insert(page, slot, record.ok_or(SHORT)?)?;
        slot = slot.checked_add(1).ok_or(SHORT)?;
    }
    debug_assert_eq!(PageView(page).slot_count() - before, slot - op.slot, "as many as came");
    Ok(())
}

fn modify(op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
    let other = ApplyError("the record is not the one that was modified");
    let d = Difference::parse(op.payload).ok_or(SHORT)?;
    let old = fits::remove(PageView(page), op.slot).map_err(ApplyError)?;
    if d.before.len() == d.after.len() {
        let from = usize::from(d.from);
        let same = from >= 1
            && old.first() == Some(&d.status.0)
            && old.get(from..from + d.before.len()) == Some(d.before);
        if !same {
            return Err(other);
        }
        let mut page = PageMut(page);
        page.patch_with_status(op.slot, d.status.1, from, d.after);
        let now = page.view().record(op.slot);
        let there = now.and_then(|now| now.get(from..from + d.after.len()));
        debug_assert!(now.is_none() || there == Some(d.after), "read as written");
        return Ok(());
    }
    let mut new = Vec::with_capacity(old.len() + d.after.len());
    if !d.repeat(old, &mut new) {
        return Err(other);
    }
    replace(op, page, &new)
}

fn replace(op: &PageOp<'_>, page: &mut PageBytes, new: &[u8]) -> Result<(), ApplyError> {
    let count = PageView(page).slot_count();
    fits::put_over(page, op.slot, new).map_err(ApplyError)?;
    debug_assert_eq!(PageView(page).slot_count(), count, "slots stay where they are");
    debug_assert_eq!(PageView(page).record(op.slot), Some(new), "read as written");
    Ok(())
}

fn modify_in_row(op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
    if let Some((&DROP_FORM, slots)) = op.payload.split_first() {
        return drop_in_row(page, slots).map_err(ApplyError);
    }
    let d = InRowDifference::parse(op.payload).ok_or(SHORT)?;
    let old = fits::remove(PageView(page), op.slot).map_err(ApplyError)?;
    let mut new = SmallBytes::<FEW>::new();
    match d.repeat(old, &mut new) {
        true => replace(op, page, new.as_slice()),
        false => Err(ApplyError("the record is not the one that was modified")),
    }
}

fn truncate(op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
    runs::cut(page, op.slot).map_err(ApplyError)?;
    debug_assert!(PageView(page).slot_count() <= op.slot, "nothing stays behind the cut");
    Ok(())
}

fn link(op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
    let (&side, id) = op.payload.split_first().ok_or(SHORT)?;
    let id = page_id_of(id).ok_or(SHORT)?;
    match side {
        0 => PageMut(page).set_prev_page(id),
        1 => PageMut(page).set_next_page(id),
        _ => return Err(ApplyError("a page has two neighbours")),
    }
    let v = PageView(page);
    debug_assert_eq!(if side == 0 { v.prev_page() } else { v.next_page() }, id, "read as written");
    Ok(())
}

fn describe<'a>(record: &RecordView<'a>) -> RecordDescription<'a> {
    let Some((operation, context)) = parts(record.kind()) else {
        return RecordDescription::default();
    };
    let (p, name) = (record.payload(), context.name());
    match operation {
        Operation::Format => RecordDescription {
            format: p.first().zip(p.get(1)).map(|(&kind, &level)| (kind, level)),
            ..RecordDescription::new("LOP_FORMAT_PAGE", name)
        },
        Operation::Insert => RecordDescription::new("LOP_INSERT_ROWS", name).with(p),
        Operation::InsertMany => RecordDescription {
            elements: Some(batch_records(p).count() as u16),
            ..RecordDescription::new("LOP_INSERT_ROWS", name).with(p)
        },
        Operation::Ghost => {
            keyed(RecordDescription::new("LOP_DELETE_ROWS", "LCX_MARK_AS_GHOST"), p)
        }
        Operation::Unghost => keyed(RecordDescription::new("LOP_INSERT_ROWS", name), p),
        Operation::Expunge if context == Context::Interior => {
            RecordDescription::new("LOP_DELETE_ROWS", name)
        }
        Operation::Expunge if p.is_empty() => RecordDescription::new("LOP_EXPUNGE_ROWS", name),
        Operation::Expunge => RecordDescription::new("LOP_EXPUNGE_ROWS", name).with(p),
        Operation::Modify => {
            modified(RecordDescription::new("LOP_MODIFY_ROW", name), Difference::parse(p))
        }
        Operation::ModifyInRow => {
            let d = InRowDifference::parse(p).map(|d| d.difference);
            modified(RecordDescription::new("LOP_MODIFY_ROW", name), d)
        }
        Operation::Truncate => RecordDescription::new("LOP_DELETE_SPLIT", name),
        Operation::Link => RecordDescription::new("LOP_MODIFY_HEADER", name).with(p),
    }
}

/// A change of a record's kind: it says the key, when a transaction undoes it.
fn keyed<'a>(described: RecordDescription<'a>, key: &'a [u8]) -> RecordDescription<'a> {
    let key = Some(key).filter(|key| !key.is_empty());
    RecordDescription {
        contents: [None, None, key],
        elements: Some(u16::from(key.is_some())),
        ..described
    }
}

fn modified<'a>(
    described: RecordDescription<'a>,
    difference: Option<Difference<'a>>,
) -> RecordDescription<'a> {
    let Some(d) = difference else { return described };
    let key = Some(d.key).filter(|key| !key.is_empty());
    RecordDescription {
        contents: [Some(d.before), Some(d.after), key],
        offset_in_row: Some(d.from),
        modify_size: Some(d.after.len() as u16),
        elements: Some(2 + u16::from(key.is_some())),
        ..described
    }
}

fn explain(record: &RecordView<'_>) -> String {
    let Some((operation, _)) = parts(record.kind()) else { return String::new() };
    let p = record.payload();
    match operation {
        Operation::Insert if page::is_ghost_record(p) => "A ghost is inserted".to_owned(),
        Operation::Unghost => "A ghost is revived".to_owned(),
        Operation::ModifyInRow if p.first() == Some(&DROP_FORM) => {
            format!("{} in-row versions are dropped", p.len() / 2)
        }
        Operation::ModifyInRow => "The row before stays in the row".to_owned(),
        Operation::Truncate => format!("From slot {} on", record.slot()),
        Operation::Link => {
            let side = if p.first() == Some(&0) { "previous" } else { "next" };
            let id = p.get(1..).and_then(page_id_of).unwrap_or_default();
            format!("The {side} page is {:04x}:{:08x}", id.file.0, id.page)
        }
        _ => String::new(),
    }
}
