//! One compilation: the session that waits for the plan, and the memory that compiling uses.
//!
//! Bytes that binder and optimizer report are charged to the account of the request until the plan
//! is made or given up (701). An attention, KILL or the end of the connection ends the compilation.

use base::SqlResult;
use os::values::Charge;
use os::wait::Waiter;
use plan::Watch;
use std::cell::{Cell, RefCell};

/// A compilation in progress.
pub(crate) struct Compilation<'w> {
    waiter: &'w Waiter,
    bytes: Cell<usize>,
    charge: RefCell<Charge>,
}

impl<'w> Compilation<'w> {
    pub(crate) fn new(waiter: &'w Waiter) -> Self {
        Compilation { waiter, bytes: Cell::new(0), charge: RefCell::default() }
    }
}

impl Watch for Compilation<'_> {
    fn goes_on(&self, more_bytes: usize) -> SqlResult<()> {
        self.waiter.check()?;
        self.bytes.set(self.bytes.get() + more_bytes);
        self.charge.borrow_mut().cover(self.bytes.get())
    }
}
