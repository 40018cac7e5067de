//! Memory of a run, and the structures in it that operators share.
//!
//! ```text
//!   semaphore    the query memory of the instance, its grants and its queues
//!   grant        the part that one run has, and what it uses of it
//!   rows         rows kept in order: in memory, then in a file
//!   partitions   rows spread over files by hash
//!   value_set    values of IN over a subquery; spilled_set has them on disk
//!   key_set      keys that have come before
//!   blocks       elements and bytes that grow without being moved
//!   places       a hash table that grows part by part
//!   kept_rows    rows that outlive their statement
//!   codec, hash  values as bytes, and their hashes
//! ```
//! A structure asks `Run::take_memory` before it grows, and spills when the answer is false.

mod blocks;
pub(crate) mod codec;
mod grant;
mod hash;
mod kept_rows;
mod key_set;
mod partitions;
mod places;
mod rows;
mod semaphore;
mod spilled_set;
mod value_set;

pub(crate) use blocks::{Blocks, ByteBlocks};
pub(crate) use codec::Decoder;
pub(crate) use grant::{Grant, GrantPool, Needs, SharedGrant, WORKSPACE_BYTES};
pub(crate) use hash::{hash_row, hash_value};
pub use kept_rows::KeptRows;
pub(crate) use key_set::KeySet;
pub(crate) use partitions::{Files, LEVEL_MAX, Partitions};
pub(crate) use places::Places;
pub(crate) use rows::{RowBuffer, read_slots, value_bytes};
pub use semaphore::{BuildGrant, GrantRow, GrantWait, ResourceSemaphores, SemaphoreRow, Workspace};
pub(crate) use spilled_set::{SetWriter, SpilledSet};
pub(crate) use value_set::{Sighting, ValueSet};
