//! docs/views.md, printed from the declarations of views. A test compares the file with it.

use crate::column::Column;
use crate::list::{ViewDeclaration, declared, schema_name};
use std::collections::BTreeMap;
use std::fmt::Write;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/views.md");

const HEAD: &str = "\
# System views

What the system views of this server tell, and where they differ from SQL Server's. Read this page
when a script, a monitor or a tool reads `sys.*`, INFORMATION_SCHEMA or a DMV and gets a value that
you do not expect.

* To look up a view, search this page for `### ` and its name. It says how many of its columns are
  constant, with the value and the reason. A column that is not in that table is written by code.
* To learn how a figure is counted, search the next section for the view's name.
* A system view that has no heading here is missing: a query of it gives error 208. What else is
  missing stands in [gaps](gaps/README.md); [options.md](options.md) says which options work.

For whoever changes a view: this page is printed from the declarations in `crates/sysviews`.
`GHOSTLIGHT_BLESS=1 cargo test -p sysviews` prints it anew; without that the test fails when the
page is not what the declarations say. Another test runs every view over a populated instance and
fails when a column that is not listed here never changes.

## Where we differ from SQL Server

* `sys.messages` has the messages that this server gives, in English, and shows every place of an
  argument as `%ls`.
* `sys.configurations` has only options that mean something here, with what holds.
* `dbo.spt_values` is found in every database, not in master alone. Its rows of type `P` are SQL
  Server's: 0 to 2047 with byte and bit. Of other types there is a selection (`A`, `B`, `D`, `I`,
  `L`, `O9T`), and rows of type `GL` without names, which SQL Server does not have, bring it to the
  number of rows that scripts expect.
* Compatibility views (`sysobjects` and its like) are found as `dbo.sysobjects` too, in every
  database: those of master as well, which SQL Server finds in master alone. `sysindexes` counts the
  pages of each index by itself, as the remarks of SQL Server's page say, not as its columns do.
* sa, dbo and the fixed roles are the only principals; views of permissions list that they may
  connect, and nothing of what SQL Server grants to public.
* `sys.objects`, `columns`, `indexes`, `index_columns`, `partitions` and `allocation_units` list our
  own system tables; some of them (`sysidents`, `sysdrops`, `sysfacts`) SQL Server does not have.
* `query_hash` is of a statement's text without constants, comments, case and blanks, so statements
  that name one table in two ways have two; `query_plan_hash` is of the plan's operators and their
  arguments without constants.
* `worker_time` of a run that takes less than a millisecond is the time that it took, waits included.
* Of a database that is not open `sys.databases` and `sys.master_files` know name, number, state and
  files; what is set of it is in its files, and NULL.
