//! The pool at its door: latches exclude, frames suffice, what is changed comes home whole.
#![allow(clippy::unwrap_used, clippy::disallowed_types, reason = "a test may fail; real threads")]

mod rig;

use crate::rig::{FIRST, PAGES, Rig, SET, attach, id, lsn_of, number, open, value};
use base::{AllocUnitId, Lsn};
use buffer::{BufferError, Change, ReadAhead, Undo, take_page_waits};
use sim::{Options, Simulation};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use wal::{Group, TransactionChain};

/// Readers share, a writer is alone, and a latch changes its mode only where nobody minds.
#[test]
fn latches_share_and_exclude() {
    let r = Rig::new(32);
    let (a, b) = (r.pages.read(id(0)).unwrap(), r.pages.read(id(0)).unwrap());
    assert!(r.pages.try_write(id(0)).is_none());
    let Err(a) = a.try_upgrade() else { panic!("another reads it") };
    drop(b);
    let Ok(w) = a.try_upgrade() else { panic!("nobody else reads it") };
    assert!(r.pages.try_write(id(0)).is_none());
    let again = w.downgrade();
    assert_eq!(r.pages.read(id(0)).unwrap().id(), again.id());
    drop(again);
    assert!(r.pages.try_write(id(0)).is_some());
    assert!(r.pages.try_write(id(1)).is_none(), "it is not in memory");
    assert!(r.pages.read(id(1)).is_ok(), "and free");
}

/// Who waits for a page learns how often and for how long, whether for its latch or for its bytes.
#[test]
fn waits_for_pages_are_told() {
    let r = Arc::new(Rig::new(32));
    let _ = take_page_waits();
    drop(r.pages.read(id(1)).unwrap());
    let read = take_page_waits().unwrap();
    assert_eq!((read.io.count, read.latch.count, read.tree_io.count), (1, 0, 0));
    let held = r.pages.write(id(1)).unwrap();
    assert_eq!(take_page_waits(), None, "nobody had it");
    let waiter = {
        let r = Arc::clone(&r);
        os::task::spawn("waiter", move || {
            drop(r.pages.read(id(1)).unwrap());
            take_page_waits()
        })
    };
    os::task::sleep_ns(50_000_000);
    drop(held);
    let waited = waiter.join().unwrap().unwrap();
    assert_eq!((waited.latch.count, waited.io.count, waited.tree_latch.count), (1, 0, 0));
    assert!(waited.latch.time_ns > 1_000_000, "{waited:?}");
}

/// Tasks add to counters on six times as many pages as there are frames, while others flush and
/// evict. No addition is lost, in memory or at home.
fn add_up(r: &Arc<Rig>, tasks: u32, rounds: u64) {
    let stop = Arc::new(AtomicBool::new(false));
    let added: Arc<Vec<AtomicU64>> = Arc::new((0..PAGES).map(|_| AtomicU64::new(0)).collect());
    let service = |flush: bool| {
        let (r, stop) = (Arc::clone(r), Arc::clone(&stop));
        os::task::spawn("service", move || {
            while !stop.load(Relaxed) {
                let before = r.log.next_lsn();
                match flush {
                    true => assert!(r.pages.flush_dirty().lsn <= r.log.next_lsn()),
                    false => assert!(r.pool.lazy_write() <= r.pool.frame_count()),
                }
                assert!(before <= r.log.next_lsn());
                os::task::sleep_ns(200_000);
            }
        })
    };
    let ahead = {
        let (r, stop) = (Arc::clone(r), Arc::clone(&stop));
        os::task::spawn("read ahead", move || {
            let mut first = 0;
            while !stop.load(Relaxed) {
                first = (first + 37) % PAGES;
                r.pages.read_ahead(id(first), 20);
                os::task::sleep_ns(100_000);
            }
        })
    };
    let services = [service(true), service(false), ahead];
    let work: Vec<_> = (0..tasks)
        .map(|t| {
            let (r, added) = (Arc::clone(r), Arc::clone(&added));
            os::task::spawn("adder", move || {
                let mut seed = 0x9E37_79B9_7F4A_7C15 ^ u64::from(t + 1);
                let mut below = move |n: u32| {
                    seed ^= seed << 13;
                    seed ^= seed >> 7;
                    seed ^= seed << 17;
                    (seed % u64::from(n)) as u32
                };
                for _ in 0..rounds {
                    let mut some: Vec<u32> = (0..=below(3)).map(|_| below(PAGES)).collect();
                    some.sort_unstable();
                    some.dedup();
                    add_one(&r, &some);
                    some.iter().for_each(|&n| {
                        added[n as usize].fetch_add(1, Relaxed);
                    });
                    let seen = r.get(below(PAGES));
                    assert!(seen <= u64::from(tasks) * rounds);
                }
            })
        })
        .collect();
    work.into_iter().for_each(|t| t.join().unwrap());
    stop.store(true, Relaxed);
    services.into_iter().for_each(|t| t.join().unwrap());
    r.empty();
    for n in 0..PAGES {
        let expected = added[n as usize].load(Relaxed);
        let home: &page::PageBytes = &r.on_disk(n).try_into().unwrap();
        assert!(page::verify(home, id(n)) && value(page::PageView(home)) == expected, "page {n}");
        assert_eq!(r.get(n), expected);
    }
}

