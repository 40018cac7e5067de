//! The simulated disk: keeps what os::disk promises, and nothing else.
//!
//! Operations have numbers, from 1: the machine can be crashed at any of them, refuse space or
//! fail a sync from any of them on. An operation takes virtual time, in which others run.
//!
//! Invariants
//!  1. The state's lock is never held across a switch or an unwinding.
//!  2. A write that is not refused and lies inside the file needs no space.
//!  3. Sync covers what was written before it began, not what came while it ran.
//!  4. A crashed disk answers nobody: its files unwind who calls, or answer with an error.

mod content;
mod file;
mod image;
mod names;
mod operation;
mod survive;

use crate::random::{Random, mix};
use content::Content;
use file::SimFile;
use names::FileNo;
use operation::{Inner, State};
use os::disk::{FolderLock, Holder, LockRefusal, OpenMode};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use survive::Survival;

/// What a disk is like.
#[derive(Clone, Debug)]
pub struct DiskOptions {
    /// Seed of latencies, faults and of what survives.
    pub seed: u64,
    /// Bytes that fit; more is refused with `StorageFull`.
    pub capacity_bytes: u64,
    /// Whether reads have operation numbers too, so that a crash can fall on one.
    pub count_reads: bool,
    /// Multiple that offset, length and address of a transfer to a direct file must have.
    pub direct_alignment: usize,
    /// Growth is refused once in this many growing operations; 0: never.
    pub refuse_space_one_in: u64,
    /// A sync fails once in this many; 0: never.
    pub fail_sync_one_in: u64,
    /// Whether operations take drawn virtual time in which others run.
    pub latency: bool,
}

impl Default for DiskOptions {
    fn default() -> Self {
        DiskOptions {
            seed: 0,
            capacity_bytes: 1 << 30,
            count_reads: false,
            direct_alignment: 512,
            refuse_space_one_in: 0,
            fail_sync_one_in: 0,
            latency: true,
        }
    }
}

/// A disk. Clones are the same disk.
#[derive(Clone)]
pub struct Disk(Arc<Inner>);

impl Disk {
    /// An empty disk.
    pub fn new(options: DiskOptions) -> Disk {
        Disk(Inner::new(State::new(options)))
    }

    /// Crashes the machine at an operation: its effect is as uncertain as that of unsynced ones.
    pub fn crash_at(&self, operation: u64) {
        self.0.state().crash_at = operation;
    }

    /// Refuses the first growth at or after an operation.
    pub fn refuse_space_at(&self, operation: u64) {
        self.0.state().refuse_at.push(operation);
    }

    /// Fails the first sync at or after an operation.
    pub fn fail_sync_at(&self, operation: u64) {
        self.0.state().fail_sync_at.push(operation);
    }

    /// Refuses and fails nothing any more, except for want of space.
    pub fn clear_faults(&self) {
        let mut s = self.0.state();
        s.refuse_at.clear();
        s.fail_sync_at.clear();
        s.options.refuse_space_one_in = 0;
        s.options.fail_sync_one_in = 0;
    }

    /// Changes the space there is, as when another program fills the disk or an operator helps.
    pub fn set_capacity(&self, bytes: u64) {
        self.0.state().options.capacity_bytes = bytes;
    }

    /// Bytes that fit.
    pub fn capacity_bytes(&self) -> u64 {
        self.0.state().options.capacity_bytes
    }

    /// Operations so far.
    pub fn operations(&self) -> u64 {
        self.0.state().operations
    }

    /// Growths refused so far.
    pub fn refusals(&self) -> u64 {
        self.0.state().refusals
    }

    /// Bytes in files.
    pub fn used_bytes(&self) -> u64 {
        self.0.state().used_bytes()
    }

    /// Whether the machine has crashed at an operation of this disk.
    pub fn has_crashed(&self) -> bool {
        self.0.state().crashed
    }

    /// The disk that the next boot finds, after power was lost: names and unsynced changes
    /// survive, vanish or tear as the seed says. This disk stays as it is.
    pub fn after_crash(&self, seed: u64) -> Disk {
        let s = self.0.state();
        let mut numbers: Vec<u64> = s.contents.values().flat_map(Content::change_numbers).collect();
        numbers.sort_unstable();
        let mut survival = Survival::new(Random::new(mix(seed, 3)), numbers);
        let mut next = s.reborn(seed);
        next.names = s.names.after_crash(&mut survival);
        for (&file, content) in &s.contents {
            let content = content.after_crash(&mut survival);
            if next.names.reach(file) {
                next.contents.insert(file, content);
            }
        }
        Disk(Inner::new(next))
    }

    /// The disk that the next process finds after this one was killed: every write is there,
    /// but what was not synced still is not.
    pub fn after_stop(&self, seed: u64) -> Disk {
        let s = self.0.state();
        let mut next = s.reborn(seed);
        next.names = s.names.clone();
        next.contents = s.contents.iter().map(|(&f, c)| (f, c.after_stop())).collect();
        Disk(Inner::new(next))
    }

