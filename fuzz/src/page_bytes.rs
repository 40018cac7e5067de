//! Target `page`: the bytes of a page through every reader, verifier and writer of `page`.
//!
//! An input is a layout of columns, then steps: change the page the way the engine does, poke
//! bytes into it the way a bad disk does, or take the rest of the input as the whole page.
//!
//! Promises
//!  1. Every reader ends without panic on any bytes.
//!  2. On a page that [`page::check_slots`] calls sound, every writer works whose conditions hold,
//!     and leaves a sound page.
//!  3. What [`page::fits`] allows on any bytes, a writer does; a sound page is left sound.
//!  4. What was encoded is read back; a sealed page verifies, and with one bit changed it does not.
//!  5. A split's cut and append leave sound pages with the same records, or are refused with the
//!     page as it was.
//!  6. A prepared column is where its layout has it.
//!  7. An in-row version gives the row that it was made of, and leaves a sound page when it goes.

use crate::Input;
use crate::input::put_piece;
use base::limits::PAGE_BYTES;
use base::{AllocUnitId, Lsn, PageId, SlotNo, Xsn};
use page::{
    EXTENTS_PER_INTERVAL, ExtentBits, Field, InRowVersion, PageBytes, PageKind, PageMut, PageView,
    Pfs, Place, RecordKind, RecordPattern, RowLayout, VersionTag, check_slots, fits, record_length,
    runs, seal, slot_cost, verify,
};

const STEPS_MAX: usize = 400;
const ID: PageId = PageId::new(1, 77);

/// Builds a layout and runs the steps.
pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let (widths, layout) = layout(&mut input);
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
    PageMut(&mut bytes).format(PageKind::Data, ID, AllocUnitId(3), 0, layout.min_len());
    let mut steps = 0;
    while !input.is_empty() && steps < STEPS_MAX {
        steps += 1;
        step(&mut bytes, &mut input, &widths, &layout);
    }
    read_all(&bytes, &layout);
    seals(&mut bytes);
}

/// A layout of at most 20 columns.
fn layout(input: &mut Input<'_>) -> (Vec<Option<u16>>, RowLayout) {
    let kind = input.byte();
    let count = usize::from(input.byte()) % 21;
    let width = |b: u8| match b {
        0..=30 => Some(0),
        31..=120 => None,
        n => Some(u16::from(n - 120)),
    };
    let mut widths: Vec<Option<u16>> = (0..count).map(|_| width(input.byte())).collect();
    let layout = match kind % 4 {
        0 => RowLayout::of_entries(&widths, true, 0),
        1 => RowLayout::of_entries(&widths, false, 6),
        2 => RowLayout::of_rows(&widths),
        _ => {
            let mut layout = RowLayout::of_rows(&widths);
            let default = input.byte();
            for added in [width(default), width(input.byte())] {
                let wide = vec![default; added.map_or(3, |n| usize::from(n.max(1)))];
                layout.add_column(added, (default > 99).then_some(&wide[..]));
                widths.push(added);
            }
            layout
        }
    };
    assert_eq!(layout.column_count(), widths.len());
    (widths, layout)
}

fn step(bytes: &mut PageBytes, input: &mut Input<'_>, widths: &[Option<u16>], layout: &RowLayout) {
    match input.byte() % 20 {
        0 => poke(bytes, input),
        1 => whole(bytes, input),
        2 => header(bytes, input),
        3 => pfs(bytes, input),
        4 => bits(bytes, input),
        5 => read_all(bytes, layout),
        6 => tag(input),
        7 => redo(bytes, input, widths, layout),
        16 => split(bytes, input),
        17 => forwarding(bytes, input),
        18 => in_row(input, widths, layout),
        19 => drop_in_row(bytes, input),
        _ if check_slots(bytes).is_ok() => {
            write(bytes, input, widths, layout);
            assert_eq!(check_slots(bytes), Ok(()), "a writer leaves a sound page");
        }
        _ => {}
    }
}

/// A bad disk: bytes anywhere.
fn poke(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let at = usize::from(input.word()) % PAGE_BYTES;
    let n = usize::from(input.byte() % 8) + 1;
    let piece = input.take(n);
    for (byte, poked) in bytes[at..].iter_mut().zip(piece) {
        *byte = *poked;
    }
}

