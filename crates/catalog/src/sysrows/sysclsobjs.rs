//! `sysclsobjs`: schemas.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// A user's schema; the four system schemas have no rows.
    ClassRow of Classes, "sysclsobjs", key 1 {
        id: i32 => "id" SqlType::Int,
        name: Box<str> => "name" SqlType::SYSNAME,
    }
}
