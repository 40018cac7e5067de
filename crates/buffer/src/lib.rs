//! The buffer pool: pages in memory, latched guards, eviction, checkpoint writes; owns [`Change`].
//!
//! A page's address is computed from its id (reserved virtual memory, the vmcache idea), its
//! latch and state are one atomic word. [`Change`] is the only way to alter a page: it logs,
//! applies and stamps. See README.md for the protocol and its numbered rules.
//!
//! Unsafe code is in `raw.rs` only.

#![deny(unsafe_code)]

mod change;
mod checkpoint;
mod doublewrite;
mod error;
mod guard;
mod hint;
mod pages;
mod past_pool;
mod pool;
#[allow(unsafe_code)]
mod raw;
mod read_ahead;
mod reads;
mod shown;
mod state;
mod volatile;
mod writer;

pub use change::{Change, PageRef, Undo};
pub use checkpoint::FlushOutcome;
pub use doublewrite::{
    DOUBLEWRITE_FIRST_PAGE, DOUBLEWRITE_PAGES, log_end_of, restore as restore_torn_pages,
};
pub use error::BufferError;
pub use guard::{ReadGuard, WriteGuard};
pub use pages::{Pages, PagesOptions};
pub use pool::{Descriptor, Pool};
pub use read_ahead::ReadAhead;
pub use reads::{PageReads, PageWaits, Waits, page_reads, pages_dirtied, take_page_waits};
pub use shown::FrameFacts;
