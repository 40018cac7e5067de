//! A log file's bytes from outside: where blocks stand, and checksums made right again.
//!
//! A fuzzer that had to guess a CRC-32C would never get behind it. What it alters is therefore
//! sealed again, unless the input says that it should not be.

use crc32c::{crc32c, crc32c_append};

/// The unit of the log.
pub(crate) const SECTOR: usize = 512;
/// The first virtual log file, and the first block within one.
pub(crate) const FIRST_VLF: usize = 8192;
pub(crate) const VLF_HEADER: usize = 8192;
const BLOCK_HEADER: usize = 32;
const BLOCK_MAGIC: [u8; 4] = 0x3142_4C47_u32.to_le_bytes();

fn u16_at(b: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([b[at], b[at + 1]]))
}

fn u32_at(b: &[u8], at: usize) -> usize {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]) as usize
}

/// Seals a sector that has its checksum in its last four bytes: headers, pointers.
pub(crate) fn seal_sector(image: &mut [u8], at: usize) {
    if let Some(sector) = image.get_mut(at..at + SECTOR) {
        let sum = crc32c(&sector[..508]);
        sector[508..].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Offset of every block that follows from the first, over VLFs in the file's order.
pub(crate) fn blocks(image: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut vlf = FIRST_VLF;
    while vlf + SECTOR <= image.len() {
        let bytes = u32_at(image, vlf + 8);
        let end = (vlf + bytes).min(image.len());
        let mut at = vlf + VLF_HEADER;
        while at + BLOCK_HEADER <= end && image[at..at + 4] == BLOCK_MAGIC {
            found.push(at);
            at += u16_at(image, at + 12).max(1) * SECTOR;
        }
        if bytes < SECTOR {
            break;
        }
        vlf += bytes;
    }
    found
}

/// Makes the chain right from a block on: its checksum, and that of each that follows.
pub(crate) fn seal_chain(image: &mut [u8], places: &[usize]) {
    let mut previous = None;
    for &at in places {
        if at + BLOCK_HEADER > image.len() {
            continue;
        }
        if let Some(previous) = previous {
            image[at + 20..at + 24].copy_from_slice(&u32::to_le_bytes(previous));
        }
        let used = u32_at(image, at + 16);
        let Some(block) = image.get(at..at + used).filter(|b| b.len() >= BLOCK_HEADER) else {
            continue;
        };
        let sum = crc32c_append(crc32c_append(crc32c(&block[..24]), &[0; 4]), &block[28..]);
        image[at + 24..at + 28].copy_from_slice(&sum.to_le_bytes());
        previous = Some(sum);
    }
}

/// Offsets of the records of a block, as far as their lengths make sense: none where the file has
/// been made too short for it.
pub(crate) fn records(image: &[u8], block: usize) -> Vec<usize> {
    if block + BLOCK_HEADER > image.len() {
        return Vec::new();
    }
    let end = (block + u32_at(image, block + 16)).min(image.len());
    let (mut at, mut found) = (block + BLOCK_HEADER, Vec::new());
    while at + 16 <= end {
        found.push(at);
        match u16_at(image, at) {
            0..16 => break,
            n => at += n,
        }
    }
    found
}