fn add_one(r: &Rig, some: &[u32]) {
    let mut group = Group::new();
    let mut change = Change::new(&r.pages, &mut group);
    let held: Vec<_> = some.iter().map(|&n| change.add(r.pages.write(id(n)).unwrap())).collect();
    for page in held {
        let next = (value(change.view(page)) + 1).to_le_bytes();
        change.apply(page, AllocUnitId(1), SET, 0, &[&next], Undo::Never);
    }
    change.finish(&mut TransactionChain::default());
}

#[test]
fn counters_add_up_under_eviction_on_real_threads() {
    add_up(&Arc::new(Rig::new(32)), 6, 400);
}

#[test]
fn counters_add_up_under_eviction_in_every_order() {
    for seed in 0..12 {
        Simulation::run(seed, Options::default(), |_| {
            add_up(&Arc::new(Rig::new(32)), 5, 30);
        });
    }
}

/// Where everything is dirty, a sweep writes a batch, and what it has written leaves: what was met,
/// not what there is. A page that somebody holds stays.
#[test]
fn what_eviction_has_written_leaves() {
    let r = Rig::new(256);
    let held = r.pages.read(id(0)).unwrap();
    for n in 1..PAGES {
        r.set(n, 7);
    }
    let dirty = || r.pool.descriptors(0, 256).iter().filter(|d| d.dirty).count();
    let writes = || r.pages.file(base::FileId(1)).unwrap().stats().snapshot().writes;
    let (all, before) = (PAGES as usize - 1, writes());
    assert_eq!((dirty(), r.pool.free_count()), (all, 256 - 200));
    for batch in 1..=3 {
        assert_eq!(r.pool.evict(8), 62, "two batches of the writer");
        assert_eq!((dirty(), r.pool.free_count()), (all - batch * 62, 256 - 200 + batch * 62));
    }
    assert_eq!(r.pool.evict(8), all - 3 * 62, "the rest");
    // Seven batches of neighbours: a write of each batch's copies, and one of all its homes.
    assert_eq!((dirty(), writes() - before), (0, 14));
    assert_eq!((r.pool.evict(8), r.pool.free_count()), (0, 255));
    assert_eq!((value(held.view()), r.get(1), r.get(199)), (0, 7, 7));
}

/// A damaged page is error 824 for whoever reads it and nothing for the rest; its frame is free
/// again, and the page is there again when its bytes are.
#[test]
fn a_damaged_page_is_824_and_spares_the_rest() {
    let r = Rig::new(32);
    for n in 0..4 {
        r.set(n, 7);
    }
    r.empty();
    let sound = r.on_disk(2);
    r.damage(2, 4096);
    for _ in 0..100 {
        let Err(e) = r.pages.read(id(2)) else { panic!("the page is damaged") };
        assert!(matches!(e, BufferError::Corrupt { page, .. } if page == id(2)));
        assert_eq!(number(e), 824);
        assert_eq!(r.pages.write(id(2)).err().map(number), Some(824));
    }
    assert_eq!((r.get(1), r.get(3)), (7, 7));
    r.disk.damage(Path::new("a.mdf"), u64::from(FIRST + 2) * 8192, &sound);
    assert_eq!(r.get(2), 7);
    let beyond = base::PageId::new(1, FIRST + PAGES);
    assert_eq!(r.pages.read(beyond).err().map(number), Some(824));
    assert_eq!(r.pages.read(base::PageId::new(9, 1)).err().map(number), Some(824));
}

/// What was never written is blank to whoever shows pages, and to nobody else: it leaves at once. A
/// damaged page is not shown; a page in memory is told with its frame.
#[test]
fn what_was_never_written_is_blank_to_who_shows_it_alone() {
    let r = Rig::new(32);
    let (blank, free) = (base::PageId::new(1, 10), r.pool.free_count());
    for _ in 0..100 {
        assert!(r.pages.read_to_show(blank).unwrap().is_none());
        assert_eq!(r.pages.read(blank).err().map(number), Some(824));
    }
    assert_eq!(r.pool.free_count(), free, "it has no frame");
    r.set(1, 7);
    let facts = |n| r.pages.read_to_show(id(n)).unwrap().expect("it was written").frame_facts();
    let (changed, read) = (facts(1), facts(2));
    assert!(changed.dirty_since > Lsn(0) && read.dirty_since == Lsn(0));
    assert_eq!(read.page_address - changed.page_address, 8192);
    assert_eq!(read.readers, 0);
    let other = r.pages.read(id(2)).unwrap();
    assert_eq!(facts(2).readers, 1);
    drop(other);
    r.damage(3, 4096);
    assert_eq!(r.pages.read_to_show(id(3)).err().map(number), Some(824));
}

