//! The disk: what is synced survives, what is not may vanish, tear or overtake; nothing else.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use os::disk::{Disk as _, File, OpenMode};
use os::vm::AlignedBuffer;
use sim::{Crash, Disk, DiskOptions, Options, Random, RunEnd, Simulation};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

const SECTOR: usize = 512;
const NEW: OpenMode = OpenMode { create: true, direct: false };
const OLD: OpenMode = OpenMode { create: false, direct: false };

fn disk() -> Disk {
    Disk::new(DiskOptions::default())
}

fn durable_file(d: &Disk, name: &str) -> Arc<dyn File> {
    let f = d.open(Path::new(name), NEW).unwrap();
    d.sync_dir(Path::new("")).unwrap();
    f
}

fn stamped(first: u64, sectors: usize) -> Vec<u8> {
    (0..sectors as u64).flat_map(|s| (first + s).to_le_bytes().repeat(SECTOR / 8)).collect()
}

/// The stamp of a sector, which must be whole.
fn stamp(sector: &[u8]) -> u64 {
    let first: [u8; 8] = sector[..8].try_into().unwrap();
    assert!(sector.chunks(8).all(|c| c == first), "a sector is written whole or not at all");
    u64::from_le_bytes(first)
}

/// What each sector may be after a crash.
#[derive(Default)]
struct Model {
    allowed: Vec<BTreeSet<u64>>,
    now: Vec<u64>,
    shortest: usize,
    longest: usize,
}

impl Model {
    fn write(&mut self, at: usize, first: u64, sectors: usize) {
        self.grow(at + sectors);
        for s in 0..sectors {
            self.now[at + s] = first + s as u64;
            self.allowed[at + s].insert(first + s as u64);
        }
    }
    fn grow(&mut self, len: usize) {
        if len > self.now.len() {
            self.now.resize(len, 0);
        }
        self.longest = self.longest.max(len);
        while self.allowed.len() < len {
            self.allowed.push(BTreeSet::from([0]));
        }
    }
    fn set_len(&mut self, len: usize) {
        self.grow(len);
        self.now.truncate(len);
        self.shortest = self.shortest.min(len);
        self.allowed[len..].iter_mut().for_each(|a| {
            a.insert(0);
        });
    }
    fn sync(&mut self) {
        self.allowed = self.now.iter().map(|&v| BTreeSet::from([v])).collect();
        (self.shortest, self.longest) = (self.now.len(), self.now.len());
    }
    fn check(&self, d: &Disk, what: &str) {
        let f = d.open(Path::new("f"), OLD).unwrap();
        let len = f.len().unwrap() as usize;
        assert_eq!(len % SECTOR, 0);
        let sectors = len / SECTOR;
        assert!((self.shortest..=self.longest).contains(&sectors), "{what}: {sectors} sectors");
        let mut all = vec![0; len];
        f.read_at(&mut all, 0).unwrap();
        for (s, bytes) in all.chunks(SECTOR).enumerate() {
            let v = stamp(bytes);
            assert!(self.allowed[s].contains(&v), "{what}: sector {s} is {v}");
        }
    }
}

#[test]
fn each_sector_is_durable_or_was_written_since_and_what_is_synced_survives() {
    for seed in 0..60 {
        let mut r = Random::new(seed);
        let mut d = disk();
        let mut f = durable_file(&d, "f");
        let mut model = Model::default();
        let mut next = 1;
        for step in 0..120 {
            let at = r.below(64) as usize;
            match r.below(12) {
                0 => {
                    f.set_len((at * SECTOR) as u64).unwrap();
                    model.set_len(at);
                }
                1 | 2 => {
                    f.sync().unwrap();
                    model.sync();
                }
                3 => {
                    for crash in 0..6 {
                        let what = format!("seed {seed} step {step} crash {crash}");
                        model.check(&d.after_crash(seed * 1000 + crash), &what);
                    }
                    model.check(&d.after_stop(1), "stop");
                    // Go on from one of them, for crashes in a row; what is there is durable.
                    d = d.after_crash(seed);
                    f = d.open(Path::new("f"), OLD).unwrap();
                    let mut all = vec![0; f.len().unwrap() as usize];
                    f.read_at(&mut all, 0).unwrap();
                    model.now = all.chunks(SECTOR).map(stamp).collect();
                    model.sync();
                }
                _ => {
                    let n = 1 + r.below(20) as usize;
                    f.write_at(&stamped(next, n), (at * SECTOR) as u64).unwrap();
                    model.write(at, next, n);
                    next += n as u64;
                }
            }
        }
    }
}

