//! Damaged bytes with a right checksum: verification finds them, and no operation dies of them.
#![allow(clippy::unwrap_used)]

mod rig;

use base::{PageId, limits::PAGE_BYTES};
use btree::{Bias, BtreeError, BtreeResult, KeyBuf, Position, SearchKey, SplitPolicy, Tree};
use buffer::{BufferError, Change, Undo};
use os::wait::{CancelReason, Waiter};
use page::{Fault, Field, PageBytes, PageMut, PageView, RecordKind, at};
use rig::{
    Op, Rig, Schema, TreeStart, fields_of, key_bytes, perform, read_page, verified, write_pages,
};
use sim::{Disk, DiskOptions, Options, Random, Simulation};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use wal::{Group, TransactionChain};

const ROWS: u32 = 3000;

/// A tree of three levels, home on disk, and its pages by level.
fn build(disk: &Disk, schema: Schema) -> (TreeStart, Vec<(PageId, u8)>) {
    let rig = Rig::create(disk, schema, 512);
    let tree = rig.tree(schema);
    let mut group = Group::new();
    for n in 0..ROWS {
        let op = Op::Put(schema.key(n), vec![5; 100]);
        perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
        if n % 10 == 0 {
            let op = Op::Ghost(schema.key(n));
            perform(&tree, schema, &mut group, &op, SplitPolicy::Half, Undo::Never, &mut || {});
        }
    }
    rig.checkpoint();
    let mut pages = Vec::new();
    assert_eq!(verified(&tree, &mut |id, v| pages.push((id, v.level()))), Vec::new());
    (rig.made(), pages)
}

/// Somebody who is told to end part-way sees no page more, and half a walk gives no findings.
#[test]
fn a_verification_that_is_cancelled_ends_at_once() {
    Simulation::run(7, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { latency: false, ..DiskOptions::default() });
        let (made, pages) = build(&disk, Schema::Rows);
        let tree = Rig::recover(&disk, made, 512).0.tree(Schema::Rows);
        for cut in [1, 2, pages.len() / 2, pages.len() - 1] {
            let (waiter, mut visited) = (Waiter::new(), 0);
            let ended = tree.verify(&waiter, &mut |_, _| {
                visited += 1;
                if visited == cut {
                    waiter.cancel(CancelReason::Kill);
                }
            });
            assert_eq!((ended, visited), (Err(CancelReason::Kill), cut));
        }
        assert_eq!(verified(&tree, &mut |_, _| {}), Vec::new());
    });
}

/// Changes a page on disk and makes its checksum right again.
fn damage(disk: &Disk, id: PageId, change: impl FnOnce(&mut PageBytes)) {
    let data = os::disk::Disk::open(
        disk,
        std::path::Path::new("data"),
        os::disk::OpenMode { create: false, direct: false },
    );
    let data = data.unwrap();
    let mut page = read_page(&*data, id);
    change(&mut page);
    let mut pages = BTreeMap::from([(id, page)]);
    write_pages(&*data, &mut pages);
}

fn with_damage(
    seed: u64,
    schema: Schema,
    body: impl Fn(&Disk, TreeStart, &[(PageId, u8)]) + Send + Sync,
) {
    let run = Simulation::try_run(seed, Options::default(), |_| {
        let disk = Disk::new(DiskOptions { seed, latency: false, ..DiskOptions::default() });
        let (made, pages) = build(&disk, schema);
        body(&disk, made, &pages);
    });
    match run.ended {
        sim::RunEnd::Done(()) => {}
        other => panic!("seed {seed}: {other:?}"),
    }
}

fn put_u16(page: &mut PageBytes, at: usize, v: u16) {
    page[at..at + 2].copy_from_slice(&v.to_le_bytes());
}

fn slot_at(slot: usize) -> usize {
    PAGE_BYTES - 2 * (slot + 1)
}

fn record_at(page: &PageBytes, slot: usize) -> usize {
    usize::from(u16::from_le_bytes([page[slot_at(slot)], page[slot_at(slot) + 1]]))
}

