//! What every floor may name: identities, limits, the error type and its message table.
//!
//! Nothing here has behaviour beyond conversion, order and display. A type enters only when
//! three crates on two floors need it.

#![forbid(unsafe_code)]

mod classes;
mod error;
mod ids;
pub mod limits;
pub mod messages;

pub use classes::{Ends, ErrorClass};
pub use error::{Message, SqlError, SqlResult};
pub use ids::{
    AllocUnitId, DatabaseId, ExtentId, FileId, HobtId, IndexId, Lsn, ObjectId, PageId, SessionId,
    SlotNo, TransactionId, Xsn,
};
