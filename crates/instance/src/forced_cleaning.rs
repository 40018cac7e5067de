//! Ghosts that somebody asks to be removed at once: sp_clean_db_free_space and
//! sp_clean_db_file_free_space, DBCC FORCEGHOSTCLEANUP.
//!
//! All pages of all hobts are read, since with trace flag 661 on pages may have ghosts that nobody
//! noted; the flag stops the background's cleaner, not this. What a snapshot needs or a transaction
//! holds stays, and its page is noted. Bytes of rows that are no ghosts any more stay where they
//! were in a page's free space: they are not overwritten.

use crate::instance::Instance;
use base::{DatabaseId, FileId, PageId, SqlError, SqlResult, messages};
use database::Database;
use lock::Duration;
use os::clock::monotonic_ns;
use os::wait::{WaitKind, Waiter, Wake};
use std::fmt::Display;
use work::Work;

/// A file of a database, all without, and how long to rest behind each page.
pub(crate) type CleaningRequest = (Option<FileId>, u64);

impl Instance {
    /// Removes the ghosts of a database that nobody needs any more.
    pub(crate) fn clean_all_ghosts(
        &self,
        work: &Work,
        database: DatabaseId,
        wanted: CleaningRequest,
    ) -> SqlResult<()> {
        // It may be another than the session's own: nobody drops it meanwhile.
        let database = self.hold(work.owner(), work.timeout(), database, Duration::Short)?;
        let cleaned = self.clean_held(&database, wanted, work.owner().waiter());
        self.let_go(work.owner(), database.id());
        cleaned
    }

    fn clean_held(
        &self,
        database: &Database,
        (file, rest_ns): CleaningRequest,
        waiter: &Waiter,
    ) -> SqlResult<()> {
        if let Some(file) = file
            && database.space().size_pages(file).is_none()
        {
            let which: [&dyn Display; 2] = [&file.0, &database.home().name()];
            return Err(SqlError::new(messages::FILE_NOT_LOCATED, &which));
        }
        for page in database.pages_with_ghosts(file, waiter)? {
            self.clean_one(database, page)?;
            rest(waiter, rest_ns)?;
        }
        database.home().graveyards().sweep(self.engine());
        Ok(())
    }

    fn clean_one(&self, database: &Database, page: PageId) -> SqlResult<()> {
        let _one = self.cleaning.lock();
        database.clean_ghosts_of(page)
    }
}

fn rest(waiter: &Waiter, ns: u64) -> SqlResult<()> {
    if ns == 0 {
        return Ok(());
    }
    match waiter.wait(WaitKind::WaitFor, Some(monotonic_ns().saturating_add(ns))) {
        Wake::Cancelled(why) => Err(why.into()),
        _ => Ok(()),
    }
}