/// One fault of each sort, on a leaf in the middle (level 0) or an interior page (level 1).
#[test]
fn each_sort_of_damage_is_found_by_its_name() {
    type Plant = fn(&mut PageBytes);
    let swap: Plant = |p| {
        let (a, b) = (slot_at(2), slot_at(3));
        (p[a], p[a + 1], p[b], p[b + 1]) = (p[b], p[b + 1], p[a], p[a + 1]);
    };
    let cases: [(&str, u8, Plant, Fault); 16] = [
        ("unit", 0, |p| p[at::ALLOC_UNIT] ^= 1, Fault::Unit),
        ("level", 0, |p| p[at::LEVEL] = 1, Fault::Level),
        ("kind", 0, |p| p[at::KIND] = 2, Fault::PageKind),
        ("kind of interior", 1, |p| p[at::KIND] = 1, Fault::PageKind),
        ("slots", 0, |p| put_u16(p, at::SLOT_COUNT, 5000), Fault::Header),
        ("no entry", 1, |p| put_u16(p, at::SLOT_COUNT, 0), Fault::Header),
        ("ghosts", 0, |p| p[at::GHOST_COUNT] ^= 1, Fault::Slots),
        ("free bytes", 0, |p| p[at::FREE_COUNT] ^= 1, Fault::Slots),
        ("slot", 0, |p| put_u16(p, slot_at(1), 3), Fault::Slots),
        ("order", 0, swap, Fault::Order),
        ("order of interior", 1, swap, Fault::Order),
        ("left link", 0, |p| PageMut(p).set_prev_page(PageId::NONE), Fault::Previous),
        ("right link", 0, |p| PageMut(p).set_next_page(PageId::new(1, 1)), Fault::Next),
        (
            "bounds",
            0,
            |p| {
                let at = record_at(p, 0);
                p[at + 4..at + 8].copy_from_slice(&(-2_000_000_i32).to_le_bytes());
            },
            Fault::Low,
        ),
        (
            "kind of record",
            0,
            |p| {
                let at = record_at(p, 4);
                p[at] = RecordKind::with_kind(p[at], RecordKind::Forwarded);
            },
            Fault::Kind,
        ),
        (
            "child",
            1,
            |p| {
                let (a, b) = (record_at(p, 3), record_at(p, 4));
                p.copy_within(a + 5..a + 11, b + 5);
            },
            Fault::Twice,
        ),
    ];
    for (name, level, plant, fault) in cases {
        with_damage(1, Schema::Rows, |disk, made, pages| {
            let on_level: Vec<PageId> =
                pages.iter().filter(|p| p.1 == level).map(|p| p.0).collect();
            let id = on_level[on_level.len() / 2];
            damage(disk, id, plant);
            let (rig, _) = Rig::recover(disk, made, 64);
            let findings = verified(&rig.tree(Schema::Rows), &mut |_, _| {});
            assert!(findings.iter().any(|f| f.fault == fault), "{name}: {findings:?}");
        });
    }
}

/// Everything a tree does, on damaged pages: each answer is right, or an error that names a page.
fn try_everything(tree: &Tree, schema: Schema, random: &mut Random) -> u32 {
    let mut group = Group::new();
    let mut errors = 0;
    let mut note = |e: BtreeError| {
        assert!(
            matches!(e, BtreeError::Page(BufferError::Corrupt { .. }) | BtreeError::Space(_)),
            "{e}"
        );
        errors += 1;
    };
    for _ in 0..60 {
        let key = schema.key(random.below(u64::from(ROWS)) as u32);
        let bytes = key_bytes(&key);
        let fields = fields_of(&bytes);
        for bias in [Bias::FirstAtLeast, Bias::FirstAbove, Bias::LastAtMost, Bias::LastBelow] {
            let mut at = tree.seek(SearchKey { fields: &fields, bias });
            for _ in 0..300 {
                at = match at {
                    Ok(Some(leaf)) if bias == Bias::LastBelow => leaf.back(),
                    Ok(Some(leaf)) => leaf.forward(),
                    Ok(None) => break,
                    Err(e) => {
                        note(e);
                        break;
                    }
                };
            }
        }
        let _log = rig::reserve(tree);
        if let Err(e) = tree.free_if_empty(&mut group, &fields) {
            note(e);
        }
        if let Err(e) = tree.make_room(&mut group, &fields, 4000, SplitPolicy::Half) {
            note(e);
        }
        match tree.seek_write(&fields) {
            Ok(leaf) => {
                let (exact, room) = (leaf.is_exact(), leaf.has_room(400));
                if leaf.inspect().is_err() && random.one_in(2) {
                    continue;
                }
                let new = schema.record(&key, &[9; 380], false);
                let mut change = Change::new(tree.pages(), &mut group);
                let (page, slot) = leaf.join(&mut change);
                let by = Undo::By(3);
                let done = match random.below(4) {
                    0 if exact => tree.ghost(&mut change, page, slot, by),
                    1 if exact => tree.expunge(&mut change, page, slot, by),
                    2 if exact && room => tree.replace(&mut change, page, slot, &new, by),
                    _ if !exact && room => tree.insert(&mut change, page, slot, &new, by),
                    _ => continue,
                };
                match done {
                    Ok(()) => {
                        change.finish(&mut TransactionChain { id: 3, ..Default::default() });
                    }
                    Err(e) => note(e),
                }
            }
            Err(e) => note(e),
        }
    }
    errors
}

