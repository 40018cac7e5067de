//! The ghosts that a database keeps for readers as of an earlier moment, for views.

use crate::database::Database;
use base::{PageId, SqlError, SqlResult};
use os::wait::Waiter;
use txn::Lifetime;
use work::GhostRule;

/// The most noted pages that are read.
const PAGES_MAX: usize = 1 << 18;

impl Database {
    /// Calls back with what keeps the ghosts on noted pages under a rule, and with the length of
    /// their records. A ghost that its deleter left is on a noted page, as long as the number of
    /// noted pages is within its limit ([`work::GhostQueue`]).
    ///
    /// # Errors
    /// Damaged pages, the waiter's cancellation.
    pub fn ghost_lifetimes(
        &self,
        rule: GhostRule,
        waiter: &Waiter,
        each: &mut dyn FnMut(Lifetime, usize),
    ) -> SqlResult<()> {
        for page in self.home.ghosts().known(PAGES_MAX) {
            waiter.check().map_err(SqlError::from)?;
            for (lifetime, bytes) in self.page_ghost_lifetimes(rule, page)? {
                each(lifetime, bytes);
            }
        }
        Ok(())
    }

    fn page_ghost_lifetimes(
        &self,
        rule: GhostRule,
        page: PageId,
    ) -> SqlResult<Vec<(Lifetime, usize)>> {
        let unit = self.pages.read(page)?.view().alloc_unit();
        let Some(hobt) = self.hobts.open_unit(unit) else { return Ok(Vec::new()) };
        match hobt.ghost_lifetimes((self.engine(), rule), page) {
            // Its pages may belong to another hobt by now.
            Ok(_) | Err(_) if hobt.is_dropped() => Ok(Vec::new()),
            told => told,
        }
    }
}
