//! Damages of records: what a row and its entries say of each other.

use super::PlantedDamage;
use crate::image::{Image, Unit, Units, live_slot, pick};
use page::{PageMut, PageView, RecordKind};
use sim::Random;

/// Leaves of rows that have indexes, whose record begins with two fixed numbers.
fn indexed_rows(v: PageView<'_>, u: &Unit) -> bool {
    let indexed = matches!(&*u.table, "Ordered" | "Loose" | "Groups" | "Documents");
    indexed && !u.large && u.index <= 1 && v.level() == 0 && v.slot_count() > 0
}

fn entries(v: PageView<'_>, u: &Unit) -> bool {
    u.index > 1 && v.level() == 0 && v.slot_count() > 2
}

/// The page to damage and a slot of it.
fn place(
    image: &Image,
    units: &Units,
    r: &mut Random,
    wanted: impl Fn(PageView<'_>, &Unit) -> bool,
) -> Option<(u32, u16, Unit)> {
    let n = pick(r, &image.find(units, wanted))?;
    let slot = live_slot(r, image.view(n))?;
    Some((n, slot, image.unit(units, n).clone()))
}

fn offset(image: &Image, n: u32, slot: u16) -> usize {
    usize::from(image.view(n).slot_offset(slot).unwrap())
}

fn int_at(record: &[u8], at: usize) -> i32 {
    i32::from_le_bytes(record[at..at + 4].try_into().unwrap())
}

/// The first or second number of a row: both are in an index.
pub(super) fn row_column(
    image: &mut Image,
    units: &Units,
    r: &mut Random,
) -> Option<PlantedDamage> {
    let (n, slot, unit) = place(image, units, r, indexed_rows)?;
    // The first of Groups is its key, and any value between its neighbours' is as good there.
    let second = unit.table == "Groups" || r.one_in(2);
    let at = offset(image, n, slot) + if second { 8 } else { 4 };
    let bit = r.below(24);
    image.change(n, |p| p.0[at + bit as usize / 8] ^= 1 << (bit % 8));
    let column = if second { "second" } else { "first" };
    Some(PlantedDamage::new(
        format!("{column} column of slot {slot}, {}", unit.table),
        unit.object,
        n,
    ))
}

/// The first bytes of an entry: a key column or the locator.
pub(super) fn entry_key(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let wanted = |v: PageView<'_>, u: &Unit| {
        // Indexes whose columns are fixed: the bytes of all of them follow the status byte.
        let fixed = matches!(&*u.index_name, "by_v" | "by_k" | "by_size");
        entries(v, u) && fixed
    };
    let (n, slot, unit) = place(image, units, r, wanted)?;
    let at = offset(image, n, slot);
    let last = match (&*unit.table, &*unit.index_name) {
        ("Loose", "by_k") => 1 + 4 + 8,
        ("Loose", _) => 1 + 8 + 8,
        _ => 1 + 4 + 4,
    };
    let byte = 1 + r.below(last - 1) as usize;
    let bit = r.below(8);
    image.change(n, |p| p.0[at + byte] ^= 1 << bit);
    let what = format!("byte {byte} of slot {slot}, {}.{}", unit.table, unit.index_name);
    Some(PlantedDamage::new(what, unit.object, n))
}

/// The last byte of an entry with an included column.
pub(super) fn included(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let wanted = |v: PageView<'_>, u: &Unit| {
        let includes =
            matches!((&*u.table, &*u.index_name), ("Ordered", "by_name") | ("Loose", "by_v"));
        entries(v, u) && includes
    };
    let (n, slot, unit) = place(image, units, r, wanted)?;
    let record = image.view(n).record(slot)?;
    let long_enough = record.len() > 40;
    let at = offset(image, n, slot) + record.len() - 1;
    if !long_enough {
        return None;
    }
    image.change(n, |p| p.0[at] ^= 1);
    let what = format!("last byte of slot {slot}, {}.{}", unit.table, unit.index_name);
    Some(PlantedDamage::new(what, unit.object, n))
}

