//! The records of a page: raw (style 1), the page as bytes (style 2), decoded (style 3); and the
//! offsets of its slots.

use super::columns;
use super::header::Address;
use super::printout::Printout;
use super::read::{PageCopy, PageOwner};
use base::{HobtId, PageId, SlotNo};
use page::{
    PageView, Previous, RecordKind, StoreKind, VersionPtr, VersionTag, has_null_bitmap,
    has_variable_columns, home_of, in_row_runs, in_row_version, stub_target,
};
use rowstore::KeptVersion;

/// A record of the page, and the heading above it.
pub(super) struct Slot<'p> {
    pub(super) number: u16,
    pub(super) record: &'p [u8],
    pub(super) title: String,
}

/// The slots that have records.
fn slots(copy: &PageCopy, raw: bool) -> impl Iterator<Item = (Slot<'_>, u16)> {
    let v = copy.view();
    (0..v.slot_count()).filter_map(move |number| {
        let (at, record) = (v.slot_offset(number)?, v.record(number)?);
        let length = record.len();
        let title = match raw {
            true => format!("Slot {number}, Offset {at:#x}, Length {length}, DumpStyle BYTE"),
            false => format!("Slot {number} Offset {at:#x} Length {length}"),
        };
        Some((Slot { number, record, title }, at))
    })
}

/// Style 1: each record as bytes.
pub(super) fn raw(copy: &PageCopy, printed: &mut Printout) {
    printed.title("DATA:");
    for (slot, at) in slots(copy, true) {
        record(copy, "DATA:", &slot, at, printed);
    }
    offsets(copy.view(), printed);
}

/// Style 2: the page as bytes.
pub(super) fn whole(copy: &PageCopy, printed: &mut Printout) {
    printed.title("DATA:");
    printed.object("DATA:", format!("Memory Dump @{}", Address(copy.address())));
    printed.bytes(&copy.bytes[..], copy.address());
    offsets(copy.view(), printed);
}

/// Style 3: each record with its columns.
pub(super) fn decoded(copy: &PageCopy, owner: Option<&PageOwner>, printed: &mut Printout) {
    for (slot, at) in slots(copy, false) {
        record(copy, "PAGE HEADER:", &slot, at, printed);
        links(slot.record, printed);
        version(slot.record, printed);
        if let Some(owner) = owner {
            columns::decoded(&slot, copy.id, owner, printed);
            columns::former(&slot, owner, printed);
        }
    }
}

/// Style 3 of a page of a version store: each version with who superseded it and whose it is, and
/// then the record that it is, with its columns. SQL Server shows the rows of its internal table.
pub(super) fn versions(
    copy: &PageCopy,
    stored: &[KeptVersion<'_>],
    owner_of: &dyn Fn(HobtId) -> Option<PageOwner>,
    printed: &mut Printout,
) {
    for (slot, at) in slots(copy, false) {
        record(copy, "PAGE HEADER:", &slot, at, printed);
        let Some(kept) = stored.iter().find(|v| v.place.slot.0 == slot.number) else { continue };
        printed.line("Version Store Record", " = ", "");
        printed.line("\tSuperseding Transaction Timestamp", ": ", kept.superseder);
        printed.line("\tDatabaseId", ": ", kept.database);
        printed.line("\tPartitionId", ": ", kept.hobt);
        printed.line("\tRecord Type", ": ", type_of(kept.record[0]));
        printed.line("\tRecord Attributes", ": ", attributes(kept.record[0]));
        printed.line("\tRecord Size", ": ", kept.record.len());
        version(kept.record, printed);
        if let Some(owner) = owner_of(kept.hobt) {
            let title = slot.title.clone();
            let inner = Slot { number: slot.number, record: kept.record, title };
            columns::decoded(&inner, copy.id, &owner, printed);
        }
    }
}

fn record(copy: &PageCopy, parent: &str, slot: &Slot<'_>, at: u16, printed: &mut Printout) {
    let status = slot.record.first().copied().unwrap_or_default();
    printed.object(parent, slot.title.as_str());
    printed.field("Record Type", type_of(status));
    printed.field("Record Attributes", attributes(status));
    printed.field("Record Size", slot.record.len());
    let address = Address(copy.address() + u64::from(at));
    printed.object(&slot.title, format!("Memory Dump @{address}"));
    printed.bytes(slot.record, 0);
}

fn type_of(status: u8) -> &'static str {
    match RecordKind::of(status) {
        RecordKind::Primary => "PRIMARY_RECORD",
        RecordKind::Forwarded => "FORWARDED_RECORD",
        RecordKind::ForwardingStub => "FORWARDING_STUB",
        RecordKind::Index => "INDEX_RECORD",
        RecordKind::Blob => "BLOB_FRAGMENT",
        RecordKind::GhostIndex => "GHOST_INDEX_RECORD",
        RecordKind::GhostData => "GHOST_DATA_RECORD",
        RecordKind::GhostVersion => "GHOST_VERSION_RECORD",
    }
}

