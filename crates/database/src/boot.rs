//! The boot page (1:9): where the system tables are. Nothing of a database can be read without it.
//!
//! | off | len | field |
//! |---|---|---|
//! | 96 | 4 | magic |
//! | 100 | 4 | version of the database's formats |
//! | 104 | 8 | upper bound of the sequence numbers of version tags on its pages |
//! | 112 | 4 + 2 | first IAM page of its own version store; zero: there is none yet |
//! | 128 | 16 x n | by system table: id 1, complete 1, zero 2, first IAM page 4 + 2, root 4 + 2 |
//! | 4096 | 2 | number of the database when it was made; 0 where no name is kept |
//! | 4098 | 2 | bytes of its name |
//! | 4100 | n | its name, UTF-8: the list of databases is rebuilt from it |

use crate::named::Identity;
use access::HobtPlaces;
use base::limits::PAGE_BYTES;
use base::{DatabaseId, PageId, Xsn};
use buffer::{Change, PageRef, Pages, Undo};
use catalog::{DatabaseOptions, SYSTEM_TABLES, SystemTable, SystemTableId};
use os::disk::File;
use os::vm::AlignedBuffer;
use page::{PageBytes, PageKind, PageView, at};
use space::boot_page;
use types::Collation;
use version::StoreNote;
use wal::{Group, TransactionChain};

const MAGIC: u32 = 0x4244_4C47;
/// The version of a database that has, or has had, accelerated recovery: earlier builds know
/// neither the records of its log, nor who owns its store's pages, nor which rows do not count, nor
/// in-row versions, nor which records checkpoints log again. Version 5 was the same without the
/// last, version 4 without the last two.
pub(crate) const VERSION: u32 = 6;
/// The version of a database whose names use a collation that earlier builds do not read.
const COLLATED_VERSION: u32 = 3;
/// The version of all other databases.
const PLAIN_VERSION: u32 = 2;
const FRONT: usize = at::BODY;
const XSN: usize = at::BODY + 8;
const STORE: usize = at::BODY + 16;
const TABLES: usize = at::BODY + 32;
const ENTRY: usize = 16;
const IDENTITY: usize = 4096;
const NAME_BYTES_MAX: usize = 1024;

const _: () = assert!(TABLES + ENTRY * SYSTEM_TABLES.len() <= IDENTITY);

fn position(id: SystemTableId) -> usize {
    let at = SYSTEM_TABLES.iter().position(|t| t.id == id);
    TABLES + ENTRY * at.expect("every system table is listed")
}

fn set(pages: &Pages, offset: usize, bytes: &[u8]) -> Result<(), buffer::BufferError> {
    let mut group = Group::new();
    let mut change = Change::new(pages, &mut group);
    let page = change.add(pages.write(boot_page())?);
    set_within(&mut change, page, offset, bytes);
    change.finish(&mut TransactionChain::default());
    Ok(())
}

fn set_within(change: &mut Change<'_>, page: PageRef, offset: usize, bytes: &[u8]) {
    let offset = (offset as u16).to_le_bytes();
    let payload: [&[u8]; 2] = [&offset, bytes];
    let unit = base::AllocUnitId(0);
    change.apply(page, unit, space::kinds::SET_FACTS, 0, &payload, Undo::Never);
}

/// The note of the database's own version store.
pub(crate) struct BootNote;

impl StoreNote for BootNote {
    fn page(&self) -> PageId {
        boot_page()
    }

    fn first_iam(&self, page: PageView<'_>) -> Option<PageId> {
        let first = PageId::new(u16_at(page, STORE + 4), u32_at(page, STORE));
        (first.page != 0).then_some(first)
    }

    fn put(&self, change: &mut Change<'_>, page: PageRef, first_iam: PageId) {
        let mut b = [0; 6];
        b[..4].copy_from_slice(&first_iam.page.to_le_bytes());
        b[4..].copy_from_slice(&first_iam.file.0.to_le_bytes());
        set_within(change, page, STORE, &b);
        set_within(change, page, FRONT + 4, &VERSION.to_le_bytes());
    }
}

/// Where the database's own version store begins, if it has one.
///
/// # Errors
/// 824.
pub(crate) fn read_store(pages: &Pages) -> Result<Option<PageId>, buffer::BufferError> {
    Ok(BootNote.first_iam(pages.read(boot_page())?.view()))
}

/// Records where a new system table is.
pub(crate) fn note_table(
    pages: &Pages,
    table: &SystemTable,
    places: HobtPlaces,
) -> Result<(), buffer::BufferError> {
    let mut b = [0; ENTRY];
    (b[0], b[1]) = (table.id as u8, 1);
    b[4..8].copy_from_slice(&places.first_iam.page.to_le_bytes());
    b[8..10].copy_from_slice(&places.first_iam.file.0.to_le_bytes());
    b[10..14].copy_from_slice(&places.root.page.to_le_bytes());
    b[14..16].copy_from_slice(&places.root.file.0.to_le_bytes());
    set(pages, position(table.id), &b)
}

/// Records the number and name of the database.
pub(crate) fn note_identity(
    pages: &Pages,
    id: DatabaseId,
    name: &str,
) -> Result<(), buffer::BufferError> {
    let name = name.as_bytes();
    if name.len() > NAME_BYTES_MAX {
        return Ok(());
    }
    let mut bytes = Vec::with_capacity(4 + name.len());
    bytes.extend(id.0.to_le_bytes());
    bytes.extend((name.len() as u16).to_le_bytes());
    bytes.extend(name);
    set(pages, IDENTITY, &bytes)
}

