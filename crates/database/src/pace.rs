//! When a checkpoint is due without a request.
//!
//! | TARGET_RECOVERY_TIME | a checkpoint is due |
//! |---|---|
//! | any | when seven tenths of the log are in use |
//! | n seconds | when a change of that age may not be in the data file (indirect checkpoints) |
//! | 0 | when redo of the log since then would take about a minute (automatic checkpoints) |
//! | any, accelerated recovery | when redo of the log since then would take about half a second |
//!
//! None is due if nothing was logged since the last one: another would only fill the log.

use base::Lsn;
use os::clock::monotonic_ns;
use wal::Log;

const SECOND_NS: u64 = 1_000_000_000;
/// The log that a recovery redoes in about a minute, SQL Server's recovery interval, if it reads
/// each page from a slow disk.
const REDO_BYTES_A_MINUTE: u64 = 1 << 30;

/// The log that a recovery redoes in about half a second where its pages are in memory: with
/// accelerated recovery nothing else takes long at a start.
const REDO_BYTES_ACCELERATED: u64 = 128 << 20;

/// The state of the log at a moment.
#[derive(Clone, Copy, Debug)]
struct Moment {
    at_ns: u64,
    /// The log's end.
    next: Lsn,
    /// All bytes that were written to it so far.
    logged: u64,
}

impl Moment {
    fn of(log: &Log) -> Moment {
        Moment { at_ns: monotonic_ns(), next: log.next_lsn(), logged: log.activity().flushed_bytes }
    }
}

/// The state since which the checkpointer counts.
pub(crate) struct Pace {
    /// The state when the last checkpoint began.
    began: Moment,
    /// The log's end when it had ended: its own records do not count.
    ended: Lsn,
}

impl Pace {
    /// Counts from now on.
    pub(crate) fn new(log: &Log) -> Pace {
        Pace { began: Moment::of(log), ended: log.next_lsn() }
    }

    /// Whether a checkpoint is due without a request.
    pub(crate) fn is_due(&self, log: &Log, (target_seconds, accelerated): (i32, bool)) -> bool {
        let now = Moment::of(log);
        if now.next == self.ended {
            return false;
        }
        let usage = log.usage();
        let long = accelerated && now.logged - self.began.logged > REDO_BYTES_ACCELERATED;
        long || usage.used_bytes * 10 > usage.total_bytes * 7 || self.is_old(now, target_seconds)
    }

    fn is_old(&self, now: Moment, target_seconds: i32) -> bool {
        match u64::try_from(target_seconds) {
            Ok(0) | Err(_) => now.logged - self.began.logged > REDO_BYTES_A_MINUTE,
            Ok(seconds) => now.at_ns.saturating_sub(self.began.at_ns) > seconds * SECOND_NS,
        }
    }

    /// Takes a checkpoint by `take`, and counts from its beginning. If it fails, it stays due.
    /// Returns whether it was taken.
    pub(crate) fn run(&mut self, log: &Log, take: impl FnOnce() -> bool) -> bool {
        let began = Moment::of(log);
        assert!(self.began.logged <= began.logged, "the log goes on");
        let taken = take();
        let ended = if taken { log.next_lsn() } else { self.ended };
        *self = Pace { began, ended };
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target is an age. Without a target the log's length counts, and time does not.
    #[test]
    fn a_target_is_an_age_and_none_is_a_length() {
        let at = |seconds, logged| Moment { at_ns: seconds * SECOND_NS, next: Lsn(9), logged };
        let pace = Pace { began: at(100, 5), ended: Lsn(7) };
        assert!(!pace.is_old(at(102, 5), 2) && pace.is_old(at(103, 5), 2));
        assert!(!pace.is_old(at(103, 5), 60) && pace.is_old(at(161, 5), 60));
        assert!(!pace.is_old(at(9_999, 5 + REDO_BYTES_A_MINUTE), 0));
        assert!(pace.is_old(at(100, 6 + REDO_BYTES_A_MINUTE), 0));
    }
}
