//! Whether the workers of a statement must stop, and with what error the statement ends.
//!
//! Invariants
//!  1. The first error counts; a worker that stops because of it reports no error of its own.
//!  2. Once the statement has ended, errors of its workers do not matter.

use base::{SqlError, SqlResult};
use os::sync::Mutex;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// The payload of a panic.
pub(crate) type Payload = Box<dyn Any + Send>;

/// The end of a statement's workers.
#[derive(Default)]
pub(crate) struct Stop {
    failed: AtomicBool,
    over: AtomicBool,
    error: Mutex<Option<SqlError>>,
    panic: Mutex<Option<Payload>>,
}

impl Stop {
    /// Whether to go on.
    ///
    /// # Errors
    /// The error of the first worker that failed.
    #[inline]
    pub(crate) fn check(&self) -> SqlResult<()> {
        match self.failed.load(Acquire) {
            false => Ok(()),
            true => self.error.lock().clone().map_or(Ok(()), Err),
        }
    }

    /// A thread has met an error. Returns whether it is the first, so that other threads must be
    /// woken.
    pub(crate) fn fail(&self, error: SqlError) -> bool {
        let mut first = self.error.lock();
        if self.over.load(Relaxed) || first.is_some() {
            return false;
        }
        *first = Some(error);
        self.failed.store(true, Release);
        true
    }

    /// A worker panicked: so does the statement, when all have ended.
    pub(crate) fn panicked(&self, payload: Payload) {
        self.panic.lock().get_or_insert(payload);
    }

    pub(crate) fn take_panic(&self) -> Option<Payload> {
        self.panic.lock().take()
    }

    /// Whether the statement has ended or failed.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Relaxed) || self.failed.load(Relaxed)
    }

    /// The statement is over.
    pub(crate) fn end(&self) {
        self.over.store(true, Relaxed);
    }
}
