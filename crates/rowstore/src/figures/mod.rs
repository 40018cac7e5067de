//! Figures of a heap or index: counters of its use, its size, samples.
//!
//! ```text
//!   activity    counters of its use since it was opened; `deeds` counts and reports
//!   count       rows and pages, counted or estimated
//!   sample      pages for statistics of values
//!   growth      how a tree has grown since it was built
//!   page_order  logical fragmentation
//! ```

pub(crate) mod activity;
pub(crate) mod count;
pub(crate) mod deeds;
pub(crate) mod growth;
pub(crate) mod page_order;
pub(crate) mod sample;
