//! Pages as DBCC shows them, and the ghosts on them.

use crate::host::definitions::DdlAnswer;
use crate::host::rowset::Rowset;
use base::{DatabaseId, FileId, SqlResult};
use catalog::view::Table;
use std::sync::Arc;
use work::Work;

/// Pages of databases.
pub trait Pages: Send + Sync {
    /// Removes the ghosts of a database, or of one of its data files, that nobody needs any more,
    /// and rests so long behind each page.
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

    /// What DBCC PAGE shows: a result set, or messages.
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

/// What DBCC PAGE is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// Its database.
    pub database: DatabaseId,
    /// The file's number, any.
    pub file: i64,
    /// The page's number, any.
    pub page: i64,
    /// The style, any.
    pub style: i64,
    /// WITH TABLERESULTS
    pub as_table: bool,
}

/// What DBCC IND is asked for.
#[derive(Clone, Debug)]
pub struct PagesRequest {
    /// The table.
    pub table: Arc<Table>,
    /// An index's id; 0 for rows alone, -1 for all of it, -2 for IAM pages.
    pub index: i64,
}
