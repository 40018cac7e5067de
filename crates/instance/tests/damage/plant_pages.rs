//! Damages of pages: checksum, slots, links, order, header.

use super::PlantedDamage;
use crate::image::{Image, Unit, Units, live_slot, pick, slot_at};
use base::PageId;
use page::{PageView, at};
use sim::Random;

fn any(v: PageView<'_>, _: &Unit) -> bool {
    v.slot_count() > 1
}

fn one(
    image: &Image,
    units: &Units,
    r: &mut Random,
    wanted: impl Fn(PageView<'_>, &Unit) -> bool,
) -> Option<(u32, Unit)> {
    let n = pick(r, &image.find(units, wanted))?;
    Some((n, image.unit(units, n).clone()))
}

fn told(what: String, unit: &Unit, n: u32) -> Option<PlantedDamage> {
    let what = format!("{what}, {} index {}", unit.table, unit.index);
    Some(PlantedDamage::new(what, unit.object, n))
}

pub(super) fn bit(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, any)?;
    let (byte, bit) = (r.below(8192) as usize, r.below(8));
    image.scribble(n, |p| p[byte] ^= 1 << bit);
    told(format!("byte {byte}"), &unit, n)
}

pub(super) fn misdirected(
    image: &mut Image,
    units: &Units,
    r: &mut Random,
) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, any)?;
    let (other, _) = one(image, units, r, |v, u| *u == unit && v.page_id().page != n)?;
    let bytes = *image.page(other);
    image.scribble(n, |p| *p = bytes);
    told(format!("page {other}"), &unit, n)
}

pub(super) fn blank(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, any)?;
    image.scribble(n, |p| p.fill(0));
    told("zeros".to_owned(), &unit, n)
}

/// In order they were; the leftmost separator counts as lower than everything.
pub(super) fn swapped(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let tree = |v: PageView<'_>, u: &Unit| u.index >= 1 && v.slot_count() > 4;
    let (n, unit) = one(image, units, r, tree)?;
    let v = image.view(n);
    let slot = 1 + r.below(u64::from(v.slot_count()) - 2) as u16;
    let (a, b) = (slot_at(slot), slot_at(slot + 1));
    image.change(n, |p| {
        p.0.swap(a, b);
        p.0.swap(a + 1, b + 1);
    });
    told(format!("slots {slot} and {}", slot + 1), &unit, n)
}

pub(super) fn slot(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, any)?;
    let v = image.view(n);
    let slot = live_slot(r, v)?;
    let other = (0..v.slot_count()).find(|s| *s != slot && v.slot_offset(*s) != Some(0))?;
    let offset = v.slot_offset(slot)?;
    let wrong = match r.below(5) {
        0 => 1 + r.below(95) as u16,
        1 => 8192 - 2 * v.slot_count(),
        2 => v.slot_offset(other)?,
        3 => offset + 1,
        _ => 8192 + r.below(50_000) as u16,
    };
    let at = slot_at(slot);
    image.change(n, |p| p.0[at..at + 2].copy_from_slice(&wrong.to_le_bytes()));
    told(format!("slot {slot}: {offset} to {wrong}"), &unit, n)
}

pub(super) fn link(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let linked = |v: PageView<'_>, u: &Unit| {
        u.index >= 1 && !(v.prev_page().is_none() && v.next_page().is_none())
    };
    let (n, unit) = one(image, units, r, linked)?;
    let (other, _) = one(image, units, r, |v, u| *u == unit && v.page_id().page != n)?;
    let v = image.view(n);
    let wrong = match r.below(3) {
        0 => PageId::NONE,
        1 => PageId::new(1, n),
        _ => PageId::new(1, other),
    };
    let next = r.one_in(2);
    if wrong == if next { v.next_page() } else { v.prev_page() } {
        return None;
    }
    image.change(n, |p| if next { p.set_next_page(wrong) } else { p.set_prev_page(wrong) });
    let side = if next { "next" } else { "previous" };
    told(format!("{side} is {wrong}"), &unit, n)
}

fn interior(v: PageView<'_>, u: &Unit) -> bool {
    u.index >= 1 && v.level() > 0 && v.slot_count() > 3
}

/// The child's page number stands in the last six bytes of an entry's fixed part.
fn child_at(v: PageView<'_>, slot: u16) -> Option<usize> {
    Some(usize::from(v.slot_offset(slot)?) + usize::from(v.min_len()) - 6)
}

