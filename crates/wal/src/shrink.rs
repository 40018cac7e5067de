//! Shrinking: virtual log files that nobody needs leave the end of the log, and the file becomes
//! shorter.
//!
//! ```text
//!  1. in memory: the VLFs leave the tail, what is free is less
//!  2. the pointer with the earlier end, synced
//!  3. the file is cut, synced
//! ```
//! What is in the way is the log's own end, when it lies in the last VLF: [`Log::leave_vlf`]
//! begins the next one, and a checkpoint frees what was left.
//!
//! Invariants
//!  1. No VLF leaves that is needed, and two stay.
//!  2. Reservations + margin <= free space, before and after: who asks for log while the log gets
//!     shorter looks at the free space once more after he was counted (`space.rs`), and the one
//!     who shrinks looks at the count after he has lowered the free space. One of them sees the
//!     other and gives way.
//!  3. The file is no shorter than the durable pointer says, at any moment.

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
    /// It did: what is left is the length that was asked for, or up to one VLF longer.
    Done,
    /// The last VLF is needed: 9008.
    InUse,
    /// There must be [`VLFS_MIN`]: 9006.
    FewestVlfs,
    /// What is left free is promised, or needed as a margin: 9009.
    Promised,
}

impl Log {
    /// Gives up virtual log files at the end of the file that nobody needs, as long as the file is
    /// longer than `to` bytes and the one that is given up does not begin below that: a VLF is
    /// kept whole. Says why no more of them went.
    ///
    /// # Errors
    /// The operating system's, when the file could not be cut: the log is shorter then, its
    /// file not.
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

    /// Makes the file that short, durably.
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

    /// The pointer could not be written: the VLFs stay.
    fn take_back(&self, gone: Vec<VlfState>) {
        let mut tail = self.tail.lock();
        tail.vlfs.extend(gone.into_iter().rev());
        tail.check();
        self.publish_free(&tail);
    }

    /// The VLFs that left the tail, the last one first.
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

    /// Whether less is free than is promised (invariant 2).
    fn is_short(&self) -> bool {
        self.reserved.load(SeqCst).saturating_add(MARGIN_BYTES) > self.free.load(SeqCst)
    }

    /// Goes on in another virtual log file, when the one in use ends behind `to` bytes and one
    /// that does not is free; the rest of the one in use is lost until it is used again. Whether
    /// it did: not where nothing was logged in it yet, as a log goes on from its last block, nor
    /// where what is lost is promised.
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