#[test]
fn every_kind_of_loss_happens() {
    let d = disk();
    let (f, g) = (durable_file(&d, "f"), durable_file(&d, "g"));
    f.set_len(16 * SECTOR as u64).unwrap();
    f.sync().unwrap();
    f.write_at(&stamped(1, 8), 0).unwrap();
    g.write_at(&stamped(50, 8), 0).unwrap();
    f.write_at(&stamped(20, 8), 8 * SECTOR as u64).unwrap();
    let mut seen = BTreeSet::new();
    for seed in 0..400 {
        let after = d.after_crash(seed);
        let all = after.bytes_at(Path::new("f"), 0, 16 * SECTOR);
        let kept: Vec<bool> = all.chunks(SECTOR).map(|s| stamp(s) != 0).collect();
        let count = |r: std::ops::Range<usize>| kept[r].iter().filter(|&&k| k).count();
        let other = after.open(Path::new("g"), OLD).unwrap().len().unwrap() > 0;
        seen.insert(match (count(0..8), count(8..16), other) {
            (0, 0, false) => "nothing",
            (8, 8, true) => "everything",
            (0, 8, _) => "the later alone",
            (8, 0, false) => "the earlier alone",
            (8, 8, false) => "one file alone",
            (0, 0, true) => "the other file alone",
            (1..8, _, _) | (_, 1..8, _) => "torn",
            _ => "mixed",
        });
    }
    assert!(seen.len() >= 7, "{seen:?}");
    // The same seed leaves the same.
    let bytes = |d: Disk| d.bytes_at(Path::new("f"), 0, 16 * SECTOR);
    assert!((0..50).all(|s| bytes(d.after_crash(s)) == bytes(d.after_crash(s))));
}

#[test]
fn a_sync_does_not_cover_what_is_written_while_it_runs() {
    let mut lost = 0;
    for seed in 0..60 {
        let d = Disk::new(DiskOptions { seed, ..DiskOptions::default() });
        let theirs = d.clone();
        Simulation::run(seed, Options::default(), move |_| {
            let f = durable_file(&theirs, "f");
            f.write_at(&stamped(1, 1), 0).unwrap();
            let late = Arc::clone(&f);
            let t = os::task::spawn("late", move || {
                late.write_at(&stamped(2, 1), SECTOR as u64).unwrap();
            });
            f.sync().unwrap();
            t.join().unwrap();
        });
        for crash in 0..8 {
            let after = d.after_crash(crash);
            let len = after.open(Path::new("f"), OLD).unwrap().len().unwrap() as usize;
            assert!(len >= SECTOR, "what was synced is there");
            assert_eq!(stamp(&after.bytes_at(Path::new("f"), 0, SECTOR)), 1);
            lost += u32::from(len == SECTOR);
        }
    }
    assert!(lost > 0, "a late write was lost at least once");
}

#[test]
fn names_are_durable_after_sync_dir_and_a_rename_is_one_step() {
    let (a, b, c) = (Path::new("d/a"), Path::new("d/b"), Path::new("d/c"));
    let d = disk();
    assert_eq!(d.open(a, NEW).err().map(|e| e.kind()), Some(ErrorKind::NotFound));
    d.create_dir(Path::new("d")).unwrap();
    let f = d.open(a, NEW).unwrap();
    assert_eq!(d.open(a, NEW).err().map(|e| e.kind()), Some(ErrorKind::AlreadyExists));
    f.write_at(&stamped(7, 1), 0).unwrap();
    f.sync().unwrap();
    let stays = (0..40).filter(|&s| d.after_crash(s).exists(a)).count();
    assert!((1..40).contains(&stays), "its name may vanish though its content was synced");
    d.sync_dir(Path::new("d")).unwrap();
    assert!((0..40).all(|s| d.after_crash(s).exists(a)));

    d.rename(a, b).unwrap();
    drop(d.open(c, NEW).unwrap());
    d.rename(b, c).unwrap();
    assert_eq!(d.list(Path::new("d")).unwrap(), [c]);
    let mut found = BTreeSet::new();
    for s in 0..100 {
        let after = d.after_crash(s);
        let names = after.list(Path::new("d")).unwrap();
        let with_content = names
            .iter()
            .filter(|n| after.open(n, OLD).unwrap().len().unwrap() == SECTOR as u64)
            .count();
        assert_eq!(with_content, 1, "the file has one name: {names:?}");
        found.insert(names);
    }
    assert!(found.len() >= 3, "{found:?}");
    d.remove(c).unwrap();
    assert!(!d.exists(c) && f.len().unwrap() == SECTOR as u64, "an open file lives on");
    let back = (0..40).filter(|&s| d.after_crash(s).list(Path::new("d")).unwrap() != [c]).count();
    assert!(back > 0);
    d.sync_dir(Path::new("d")).unwrap();
    assert!((0..40).all(|s| d.after_crash(s).list(Path::new("d")).unwrap().is_empty()));
}