fn whole(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let piece = input.take(PAGE_BYTES);
    bytes[..piece.len()].copy_from_slice(piece);
}

fn header(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let mut page = PageMut(bytes);
    let id = PageId::new(input.word(), input.long());
    let lsn = Lsn(u64::from(input.long()) << 32 | u64::from(input.long()));
    page.set_prev_page(id);
    page.set_next_page(id);
    page.set_lsn(lsn);
    page.set_level(input.byte());
    let v = page.view();
    assert_eq!((v.prev_page(), v.next_page(), v.lsn()), (id, id, lsn));
    let kind = PageKind::from_byte(input.byte());
    if let Some(kind) = kind {
        assert_eq!(PageKind::from_byte(kind as u8), Some(kind));
    }
}

fn pfs(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let (number, value) = (input.long(), Pfs(input.byte()));
    let before = check_slots(bytes);
    let was = Pfs::get(PageView(bytes), number);
    value.set(&mut PageMut(bytes), number);
    let now = Pfs::get(PageView(bytes), number);
    assert_eq!(now, value);
    assert_eq!(now.is_allocated(), value.0 & Pfs::ALLOCATED != 0);
    assert!(Pfs::fullness_of(input.word()) <= 4);
    was.set(&mut PageMut(bytes), number);
    assert_eq!(check_slots(bytes), before, "what was changed is changed back");
}

fn bits(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let (from, extent) = (input.long(), input.long());
    let (from, on) = (from % EXTENTS_PER_INTERVAL, input.byte() & 1 != 0);
    let end = (from + input.long() % EXTENTS_PER_INTERVAL).min(EXTENTS_PER_INTERVAL);
    if let Some(found) = ExtentBits::first_set(PageView(bytes), from, end) {
        assert!((from..end).contains(&found) && ExtentBits::get(PageView(bytes), found));
    }
    let was = ExtentBits::get(PageView(bytes), extent);
    ExtentBits::set(&mut PageMut(bytes), extent, on);
    assert_eq!(ExtentBits::get(PageView(bytes), extent), on);
    ExtentBits::set(&mut PageMut(bytes), extent, was);
}

fn tag(input: &mut Input<'_>) {
    let writer = Xsn(u64::from(input.long()) << 8 | u64::from(input.byte()));
    let previous = (PageId::new(input.word(), input.long()), SlotNo(input.word()));
    let tag = VersionTag { previous, writer };
    let mut record = vec![0x40];
    record.extend_from_slice(&tag.bytes());
    assert_eq!(VersionTag::of(&record), Some(tag));
    let _ = VersionTag::of(input.take(20));
}

/// A split: the records from a slot on move to a new page, and perhaps back.
fn split(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let (from, back) = (u16::from(input.byte()), input.byte());
    let (v, sound) = (PageView(bytes), check_slots(bytes).is_ok());
    let (kind, min_len) = (v.kind().unwrap_or(PageKind::Data), v.min_len());
    let old = bytes.to_vec();
    let old = <&PageBytes>::try_from(&old[..]).expect("a page has its length");
    let moved = |old: &'_ PageBytes| -> Vec<Vec<u8>> {
        let slots = from..PageView(old).slot_count();
        slots.filter_map(|slot| PageView(old).record(slot).map(<[u8]>::to_vec)).collect()
    };
    if runs::cut(bytes, from).is_err() {
        assert!(bytes[..] == old[..], "promise 5");
        return;
    }
    assert!(!sound || check_slots(bytes) == Ok(()), "promise 5");
    let moved = moved(old);
    let mut right: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
    PageMut(&mut right).format(kind, ID, AllocUnitId(3), 0, min_len);
    let records = || moved.iter().map(|record| Some(&record[..]));
    let appended = runs::append(&mut right, records());
    assert!(!sound || appended == Ok(true) && check_slots(&right) == Ok(()), "promise 5");
    match back % 4 {
        0 => bytes.copy_from_slice(&right[..]),
        1 => drop(runs::append(bytes, records())),
        2 => drop(runs::append(bytes, records().chain([None]))),
        _ => {}
    }
    assert!(!sound || back % 4 == 2 || check_slots(bytes) == Ok(()), "promise 5");
}

