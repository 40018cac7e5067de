//! The allocator as a story: claims, growth over intervals, drops, and a checker that sees.
//!
//! Within the crate, because growth over 4 GB is shown by telling a search where to begin.

use crate::redo::{bits_payload, kinds, pfs_payload};
use crate::{
    AllocUnit, Claim, FINDINGS_MAX, FileFacts, Finding, GrowthOptions, Space, SpaceError,
    SpaceRedo, format_file, gam_page, pfs_page, sgam_page,
};
use base::{AllocUnitId, DatabaseId, ExtentId, FileId, Lsn, PageId};
use buffer::{Change, Pages, PagesOptions, Pool, Undo};
use os::disk::{Disk as _, File, OpenMode};
use os::memory::Memory;
use os::wait::{CancelReason, Waiter};
use page::{EXTENTS_PER_INTERVAL, PageBytes, PageKind, PageMut, Pfs};
use sim::{Disk, DiskOptions, Options, Simulation};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use wal::{
    ApplyError, Group, Kind, Log, LogOptions, PageOp, RecordDescription, RecordView, RedoHandler,
    RedoTable, TransactionChain,
};

const FORMAT: Kind = Kind(0xF0);

struct Formats;

impl RedoHandler for Formats {
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        PageMut(page).format(PageKind::Data, op.page, op.unit, 0, 8);
        Ok(())
    }

    fn describe<'a>(&self, _: &RecordView<'a>) -> RecordDescription<'a> {
        RecordDescription::default()
    }
}

/// What nobody cancels.
fn check(space: &Space, units: &[&AllocUnit]) -> Vec<Finding> {
    space.check(units, &Waiter::new()).unwrap().kept
}

fn open(disk: &Disk, path: &str) -> Arc<dyn File> {
    disk.open(Path::new(path), OpenMode { create: true, direct: false }).unwrap()
}

/// A database of one file.
fn space(pages: u32, growth: GrowthOptions) -> Arc<Space> {
    let options = DiskOptions { latency: false, capacity_bytes: 1 << 40, ..DiskOptions::default() };
    let disk = Disk::new(options);
    let data = open(&disk, "a.mdf");
    let facts = FileFacts { family: [1; 16], file: FileId(1), size_pages: pages };
    format_file(&*data, &facts).unwrap();
    assert_eq!(crate::read_file_facts(&*data, FileId(1)).unwrap(), facts);
    let log_options = LogOptions { initial_bytes: 16 << 20, ..LogOptions::default() };
    let log = Log::create(open(&disk, "a.ldf"), [1; 16], log_options).unwrap();
    let pool = Pool::new(&Memory::new(64 << 20), 256).unwrap();
    let redo = RedoTable::new().with(kinds::RANGE, &SpaceRedo).with(0xF0..=0xF0, &Formats);
    let options = PagesOptions { database: DatabaseId(5), durable: true, salvaged: false };
    let all = Pages::new(&pool, &log, &Arc::new(redo), options);
    all.attach(FileId(1), "a.mdf", data);
    Space::open(&all, growth).unwrap()
}

fn growing(pages: u32) -> GrowthOptions {
    GrowthOptions { pages, ..GrowthOptions::default() }
}

fn unit(space: &Space, id: u32) -> AllocUnit {
    let making = space.create_unit(AllocUnitId(id), Undo::Never).unwrap();
    let mut group = Group::new();
    let mut change = Change::new(space.pages(), &mut group);
    let unit = making.apply(&mut change).unwrap();
    change.finish(&mut TransactionChain::default());
    assert!(space.unit_exists(&unit).unwrap());
    unit
}

fn take(space: &Space, unit: &AllocUnit, claim: Claim<'_>) -> Vec<PageId> {
    let mut group = Group::new();
    let mut change = Change::new(space.pages(), &mut group);
    let made = space.allocate(&mut change, unit, claim).unwrap();
    let ids = made.iter().map(|&p| change.id(p)).collect();
    for page in made {
        change.apply(page, unit.id, FORMAT, 0, &[], Undo::Never);
    }
    change.finish(&mut TransactionChain::default());
    ids
}

fn allocate(space: &Space, unit: &AllocUnit, n: usize) -> Vec<PageId> {
    take(space, unit, space.claim(unit, n).unwrap())
}

fn free(space: &Space, unit: &AllocUnit, page: PageId) {
    let mut group = Group::new();
    let mut change = Change::new(space.pages(), &mut group);
    let held = change.add(space.pages().write(page).unwrap());
    space.free(&mut change, unit, held).unwrap();
    change.finish(&mut TransactionChain::default());
}