pub(super) fn child(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, interior)?;
    let v = image.view(n);
    let slot = live_slot(r, v)?;
    let at = child_at(v, slot)?;
    let old = u32::from_le_bytes(v.0[at..at + 4].try_into().unwrap());
    let (other, _) = one(image, units, r, |v, _| v.page_id().page != old)?;
    let wrong = match r.below(4) {
        0 => other,
        1 => n,
        2 => image.pages() + 5,
        _ => old ^ 1,
    };
    image.change(n, |p| p.0[at..at + 4].copy_from_slice(&wrong.to_le_bytes()));
    let what = format!("slot {slot} of page {n}: {old} to {wrong}");
    // The page that nothing leads to any more, the one that two lead to, or the entry's own.
    let pages = vec![n, old, wrong];
    Some(PlantedDamage { what, object: unit.object, pages })
}

/// Keys of the pages around it lie on the wrong side of it then.
pub(super) fn separator(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let ints = |v: PageView<'_>, u: &Unit| {
        let first_is_int = u.index == 1 || matches!(&*u.index_name, "by_k" | "by_n" | "by_size");
        interior(v, u) && first_is_int && !u.large
    };
    let (n, unit) = one(image, units, r, ints)?;
    let v = image.view(n);
    let slot = 1 + r.below(u64::from(v.slot_count()) - 1) as u16;
    let at = usize::from(v.slot_offset(slot)?) + 1;
    // Far outside of all keys.
    let wrong: i32 = if r.one_in(2) { -7 } else { 2_000_000_000 };
    image.change(n, |p| p.0[at..at + 4].copy_from_slice(&wrong.to_le_bytes()));
    let v = image.view(n);
    let of_child = |slot: u16| {
        let at = child_at(v, slot)?;
        Some(u32::from_le_bytes(v.0[at..at + 4].try_into().unwrap()))
    };
    let pages = [Some(n), of_child(slot), of_child(slot - 1)].into_iter().flatten().collect();
    let what = format!("slot {slot} of page {n} says {wrong}, {} index {}", unit.table, unit.index);
    Some(PlantedDamage { what, object: unit.object, pages })
}

fn flip_u16(image: &mut Image, n: u32, at: usize, mask: u16) {
    image.change(n, |p| {
        p.0[at] ^= mask as u8;
        p.0[at + 1] ^= (mask >> 8) as u8;
    });
}

pub(super) fn ghosts(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, any)?;
    flip_u16(image, n, at::GHOST_COUNT, 1 << r.below(16));
    told("m_ghostRecCnt".to_owned(), &unit, n)
}

pub(super) fn free(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, any)?;
    let count = r.one_in(2);
    if count {
        flip_u16(image, n, at::FREE_COUNT, 1 << r.below(16));
        return told("m_freeCnt".to_owned(), &unit, n);
    }
    // Within the records: what is above them is free all the same.
    let wrong = 96 + r.below(u64::from(image.view(n).free_data()) - 97) as u16;
    let bytes = wrong.to_le_bytes();
    image.change(n, |p| p.0[at::FREE_DATA..at::FREE_DATA + 2].copy_from_slice(&bytes));
    told(format!("m_freeData is {wrong}"), &unit, n)
}

pub(super) fn header(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let (n, unit) = one(image, units, r, any)?;
    let fields = [
        ("m_headerVersion", at::HEADER_VERSION),
        ("m_type", at::KIND),
        ("m_typeFlagBits", at::TYPE_FLAGS),
        ("m_level", at::LEVEL),
        ("m_flagBits", at::FLAGS),
        ("m_indexId", at::INDEX_ID),
        ("pminlen", at::MIN_LEN),
        ("m_slotCnt", at::SLOT_COUNT),
        ("m_objId", at::ALLOC_UNIT),
        ("m_reservedCnt", at::RESERVED_COUNT),
        ("m_lsn", at::LSN + 2),
        ("m_xactReserved", at::XACT_RESERVED),
        ("m_xdesId", at::XDES_ID),
        ("reserved", at::RESERVED + 7),
    ];
    let (name, byte) = pick(r, &fields)?;
    let bit = r.below(8);
    image.change(n, |p| p.0[byte] ^= 1 << bit);
    told(format!("{name}, bit {bit}"), &unit, n)
}
