//! What a sync of the disk takes at the moment, from outside of any engine: a durable figure that
//! was made while somebody else kept the disk or the processors busy says nothing.

use crate::figure::{Outcome, median};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Instant;

const PROBES: usize = 64;
const BYTES: usize = 8192;
/// A quiet disk's sync of one page is below.
pub(crate) const QUIET_US_MAX: f64 = 500.0;

/// Microseconds of fdatasync behind an overwritten page, the median of some.
pub(crate) fn sync_us(folder: &Path) -> Outcome<f64> {
    let path = folder.join("probe");
    let file = File::create(&path).map_err(|e| format!("create {}: {e}", path.display()))?;
    let write = |n: usize| {
        let page = [n as u8; BYTES];
        let written = file.write_all_at(&page, ((n % PROBES) * BYTES) as u64);
        written.map_err(|e| format!("write {}: {e}", path.display()))
    };
    let sync = || file.sync_data().map_err(|e| format!("sync {}: {e}", path.display()));
    (0..PROBES).try_for_each(write)?;
    sync()?;
    let mut times = Vec::new();
    for n in 0..PROBES {
        write(n)?;
        let start = Instant::now();
        sync()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(median(times))
}
