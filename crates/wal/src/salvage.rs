//! Reads a damaged log as far as possible. It works on a copy that is thrown away later.
//!
//! A VLF header that is damaged is reconstructed from what follows it. When both checkpoint
//! pointers are lost, the log itself tells where recovery begins:
//!
//! ```text
//!   VLFs by number, as far back as none is missing:   n ─ n+1 ─ n+2 ─ n+3
//!   runs of sound blocks that follow each other:      [═════════╪═) [═══╪══)
//!                                                          END ─┘       └─ END of the last
//! ```
//! Recovery begins where the last whole checkpoint says. The last run that contains one decides.
//! Without any, recovery begins with the first block of the first run. Redo compares the LSN of
//! each page, so records from before the checkpoint cost only time.
//!
//! Invariants
//!  1. A pointer that is sound is believed.
//!  2. A checkpoint counts only if its END record is there, because its pages were durable when
//!     that was written. The record from which its recovery reads must lie in the same run.
//!  3. Each block is read once, however many runs there are.

use crate::block::{BlockView, records_of};
use crate::found::{FoundLog, follow_blocks, has_twins, vlf_at};
use crate::reader::LogEnd;
use crate::record::kinds;
use crate::vlf::{FILE_HEADER_BYTES, VLF_BYTES_MAX, VLF_BYTES_MIN, VLF_HEADER_BYTES, VlfState};
use crate::{CheckpointEnd, CheckpointPointer, WalError, file_header};
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use os::disk::File;
use std::io;
use std::sync::Arc;

const SECTOR: u64 = LOG_SECTOR_BYTES as u64;

impl FoundLog {
    /// Finds a log that may be damaged, up to the first missing block.
    ///
    /// # Errors
    /// The place where recovery begins cannot be found.
    pub fn salvage(file: Arc<dyn File>) -> Result<FoundLog, WalError> {
        let family = file_header::read_identity(&*file).unwrap_or_default();
        let vlfs = salvage_vlfs(&*file)?;
        let pointer = match file_header::read_pointer(&*file) {
            Ok(pointer) => pointer,
            Err(WalError::Unsound(_)) => lost_pointer(&*file, &vlfs)?,
            Err(e) => return Err(e),
        };
        let end = follow_blocks(&*file, &vlfs, pointer.min_lsn, |_, _| {})?;
        Ok(FoundLog { file, family, pointer, vlfs, end })
    }
}

/// All VLFs that can be recognized. One with a damaged header ends where the next sound header
/// begins, and gets its number from its first block.
fn salvage_vlfs(file: &dyn File) -> Result<Vec<VlfState>, WalError> {
    let len = file.len()?;
    let (mut vlfs, mut at) = (Vec::new(), FILE_HEADER_BYTES);
    while at + VLF_BYTES_MIN <= len {
        let v = match vlf_at(file, at, len)? {
            Some(v) => v,
            None => made_up_vlf(file, at, len)?,
        };
        at += v.bytes;
        vlfs.push(v);
    }
    match vlfs.is_empty() || has_twins(&vlfs) {
        true => Err(WalError::Unsound("its virtual log files cannot be told")),
        false => Ok(vlfs),
    }
}

fn made_up_vlf(file: &dyn File, at: u64, len: u64) -> io::Result<VlfState> {
    let most = (len - at).min(VLF_BYTES_MAX) / SECTOR * SECTOR;
    let mut bytes = VLF_BYTES_MIN;
    while bytes < most && vlf_at(file, at + bytes, len)?.is_none() {
        bytes += SECTOR;
    }
    let mut block = [0; LOG_SECTOR_BYTES];
    file.read_at(&mut block, at + VLF_HEADER_BYTES)?;
    Ok(VlfState::made_up(at, bytes, BlockView::claimed_vlf(&block)))
}

/// Sound blocks that follow each other, and the checkpoints that they contain.
struct Run {
    start: Lsn,
    /// The begin record of the newest checkpoint so far.
    begun: Option<Lsn>,
    /// The last whole checkpoint: its begin record, and the LSN from which its recovery reads.
    checkpoint: Option<(Lsn, Lsn)>,
}

impl Run {
    fn take(&mut self, lsn: Lsn, block: BlockView<'_>) {
        for record in records_of(lsn, block.bytes) {
            if record.kind() == kinds::CHECKPOINT_BEGIN {
                self.begun = Some(record.lsn);
            }
            if let (Some(end), Some(begun)) = (CheckpointEnd::of(&record), self.begun)
                && (self.start..=begun).contains(&end.min_lsn)
            {
                self.checkpoint = Some((begun, end.min_lsn));
            }
        }
    }
}

/// A checkpoint pointer in place of the lost ones, made from the log's records.
fn lost_pointer(file: &dyn File, vlfs: &[VlfState]) -> Result<CheckpointPointer, WalError> {
    let (mut start, mut read_to) = (None, Lsn::ZERO);
    for v in last_numbers(vlfs) {
        if read_to.vlf() >= v.sequence {
            continue;
        }
        let Some((run, end)) = run_from(file, vlfs, v.first_block())? else { continue };
        read_to = end.next_block;
        let first = Lsn(run.start.0 + 1);
        start = run.checkpoint.or(start).or(Some((first, first)));
    }
    let (checkpoint, min_lsn) = start.ok_or(WalError::Unsound("it has no block"))?;
    let file_bytes = vlfs.last().map_or(FILE_HEADER_BYTES, |v| v.offset + v.bytes);
    let durable_end = Lsn::ZERO;
    let generation = 1;
    Ok(CheckpointPointer { generation, checkpoint, min_lsn, clean: false, file_bytes, durable_end })
}

/// The VLFs in use in order of their numbers, as far back as no number is missing.
fn last_numbers(vlfs: &[VlfState]) -> Vec<&VlfState> {
    let mut used: Vec<&VlfState> = vlfs.iter().filter(|v| v.sequence != 0).collect();
    used.sort_unstable_by_key(|v| v.sequence);
    let gap = used.windows(2).rposition(|two| two[0].sequence + 1 != two[1].sequence);
    used.split_off(gap.map_or(0, |at| at + 1))
}

fn run_from(
    file: &dyn File,
    vlfs: &[VlfState],
    start: Lsn,
) -> Result<Option<(Run, LogEnd)>, WalError> {
    let mut run = Run { start, begun: None, checkpoint: None };
    match follow_blocks(file, vlfs, start, |lsn, block| run.take(lsn, block)) {
        Ok(end) => Ok(Some((run, end))),
        Err(WalError::Missing(_)) => Ok(None),
        Err(e) => Err(e),
    }
}
