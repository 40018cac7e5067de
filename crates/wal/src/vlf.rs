//! Virtual log files: how many a new log has, their headers, which are in use.
//!
//! A VLF header is one 512-byte sector, so that it is old or new and never torn:
//! magic 4, sequence 4 (0 = never used), size 8, create LSN 8, parity 1, zero, checksum 4 at 508.

use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;

/// A VLF's blocks begin after this much.
pub(crate) const VLF_HEADER_BYTES: u64 = 8192;
/// The file header in front of the first VLF.
pub(crate) const FILE_HEADER_BYTES: u64 = 8192;
/// The largest VLF, 512 MB: its last sector stays unused, so that also the unit behind the last
/// block is a block offset that an LSN holds.
pub(crate) const VLF_BYTES_MAX: u64 = (Lsn::BLOCK_MAX as u64 + 1) * LOG_SECTOR_BYTES as u64;
/// The smallest useful VLF: its header and two blocks of the largest size.
pub(crate) const VLF_BYTES_MIN: u64 = VLF_HEADER_BYTES + 2 * 61_440;
const MAGIC: u32 = 0x4656_4C47;

/// Whether a VLF holds records that are needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VlfStatus {
    /// Never used or reusable: `vlf_status` 0 or 1.
    Inactive,
    /// Holds needed records: 2.
    Active,
}

/// One VLF, as sys.dm_db_log_info shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VlfState {
    /// Offset in the file in bytes.
    pub offset: u64,
    /// Size in bytes, header included.
    pub bytes: u64,
    /// Sequence number; 0 when never used.
    pub sequence: u32,
    /// 64 or 128, alternating at each reuse; 0 when never used.
    pub parity: u8,
    /// The end of the log when the VLF was made; zero for those made with the file.
    pub create_lsn: Lsn,
    /// Whether it is needed.
    pub status: VlfStatus,
}

impl VlfState {
    /// One whose header is lost.
    pub(crate) fn made_up(offset: u64, bytes: u64, sequence: u32) -> VlfState {
        let (create_lsn, status) = (Lsn::ZERO, VlfStatus::Inactive);
        VlfState { offset, bytes, sequence, parity: 64, create_lsn, status }
    }

    /// The LSN of its first block.
    pub(crate) fn first_block(&self) -> Lsn {
        assert!(self.sequence > 0, "a VLF that was never entered has no block");
        Lsn::new(self.sequence, (VLF_HEADER_BYTES / LOG_SECTOR_BYTES as u64) as u32, 0)
    }

    /// Units from its start to its end, as far as they can be used.
    pub(crate) fn units(&self) -> u32 {
        debug_assert!(self.bytes > VLF_HEADER_BYTES && self.bytes <= VLF_BYTES_MAX, "its size");
        (self.bytes / LOG_SECTOR_BYTES as u64).min(u64::from(Lsn::BLOCK_MAX)) as u32
    }

    /// Where in the file a block of it begins.
    pub(crate) fn file_offset(&self, block: Lsn) -> u64 {
        assert_eq!(block.vlf(), self.sequence, "the block is of this VLF");
        assert!(block.block() < self.units(), "the block begins within it");
        self.offset + u64::from(block.block()) * LOG_SECTOR_BYTES as u64
    }

    pub(crate) fn header(&self) -> [u8; LOG_SECTOR_BYTES] {
        let mut b = [0; LOG_SECTOR_BYTES];
        b[..4].copy_from_slice(&MAGIC.to_le_bytes());
        b[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        b[8..16].copy_from_slice(&self.bytes.to_le_bytes());
        b[16..24].copy_from_slice(&self.create_lsn.0.to_le_bytes());
        b[24] = self.parity;
        let sum = crc32c::crc32c(&b[..508]);
        b[508..].copy_from_slice(&sum.to_le_bytes());
        let same = VlfState { status: VlfStatus::Inactive, ..*self };
        debug_assert_eq!(Self::parse(&b, self.offset), Some(same), "what is written reads back");
        assert!(self.offset >= FILE_HEADER_BYTES, "behind the file's header");
        b
    }

    pub(crate) fn parse(b: &[u8; LOG_SECTOR_BYTES], offset: u64) -> Option<VlfState> {
        assert!(offset >= FILE_HEADER_BYTES, "VLFs begin behind the file's header");
        let u32_at = |at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | (u64::from(u32_at(at + 4)) << 32);
        if u32_at(0) != MAGIC || u32_at(508) != crc32c::crc32c(&b[..508]) {
            return None;
        }
        let sequence = u32_at(4);
        let sane = (VLF_BYTES_MIN..=VLF_BYTES_MAX).contains(&u64_at(8))
            && u64_at(8).is_multiple_of(LOG_SECTOR_BYTES as u64);
        sane.then_some(VlfState {
            offset,
            bytes: u64_at(8),
            sequence,
            parity: b[24],
            create_lsn: Lsn(u64_at(16)),
            status: VlfStatus::Inactive,
        })
    }
}

/// The sizes of the VLFs of a new log with that much space behind its file header.
///
/// SQL Server's rule: four up to 64 MB, eight up to 1 GB, sixteen above. A VLF never exceeds what
/// an LSN can address nor falls below two of the largest blocks.
pub(crate) fn vlf_sizes_at_creation(space: u64) -> Vec<u64> {
    const MB: u64 = 1 << 20;
    let wanted = match space {
        n if n <= 64 * MB => 4,
        n if n <= 1024 * MB => 8,
        _ => 16,
    };
    let most = (space / VLF_BYTES_MIN).max(1);
    let count = wanted.min(most).max(space.div_ceil(VLF_BYTES_MAX));
    let sector = LOG_SECTOR_BYTES as u64;
    let each = space / count / sector * sector;
    let mut sizes = vec![each; count as usize];
    if let Some(last) = sizes.last_mut() {
        *last = (space - each * (count - 1)) / sector * sector;
    }
    assert!(sizes.iter().sum::<u64>() <= space, "they fit");
    assert!(sizes.iter().all(|&s| s <= VLF_BYTES_MAX), "an LSN addresses each block");
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_log_has_as_many_as_documented() {
        const MB: u64 = 1 << 20;
        let count = |space| vlf_sizes_at_creation(space).len();
        assert_eq!((count(MB), count(64 * MB)), (4, 4));
        assert_eq!((count(512 * MB), count(2048 * MB)), (8, 16));
        for space in [MB, 300 * 1024, 65 * MB, 20_000 * MB] {
            let sizes = vlf_sizes_at_creation(space);
            assert!(sizes.iter().sum::<u64>() <= space);
            assert!(
                sizes.iter().all(|&s| (VLF_BYTES_MIN..=VLF_BYTES_MAX).contains(&s)),
                "{sizes:?}"
            );
        }
    }

    #[test]
    fn a_header_is_read_back_or_refused() {
        let v = VlfState {
            offset: 8192,
            bytes: 262_144,
            sequence: 7,
            parity: 128,
            create_lsn: Lsn(9),
            status: VlfStatus::Inactive,
        };
        let mut b = v.header();
        assert_eq!(VlfState::parse(&b, 8192), Some(v));
        b[5] ^= 1;
        assert_eq!(VlfState::parse(&b, 8192), None);
    }
}