/// A row that moves away and back, as heaps have it.
fn forwarding(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let (slot, home) = (u16::from(input.byte()), (PageId::new(1, input.long()), input.word()));
    assert_eq!(page::rid_of(&page::rid_bytes(home.0, home.1)), Some(home));
    let stub = page::stub(home);
    assert_eq!(page::stub_target(&stub), Some(home));
    let Some(record) = PageView(bytes).record(slot).map(<[u8]>::to_vec) else { return };
    let sound = check_slots(bytes).is_ok();
    if sound && RecordKind::of(record[0]) == RecordKind::Primary && page::home_of(&record).is_none()
    {
        let away = page::forwarded(&record, home);
        assert_eq!(page::home_of(&away), Some(home));
        assert_eq!(page::homed(&away)[..], record[..], "it comes home as it was");
        assert!(VersionTag::differs_only(&record, &record));
        let mut tagged = record.clone();
        let tag = VersionTag::new(Xsn(u64::from(home.1)), page::Previous::Lost(Xsn(3)));
        tag.put(&mut tagged);
        assert!(VersionTag::is_on(&tagged) && VersionTag::of(&tagged) == Some(tag));
        assert_eq!(tag.before(), page::Previous::Lost(Xsn(3)));
        let room = PageView(bytes).free_count();
        if record.len() < stub.len() && usize::from(room) >= stub.len()
            || record.len() >= stub.len()
        {
            PageMut(bytes).replace(slot, &stub);
            assert_eq!(check_slots(bytes), Ok(()), "a writer leaves a sound page");
        }
    }
    // A heap's row has a column of its own, so two bytes are missing at most.
    let of_heap = record.len() + 2 >= page::STUB_BYTES && !RecordKind::of(record[0]).is_index();
    if sound && of_heap && !VersionTag::is_on(&record) {
        let mut padded = record;
        page::pad(&mut padded);
        assert!(padded.len() >= page::STUB_BYTES);
    }
}

/// A row and the row after it, which keeps the former.
fn in_row(input: &mut Input<'_>, widths: &[Option<u16>], layout: &RowLayout) {
    let (room, poked) = (usize::from(input.byte()), input.word());
    let (Some(former), Some(mut new)) =
        (record(input, widths, layout), record(input, widths, layout))
    else {
        return;
    };
    let Some(version) = InRowVersion::of(&former, &new, room) else { return };
    assert!(version.len() <= room.min(page::IN_ROW_BYTES_MAX), "promise 7");
    version.put(&mut new, Xsn(9), Xsn(8));
    let read = |record: &[u8]| {
        let mut out = Vec::new();
        page::in_row_former(record, &mut out).map(|()| out)
    };
    let mut wanted = former;
    VersionTag::new(Xsn(8), page::Previous::None).put(&mut wanted);
    assert_eq!(record_length(&new, layout.min_len()), Some(new.len()), "promise 7");
    assert_eq!(read(&new), Some(wanted), "promise 7");
    // Damage within the version or elsewhere.
    let at = usize::from(poked >> 4) % new.len();
    new[at] ^= poked as u8 | 1;
    let _ = (read(&new), page::in_row_runs(&new), layout.check(&new));
    let _ = (record_length(&new, layout.min_len()), page::plain_record(&new));
}

/// Versions leave the records of slots that the input names.
fn drop_in_row(bytes: &mut PageBytes, input: &mut Input<'_>) {
    let sound = check_slots(bytes).is_ok();
    let slots: Vec<u8> = match input.byte() % 2 {
        0 => input.take(8).to_vec(),
        _ => {
            let v = PageView(bytes);
            let has = |slot: &u16| v.record(*slot).and_then(page::in_row_version).is_some();
            (0..v.slot_count()).filter(has).flat_map(u16::to_le_bytes).collect()
        }
    };
    let before = bytes.to_vec();
    let allowed = page::check_drop_in_row(PageView(bytes), &slots);
    let dropped = page::drop_in_row(bytes, &slots);
    assert!(allowed.is_ok() || dropped == allowed && bytes[..] == before[..], "promise 7");
    assert!(!sound || dropped == allowed && check_slots(bytes).is_ok(), "promise 7");
}

