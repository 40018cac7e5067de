//! What keeps the log from being reused, by SQL Server's names and numbers.
//!
//! The value is what the last checkpoint found. The other reasons that SQL Server has cannot occur
//! here. No backup, replica or mirror reads the log. A checkpoint that has ended has freed all that
//! it could, so CHECKPOINT is never the reason.

/// A reason, as `log_reuse_wait` numbers it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum ReuseWait {
    /// Nothing does.
    #[default]
    Nothing = 0,
    /// A transaction that has no end yet.
    ActiveTransaction = 4,
    /// A reader holds it, as `fn_dblog` does.
    LogScan = 8,
    /// A page that was changed before the checkpoint is not yet written to its place in the data
    /// file.
    OldestPage = 13,
}

impl ReuseWait {
    /// `log_reuse_wait`.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// `log_reuse_wait_desc`.
    pub fn name(self) -> &'static str {
        match self {
            ReuseWait::Nothing => "NOTHING",
            ReuseWait::ActiveTransaction => "ACTIVE_TRANSACTION",
            ReuseWait::LogScan => "LOG_SCAN",
            ReuseWait::OldestPage => "OLDEST_PAGE",
        }
    }

    /// The state of 9002: the same number, and a state is at least 1.
    pub(crate) fn state(self) -> u8 {
        self.number().max(1)
    }
}