* Definitions are shown as they were committed: a session does not see its own uncommitted ones here.
* Of sessions of events there is `system_health` alone, with its target `ring_buffer`: reports of
  deadlocks, the newest that have room in 1 MB. A report leaves out what is not known here: of a
  process `XDES` (the address of a structure that is not here), `schedulerid` (there are no
  schedulers), `clientoption1` and `2` (no page of Microsoft's tells what their bits mean), `ecid`
  and `kpid` of a thread beside the session's own, name and begin of a transaction of one statement.
  `kpid` is the system's number of the thread that runs the request, `lastattention` the last one
  that ended a request, or 1900-01-01 where none has. `id` of a
  process is its wait's number, `id` of a lock its number in the table of locks; neither is an
  address. Statements are told up to 4,000 characters. Whoever has Sch-S on a table and asks for
  more of it converts. A batch whose constants became parameters has one frame, that of its text
  with parameters.
* A memory grant grows while its statement runs: `requested_memory_kb` is what it may become,
  `granted_memory_kb` what it is, `ideal_memory_kb` what it might become without a hint.
* `sys.dm_os_performance_counters` lists what is counted, and nothing else. Counts are of this
  instance since its start; a ratio is of all of that time, not of the last few thousand accesses.
  Each thread counts pages, searches, scans and ghosts in cells of its own (`os/src/counters.rs`),
  locks are counted in their partition: no row and no lock pays for what another one writes.
  * A reader at READ COMMITTED asks for its rows' locks without taking them; where nobody writes a
    table it asks once a page, for the table. Each time counts as a request. `Lock Timeouts/sec`
    has no internal requests that do not wait.
  * `Lock Wait Time (ms)` grows when a wait ends, and `Average Wait Time Base` with it.
  * `Page Splits/sec` has those of the trees that large values are kept in, and none of a build.
  * `Page lookups/sec` counts each time that a page is asked for by its number, also where a scan
    goes on; `Lazy writes/sec` counts pages that are written to make room, whoever needs it.
  * `Log Flushes/sec` counts writes of what was logged, each of one or more blocks; `Log
    Flush Waits/sec` commits that waited for one. `Log Latch Hold Time (ns)` is our own: of 32
    appends one is timed from taking the log's latch to giving it back.
  * A transaction is in a database from its first change there on: `Transactions/sec` and `Active
    Transactions` leave out those that only read.
  * `SQL Compilations/sec` counts batches, procedures and prepared texts that were compiled, and
    statements of them that got another plan; `Batch Requests/sec` counts calls, too.
  * `Version Store Size`, `Version Generation` and `Cleanup rate` are of all stores: that in tempdb
    and those of databases with accelerated recovery. Each is one unit, for as long as it is there.
  * `PVS off-row record generated/sec` and its kin count in a database's own store since the start,
    `PVS in-row diff generated/sec` and `retrieved/sec` in the records of its rows.
    `retrieved` has every time that a version is looked at, also by a writer that looks whether it
    is needed. `PVS off-row pages allocated ahead/sec` is our own: of the pages allocated those that
    the background has made before anybody needed them.
  * `Update conflict ratio` is of all transactions since the start. `Longest Transaction
    Running Time` is of transactions that have written or read versions.
* `sys.dm_os_latch_stats` has the classes of what protects something here; `LOCK_PARTITION`,
  `COMMIT_TABLE` and `OTHER` are our own, as are the names in `sys.dm_os_spinlock_stats`. A latch
  that was free is not counted.
* `sys.dm_tran_active_transactions` lists, as SQL Server does, statements that run in a transaction
  of their own, among them the one that asks; their `name` is what their session does, their begin
  is up to a tick of the system (4 ms) early. `sys.dm_tran_session_transactions` lists those alone
  that users opened.
* `sys.dm_tran_database_transactions` lists a transaction in each database that it writes, and, in
  state 3, in those whose tables a statement of it has locked to read them: up to 16 of one
  transaction. System views are no tables. `database_transaction_type` is 1 there, too: a
  transaction may write, also one that has not.
* A savepoint has no log record: `database_transaction_most_recent_savepoint_lsn` is that of the
  record before it. Figures of a transaction are read while it goes on: each is true at its moment.
* Datetimes are UTC.
* A transaction draws a sequence number at its first change where rows have versions, at its first
  access under SNAPSHOT, or, where the user opened it, at its first statement that reads as of a
  moment under READ_COMMITTED_SNAPSHOT. It keeps it to its end, also when it writes later. A SELECT
  in no transaction of the user draws none by itself, so that readers share nothing: it gets one
  when a view shows it, above those that were given since it began.
  `first_snapshot_sequence_num` is the own number where no other was open, and 0 where there is no
  SNAPSHOT.
* `sys.dm_tran_transactions_snapshot` lists statements while they run: `snapshot_id` is the number of
  their snapshot, 0 that of a transaction under SNAPSHOT. What was open at the moment is what goes on
  and what was committed since; what was rolled back or has only read is listed no more once it is
  over. A transaction that has a number was itself open when its statement began.
  `sys.dm_tran_current_snapshot` has rows under SNAPSHOT alone, as SQL Server's page says.
* `sys.dm_tran_active_snapshot_database_transactions` counts stored versions on the way from a row
  to the version that is read; a ghost that is its own former version costs no way.
* `sys.dm_tran_version_store`: `transaction_sequence_num` is of the writer of the record that points
  at the version: of who superseded it, or of a later one where what was between is gone.
  `version_sequence_num` is the version's place, as (file * 2^32 + page) * 2^16 + slot.
  A deleted row that stays as its own former version is not in the store. More than 256 MB are
  refused (701).
* `sys.dm_tran_version_store_space_usage` reads the store's pages. A page counts for the database
  that has most bytes on it, once; pages without versions, which the store keeps for whoever comes
  next, count for none. Databases that are not open have rows while they have versions.
* `sys.dm_tran_persistent_version_store_stats` has a row for every open database, also where
  accelerated recovery is off. Transaction numbers are 0 where there is no such transaction.
  `min_transaction_timestamp` is of sequence numbers: `first_useful_sequence_num` of
  `sys.dm_tran_current_transaction`. Times are UTC; of a pass that goes on there is no end.
  `pvs_off_row_page_skipped_…` are of the cleaner's last pass over the store that came to its end. A
  version waits for its own superseder alone; a page with such versions counts once, for the one
  with the lowest superseder: `oldest_active_xdesid` that one is active, `oldest_aborted_xdesid` and
  `transaction_not_cleaned` it is the oldest aborted transaction, or another one,
  `min_useful_xts` a snapshot may read the version.
* `sys.dm_tran_aborted_transactions`: `transaction_id` is a bigint, as everywhere; SQL Server's page
  says int. What is undone from the log is not in it: small transactions, and such with changes that
  leave no versions.
* `first_useful_sequence_num` is of numbers, not of what is stored: what was superseded below it is
  seen by everybody. Above it versions that no snapshot reads go as well.
* `sys.dm_tran_version_blockers` is our own: a row for each open snapshot and database of which
  something is kept for it (`SNAPSHOT TRANSACTION`, `STATEMENT`), for each writer of what he has
  superseded and not committed yet (`WRITER`), and, where ghosts go by the rule TRANSACTION, for each
  open transaction that keeps ghosts since it used versions, whether it reads or not
  (`TRANSACTION`; one under SNAPSHOT tells them in its one row). `snapshot_moment` counts commits;
  it is NULL of the last two. Besides there is a row for each aborted transaction whose rows are not
  put back (`ABORTED`), without a session. `reason` and `freed_by` say why something is kept, and
  what would let it go. What is kept for several is in the row of each: a statement that runs
  in a transaction keeps by that rule what its transaction does.
  Bytes are of records as they are on their pages: `pinned_version_bytes` in the version stores, of
  these `pinned_persistent_bytes` in the database's own store, on `pinned_persistent_page_count`
  pages: of each page one version at least is kept for that row's transaction;
  `pinned_ghost_bytes` on their pages, `pinned_graveyard_bytes` in memory, with what it
  takes to find them there. Ghosts on pages are those of the pages that are noted for
  the cleaner: at most 262,144 of a database are. Those of who has not committed yet are nobody's.
* `sys.dm_tran_kept_versions` is our own: a row for each stored version that somebody needs, with its
  place, for whom it is kept (of several snapshots the oldest), and what would let it go. More than
  500,000 are refused (701).
* `sys.dm_db_index_usage_stats` counts a run of a plan once for each operator that uses a heap or
  index, whether it came to that or not; a change counts once for each heap or index that its plan
  changes. A statement that runs twice, as optimized locking may have it do, counts twice. `system_scans`
  are reads for statistics, but for those of an index that is just being made. What a rebuild or
  TRUNCATE TABLE makes anew counts on, and all is gone with the instance.
* `sys.dm_db_index_operational_stats` has a row for every heap and index of an open database, used
  or not, and counts what was done, also where it was rolled back since. What a rebuild makes anew
  counts on; rows and pages that the rebuild writes itself are not counted, but for the pages of a heap.
  * A deleted row becomes a ghost, of a heap as well (`leaf_ghost_count`); `leaf_delete_count` has
    rows that a rollback took out. A row whose key changes is a ghost and an insert, a row that is
    as it was is no update.
  * `leaf_allocation_count` has the pages that changes of rows have added: of an index
    `leaf_page_append_count` and `leaf_page_split_count`, of a heap every page. `leaf_page_merge_count`
    has empty pages that were given back. `nonleaf_allocation_count` counts a root that became higher.
  * `row_lock_count` has all requests for rows, keys and gaps, also those that ask without taking
    (`sys.dm_os_performance_counters`, above); who waits for the end of a row's writer waits for
    the row. A wait counts when it ends, however it does.
  * Waits for a page's latch or its bytes are those of who reads, changes or counts the index's rows,
    values off the rows included; who rolls back, builds or cleans counts none. For pages that are
    read ahead only those wait who come before they are there.
  * `version_generated_offrow` counts versions that went to the version store, which is off the
    rows; a ghost that is its own former version is not one of them.
  * The last five columns are our own. A page at the index's right edge whose new row is behind all
    others is not split but followed by a new one, and nothing moves (`leaf_page_append_count`); a
    split moves half of a page (`leaf_page_split_count`). Of splits `leaf_page_split_at_end_count`
    has those whose new row was to be the last of the page, `leaf_page_split_by_update_count` those
    of a row that became longer, and `leaf_page_split_beside_last_count` those of a page that the
    split before had left: where these are most, splits fall at one place, and a fill factor does
    not help; where they are few, they fall all over the index.
* `sys.fn_dblog` decodes the records that were really written, and shows columns that none of them
  fills as NULL. NULL as its start means the record from which recovery would begin now; while it is
  read the log behind it is not reused (LOG_SCAN). `[Flag Bits]` are the record's own: 1 its group
  goes on, 2 a page, 4 a compensation, 8 without undo. `[Log Reserve]` is what the transaction had
  reserved for undoing it beside what it takes itself; the log charges a quarter more. A change of
  structure is a group of records of no transaction (`0000:00000000`), as one block has it whole.
  `LOP_BEGIN_RECOVERY` is the first record of a start, `LOP_COMPENSATION`, which SQL Server does not
  have, one without a page. `[RowLog Contents 2]` is the key by which a row is found again. Lengths
  and bits are int. A name of an allocation unit is that of now; of what was dropped there is none.
* A transaction that recovery undoes while its database is in use has session 20, and in
  `sys.dm_tran_active_transactions` its own name and begin, but a number of this start; its log
  records have the number that it had. Those that share a table are one transaction there, with a
  row each in `sys.dm_tran_database_transactions`. It holds X on each table that it has changed,
  where SQL Server locks its keys again. Session 20 has no row in `sys.dm_exec_sessions` nor in
  `sys.dm_exec_requests`; `blocking_session_id` names it.
* `sys.dm_db_index_fill_factors` is our own: of each index how full it was built and what became of
  it since. `fill_factor` is what was set, or what FILLFACTOR = AUTO chose at the last build;
  `rows_at_build` the rows of that build, where it is known: of an index with AUTO always, of others
  until the database is closed. The counts are since the build, or since the database was opened:
  rows that were put in one by one (`inserts_since_build`; those of a rolled back transaction, too),
  leaves added at the right edge (`append_count`), leaves split elsewhere (`split_count`), of these
  those where the new row was to be the leaf's last (`split_at_end_count`) and those that the split
  before had left (`split_again_count`). `chosen_by_…` is what AUTO chose by: rows, inserts of the time
  before and by how many rows the index grew in it, appends, splits, and on what part of the index, in
  percent, the splits fell. After a start
  AUTO knows of the time before by the rows that were added since the build, not where they came.
* `sys.dm_db_log_blocks(start, end)` is our own: the blocks of the log, each of a header, records and
  padding. The sum of `[Log Record Length]` over the same blocks is that of `record_bytes`.
* `version_record_count` of `sys.dm_db_index_physical_stats` counts records on pages that have a
  former version which is there still: one in the version store, an in-row version, or the ghost's
  own bytes, which are its former version. `inrow_version_record_count`,
  `inrow_diff_version_record_count` and `total_inrow_version_payload_size_in_bytes` count in-row
  versions, each of which says what differs from the row; `offrow_regular_version_record_count`
  counts versions in the database's own store, all of a chain. `sys.dm_tran_version_store` has a row for each version that is stored, so none
  for such a ghost, and several for a record with a chain of them. Where rows come and go and never
  change (123,455 version ghosts, say), the former counts all of them and the latter is empty.
* `ghost_records_skipped`, `versions_traversed` and `lock_requests` of `sys.dm_exec_query_stats` and
  `sys.dm_exec_procedure_stats` are our own, behind SQL Server's columns: ghosts that scans and seeks
  passed, stored versions that they followed, and locks of every kind that were asked for, workers'
  with them, as `sys.dm_os_performance_counters` has them for all. Locks of triggers and functions
  that a statement runs are its own, too, as pages written are; locks of compiling are nobody's.
  SET STATISTICS IO tells the same three of a statement where one of them is not zero, on a line of
  our own behind those of its tables (message 50003), and ghosts and versions of each table at the
  end of that table's line. Locks are not counted by table.

";

fn constants(view: &ViewDeclaration) -> Vec<&'static Column> {
    view.columns.iter().filter(|c| c.constant.is_some()).collect()
}

