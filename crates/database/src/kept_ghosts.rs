//! Which ghosts of a database stay for readers as of an earlier moment, for views.

use crate::database::Database;
use base::{PageId, SqlError, SqlResult};
use os::wait::Waiter;
use txn::Lifetime;
use work::GhostRule;

/// So many noted pages are looked at.
const PAGES_MAX: usize = 1 << 18;

impl Database {
    /// Tells what keeps the ghosts on noted pages by a rule, and how long their records are. A
    /// ghost that its deleter left is on a noted page, as long as no more are noted than are
    /// remembered ([`work::GhostQueue`]).
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
            // Its pages may be another's by now.
            Ok(_) | Err(_) if hobt.is_dropped() => Ok(Vec::new()),
            told => told,
        }
    }
}