/// The columns of a record, prepared and through the layout.
fn columns(record: &[u8], layout: &RowLayout, sound: bool) {
    for number in 0..layout.column_count() {
        let Some(range) = layout.column(number).range(record) else { continue };
        let Some(found) = record.get(range) else {
            assert!(!sound, "promise 6");
            continue;
        };
        let field = layout.field(record, number).and_then(Field::inline);
        assert!(!sound || field == Some(found), "promise 6: column {number} of {record:?}");
    }
    if let Some(alike) = RecordPattern::of(record) {
        assert!(alike.begins(record) && alike.len() == record.len());
        let _ = alike.begins(&record[..record.len() / 2]);
    }
}

/// Everything that can be asked of a page, its records and their columns.
fn read_all(bytes: &PageBytes, layout: &RowLayout) {
    let v = PageView(bytes);
    let facts = (v.kind(), v.kind_byte(), v.is_blank(), v.level(), v.flags(), v.alloc_unit());
    let _ = (facts, v.page_id(), v.free_count(), v.free_data(), v.ghost_count());
    let _ = (v.header_version(), v.type_flags(), v.index_id(), v.reserved_count());
    let _ = (v.xact_reserved(), v.xdes_id(), v.torn_bits(), v.has_checksum());
    let sound = check_slots(bytes).is_ok();
    let damages = page::damages(bytes);
    assert!(!sound || damages.is_empty(), "{damages:?}");
    let _ = page::header_damages(bytes);
    for slot in 0..v.slot_count().saturating_add(2) {
        let Some(record) = v.record(slot) else {
            assert!(!sound || v.slot_offset(slot).is_none_or(|at| at == 0));
            continue;
        };
        assert_eq!(record_length(record, v.min_len()), Some(record.len()));
        let kind = RecordKind::of(record[0]);
        if let Some(ghost) = kind.ghosted() {
            let mut dead = record.to_vec();
            dead[0] = RecordKind::with_kind(dead[0], ghost);
            let away = page::home_of(&dead).is_some();
            let lost = away != (kind == RecordKind::Forwarded) && !kind.is_index();
            assert!(ghost.is_ghost());
            assert!(lost || page::kind_before(&dead) == Some(kind), "{record:?}");
        }
        assert!(page::stub_target(record).is_none() || kind == RecordKind::ForwardingStub);
        if let (Some(home), RecordKind::Forwarded) = (page::home_of(record), kind) {
            assert_eq!(page::forwarded(&page::homed(record), home), record);
        }
        let before = VersionTag::of(record).map(VersionTag::before);
        let in_row = page::in_row_version(record).map(<[u8]>::len);
        let told = matches!(before, Some(page::Previous::InRow { bytes, .. })
            if Some(usize::from(bytes)) == in_row);
        assert!(told || in_row.is_none(), "promise 7: {record:?}");
        let _ = (page::in_row_former(record, &mut Vec::new()), page::in_row_runs(record));
        let _ = (page::has_null_bitmap(record[0]), page::has_variable_columns(record[0]));
        columns(record, layout, sound && layout.check(record).is_ok());
        for column in 0..layout.column_count() + 1 {
            if let Some(Field::Inline(field) | Field::OffRow(field)) = layout.field(record, column)
            {
                assert!(field.len() <= PAGE_BYTES);
            }
        }
        for cut in [0, 1, 3, 5, record.len() / 2] {
            let short = &record[..cut.min(record.len())];
            let _ = record_length(short, v.min_len());
            let _ = layout.field(short, 0);
        }
    }
}

fn seals(bytes: &mut PageBytes) {
    let id = PageView(bytes).page_id();
    seal(bytes);
    assert!(verify(bytes, id), "a sealed page verifies");
    let at = usize::from(bytes[96]) * 31 % PAGE_BYTES;
    bytes[at] ^= 4;
    assert!(!verify(bytes, id), "a changed page does not");
}

