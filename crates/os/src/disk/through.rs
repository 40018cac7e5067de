//! How a file's durable writes reach the disk. There are two ways: through the page cache followed
//! by fdatasync, or past the cache (O_DIRECT, O_DSYNC) by one call.
//!
//! Disk, file system and kernel decide which way is faster, so it is measured. A server measures at
//! its start with a file of its own ([`DirectFile::measure`]). Elsewhere the first short writes to
//! files of a file system measure, four by each way in turn; longer ones go through the cache
//! meanwhile. From then on all files of that file system use the way that took least, or nearly so.
//! Longer writes go past the cache where that works: nothing is copied, and a megabyte is one call.
//! A file that cannot be opened past the page cache is written through it. A way that fails before
//! one was chosen is given up, whatever the reason. The same bytes are then written again through
//! the cache, which shows whether the disk is broken.
//!
//! Whether a write is durable when its call returns depends on the file system, and not all keep
//! that promise: over FUSE and network file systems, kernels have sent no fsync after some writes
//! of O_DSYNC files. So only the [`SURE`] file systems are trusted, whose writes end with the
//! kernel's own sync of what they wrote. On any other, an explicit fdatasync follows each durable
//! write. Nothing is measured there. Writes go through the page cache unless another way was asked
//! for, and then, too, the sync follows ([`DirectFile::is_sure`]).
//!
//! io_uring was one of the ways once. A commit waits for one write, so io_uring saves no calls: of
//! eight servers on a virtio disk (Linux 6.18) 512 bytes took 65 to 108 us past the cache by one
//! call, 69 to 115 through it, and 71 to 118 by io_uring.

use crate::sync::Mutex;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// Writes by which each way is measured. The quickest quarter decides: other work at the same time,
/// as at a start, slows some of them.
const MEASURED: usize = 16;
/// How many writes by the same way follow each other. The first one pays for what the way before
/// has left or evicted, like a page of the cache.
const RUN: usize = 4;
/// Longer writes are not compared.
const COMPARED_BYTES_MAX: usize = 4096;
/// Parts written past the page cache are multiples of this.
pub(super) const SECTOR: usize = 512;
/// Of the file that is measured with.
pub(super) const SECTORS: usize = 32;
pub(super) const SCRATCH_BYTES: usize = SECTORS * SECTOR;
/// More than all ways need, of which one may be given up in the midst.
const MEASURED_WRITES: usize = 128;
/// Parts of one call (IOV_MAX).
const PARTS_MAX: usize = 1024;

/// A way to the disk. The first is chosen unless another is faster by a sixteenth: it copies
/// nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Past the page cache, by a call that is over when what it wrote is durable.
    Direct,
    /// Through the page cache, and fdatasync.
    Cached,
}

const WAYS: [Way; 2] = [Way::Direct, Way::Cached];
/// Local file systems (`f_type` of statfs) whose write to an O_DSYNC file, past the page cache
/// too, ends with a sync of it (`generic_write_sync`, or FUA): ext2 to 4, XFS, Btrfs, F2FS.
const SURE: [u64; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010];
const UNKNOWN: u8 = u8::MAX;

/// What was asked for: nothing is measured then.
static ASKED: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Logs are written so from now on, as far as the system can: without O_DIRECT through the page
/// cache ([`super::RealDisk::measure`] tells).
pub fn write_logs_by(way: Way) {
    ASKED.store(way as u8, Relaxed);
}

fn way_of(number: u8) -> Option<Way> {
    WAYS.get(usize::from(number)).copied()
}

/// The file systems of which files have been written, by their devices' numbers.
static DEVICES: Mutex<Vec<(u64, Arc<Device>)>> = Mutex::new(Vec::new());

/// A file system, and its choice.
pub(super) struct Device {
    /// A [`Way`], or [`UNKNOWN`].
    chosen: AtomicU8,
    /// Whether the way past the cache works, whichever was chosen.
    passes: AtomicBool,
    /// Whether the file system is one of [`SURE`].
    sure: bool,
    measuring: Mutex<Measuring>,
}

/// How long writes took, in nanoseconds. Under its latch a way is chosen, and given up.
#[derive(Default)]
struct Measuring {
    by: [Vec<u64>; WAYS.len()],
}

