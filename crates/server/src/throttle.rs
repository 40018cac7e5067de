//! Delays between attempts at a password, by address and by account.
//!
//! When somebody guesses at an account from one address, the account is slow only from that
//! address: its owner can log in from elsewhere at once. Beyond a few, each consecutive failure of
//! an address at an account increases the delay between its next attempts there. An address that
//! fails at many accounts is slow for all accounts, except those into which it has logged in
//! lately. An attempt takes the next free moment and waits for it without a thread. When that
//! moment is too far away, the attempt is refused without a check. A success clears the failures of
//! its pair.
//!
//! Clients behind one address (a proxy, a translated network, programs of this machine) count as
//! one address: a client that guesses at an account slows that account down for the others there.
//! An IPv6 address counts by its first 64 bits, since a host has all the rest.
//!
//! Invariants
//!  1. A table holds at most [`ENTRIES_MAX`] pairs or addresses, whatever names are tried.
//!  2. Accounts that do not exist are treated alike, so that an attacker does not learn which
//!     exist.
//!  3. What one address does delays no other.

use os::sync::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;

/// Failures in a row at an account that cost nothing.
const FREE_OF_PAIR: u32 = 3;
/// Failures of an address at any accounts that cost nothing; one is forgotten each `LEAK_NS`.
const FREE_OF_ADDRESS: u32 = 30;
const LEAK_NS: u64 = 2_000_000_000;
const GAP_FIRST_NS: u64 = 100_000_000;
const GAP_MAX_NS: u64 = 4_000_000_000;
/// An attempt that would wait longer is refused.
const WAIT_MAX_NS: u64 = 10_000_000_000;
const ENTRIES_MAX: usize = 4096;
/// What is older than this is forgotten.
const MEMORY_NS: u64 = 600_000_000_000;

/// An address as attempts are counted by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Origin(u64, bool);

impl Origin {
    pub(crate) fn of(address: IpAddr) -> Origin {
        match address.to_canonical() {
            IpAddr::V4(v4) => Origin(u64::from(v4.to_bits()), false),
            IpAddr::V6(v6) => Origin((v6.to_bits() >> 64) as u64, true),
        }
    }
}

/// How one pair or address comes along.
#[derive(Clone, Copy)]
struct Pace {
    failures: u32,
    /// When the next attempt may be looked at.
    free_ns: u64,
    /// When it failed or came in last.
    used_ns: u64,
    came_in: bool,
}

impl Pace {
    fn new(now_ns: u64) -> Pace {
        Pace { failures: 0, free_ns: now_ns, used_ns: now_ns, came_in: false }
    }

    /// The next free moment, which is taken; none when it is too far away.
    fn take(&mut self, now_ns: u64, free: u32) -> Option<u64> {
        let gap = gap_ns(self.failures, free);
        if gap == 0 {
            return Some(0);
        }
        let at = self.free_ns.max(now_ns);
        if at - now_ns > WAIT_MAX_NS {
            return None;
        }
        self.free_ns = at + gap;
        Some(at - now_ns)
    }

    fn fail(&mut self, now_ns: u64, free: u32) {
        self.failures = self.failures.saturating_add(1);
        self.used_ns = now_ns;
        self.free_ns = self.free_ns.max(now_ns + gap_ns(self.failures, free));
    }

    /// Forgets failures as time goes by.
    fn leak(&mut self, now_ns: u64) {
        let leaks = now_ns.saturating_sub(self.used_ns) / LEAK_NS;
        if leaks > 0 {
            self.failures = self.failures.saturating_sub(u32::try_from(leaks).unwrap_or(u32::MAX));
            self.used_ns += leaks * LEAK_NS;
        }
    }
}

#[derive(Default)]
struct KnownOrigins {
    pairs: HashMap<(Origin, String), Pace>,
    addresses: HashMap<Origin, Pace>,
}

/// What is known of those who came and of those who failed.
#[derive(Default)]
pub(crate) struct Throttle {
    known: Mutex<KnownOrigins>,
}

impl Throttle {
    /// How long an attempt has to wait, or none if it is refused unseen.
    pub(crate) fn wait_ns(&self, from: Origin, user: &str, now_ns: u64) -> Option<u64> {
        let mut known = self.known.lock();
        let pair = known.pairs.get_mut(&(from, key(user)));
        let trusted = pair.as_ref().is_some_and(|p| p.came_in && p.failures <= FREE_OF_PAIR);
        let own = match pair {
            Some(pair) => pair.take(now_ns, FREE_OF_PAIR)?,
            None => 0,
        };
        let of_address = match known.addresses.get_mut(&from).filter(|_| !trusted) {
            Some(address) => {
                address.leak(now_ns);
                address.take(now_ns, FREE_OF_ADDRESS)?
            }
            None => 0,
        };
        Some(own.max(of_address))
    }

