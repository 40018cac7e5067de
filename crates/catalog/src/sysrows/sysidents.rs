//! `sysidents`: how far the identity values of a table may have been given out.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// Keyed by the base hobt, not by the table: TRUNCATE gives a table a new one, so that it
    /// counts from the seed again, and a rollback of TRUNCATE finds the old count untouched.
    IdentityRow of Identities, "sysidents", key 1 {
        hobt: i32 => "ownerid" SqlType::Int,
        /// No value beyond this one has been given out.
        reserved: i128 => "reserved" SqlType::decimal(38, 0),
    }
}
