//! The place of a record: its page and its slot. Two constants stand for no place.

use base::PageId;

/// The place of a record.
pub(crate) type Place = (PageId, u16);

/// The place of a ghost that is on no page.
pub(crate) const NOWHERE: Place = (PageId::NONE, 0);

/// Stands in place of a ghost's slot. It says that the page has room, because a transaction that
/// shortened or removed a row there has committed.
pub(crate) const ROOM: u16 = u16::MAX;
