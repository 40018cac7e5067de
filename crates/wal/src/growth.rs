//! Growth: the log file grows by its increment, and the new space becomes VLFs piece by piece.
//!
//! ```text
//!  | header | VLFs                | zeroed | room, not yet written |
//!                               end     zeroed                 allocated
//! ```
//! The log writer grows the file ahead of need. When little is free, it extends the file by the
//! increment. Then it zeroes the new space (the room) in steps and makes VLFs of it. A session
//! makes a VLF itself only when its reservation would be refused otherwise, and makes just one
//! piece.
//!
//! Invariants
//!  1. end <= zeroed; end <= allocated. All three only grow, except in `shrink.rs`.
//!  2. A VLF is used only after its zeros, its header and the pointer that counts it are durable,
//!     in that order.
//!  3. A log with enough free space and no room left does not change.

use crate::log::{Log, LogOptions};
use crate::space::MARGIN_BYTES;
use crate::vlf::{VLF_BYTES_MAX, VLF_BYTES_MIN, VLF_HEADER_BYTES, VlfState, VlfStatus};
use crate::{CheckpointPointer, WalError};
use base::limits::LOG_SECTOR_BYTES;
use std::sync::atomic::Ordering::Relaxed;

/// How much the log writer zeroes in one step, between two flushes.
const STEP_BYTES: u64 = 1 << 20;
/// The size of the first pieces of a small log, and the size up to which pieces double. A session
/// that must wait for a piece then waits for little, and a large log has few VLFs.
const PIECE_BYTES_LEAST: u64 = 1 << 20;
const PIECE_BYTES_DOUBLE_TO: u64 = 8 << 20;
/// The log writer extends the file when less than a quarter of the log is free, or less than this
/// if that is smaller. A checkpoint is due when 70 % of the log are used: slow work gets its space
/// from the checkpoint and needs no growth.
const AHEAD_BYTES_MAX: u64 = 16 << 20;
/// How long growth ahead of need pauses after the disk has refused to extend the file.
const RETRY_NS: u64 = 1_000_000_000;

/// How far the file is made ready.
pub(crate) struct Growth {
    /// End of the last VLF.
    end: u64,
    /// Up to here the file is zeroed, not necessarily durably.
    zeroed: u64,
    /// Length of the file.
    allocated: u64,
    /// When growth may try the disk again.
    retry_ns: u64,
}

impl Growth {
    pub(crate) fn new(end: u64, allocated: u64) -> Growth {
        assert!(end <= allocated, "the last VLF ends within the file");
        Growth { end, zeroed: end, allocated, retry_ns: 0 }
    }

    /// End of the last VLF.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Length of the file.
    pub(crate) fn allocated(&self) -> u64 {
        self.allocated
    }

    /// The log ends earlier now, and perhaps the file does too. The space behind the end must be
    /// zeroed again.
    pub(crate) fn cut(&mut self, end: u64, allocated: u64) {
        assert!(end <= self.end && allocated <= self.allocated, "it becomes shorter");
        assert!(end <= allocated, "invariant 1");
        *self = Growth { end, zeroed: end, allocated, ..*self };
    }

    /// The bytes of the file that belong to no VLF yet, if they suffice for one.
    fn room(&self) -> Option<u64> {
        assert!(self.end <= self.zeroed && self.end <= self.allocated, "invariant 1");
        let sector = LOG_SECTOR_BYTES as u64;
        let room = (self.allocated - self.end) / sector * sector;
        (room >= VLF_BYTES_MIN).then_some(room)
    }

    /// The size of the next VLF: at least `least`, if the room has so much. A rest that would be
    /// too small for another VLF is added to it.
    fn piece(&self, room: u64, least: u64) -> u64 {
        let usual = self.end.clamp(PIECE_BYTES_LEAST, PIECE_BYTES_DOUBLE_TO).max(self.end / 8);
        let sector = LOG_SECTOR_BYTES as u64;
        let wanted = usual.max(least).min(VLF_BYTES_MAX).next_multiple_of(sector);
        let fits = if wanted + VLF_BYTES_MIN > room { room } else { wanted };
        let piece = fits.min(VLF_BYTES_MAX);
        assert!((VLF_BYTES_MIN..=room).contains(&piece), "a VLF of {piece} in {room}");
        piece
    }

    /// The log writer grows the file when less than this is free.
    fn ahead(&self) -> u64 {
        (self.end / 4).min(AHEAD_BYTES_MAX)
    }
}

impl LogOptions {
    /// How many bytes a file of that length grows by; 0 = it does not grow.
    fn increment(&self, length: u64) -> u64 {
        match self.growth_percent {
            0 => self.growth_bytes,
            percent => length.saturating_mul(percent.into()).div_ceil(100),
        }
    }
}

