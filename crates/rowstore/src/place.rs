//! Where a record is: its page and its slot; and what stands for a place where there is none.

use base::PageId;

/// Where a row is.
pub(crate) type Place = (PageId, u16);

/// Where a ghost is that is on no page.
pub(crate) const NOWHERE: Place = (PageId::NONE, 0);

/// Instead of a ghost's slot: its page has room, now that a row which shrank or left is committed.
pub(crate) const ROOM: u16 = u16::MAX;