/// What a file has of it.
#[derive(Default)]
pub(super) struct DirectFile {
    device: OnceLock<Arc<Device>>,
    past: OnceLock<Option<OwnedFd>>,
}

impl Device {
    /// One whose word is taken, or not: there nothing is to be found out.
    fn new(sure: bool) -> Device {
        let chosen = if sure { UNKNOWN } else { Way::Cached as u8 };
        let (chosen, passes) = (AtomicU8::new(chosen), AtomicBool::new(false));
        Device { chosen, passes, sure, measuring: Mutex::default() }
    }

    /// That of a file; one of its own where the system does not say which.
    fn of(file: &OwnedFd) -> Arc<Device> {
        let kind = rustix::fs::fstatfs(file).map(|stat| stat.f_type as u64 & 0xFFFF_FFFF);
        let sure = kind.is_ok_and(|kind| SURE.contains(&kind));
        let Ok(number) = rustix::fs::fstat(file).map(|stat| stat.st_dev) else {
            return Arc::new(Device::new(false));
        };
        let mut devices = DEVICES.lock();
        if let Some((_, known)) = devices.iter().find(|(known, _)| *known == number) {
            return Arc::clone(known);
        }
        let device = Arc::new(Device::new(sure));
        devices.push((number, Arc::clone(&device)));
        device
    }

    fn chosen(&self) -> Option<Way> {
        way_of(ASKED.load(Relaxed)).or_else(|| way_of(self.chosen.load(Relaxed)))
    }

    fn choose(&self, way: Way) {
        self.chosen.store(way as u8, Relaxed);
    }

    /// The way for so many bytes. While none is chosen, and for long writes, that is the cache,
    /// unless the way past it is known to work.
    fn way(&self, bytes: usize) -> Way {
        let long = bytes > COMPARED_BYTES_MAX;
        match self.chosen() {
            Some(Way::Cached) if long && self.passes.load(Relaxed) => Way::Direct,
            Some(way) => way,
            None if long => Way::Cached,
            None => self.next(),
        }
    }

    /// The way to be measured next.
    fn next(&self) -> Way {
        let measuring = self.measuring.lock();
        let turns = |way: &Way| measuring.by[*way as usize].len() / RUN;
        WAYS.into_iter().min_by_key(turns).unwrap_or(Way::Cached)
    }

    /// A write of so many bytes has taken so long.
    fn took(&self, way: Way, bytes: usize, ns: u64) {
        if self.chosen().is_some() || bytes > COMPARED_BYTES_MAX {
            return;
        }
        let mut measuring = self.measuring.lock();
        measuring.by[way as usize].push(ns);
        if self.chosen().is_none()
            && let Some(way) = measuring.least()
        {
            self.passes.store(true, Relaxed);
            self.choose(way);
        }
    }

    /// A write past the cache was refused, or not completed. Returns whether it may be done through
    /// the cache: when no way was chosen yet, or the file system has no such way.
    fn refused(&self, unsupported: bool) -> bool {
        let _choosing = self.measuring.lock();
        let gives_up = self.chosen().is_none() || unsupported;
        if gives_up {
            self.passes.store(false, Relaxed);
            self.choose(Way::Cached);
        }
        gives_up
    }

    /// A file has no way past the cache: that is known of the others before one was chosen.
    fn lacks_direct(&self) {
        let _choosing = self.measuring.lock();
        if self.chosen().is_none() {
            self.choose(Way::Cached);
        }
    }
}

/// What a measurement came to.
pub struct Measurement {
    /// The way that is taken.
    pub chosen: &'static str,
    /// What a write took by each that was measured, in nanoseconds (the lower quartile).
    pub took: Vec<(&'static str, u64)>,
    /// Whether the file system's word for a durable write is taken, so that ways were compared.
    pub sure: bool,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Direct => "O_DIRECT and RWF_DSYNC",
            Way::Cached => "page cache and fdatasync",
        }
    }
}

impl Measuring {
    /// The way that takes least, when each has been measured.
    fn least(&mut self) -> Option<Way> {
        let enough = self.by.iter().all(|times| times.len() >= MEASURED);
        let mut time = |way: &Way| {
            let quartile = quartile(&mut self.by[*way as usize]);
            if *way == Way::Direct { quartile - quartile / 16 } else { quartile }
        };
        let least = WAYS.into_iter().min_by_key(|way| time(way));
        least.filter(|_| enough)
    }
}

