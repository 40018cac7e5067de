//! The transaction log: blocks, records, group commit, scan, truncation; owns [`RedoHandler`].
//!
//! One stream a database. A log file is a header page and virtual log files (VLFs); a VLF is an
//! 8 KB header and blocks of 512 bytes to 60 KB; a block holds whole groups of records. What a
//! record means is its handler's business; the log knows its length, its transaction's chain
//! and where its group ends. See README.md for the protocol and its numbered rules.

#![forbid(unsafe_code)]

mod append;
mod block;
mod checkpoint_records;
mod counters;
mod error;
mod file_header;
mod flush;
mod found;
mod group;
mod growth;
mod log;
mod mutations;
mod reader;
mod record;
mod redo;
mod relief;
mod reuse_wait;
mod salvage;
mod scan;
mod shrink;
mod space;
mod vlf;

pub use checkpoint_records::{CheckpointEnd, checkpoint_began};
pub use counters::LogActivity;
pub use error::{Seal, WalError};
pub use file_header::CheckpointPointer;
pub use found::FoundLog;
pub use group::{Group, GroupOverflow, TransactionChain};
pub use log::{GroupRange, LOG_BYTES_MAX, Log, LogOptions, LogUsage};
pub use reader::{GroupView, LogReader, RecordReader};
pub use record::{Kind, RecordFlags, RecordView, kinds};
pub use redo::{ApplyError, PageOp, RecordDescription, RedoHandler, RedoTable};
pub use relief::LogRelief;
pub use reuse_wait::ReuseWait;
pub use scan::{BlockFacts, BlockScan, LogHold};
pub use shrink::{ShrinkStop, VLFS_MIN};
pub use space::LogReservation;
pub use vlf::{VlfState, VlfStatus};
