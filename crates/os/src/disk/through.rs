//! How a file's durable writes get to the disk: through the page cache and by fdatasync, or past it
//! (O_DIRECT) by one call with RWF_DSYNC, or past it by io_uring.
//!
//! Which takes least time depends on disk, file system and kernel, so it is measured by the first
//! short writes of each file, in turns by each; longer ones go through the cache meanwhile. From
//! then on the one whose median was least is taken. A file that has no way past the page cache goes
//! through it, and so does one whose way fails before it was chosen, whatever the reason: the same
//! bytes are written again, and a disk that is broken says so then.
//!
//! A commit waits for one write, so io_uring saves no calls; measured were 86.6 us by pwritev2,
//! 87.1 through the cache, 89.3 by io_uring (512 bytes, virtio disk, Linux 6.18), and 96.9 with a
//! write and an fsync that are linked, which is therefore not among the ways.

use super::ring::Ring;
use crate::sync::Mutex;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, ReadWriteFlags};
use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Writes by which each way is measured.
const MEASURED: usize = 8;
/// Longer ones are not compared.
const COMPARED_BYTES_MAX: usize = 4096;
/// What parts past the page cache are multiples of.
const SECTOR: usize = 512;
/// Parts of one call (IOV_MAX).
const PARTS_MAX: usize = 1024;

/// A way to the disk. Of ways that take the same time the first is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Direct,
    Cached,
    Ring,
}

const WAYS: [Way; 3] = [Way::Direct, Way::Cached, Way::Ring];
const UNKNOWN: u8 = u8::MAX;

/// The choice for one file.
pub(super) struct Through {
    /// A [`Way`], or [`UNKNOWN`].
    chosen: AtomicU8,
    measuring: Mutex<[Vec<u64>; WAYS.len()]>,
    past: OnceLock<Option<PastPageCache>>,
}

/// The file without the page cache, and the ring while it is measured or chosen.
pub(super) struct PastPageCache {
    pub(super) file: OwnedFd,
    pub(super) ring: Mutex<Option<Ring>>,
}

impl Default for Through {
    fn default() -> Self {
        let (chosen, past) = (AtomicU8::new(UNKNOWN), OnceLock::new());
        Through { chosen, measuring: Mutex::default(), past }
    }
}

impl Through {
    /// How these parts of a file are to be written: None through the page cache.
    pub(super) fn way(
        &self,
        file: &OwnedFd,
        parts: &[&[u8]],
        offset: u64,
    ) -> Option<(Way, &PastPageCache)> {
        let whole = |n: usize| n.is_multiple_of(SECTOR);
        let aligned = |p: &&[u8]| whole(p.len()) && whole(p.as_ptr() as usize);
        let chosen = self.chosen();
        if chosen == Some(Way::Cached) || parts.len() > PARTS_MAX {
            return None;
        }
        if !whole(offset as usize) || !parts.iter().all(aligned) {
            return None;
        }
        if chosen.is_none() && bytes_of(parts) > COMPARED_BYTES_MAX {
            return None;
        }
        let Some(past) = self.past.get_or_init(|| PastPageCache::of(file)) else {
            self.choose(Way::Cached);
            return None;
        };
        let way = chosen.unwrap_or_else(|| self.next(past));
        (way != Way::Cached).then_some((way, past))
    }

    fn chosen(&self) -> Option<Way> {
        WAYS.get(usize::from(self.chosen.load(Relaxed))).copied()
    }

    fn choose(&self, way: Way) {
        self.chosen.store(way as u8, Relaxed);
        if way != Way::Ring {
            self.drop_ring();
        }
    }

    fn drop_ring(&self) {
        if let Some(Some(past)) = self.past.get() {
            *past.ring.lock() = None;
        }
    }

    /// The one by which the fewest writes were measured.
    fn next(&self, past: &PastPageCache) -> Way {
        let measuring = self.measuring.lock();
        let ring = past.ring.lock().is_some();
        let there = WAYS.into_iter().filter(|way| ring || *way != Way::Ring);
        there.min_by_key(|way| measuring[*way as usize].len()).unwrap_or(Way::Cached)
    }

    /// A write of so many bytes has taken so long.
    pub(super) fn took(&self, way: Way, bytes: usize, ns: u64) {
        if self.chosen().is_some() || bytes > COMPARED_BYTES_MAX {
            return;
        }
        let mut measuring = self.measuring.lock();
        measuring[way as usize].push(ns);
        if let Some(way) = least(&mut measuring) {
            self.choose(way);
        }
    }