/// Random bytes of random pages, their checksums right: nothing panics, hangs or stops.
#[test]
fn no_operation_dies_of_any_damage() {
    let seeds = std::env::var("GHOSTLIGHT_SEEDS").ok().and_then(|n| n.parse().ok());
    let (mut found, seeds) = (0, seeds.unwrap_or(60_u64));
    for seed in 0..seeds {
        let schema = [Schema::Rows, Schema::Entries, Schema::LongKeys][seed as usize % 3];
        let counts = AtomicU32::new(0);
        with_damage(seed, schema, |disk, made, pages| {
            let mut random = Random::new(seed);
            for _ in 0..1 + random.below(4) {
                let interior = random.one_in(2);
                let of = pages.iter().filter(|p| (p.1 > 0) == interior).count() as u64;
                let n = random.below(of) as usize;
                let (id, _) = *pages.iter().filter(|p| (p.1 > 0) == interior).nth(n).unwrap();
                damage(disk, id, |page| scribble(page, &mut random));
            }
            let (rig, _) = Rig::recover(disk, made, 128);
            let tree = rig.tree(schema);
            let findings = verified(&tree, &mut |_, _| {}).len() as u32;
            let errors = try_everything(&tree, schema, &mut random);
            let again = verified(&tree, &mut |_, _| {}).len() as u32;
            let noticed = u32::from(findings > 0) + u32::from(errors > 0) + u32::from(again > 0);
            counts.store(noticed, Relaxed);
        });
        found += counts.into_inner();
    }
    assert!(u64::from(found) > seeds, "most damage is noticed: {found}");
}

fn scribble(page: &mut PageBytes, random: &mut Random) {
    let slots = u64::from(PageView(page).slot_count());
    for _ in 0..1 + random.below(4) {
        let at = match random.below(4) {
            // The header but for the page's own id, its LSN and checksum.
            0 => random.pick(&[1, 3, 8, 9, 12, 14, 15, 16, 20, 22, 23, 24, 28, 29, 30, 31, 58, 59]),
            1 => PAGE_BYTES - 1 - random.below(2 * slots.clamp(1, 4000)) as usize,
            2 => {
                let slot = random.below(slots.clamp(1, 4000)) as usize;
                record_at(page, slot).min(PAGE_BYTES - 20) + random.below(16) as usize
            }
            _ => 96 + random.below(8096) as usize,
        };
        if (32..58).contains(&at) || (60..64).contains(&at) {
            continue;
        }
        page[at] = match random.below(3) {
            0 => random.next_u64() as u8,
            1 => page[at] ^ (1 << random.below(8)),
            _ => random.pick(&[0, 0xFF, 0x7F, 0x80]),
        };
    }
}

/// A ring of links, a child that is its own parent, a right neighbour of another level.
#[test]
fn links_that_lead_in_circles_are_errors() {
    with_damage(7, Schema::Rows, |disk, made, pages| {
        let leaves: Vec<PageId> = pages.iter().filter(|p| p.1 == 0).map(|p| p.0).collect();
        damage(disk, leaves[9], |p| PageMut(p).set_next_page(leaves[3]));
        damage(disk, made.root, |p| {
            let last = usize::from(PageView(p).slot_count()) - 1;
            let at = record_at(p, last) + 5;
            p[at..at + 4].copy_from_slice(&made.root.page.to_le_bytes());
        });
        let (rig, _) = Rig::recover(disk, made, 64);
        let tree = rig.tree(Schema::Rows);
        let mut at = tree.seek(SearchKey { fields: &[], bias: Bias::FirstAtLeast }).unwrap();
        let error = loop {
            match at.unwrap().forward() {
                Ok(next) => at = next,
                Err(e) => break e,
            }
        };
        assert!(error.to_string().contains("left neighbour"), "{error}");
        let key = key_bytes(&Schema::Rows.key(ROWS - 1));
        let spelled = KeyBuf::of(&fields_of(&key));
        let found =
            tree.seek(SearchKey { fields: spelled.fields().as_slice(), bias: Bias::FirstAtLeast });
        let Err(error) = found else { panic!("the way leads through the damaged entry") };
        assert!(error.to_string().contains("its own page"), "{error}");
        assert_eq!(base::SqlError::number(&error.into_sql("t", "db")), 824);
    });
}