impl Log {
    /// Makes log space for a reservation of `bytes` that would be refused otherwise.
    ///
    /// # Errors
    /// [`WalError::Full`] when the file may not or cannot grow.
    pub(crate) fn grow(&self, bytes: u64) -> Result<(), WalError> {
        let mut growth = self.growth.lock();
        let full = || WalError::Full { because: self.reuse_wait() };
        loop {
            // While this session waited for the mutex, the log writer may have made enough.
            let wanted = self.reserved.load(Relaxed).saturating_add(bytes);
            if wanted.saturating_add(MARGIN_BYTES) <= self.free.load(Relaxed) {
                return Ok(());
            }
            if bytes > self.options().max_bytes.max(growth.allocated) {
                return Err(full());
            }
            let least = bytes + 2 * MARGIN_BYTES + VLF_HEADER_BYTES;
            let room = match growth.room() {
                Some(room) => room,
                None => self.extend(&mut growth, least).map_err(|_| full())?,
            };
            let piece = growth.piece(room, least);
            assert!(piece >= least.min(room.min(VLF_BYTES_MAX)), "as much as there is of it");
            self.add_vlf(&mut growth, piece).map_err(|_| full())?;
        }
    }

    /// One step of growth ahead of need. True when another step is to follow. The log writer calls
    /// it between flushes, so neither a flush nor a step waits long for the other.
    pub(crate) fn grow_ahead(&self) -> bool {
        let mut growth = self.growth.lock();
        if growth.retry_ns > os::clock::monotonic_ns() {
            return false;
        }
        let step = match growth.room() {
            Some(room) => {
                let piece = growth.piece(room, 0);
                let last = growth.zeroed + STEP_BYTES >= growth.end + piece;
                match last {
                    true => self.add_vlf(&mut growth, piece),
                    false => self.zero(&mut growth, STEP_BYTES),
                }
            }
            None if self.may_extend(&growth, 0) && self.unpromised() < growth.ahead() => {
                self.extend(&mut growth, 0).map(|_| ())
            }
            None => return false,
        };
        if step.is_err() {
            growth.retry_ns = os::clock::monotonic_ns() + RETRY_NS;
        }
        self.watch_free(&growth);
        step.is_ok()
    }

    /// Wakes the log writer when so little is free that the file should grow.
    pub(crate) fn wake_when_low(&self) {
        if self.unpromised() < self.grow_below.load(Relaxed) {
            self.wake_writer();
        }
    }

    /// Sets the amount of free space below which the log writer is woken; 0 when growth is not
    /// possible.
    pub(crate) fn watch_free(&self, growth: &Growth) {
        let possible = growth.retry_ns <= os::clock::monotonic_ns();
        let possible = possible && (growth.room().is_some() || self.may_extend(growth, 0));
        self.grow_below.store(if possible { growth.ahead() } else { 0 }, Relaxed);
    }

    /// Free bytes that no reservation holds.
    fn unpromised(&self) -> u64 {
        self.free.load(Relaxed).saturating_sub(self.reserved.load(Relaxed))
    }

    /// The file's length after it has grown by its increment, or by `least` if that is more. The
    /// file's size limit caps it. `None` when the file may not grow that far.
    fn next_length(&self, growth: &Growth, least: u64) -> Option<u64> {
        assert_eq!(growth.allocated, self.allocated.load(Relaxed), "both change here only");
        let options = self.options();
        let increment = options.increment(growth.allocated);
        if increment == 0 {
            return None;
        }
        let round = |to: u64| to.checked_next_multiple_of(8192);
        let to = round(growth.allocated.checked_add(increment.max(least))?)?;
        let enough = round(growth.allocated.checked_add(least.max(VLF_BYTES_MIN))?)?;
        let to = to.min(options.max_bytes / 8192 * 8192);
        (to >= enough).then_some(to)
    }

    fn may_extend(&self, growth: &Growth, least: u64) -> bool {
        self.next_length(growth, least).is_some()
    }

    /// Extends the file by its growth increment, or by `least` if that is more. Returns the room
    /// that the file has then.
    fn extend(&self, growth: &mut Growth, least: u64) -> Result<u64, WalError> {
        let full = || WalError::Full { because: self.reuse_wait() };
        let to = self.next_length(growth, least).ok_or_else(full)?;
        assert!(growth.room().is_none(), "room is used before more is asked for");
        self.lengthen(growth, to)?;
        growth.room().ok_or_else(full)
    }

    fn lengthen(&self, growth: &mut Growth, to: u64) -> std::io::Result<()> {
        assert!(growth.allocated < to, "the file only becomes longer");
        self.file.set_len(to)?;
        growth.allocated = to;
        self.allocated.store(to, Relaxed);
        self.counters.growths.fetch_add(1, Relaxed);
        Ok(())
    }

    /// Sets the growth increment and the size limit.
    ///
    /// # Errors
    /// The file's length, when it is longer than the new limit already; then nothing changes.
    pub fn set_growth(&self, to: &LogOptions) -> Result<(), u64> {
        let growth = self.growth.lock();
        if growth.allocated > to.max_bytes {
            return Err(growth.allocated);
        }
        self.adopt_growth(&growth, to);
        Ok(())
    }