/// The number and name of a boot page's database, if the page has them.
pub(crate) fn identity(v: PageView<'_>) -> Option<Identity> {
    if v.kind() != Some(PageKind::Boot) || u32_at(v, FRONT) != MAGIC {
        return None;
    }
    let (id, bytes) = (u16_at(v, IDENTITY), usize::from(u16_at(v, IDENTITY + 2)));
    let name = v.0.get(IDENTITY + 4..IDENTITY + 4 + bytes.min(NAME_BYTES_MAX))?;
    let name = std::str::from_utf8(name).ok()?.to_owned();
    (id != 0 && !name.is_empty()).then_some(Identity { id: DatabaseId(id), name })
}

/// Records that the database is complete: the last step of making it.
pub(crate) fn note_whole(
    pages: &Pages,
    options: &DatabaseOptions,
) -> Result<(), buffer::BufferError> {
    let version = match options.collation == Collation::default() {
        _ if options.accelerated_recovery => VERSION,
        true => PLAIN_VERSION,
        false => COLLATED_VERSION,
    };
    let mut b = [0; 8];
    b[..4].copy_from_slice(&MAGIC.to_le_bytes());
    b[4..].copy_from_slice(&version.to_le_bytes());
    set(pages, FRONT, &b)
}

/// Records that the database has accelerated recovery from now on; whether it had none before. The
/// version stays when the option is turned off: rows keep their tags, and the log its records.
pub(crate) fn note_accelerated(pages: &Pages) -> Result<bool, buffer::BufferError> {
    if boot_version(pages.read(boot_page())?.view()) == VERSION {
        return Ok(false);
    }
    set(pages, FRONT + 4, &VERSION.to_le_bytes()).map(|()| true)
}

/// Records that tags up to a sequence number may be on the database's pages.
pub(crate) fn note_xsn(pages: &Pages, xsn: Xsn) -> Result<(), buffer::BufferError> {
    set(pages, XSN, &xsn.0.to_le_bytes())
}

/// The upper bound of the tags on the database's pages.
///
/// # Errors
/// 824.
pub(crate) fn read_xsn(pages: &Pages) -> Result<Xsn, buffer::BufferError> {
    let guard = pages.read(boot_page())?;
    let v = guard.view();
    let xsn = Xsn(u64::from(u32_at(v, XSN)) | u64::from(u32_at(v, XSN + 4)) << 32);
    match xsn <= Xsn::MAX {
        true => Ok(xsn),
        false => Err(pages.corrupt(boot_page(), "a sequence number has 48 bits")),
    }
}

fn u32_at(v: PageView<'_>, at: usize) -> u32 {
    u32::from_le_bytes([v.0[at], v.0[at + 1], v.0[at + 2], v.0[at + 3]])
}

fn u16_at(v: PageView<'_>, at: usize) -> u16 {
    u16::from_le_bytes([v.0[at], v.0[at + 1]])
}

/// The version of a database's formats, from its boot page.
pub fn boot_version(v: PageView<'_>) -> u32 {
    u32_at(v, FRONT + 4)
}

/// The version in a database's file before recovery, if it is above what this program reads. A torn
/// page gives none.
pub(crate) fn later_version(file: &dyn File) -> Option<u32> {
    let mut buffer = AlignedBuffer::new(PAGE_BYTES);
    let boot = boot_page();
    file.read_at(&mut buffer, u64::from(boot.page) * PAGE_BYTES as u64).ok()?;
    let page: &PageBytes = buffer[..PAGE_BYTES].try_into().expect("the buffer is a page");
    let v = PageView(page);
    let sound = page::verify(page, boot) && v.kind() == Some(PageKind::Boot);
    let version = boot_version(v);
    (sound && u32_at(v, FRONT) == MAGIC && version > VERSION).then_some(version)
}

/// Reads where every system table is.
///
/// # Errors
/// 824 if the page is damaged or the database was never completed.
pub(crate) fn read_tables(
    pages: &Pages,
) -> Result<Vec<(SystemTableId, HobtPlaces)>, buffer::BufferError> {
    let guard = pages.read(boot_page())?;
    let v = guard.view();
    let wrong = |what| pages.corrupt(boot_page(), what);
    if v.kind() != Some(PageKind::Boot) || u32_at(v, FRONT) != MAGIC {
        return Err(wrong("the boot page is not that of a whole database"));
    }
    if !(PLAIN_VERSION..=VERSION).contains(&boot_version(v)) {
        return Err(wrong("the database has a version that this program does not read"));
    }
    let mut found = Vec::new();
    for table in SYSTEM_TABLES {
        let at = position(table.id);
        if v.0[at] != table.id as u8 || v.0[at + 1] != 1 {
            return Err(wrong("the boot page does not know a system table"));
        }
        let first_iam = PageId::new(u16_at(v, at + 8), u32_at(v, at + 4));
        let root = PageId::new(u16_at(v, at + 14), u32_at(v, at + 10));
        found.push((table.id, HobtPlaces { first_iam, root }));
    }
    Ok(found)
}
