//! Pages as they are: DBCC PAGE, DBCC IND and the functions about pages.
//!
//! ```text
//!   read.rs      a copy of a page, its owner, what the maps say of it
//!   show.rs      DBCC PAGE                    list.rs      DBCC IND
//!   header.rs    BUFFER:, PAGE HEADER:        slots.rs     records of a page, raw and decoded
//!   columns.rs   a record's columns           entries.rs   an index page as a result set
//!   maps.rs      PFS, GAM, SGAM, IAM, DIFF and ML as ranges
//!   printout.rs  both forms of what is printed: text, and WITH TABLERESULTS
//! ```
//!
//! Invariants
//!  1. A page is copied under its latch, and the latch is released before anything else is read.
//!     The copy is true at its moment, the state in the maps a little later.
//!  2. Only what exists is printed. Where the format differs from SQL Server's, it is printed under
//!     SQL Server's name for it. What does not exist is left out.
//!  3. Bytes that cannot be decoded are shown as bytes.

mod columns;
mod entries;
mod header;
mod list;
mod maps;
mod printout;
mod read;
mod show;
mod slots;

pub(crate) use header::xdes_text;
pub(crate) use list::{UnitPage, unit_pages};
pub(crate) use read::{
    Allocation, PageCopy, PageOwner, has_persisted_versions, has_versions, page_of, percent_full,
    pfs_words, type_name,
};

pub use list::list_pages;
pub use show::show_page;
