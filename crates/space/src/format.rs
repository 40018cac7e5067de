//! A new data file: its header, maps, and in file 1 the boot page.
//!
//! A file is formatted before its database exists, so nothing of it is logged: it is written,
//! synced, and only then named by the catalog or the master file list.

use crate::SpaceError;
use crate::map::{INTERVAL_PAGES, is_system_extent};
use base::limits::PAGE_BYTES;
use base::{AllocUnitId, FileId, PageId};
use buffer::BufferError;
use os::disk::File;
use os::vm::AlignedBuffer;
use page::{ExtentBits, PageBytes, PageKind, PageMut, PageView, Pfs, at, seal, verify};

/// The first extent that is given to anybody; before it are headers, maps and the doublewrite
/// area.
pub const FIRST_FREE_EXTENT: u32 = 6;

/// What a file header page says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileFacts {
    /// Ties the files of a database together.
    pub family: [u8; 16],
    /// The file.
    pub file: FileId,
    /// Pages that the maps cover.
    pub size_pages: u32,
}

pub(crate) const SIZE_AT: usize = at::BODY + 24;
const FAMILY_AT: usize = at::BODY;
const FILE_AT: usize = at::BODY + 16;

fn io(page: u32, e: &std::io::Error) -> SpaceError {
    SpaceError::Buffer(BufferError::Io {
        doing: "write",
        page: PageId::new(1, page),
        database: Default::default(),
        file: String::new(),
        error: e.to_string(),
    })
}

/// Makes an empty data file of whole extents, at most one PFS interval, durably.
///
/// # Errors
/// The operating system's; [`SpaceError::Full`] when the disk is.
///
/// # Panics
/// When the size is not one of whole extents with room for the maps.
pub fn format_file(file: &dyn File, facts: &FileFacts) -> Result<(), SpaceError> {
    assert!(facts.size_pages.is_multiple_of(8) && facts.size_pages > FIRST_FREE_EXTENT * 8);
    assert!(facts.size_pages <= 8088, "longer files are grown");
    assert_ne!(facts.file.0, 0, "files count from 1");
    let bytes = u64::from(facts.size_pages) * PAGE_BYTES as u64;
    file.set_len(bytes).map_err(|_| SpaceError::Full)?;
    let mut buffer = AlignedBuffer::new(16 * PAGE_BYTES);
    for (number, kind) in [
        (0, PageKind::FileHeader),
        (1, PageKind::Pfs),
        (2, PageKind::Gam),
        (3, PageKind::Sgam),
        (6, PageKind::DiffMap),
        (7, PageKind::BulkMap),
        (9, PageKind::Boot),
    ] {
        let from = number as usize * PAGE_BYTES;
        let page = &mut buffer[from..from + PAGE_BYTES];
        let page: &mut PageBytes = page.try_into().expect("a page has its size");
        let id = PageId { file: facts.file, page: number };
        PageMut(page).format(kind, id, AllocUnitId(0), 0, 0);
        fill(page, kind, facts);
        seal(page);
        debug_assert!(verify(page, id), "sealed as it will be verified");
    }
    file.write_at(&buffer, 0).map_err(|e| io(0, &e))?;
    if let Err(e) = file.sync() {
        os::stop::process(&format!("sync of a new data file failed: {e}"));
    }
    Ok(())
}

fn fill(page: &mut PageBytes, kind: PageKind, facts: &FileFacts) {
    debug_assert_eq!(PageView(page).kind(), Some(kind), "formatted before it is filled");
    match kind {
        PageKind::FileHeader => {
            page[FAMILY_AT..FAMILY_AT + 16].copy_from_slice(&facts.family);
            page[FILE_AT..FILE_AT + 2].copy_from_slice(&facts.file.0.to_le_bytes());
            page[SIZE_AT..SIZE_AT + 4].copy_from_slice(&facts.size_pages.to_le_bytes());
            assert_eq!(facts_of(PageView(page)), *facts, "read as written");
        }
        PageKind::Pfs => {
            for n in 0..FIRST_FREE_EXTENT * 8 {
                Pfs(Pfs::ALLOCATED).set(&mut PageMut(page), n);
            }
            let next = Pfs::get(PageView(page), FIRST_FREE_EXTENT * 8);
            assert!(!next.is_allocated(), "behind the fixed pages nothing is allocated");
        }
        PageKind::Gam => {
            let extents = facts.size_pages / 8;
            for extent in (FIRST_FREE_EXTENT..extents).filter(|&e| !is_system_extent(e)) {
                ExtentBits::set(&mut PageMut(page), extent, true);
            }
            let first = ExtentBits::first_set(PageView(page), 0, extents);
            assert!(first.is_none_or(|e| e >= FIRST_FREE_EXTENT), "fixed pages are nobody's");
        }
        // No full backup yet: everything has changed since it.
        PageKind::DiffMap => {
            for extent in 0..INTERVAL_PAGES / 8 {
                ExtentBits::set(&mut PageMut(page), extent, true);
            }
        }
        _ => {}
    }
}

/// Reads a file's header before its database is open.
///
/// # Errors
/// When it cannot be read or is no file header.
pub fn read_file_facts(file: &dyn File, id: FileId) -> Result<FileFacts, SpaceError> {
    assert_ne!(id.0, 0, "files count from 1");
    let mut buffer = AlignedBuffer::new(PAGE_BYTES);
    file.read_at(&mut buffer, 0).map_err(|e| io(0, &e))?;
    let page: &PageBytes = buffer[..PAGE_BYTES].try_into().expect("the buffer is a page");
    let header = PageId { file: id, page: 0 };
    if !verify(page, header) || PageView(page).kind() != Some(PageKind::FileHeader) {
        return Err(SpaceError::Buffer(BufferError::Corrupt {
            page: header,
            database: Default::default(),
            file: String::new(),
            what: "the file header is damaged, or the file is not a data file",
        }));
    }
    Ok(facts_of(PageView(page)))
}

/// The facts of a sound header page.
pub fn facts_of(v: PageView<'_>) -> FileFacts {
    let b = v.0;
    let mut family = [0; 16];
    family.copy_from_slice(&b[FAMILY_AT..FAMILY_AT + 16]);
    let s = &b[SIZE_AT..SIZE_AT + 4];
    FileFacts {
        family,
        file: FileId(u16::from_le_bytes([b[FILE_AT], b[FILE_AT + 1]])),
        size_pages: u32::from_le_bytes([s[0], s[1], s[2], s[3]]),
    }
}