impl DirectFile {
    /// How these parts of a file are to be written: None through the page cache.
    pub(super) fn way(&self, file: &OwnedFd, parts: &[&[u8]], offset: u64) -> Option<Way> {
        let whole = |n: usize| n.is_multiple_of(SECTOR);
        let aligned = |p: &&[u8]| whole(p.len()) && whole(p.as_ptr() as usize);
        let device = self.device.get_or_init(|| Device::of(file));
        let fits = parts.len() <= PARTS_MAX && whole(offset as usize) && parts.iter().all(aligned);
        let way = if fits { device.way(bytes_of(parts)) } else { Way::Cached };
        if way == Way::Cached || self.past(file, device).is_none() {
            return None;
        }
        Some(way)
    }

    /// Whether a write past the cache is durable when its call returns; otherwise a sync follows
    /// it.
    pub(super) fn is_sure(&self) -> bool {
        self.device.get().is_some_and(|device| device.sure)
    }

    /// The file without the page cache. Where the system had no descriptor left, say, it is asked
    /// again.
    fn past(&self, file: &OwnedFd, device: &Device) -> Option<&OwnedFd> {
        if let Some(known) = self.past.get() {
            return known.as_ref();
        }
        match past_page_cache(file) {
            Ok(past) => self.past.get_or_init(|| Some(past)).as_ref(),
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                device.lacks_direct();
                self.past.get_or_init(|| None).as_ref()
            }
            Err(_) => None,
        }
    }

    /// One call that writes, past the page cache, and waits until what it wrote is durable.
    ///
    /// # Errors
    /// The operating system's.
    pub(super) fn write(&self, parts: &[IoSlice<'_>], offset: u64) -> Result<usize, Errno> {
        let past = self.past.get().and_then(Option::as_ref).ok_or(Errno::OPNOTSUPP)?;
        // The file is O_DSYNC; the flag says so to who reads a trace of calls.
        rustix::io::pwritev2(past, parts, offset, ReadWriteFlags::DSYNC)
    }

    /// Has each way measured by writes of a sector, until one is chosen, unless one was asked for;
    /// the way that is then taken in truth. `write` writes the sector at a position of the file.
    ///
    /// # Errors
    /// The operating system's.
    pub(super) fn measure(
        &self,
        file: &OwnedFd,
        sector: &[u8],
        write: impl Fn(u64) -> std::io::Result<()>,
    ) -> std::io::Result<Measurement> {
        let device = self.device.get_or_init(|| Device::of(file));
        for n in 0..MEASURED_WRITES {
            if device.chosen().is_some() {
                break;
            }
            write((n % SECTORS * SECTOR) as u64)?;
        }
        let chosen = self.way(file, &[sector], 0).unwrap_or(Way::Cached).name();
        let mut measuring = device.measuring.lock();
        let times = WAYS.map(|way| (way.name(), quartile(&mut measuring.by[way as usize])));
        let took = times.into_iter().filter(|(_, ns)| *ns < u64::MAX).collect();
        Ok(Measurement { chosen, took, sure: device.sure })
    }

    /// See [`Device::took`].
    pub(super) fn took(&self, way: Way, bytes: usize, ns: u64) {
        if let Some(device) = self.device.get() {
            device.took(way, bytes, ns);
        }
    }

    /// See [`Device::refused`].
    pub(super) fn refused(&self, unsupported: bool) -> bool {
        self.device.get().is_none_or(|device| device.refused(unsupported))
    }
}

pub(super) fn bytes_of(parts: &[&[u8]]) -> usize {
    parts.iter().map(|p| p.len()).sum()
}

/// What a quarter of the times keep below.
fn quartile(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 4).copied().unwrap_or(u64::MAX)
}

