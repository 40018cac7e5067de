//! Ctrl-C: ends the running statement, or the script between statements.
//!
//! A task waits for SIGINT. While a statement runs it is cancelled; otherwise the interrupt is
//! noted and the script asks for it before its next batch. A second one that nobody has seen by
//! then ends the process.

use crate::backend::Cancel;
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit code of an interrupted script: 128 + SIGINT.
pub(crate) const EXIT_CODE: i32 = 130;

/// The interrupts of the process.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<State>);

#[derive(Default)]
struct State {
    running: Mutex<Option<Arc<dyn Cancel>>>,
    pressed: AtomicBool,
}

impl Interrupt {
    /// Listens to SIGINT: it does so when this returns.
    pub(crate) fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        let theirs = interrupt.clone();
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else {
            // Without it SIGINT ends the process, as it does by itself.
            return interrupt;
        };
        let signals = runtime.block_on(async { signal(SignalKind::interrupt()) });
        if let Ok(signals) = signals {
            os::task::spawn("interrupts", move || theirs.await_signals(&runtime, signals));
        }
        interrupt
    }

    fn await_signals(&self, runtime: &Runtime, mut signals: Signal) {
        while runtime.block_on(signals.recv()).is_some() {
            self.press();
        }
    }

    /// What a SIGINT does.
    pub(crate) fn press(&self) {
        let again = self.0.pressed.swap(true, SeqCst);
        match self.0.running.lock().as_ref() {
            Some(statement) => statement.cancel(),
            None if again => std::process::exit(EXIT_CODE),
            None => {}
        }
    }

    /// Runs something that an interrupt cancels.
    pub(crate) fn during<R>(&self, cancel: Arc<dyn Cancel>, body: impl FnOnce() -> R) -> R {
        *self.0.running.lock() = Some(cancel);
        let r = body();
        *self.0.running.lock() = None;
        r
    }

    /// Whether one came since the last time it was asked.
    pub(crate) fn take(&self) -> bool {
        self.0.pressed.swap(false, SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct CancelFlag(AtomicBool);
    impl Cancel for CancelFlag {
        fn cancel(&self) {
            self.0.store(true, SeqCst);
        }
    }

    #[test]
    fn an_interrupt_cancels_what_runs_and_is_seen_once() {
        let interrupt = Interrupt::default();
        let statement = Arc::new(CancelFlag::default());
        interrupt.during(statement.clone(), || interrupt.press());
        assert!(statement.0.load(SeqCst));
        assert!(interrupt.take());
        assert!(!interrupt.take());
        interrupt.press();
        assert!(interrupt.take());
    }
}