/// One read brings a run in; what is damaged, resident or has no frame is left alone.
#[test]
fn read_ahead_reads_runs_and_leaves_damage_to_readers() {
    let r = Rig::new(64);
    let old = r.on_disk(9);
    r.set(3, 5);
    r.set(9, 6);
    r.empty();
    r.damage(6, 100);
    // Torn: the first sector is new, the rest is as it was.
    let mut torn = r.on_disk(9);
    torn[512..].copy_from_slice(&old[512..]);
    r.disk.damage(Path::new("a.mdf"), u64::from(FIRST + 9) * 8192, &torn);
    let before = r.pages.file(base::FileId(1)).unwrap().stats().snapshot().reads;
    r.pages.read_ahead(id(0), 12);
    let reads = || r.pages.file(base::FileId(1)).unwrap().stats().snapshot().reads - before;
    assert_eq!((reads(), r.pool.free_count()), (1, 64 - 10));
    assert_eq!((r.get(3), r.get(11), reads()), (5, 0, 1));
    for n in [6, 9] {
        assert_eq!(r.pages.read(id(n)).err().map(number), Some(824));
    }
    // Around one that is in memory two reads, behind the end of the file none.
    let held = r.pages.read(id(24)).unwrap();
    let so_far = reads();
    r.pages.read_ahead(id(20), 8);
    assert_eq!((reads() - so_far, held.id()), (2, id(24)));
    drop(held);
    r.pages.read_ahead(id(PAGES - 2), 8);
    r.pages.read_ahead(id(PAGES), 8);
    r.pages.read_ahead(base::PageId::new(9, 1), 8);
    assert_eq!((reads() - so_far, r.pool.free_count()), (3, 64 - 20));
    // More than the pool can spare: it takes a part, and waits for nobody.
    let held: Vec<_> = (20..72).map(|n| r.pages.read(id(n)).unwrap()).collect();
    r.pages.read_ahead(id(100), 60);
    assert!(r.pool.free_count() < 16 && held.len() == 52);
}

/// A walk reads its first pages one by one, then extents, then 32 pages at a time; a jump begins
/// anew, and what is in memory is not read again.
#[test]
fn a_walk_reads_the_further_ahead_the_longer_it_is() {
    let r = Rig::new(256);
    let file = || r.pages.file(base::FileId(1)).unwrap().stats().snapshot();
    let walk = |ahead: &mut ReadAhead, pages: std::ops::Range<u32>| {
        let before = file();
        let mut last = base::PageId::NONE;
        for n in pages {
            ahead.step(&r.pages, last, id(n));
            last = id(n);
            assert_eq!(r.get(n), 0);
        }
        (file().reads - before.reads, (file().read_bytes - before.read_bytes) / 8192)
    };
    assert_eq!(walk(&mut ReadAhead::new(), 0..1), (1, 1));
    assert_eq!(walk(&mut ReadAhead::new(), 1..3), (2, 2));
    assert_eq!(walk(&mut ReadAhead::new(), 0..8), (1, 5), "the rest of the extent");
    r.empty();
    let mut ahead = ReadAhead::new();
    assert_eq!(walk(&mut ahead, 0..72), (5, 72), "1, 1, 6, 32, 32");
    assert_eq!(walk(&mut ahead, 90..93), (3, 6), "a jump, one step, and the rest of the extent");
    assert_eq!(walk(&mut ReadAhead::whole(), 104..128), (2, 40), "an extent, then 32");
    assert_eq!(walk(&mut ReadAhead::new(), 0..72), (0, 0));
}

/// With every frame latched there is no memory: 701, and all is well when they are let go.
#[test]
fn all_frames_latched_is_701() {
    Simulation::run(1, Options::default(), |_| {
        let r = Rig::new(32);
        let held: Vec<_> = (0..32).map(|n| r.pages.read(id(n)).unwrap()).collect();
        assert_eq!(r.pages.read(id(40)).err().map(number), Some(701));
        assert_eq!(r.pages.write(id(40)).err().map(number), Some(701));
        drop(held);
        assert_eq!(r.get(40), 0);
    });
}