/// Each word follows a blank, as in SQL Server.
fn attributes(status: u8) -> String {
    let mut words = String::new();
    for (is, word) in [
        (has_null_bitmap(status), " NULL_BITMAP"),
        (has_variable_columns(status), " VARIABLE_COLUMNS"),
        (VersionTag::is_on(&[status]), " VERSIONING_INFO"),
    ] {
        words.push_str(if is { word } else { "" });
    }
    words
}

/// The page that a moved heap row is on now, or came from.
fn links(record: &[u8], printed: &mut Printout) {
    let place =
        |(page, slot): (PageId, u16)| format!("file {} page {} slot {slot}", page.file, page.page);
    if let Some(to) = stub_target(record) {
        printed.line("Forwarding to", "  =  ", place(to));
    }
    if let Some(from) = home_of(record) {
        printed.line("Forwarded from", "  =  ", place(from));
    }
}

/// The writer of a record, and the place of its former version. SQL Server has neither a ghost that
/// is its own former version nor a former version that was not kept. Both are distinguished from
/// "none".
fn version(record: &[u8], printed: &mut Printout) {
    let Some(tag) = VersionTag::of(record) else { return };
    let place = |(page, SlotNo(slot)): (PageId, SlotNo)| {
        format!("(file {} page {} currentSlotId {slot})", page.file, page.page)
    };
    let before = match tag.before() {
        Previous::None => "Null".to_owned(),
        Previous::Stored(VersionPtr { store: StoreKind::Shared, page, slot }) => {
            place((page, slot))
        }
        Previous::Stored(VersionPtr { store: StoreKind::Own, page, slot }) => {
            format!("{} in this database", place((page, slot)))
        }
        Previous::Itself(writer) => format!("Itself (Transaction Timestamp: {writer})"),
        Previous::Lost(writer) => format!("Lost (Transaction Timestamp: {writer})"),
        Previous::InRow { born, .. } => format!("In row (Transaction Timestamp: {born})"),
    };
    printed.line("Version Information", " = ", "");
    printed.line("\tTransaction Timestamp", ": ", tag.writer);
    printed.line("\tVersion Pointer", ": ", before);
    in_row(record, printed);
}

/// The former row that stands in the record: bytes, and of which of the record's bytes they take
/// the place.
fn in_row(record: &[u8], printed: &mut Printout) {
    let Some(version) = in_row_version(record) else { return };
    printed.line("\tIn-Row Version Payload Length", ": ", version.len());
    for (from, of, bytes) in in_row_runs(record) {
        let hex = bytes.iter().fold("0x".to_owned(), |s, b| format!("{s}{b:02x}"));
        let of = of.map_or(bytes.len(), usize::from);
        printed.line("\tIn-Row Version", ": ", format!("{hex} for {of} bytes at {from:#x}"));
    }
}

/// OFFSET TABLE: the last slot first, as on the page.
fn offsets(v: PageView<'_>, printed: &mut Printout) {
    printed.title("OFFSET TABLE:");
    printed.object("OFFSET TABLE:", "Row - Offset");
    for slot in (0..v.slot_count()).rev() {
        let Some(at) = v.slot_offset(slot) else { continue };
        printed.line(format!("{slot} ({slot:#x})"), " - ", format!("{at} ({at:#x})"));
    }
}