/// The names of columns with the same value and reason, in the order of the first column of each
/// group.
fn grouped<'a>(constants: &[&'a Column]) -> Vec<(String, &'a str, Vec<&'a str>)> {
    let mut at = BTreeMap::<(String, &str), usize>::new();
    let mut groups: Vec<(String, &str, Vec<&str>)> = Vec::new();
    for column in constants {
        let Some((value, why)) = column.constant else { continue };
        let key = (value.shown(), why);
        let n = *at.entry(key.clone()).or_insert(groups.len());
        if n == groups.len() {
            groups.push((key.0, why, Vec::new()));
        }
        groups[n].2.push(column.name);
    }
    groups
}

fn printed() -> String {
    let mut text = HEAD.to_owned();
    text.push_str("## Columns that are constant\n");
    for view in declared() {
        let (name, count) = (view.name, view.columns.len());
        let arguments = view.parameters.map(|p| {
            let names: Vec<&str> = p.iter().map(|(name, _)| *name).collect();
            format!("({})", names.join(", "))
        });
        let arguments = arguments.unwrap_or_default();
        let _ = write!(text, "\n### {}.{name}{arguments}\n\n", schema_name(view.schema));
        let constants = constants(&view);
        if constants.is_empty() {
            let _ = writeln!(text, "All {count} columns are written.");
            continue;
        }
        let _ = writeln!(text, "{} of {count} columns are constant.\n", constants.len());
        text.push_str("| columns | value | reason |\n|---|---|---|\n");
        for (value, why, names) in grouped(&constants) {
            let _ = writeln!(text, "| {} | {value} | {why} |", names.join(", "));
        }
    }
    text
}

#[test]
fn the_list_of_constant_columns_is_what_the_views_declare() {
    let printed = printed();
    if std::env::var_os("GHOSTLIGHT_BLESS").is_some() {
        std::fs::write(PATH, &printed).unwrap();
    }
    let file = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(file == printed, "docs/views.md is not what the views declare: bless it");
}

#[test]
fn every_constant_has_a_reason_and_every_column_a_name_of_its_own() {
    for view in declared() {
        let mut names: Vec<&str> = view.columns.iter().map(|c| c.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), view.columns.len(), "{} repeats a column", view.name);
        for (_, why) in view.columns.iter().filter_map(|c| c.constant) {
            assert!(why.ends_with('.'), "{}: '{why}' is no sentence", view.name);
        }
    }
}
