//! When a ghost may leave its page: `ALTER DATABASE SCOPED CONFIGURATION SET GHOST_CLEANUP_RULE`.
//!
//! Under TRANSACTION and STATEMENT ghosts are left to the cleaner, as SQL Server of 2019 and of
//! 2022 does, so that what its users have measured there can be measured here.

use std::sync::atomic::{AtomicU8, Ordering::*};

/// The rule of a database. Ghosts without a version tag follow none: their deleter settles them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum GhostRule {
    /// When no transaction is open that has used row versions before the deleter's commit, whether
    /// it reads as of then or not: the rule of 2019, which trace flag 7006 asks for everywhere.
    Transaction = 0,
    /// When nobody reads as of an earlier moment than the deleter's commit: the rule of 2022.
    Statement = 1,
    /// When nobody reads as of a moment between the commits of who wrote the row and who deleted
    /// it: its deleter settles it, right after its commit.
    #[default]
    Interval = 2,
}

impl GhostRule {
    /// As T-SQL spells it.
    pub const fn name(self) -> &'static str {
        match self {
            GhostRule::Transaction => "TRANSACTION",
            GhostRule::Statement => "STATEMENT",
            GhostRule::Interval => "INTERVAL",
        }
    }

    /// The rule of a spelling, in any case.
    pub fn by_name(name: &str) -> Option<GhostRule> {
        let all = [GhostRule::Transaction, GhostRule::Statement, GhostRule::Interval];
        all.into_iter().find(|rule| rule.name().eq_ignore_ascii_case(name))
    }
}

/// A rule that changes while others ask.
#[derive(Debug)]
pub(crate) struct CurrentRule(AtomicU8);

impl Default for CurrentRule {
    fn default() -> Self {
        CurrentRule(AtomicU8::new(GhostRule::default() as u8))
    }
}

impl CurrentRule {
    pub(crate) fn get(&self) -> GhostRule {
        match self.0.load(Relaxed) {
            0 => GhostRule::Transaction,
            1 => GhostRule::Statement,
            rule => {
                debug_assert_eq!(rule, GhostRule::Interval as u8, "one of three");
                GhostRule::Interval
            }
        }
    }

    pub(crate) fn set(&self, rule: GhostRule) {
        self.0.store(rule as u8, Relaxed);
    }
}
