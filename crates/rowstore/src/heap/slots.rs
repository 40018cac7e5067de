//! Which slots of a heap's page take a new record.

use page::{PageView, slot_cost};

/// The slots that can take a new record, if `free` bytes are free: the empty ones, then a new one.
pub(crate) fn slots_for(
    view: PageView<'_>,
    free: usize,
    bytes: usize,
) -> impl Iterator<Item = u16> {
    debug_assert!(bytes > 0, "no record is empty");
    let count = view.slot_count();
    let fits = move |s: &u16| match *s < count {
        true => bytes <= free && view.slot_offset(*s) == Some(0),
        false => slot_cost(bytes) <= free,
    };
    (0..=count).filter(fits)
}