/// The page of the row that an entry of by_v or by_k of Ordered, Loose or Documents is of.
fn page_of_entry(image: &Image, units: &Units, unit: &Unit, record: &[u8]) -> Option<u32> {
    match (&*unit.table, &*unit.index_name) {
        ("Ordered", "by_v") | ("Documents", "by_size") => {
            image.page_of_key(units, &unit.table, int_at(record, 5))
        }
        ("Loose", "by_k") => Some(int_at(record, 5) as u32),
        ("Loose", "by_v") => Some(int_at(record, 9) as u32),
        _ => None,
    }
}

pub(super) fn lost_entry(
    image: &mut Image,
    units: &Units,
    r: &mut Random,
) -> Option<PlantedDamage> {
    let (n, slot, unit) = place(image, units, r, entries)?;
    let record = image.view(n).record(slot)?.to_vec();
    if page::is_ghost_record(&record) {
        return None;
    }
    // What is reported is the row that lacks its entry.
    let page = page_of_entry(image, units, &unit, &record)?;
    image.change(n, |p| p.remove(slot));
    let what = format!("slot {slot} of page {n}, {}.{}", unit.table, unit.index_name);
    Some(PlantedDamage::new(what, unit.object, page))
}

/// A copy of an entry whose locator leads to no row.
pub(super) fn extra_entry(
    image: &mut Image,
    units: &Units,
    r: &mut Random,
) -> Option<PlantedDamage> {
    let wanted =
        |v: PageView<'_>, u: &Unit| entries(v, u) && u.index_name == "by_v" && u.table == "Ordered";
    let (n, slot, unit) = place(image, units, r, wanted)?;
    let v = image.view(n);
    let mut record = v.record(slot)?.to_vec();
    let next = v.record(slot + 1)?;
    let order = int_at(next, 1) > int_at(&record, 1);
    if !order || usize::from(v.free_count()) < record.len() + 2 {
        return None;
    }
    let nobody = 900_000_000 + r.below(1000) as i32;
    record[5..9].copy_from_slice(&nobody.to_le_bytes());
    image.change(n, |p| p.insert(slot + 1, &record));
    let what = format!("behind slot {slot} of {}.{}", unit.table, unit.index_name);
    Some(PlantedDamage::new(what, unit.object, n))
}

/// Pages of entries of a table: one of them is named when a row is gone.
fn pages_of_entries(image: &Image, units: &Units, table: &str) -> Vec<u32> {
    image.find(units, |v, u| u.table == table && u.index > 1 && v.level() == 0)
}

pub(super) fn lost_row(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, slot, unit) = place(image, units, r, indexed_rows)?;
    if page::is_ghost_record(image.view(n).record(slot)?) {
        return None;
    }
    let heap = unit.index == 0;
    image.change(n, |p| if heap { p.empty_slot(slot) } else { p.remove(slot) });
    let pages = pages_of_entries(image, units, &unit.table);
    let what = format!("slot {slot} of page {n}, {}", unit.table);
    Some(PlantedDamage { what, object: unit.object, pages })
}