fn pages_of(space: &Space, unit: &AllocUnit) -> Vec<PageId> {
    let mut pages = space.unit_pages(unit, &Waiter::new()).unwrap().pages;
    pages.sort_unstable();
    pages
}

/// Tasks that claim, drop claims, allocate and free at once: no page has two owners, and the maps
/// say what the tasks hold.
fn many_claim(tasks: u64, rounds: u64) {
    let s = space(96, growing(64));
    let units = Arc::new([unit(&s, 1), unit(&s, 2)]);
    let work: Vec<_> = (0..tasks)
        .map(|t| {
            let (s, units) = (Arc::clone(&s), Arc::clone(&units));
            os::task::spawn("claimer", move || {
                let (mut mine, unit) = (Vec::new(), &units[(t % 2) as usize]);
                for i in 0..rounds {
                    let claim = s.claim(unit, 1 + ((t + i) % 5) as usize).unwrap();
                    if (t + i) % 3 == 0 {
                        drop(claim);
                    } else {
                        mine.extend(take(&s, unit, claim));
                    }
                    if (t + i) % 4 == 0
                        && let Some(page) = mine.pop()
                    {
                        free(&s, unit, page);
                    }
                }
                mine
            })
        })
        .collect();
    let held: Vec<Vec<PageId>> = work.into_iter().map(|t| t.join().unwrap()).collect();
    for (u, unit) in units.iter().enumerate() {
        let mine = held.iter().enumerate().filter(|(t, _)| t % 2 == u);
        let mut all: Vec<PageId> = mine.flat_map(|(_, p)| p.iter().copied()).collect();
        all.sort_unstable();
        assert_eq!(pages_of(&s, unit), all);
    }
    let all: BTreeSet<&PageId> = held.iter().flatten().collect();
    assert_eq!(all.len(), held.iter().map(Vec::len).sum::<usize>(), "a page has one owner");
    assert_eq!(check(&s, &[&units[0], &units[1]]), vec![]);
    let promised = s.promised.lock();
    assert!(promised.pages.is_empty() && promised.extents.is_empty());
}

#[test]
fn claims_are_unique_on_real_threads() {
    many_claim(6, 60);
}

#[test]
fn claims_are_unique_in_every_order() {
    for seed in 0..15 {
        Simulation::run(seed, Options::default(), |_| many_claim(5, 12));
    }
}

/// Freed pages and those of a dropped claim come first again; leftovers of an extent are used.
#[test]
fn free_pages_are_used_before_new_extents() {
    let s = space(960, growing(0));
    let u = unit(&s, 1);
    let first = allocate(&s, &u, 3);
    assert!(first.iter().all(|p| p.extent() == first[0].extent()));
    drop(s.claim(&u, 12).unwrap());
    let more = allocate(&s, &u, 13);
    assert_eq!(s.unit_pages(&u, &Waiter::new()).unwrap().extents.len(), 2);
    free(&s, &u, first[1]);
    free(&s, &u, more[12]);
    let again: BTreeSet<PageId> = allocate(&s, &u, 2).into_iter().collect();
    assert_eq!(again, BTreeSet::from([first[1], more[12]]));
    // Found by the search after a restart, too.
    free(&s, &u, first[2]);
    let reopened = AllocUnit::open(u.id, u.first_iam);
    assert_eq!(allocate(&s, &reopened, 1), vec![first[2]]);
    assert_eq!(check(&s, &[&u]), vec![]);
}

/// A file that may not grow refuses with 1105 and keeps what it has; the claim is forgotten.
#[test]
fn a_full_file_is_1105_until_something_is_freed() {
    let s = space(64, growing(0));
    let u = unit(&s, 1);
    let all = allocate(&s, &u, 8);
    assert!(matches!(s.claim(&u, 1), Err(SpaceError::Full)));
    assert_eq!(s.claim(&u, 1).err().unwrap().into_sql("t", "db").number(), 1105);
    free(&s, &u, all[5]);
    assert_eq!(allocate(&s, &u, 1), vec![all[5]]);
    s.set_growth(FileId(1), GrowthOptions { pages: 1000, percent: 0, max_pages: 128 });
    assert_eq!(allocate(&s, &u, 8).len(), 8);
    assert_eq!(s.size_pages(FileId(1)), Some(128), "to the limit, not beyond");
    assert_eq!(check(&s, &[&u]), vec![]);
}

