//! Target `redo`: log records on pages through every redo handler of a database.
//!
//! An input is a page, sealed or not, and operations on it: kind, slot, payload. The handlers are
//! those of [`database::redo_table`], which run in recovery and in every change alike.
//!
//! Promise: an operation is applied or refused; a page that was sound and whose operation was
//! applied stays one whose records can be read, and no operation panics.

use crate::Input;
use crate::input::put_piece;
use base::limits::PAGE_BYTES;
use base::{AllocUnitId, Lsn, PageId};
use page::{PageBytes, PageKind, PageMut, PageView, check_slots};
use std::sync::{Arc, OnceLock};
use wal::{Group, Kind, PageOp, RecordFlags, RecordView, RedoTable, kinds};

const OPERATIONS_MAX: usize = 200;
const ID: PageId = PageId::new(1, 77);
const UNIT: AllocUnitId = AllocUnitId(3);

fn table() -> &'static RedoTable {
    static TABLE: OnceLock<Arc<RedoTable>> = OnceLock::new();
    TABLE.get_or_init(database::redo_table)
}

/// Lays out a page and runs the operations.
pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let mut bytes: Box<PageBytes> = Box::new([0; PAGE_BYTES]);
    let kind = PageKind::from_byte(input.byte()).unwrap_or(PageKind::Data);
    let (level, min_len) = (input.byte(), input.word());
    PageMut(&mut bytes).format(kind, ID, UNIT, level, min_len);
    let whole = input.piece();
    bytes[..whole.len().min(PAGE_BYTES)].copy_from_slice(&whole[..whole.len().min(PAGE_BYTES)]);
    let mut operations = 0;
    while !input.is_empty() && operations < OPERATIONS_MAX {
        operations += 1;
        let (kind, slot) = (Kind(input.byte()), u16::from(input.byte()));
        let unit = if input.byte() < 250 { PageView(&bytes).alloc_unit() } else { UNIT };
        let payload = input.piece();
        describe(kind, slot, payload);
        let op = PageOp { kind, page: ID, slot, unit, payload };
        if table().apply(&op, &mut bytes).is_err() {
            // Recovery throws such a page away; here the next operation meets it half changed.
            continue;
        }
        read(&bytes);
    }
}

/// Everything that a page tells, damaged or not.
fn read(bytes: &PageBytes) {
    let v = PageView(bytes);
    let sound = check_slots(bytes).is_ok();
    for slot in 0..v.slot_count().min(50) {
        let record = v.record(slot);
        assert!(!sound || record.is_some() || v.slot_offset(slot) == Some(0));
    }
}

fn describe(kind: Kind, slot: u16, payload: &[u8]) {
    let mut group = Group::new();
    let flags = RecordFlags(0);
    if group.push_page(kind, flags, 7, Lsn::ZERO, (ID, slot, UNIT), &[payload]).is_err() {
        return;
    }
    assert_eq!(group.last_payload(), payload);
    let mut bytes = Vec::new();
    let length = (28 + payload.len()) as u16;
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&[kind.0, RecordFlags::PAGE, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(&[77, 0, 0, 0, 1, 0, slot as u8, 0, 3, 0, 0, 0]);
    bytes.extend_from_slice(payload);
    let record = RecordView::parse(Lsn::new(1, 16, 1), &bytes).expect("a record of our own");
    assert_eq!((record.payload(), record.kind(), record.page()), (payload, kind, Some(ID)));
    if let Some(handler) = table().handler(kind) {
        let images = handler.describe(&record).contents.into_iter().flatten();
        assert!(
            images.map(<[u8]>::len).sum::<usize>() <= payload.len(),
            "images are the payload's"
        );
        let _ = handler.explain(&record);
    }
}

fn operation(out: &mut Vec<u8>, kind: u8, slot: u8, payload: &[u8]) {
    out.extend_from_slice(&[kind, slot, 0]);
    put_piece(out, payload);
}

/// A row of an int and the entry of an index on it.
fn rows(n: u8) -> [Vec<u8>; 2] {
    let row = vec![0x10, 0, 8, 0, n, 0, 0, 0, 1, 0, 0];
    let entry = vec![0x06, n, 0, 0, 0, 77, 0, 0, 0, 1, 0];
    [row, entry]
}

/// Every operation of every handler, on the pages that they are for.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for first in [kinds::FIRST_OF_BTREE, kinds::FIRST_OF_HEAP] {
        for context in 0..4_u8 {
            let index = usize::from(first == kinds::FIRST_OF_BTREE && context > 0);
            let min_len = if index == 1 { 11 } else { 8 };
            let mut seed = vec![1 + index as u8, 0, min_len, 0, 0, 0];
            for kind in 0..12 {
                let kind =
                    first + if first == kinds::FIRST_OF_BTREE { context * 9 } else { 0 } + kind;
                for slot in 0..3 {
                    operation(&mut seed, kind, slot, &rows(slot)[index]);
                    operation(&mut seed, kind, slot, &[0, 4, 0, 4, 0, 7, 7, 7, 7, 8, 8, 8, 8]);
                    let mut replaced = Vec::new();
                    put_piece(&mut replaced, &rows(slot)[index]);
                    replaced.extend_from_slice(&rows(slot + 1)[index]);
                    operation(&mut seed, kind, slot, &replaced);
                }
                operation(&mut seed, kind, 0, &[]);
            }
            seeds.push(seed);
        }
    }
    // Pages of versions: put, change, put again, empty, out of order.
    let version = |record: &[u8]| {
        let mut bytes = vec![8, 0, 20 + record.len() as u8, 0];
        bytes.extend_from_slice(&[1, 2, 3, 4, 5, 6, 7, 0, 70, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(record);
        bytes
    };
    let mut seed = vec![1, 0, 0, 0, 0, 0];
    let kind = kinds::FIRST_OF_VERSIONS;
    operation(&mut seed, kind, 0, &[]);
    for slot in 0..4 {
        operation(&mut seed, kind + 1, slot, &version(&[slot; 30]));
        operation(&mut seed, kind + 3, slot, &[4, 0, 9, 9, 9, 9, 9, 9]);
        operation(&mut seed, kind + 3, slot, &[36, 0, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]);
    }
    operation(&mut seed, kind + 2, 1, &[]);
    operation(&mut seed, kind + 1, 1, &version(&[9; 90]));
    operation(&mut seed, kind + 2, 0, &[2, 0, 3, 0]);
    operation(&mut seed, kind + 2, 1, &[0, 0]);
    seeds.push(seed);
    for page in [8, 9, 10, 11, 13, 15, 16, 17_u8] {
        let mut seed = vec![page, 0, 0, 0, 0, 0];
        for kind in 0..6 {
            let kind = kinds::FIRST_OF_SPACE + kind;
            operation(&mut seed, kind, 0, &[page, 1, 0, 0, 0, 0, 8, 0, 0, 0, 1, 0]);
            operation(&mut seed, kind, 0, &[5, 0, 0, 0, 0, 0x40, 0, 0, 1]);
            operation(&mut seed, kind, 0, &[96, 0, 1, 2, 3, 4]);
        }
        seeds.push(seed);
    }
    seeds
}
