//! Pages as DBCC shows them, and what is cleared off them: ghosts and versions.

use crate::host::definitions::DdlAnswer;
use crate::host::rowset::Rowset;
use base::{DatabaseId, FileId, SqlResult};
use catalog::view::Table;
use database::SweepRequest;
use std::sync::Arc;
use work::Work;

/// Pages of databases.
pub trait Pages: Send + Sync {
    /// Removes the ghosts that no transaction needs any more from a database, or from one of its
    /// data files. Rests for the given time after each page.
    ///
    /// # Errors
    /// 911, 8985 for an unknown file; damaged pages, a full log; cancellation.
    fn clean_ghosts(
        &self,
        work: &Work,
        database: DatabaseId,
        file: Option<FileId>,
        rest_ns: u64,
    ) -> SqlResult<()>;

    /// Sweeps the versions of a database: returns when that is done.
    ///
    /// # Errors
    /// 911; 3906 and 3908 where nothing is written; damaged pages, a full log; cancellation.
    fn sweep_versions(
        &self,
        work: &Work,
        database: DatabaseId,
        asked: SweepRequest,
    ) -> SqlResult<()>;

    /// The output of DBCC PAGE: a result set, or messages.
    ///
    /// # Errors
    /// 2514, 2521, 2560, 8968; damaged pages.
    fn show_page(&self, work: &Work, ask: &PageRequest) -> SqlResult<DdlAnswer>;

    /// What DBCC IND lists.
    ///
    /// # Errors
    /// 2560; damaged maps.
    fn list_pages(&self, work: &Work, ask: &PagesRequest) -> SqlResult<Rowset>;
}

/// The arguments of DBCC PAGE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// Its database.
    pub database: DatabaseId,
    /// The file's number; not checked yet.
    pub file: i64,
    /// The page's number; not checked yet.
    pub page: i64,
    /// The output style; not checked yet.
    pub style: i64,
    /// WITH TABLERESULTS
    pub as_table: bool,
}

/// The arguments of DBCC IND.
#[derive(Clone, Debug)]
pub struct PagesRequest {
    /// The table.
    pub table: Arc<Table>,
    /// An index's id; 0 for in-row data only, -1 for all pages, -2 for IAM pages.
    pub index: i64,
}
