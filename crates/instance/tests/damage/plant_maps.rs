//! Damages of the maps.

use super::PlantedDamage;
use crate::image::{Image, Units, pick};
use page::{ExtentBits, Pfs, at};
use sim::Random;
use space::FIRST_FREE_EXTENT;

const PFS: u32 = 1;
const GAM: u32 = 2;
const SGAM: u32 = 3;
const DIFF: u32 = 6;
const ML: u32 = 7;

fn extents(image: &Image) -> u32 {
    image.pages() / 8
}

/// The extent's first page is what messages name it by.
fn flip(image: &mut Image, map: u32, extent: u32) -> PlantedDamage {
    let was = ExtentBits::get(image.view(map), extent);
    image.change(map, |p| ExtentBits::set(p, extent, !was));
    PlantedDamage::new(format!("map {map}, extent {extent}: {was} before"), 0, extent * 8)
}

pub(super) fn gam(image: &mut Image, _: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let extent = r.below(u64::from(extents(image)) + 20) as u32;
    Some(flip(image, GAM, extent))
}

pub(super) fn sgam(image: &mut Image, _: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let extent = r.below(u64::from(extents(image)) + 20) as u32;
    Some(flip(image, SGAM, extent))
}

pub(super) fn diff(image: &mut Image, _: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let extent = r.below(u64::from(extents(image))) as u32;
    Some(flip(image, if r.one_in(2) { DIFF } else { ML }, extent))
}

pub(super) fn pfs(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    // A page of a table as often as any other.
    let data = image.find(units, |_, _| true);
    let page = match r.below(2) {
        0 => pick(r, &data)?,
        _ => r.below(u64::from(image.pages()) + 100) as u32,
    };
    let bit = pick(r, &[0x40, 0x40, 0x40, 0x20, 0x10, 0x08, 0x04, 0x01])?;
    let was = image.pfs(page).0;
    image.change(PFS, |p| Pfs(was ^ bit).set(p, page));
    Some(PlantedDamage::new(format!("page {page}: {was:#x} to {:#x}", was ^ bit), 0, page))
}

pub(super) fn iam_bit(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let map = pick(r, &image.iam_pages(units))?;
    let own = |e: &u32| ExtentBits::get(image.view(map), *e);
    let all = FIRST_FREE_EXTENT..extents(image) + 20;
    let owned: Vec<u32> = all.clone().filter(own).collect();
    let extent = match r.below(2) {
        0 => pick(r, &owned)?,
        _ => FIRST_FREE_EXTENT + r.below(u64::from(all.end - FIRST_FREE_EXTENT)) as u32,
    };
    // Any page of the extent may be named, as a page of the table that is not allocated.
    let planted = flip(image, map, extent);
    let pages = (extent * 8..extent * 8 + 8).collect();
    Some(PlantedDamage { pages, ..planted })
}

pub(super) fn iam_head(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let map = pick(r, &image.iam_pages(units))?;
    let unit = image.unit(units, map).clone();
    // Sequence, first extent, single pages, file, what is unused between them and the bits.
    let (name, byte) = pick(
        r,
        &[("sequence", 96), ("start", 100), ("single page", 110), ("file", 152), ("", 170)],
    )?;
    let bit = r.below(8);
    image.change(map, |p| p.0[byte] ^= 1 << bit);
    let what = format!("{name} of IAM page {map}, bit {bit}, {} index {}", unit.table, unit.index);
    Some(PlantedDamage::new(what, unit.object, map))
}

pub(super) fn header(image: &mut Image, units: &Units, r: &mut Random) -> Option<PlantedDamage> {
    let iam = pick(r, &image.iam_pages(units))?;
    let map = pick(r, &[PFS, GAM, SGAM, DIFF, ML, iam, iam])?;
    let fields = [
        ("m_headerVersion", at::HEADER_VERSION),
        ("m_type", at::KIND),
        ("m_level", at::LEVEL),
        ("m_slotCnt", at::SLOT_COUNT),
        ("m_objId", at::ALLOC_UNIT),
        ("m_prevPage", at::PREV_PAGE),
        ("m_nextPage", at::NEXT_PAGE),
        ("m_ghostRecCnt", at::GHOST_COUNT),
        ("m_freeCnt", at::FREE_COUNT),
        ("m_xdesId", at::XDES_ID),
    ];
    let (name, byte) = pick(r, &fields)?;
    let bit = r.below(8);
    let object = if map == iam { image.unit(units, map).object } else { 0 };
    let mut pages = vec![map];
    if name == "m_nextPage" {
        // The page that the chain leads to now.
        pages.push(1 << bit);
    }
    image.change(map, |p| p.0[byte] ^= 1 << bit);
    Some(PlantedDamage { what: format!("{name} of page {map}, bit {bit}"), object, pages })
}
