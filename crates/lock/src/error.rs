//! Why a lock was not given, and what the user is told.

use base::{SessionId, SqlError, messages};
use os::wait::CancelReason;

/// Why a lock request came back without the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockError {
    /// The deadlock search chose this one. The caller rolls the transaction back.
    DeadlockVictim {
        /// The session whose transaction it is.
        session: SessionId,
    },
    /// LOCK_TIMEOUT passed. The statement ends, the transaction lives.
    TimedOut {
        /// How long it waited.
        waited_ms: u64,
    },
    /// The request was told to end.
    Cancelled(CancelReason),
    /// The lock table is full. The caller rolls back or escalates.
    OutOfLockMemory,
}

impl From<LockError> for SqlError {
    fn from(e: LockError) -> Self {
        match e {
            LockError::DeadlockVictim { session } => {
                SqlError::new(messages::DEADLOCK_VICTIM, &[&session, &"lock"]).with_state(51)
            }
            LockError::TimedOut { .. } => SqlError::new(messages::LOCK_TIMEOUT, &[]).with_state(56),
            LockError::Cancelled(why) => why.into(),
            LockError::OutOfLockMemory => SqlError::new(messages::LOCK_MEMORY, &[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_number() {
        let cases = [
            (LockError::DeadlockVictim { session: SessionId(51) }, 1205, 13),
            (LockError::TimedOut { waited_ms: 3 }, 1222, 16),
            (LockError::Cancelled(CancelReason::Attention), 3617, 25),
            (LockError::Cancelled(CancelReason::Kill), 596, 21),
            (LockError::Cancelled(CancelReason::RolledBack), 596, 21),
            (LockError::OutOfLockMemory, 1204, 19),
        ];
        for (error, number, severity) in cases {
            let e = SqlError::from(error);
            assert_eq!((e.number(), e.severity()), (number, severity));
        }
        let e = SqlError::from(LockError::DeadlockVictim { session: SessionId(51) });
        assert!(e.text().contains("(Process ID 51) was deadlocked on lock resources"), "{e}");
    }
}