#[test]
fn a_full_disk_refuses_growth_and_nothing_else() {
    let d = Disk::new(DiskOptions { capacity_bytes: 20 * 512, ..DiskOptions::default() });
    let f = durable_file(&d, "f");
    f.set_len(16 * 512).unwrap();
    let full = |e: std::io::Result<()>| e.unwrap_err().kind() == ErrorKind::StorageFull;
    assert!(full(f.set_len(21 * 512)));
    assert_eq!(f.len().unwrap(), 16 * 512, "a refused growth leaves the length");
    f.write_at(&stamped(1, 16), 0).unwrap();
    assert!(full(f.write_at(&stamped(1, 8), 15 * 512)));
    assert!(f.len().unwrap() <= 20 * 512, "no more than fits was written");
    d.set_capacity(1 << 20);
    f.set_len(30 * 512).unwrap();
    d.refuse_space_at(d.operations() + 1);
    f.write_at(&stamped(5, 2), 0).unwrap();
    assert!(full(f.set_len(31 * 512)), "the drawn refusal waits for a growth");
    f.set_len(31 * 512).unwrap();
    assert_eq!(d.refusals(), 3);
    d.remove(Path::new("f")).unwrap();
    assert_eq!(d.used_bytes(), 0);
}

#[test]
fn after_a_failed_sync_nothing_is_known() {
    let mut outcomes = BTreeSet::new();
    for seed in 0..20 {
        let d = Disk::new(DiskOptions { seed, ..DiskOptions::default() });
        let f = durable_file(&d, "f");
        f.write_at(&stamped(1, 1), 0).unwrap();
        f.sync().unwrap();
        f.write_at(&stamped(2, 1), 0).unwrap();
        d.fail_sync_at(1);
        assert!(f.sync().is_err());
        f.sync().unwrap();
        outcomes.insert(stamp(&d.after_crash(0).bytes_at(Path::new("f"), 0, SECTOR)));
    }
    assert_eq!(outcomes, BTreeSet::from([1, 2]), "a second sync that succeeds proves nothing");
}

#[test]
fn a_killed_process_leaves_its_writes_which_power_loss_may_still_take() {
    let d = disk();
    let f = durable_file(&d, "f");
    f.write_at(&stamped(1, 4), 0).unwrap();
    let next = d.after_stop(1);
    assert_eq!(next.bytes_at(Path::new("f"), 0, 4 * SECTOR), stamped(1, 4));
    let len = |s| next.after_crash(s).open(Path::new("f"), OLD).unwrap().len().unwrap();
    assert!((0..40).any(|s| len(s) == 0) && (0..40).any(|s| len(s) == 4 * 512));
}

#[test]
fn direct_files_want_alignment_and_rot_changes_bytes() {
    let d = disk();
    let path = Path::new("f");
    let f = d.open(path, OpenMode { create: true, direct: true }).unwrap();
    let mut b = AlignedBuffer::new(4096);
    b.fill(3);
    f.write_at(&b, 4096).unwrap();
    f.sync().unwrap();
    f.read_at(&mut b[..512], 512).unwrap();
    for (from, to, offset) in [(0, 100, 0), (0, 512, 7), (8, 520, 0)] {
        let unaligned = std::panic::AssertUnwindSafe(|| f.write_at(&b[from..to], offset));
        assert!(std::panic::catch_unwind(unaligned).is_err());
    }
    d.rot(path, 4096, 512, 9);
    assert_ne!(d.bytes_at(path, 4096, 512), [3; 512]);
    assert_eq!(d.bytes_at(path, 4608, 512), [3; 512]);
    assert!(d.after_crash(1).bytes_at(path, 4096, 512) != [3; 512], "rot is durable");
}

#[test]
fn a_crash_at_an_operation_ends_the_run_and_the_disk_answers_nobody() {
    for at in 1..=6 {
        let d = disk();
        d.crash_at(at);
        let theirs = d.clone();
        let run = Simulation::run(at, Options::default(), move |_| {
            let f = durable_file(&theirs, "f");
            for i in 0..2 {
                f.write_at(&stamped(1, 4), i * 2048).unwrap();
                f.sync().unwrap();
            }
        });
        assert_eq!((run.ended, d.operations()), (RunEnd::Crashed, at));
        let dead = std::panic::AssertUnwindSafe(|| d.exists(Path::new("f")));
        assert!(std::panic::catch_unwind(dead).unwrap_err().is::<Crash>());
        d.after_crash(1).exists(Path::new("f"));
    }
}