/// The same file without the page cache, each of whose writes is durable when it is over.
fn past_page_cache(file: &OwnedFd) -> Result<OwnedFd, Errno> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let how = OFlags::RDWR | OFlags::DIRECT | OFlags::DSYNC | OFlags::CLOEXEC;
    rustix::fs::open(path, how, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm::AlignedBuffer;
    use std::os::unix::fs::FileExt;

    /// Measures until a way is chosen, each of which takes as long as is said.
    fn measured(device: &Device, times: [u64; 2]) -> usize {
        device.took(Way::Direct, 60_000, 1);
        let mut writes = 0;
        while device.chosen().is_none() {
            let way = device.next();
            let late = if writes % 11 == 5 { 9_000 } else { times[way as usize] };
            device.took(way, 512, late);
            writes += 1;
        }
        writes
    }

    /// So many writes by each way are enough, and those that were slow by chance do not decide.
    #[test]
    fn the_way_that_takes_least_is_chosen() {
        for (times, wins) in
            [([80, 100], Way::Direct), ([120, 100], Way::Cached), ([100, 95], Way::Direct)]
        {
            let device = Device::new(true);
            assert_eq!(measured(&device, times), 2 * MEASURED);
            assert_eq!(device.chosen(), Some(wins));
            assert_eq!(device.way(512), wins);
            assert_eq!(device.way(60_000), Way::Direct);
        }
    }

    /// What fails while nothing is chosen goes through the cache from then on; a chosen way that
    /// the file system does not know any more, too; another failure of it is the disk's.
    #[test]
    fn a_way_that_fails_is_given_up_where_that_tells_of_the_way() {
        let device = Device::new(true);
        assert!(device.refused(false));
        assert_eq!([512, 60_000].map(|bytes| device.way(bytes)), [Way::Cached; 2]);
        device.choose(Way::Direct);
        assert!(!device.refused(false));
        assert!(device.refused(true));
        assert_eq!(device.chosen(), Some(Way::Cached));
    }

    /// A file system that is not known to keep its word is not measured, and a write past its cache
    /// that was asked for is not taken for durable.
    #[test]
    fn the_word_of_few_file_systems_is_taken() {
        let device = Device::new(false);
        assert_eq!([512, 60_000].map(|bytes| device.way(bytes)), [Way::Cached; 2]);
        let through = DirectFile::default();
        through.device.set(Arc::new(device)).ok().unwrap();
        assert!(!through.is_sure());
        assert!(!DirectFile::default().is_sure(), "nothing is known of it yet");
        let fuse_nfs_smb_overlay_tmpfs =
            [0x6573_5546, 0x6969, 0xFF53_4D42, 0x794C_7630, 0x102_1994];
        assert!(!fuse_nfs_smb_overlay_tmpfs.iter().any(|kind| SURE.contains(kind)));
        let (flags, mode) = (rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty());
        let Ok(shared_memory) = rustix::fs::open("/dev/shm", flags, mode) else { return };
        assert!(!Device::of(&shared_memory).sure, "tmpfs");
    }

    /// The way past the cache writes what it is given where it belongs, durably.
    #[test]
    fn a_way_past_the_cache_writes_and_is_durable() {
        let path = std::env::temp_dir().join(format!("ghostlight-ways-{}", std::process::id()));
        let file = std::fs::File::create_new(&path).unwrap();
        file.set_len(1 << 20).unwrap();
        let opened = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let opened = OwnedFd::from(opened);
        let (mut first, mut second) = (AlignedBuffer::new(4096), AlignedBuffer::new(4096));
        let through = DirectFile::default();
        through.device.set(Arc::new(Device::new(true))).ok().unwrap();
        through.device.get().unwrap().choose(Way::Direct);
        for k in 0..3 {
            let at = k as u64 * 1536;
            first.fill(k as u8 + 1);
            second.fill(k as u8 + 101);
            let parts = [&first[..512], &second[..1024]];
            let Some(way) = through.way(&opened, &parts, at) else { continue };
            assert_eq!(way, Way::Direct);
            assert_eq!(through.write(&parts.map(IoSlice::new), at), Ok(1536));
            let mut read = [0; 1536];
            file_of(&opened).read_exact_at(&mut read, at).unwrap();
            assert!(read[..512].iter().all(|b| *b == k as u8 + 1));
            assert!(read[512..].iter().all(|b| *b == k as u8 + 101));
            let past = through.past.get().unwrap().as_ref().unwrap();
            let flags = rustix::fs::fcntl_getfl(past).unwrap();
            assert!(flags.contains(OFlags::DSYNC | OFlags::DIRECT), "{flags:?}");
        }
        through.device.get().unwrap().choose(Way::Cached);
        assert_eq!(through.way(&opened, &[&first[..512]], 0), None);
    }

    fn file_of(fd: &OwnedFd) -> std::fs::File {
        fd.try_clone().unwrap().into()
    }
}