pub(super) fn ghosted(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let both = |v: PageView<'_>, u: &Unit| indexed_rows(v, u) || entries(v, u);
    let (n, slot, unit) = place(image, units, r, both)?;
    let record = image.view(n).record(slot)?.to_vec();
    let ghost = RecordKind::of(record[0]).ghosted()?;
    let pages = match unit.index {
        0 | 1 => pages_of_entries(image, units, &unit.table),
        _ => vec![page_of_entry(image, units, &unit, &record)?],
    };
    image.change(n, |p: &mut PageMut<'_>| p.set_record_kind(slot, ghost));
    let what = format!("slot {slot} of page {n}, {} index {}", unit.table, unit.index);
    Some(PlantedDamage { what, object: unit.object, pages })
}

/// Bytes that say where a record's columns are.
pub(super) fn form(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let rows = |v: PageView<'_>, u: &Unit| {
        u.index <= 1 && v.level() == 0 && v.slot_count() > 0 && v.min_len() >= 8
    };
    let (n, slot, unit) = place(image, units, r, rows)?;
    let record = image.view(n).record(slot)?;
    let fixed = usize::from(u16::from_le_bytes([record[2], record[3]]));
    let columns = u16::from_le_bytes([record[fixed], record[fixed + 1]]);
    let has_variable = record[0] & 0x20 != 0;
    let ends = fixed + 2 + usize::from(columns).div_ceil(8);
    // Which byte, which bits of it may flip, and its name.
    let (byte, bits, name) = match r.below(if has_variable { 7 } else { 5 }) {
        0 => (0, &[0, 4, 7][..], "status A"),
        1 => (1, &[0, 3, 7][..], "status B"),
        2 => (2, &[0, 1, 4][..], "fixed end"),
        3 => (fixed, &[3, 4, 5][..], "column count"),
        4 => (fixed + 1, &[0, 1, 2][..], "column count"),
        5 => (ends, &[3, 4, 5][..], "variable count"),
        _ => (ends + 3, &[4, 5, 6][..], "variable end"),
    };
    let bit = pick(r, bits)?;
    let at = offset(image, n, slot) + byte;
    image.change(n, |p| p.0[at] ^= 1 << bit);
    let what = format!("{name}, bit {bit}, slot {slot}, {} index {}", unit.table, unit.index);
    Some(PlantedDamage::new(what, unit.object, n))
}

fn pieces(v: PageView<'_>, u: &Unit) -> bool {
    u.large && v.level() == 0 && v.slot_count() > 0
}

pub(super) fn piece(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, slot, unit) = place(image, units, r, pieces)?;
    let record = image.view(n).record(slot)?;
    if page::is_ghost_record(record) {
        return None;
    }
    let at = offset(image, n, slot);
    // Gone, of another value, or with another number.
    let what = match r.below(3) {
        0 => {
            image.change(n, |p| p.remove(slot));
            "gone"
        }
        1 => {
            image.change(n, |p| p.0[at + 4 + 7] ^= 0x40);
            "of another value"
        }
        _ => {
            image.change(n, |p| p.0[at + 4 + 11] ^= 0x40);
            "with another number"
        }
    };
    let rows = |v: PageView<'_>, u: &Unit| {
        u.table == unit.table && !u.large && u.index <= 1 && v.level() == 0
    };
    let mut pages = image.find(units, rows);
    pages.push(n);
    let what = format!("slot {slot} of page {n} is {what}");
    Some(PlantedDamage { what, object: unit.object, pages })
}

pub(super) fn pointer(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let documents = |v: PageView<'_>, u: &Unit| {
        u.table == "Documents" && !u.large && u.index == 1 && v.level() == 0
    };
    let (n, slot, unit) = place(image, units, r, documents)?;
    let record = image.view(n).record(slot)?;
    let fixed = usize::from(u16::from_le_bytes([record[2], record[3]]));
    if record[0] & 0x20 == 0 {
        return None;
    }
    let ends = fixed + 2 + 1;
    let count = usize::from(u16::from_le_bytes([record[ends], record[ends + 1]]));
    let end = |i: usize| {
        let at = ends + 2 + 2 * i;
        u16::from_le_bytes([record[at], record[at + 1]])
    };
    let off: Vec<usize> = (0..count).filter(|i| end(*i) & 0x8000 != 0).collect();
    let column = pick(r, &off)?;
    let from = usize::from(end(column) & 0x7FFF) - 16;
    let byte = pick(r, &[0, 1, 8, 9])?;
    let at = offset(image, n, slot) + from + byte;
    image.change(n, |p| p.0[at] ^= 0x10);
    let what = format!("byte {byte} of the pointer of column {column}, slot {slot}");
    Some(PlantedDamage::new(what, unit.object, n))
}