/// Keys that lie: of separators, or of records whose slots change places.
fn misplace(page: &mut PageBytes, random: &mut Random) {
    let slots = usize::from(PageView(page).slot_count());
    if slots < 3 {
        return;
    }
    let slot = 1 + random.below(slots as u64 - 2) as usize;
    if PageView(page).level() > 0 {
        let key = record_at(page, slot) + 1;
        let lie = match random.below(3) {
            0 => 2_000_000_000,
            1 => -2_000_000_000,
            _ => random.below(2 * u64::from(ROWS)) as i32,
        };
        page[key..key + 4].copy_from_slice(&lie.to_le_bytes());
    } else {
        let (a, b) = (slot_at(slot), slot_at(1 + random.below(slots as u64 - 1) as usize));
        let (of_a, of_b) = ([page[a], page[a + 1]], [page[b], page[b + 1]]);
        page[a..a + 2].copy_from_slice(&of_b);
        page[b..b + 2].copy_from_slice(&of_a);
    }
}

/// Walks the tree as a statement does that changes what it scans: it saves its place at each
/// record, and changes some. The records that it met.
fn change_all(tree: &Tree, backward: bool, random: &mut Random) -> BtreeResult<u32> {
    let schema = Schema::Rows;
    let (first, next) = match backward {
        true => (Bias::LastAtMost, Bias::LastBelow),
        false => (Bias::FirstAtLeast, Bias::FirstAbove),
    };
    let (mut group, mut place, mut met) = (Group::new(), Position::default(), 0);
    let mut at = tree.seek(SearchKey { fields: &[], bias: first })?;
    while let Some(leaf) = at {
        if met == 0 { leaf.save(&mut place) } else { leaf.save_onward(&mut place, backward) }?;
        met += 1;
        assert!(met <= 2 * ROWS, "a walk meets each record once");
        let (room, seen) = (leaf.view().free_count() > 500, (leaf.page_id(), leaf.slot()));
        drop(leaf);
        let (fields, _log) = (place.key().fields(), rig::reserve(tree));
        let key = fields.as_slice();
        if !room {
            tree.make_room(&mut group, key, 4000, SplitPolicy::Half)?;
        }
        let hinted = tree.seen_write(key, seen.0, seen.1);
        let leaf = hinted.map_or_else(|| tree.seek_write(key), Ok)?;
        if leaf.is_exact() && leaf.has_room_to_replace(120) && random.one_in(2) {
            let Some(Field::Inline(n)) = key.first() else { unreachable!("a number") };
            let n = i32::from_le_bytes((*n).try_into().unwrap());
            let new = schema.record(&vec![rig::Part::Int(Some(n))], &[7; 100], false);
            let mut change = Change::new(tree.pages(), &mut group);
            let (page, slot) = leaf.join(&mut change);
            tree.replace(&mut change, page, slot, &new, Undo::By(3))?;
            change.finish(&mut TransactionChain { id: 3, ..Default::default() });
        } else {
            let is_there = leaf.is_exact();
            drop(leaf);
            assert!(is_there || tree.check_absent(key).is_err(), "a row is not passed over");
        }
        at = tree.resume(&place, next)?;
    }
    Ok(met)
}

/// Rule 13. Before, such a walk could begin again for ever.
#[test]
fn a_walk_that_changes_what_it_meets_ends_where_keys_lie() {
    let (ended, refused) = (AtomicU32::new(0), AtomicU32::new(0));
    for seed in 0..60 {
        with_damage(seed, Schema::Rows, |disk, made, pages| {
            let mut random = Random::new(seed);
            let interior = seed % 3 > 0;
            let of: Vec<_> = pages.iter().filter(|p| (p.1 > 0) == interior).collect();
            for _ in 0..1 + random.below(3) {
                let (id, _) = *of[random.below(of.len() as u64) as usize];
                damage(disk, id, |page| misplace(page, &mut random));
            }
            let (rig, _) = Rig::recover(disk, made, 128);
            match change_all(&rig.tree(Schema::Rows), random.one_in(2), &mut random) {
                Ok(_) => ended.fetch_add(1, Relaxed),
                Err(BtreeError::Page(BufferError::Corrupt { .. })) => refused.fetch_add(1, Relaxed),
                Err(e) => panic!("{e}"),
            };
        });
    }
    let (ended, refused) = (ended.into_inner(), refused.into_inner());
    assert!(refused > 10 && ended > 5, "{refused} refused, {ended} ended");
}
