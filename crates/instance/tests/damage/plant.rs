//! Damages, each a true one: something that the rest of the database contradicts.
//!
//! A kind gives up (`None`) where the page drawn offers nothing to damage; another is drawn then.
//! Checksums are right afterwards, but for the kind that is about them.

use crate::image::{Image, Units};
use sim::Random;

#[path = "plant_maps.rs"]
mod maps;
#[path = "plant_pages.rs"]
mod pages;
#[path = "plant_rows.rs"]
mod rows;

/// A damage that was planted.
#[derive(Clone, Debug)]
pub(crate) struct PlantedDamage {
    /// What exactly.
    pub(crate) what: String,
    /// The object that must be named; 0 for maps that are nobody's.
    pub(crate) object: i32,
    /// Pages, one of which must be named.
    pub(crate) pages: Vec<u32>,
}

impl PlantedDamage {
    fn new(what: impl Into<String>, object: i32, page: u32) -> PlantedDamage {
        PlantedDamage { what: what.into(), object, pages: vec![page] }
    }
}

pub(crate) type Plant = fn(&mut Image, &Units, &mut Random) -> Option<PlantedDamage>;

/// A kind of damage, and whether reading must notice it (the checksum is wrong, or the page's id).
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) plant: Plant,
    pub(crate) read_notices: bool,
}

const fn kind(name: &'static str, plant: Plant) -> Kind {
    Kind { name, plant, read_notices: false }
}

const fn noticed(name: &'static str, plant: Plant) -> Kind {
    Kind { name, plant, read_notices: true }
}

/// All kinds, in the order of the report.
pub(crate) const KINDS: &[Kind] = &[
    noticed("a bit flips and the checksum stays", pages::bit),
    noticed("a page is written in another's place", pages::misdirected),
    noticed("a page was never written", pages::blank),
    kind("a column of an index changes in the row", rows::row_column),
    kind("a key or locator changes in an entry", rows::entry_key),
    kind("an included column changes in an entry", rows::included),
    kind("an entry is lost", rows::lost_entry),
    kind("an entry too many", rows::extra_entry),
    kind("a row is lost", rows::lost_row),
    kind("a row is a ghost, counted as one", rows::ghosted),
    kind("status bits, counts or ends of a record", rows::form),
    kind("two slots change places", pages::swapped),
    kind("a slot leads elsewhere", pages::slot),
    kind("a sibling link", pages::link),
    kind("a child pointer", pages::child),
    kind("a separator", pages::separator),
    kind("ghosts are miscounted", pages::ghosts),
    kind("free space is miscounted", pages::free),
    kind("a field of the header", pages::header),
    kind("a piece of a value is lost", rows::piece),
    kind("a pointer off the row", rows::pointer),
    kind("a bit of the GAM", maps::gam),
    kind("a bit of the SGAM", maps::sgam),
    kind("a byte of the PFS", maps::pfs),
    kind("a bit of an IAM page", maps::iam_bit),
    kind("the head of an IAM page", maps::iam_head),
    kind("a bit of the DIFF map", maps::diff),
    kind("the header of a map", maps::header),
];