/// A record of the layout from the input, and its fields read back.
fn record(input: &mut Input<'_>, widths: &[Option<u16>], layout: &RowLayout) -> Option<Vec<u8>> {
    let how = input.byte();
    let of_index = layout_is_index(layout, widths);
    let nullable = layout.encoded_len(&[], false) > usize::from(layout.min_len());
    let values: Vec<Option<Vec<u8>>> =
        widths.iter().map(|&width| value(input, width, nullable)).collect();
    let off_row = how & 1 != 0;
    let fields: Vec<Field<'_>> = values
        .iter()
        .zip(widths)
        .map(|(value, width)| match value {
            None => Field::Null,
            Some(b) if width.is_none() && off_row && b.len() > 3 => Field::OffRow(b),
            Some(b) => Field::Inline(b),
        })
        .collect();
    let kind = match (of_index, how & 6) {
        (true, 6) => RecordKind::GhostIndex,
        (true, _) => RecordKind::Index,
        (false, 2) => RecordKind::GhostData,
        (false, 4) => RecordKind::Forwarded,
        (false, 6) => RecordKind::GhostVersion,
        (false, _) => RecordKind::Primary,
    };
    let tagged = how & 8 != 0;
    let tag = tagged.then_some(VersionTag { previous: (ID, SlotNo(1)), writer: Xsn(9) });
    let len = layout.encoded_len(&fields, tagged);
    if len > 8000 {
        return None;
    }
    let mut out = Vec::new();
    layout.encode(kind, &fields, tag, &mut out);
    assert_eq!(out.len(), len, "the length that was foretold");
    for (column, field) in fields.iter().enumerate() {
        assert_eq!(layout.field(&out, column), Some(*field), "column {column} is read back");
    }
    Some(out)
}

fn layout_is_index(layout: &RowLayout, widths: &[Option<u16>]) -> bool {
    let empty = RowLayout::of_rows(widths);
    layout.column_count() == empty.column_count()
        && [0, 6].iter().any(|&tail| {
            [true, false].iter().any(|&nulls| *layout == RowLayout::of_entries(widths, nulls, tail))
        })
}

fn value(input: &mut Input<'_>, width: Option<u16>, nullable: bool) -> Option<Vec<u8>> {
    let first = input.byte();
    if first == 0xFF && nullable {
        return None;
    }
    Some(match width {
        Some(0) => vec![first & 1],
        Some(n) => vec![first; usize::from(n)],
        None if first >= 0xF0 => vec![first; usize::from(first & 7) * 500],
        None => input.take(usize::from(first) % 48).to_vec(),
    })
}

/// One writer on a sound page, where its conditions hold.
fn write(bytes: &mut PageBytes, input: &mut Input<'_>, widths: &[Option<u16>], layout: &RowLayout) {
    let (choice, slot) = (input.byte() % 10, u16::from(input.byte()));
    let mut page = PageMut(bytes);
    let (count, min_len) = (page.view().slot_count(), page.view().min_len());
    let free = usize::from(page.view().free_count());
    let here = slot % count.max(1);
    let old = page.view().record(here).map(<[u8]>::len);
    let fits = |r: &Vec<u8>| record_length(r, min_len) == Some(r.len());
    match (choice, old) {
        (0..=2, _) => {
            let new = record(input, widths, layout).filter(fits);
            if let Some(new) = new.filter(|r| page.has_room(r.len())) {
                let at = slot % (count + 1);
                page.insert(at, &new);
                assert_eq!(page.view().record(at), Some(&new[..]));
            }
        }
        (3, Some(len)) => {
            let new = record(input, widths, layout).filter(fits);
            if let Some(new) = new.filter(|r| r.len() <= free + len) {
                page.replace(here, &new);
                assert_eq!(page.view().record(here), Some(&new[..]));
            }
        }
        (4, Some(_)) => page.remove(here),
        (5, Some(_)) => page.empty_slot(here),
        (6, None) if here < count => {
            let new = record(input, widths, layout).filter(fits);
            if let Some(new) = new.filter(|r| r.len() <= free) {
                page.fill_slot(here, &new);
                assert_eq!(page.view().record(here), Some(&new[..]));
            }
        }
        (7, Some(_)) => {
            let kind = RecordKind::of(page.view().record(here).map_or(0, |r| r[0]));
            if let Some(kind) = kind.ghosted().or(kind.unghosted()) {
                page.set_record_kind(here, kind);
            }
        }
        (8, Some(_)) => patch(&mut page, here, input, layout),
        _ => slots(&mut page, input),
    }
}

