//! A batch of columns: what batch mode works on instead of a row.
//!
//! ```text
//! Batch ── selection: RowSet, one bit a row
//!   ├─ Vector int        flat        7 │ 7 │ - │ 9 │ …   one lane a row
//!   ├─ Vector varchar    dictionary  0 │ 1 │ 1 │ 0 │ …   a code a row, lanes apart
//!   ├─ Vector date       runs        to 3: x, to 900: y   one lane a run
//!   └─ Vector bit        constant    1                    one lane
//! ```
//!
//! A filter does not move values: it clears bits of the selection. Kernels compare whole vectors
//! and answer with sets of rows. README.md has the layouts, the numbered rules and the costs.
//!
//! Not here: where batches come from (`access`), and what a plan does with them (`exec`).

#![forbid(unsafe_code)]

mod batch;
mod compare;
mod constant;
mod lanes;
mod row_set;
mod texts;
mod truth;
mod vector;

pub use batch::{Batch, TEXT_BYTES};
pub use compare::{comparable, compare_constant, compare_vectors, is_null};
pub use constant::Constant;
pub use row_set::{ROWS_MAX, RowSet, Rows};
pub use truth::Truth;
pub use vector::{Entries, Vector};
