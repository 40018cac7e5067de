//! The page checksum: CRC-32C over the page with its own field taken as zero.
//!
//! Stored where SQL Server keeps its checksum (m_tornBits, offset 60), announced by flag 0x200.

use crate::header::{FLAG_CHECKSUM, PageBytes, PageView, at, u32_at};
use base::PageId;

fn compute(page: &PageBytes) -> u32 {
    let front = crc32c::crc32c(&page[..at::CHECKSUM]);
    let zeros = crc32c::crc32c_append(front, &[0; 4]);
    crc32c::crc32c_append(zeros, &page[at::CHECKSUM + 4..])
}

/// Writes the checksum: the last thing before a page goes to disk.
pub fn seal(page: &mut PageBytes) {
    let flags = PageView(page).flags() | FLAG_CHECKSUM;
    page[at::FLAGS..at::FLAGS + 2].copy_from_slice(&flags.to_le_bytes());
    let sum = compute(page);
    page[at::CHECKSUM..at::CHECKSUM + 4].copy_from_slice(&sum.to_le_bytes());
}

/// Whether these are the bytes that [`seal`] saw, of the page that is asked for.
pub fn verify(page: &PageBytes, id: PageId) -> bool {
    let v = PageView(page);
    v.flags() & FLAG_CHECKSUM != 0
        && v.page_id() == id
        && u32_at(page, at::CHECKSUM) == compute(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::{PageKind, PageMut};
    use base::AllocUnitId;

    #[test]
    fn every_single_bit_counts_and_so_does_the_address() {
        let mut b = [0; 8192];
        let id = PageId::new(1, 9);
        PageMut(&mut b).format(PageKind::Data, id, AllocUnitId(1), 0, 8);
        seal(&mut b);
        assert!(verify(&b, id) && !verify(&b, PageId::new(1, 10)));
        for at in [0, 1, 59, 60, 63, 64, 95, 96, 4000, 8191] {
            b[at] ^= 0x10;
            assert!(!verify(&b, id), "byte {at}");
            b[at] ^= 0x10;
        }
        assert!(!verify(&[0; 8192], PageId::NONE), "a blank page is not a sealed one");
    }
}
