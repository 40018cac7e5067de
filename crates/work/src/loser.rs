//! `Loser`: what recovery found in the log of a transaction without an end.

use wal::TransactionChain;

/// A transaction without an end, as the log tells of it.
#[derive(Clone, Debug)]
pub struct Loser {
    /// Its records.
    pub chain: TransactionChain,
    /// Wall time of its begin record, nanoseconds since 1970.
    pub began_at: i64,
    /// As its begin record names it.
    pub name: String,
    /// Log that its undo may write.
    pub undo_bytes: u64,
}
