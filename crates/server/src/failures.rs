//! What the error log says about failed connections and logins: the first few of an address one by
//! one, then how many more there were.
//!
//! ```text
//!   client 192.0.2.7:50112: login of 'sa' refused: …        the first few
//!   41 more logins from 192.0.2.7 failed in the last 60 s.  each minute in which there were some
//!   907 more logins from other addresses failed in …        of those beyond table and budget
//! ```
//!
//! Invariants
//!  1. In a minute at most [`LINES_MAX`] lines and one are written, whatever fails.
//!  2. Each failure is reported, alone or in a number.
//!  3. The table has at most [`ADDRESSES_MAX`] addresses.

use crate::throttle::Origin;
use os::sync::Mutex;
use std::collections::BTreeMap;

/// Of each address that many are told one by one.
const TOLD_FIRST: u32 = 5;
/// How long failures are counted before their number is told.
const SPAN_NS: u64 = 60_000_000_000;
const LINES_MAX: u32 = 120;
const ADDRESSES_MAX: usize = 1024;
/// An address that fails no more is forgotten after that.
const MEMORY_NS: u64 = 600_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// Failures that were not told one by one.
#[derive(Clone, Copy, Default)]
struct FailureSummary {
    count: u64,
    since_ns: u64,
}

impl FailureSummary {
    fn add(&mut self, now_ns: u64) {
        if self.count == 0 {
            self.since_ns = now_ns;
        }
        self.count += 1;
    }

    /// What is said of them, when it is time.
    fn said(&mut self, whose: &str, now_ns: u64, at_once: bool) -> Option<String> {
        let span_ns = now_ns.saturating_sub(self.since_ns);
        if self.count == 0 || (span_ns < SPAN_NS && !at_once) {
            return None;
        }
        let (count, seconds) = (self.count, span_ns.div_ceil(SECOND_NS).max(1));
        self.count = 0;
        let logins = if count == 1 { "login" } else { "logins" };
        Some(format!("{count} more {logins} from {whose} failed in the last {seconds} s."))
    }
}

struct FailingAddress {
    /// As it is told.
    address: String,
    told: u32,
    more: FailureSummary,
    failed_ns: u64,
}

#[derive(Default)]
struct Book {
    by_origin: BTreeMap<Origin, FailingAddress>,
    others: FailureSummary,
    /// The minute that is at hand, and the lines that it has.
    span_ns: u64,
    lines: u32,
}

/// The logins that failed.
#[derive(Default)]
pub(crate) struct Failures {
    book: Mutex<Book>,
}

impl Failures {
    /// Somebody failed; whether that is to be told now.
    pub(crate) fn note(&self, from: Origin, address: &str, now_ns: u64) -> bool {
        let mut book = self.book.lock();
        if book.by_origin.len() >= ADDRESSES_MAX && !book.by_origin.contains_key(&from) {
            book.others.add(now_ns);
            return false;
        }
        let has_line = book.has_line(now_ns);
        let fresh = || FailingAddress {
            address: address.to_owned(),
            told: 0,
            more: FailureSummary::default(),
            failed_ns: now_ns,
        };
        let failing = book.by_origin.entry(from).or_insert_with(fresh);
        failing.failed_ns = now_ns;
        if failing.told >= TOLD_FIRST || !has_line {
            failing.more.add(now_ns);
            return false;
        }
        failing.told += 1;
        book.lines += 1;
        true
    }

    /// Numbers that are to be told by now; `at_once` all that there are.
    pub(crate) fn overdue(&self, now_ns: u64, at_once: bool) -> Vec<String> {
        let mut book = self.book.lock();
        let mut lines = Vec::new();
        let mut beyond = 0;
        let room = book.room(now_ns);
        for failing in book.by_origin.values_mut() {
            if lines.len() < room || at_once {
                lines.extend(failing.more.said(&failing.address, now_ns, at_once));
            } else if now_ns.saturating_sub(failing.more.since_ns) >= SPAN_NS {
                beyond += std::mem::take(&mut failing.more.count);
            }
        }
        book.lines += lines.len() as u32;
        if beyond > 0 {
            book.others.add(now_ns.saturating_sub(SPAN_NS));
            book.others.count += beyond - 1;
        }
        lines.extend(book.others.said("other addresses", now_ns, at_once));
        let kept =
            |f: &FailingAddress| now_ns.saturating_sub(f.failed_ns) < MEMORY_NS || f.more.count > 0;
        book.by_origin.retain(|_, f| kept(f));
        lines
    }
}

impl Book {
    /// How many lines the minute at hand has left.
    fn room(&mut self, now_ns: u64) -> usize {
        if now_ns.saturating_sub(self.span_ns) >= SPAN_NS {
            (self.span_ns, self.lines) = (now_ns, 0);
        }
        LINES_MAX.saturating_sub(self.lines) as usize
    }

    fn has_line(&mut self, now_ns: u64) -> bool {
        self.room(now_ns) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn at(n: u32) -> (Origin, String) {
        let address = IpAddr::from((0x0a00_0000 + n).to_be_bytes());
        (Origin::of(address), address.to_string())
    }

    /// The first few are told, the others in a number, all of them.
    #[test]
    fn a_thousand_failures_are_a_few_lines() {
        let failures = Failures::default();
        let (from, address) = at(1);
        let told = (0..1000).filter(|n| failures.note(from, &address, n * 10_000_000)).count();
        assert_eq!(told, 5);
        assert!(failures.overdue(10_000_000_000, false).is_empty(), "it is not time");
        let lines = failures.overdue(SPAN_NS + SECOND_NS, false);
        assert_eq!(lines, ["995 more logins from 10.0.0.1 failed in the last 61 s."]);
        assert!(failures.overdue(3 * SPAN_NS, false).is_empty(), "nothing more");
        assert!(!failures.note(from, &address, 3 * SPAN_NS), "the address is known");
        assert_eq!(
            failures.overdue(3 * SPAN_NS, true),
            ["1 more login from 10.0.0.1 failed in the last 1 s."]
        );
    }

    /// Invariants 1 to 3: however many addresses.
    #[test]
    fn ten_thousand_addresses_are_a_page() {
        let failures = Failures::default();
        let all = 10_000;
        let mut lines = 0_u64;
        let mut sum = 0_u64;
        for n in 0..all {
            let (from, address) = at(n);
            lines += u64::from(failures.note(from, &address, u64::from(n)));
        }
        sum += lines;
        assert_eq!(lines, u64::from(LINES_MAX));
        assert_eq!(failures.book.lock().by_origin.len(), ADDRESSES_MAX);
        for minute in 1..20 {
            let said = failures.overdue(minute * (SPAN_NS + SECOND_NS), false);
            assert!(said.len() as u32 <= LINES_MAX + 1, "{}", said.len());
            for line in said {
                sum += line.split(' ').next().unwrap().parse::<u64>().unwrap();
            }
        }
        assert_eq!(sum, u64::from(all));
        assert_eq!(failures.book.lock().by_origin.len(), 0, "all are forgotten");
    }
}