    /// Flips bits of a durable range, as a medium that forgets.
    ///
    /// # Panics
    /// When there is no such file or range.
    pub fn rot(&self, path: &Path, offset: u64, len: usize, seed: u64) {
        let mut r = Random::new(mix(seed, 4));
        let mut bytes = self.bytes_at(path, offset, len);
        for _ in 0..=r.below(3) {
            let at = r.below(len as u64) as usize;
            // Never back to what it was: each flip takes a bit of its own byte position.
            bytes[at] ^= 1 << r.below(8);
        }
        if bytes == self.bytes_at(path, offset, len) {
            bytes[0] ^= 0x10;
        }
        self.damage(path, offset, &bytes);
    }

    /// Puts bytes on the medium behind everybody's back.
    ///
    /// # Panics
    /// When there is no such file or range.
    pub fn damage(&self, path: &Path, offset: u64, bytes: &[u8]) {
        self.with(path, |c| c.damage(bytes, offset));
    }

    /// Reads for a test's own eyes: no time passes, nothing is counted, a crashed disk answers.
    ///
    /// # Panics
    /// When there is no such file or range.
    pub fn bytes_at(&self, path: &Path, offset: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        assert!(self.with(path, |c| c.read(&mut out, offset)), "the range is inside the file");
        out
    }

    fn with<R>(&self, path: &Path, f: impl FnOnce(&mut Content) -> R) -> R {
        let mut s = self.0.state();
        let file = s.names.get(path).expect("the file exists");
        f(s.content(file))
    }
}

fn not_found(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{} does not exist", path.display()))
}

fn name_of(path: &Path) -> Arc<str> {
    path.to_string_lossy().into()
}

impl Disk {
    fn create(&self, path: &Path) -> io::Result<FileNo> {
        self.0.operate("create", &name_of(path), 0, 0, |s, number| {
            if s.names.get(path).is_some() || s.names.is_dir(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            let dir = path.parent().unwrap_or(Path::new(""));
            if !s.names.is_dir(dir) {
                return Err(not_found(dir));
            }
            if s.refuses_space(number, 0) {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let file = s.next_file;
            s.next_file += 1;
            s.contents.insert(file, Content::opened());
            s.names.put(number, path, file);
            Ok(file)
        })
    }
}

/// The lock of a folder of this disk.
struct Lock {
    disk: Arc<Inner>,
    dir: PathBuf,
}

impl FolderLock for Lock {}

impl Drop for Lock {
    fn drop(&mut self) {
        self.disk.state().locked.remove(&self.dir);
    }
}

impl os::disk::Disk for Disk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Arc<dyn os::disk::File>> {
        let file = if how.create {
            self.create(path)?
        } else {
            self.0.look("open", &name_of(path), |s| {
                let file = s.names.get(path).ok_or_else(|| not_found(path))?;
                s.content(file).handles += 1;
                Ok(file)
            })?
        };
        Ok(Arc::new(SimFile::new(Arc::clone(&self.0), file, name_of(path), how.direct)))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.operate("remove", &name_of(path), 0, 0, |s, number| {
            s.names.get(path).ok_or_else(|| not_found(path))?;
            s.names.remove(number, path);
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.operate("rename", &name_of(from), 0, 0, |s, number| {
            let file = s.names.get(from).ok_or_else(|| not_found(from))?;
            let dir = to.parent().unwrap_or(Path::new(""));
            if !s.names.is_dir(dir) {
                return Err(not_found(dir));
            }
            s.names.rename(number, from, to, file);
            Ok(())
        })
    }

    fn exists(&self, path: &Path) -> bool {
        let found = self.0.look("exists", &name_of(path), |s| {
            Ok(s.names.get(path).is_some() || s.names.is_dir(path))
        });
        found.unwrap_or(false)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.0.look("list", &name_of(dir), |s| {
            if s.names.is_dir(dir) { Ok(s.names.list(dir)) } else { Err(not_found(dir)) }
        })
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.operate("create_dir", &name_of(dir), 0, 0, |s, _| {
            s.names.add_dir(dir);
            Ok(())
        })
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.0.operate("sync_dir", &name_of(dir), 0, 0, |s, number| {
            if !s.names.is_dir(dir) {
                return Err(not_found(dir));
            }
            if s.fails_sync(number) {
                return Err(io::Error::other("the folder could not be synced (injected)"));
            }
            // A crash in the midst: synced or not, by the seed.
            if number != s.crash_at || s.random.one_in(2) {
                s.names.sync(dir);
                s.forget_unreachable();
            }
            Ok(())
        })
    }

    fn lock_folder(&self, dir: &Path, holder: &Holder) -> Result<Box<dyn FolderLock>, LockRefusal> {
        let looked = self.0.look("lock", &name_of(dir), |s| {
            if !s.names.is_dir(dir) {
                return Err(not_found(dir));
            }
            let by = s.locked.get(dir).cloned();
            if by.is_none() {
                s.locked.insert(dir.to_owned(), holder.clone());
            }
            Ok(by)
        });
        match looked {
            Ok(None) => Ok(Box::new(Lock { disk: Arc::clone(&self.0), dir: dir.to_owned() })),
            Ok(held) => Err(LockRefusal::Held(held)),
            Err(e) => Err(LockRefusal::File(e)),
        }
    }
}