/// What a flush says is home is home, with its log before it.
#[test]
fn a_flush_says_up_to_where_everything_is_home() {
    let r = Rig::new(64);
    assert_eq!(r.pages.oldest_dirty(Lsn::MAX), Lsn::MAX);
    let first = r.set(1, 10);
    r.set(2, 20);
    let second = r.set(1, 11);
    let oldest = r.pages.oldest_dirty(Lsn::MAX);
    assert!(oldest <= first.first && oldest > Lsn::ZERO);
    assert!(r.log.durable_lsn() <= first.first, "nothing asked for the log yet");
    let flushed = r.pages.flush_dirty();
    assert_eq!(flushed.pages, 2);
    assert!(flushed.lsn > second.last && r.log.durable_lsn() > second.last);
    assert_eq!(lsn_of(&r.on_disk(1)), second.last);
    assert_eq!(r.pages.flush_dirty().pages, 0);
    assert!(r.pool.descriptors(0, 100).iter().all(|d| !d.dirty));
}

/// A page that a change only holds, or a change that does nothing, stays as it is.
#[test]
fn what_is_not_altered_stays_clean() {
    let r = Rig::new(32);
    let mut group = Group::new();
    let mut change = Change::new(&r.pages, &mut group);
    let (a, b) = (r.pages.write(id(1)).unwrap(), r.pages.write(id(2)).unwrap());
    let (held, altered) = (change.add(a), change.add(b));
    assert_eq!((change.find(id(1)), change.find(id(3))), (Some(held), None));
    change.apply(altered, AllocUnitId(1), SET, 0, &[&1_u64.to_le_bytes()], Undo::Never);
    let at = change.finish(&mut TransactionChain::default());
    let lsn = |n| r.pages.read(id(n)).unwrap().view().lsn();
    assert_eq!((lsn(1), lsn(2)), (Lsn::ZERO, at.last));
    let mut change = Change::new(&r.pages, &mut group);
    change.add(r.pages.write(id(3)).unwrap());
    drop(change);
    assert_eq!(r.pages.flush_dirty().pages, 1);
}

/// A closed database leaves its frames and nothing else; its neighbour does not notice.
#[test]
fn closing_a_database_frees_its_frames_only() {
    let r = Rig::new(32);
    let other = attach(&r.disk, &r.pool, &r.log, "b.mdf", false);
    for n in 0..10 {
        r.set(n, 1);
    }
    (0..5).for_each(|n| drop(other.read(id(n)).unwrap()));
    r.pages.close();
    assert_eq!(r.pool.free_count(), 32 - 5);
    assert!(other.read(id(0)).is_ok());
    drop(r.pages);
    let again = attach(&r.disk, &r.pool, &r.log, "a.mdf", true);
    assert_eq!(value(again.read(id(3)).unwrap().view()), 0, "it was never written home");
}

/// A database is closed while others still use it, against the rules: who reads is refused from
/// then on, who makes room ends, and each frame is free behind it.
#[test]
fn who_uses_a_closed_database_is_refused() {
    for round in 0..20_u64 {
        let r = Arc::new(Rig::new(32));
        for n in 0..30 {
            r.set(n, 1);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let reader = |t: u32| {
            let r = Arc::clone(&r);
            os::task::spawn("reader", move || {
                (0..).find(|n| r.pages.read(id((n * 7 + t) % PAGES)).is_err()).is_some()
            })
        };
        let readers: Vec<_> = (0..3).map(reader).collect();
        let evictor = {
            let (r, stop) = (Arc::clone(&r), Arc::clone(&stop));
            os::task::spawn("lazy writer", move || {
                while !stop.load(Relaxed) {
                    r.pool.evict(8);
                }
            })
        };
        os::task::sleep_ns(round * 200_000);
        r.pages.close();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap()));
        stop.store(true, Relaxed);
        evictor.join().unwrap();
        assert_eq!(r.pool.free_count(), 32);
        assert!(r.pages.read(id(0)).is_err() && r.pages.write(id(1)).is_err());
        assert!(r.pages.write_new(id(2)).is_err());
    }
}

/// A torn home is repaired from the doublewrite area; a sound one is not touched; twice is once.
#[test]
fn a_torn_home_is_restored_from_the_last_batch() {
    let r = Rig::new(64);
    for n in 0..20 {
        r.set(n, 100 + u64::from(n));
    }
    r.empty();
    let sound = r.on_disk(4);
    r.damage(4, 512);
    r.damage(150, 512);
    let files = BTreeMap::from([(1, open(&r.disk, "a.mdf", false))]);
    let restore = || buffer::restore_torn_pages(r.pages.database(), &files).unwrap();
    assert_eq!(restore(), vec![id(4)], "page 150 was not of the last batch");
    assert_eq!((r.on_disk(4), restore()), (sound, vec![]));
    assert_eq!(r.get(4), 104);
    assert_eq!(r.pages.read(id(150)).err().map(number), Some(824));
}
