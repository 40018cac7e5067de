//! Pages as they are: DBCC PAGE, DBCC IND and the functions that tell of pages.
//!
//! ```text
//!   read.rs      a copy of a page, its owner, what the maps say of it
//!   show.rs      DBCC PAGE                    list.rs      DBCC IND
//!   header.rs    BUFFER:, PAGE HEADER:        slots.rs     records of a page, raw and decoded
//!   columns.rs   a record's columns           entries.rs   an index page as a result set
//!   maps.rs      PFS, GAM, SGAM, IAM, DIFF and ML as ranges
//!   printed.rs   both forms of what is printed: text, and WITH TABLERESULTS
//! ```
//!
//! Invariants
//!  1. A page is copied under its latch, and the latch given back before anything else is read: it
//!     is true at its moment, what the maps say of it a little later.
//!  2. Nothing is printed that is not there: where the format is not SQL Server's, what is there
//!     stands under the name that SQL Server has for it; what there is none of does not appear.
//!  3. Bytes that make no sense are shown as bytes.

mod columns;
mod entries;
mod header;
mod list;
mod maps;
mod printed;
mod read;
mod show;
mod slots;

pub(crate) use header::xdes_text;
pub(crate) use list::{UnitPage, unit_pages};
pub(crate) use read::{
    Allocation, PageCopy, PageOwner, has_versions, page_of, percent_full, pfs_words, type_name,
};

pub use list::list_pages;
pub use show::show_page;
