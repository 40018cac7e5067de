//! `sysdrops`: allocation units whose pages are to be freed.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// Written by the transaction that drops a hobt; so it exists exactly if that committed.
    DropRow of Drops, "sysdrops", key 1 {
        unit: i32 => "auid" SqlType::Int,
        hobt: i32 => "ownerid" SqlType::Int,
        kind: u8 => "type" SqlType::TinyInt,
        first_iam_file: i16 => "firstiamfile" SqlType::SmallInt,
        first_iam_page: i32 => "firstiampage" SqlType::Int,
        root_file: i16 => "rootfile" SqlType::SmallInt,
        root_page: i32 => "rootpage" SqlType::Int,
        first_file: i16 => "firstfile" SqlType::SmallInt,
        first_page: i32 => "firstpage" SqlType::Int,
    }
}
