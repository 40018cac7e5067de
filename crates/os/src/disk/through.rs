//! How a file's durable writes get to the disk: through the page cache and by fdatasync, or past it
//! by one call (O_DIRECT, RWF_DSYNC).
//!
//! Which takes less time depends on disk and file system, so it is measured by the first short
//! writes of each file, in turns by the one and by the other; longer ones go through the cache
//! meanwhile. From then on the one whose median was less is taken. A file that has no way past the
//! page cache goes through it, and so does one whose way fails before it was chosen, whatever the
//! reason: the same bytes are written again, and a disk that is broken says so then.
//!
//! io_uring was left out: a commit waits for one call, which it could not shorten.

use crate::sync::Mutex;
use rustix::fs::{Mode, OFlags};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Writes by which each way is measured.
const MEASURED: usize = 8;
/// Longer ones are not compared.
const COMPARED_BYTES_MAX: usize = 4096;
/// What parts past the page cache are multiples of.
const SECTOR: usize = 512;

const UNKNOWN: u8 = 0;
const CACHED: u8 = 1;
const DIRECT: u8 = 2;

/// The choice for one file.
#[derive(Default)]
pub(super) struct Through {
    chosen: AtomicU8,
    measuring: Mutex<Measuring>,
    direct: std::sync::OnceLock<Option<OwnedFd>>,
}

#[derive(Default)]
struct Measuring {
    cached_ns: Vec<u64>,
    direct_ns: Vec<u64>,
}

/// What is asked of one write.
pub(super) enum Way<'a> {
    Cached,
    Direct(&'a OwnedFd),
}

impl Through {
    /// How these parts of a file are to be written.
    pub(super) fn way(&self, file: &OwnedFd, parts: &[&[u8]], offset: u64) -> Way<'_> {
        let chosen = self.chosen.load(Relaxed);
        let whole = |n: usize| n.is_multiple_of(SECTOR);
        let aligned = |p: &&[u8]| whole(p.len()) && whole(p.as_ptr() as usize);
        if chosen == CACHED || !whole(offset as usize) || !parts.iter().all(aligned) {
            return Way::Cached;
        }
        if chosen == UNKNOWN {
            let measuring = self.measuring.lock();
            let turn = measuring.direct_ns.len() < measuring.cached_ns.len();
            if !turn || bytes_of(parts) > COMPARED_BYTES_MAX {
                return Way::Cached;
            }
        }
        match self.direct.get_or_init(|| past_page_cache(file)) {
            Some(direct) => Way::Direct(direct),
            None => {
                self.chosen.store(CACHED, Relaxed);
                Way::Cached
            }
        }
    }

    /// A write of so many bytes has taken so long.
    pub(super) fn took(&self, direct: bool, bytes: usize, ns: u64) {
        if self.chosen.load(Relaxed) != UNKNOWN || bytes > COMPARED_BYTES_MAX {
            return;
        }
        let mut measuring = self.measuring.lock();
        let Measuring { cached_ns, direct_ns } = &mut *measuring;
        if direct {
            direct_ns.push(ns)
        } else {
            cached_ns.push(ns)
        }
        if direct_ns.len() >= MEASURED {
            let wins = median(direct_ns) <= median(cached_ns);
            self.chosen.store(if wins { DIRECT } else { CACHED }, Relaxed);
        }
    }

    /// It was refused, or not done whole. Whether it may be done by the other way: always where the
    /// choice was open.
    pub(super) fn refused(&self, unsupported: bool) -> bool {
        let open = self.chosen.load(Relaxed) == UNKNOWN;
        if open || unsupported {
            self.chosen.store(CACHED, Relaxed);
        }
        open || unsupported
    }
}

pub(super) fn bytes_of(parts: &[&[u8]]) -> usize {
    parts.iter().map(|p| p.len()).sum()
}

fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(u64::MAX)
}

/// The same file without the page cache, where there is such a way.
fn past_page_cache(file: &OwnedFd) -> Option<OwnedFd> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    rustix::fs::open(path, OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight writes by each way are enough, and one that was slow by chance does not decide.
    #[test]
    fn the_way_with_the_lesser_median_is_chosen() {
        for (direct_ns, wins) in [(80, DIRECT), (120, CACHED)] {
            let through = Through::default();
            through.took(true, 60_000, 1);
            for n in 0..MEASURED as u64 {
                assert_eq!(through.chosen.load(Relaxed), UNKNOWN);
                through.took(false, 512, if n == 3 { 9_000 } else { 100 });
                through.took(true, 512, if n == 5 { 9_000 } else { direct_ns });
            }
            assert_eq!(through.chosen.load(Relaxed), wins);
        }
    }

    /// What fails while nothing is chosen goes the other way from then on; a chosen way that the
    /// file system does not know any more, too; another failure of it is the disk's.
    #[test]
    fn a_way_that_fails_is_given_up_where_that_tells_of_the_way() {
        let through = Through::default();
        assert!(through.refused(false));
        assert_eq!(through.chosen.load(Relaxed), CACHED);
        through.chosen.store(DIRECT, Relaxed);
        assert!(!through.refused(false));
        assert!(through.refused(true));
        assert_eq!(through.chosen.load(Relaxed), CACHED);
    }
}