    /// The same for a log that was just opened. A file longer than the limit stays as it is.
    pub fn restore_growth(&self, to: &LogOptions) {
        self.adopt_growth(&self.growth.lock(), to);
    }

    fn adopt_growth(&self, growth: &Growth, to: &LogOptions) {
        let mut options = self.options.lock();
        let LogOptions { growth_bytes, growth_percent, max_bytes, .. } = *to;
        *options = LogOptions { growth_bytes, growth_percent, max_bytes, ..*options };
        drop(options);
        self.watch_free(growth);
    }

    /// Extends the file to that length, regardless of its limit. A longer file stays as it is. The
    /// new space becomes VLFs as in any growth: the log writer makes them, or a session that needs
    /// one.
    ///
    /// # Errors
    /// The operating system's; the file is as it was.
    pub fn resize(&self, bytes: u64) -> std::io::Result<()> {
        let mut growth = self.growth.lock();
        if bytes > growth.allocated {
            self.lengthen(&mut growth, bytes)?;
            if let Err(e) = self.file.sync() {
                os::stop::process(&format!("sync of the longer log failed: {e}"));
            }
            self.watch_free(&growth);
        }
        drop(growth);
        self.wake_writer();
        Ok(())
    }

    fn zero(&self, growth: &mut Growth, most: u64) -> Result<(), WalError> {
        let n = most.min(STEP_BYTES).min(growth.allocated - growth.zeroed);
        assert!(n > 0, "there is something to zero");
        assert!(growth.zeroed >= growth.end, "what is in use is not zeroed");
        self.file.write_at(&vec![0; n as usize], growth.zeroed)?;
        growth.zeroed += n;
        Ok(())
    }

    /// Makes the next VLF durably, and only then lets it be used (invariant 2). When a step fails,
    /// what is on disk by then is unused, and the next try writes it again.
    fn add_vlf(&self, growth: &mut Growth, bytes: u64) -> Result<(), WalError> {
        let (offset, end) = (growth.end, growth.end + bytes);
        assert!(end <= growth.allocated, "a VLF lies within the file");
        while growth.zeroed < end {
            self.zero(growth, end - growth.zeroed)?;
        }
        let (create_lsn, status) = (self.next_lsn(), VlfStatus::Inactive);
        let vlf = VlfState { offset, bytes, sequence: 0, parity: 0, create_lsn, status };
        self.file.write_at(&vlf.header(), offset)?;
        if let Err(e) = self.file.sync() {
            os::stop::process(&format!("sync of the grown log failed: {e}"));
        }
        self.note_length(end)?;
        assert!(end <= growth.zeroed, "invariant 2: it was zeroed");
        growth.end = end;
        let mut tail = self.tail.lock();
        let before = tail.vlfs.last().map(|v| v.offset + v.bytes);
        assert_eq!(before, Some(offset), "VLFs follow each other without a gap");
        tail.vlfs.push(vlf);
        tail.check();
        self.publish_free(&tail);
        drop(tail);
        self.watch_free(growth);
        Ok(())
    }

    /// Writes the pointer again with the end of the last VLF, so that opening the log notices a
    /// file that was shortened from outside.
    pub(crate) fn note_length(&self, bytes: u64) -> Result<(), WalError> {
        let mut pointer = self.pointer.lock();
        assert!(pointer.file_bytes != bytes, "the end has moved");
        let generation = pointer.generation + 1;
        let next = CheckpointPointer { generation, file_bytes: bytes, ..*pointer };
        let covered = self.allocated.load(Relaxed) >= bytes;
        assert!(covered, "the pointer counts no more than the file has");
        self.write_pointer(&mut pointer, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces are small at first and few in the end. They leave no unusable rest.
    #[test]
    fn pieces_double_and_use_all_of_the_room() {
        const MB: u64 = 1 << 20;
        let mut growth = Growth::new(MB, 65 * MB);
        let mut pieces = Vec::new();
        while let Some(room) = growth.room() {
            let piece = growth.piece(room, 0);
            pieces.push(piece / MB);
            growth.end += piece;
            growth.zeroed = growth.end;
        }
        assert_eq!(growth.end, growth.allocated);
        assert_eq!(pieces, [1, 2, 4, 8, 8, 8, 8, 8, 8, 8, 1]);
        let large = Growth::new(4096 * MB, 5000 * MB);
        assert_eq!(large.piece(904 * MB, 0), 512 * MB, "an eighth of a large log");
        let asked = Growth::new(MB, 65 * MB);
        assert_eq!(asked.piece(64 * MB, 20 * MB), 20 * MB, "what a session needs at once");
        assert_eq!(Growth::new(MB, MB + VLF_BYTES_MIN - 1).room(), None);
    }
}
