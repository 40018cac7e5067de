//! What DBCC PAGE and DBCC IND ask of the host.

use base::DatabaseId;
use catalog::view::Table;
use std::sync::Arc;

/// What DBCC PAGE is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageAsk {
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
pub struct PagesAsk {
    /// The table.
    pub table: Arc<Table>,
    /// An index's id; 0 for rows alone, -1 for all of it, -2 for IAM pages.
    pub index: i64,
}
