//! `sys.dm_tran_persistent_version_store_stats`: the version store that a database has in its own
//! files, what keeps versions there, and when the cleaner went over it.
//!
//! Every open database has a row, as in SQL Server: when accelerated recovery is turned off, one
//! looks here whether its versions are gone.

use crate::cell::{big, datetime2, int};
use crate::column::{Column, col, maybe, number, zero};
use crate::reason::{NO_GROUPS, ONE_FILEGROUP};
use crate::view::{Rows, System, View};
use base::limits::PAGE_BYTES;
use catalog::view::SchemaId;
use database::Database;
use types::{SqlType, Value};
use work::CleanerPass;

const BIG: SqlType = SqlType::BigInt;
const TIME: SqlType = SqlType::DateTime2(7);
const NO_INDEX_STORE: &str = "An online build has no version store of its own.";

const COLUMNS: [Column; 20] = [
    col("database_id", SqlType::Int),
    number("pvs_filegroup_id", SqlType::SmallInt, 1, ONE_FILEGROUP),
    col("persistent_version_store_size_kb", BIG),
    zero("online_index_version_store_size_kb", BIG, NO_INDEX_STORE),
    col("current_aborted_transaction_count", BIG),
    col("oldest_active_transaction_id", BIG),
    col("oldest_aborted_transaction_id", BIG),
    col("min_transaction_timestamp", BIG),
    zero("online_index_min_transaction_timestamp", BIG, NO_INDEX_STORE),
    zero("secondary_low_water_mark", BIG, NO_GROUPS),
    maybe("offrow_version_cleaner_start_time", TIME),
    maybe("offrow_version_cleaner_end_time", TIME),
    maybe("aborted_version_cleaner_start_time", TIME),
    maybe("aborted_version_cleaner_end_time", TIME),
    zero("pvs_off_row_page_skipped_low_water_mark", BIG, NO_GROUPS),
    col("pvs_off_row_page_skipped_transaction_not_cleaned", BIG),
    col("pvs_off_row_page_skipped_oldest_active_xdesid", BIG),
    col("pvs_off_row_page_skipped_min_useful_xts", BIG),
    zero("pvs_off_row_page_skipped_oldest_snapshot", BIG, NO_INDEX_STORE),
    col("pvs_off_row_page_skipped_oldest_aborted_xdesid", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_tran_persistent_version_store_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let transactions = &system.engine.transactions;
    let horizon = transactions.snapshots.horizon(&transactions.commits);
    let useful = transactions.commits.first_useful(horizon);
    Ok(system.databases.all().iter().map(|database| row(database, useful.0)).collect())
}

fn row(database: &Database, useful: u64) -> Vec<Value> {
    let home = database.home();
    let pages = home.version_stores().own().map_or(0, |store| store.usage().pages);
    let aborted = home.aborted().list();
    let active = home.open_parts().into_iter().map(|part| part.id.0).min();
    let times = |pass| {
        let times = home.cleaner_times().of(pass);
        [times.began, times.ended].map(|at| at.map_or(Value::Null, datetime2))
    };
    let mut row = vec![
        int(database.id().0),
        big(pages * PAGE_BYTES as u64 / 1024),
        big(aborted.len() as u64),
        big(active.unwrap_or(0)),
        big(aborted.iter().map(|a| a.id.0).min().unwrap_or(0)),
        big(useful),
    ];
    row.extend(times(CleanerPass::OffRow));
    row.extend(times(CleanerPass::Aborted));
    let passed = home.cleaner_times().passed();
    row.extend(
        [
            passed.for_other_aborted,
            passed.for_active,
            passed.for_snapshots,
            passed.for_oldest_aborted,
        ]
        .map(big),
    );
    row
}
