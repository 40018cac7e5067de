//! Finds a log in its file: where it begins, where it ends, and whether a missing block was lost in
//! a crash or is damaged. It writes nothing, apart from `widen`.
//!
//! The search follows the chain of checksums from the checkpoint's `min_lsn` until a block is
//! missing. A crash may lose any block of a flush that had not ended, and keep later blocks. So a
//! missing block proves no damage, nor do sound blocks behind it. But each block records where the
//! durable log ended when the block was closed. So do the file's header and the doublewrite area of
//! the data file. Bytes that were durable once are there at every later start, however many crashes
//! came in between. So a record that says that the log was durable beyond the end that is found
//! proves damage.
//!
//! Invariants
//!  1. An end is recorded only after the sync that made it durable (`Log::end_to_tell`).
//!  2. A recorded end is the end of a block, never the place of the next block, which may be in the
//!     next VLF. The end that is found is of that kind too, so the two compare.
//!  3. A block that cannot be read does not end the log: it is an error of the disk.

use crate::append::Tail;
use crate::block::{BLOCK_HEADER_BYTES, BlockView};
use crate::log::{Log, LogOptions, synced};
use crate::reader::{LogEnd, read_block, successors, vlf_of};
use crate::vlf::{FILE_HEADER_BYTES, VLF_BYTES_MAX, VLF_BYTES_MIN, VlfState, VlfStatus};
use crate::{CheckpointPointer, WalError, file_header};
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use os::disk::File;
use std::io;
use std::sync::Arc;

/// How much is read at a time in the search for blocks.
const LOOK_BYTES: usize = 1 << 20;
const SECTOR: u64 = LOG_SECTOR_BYTES as u64;
/// `widen` adds at least twice this.
const WIDENED_BYTES_LEAST: u64 = 4 << 20;

/// A log in its file, as it was found.
pub struct FoundLog {
    pub(crate) file: Arc<dyn File>,
    pub(crate) family: [u8; 16],
    pub(crate) pointer: CheckpointPointer,
    pub(crate) vlfs: Vec<VlfState>,
    pub(crate) end: LogEnd,
}

impl FoundLog {
    /// Finds a log and its end.
    ///
    /// # Errors
    /// The file is no log, or it is damaged.
    pub fn find(file: Arc<dyn File>) -> Result<FoundLog, WalError> {
        let family = file_header::read_identity(&*file)?;
        let pointer = file_header::read_pointer(&*file)?;
        let vlfs = read_vlfs(&*file, pointer.file_bytes)?;
        let end = follow(&*file, &vlfs, pointer.min_lsn)?;
        let found = FoundLog { file, family, pointer, vlfs, end };
        let told = found.pointer.durable_end.max(file_header::read_end(&*found.file)?);
        // The checkpoint's record was durable before its pointer.
        found.must_reach(Lsn(found.pointer.checkpoint.0 + 1))?;
        found.must_reach(told)?;
        // Also behind a clean stop: what was logged since may have had no checkpoint.
        if let Some(durable) = found.look_beyond()? {
            found.must_reach(durable)?;
        }
        Ok(found)
    }

    /// Adds VLFs for everything that undo can write. In a log that is cut off, no such space was
    /// kept free. It writes to the file, so it is for a copy that is thrown away.
    ///
    /// # Errors
    /// The operating system's.
    pub fn widen(&mut self) -> io::Result<()> {
        let mut at = self.vlfs.last().map_or(FILE_HEADER_BYTES, |v| v.offset + v.bytes);
        let mut room = 2 * self.file.len()?.max(WIDENED_BYTES_LEAST) / SECTOR * SECTOR;
        self.file.set_len(at + room)?;
        while room >= VLF_BYTES_MIN {
            let v = VlfState::made_up(at, room.min(VLF_BYTES_MAX), 0);
            self.file.write_at(&v.header(), at)?;
            (at, room) = (at + v.bytes, room - v.bytes);
            self.vlfs.push(v);
        }
        Ok(())
    }

    /// The family id that ties the log to its data files.
    pub fn family(&self) -> [u8; 16] {
        self.family
    }

    /// The end of its last block.
    pub fn end(&self) -> Lsn {
        self.end.next_block
    }

    /// Checks that the log reaches an LSN that the caller knows was durable.
    ///
    /// # Errors
    /// [`WalError::Damaged`]: it ends before.
    pub fn must_reach(&self, durable: Lsn) -> Result<(), WalError> {
        match durable <= self.end() {
            true => Ok(()),
            false => Err(WalError::Damaged { at: self.end(), durable }),
        }
    }

    /// Opens it for appending. Nothing is written to the file yet: [`Log::go_on`] begins that.
    ///
    /// # Errors
    /// The operating system's.
    pub fn open(self, options: LogOptions) -> Result<Arc<Log>, WalError> {
        Log::of_found(self, options)
    }

    /// Searches behind the end for a block that records a later durable end.
    fn look_beyond(&self) -> io::Result<Option<Lsn>> {
        let end = self.end();
        let mut ahead: Vec<&VlfState> =
            self.vlfs.iter().filter(|v| v.sequence != 0 && v.sequence >= end.vlf()).collect();
        ahead.sort_unstable_by_key(|v| v.sequence);
        for v in ahead {
            let from = if v.sequence == end.vlf() { end } else { v.first_block() };
            if let Some(durable) = self.look_in(v, from.block())? {
                return Ok(Some(durable));
            }
        }
        Ok(None)
    }

