//! `sysfacts`: the options of the database.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// An option that was set.
    FactRow of Facts, "sysfacts", key 1 {
        name: Box<str> => "name" SqlType::varchar(128),
        value: Box<str> => "value" SqlType::nvarchar(2000),
    }
}