    /// It was refused, or not done whole. Whether it may be done through the page cache: always
    /// where the choice was open.
    pub(super) fn refused(&self, way: Way, unsupported: bool) -> bool {
        let chosen = self.chosen();
        let open = chosen.is_none() || unsupported;
        match (way, chosen) {
            _ if !open => {}
            (Way::Ring, None) => {
                self.measuring.lock()[Way::Ring as usize].clear();
                self.drop_ring();
            }
            (Way::Ring, Some(_)) => self.choose(Way::Direct),
            _ => self.choose(Way::Cached),
        }
        open
    }
}

/// The way with the least median, when each that is measured has its writes. The ring is measured
/// last, so it has some when the others have theirs, unless there is none.
fn least(measuring: &mut [Vec<u64>; WAYS.len()]) -> Option<Way> {
    let enough = |times: &Vec<u64>| times.len() >= MEASURED;
    let ring = &measuring[Way::Ring as usize];
    let others = measuring[..Way::Ring as usize].iter().all(enough);
    if !others || !(ring.is_empty() || enough(ring)) {
        return None;
    }
    WAYS.into_iter().min_by_key(|way| median(&mut measuring[*way as usize]))
}

pub(super) fn bytes_of(parts: &[&[u8]]) -> usize {
    parts.iter().map(|p| p.len()).sum()
}

fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(u64::MAX)
}

impl PastPageCache {
    /// None where there is no such way.
    fn of(file: &OwnedFd) -> Option<PastPageCache> {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let how = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, how, Mode::empty()).ok()?;
        Some(PastPageCache { file, ring: Mutex::new(Ring::new()) })
    }

    /// One call that writes, and waits until what it wrote is durable.
    ///
    /// # Errors
    /// The operating system's; `EAGAIN` where there is no ring to write by.
    pub(super) fn write(
        &self,
        way: Way,
        parts: &[IoSlice<'_>],
        offset: u64,
    ) -> Result<usize, Errno> {
        if way != Way::Ring {
            return rustix::io::pwritev2(&self.file, parts, offset, ReadWriteFlags::DSYNC);
        }
        let mut ring = self.ring.lock();
        let writing = ring.as_mut().ok_or(Errno::AGAIN)?;
        let written = writing.write(&self.file, parts, offset);
        if written.is_err() {
            *ring = None;
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight writes by each way are enough, and one that was slow by chance does not decide.
    #[test]
    fn the_way_with_the_least_median_is_chosen() {
        let (direct, cached, ring) = (Way::Direct, Way::Cached, Way::Ring);
        for (times, wins) in [
            ([80, 100, 90], direct),
            ([120, 100, 110], cached),
            ([120, 100, 90], ring),
            ([100, 100, 100], direct),
        ] {
            let through = Through::default();
            through.took(direct, 60_000, 1);
            for n in 0..MEASURED {
                assert_eq!(through.chosen(), None);
                for way in WAYS {
                    let late = if n == 2 + way as usize { 9_000 } else { times[way as usize] };
                    through.took(way, 512, late);
                }
            }
            assert_eq!(through.chosen(), Some(wins));
        }
    }

    /// Where there is no ring the two others decide.
    #[test]
    fn without_a_ring_two_ways_are_compared() {
        let through = Through::default();
        for _ in 0..MEASURED {
            assert_eq!(through.chosen(), None);
            through.took(Way::Direct, 512, 120);
            through.took(Way::Cached, 512, 100);
        }
        assert_eq!(through.chosen(), Some(Way::Cached));
    }

    /// What fails while nothing is chosen goes through the cache from then on; a chosen way that the
    /// file system does not know any more, too; another failure of it is the disk's.
    #[test]
    fn a_way_that_fails_is_given_up_where_that_tells_of_the_way() {
        let through = Through::default();
        assert!(through.refused(Way::Direct, false));
        assert_eq!(through.chosen(), Some(Way::Cached));
        through.choose(Way::Direct);
        assert!(!through.refused(Way::Direct, false));
        assert!(through.refused(Way::Direct, true));
        assert_eq!(through.chosen(), Some(Way::Cached));
    }

    /// A ring that fails leaves the measuring to the two others; one that was chosen, the disk to
    /// pwritev2.
    #[test]
    fn without_its_ring_a_file_is_written_by_one_call_as_before() {
        let through = Through::default();
        for _ in 0..MEASURED - 1 {
            WAYS.into_iter().for_each(|way| through.took(way, 512, 100));
        }
        assert!(through.refused(Way::Ring, false));
        through.took(Way::Cached, 512, 100);
        assert_eq!(through.chosen(), None);
        through.took(Way::Direct, 512, 120);
        assert_eq!(through.chosen(), Some(Way::Direct));
        through.choose(Way::Ring);
        assert!(!through.refused(Way::Ring, false));
        assert!(through.refused(Way::Ring, true));
        assert_eq!(through.chosen(), Some(Way::Direct));
    }
}
