//! The log file's first 8 KB: what it is, and where the last complete checkpoint is.
//!
//! Sector 0 never changes: magic 8, version 4, database's family id 16, checksum at 508. Sectors 1
//! and 2 hold the checkpoint pointer in turn, so that a torn write of one leaves the other. Sector
//! 3 records where the durable log ended when the log was last idle: magic 8, LSN 8, checksum at
//! 508. It only serves to prove damage (`found.rs`). So no thread waits until it is durable, and it
//! is ignored when it is not sound.

use crate::WalError;
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use os::disk::File;

const MAGIC: u64 = 0x474F_4C54_484F_5347;
const VERSION: u32 = 1;
const END_MAGIC: u64 = 0x444E_454C_5453_4847;
const END_SECTOR: u64 = 3;
type Sector = [u8; LOG_SECTOR_BYTES];

/// Where recovery begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CheckpointPointer {
    /// Counts checkpoints; the larger of the two sectors counts.
    pub generation: u64,
    /// The begin record of the last complete checkpoint.
    pub checkpoint: Lsn,
    /// The first record that recovery needs: redo's start or the oldest transaction's begin.
    pub min_lsn: Lsn,
    /// Whether the database was closed with every page home: recovery has nothing to do.
    pub clean: bool,
    /// End of the last VLF: a file that is shorter, or whose VLFs end before, is damaged.
    pub(crate) file_bytes: u64,
    /// Where the durable log ended when this was written; zero in pointers of earlier builds.
    pub(crate) durable_end: Lsn,
}

fn sum_up(b: &mut Sector) {
    let sum = crc32c::crc32c(&b[..508]);
    b[508..].copy_from_slice(&sum.to_le_bytes());
}

fn is_sound(b: &Sector) -> bool {
    crc32c::crc32c(&b[..508]).to_le_bytes() == b[508..]
}

fn u64_at(b: &Sector, at: usize) -> u64 {
    debug_assert!(at + 8 <= 508, "a field lies before the checksum");
    let mut v = [0; 8];
    v.copy_from_slice(&b[at..at + 8]);
    u64::from_le_bytes(v)
}

impl CheckpointPointer {
    fn sector(&self) -> Sector {
        let mut b = [0; LOG_SECTOR_BYTES];
        b[..8].copy_from_slice(&self.generation.to_le_bytes());
        b[8..16].copy_from_slice(&self.checkpoint.0.to_le_bytes());
        b[16..24].copy_from_slice(&self.min_lsn.0.to_le_bytes());
        b[24] = u8::from(self.clean);
        b[32..40].copy_from_slice(&self.file_bytes.to_le_bytes());
        b[40..48].copy_from_slice(&self.durable_end.0.to_le_bytes());
        sum_up(&mut b);
        debug_assert_eq!(Self::parse(&b), Some(*self), "what is written reads back");
        b
    }

    fn parse(b: &Sector) -> Option<CheckpointPointer> {
        // Recovery reads from min_lsn through the checkpoint: no other order was ever written.
        let sound = is_sound(b) && u64_at(b, 0) > 0 && u64_at(b, 16) <= u64_at(b, 8);
        sound.then(|| CheckpointPointer {
            generation: u64_at(b, 0),
            checkpoint: Lsn(u64_at(b, 8)),
            min_lsn: Lsn(u64_at(b, 16)),
            clean: b[24] != 0,
            file_bytes: u64_at(b, 32),
            durable_end: Lsn(u64_at(b, 40)),
        })
    }

    fn offset(&self) -> u64 {
        (1 + self.generation % 2) * LOG_SECTOR_BYTES as u64
    }
}

/// Writes the sector that never changes.
pub(crate) fn write_identity(file: &dyn File, family: &[u8; 16]) -> Result<(), WalError> {
    let mut b = [0; LOG_SECTOR_BYTES];
    b[..8].copy_from_slice(&MAGIC.to_le_bytes());
    b[8..12].copy_from_slice(&VERSION.to_le_bytes());
    b[12..28].copy_from_slice(family);
    sum_up(&mut b);
    debug_assert!(is_sound(&b), "what is written reads back");
    Ok(file.write_at(&b, 0)?)
}

/// The family id of a log file.
pub(crate) fn read_identity(file: &dyn File) -> Result<[u8; 16], WalError> {
    let mut b = [0; LOG_SECTOR_BYTES];
    file.read_at(&mut b, 0)?;
    if !is_sound(&b) || u64_at(&b, 0) != MAGIC {
        return Err(WalError::NotALog("its header is not that of a log"));
    }
    if b[8..12] != VERSION.to_le_bytes() {
        return Err(WalError::NotALog("its version is not one this program reads"));
    }
    let mut family = [0; 16];
    family.copy_from_slice(&b[12..28]);
    Ok(family)
}

/// Writes a pointer into its sector and makes it durable.
pub(crate) fn write_pointer(file: &dyn File, p: &CheckpointPointer) -> Result<(), WalError> {
    assert!(p.generation > 0, "generation 0 means none");
    assert!(p.min_lsn <= p.checkpoint, "recovery reads from min_lsn through the checkpoint");
    assert!(p.file_bytes > crate::vlf::FILE_HEADER_BYTES, "a log has a VLF");
    file.write_at(&p.sector(), p.offset())?;
    if let Err(e) = file.sync() {
        os::stop::process(&format!("sync of the log's checkpoint pointer failed: {e}"));
    }
    Ok(())
}

/// The newer of the two pointers.
pub(crate) fn read_pointer(file: &dyn File) -> Result<CheckpointPointer, WalError> {
    let mut newest = None;
    for sector in 1..=2_u64 {
        let mut b = [0; LOG_SECTOR_BYTES];
        file.read_at(&mut b, sector * LOG_SECTOR_BYTES as u64)?;
        let p = CheckpointPointer::parse(&b);
        newest = newest.max_by_generation(p);
    }
    newest.ok_or(WalError::Unsound("it has no checkpoint"))
}

/// Notes where the durable log ends. Not durably.
pub(crate) fn write_end(file: &dyn File, end: Lsn) -> std::io::Result<()> {
    assert!(end > Lsn::ZERO, "a log has a first block");
    let mut b = [0; LOG_SECTOR_BYTES];
    b[..8].copy_from_slice(&END_MAGIC.to_le_bytes());
    b[8..16].copy_from_slice(&end.0.to_le_bytes());
    sum_up(&mut b);
    file.write_at(&b, END_SECTOR * LOG_SECTOR_BYTES as u64)
}

/// Where the durable log ended once, as far as that is recorded; zero if not.
pub(crate) fn read_end(file: &dyn File) -> Result<Lsn, WalError> {
    let mut b = [0; LOG_SECTOR_BYTES];
    file.read_at(&mut b, END_SECTOR * LOG_SECTOR_BYTES as u64)?;
    let sound = is_sound(&b) && u64_at(&b, 0) == END_MAGIC;
    Ok(if sound { Lsn(u64_at(&b, 8)) } else { Lsn::ZERO })
}

trait GenerationOrder {
    fn max_by_generation(self, other: Self) -> Self;
}

impl GenerationOrder for Option<CheckpointPointer> {
    fn max_by_generation(self, other: Self) -> Self {
        match (self, other) {
            (Some(a), Some(b)) => Some(if a.generation >= b.generation { a } else { b }),
            (a, b) => a.or(b),
        }
    }
}