/// A writer as redo calls it: on what a disk had, asked for first.
fn redo(bytes: &mut PageBytes, input: &mut Input<'_>, widths: &[Option<u16>], layout: &RowLayout) {
    let (choice, slot) = (input.byte() % 6, u16::from(input.byte()));
    let sound = check_slots(bytes).is_ok();
    let new = if choice < 3 { record(input, widths, layout) } else { None };
    let new = new.unwrap_or_default();
    let mut page = PageMut(bytes);
    let v = page.view();
    let _ = (fits::header(v), fits::bytes_from(v, slot));
    let done = match choice {
        0 => fits::insert(v, slot, &new).map(|()| page.insert(slot, &new)),
        1 => fits::fill(v, slot, &new).map(|()| page.fill_slot(slot, &new)),
        2 => fits::replace(v, slot, &new).map(|()| page.replace(slot, &new)),
        3 => fits::remove(v, slot).map(|_| ()).map(|()| page.remove(slot)),
        4 => fits::ghost(v, slot).map(|kind| page.set_record_kind(slot, kind)),
        _ => fits::unghost(v, slot).map(|kind| page.set_record_kind(slot, kind)),
    };
    if done.is_ok() {
        assert!(!sound || check_slots(bytes).is_ok(), "a writer leaves a sound page");
    }
}

/// The bytes of a fixed column, which no length depends on.
fn patch(page: &mut PageMut<'_>, slot: u16, input: &mut Input<'_>, layout: &RowLayout) {
    let column = usize::from(input.byte()) % layout.column_count().max(1);
    if column >= layout.column_count() {
        return;
    }
    let Place::Fixed { offset, bytes } = layout.place(column) else { return };
    let end = usize::from(offset) + usize::from(bytes);
    let record = page.view().record(slot).unwrap_or_default();
    let kind = RecordKind::of(record.first().copied().unwrap_or_default());
    let own = record.get(2..4).map(|b| u16::from_le_bytes([b[0], b[1]]));
    let fixed_end = if kind.is_index() { Some(page.view().min_len()) } else { own };
    let data = !matches!(kind, RecordKind::ForwardingStub | RecordKind::Blob);
    if data && offset >= 4 && fixed_end.is_some_and(|at| end <= usize::from(at)) {
        let new = vec![input.byte(); usize::from(bytes)];
        if end <= record.len() {
            page.patch(slot, usize::from(offset), &new);
        }
    }
}

/// Slots without records, and packing.
fn slots(page: &mut PageMut<'_>, input: &mut Input<'_>) {
    match input.byte() % 4 {
        0 if slot_cost(0) <= usize::from(page.view().free_count()) => page.add_empty_slot(),
        1 => {
            let count = page.view().slot_count();
            let dropped = page.drop_last_empty_slot();
            assert_eq!(page.view().slot_count(), count - u16::from(dropped));
        }
        2 => page.pack(None),
        _ => page.pack(Some(&mut Vec::new())),
    }
}

/// Programs that build pages of rows, of entries and of heaps, and whole pages.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for kind in 0..4_u8 {
        for columns in [&[10][..], &[124, 80, 0, 0, 80, 130], &[80, 80, 80], &[200, 0, 121]] {
            let mut seed = vec![kind, columns.len() as u8];
            seed.extend_from_slice(columns);
            for step in 0..60_u8 {
                seed.extend_from_slice(&[8 + step % 10, step % 10, step, step % 16]);
                seed.extend((0..12_u8).map(|i| i.wrapping_mul(step)));
            }
            for step in 0..7 {
                seed.extend_from_slice(&[step, 22, 0, 3, 0, 1, 2, 3, 0xFF, 0xFF, 0xFF]);
            }
            seeds.push(seed);
        }
    }
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
    let layout = RowLayout::of_rows(&[Some(4), None]);
    let mut page = PageMut(&mut bytes);
    page.format(PageKind::Data, ID, AllocUnitId(3), 0, layout.min_len());
    for slot in 0..50 {
        let mut row = Vec::new();
        let fields = [Field::Inline(&[slot as u8; 4]), Field::Inline(b"text")];
        layout.encode(RecordKind::Primary, &fields, None, &mut row);
        page.insert(slot, &row);
    }
    seal(&mut bytes);
    let mut seed = vec![2, 2, 124, 80, 1];
    seed.extend_from_slice(&bytes[..]);
    seed.extend_from_slice(&[5, 9, 4, 3, 9, 5, 7, 11, 0, 2]);
    put_piece(&mut seed, b"tail");
    seeds.push(seed);
    seeds
}
