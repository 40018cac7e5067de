//! `sysallocunits`: the pages of a hobt, by purpose.

use super::row::system_row;
use types::SqlType;

system_row! {
    /// An allocation unit. Its first IAM page and its root are fixed for its life.
    AllocUnitRow of AllocUnits, "sysallocunits", key 3 {
        hobt: i32 => "ownerid" SqlType::Int,
        /// 1 rows, 2 large values, 3 columns that did not fit.
        kind: u8 => "type" SqlType::TinyInt,
        unit: i32 => "auid" SqlType::Int,
        first_iam_file: i16 => "firstiamfile" SqlType::SmallInt,
        first_iam_page: i32 => "firstiampage" SqlType::Int,
        root_file: i16 => "rootfile" SqlType::SmallInt,
        root_page: i32 => "rootpage" SqlType::Int,
        first_file: i16 => "firstfile" SqlType::SmallInt,
        first_page: i32 => "firstpage" SqlType::Int,
    }
}