/// Percent are of the size there is; a limit below the size is refused; a size that is asked for
/// is made at once, past the limit, and over a PFS interval.
#[test]
fn a_file_gets_the_size_and_the_limit_that_are_asked_for() {
    let s = space(64, growing(0));
    let file = FileId(1);
    let u = unit(&s, 1);
    let fill = || {
        while s.claim(&u, 8).map(drop).is_ok() {
            allocate(&s, &u, 8);
        }
    };
    fill();
    let growth = GrowthOptions { pages: 0, percent: 50, max_pages: 120 };
    assert_eq!(s.limit_growth(file, GrowthOptions { max_pages: 56, ..growth }), Err(64));
    assert_eq!(s.growth(file), Some(growing(0)), "nothing was changed");
    let freed = s.freed();
    s.limit_growth(file, growth).unwrap();
    assert!(s.freed() > freed, "whoever was refused may ask again");
    allocate(&s, &u, 8);
    assert_eq!(s.size_pages(file), Some(96));
    fill();
    assert_eq!(s.size_pages(file), Some(120), "to the limit");
    s.resize(file, 9001).unwrap();
    assert_eq!(s.size_pages(file), Some(9008));
    s.resize(file, 64).unwrap();
    assert_eq!(s.size_pages(file), Some(9008), "a file is never shorter");
    fill();
    assert_eq!(s.size_pages(file), Some(9008), "past its limit it does not grow");
    assert_eq!(check(&s, &[&u]), vec![]);
}

/// One extent of a unit that goes on becomes another's, and no hint takes it for the unit's own.
#[test]
fn an_extent_is_given_back_alone() {
    let s = space(80, growing(0));
    let (u, other) = (unit(&s, 1), unit(&s, 2));
    let all = allocate(&s, &u, 24);
    free(&s, &u, all[9]);
    let freed = s.freed();
    let extent = all[9].extent();
    s.return_extent(&u, extent).unwrap();
    assert!(s.freed() > freed, "whoever was refused may ask again");
    let taken = allocate(&s, &other, 8);
    assert!(taken.iter().all(|p| p.extent() == extent));
    assert!(matches!(s.claim(&u, 1), Err(SpaceError::Full)));
    assert_eq!(check(&s, &[&u, &other]), vec![]);
}

/// Tells the search that nothing is free before an extent.
fn begin_at(s: &Space, extent: u32) {
    s.files.write().get_mut(&1).unwrap().first_maybe_free = extent;
}

/// A PFS page every 8,088 pages: growth makes it, nobody gets it, pages on both sides are freed.
#[test]
fn growth_crosses_a_pfs_interval() {
    let s = space(96, growing(8192));
    let u = unit(&s, 1);
    s.grow().unwrap();
    begin_at(&s, 1009);
    let pages = allocate(&s, &u, 24);
    let extents: BTreeSet<u32> = pages.iter().map(|p| p.page / 8).collect();
    assert_eq!(extents, BTreeSet::from([1009, 1010, 1012]), "extent 1011 holds the map");
    assert_eq!(check(&s, &[&u]), vec![]);
    free(&s, &u, pages[0]);
    free(&s, &u, pages[23]);
    assert_eq!(pages_of(&s, &u).len(), 22);
    s.drop_unit(&u, &Waiter::new()).unwrap();
    assert_eq!(check(&s, &[]), vec![]);
}

/// Who was told to end gets neither a list nor findings, and nobody else is the worse for it.
#[test]
fn a_reading_of_the_maps_that_is_cancelled_tells_nothing() {
    let s = space(96, growing(512));
    let u = unit(&s, 1);
    allocate(&s, &u, 16);
    let told = Waiter::new();
    told.cancel(CancelReason::Attention);
    let ended = s.unit_pages(&u, &told).map(|found| found.pages);
    assert!(matches!(ended, Err(SpaceError::Cancelled(CancelReason::Attention))), "{ended:?}");
    assert_eq!(s.survey(&u, &told).err(), Some(CancelReason::Attention));
    assert_eq!(s.check(&[], &told), Err(CancelReason::Attention));
    assert_eq!(s.unit_pages(&u, &Waiter::new()).unwrap().pages.len(), 16);
    assert_eq!(check(&s, &[&u]), vec![]);
}

