//! Attempts at a password, spaced out by account.
//!
//! Each failure in a row beyond a few makes the account's attempts further apart. An attempt
//! takes the next free moment of its account and waits for it without a thread; when that lies
//! too far away, it is refused unseen. A success forgets the failures.
//!
//! Invariants
//!  1. The table holds at most [`ACCOUNTS_MAX`] accounts, whatever names are tried.
//!  2. Accounts that do not exist are treated alike: nobody learns which do.

use os::sync::Mutex;
use std::collections::HashMap;

/// Failures in a row that cost nothing.
const FREE_FAILURES: u32 = 3;
const GAP_FIRST_NS: u64 = 100_000_000;
const GAP_MAX_NS: u64 = 4_000_000_000;
/// An attempt that would wait longer is refused.
const WAIT_MAX_NS: u64 = 10_000_000_000;
const ACCOUNTS_MAX: usize = 4096;
/// Failures older than this are forgotten.
const MEMORY_NS: u64 = 600_000_000_000;

#[derive(Clone, Copy)]
struct Account {
    failures: u32,
    /// When the next attempt may be looked at.
    free_ns: u64,
    failed_ns: u64,
}

/// What is known of the accounts that failed.
#[derive(Default)]
pub(crate) struct Throttle {
    accounts: Mutex<HashMap<String, Account>>,
}

impl Throttle {
    /// How long an attempt has to wait, or none if it is refused unseen.
    pub(crate) fn wait_ns(&self, user: &str, now_ns: u64) -> Option<u64> {
        let mut accounts = self.accounts.lock();
        let Some(account) = accounts.get_mut(&key(user)) else { return Some(0) };
        let gap = gap_ns(account.failures);
        if gap == 0 {
            return Some(0);
        }
        let at = account.free_ns.max(now_ns);
        if at - now_ns > WAIT_MAX_NS {
            return None;
        }
        account.free_ns = at + gap;
        Some(at - now_ns)
    }

    /// An attempt failed.
    pub(crate) fn failed(&self, user: &str, now_ns: u64) {
        let mut accounts = self.accounts.lock();
        make_room(&mut accounts, now_ns);
        let fresh = Account { failures: 0, free_ns: now_ns, failed_ns: now_ns };
        let account = accounts.entry(key(user)).or_insert(fresh);
        account.failures = account.failures.saturating_add(1);
        account.failed_ns = now_ns;
        account.free_ns = account.free_ns.max(now_ns + gap_ns(account.failures));
    }

    /// An attempt succeeded.
    pub(crate) fn succeeded(&self, user: &str) {
        self.accounts.lock().remove(&key(user));
    }
}

/// Logins are compared without case.
fn key(user: &str) -> String {
    user.chars().take(128).collect::<String>().to_lowercase()
}

fn gap_ns(failures: u32) -> u64 {
    match failures.checked_sub(FREE_FAILURES) {
        None | Some(0) => 0,
        Some(n) => (GAP_FIRST_NS << (n - 1).min(10)).min(GAP_MAX_NS),
    }
}

fn make_room(accounts: &mut HashMap<String, Account>, now_ns: u64) {
    if accounts.len() < ACCOUNTS_MAX {
        return;
    }
    accounts.retain(|_, a| now_ns.saturating_sub(a.failed_ns) < MEMORY_NS);
    if accounts.len() < ACCOUNTS_MAX {
        return;
    }
    let oldest = accounts.iter().min_by_key(|(_, a)| a.failed_ns).map(|(name, _)| name.clone());
    if let Some(name) = oldest {
        accounts.remove(&name);
    }
    debug_assert!(accounts.len() < ACCOUNTS_MAX, "room for one");
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn failures_in_a_row_space_attempts_out_and_a_success_forgets_them() {
        let t = Throttle::default();
        for _ in 0..3 {
            assert_eq!(t.wait_ns("sa", 0), Some(0));
            t.failed("sa", 0);
        }
        assert_eq!(t.wait_ns("SA", 0), Some(0), "three are free");
        t.failed("SA", 0);
        assert_eq!(t.wait_ns("sa", 0), Some(100 * MS));
        assert_eq!(t.wait_ns("sa", 0), Some(200 * MS), "each takes a moment of its own");
        assert_eq!(t.wait_ns("other", 0), Some(0), "other accounts are not held up");
        for _ in 0..40 {
            t.failed("sa", 0);
        }
        let waits: Vec<_> = (0..4).map(|_| t.wait_ns("sa", 0)).collect();
        assert_eq!(waits, [Some(4000 * MS), Some(8000 * MS), None, None]);
        t.succeeded("Sa");
        assert_eq!(t.wait_ns("sa", 0), Some(0));
    }

    #[test]
    fn any_number_of_names_takes_bounded_memory() {
        let t = Throttle::default();
        for i in 0..ACCOUNTS_MAX as u64 + 500 {
            t.failed(&format!("user{i}"), i);
        }
        assert_eq!(t.accounts.lock().len(), ACCOUNTS_MAX);
        t.failed("late", MEMORY_NS * 2);
        assert_eq!(t.accounts.lock().len(), 1, "old failures are forgotten when room is needed");
    }
}
