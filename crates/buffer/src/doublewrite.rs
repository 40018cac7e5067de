//! The doublewrite area: a batch of pages becomes durable here before the pages are written to
//! their places in the data files (their homes).
//!
//! A write of 8 KB is not atomic. The area is 32 pages of file 1: a header page that names the
//! pages of the batch, then their sealed copies. The homes of a batch are durable before the area
//! is reused. So a torn home always has its copy in the last batch, and a copy in the last batch is
//! always the last one that was written home.
//!
//! The header also says where the durable log ended when the batch was written; that is beyond the
//! LSN of every page at its home. A log that ends before is damaged (`wal/src/found.rs`). Headers
//! of earlier builds have 0 there.

use crate::BufferError;
use base::limits::PAGE_BYTES;
use base::{AllocUnitId, DatabaseId, Lsn, PageId};
use os::disk::File;
use os::vm::AlignedBuffer;
use page::{PageBytes, PageKind, PageMut, at};
use std::collections::BTreeMap;
use std::sync::Arc;

/// First page of the area in file 1.
pub const DOUBLEWRITE_FIRST_PAGE: u32 = 16;
/// Pages of the area, its header included.
pub const DOUBLEWRITE_PAGES: u32 = 32;

const COUNT_AT: usize = at::BODY;
const IDS_AT: usize = at::BODY + 8;
const LOG_END_AT: usize = IDS_AT + 8 * DOUBLEWRITE_PAGES as usize;
const OFFSET: u64 = DOUBLEWRITE_FIRST_PAGE as u64 * PAGE_BYTES as u64;
const HEADER_ID: PageId = PageId::new(1, DOUBLEWRITE_FIRST_PAGE);

pub(crate) struct Doublewrite {
    file: Arc<dyn File>,
}

impl Doublewrite {
    pub(crate) fn new(file: Arc<dyn File>) -> Self {
        Doublewrite { file }
    }

    /// Makes a batch durable. `buffer` is a page for the header and then the sealed copies; the
    /// durable log ends at `log_end`.
    pub(crate) fn write(
        &mut self,
        buffer: &mut [u8],
        ids: impl Iterator<Item = PageId>,
        log_end: Lsn,
    ) {
        assert_eq!(buffer.len() % PAGE_BYTES, 0, "whole pages");
        let (header, copies) = buffer.split_at_mut(PAGE_BYTES);
        let header: &mut PageBytes = header.try_into().expect("the header is a page");
        PageMut(header).format(PageKind::Boot, HEADER_ID, AllocUnitId(0), 0, 0);
        let n = copies.len() / PAGE_BYTES;
        assert!(n > 0 && n < DOUBLEWRITE_PAGES as usize, "a batch fits the area");
        let mut listed = 0;
        header[COUNT_AT..COUNT_AT + 4].copy_from_slice(&(n as u32).to_le_bytes());
        for (i, id) in ids.enumerate() {
            let copy = copies[i * PAGE_BYTES..(i + 1) * PAGE_BYTES].first_chunk();
            debug_assert!(copy.is_some_and(|c| page::verify(c, id)), "{id}: a copy is sealed");
            assert!(id.file.0 != 0, "file 0 has no pages");
            listed += 1;
            let at = IDS_AT + 8 * i;
            header[at..at + 4].copy_from_slice(&id.page.to_le_bytes());
            header[at + 4..at + 6].copy_from_slice(&id.file.0.to_le_bytes());
        }
        assert_eq!(listed, n, "each copy is named");
        header[LOG_END_AT..LOG_END_AT + 8].copy_from_slice(&log_end.0.to_le_bytes());
        page::seal(header);
        debug_assert!(page::verify(header, HEADER_ID), "restore will find the batch");
        debug_assert_eq!(u32_at(header, COUNT_AT) as usize, n, "and all of its copies");
        if let Err(e) = self.file.write_at(buffer, OFFSET) {
            os::stop::process(&format!("write of the doublewrite area: {e}"));
        }
        if let Err(e) = self.file.sync() {
            os::stop::process(&format!("sync of the doublewrite area failed: {e}"));
        }
    }
}

fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn listed_id(header: &[u8], i: usize) -> PageId {
    assert!(i + 1 < DOUBLEWRITE_PAGES as usize, "a batch fits the area");
    let at = IDS_AT + 8 * i;
    debug_assert!(at + 6 <= header.len(), "the list lies within its page");
    PageId::new(u16::from_le_bytes([header[at + 4], header[at + 5]]), u32_at(header, at))
}

/// Where the durable log ended when the last batch was written, as the area in file 1 says; zero
/// where there was none yet, or its header is torn.
///
/// # Errors
/// The operating system's.
pub fn log_end_of(first: &dyn File) -> std::io::Result<Lsn> {
    let mut header = AlignedBuffer::new(PAGE_BYTES);
    first.read_at(&mut header, OFFSET)?;
    let header: &PageBytes = header[..].try_into().expect("the header is a page");
    let end = header[LOG_END_AT..LOG_END_AT + 8].first_chunk().expect("eight bytes are eight");
    Ok(if page::verify(header, HEADER_ID) { Lsn(u64::from_le_bytes(*end)) } else { Lsn::ZERO })
}

/// Repairs torn homes from the last batch, before redo; returns the pages repaired.
///
/// Safe to be interrupted and repeated: a home is written from the same copy again.
///
/// # Errors
/// The operating system's.
pub fn restore(
    database: DatabaseId,
    files: &BTreeMap<u16, Arc<dyn File>>,
) -> Result<Vec<PageId>, BufferError> {
    let Some(first) = files.get(&1) else { return Ok(Vec::new()) };
    let io = |page: PageId, e: std::io::Error| BufferError::Io {
        doing: "read",
        page,
        database,
        file: String::new(),
        error: e.to_string(),
    };
    let mut area = AlignedBuffer::new(DOUBLEWRITE_PAGES as usize * PAGE_BYTES);
    first.read_at(&mut area, OFFSET).map_err(|e| io(HEADER_ID, e))?;
    let header: &PageBytes = area[..PAGE_BYTES].try_into().expect("the header is a page");
    if !page::verify(header, HEADER_ID) {
        files.values().for_each(synced);
        return Ok(Vec::new());
    }
    // A process that was killed may have left the batch unsynced. It becomes durable before a home
    // is written from it (rules 2 and 7).
    synced(first);
    let n = (u32_at(header, COUNT_AT) as usize).min(DOUBLEWRITE_PAGES as usize - 1);
    let mut repaired = Vec::new();
    let mut home = AlignedBuffer::new(PAGE_BYTES);
    for i in 0..n {
        let id = listed_id(header, i);
        let copy = &area[(i + 1) * PAGE_BYTES..(i + 2) * PAGE_BYTES];
        let sound: &PageBytes = copy.try_into().expect("a copy is a page");
        let (Some(file), true) = (files.get(&id.file.0), page::verify(sound, id)) else {
            continue;
        };
        let offset = u64::from(id.page) * PAGE_BYTES as u64;
        let read = file.read_at(&mut home, offset);
        let bytes: &PageBytes = home[..].try_into().expect("the buffer is a page");
        if read.is_ok() && page::verify(bytes, id) {
            continue;
        }
        if read.is_err_and(|e| e.kind() == std::io::ErrorKind::UnexpectedEof) {
            file.set_len(offset + PAGE_BYTES as u64).map_err(|e| io(id, e))?;
        }
        assert!(id != HEADER_ID, "the area has no copy of itself");
        file.write_at(copy, offset).map_err(|e| io(id, e))?;
        repaired.push(id);
    }
    // Also when no page was torn: homes that a killed process wrote and did not sync look sound now
    // and may still be lost. They become durable before the area is reused (rule 7).
    files.values().for_each(synced);
    Ok(repaired)
}

fn synced(file: &Arc<dyn File>) {
    if let Err(e) = file.sync() {
        os::stop::process(&format!("sync of repaired pages failed: {e}"));
    }
}