/// GAM, SGAM, DIFF and ML pages again at page 511,232; a unit there has a second IAM page.
#[test]
fn growth_crosses_a_gam_interval() {
    let s = space(96, growing(512_000));
    let u = unit(&s, 1);
    s.grow().unwrap();
    begin_at(&s, 63_903);
    let pages = allocate(&s, &u, 16);
    let extents: BTreeSet<u32> = pages.iter().map(|p| p.page / 8).collect();
    assert_eq!(extents, BTreeSet::from([63_903, 63_905]));
    let found = s.unit_pages(&u, &Waiter::new()).unwrap();
    assert_eq!((found.pages.len(), found.iam_pages.len()), (16, 2));
    let beyond = PageId::new(1, 511_232);
    assert_eq!(s.pages().read(beyond).unwrap().view().kind(), Some(PageKind::Gam));
    assert_eq!((gam_page(pages[15]), pfs_page(pages[15]).page), (beyond, 509_544));
    assert_eq!(check(&s, &[&u]), vec![]);
    s.drop_unit(&u, &Waiter::new()).unwrap();
    assert_eq!(check(&s, &[]), vec![]);
}

/// IAM pages share mixed extents, eight in each; dropped ones make room for others.
#[test]
fn mixed_extents_fill_up_and_are_used_again() {
    let s = space(960, growing(0));
    let units: Vec<AllocUnit> = (1..=20).map(|id| unit(&s, id)).collect();
    let mixed: BTreeSet<ExtentId> = units.iter().map(|u| u.first_iam.extent()).collect();
    assert_eq!(mixed.len(), 3);
    assert_eq!(check(&s, &units.iter().collect::<Vec<_>>()), vec![]);
    for u in &units {
        allocate(&s, u, 9);
    }
    for u in &units[..10] {
        s.drop_unit(u, &Waiter::new()).unwrap();
        assert!(!s.unit_exists(u).unwrap());
    }
    let later: Vec<AllocUnit> = (31..=40).map(|id| unit(&s, id)).collect();
    assert!(later.iter().all(|u| mixed.contains(&u.first_iam.extent())), "room was made");
    assert!(!s.unit_exists(&units[0]).unwrap(), "its head is another unit's now");
    let all: Vec<&AllocUnit> = units[10..].iter().chain(&later).collect();
    assert_eq!(check(&s, &all), vec![]);
    assert_eq!(pages_of(&s, &units[15]).len(), 9);
}

/// Changes one map page behind the allocator's back.
fn plant(s: &Space, map: PageId, kind: Kind, payload: &[u8]) {
    let mut group = Group::new();
    let mut change = Change::new(s.pages(), &mut group);
    let page = change.add(s.pages().write(map).unwrap());
    change.apply(page, AllocUnitId(0), kind, 0, &[payload], Undo::Never);
    change.finish(&mut TransactionChain::default());
}

/// A file whose header or maps are something else does not grow: that is 824, not a change.
#[test]
fn growth_looks_at_the_maps_that_it_changes() {
    for page in [0, 1, 2] {
        let s = space(96, growing(8192));
        let id = PageId { file: FileId(1), page };
        plant(&s, id, FORMAT, &[]);
        let grown = s.grow();
        assert_eq!(grown.err().map(|e| e.into_sql("t", "db").number()), Some(824), "page {page}");
        assert_eq!(s.pages().read(id).unwrap().view().kind(), Some(PageKind::Data), "untouched");
    }
}

/// Every lie of a map is found where it is told.
#[test]
fn the_checker_sees_planted_damage() {
    let s = space(960, growing(0));
    let (a, b) = (unit(&s, 1), unit(&s, 2));
    let owned = allocate(&s, &a, 8)[0].extent();
    allocate(&s, &b, 8);
    let free = ExtentId { file: FileId(1), extent: 100 };
    let (e, f) = (owned.first_page(), free.first_page());
    let bit = |extent: ExtentId, on| bits_payload(extent.extent, 1, on).to_vec();
    let pfs = |page: PageId, new| pfs_payload(page.page, Pfs(0), Pfs(new)).to_vec();
    let stray = ExtentId { file: FileId(1), extent: 3 };
    let (set, byte) = (kinds::SET_BITS, kinds::SET_PFS);
    let cases = [
        (gam_page(e), set, bit(owned, true), bit(owned, false), Finding::OwnedButFree(owned, a.id)),
        (gam_page(f), set, bit(free, false), bit(free, true), Finding::Lost(free)),
        (sgam_page(e), set, bit(owned, true), bit(owned, false), Finding::Mixed(owned)),
        (sgam_page(f), set, bit(free, true), bit(free, false), Finding::Mixed(free)),
        (pfs_page(f), byte, pfs(f, Pfs::ALLOCATED), pfs(f, 0), Finding::Pfs(f, 0x40, 0)),
        (
            b.first_iam,
            set,
            bit(owned, true),
            bit(owned, false),
            Finding::OwnedTwice(owned, a.id, b.id),
        ),
        (a.first_iam, set, bit(stray, true), bit(stray, false), Finding::Stray(stray, a.id)),
        (a.first_iam, set, bit(free, true), bit(free, false), Finding::OwnedButFree(free, a.id)),
    ];
    for (map, kind, lie, truth, finding) in cases {
        plant(&s, map, kind, &lie);
        let found = check(&s, &[&a, &b]);
        assert!(found.contains(&finding), "{finding:?}, not {found:?}");
        plant(&s, map, kind, &truth);
        assert_eq!(check(&s, &[&a, &b]), vec![]);
    }
    // An IAM page that the PFS calls free, and a chain whose head is another unit's.
    let head = a.first_iam;
    plant(&s, pfs_page(head), byte, &pfs(head, 0));
    assert!(check(&s, &[&a, &b]).contains(&Finding::Pfs(head, 0, 0x70)));
    let wrong = AllocUnit::open(AllocUnitId(9), a.first_iam);
    let unit = Finding::Unreadable(head, AllocUnitId(9), "alloc unit ID");
    assert!(check(&s, &[&wrong]).contains(&unit));
}