    /// An attempt failed.
    pub(crate) fn failed(&self, from: Origin, user: &str, now_ns: u64) {
        let mut known = self.known.lock();
        entry(&mut known.pairs, (from, key(user)), now_ns).fail(now_ns, FREE_OF_PAIR);
        let address = entry(&mut known.addresses, from, now_ns);
        address.leak(now_ns);
        address.fail(now_ns, FREE_OF_ADDRESS);
    }

    /// An attempt succeeded.
    pub(crate) fn succeeded(&self, from: Origin, user: &str, now_ns: u64) {
        let mut known = self.known.lock();
        let fresh = Pace { came_in: true, ..Pace::new(now_ns) };
        *entry(&mut known.pairs, (from, key(user)), now_ns) = fresh;
    }
}

/// Logins are compared without case.
fn key(user: &str) -> String {
    user.chars().take(128).collect::<String>().to_lowercase()
}

fn gap_ns(failures: u32, free: u32) -> u64 {
    match failures.checked_sub(free) {
        None | Some(0) => 0,
        Some(n) => (GAP_FIRST_NS << (n - 1).min(10)).min(GAP_MAX_NS),
    }
}

/// Invariant 1: where there is no room, what was used least lately goes. That who comes in and goes
/// on doing well is forgotten costs nobody anything, so those go first.
fn entry<K: Hash + Eq + Clone>(entries: &mut HashMap<K, Pace>, key: K, now_ns: u64) -> &mut Pace {
    if entries.len() >= ENTRIES_MAX && !entries.contains_key(&key) {
        entries.retain(|_, p| now_ns.saturating_sub(p.used_ns) < MEMORY_NS);
    }
    if entries.len() >= ENTRIES_MAX && !entries.contains_key(&key) {
        let least = entries.iter().min_by_key(|(_, p)| (p.failures > 0, p.used_ns));
        if let Some(key) = least.map(|(key, _)| key.clone()) {
            entries.remove(&key);
        }
    }
    entries.entry(key).or_insert_with(|| Pace::new(now_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn at(last: u8) -> Origin {
        Origin::of(IpAddr::from([192, 0, 2, last]))
    }

    /// A guesser is slower and slower, and the owner comes in from elsewhere at once.
    #[test]
    fn failures_in_a_row_space_attempts_out_from_their_address_alone() {
        let t = Throttle::default();
        for _ in 0..3 {
            assert_eq!(t.wait_ns(at(1), "sa", 0), Some(0));
            t.failed(at(1), "sa", 0);
        }
        assert_eq!(t.wait_ns(at(1), "SA", 0), Some(0), "three are free");
        t.failed(at(1), "SA", 0);
        assert_eq!(t.wait_ns(at(1), "sa", 0), Some(100 * MS));
        assert_eq!(t.wait_ns(at(1), "sa", 0), Some(200 * MS), "each takes a moment of its own");
        assert_eq!(t.wait_ns(at(1), "other", 0), Some(0), "other accounts are not held up");
        for _ in 0..20 {
            t.failed(at(1), "sa", 0);
        }
        let waits: Vec<_> = (0..4).map(|_| t.wait_ns(at(1), "sa", 0)).collect();
        assert_eq!(waits, [Some(4000 * MS), Some(8000 * MS), None, None]);
        assert_eq!(t.wait_ns(at(2), "sa", 0), Some(0), "another address is not held up");
        t.succeeded(at(1), "Sa", 0);
        assert_eq!(t.wait_ns(at(1), "sa", 0), Some(0));
    }

    /// An address that tries one name after the other is slow at all, but where it is at home.
    #[test]
    fn an_address_that_fails_everywhere_is_slow_everywhere() {
        let t = Throttle::default();
        t.succeeded(at(1), "app", 0);
        for i in 0..40 {
            t.failed(at(1), &format!("user{i}"), 0);
        }
        assert!(t.wait_ns(at(1), "fresh", 0).is_none_or(|ns| ns > 0));
        assert_eq!(t.wait_ns(at(1), "app", 0), Some(0), "it has come in there");
        assert_eq!(t.wait_ns(at(2), "fresh", 0), Some(0));
        let later = 200 * LEAK_NS;
        assert_eq!(t.wait_ns(at(1), "fresh", later), Some(0), "time forgets");
    }

    /// Invariant 1.
    #[test]
    fn any_number_of_names_and_addresses_takes_bounded_memory() {
        let t = Throttle::default();
        for i in 0..ENTRIES_MAX as u32 + 500 {
            let from = Origin::of(IpAddr::from(i.to_be_bytes()));
            t.failed(from, &format!("user{i}"), u64::from(i));
        }
        let sizes = |t: &Throttle| {
            let known = t.known.lock();
            (known.pairs.len(), known.addresses.len())
        };
        assert_eq!(sizes(&t), (ENTRIES_MAX, ENTRIES_MAX));
        t.failed(at(1), "late", MEMORY_NS * 2);
        assert_eq!(sizes(&t), (1, 1), "old failures are forgotten when room is needed");
    }

    /// A host of IPv6 has more addresses than a table has places.
    #[test]
    fn of_ipv6_a_network_is_one_address() {
        let of = |text: &str| Origin::of(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:192.0.2.1"), at(1));
    }
}
