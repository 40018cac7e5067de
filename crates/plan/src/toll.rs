//! What compiling takes: somebody waits for the plan, and its parts take memory.
//!
//! A statement of a few lines may stand for very many: a view that names another twice, which names
//! another twice. The binder, rewriter and optimizer pay for each part that is made or gone
//! through again; now and then whoever waits for the plan is asked whether that goes on.
//!
//! Invariants
//!  1. Between two looks at whoever waits no more is done than [`PAYMENTS_PER_LOOK`] parts.
//!  2. One half of compiling, binding or optimizing, makes no more than [`BYTES_MAX`]: error 8623.

use base::{SqlError, SqlResult, messages};
use std::cell::Cell;

/// The session that waits for a plan. Implemented by `session`.
pub trait Watch {
    /// Whether compiling goes on, with so many bytes more.
    ///
    /// # Errors
    /// 701, or what ends the request.
    fn goes_on(&self, more_bytes: usize) -> SqlResult<()>;
}

/// Parts between two looks.
const PAYMENTS_PER_LOOK: u32 = 256;
/// Bytes between two looks.
const BYTES_PER_LOOK: usize = 1 << 20;
/// What binding or optimizing one statement may make.
const BYTES_MAX: usize = 256 << 20;

/// See the module.
pub struct Toll<'w> {
    watch: Option<&'w dyn Watch>,
    payments: Cell<u32>,
    paid_bytes: Cell<usize>,
    /// Of those, what the watch has not heard of.
    owed_bytes: Cell<usize>,
}

impl<'w> Toll<'w> {
    /// Nothing is paid yet. Without a watch nobody waits.
    pub fn new(watch: Option<&'w dyn Watch>) -> Self {
        Toll { watch, payments: Cell::new(0), paid_bytes: Cell::new(0), owed_bytes: Cell::new(0) }
    }

    /// Pays for a part that takes so many bytes.
    ///
    /// # Errors
    /// 8623 when that is too much for one statement; what the watch says.
    #[inline]
    pub fn pay(&self, bytes: usize) -> SqlResult<()> {
        self.payments.set(self.payments.get() + 1);
        self.paid_bytes.set(self.paid_bytes.get() + bytes);
        self.owed_bytes.set(self.owed_bytes.get() + bytes);
        let due = self.payments.get() >= PAYMENTS_PER_LOOK;
        if due || self.owed_bytes.get() >= BYTES_PER_LOOK { self.look() } else { Ok(()) }
    }

    #[cold]
    fn look(&self) -> SqlResult<()> {
        self.payments.set(0);
        if self.paid_bytes.get() > BYTES_MAX {
            return Err(SqlError::new(messages::NO_PLAN_RESOURCES, &[]));
        }
        let owed = self.owed_bytes.take();
        self.watch.map_or(Ok(()), |watch| watch.goes_on(owed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends what is compiled when it has taken so much.
    struct Room(Cell<usize>);

    impl Watch for Room {
        fn goes_on(&self, more_bytes: usize) -> SqlResult<()> {
            match self.0.get().checked_sub(more_bytes) {
                Some(left) => {
                    self.0.set(left);
                    Ok(())
                }
                None => Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"])),
            }
        }
    }

    fn numbers_until_an_end(toll: &Toll<'_>, bytes: usize) -> (usize, i32) {
        let mut payments = 0;
        loop {
            payments += 1;
            if let Err(e) = toll.pay(bytes) {
                return (payments, e.number());
            }
        }
    }

    #[test]
    fn whoever_waits_is_asked_soon_and_a_statement_has_an_end_without_him() {
        let room = Room(Cell::new(0));
        let (parts, number) = numbers_until_an_end(&Toll::new(Some(&room)), 1);
        assert_eq!((parts, number), (PAYMENTS_PER_LOOK as usize, 701));
        let (parts, number) = numbers_until_an_end(&Toll::new(Some(&room)), 4 << 20);
        assert_eq!((parts, number), (1, 701));
        let (parts, number) = numbers_until_an_end(&Toll::new(None), 1 << 20);
        assert_eq!((parts, number), ((BYTES_MAX >> 20) + 1, 8623));
    }
}
