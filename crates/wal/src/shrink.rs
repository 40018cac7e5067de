//! Shrinking: VLFs at the end of the log that nothing needs are removed, and the file becomes
//! shorter.
//!
//! ```text
//!  1. in memory: the VLFs leave the tail, and the free space becomes less
//!  2. the pointer with the earlier end, synced
//!  3. the file is cut, synced
//! ```
//! The open end of the log may lie in the last VLF and prevent this. [`Log::leave_vlf`] then
//! continues the log in another VLF, and a checkpoint frees the last one.
//!
//! Invariants
//!  1. A VLF that is needed stays, and at least two VLFs stay.
//!  2. Reservations + margin <= free space, before and after. A session that reserves log space
//!     first adds to the reservations and then reads the free space again (`space.rs`). The thread
//!     that shrinks first lowers the free space and then reads the reservations. So at least one of
//!     the two sees the other, and gives way.
//!  3. At every moment the file is at least as long as the durable pointer says.

use crate::growth::Growth;
use crate::log::Log;
use crate::mutations::Fault;
use crate::space::MARGIN_BYTES;
use crate::vlf::{VlfState, VlfStatus};
use base::limits::{LOG_SECTOR_BYTES, PAGE_BYTES};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// The least number of virtual log files.
pub const VLFS_MIN: usize = 2;

/// Why a log did not become as short as was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShrinkStop {
    /// The log is short enough: its length is what was asked for, or up to one VLF more.
    Done,
    /// The last VLF is needed: 9008.
    InUse,
    /// The log has only [`VLFS_MIN`] VLFs: 9006.
    FewestVlfs,
    /// The remaining free space is reserved, or needed as the margin: 9009.
    Promised,
}

impl Log {
    /// Removes VLFs that nothing needs from the end of the file, while the file is longer than `to`
    /// bytes. A VLF that begins below `to` stays whole. Returns why it stopped.
    ///
    /// # Errors
    /// The operating system's, when the file could not be cut: then the log is shorter, but the
    /// file is not.
    pub fn shrink(&self, to: u64) -> std::io::Result<ShrinkStop> {
        let mut growth = self.growth.lock();
        let (gone, stop) = self.give_up_vlfs(to);
        let end = gone.last().map_or(growth.end(), |v| v.offset);
        let length = end.max(to.min(growth.allocated())).next_multiple_of(PAGE_BYTES as u64);
        let length = length.min(growth.allocated());
        if end == growth.end() && length == growth.allocated() {
            return Ok(stop);
        }
        if self.mutations.has(Fault::CutFirst) {
            self.cut(&mut growth, end, length)?;
        }
        if !gone.is_empty()
            && let Err(e) = self.note_length(end)
        {
            self.take_back(gone);
            return Err(std::io::Error::other(e));
        }
        let longer = growth.allocated();
        growth.cut(end, longer);
        self.cut(&mut growth, end, length)?;
        self.watch_free(&growth);
        Ok(stop)
    }

    /// Cuts the file to that length, durably.
    fn cut(&self, growth: &mut Growth, end: u64, length: u64) -> std::io::Result<()> {
        assert!(end <= length, "the VLFs that stay lie in the file");
        self.file.set_len(length)?;
        if let Err(e) = self.file.sync() {
            os::stop::process(&format!("sync of the shorter log failed: {e}"));
        }
        let shorter = length < growth.allocated();
        growth.cut(end, length);
        self.allocated.store(length, SeqCst);
        self.counters.shrinks.fetch_add(u64::from(shorter), Relaxed);
        Ok(())
    }

    /// Puts the VLFs back, because the pointer could not be written.
    fn take_back(&self, gone: Vec<VlfState>) {
        let mut tail = self.tail.lock();
        tail.vlfs.extend(gone.into_iter().rev());
        tail.check();
        self.publish_free(&tail);
    }

    /// Removes VLFs from the tail. Returns them, the last one first.
    fn give_up_vlfs(&self, to: u64) -> (Vec<VlfState>, ShrinkStop) {
        let mut tail = self.tail.lock();
        let mut gone = Vec::new();
        let stop = loop {
            let last = *tail.vlfs.last().expect("a log has a VLF");
            if last.offset < to {
                break ShrinkStop::Done;
            }
            if last.status == VlfStatus::Active {
                break ShrinkStop::InUse;
            }
            if tail.vlfs.len() <= VLFS_MIN {
                break ShrinkStop::FewestVlfs;
            }
            tail.vlfs.pop();
            self.publish_free(&tail);
            if self.is_short() {
                tail.vlfs.push(last);
                self.publish_free(&tail);
                break ShrinkStop::Promised;
            }
            gone.push(last);
        };
        tail.check();
        (gone, stop)
    }

    /// Whether less is free than is reserved (invariant 2).
    fn is_short(&self) -> bool {
        self.reserved.load(SeqCst).saturating_add(MARGIN_BYTES) > self.free.load(SeqCst)
    }

    /// Continues the log in another VLF, when the current one ends behind `to` bytes and a free one
    /// does not. The rest of the current VLF is unusable until that VLF is used again. Returns
    /// whether it moved. It does not move when nothing was logged in the current VLF yet, since a
    /// chain goes on from its last block. It does not move either when the lost rest is reserved.
    pub fn leave_vlf(&self, to: u64) -> bool {
        let mut tail = self.tail.lock();
        let current = *tail.current();
        let begun = !tail.block.is_empty() || tail.block.lsn > current.first_block();
        let fits = |v: &VlfState| v.offset + v.bytes <= to.max(current.offset);
        let next = tail.next_free().filter(|&next| fits(&tail.vlfs[next]));
        if current.offset + current.bytes <= to || !begun || next.is_none() {
            return false;
        }
        let rest = u64::from(current.units() - tail.block.lsn.block()) * LOG_SECTOR_BYTES as u64;
        self.publish_free(&tail);
        let free = self.free.load(SeqCst);
        self.free.store(free.saturating_sub(rest), SeqCst);
        if self.is_short() {
            self.free.store(free, SeqCst);
            return false;
        }
        let told = self.end_for(&tail);
        tail.leave_vlf(told);
        tail.check();
        self.publish_free(&tail);
        true
    }
}