/// A spoilt map may lie about every extent: so much is kept, the rest is counted.
#[test]
fn what_a_spoilt_map_says_has_a_bound() {
    let s = space(960, growing(0));
    let (a, behind) = (unit(&s, 1), EXTENTS_PER_INTERVAL - 960 / 8);
    let map = gam_page(PageId { file: FileId(1), page: 0 });
    plant(&s, map, kinds::SET_BITS, &bits_payload(960 / 8, behind, true));
    let found = s.check(&[&a], &Waiter::new()).unwrap();
    assert_eq!(found.kept.len(), FINDINGS_MAX);
    assert_eq!(found.kept.len() as u64 + found.more, u64::from(behind));
    // A second look that has seen the first extent free no longer, and one more lie.
    plant(&s, map, kinds::SET_BITS, &bits_payload(960 / 8, 1, false));
    let sure = found.clone().seen_twice(&s.check(&[&a], &Waiter::new()).unwrap());
    assert_eq!(sure.kept, found.kept[1..]);
    assert_eq!(sure.more, found.more - 1);
}

/// A chain of IAM pages that comes back to itself, and a page that covers no interval, are damage
/// that is told at once; neither is followed.
#[test]
fn an_iam_chain_that_makes_no_sense_is_an_error() {
    let s = space(960, growing(0));
    let a = unit(&s, 1);
    allocate(&s, &a, 8);
    let head = a.first_iam;
    let [p0, p1, p2, p3] = head.page.to_le_bytes();
    plant(&s, head, kinds::LINK_IAM, &[p0, p1, p2, p3, 1, 0]);
    assert!(s.unit_pages(&a, &Waiter::new()).is_err(), "the chain comes back to its head");
    let found = check(&s, &[&a]);
    assert!(found.contains(&Finding::Chain(a.id, head, 0, 1)), "{found:?}");
    plant(&s, head, kinds::LINK_IAM, &[0; 6]);
    assert!(s.unit_pages(&a, &Waiter::new()).is_ok());
    for start in [5, u32::MAX / 63_904 * 63_904] {
        let mut group = Group::new();
        let mut change = Change::new(s.pages(), &mut group);
        let page = change.add(s.pages().write(head).unwrap());
        let header = crate::redo::format_iam_payload(0, FileId(1), start, Lsn::ZERO);
        change.apply(page, a.id, kinds::FORMAT, 0, &[&header], Undo::Never);
        change.finish(&mut TransactionChain::default());
        assert!(s.unit_pages(&a, &Waiter::new()).is_err(), "no interval begins at {start}");
    }
}

/// Redo of these records on pages they do not fit is an error, never a panic.
#[test]
fn records_that_do_not_fit_are_refused() {
    let mut page = Box::new([0; 8192]);
    let id = PageId::new(1, 2);
    for kind in (0x20..=0x26).map(Kind) {
        for payload in [&[][..], &[8], &[0xFF; 5], &[0xFF; 9], &[0xFF; 12]] {
            let op = PageOp { kind, page: id, slot: 0, unit: AllocUnitId(1), payload };
            for page_kind in [PageKind::Gam, PageKind::Pfs, PageKind::Iam, PageKind::FileHeader] {
                PageMut(&mut page).format(page_kind, id, AllocUnitId(0), 0, 0);
                let _either = SpaceRedo.apply(&op, &mut page);
            }
            *page = [0; 8192];
            let refused = SpaceRedo.apply(&op, &mut page).is_err();
            assert!(refused || kind == kinds::FORMAT, "{kind:?} on a blank page");
        }
    }
    assert!(page::PageView(&page).lsn() == Lsn::ZERO);
}