    /// The same within one VLF, from a unit on. The inside of a sound block is skipped: logged data
    /// could look like a header.
    fn look_in(&self, v: &VlfState, from: u32) -> io::Result<Option<Lsn>> {
        let (mut window, mut window_at, mut buf) = (Vec::new(), from, Vec::new());
        let mut unit = from;
        while unit < v.units() {
            let lsn = Lsn::new(v.sequence, unit, 0);
            let mut within = (unit - window_at) as usize * LOG_SECTOR_BYTES;
            if within >= window.len() {
                let rest = u64::from(v.units() - unit) * SECTOR;
                window.resize(rest.min(LOOK_BYTES as u64) as usize, 0);
                self.file.read_at(&mut window, v.file_offset(lsn))?;
                (window_at, within) = (unit, 0);
            }
            unit += 1;
            let header = &window[within..within + BLOCK_HEADER_BYTES];
            if BlockView::claimed_units(header, lsn) == 0 {
                continue;
            }
            if let Some(block) = read_block(&*self.file, &self.vlfs, lsn, &mut buf)? {
                if let Some(durable) = block.durable_end().filter(|at| *at > self.end()) {
                    return Ok(Some(durable));
                }
                unit += block.units() - 1;
            }
        }
        Ok(None)
    }
}

impl Log {
    /// Opens a log at its end and goes on from there.
    ///
    /// # Errors
    /// The file is no log, or it is damaged: nothing is written then.
    pub fn open(file: Arc<dyn File>, options: LogOptions) -> Result<Arc<Log>, WalError> {
        let log = FoundLog::find(file)?.open(options)?;
        log.go_on()?;
        Ok(log)
    }

    /// Of a log that was found: in memory it has gone on, in its file not.
    pub(crate) fn of_found(found: FoundLog, options: LogOptions) -> Result<Arc<Log>, WalError> {
        let FoundLog { file, family, pointer, mut vlfs, end } = found;
        // A process that was killed may have left blocks unsynced that were found.
        synced(&*file);
        let (mut current, needed) = (None, pointer.min_lsn.vlf()..=end.next_block.vlf());
        let mut lost = Vec::new();
        for (i, v) in vlfs.iter_mut().enumerate() {
            if v.sequence != 0 && needed.contains(&v.sequence) {
                v.status = VlfStatus::Active;
            } else if v.sequence > end.next_block.vlf() {
                // Entered before the crash by records that were lost: forget it (rule 5).
                v.sequence = 0;
                lost.push(*v);
            }
            if v.sequence == end.next_block.vlf() {
                current = Some(i);
            }
        }
        let current = current.ok_or(WalError::Missing(end.next_block))?;
        let tail = Tail::new(vlfs, current, end.next_block, end.checksum);
        let log = Self::start(file, family, options, tail, pointer)?;
        *log.lost.lock() = Some(lost);
        Ok(log)
    }
}

/// Follows the chain from the block of a record to the last sound block.
fn follow(file: &dyn File, vlfs: &[VlfState], from: Lsn) -> Result<LogEnd, WalError> {
    follow_blocks(file, vlfs, from, |_, _| {})
}

/// The same, with each sound block shown on the way.
pub(crate) fn follow_blocks(
    file: &dyn File,
    vlfs: &[VlfState],
    from: Lsn,
    mut each: impl FnMut(Lsn, BlockView<'_>),
) -> Result<LogEnd, WalError> {
    let mut buf = Vec::new();
    let first = from.block_start();
    let Some(view) = read_block(file, vlfs, first, &mut buf)? else {
        return Err(WalError::Missing(from));
    };
    each(first, view);
    let (mut at, mut units, mut checksum) = (first, view.units(), view.checksum());
    loop {
        let mut next = None;
        for lsn in successors(vlfs, at, units).into_iter().flatten() {
            let view = read_block(file, vlfs, lsn, &mut buf)?;
            if let Some(view) = view.filter(|view| view.previous_checksum() == checksum) {
                each(lsn, view);
                next = Some((lsn, view.units(), view.checksum()));
                break;
            }
        }
        let Some((lsn, n, sum)) = next else { break };
        assert!(lsn > at && n > 0, "the chain goes forward");
        (at, units, checksum) = (lsn, n, sum);
    }
    let within = vlf_of(vlfs, at.vlf()).is_some_and(|v| at.block() + units <= v.units());
    assert!(within, "the last block lies within its VLF");
    Ok(LogEnd { next_block: Lsn::new(at.vlf(), at.block() + units, 0), checksum })
}

/// The header of a virtual log file at a place, if it is sound.
pub(crate) fn vlf_at(file: &dyn File, at: u64, len: u64) -> io::Result<Option<VlfState>> {
    let mut sector = [0; LOG_SECTOR_BYTES];
    file.read_at(&mut sector, at)?;
    Ok(VlfState::parse(&sector, at).filter(|v| v.bytes <= len - at))
}

/// Reads the VLF headers one after the other; the first unsound one is the end of the file.
fn read_vlfs(file: &dyn File, file_bytes: u64) -> Result<Vec<VlfState>, WalError> {
    let len = file.len()?;
    if len < file_bytes {
        return Err(WalError::Unsound("it has been shortened"));
    }
    let (mut vlfs, mut at) = (Vec::new(), FILE_HEADER_BYTES);
    while at + SECTOR <= len
        && let Some(v) = vlf_at(file, at, len)?
    {
        at += v.bytes;
        vlfs.push(v);
    }
    if vlfs.is_empty() || at < file_bytes {
        return Err(WalError::Unsound("the header of a virtual log file is damaged"));
    }
    if has_twins(&vlfs) {
        return Err(WalError::Unsound("two virtual log files have the same number"));
    }
    Ok(vlfs)
}

pub(crate) fn has_twins(vlfs: &[VlfState]) -> bool {
    let mut used: Vec<u32> = vlfs.iter().map(|v| v.sequence).filter(|&n| n != 0).collect();
    used.sort_unstable();
    used.windows(2).any(|two| two[0] == two[1])
}
