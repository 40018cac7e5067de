//! Every view over an instance with something of everything in it: each column that
//! docs/views.md does not call constant is written, and shows it by changing.

use base::{AllocUnitId, Lsn, TransactionId, Xsn};
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use os::task::JoinHandle;
use session::{
    ClosedSink, Completion, Connection, EnvironmentChange, Login, Parameter, Procedure, Request,
    ResultColumn, ResultSink,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use txn::AbortedTransaction;
use types::{SqlType, Value};

/// Columns that code writes and this test cannot make change, each with the reason.
const STILL: &[(&str, &str, &str)] = &[
    ("sys.database_files", "state", "it is asked in a database that is open"),
    ("sys.database_files", "state_desc", "it is asked in a database that is open"),
    ("sys.dm_exec_query_memory_grants", "timeout_sec", "`query wait (s)` is left alone here"),
    ("INFORMATION_SCHEMA.ROUTINE_COLUMNS", "COLUMN_DEFAULT", "a function's table tells none yet"),
    ("sys.dm_xe_sessions", "create_time", ONE_START),
    ("sys.dm_exec_sessions", "reads", IN_MEMORY),
    ("sys.dm_exec_query_stats", "total_physical_reads", IN_MEMORY),
    ("sys.dm_exec_query_stats", "last_physical_reads", IN_MEMORY),
    ("sys.dm_exec_query_stats", "min_physical_reads", IN_MEMORY),
    ("sys.dm_exec_query_stats", "max_physical_reads", IN_MEMORY),
    ("sys.dm_exec_procedure_stats", "total_physical_reads", IN_MEMORY),
    ("sys.dm_exec_procedure_stats", "last_physical_reads", IN_MEMORY),
    ("sys.dm_exec_procedure_stats", "min_physical_reads", IN_MEMORY),
    ("sys.dm_exec_procedure_stats", "max_physical_reads", IN_MEMORY),
    ("sys.dm_tran_active_transactions", "transaction_state", OF_A_MOMENT),
    ("sys.dm_tran_active_transactions", "transaction_type", OF_A_MOMENT),
    ("sys.dm_tran_database_transactions", "database_transaction_commit_lsn", OF_A_MOMENT),
    ("sys.dm_tran_database_transactions", "database_transaction_type", OF_A_MOMENT),
    ("sys.dm_tran_transactions_snapshot", "snapshot_id", OF_A_MOMENT),
    ("sys.dm_db_log_stats(@DatabaseId)", "active_vlf_count", SHORT_LOG),
    ("sys.dm_db_log_stats(@DatabaseId)", "recovery_vlf_count", SHORT_LOG),
    (STORE_STATS, "pvs_off_row_page_skipped_transaction_not_cleaned", IN_GOLDEN),
    (STORE_STATS, "pvs_off_row_page_skipped_oldest_aborted_xdesid", IN_GOLDEN),
    (STORE_STATS, "pvs_off_row_page_skipped_min_useful_xts", IN_GOLDEN),
    ("sys.partitions", "partition_number", ONE_PARTITION),
    ("sys.dm_db_partition_stats", "partition_number", ONE_PARTITION),
    (OPERATIONAL, "partition_number", ONE_PARTITION),
    (PHYSICAL, "partition_number", ONE_PARTITION),
    (ALLOCATIONS, "partition_id", ONE_PARTITION),
    (ALLOCATIONS, "allocated_page_file_id", ONE_DATA_FILE),
    ("sys.dm_tran_kept_versions", "file_id", ONE_DATA_FILE),
    (PAGE_INFO, "file_id", ONE_DATA_FILE),
    (PAGE_INFO, "pfs_page_id", ONE_INTERVAL),
    (PAGE_INFO, "gam_page_id", ONE_INTERVAL),
    (PAGE_INFO, "sgam_page_id", ONE_INTERVAL),
    (PAGE_INFO, "diff_map_page_id", ONE_INTERVAL),
    (PAGE_INFO, "ml_map_page_id", ONE_INTERVAL),
    (PAGE_INFO, "page_type_flag_bits", NOTHING_SETS_IT),
    (PAGE_INFO, "pfs_alloc_percent", NOTHING_SETS_IT),
    (PAGE_INFO, "ml_status", NOTHING_SETS_IT),
    (PAGE_INFO, "reserved_bytes", NOTHING_SETS_IT),
    (PAGE_INFO, "reserved_bytes_by_xdes_id", NOTHING_SETS_IT),
    (PAGE_INFO, "xdes_id", NOTHING_SETS_IT),
    (PAGE_INFO, "diff_status", "there is no backup since which an extent has not changed"),
    (PAGE_INFO, "ghost_rec_count", "whoever deletes clears away: `tests/golden/pages` has one"),
    (PAGE_INFO, "has_ghost_records", "whoever deletes clears away: `tests/golden/pages` has one"),
    (PAGE_INFO, "has_persisted_version_records", "no: `tests/golden/versions/in_row.golden` has"),
    (PAGE_INFO, "has_version_records", "the database has no versions: `tests/golden/pages` has"),
    ("sys.servers", "name", ONE_SERVER),
    ("sys.servers", "data_source", ONE_SERVER),
    ("sys.table_types", "max_length", TABLE_TYPES),
    ("sys.table_types", "precision", TABLE_TYPES),
    ("sys.table_types", "scale", TABLE_TYPES),
    ("sys.table_types", "is_nullable", TABLE_TYPES),
    ("sys.table_types", "is_user_defined", TABLE_TYPES),
    ("sys.table_types", "is_table_type", TABLE_TYPES),
    ("sys.table_types", "collation_name", TABLE_TYPES),
    ("sys.table_types", "system_type_id", TABLE_TYPES),
    ("sys.triggers", "is_not_for_replication", NO_REPLICATION),
    ("sys.dm_exec_sessions", "ansi_nulls", LEFT_ON),
    ("sys.dm_exec_sessions", "ansi_padding", ONLY_ON),
    ("sys.dm_exec_sessions", "ansi_warnings", ONLY_ON),
    ("sys.dm_exec_sessions", "concat_null_yields_null", ONLY_ON),
    ("sys.dm_exec_requests", "ansi_nulls", LEFT_ON),
    ("sys.dm_exec_requests", "ansi_padding", ONLY_ON),
    ("sys.dm_exec_requests", "ansi_warnings", ONLY_ON),
    ("sys.dm_exec_requests", "concat_null_yields_null", ONLY_ON),
];
const SHORT_LOG: &str = "what is active here is rarely longer than a virtual log file";
const OF_A_MOMENT: &str = "what commits, rolls back or is the engine's own is over in a moment";
const STORE_STATS: &str = "sys.dm_tran_persistent_version_store_stats";
const IN_GOLDEN: &str = "`tests/golden/versions/accelerated_views` has who keeps such pages";
const ONE_START: &str = "the session of events begins with the instance";
const PAGE_INFO: &str = "sys.dm_db_page_info(@DatabaseId, @FileId, @PageId, @Mode)";
const ALLOCATIONS: &str = "sys.dm_db_database_page_allocations(@DatabaseId, @TableId, @IndexId, \
                           @PartitionId, @Mode)";
const OPERATIONAL: &str = "sys.dm_db_index_operational_stats(@DatabaseId, @TableId, @IndexId, \
                           @PartitionNumber)";
const PHYSICAL: &str = "sys.dm_db_index_physical_stats(@DatabaseId, @ObjectId, @IndexId, \
                        @PartitionNumber, @Mode)";
const ONE_PARTITION: &str = "no statement makes a second partition yet: see `partitions.rs`";
const ONE_INTERVAL: &str = "a small database has one page of each map";
const ONE_DATA_FILE: &str = "a database has one data file";
const NOTHING_SETS_IT: &str = "it is what stands on the page, and nothing sets it yet";
const ONE_SERVER: &str = "there is one server";
const TABLE_TYPES: &str = "the same of every table type";
const NO_REPLICATION: &str = "NOT FOR REPLICATION is refused";
const IN_MEMORY: &str = "all pages of this instance are in memory";
const ONLY_ON: &str = "SET refuses OFF";
const LEFT_ON: &str = "no session of this test leaves it OFF";
/// Columns that depend on how fast the machine is and how full its files are.
const FICKLE: &[&str] = &[
    "nest_level",
    "reads",
    "writes",
    "cpu_time_ms",
    "elapsed_time_ms",
    "first_active_time",
    "last_active_time",
    "open_time",
    "first_row_time",
    "last_row_time",
    "rewind_count",
    "physical_read_count",
    "read_ahead_count",
    "lob_logical_read_count",
    "lob_physical_read_count",
    "lob_read_ahead_count",
    "io_stall",
    "io_stall_read_ms",
    "io_stall_write_ms",
    "signal_wait_time_ms",
    "row_lock_wait_in_ms",
    "page_latch_wait_count",
    "page_latch_wait_in_ms",
    "page_io_latch_wait_count",
    "page_io_latch_wait_in_ms",
    "tree_page_latch_wait_count",
    "tree_page_latch_wait_in_ms",
    "tree_page_io_latch_wait_count",
    "tree_page_io_latch_wait_in_ms",
    "total_log_size_in_bytes",
    "size",
    "cpu_time",
    "wait_time",
    "total_elapsed_time",
    "wait_duration_ms",
    "execution_duration_ms",
    "elapsed_time_seconds",
    "since",
];

#[derive(Default)]
struct ViewContents {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
    errors: Vec<String>,
}

impl ResultSink for ViewContents {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        self.names = columns.iter().map(|c| c.name.clone()).collect();
        self.rows.clear();
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        // A datetime is printed without its seconds.
        let shown = |v: &Value| match v {
            Value::DateTime(d) => format!("{d:?}"),
            v => v.to_string(),
        };
        self.rows.push(values.iter().map(shown).collect());
        Ok(())
    }

    fn message(&mut self, message: &base::SqlError) {
        if message.severity() > 10 {
            self.errors.push(format!("{}: {}", message.number(), message.text()));
        }
    }

    fn done(&mut self, _: Completion) {}
    fn return_status(&mut self, _: i32) {}
    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}
    fn environment(&mut self, _: &EnvironmentChange) {}
}

fn ask(session: &mut dyn Connection, batch: &str) -> ViewContents {
    let mut seen = ViewContents::default();
    session.run(Request::Batch(batch.to_owned()), &mut seen);
    seen
}

fn run(session: &mut dyn Connection, batch: &str) {
    let seen = ask(session, batch);
    assert!(seen.errors.is_empty(), "{batch}: {:?}", seen.errors);
}

/// One cell.
fn cell(session: &mut dyn Connection, query: &str) -> String {
    let seen = ask(session, query);
    assert!(seen.errors.is_empty(), "{query}: {:?}", seen.errors);
    seen.rows.first().map(|r| r[0].clone()).unwrap_or_else(|| "null".to_owned())
}

struct DocumentedView {
    name: String,
    constant: BTreeSet<String>,
    columns: usize,
}

/// The views of docs/views.md with their constant columns.
fn documented() -> Vec<DocumentedView> {
    let text = include_str!("../../../docs/views.md");
    let mut views: Vec<DocumentedView> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            let (name, constant) = (name.to_owned(), BTreeSet::new());
            views.push(DocumentedView { name, constant, columns: 0 });
            continue;
        }
        let Some(view) = views.last_mut() else { continue };
        if let Some(cells) = line.strip_prefix("| ").filter(|l| !l.starts_with("columns ")) {
            let names = cells.split(" | ").next().unwrap_or_default();
            view.constant.extend(names.split(", ").map(str::to_owned));
        } else if let Some(count) = line.split(" columns are ").next().filter(|c| *c != line) {
            let last = count.rsplit(' ').next().unwrap_or_default();
            view.columns = last.parse().expect("a count of columns");
        }
    }
    views
}

/// How a view is asked: functions with arguments that make most of them.
fn queries(view: &str, handles: &[String]) -> Vec<String> {
    let Some((name, _)) = view.split_once('(') else {
        return vec![format!("select * from {view}")];
    };
    let handles: Vec<&str> = handles.iter().map(String::as_str).collect();
    let arguments: &[&str] = match name {
        "sys.dm_db_index_physical_stats" => {
            &["null, null, null, null, 'DETAILED'", "null, null, null, null, 'LIMITED'"]
        }
        "sys.dm_db_index_operational_stats" => &["null, null, null, null"],
        "sys.dm_exec_sql_text"
        | "sys.dm_exec_query_plan"
        | "sys.dm_exec_query_plan_stats"
        | "sys.dm_exec_plan_attributes" => &handles,
        "sys.dm_exec_text_query_plan" => {
            return handles.iter().map(|h| format!("select * from {name}({h}, 0, -1)")).collect();
        }
        "sys.dm_exec_query_statistics_xml" => &["51", "52", "53", "54"],
        "sys.fn_PhysLocCracker" => &["0x9900000001000000", "0x9A00000003000200"],
        "sys.dm_db_page_info" => return page_infos(),
        "sys.dm_db_database_page_allocations" => &[
            "db_id(), null, null, null, 'DETAILED'",
            "1, object_id('master.dbo.t'), null, null, 'LIMITED'",
        ],
        "sys.dm_exec_input_buffer" => &["51, null", "52, null"],
        "sys.dm_db_stats_properties" | "sys.dm_db_stats_histogram" => {
            return statistics(name);
        }
        "sys.fn_helpcollations" => &[""],
        "sys.dm_db_log_info" | "sys.dm_db_log_stats" => &["1", "null"],
        "sys.fn_dblog" | "sys.dm_db_log_blocks" => &["null, null"],
        "sys.dm_io_virtual_file_stats" | "sys.fn_virtualfilestats" => &["null, null"],
        "sys.dm_sql_referencing_entities" => {
            &["'dbo.heap', 'OBJECT'", "'dbo.fresh', 'OBJECT'", "'sales.orders', 'OBJECT'"]
        }
        "sys.fn_listextendedproperty" => &[
            "null, 'schema', 'dbo', 'table', null, null, null",
            "null, 'schema', 'dbo', 'table', null, 'column', null",
            "null, 'schema', 'dbo', 'table', null, 'index', null",
            "null, null, null, null, null, null, null",
        ],
        other => panic!("{other} is a function without arguments here"),
    };
    arguments.iter().map(|a| format!("select * from {name}({a})")).collect()
}

/// A page is asked for at a time: the first of two databases, of all types.
fn page_infos() -> Vec<String> {
    let query = |page: u32, at: &str, mode: &str| {
        format!("select * from sys.dm_db_page_info({at}, 1, {page}, '{mode}')")
    };
    let first = (0..12).chain(48..52).chain(120..400);
    let mut all: Vec<String> = first.map(|n| query(n, "db_id()", "DETAILED")).collect();
    all.extend([query(9, "1", "LIMITED"), query(1, "2", "DETAILED")]);
    all
}

/// Functions of statistics take no wildcards: they are asked for tables by name.
fn statistics(function: &str) -> Vec<String> {
    let asked = [("filled", 1), ("filled", 2), ("filled", 3), ("t", 1), ("heap", 2)];
    let query = |(table, n)| format!("select * from {function}(object_id('dbo.{table}'), {n})");
    asked.map(query).into()
}

/// What every column has held so far.
#[derive(Default)]
struct ColumnValues(BTreeMap<(String, String), BTreeSet<String>>);

impl ColumnValues {
    /// Asks every view once.
    fn look(&mut self, session: &mut dyn Connection) {
        let handles = "select most_recent_sql_handle from sys.dm_exec_connections union all \
                       select plan_handle from sys.dm_exec_cached_plans";
        let handles = ask(session, handles);
        let handles: Vec<String> = handles.rows.iter().map(|r| r[0].clone()).collect();
        for view in documented() {
            for query in queries(&view.name, &handles) {
                let columns = self.see(session, &view.name, &query);
                assert_eq!(columns, view.columns, "{query}");
            }
        }
    }

    /// Asks one view; how many columns it has.
    fn see(&mut self, session: &mut dyn Connection, view: &str, query: &str) -> usize {
        let seen = ask(session, query);
        assert!(seen.errors.is_empty(), "{query}: {:?}", seen.errors);
        for (at, name) in seen.names.iter().enumerate() {
            let values = self.0.entry((view.to_owned(), name.clone())).or_default();
            values.extend(seen.rows.iter().map(|r| r[at].clone()));
        }
        seen.names.len()
    }

    /// Columns that are neither constant nor ever changed, and constant ones that did.
    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for view in documented() {
            for ((of, column), values) in self.0.iter().filter(|((of, _), _)| *of == view.name) {
                let constant = view.constant.contains(column);
                if FICKLE.contains(&column.as_str()) {
                    continue;
                }
                let still = STILL.iter().find(|(v, c, _)| v == of && (c == column || *c == "*"));
                let rowless = still.is_some_and(|(_, c, _)| *c == "*");
                let (still, changes) = (still.is_some(), values.len() > usize::from(!rowless));
                match (constant, still, changes) {
                    (true, _, true) => wrong.push(format!("{of}.{column} is not constant")),
                    (false, false, false) => {
                        wrong.push(format!("{of}.{column} never changes: {values:?}"));
                    }
                    (false, true, true) => wrong.push(format!("{of}.{column} does change")),
                    _ => {}
                }
            }
        }
        wrong
    }
}

const DEFINITIONS: &[&str] = &[
    "create schema sales",
    "alter database scoped configuration set last_query_plan_stats = on",
    "create table sales.orders (
        id int identity(10, 5) constraint pk_orders primary key,
        code nvarchar(20) collate Latin1_General_CS_AS not null unique,
        amount numeric(9, 2) null default 0,
        at datetime2(3) constraint df_at default sysutcdatetime(),
        price money, ratio float, note varchar(max),
        constraint ck_amount check (amount >= 0), check (ratio < 10))",
    "create table dbo.heap (a int null, b int not null check (b > 0), c sysname null, d char(10),
        r bit, g uniqueidentifier rowguidcol)",
    "create table dbo.counted (m int default 4, n bigint identity primary key nonclustered)",
    "exec sp_addextendedproperty 'a', 'b', 'schema', 'dbo', 'table', 'heap', 'column', 'b'",
    "exec sp_addextendedproperty 'c', 'd', 'schema', 'dbo', 'table', 'counted'",
    "exec sp_addextendedproperty 'of the database', 'x'",
    "create synonym dbo.pile for dbo.heap",
    "create synonym sales.nothing for elsewhere.dbo.nothing",
    "create function sales.bound (@x int) returns int with schemabinding
        as begin return @x + 1 end",
    "create sequence dbo.running",
    "create sequence sales.turning as decimal(9, 0) start with 9 increment by -2 minvalue 5
        maxvalue 9 cycle cache 5",
    "create sequence dbo.ended as tinyint start with 2 maxvalue 2 no cache",
    "select next value for dbo.ended",
    "create table dbo.paired (a int, b int, constraint pk_paired primary key (a, b))",
    "create table dbo.filled (k int not null, v int, w int, t char(400),
        constraint uq_filled unique clustered (k))",
    "create unique index ix_heap on dbo.heap (b desc, a) include (c)
        with (ignore_dup_key = on, fillfactor = 70)",
    "create index ix_filled on dbo.filled (v)",
    "create table dbo.fills (k int primary key with (pad_index = on), v int, w char(500))",
    "create index ix_fills on dbo.fills (v, w) with (fillfactor = auto)",
    "insert dbo.fills select value, value * 7919 % 10007, 'w' from generate_series(1, 2000)",
    "alter index ix_fills on dbo.fills rebuild",
    "insert dbo.fills select value, value * 7919 % 10007, 'w' from generate_series(2001, 3000)",
    "insert dbo.fills select -value, value, 'w' from generate_series(1, 100)",
    "exec sp_addextendedproperty 'e', null, 'schema', 'dbo', 'table', 'filled', 'index', 'ix_filled'",
    "create table sales.lines (id int, ordered int constraint fk_lines references sales.orders
        on delete cascade)",
    "create table dbo.pairs (x int, y int, z int constraint fk_own references dbo.filled (k),
        constraint fk_pairs foreign key (x, y) references dbo.paired on update set null)",
    "alter table dbo.pairs nocheck constraint fk_own",
    "create table dbo.counts (n bigint references dbo.counted)",
    "create table dbo.wide (a1 int, a2 int, a3 int, a4 int, a5 int, a6 int, a7 int, a8 int,
        a9 int, a10 int, a11 int, a12 int, a13 int, a14 int, a15 int, a16 int, primary key (a1,
        a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16))",
    "create table dbo.as_wide (b1 int, b2 int, b3 int, b4 int, b5 int, b6 int, b7 int, b8
        int, b9 int, b10 int, b11 int, b12 int, b13 int, b14 int, b15 int, b16 int, foreign key
        (b1, b2, b3, b4, b5, b6, b7, b8, b9, b10, b11, b12, b13, b14, b15, b16) references
        dbo.wide (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16))",
    "declare @t nvarchar(max) = N'create procedure dbo.long as /*';
        set @t += replicate(cast(N'x' as nvarchar(max)), 5000) + N'*/ select 1'; exec (@t)",
    "create type dbo.mail from varchar(40) not null",
    "create type sales.price from decimal(9, 2)",
    "create type dbo.pairs_type as table (a int primary key, b varchar(9))",
    "create type sales.mails as table (m dbo.mail, n nvarchar(3) null, d datetime2(3))",
    "create table dbo.typed (m dbo.mail, p sales.price)",
    "create table sales.priced (p sales.price)",
    "create function sales.listed () returns @r table (id int not null primary key, c char(3)
        not null default 'x', n nvarchar(9) collate Latin1_General_BIN2, m dbo.mail, p sales.price,
        d datetime2(3)) as begin return end",
    "create function dbo.inlined (@x int) returns table as return select a, b from dbo.heap",
    "create procedure sales.takes @m dbo.mail, @t dbo.pairs_type readonly as return",
    "create table dbo.computed (a int, b varchar(10), twice as a * 2, kept as a + 1 persisted,
        big as upper(b) persisted not null, ratio as cast(a as decimal(9, 4)) / 3 persisted)",
    "create index ix_kept on dbo.computed (kept)",
    "create table sales.sums (a int, b int, total as a + b)",
    "alter index ix_kept on dbo.computed disable",
    "create procedure dbo.fresh with recompile, execute as owner as select 1",
    "create table dbo.apart (i int identity not for replication,
        n bigint references dbo.counted not for replication, check not for replication (n > 0))",
    "create procedure dbo.depends as exec fresh select a from tempdb.dbo.elsewhere",
    "create function dbo.address () returns dbo.mail as begin return 'a@b' end",
    "create function dbo.moment () returns datetime2(3) as begin return '2026-11-22' end",
    "create function dbo.twice (@x int) returns int with returns null on null input
        as begin return @x * 2 end",
    "create view dbo.all_heap as select a, b as c, twice = b * 2 from dbo.heap",
    "create view sales.dear as select id, amount from sales.orders
        where amount > 1 with check option",
    "create trigger sales.tr_orders on sales.orders after insert as return",
    "create trigger dbo.tr_paired on dbo.paired after update, delete as return",
    "disable trigger dbo.tr_paired on dbo.paired",
    "create trigger dbo.tr_counts on dbo.counts instead of delete as return",
    "exec sp_settriggerorder 'sales.tr_orders', 'first', 'insert'",
    "exec sp_settriggerorder 'dbo.tr_paired', 'last', 'delete'",
    "create procedure dbo.several @a decimal(9, 3) output, @b varchar(30) as set @a = len(@b)",
    "create procedure dbo.one @x int as select @x",
    "create procedure dbo.hands @c cursor varying output as return",
    "set quoted_identifier, ansi_nulls off",
    "create procedure sales.two as begin select 1; select 2 end",
    "set quoted_identifier, ansi_nulls on",
    "insert sales.orders (code, amount) values (N'a', 1), (N'b', 2)",
    "insert dbo.heap (a, b) values (1, 2), (2, 3), (3, 4)",
    "insert dbo.filled (k, v) select number, number % 7 from master..spt_values
        where type = 'P'",
    "delete dbo.heap where a = 2",
    "update dbo.filled set w = k / 3",
    "select count(*) from dbo.filled where t > 'a' and w > 3",
    "select count(*) from dbo.filled where w > 3
        option (maxdop 2, use hint('ENABLE_PARALLEL_PLAN_PREFERENCE'))",
    "create statistics st_filled on dbo.filled (w, v) with sample 50 percent, norecompute",
    "update statistics dbo.filled (uq_filled, ix_filled)",
    "update statistics dbo.heap",
    "create procedure dbo.sorts as select a.k from dbo.filled a, dbo.filled b where b.k < 20
        order by a.t, b.k, a.w option (max_grant_percent = 1)",
    "create procedure dbo.writes as update dbo.filled set w = w + 1",
    "exec dbo.sorts",
    "checkpoint",
    "exec dbo.writes",
    "exec dbo.one 1; exec dbo.one 2",
    "select a.k from dbo.filled a, dbo.filled b where b.k < 20
        order by a.t, b.k, a.w option (max_grant_percent = 1)",
    "checkpoint",
    "update dbo.filled set w = w + 2",
    "create index ix_w on dbo.filled (w)",
    "select count(w) from dbo.filled with (index (ix_filled)) where v = 3",
    "create table dbo.worked (k char(880) primary key, v varchar(4000))",
    "insert dbo.worked select right(10000 + value, 4), 'v' from generate_series(1, 1200)",
    "update dbo.worked set v = replicate('w', 4000) where k in ('0003', '0004')",
    "delete dbo.worked where k > '0500'",
    "create table dbo.many (a int primary key); insert dbo.many select value from generate_series(1, 6000)",
    "create table dbo.grown (v varchar(4000)); insert dbo.grown values ('v'), (replicate('w', 3990)),
        (replicate('x', 3990)); update dbo.grown set v = replicate('v', 3000) where v = 'v'",
    "select max(v) from dbo.grown",
    "checkpoint",
    "create index ix_some on dbo.filled (v) where v > 1",
    "exec dbo.writes",
    "exec sp_executesql N'select @a', N'@a int', 1",
];

/// The same in another database.
const ELSEWHERE: &[&str] = &[
    "create table dbo.t (a int identity primary key, b int default 1 check (b > 0))",
    "create type dbo.moment from datetime2(3)",
    "create sequence dbo.s",
    "create table dbo.moments (m dbo.moment)",
    "create function dbo.listed () returns @r table (m dbo.moment) as begin return end",
    "create view dbo.v as select a from dbo.t",
    "create procedure dbo.p as select 1",
    "create procedure dbo.at @d datetime2(3) as return",
    "create procedure dbo.around @d dbo.moment as return",
    "exec dbo.p",
    "select count(*) from dbo.t where b = 1",
    "insert dbo.t (b) values (1)",
    "select count(*) from dbo.t where b > 0",
    "create table dbo.u (a int references dbo.t)",
];

/// In databases with row versions.
const VERSIONED: &[&str] = &[
    "create table dbo.t (id int primary key, c varchar(100))",
    "create table dbo.w (id int, a char(8000), b char(40))",
    "insert dbo.t values (1, 'a'), (2, 'b'), (3, 'c')",
    "insert dbo.w values (1, 'a', 'b')",
    "create table dbo.h (id int, c varchar(max))",
    "insert dbo.h values (1, 'a'), (2, replicate(cast('b' as varchar(max)), 10000))",
    "create table dbo.g (id int)",
    "insert dbo.g values (1), (2)",
    "create procedure dbo.sees as select max(c) from dbo.t",
    "create procedure dbo.passes as select count(*) from dbo.g with (nolock)",
    "alter database current set allow_snapshot_isolation on",
];

/// Two writers who go on, and after them two readers as of moments since which rows have changed.
fn look_at_versions(instance: &Arc<Instance>, first: &mut dyn Connection, held: &mut ColumnValues) {
    let mut sessions: Vec<_> = (11..15).map(|n| connect(instance, login(n))).collect();
    let [w, x, r, s] = &mut sessions[..] else { panic!("four sessions") };
    run(&mut **w, "begin tran; update also_versioned.dbo.t set c = 'open' where id = 1");
    run(&mut **x, "begin tran; update versioned.dbo.t set c = 'open' where id = 1");
    run(&mut **x, "delete versioned.dbo.g where id = 1");
    run(&mut **r, "set transaction isolation level snapshot; begin tran");
    run(&mut **r, "select count(*) from versioned.dbo.t");
    run(
        first,
        "update versioned.dbo.t set c = 'other' where id = 2; delete versioned.dbo.t where id = 3; \
         delete versioned.dbo.h where id = 2",
    );
    run(first, "update versioned.dbo.w set b = 'other'");
    run(&mut **r, "exec versioned.dbo.sees");
    run(&mut **s, "set transaction isolation level snapshot; begin tran");
    run(&mut **s, "select count(*) from also_versioned.dbo.t");
    run(first, "update also_versioned.dbo.t set c = 'other' where id = 2");
    // Last: the memory for plans is small, and figures go with their plan.
    run(first, "exec versioned.dbo.passes");
    held.look(first);
    for view in ["sys.dm_tran_current_transaction", "sys.dm_tran_current_snapshot"] {
        held.see(&mut **r, view, &format!("select * from {view}"));
    }
}

/// Database options, so that two databases differ in each that can be set.
const OPTIONS: &[&str] = &[
    "recovery simple",
    "delayed_durability = allowed",
    "compatibility_level = 150",
    "auto_create_statistics off",
    "auto_update_statistics off",
    "auto_update_statistics_async on",
    "ansi_null_default on",
];

fn connect(instance: &Arc<Instance>, login: Login) -> Box<dyn Connection> {
    Box::new(instance.connect(login).expect("a session"))
}

fn login(n: u32) -> Login {
    Login {
        user: format!("user{n}"),
        host: if n == 1 { String::new() } else { format!("host{n}") },
        application: if n == 1 { String::new() } else { format!("app{n}") },
        library: format!("library{n}"),
        process_id: n,
        database: "populated".to_owned(),
        odbc_defaults: n != 2,
        address: if n == 3 { "10.0.0.3:5000".to_owned() } else { String::new() },
        encrypted: n == 3,
        packet_bytes: 4096 + n,
        protocol_version: if n == 3 { 0x7400_0004 } else { 0 },
        ..Login::default()
    }
}

/// A session that waits for a lock and one that waits for the time, in tasks of their own.
fn blocked(instance: &Arc<Instance>) -> [JoinHandle<()>; 2] {
    let mut session = connect(instance, login(3));
    let locked = os::task::spawn("blocked", move || {
        run(&mut *session, "set deadlock_priority 3; set lock_timeout 60000; set arithabort off");
        run(
            &mut *session,
            "set language british; set datefirst 2; set dateformat ymd; set textsize 4096",
        );
        run(&mut *session, "set ansi_defaults on; set transaction isolation level repeatable read");
        run(&mut *session, "begin tran named; update sales.orders set amount = 4 where id = 10");
        run(&mut *session, "rollback");
    });
    let mut session = connect(instance, login(4));
    let waits = "waitfor delay '00:00:02'";
    let timed = os::task::spawn("timed", move || run(&mut *session, waits));
    [locked, timed]
}

/// A latch that somebody holds for some milliseconds while another wants it, and a spin.
fn contended() {
    let latch = Arc::new(os::sync::Mutex::new(()));
    let held = latch.lock();
    let theirs = Arc::clone(&latch);
    let waiting = os::task::spawn("waiting", move || drop(theirs.lock()));
    os::task::sleep_ns(20_000_000);
    drop(held);
    assert!(waiting.join().is_ok());
    let spin = os::spin::Spin::new(os::spin::SpinKind::Lock);
    assert!(spin.look(|| true) && !spin.look(|| false));
}

/// Sessions that sort: one holds most of the memory and waits for a row, one waits for memory, one
/// needs little and waits for the row as well.
fn sorting(instance: &Arc<Instance>, first: &mut dyn Connection) -> Vec<JoinHandle<()>> {
    let mut tasks = Vec::new();
    let most = "min_grant_percent = 100";
    for (n, hint, place) in [
        (5, most, "granted_memory_kb > 20000"),
        (6, most, "wait_order = 0"),
        (
            7,
            "max_grant_percent = 5, maxdop 2, use hint('ENABLE_PARALLEL_PLAN_PREFERENCE')",
            "dop = 2",
        ),
    ] {
        // Times of two requests differ even where they are told to 1/300 s.
        os::task::sleep_ns(10_000_000);
        let mut session = connect(instance, login(n));
        let sort = format!("select k from dbo.filled order by t, w option ({hint})");
        tasks.push(os::task::spawn("sorting", move || run(&mut *session, &sort)));
        let there = format!("select count(*) from sys.dm_exec_query_memory_grants where {place}");
        let soon = std::iter::repeat_with(|| cell(first, &there)).take(20_000);
        assert!(soon.into_iter().any(|n| n == "1"), "nobody has {place}");
    }
    tasks
}

/// Two sessions that wait for each other's row.
fn deadlock(instance: &Arc<Instance>) {
    let mut elder = connect(instance, login(8));
    let mut younger = connect(instance, login(9));
    let change = |k: u32| format!("update dbo.filled set w = 0 where k = {k}");
    run(&mut *elder, &format!("set deadlock_priority high; begin tran; {}", change(1)));
    run(&mut *younger, &format!("begin tran; {}", change(2)));
    let crossing = os::task::spawn("elder", move || {
        run(&mut *elder, &change(2));
        run(&mut *elder, "rollback");
    });
    let victim = ask(&mut *younger, &change(1));
    assert!(victim.errors.iter().any(|e| e.starts_with("1205")), "{:?}", victim.errors);
    crossing.join().expect("the elder goes on");
}

fn populate(instance: &Arc<Instance>) -> Box<dyn Connection> {
    let mut first = connect(instance, Login { database: "master".to_owned(), ..login(1) });
    run(&mut *first, "create database populated");
    for option in OPTIONS {
        run(&mut *first, &format!("alter database populated set {option}"));
    }
    run(&mut *first, "alter database populated modify file (name = populated, filegrowth = 10%)");
    run(&mut *first, "create database away; alter database away set offline");
    run(&mut *first, "create database closed");
    run(&mut *first, "use closed");
    for batch in ELSEWHERE {
        run(&mut *first, batch);
        // Dates of two batches differ even where they are told to 1/300 s.
        os::task::sleep_ns(10_000_000);
    }
    for name in ["versioned", "also_versioned"] {
        run(&mut *first, &format!("create database {name}"));
        run(&mut *first, &format!("use {name}"));
        VERSIONED.iter().for_each(|batch| run(&mut *first, batch));
    }
    run(&mut *first, "create database accelerated");
    run(&mut *first, "alter database accelerated set accelerated_database_recovery = on");
    run(&mut *first, "use accelerated; create table dbo.kept (id int primary key, v int)");
    run(&mut *first, "insert dbo.kept values (1, 0), (2, 0)");
    run(&mut *first, "create table accelerated.dbo.t (k int primary key, s char(3000))");
    run(&mut *first, "insert accelerated.dbo.t select value, '' from generate_series(1, 9)");
    run(&mut *first, "use populated");
    run(&mut *first, "alter database versioned set read_committed_snapshot on");
    run(&mut *first, "alter database versioned set optimized_locking = on");
    for batch in DEFINITIONS {
        run(&mut *first, batch);
        // Dates of two batches differ even where they are told to 1/300 s.
        os::task::sleep_ns(10_000_000);
    }
    first
}

#[test]
fn every_column_is_written_or_called_constant() {
    let dir = std::env::temp_dir().join(format!("ghostlight-views-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let options = InstanceOptions { max_memory_bytes: 96 << 20, ..InstanceOptions::default() };
    let instance = Instance::open(Arc::new(RealDisk), &dir, options).expect("an instance");
    let mut first = populate(&instance);
    let mut held = ColumnValues::default();
    held.look(&mut *first);
    look_at_versions(&instance, &mut *first, &mut held);
    run(&mut *first, "exec sp_persistent_version_cleanup 'also_versioned'");
    abort(&instance);
    run(&mut *first, "use closed");
    held.look(&mut *first);
    for name in ABORTING {
        run(&mut *first, &format!("exec sp_persistent_version_cleanup '{name}'"));
    }
    run(&mut *first, "alter database closed set read_only; alter database closed set single_user");
    run(&mut *first, "use populated");
    run(&mut *first, "alter table sales.orders nocheck constraint ck_amount");
    run(&mut *first, "exec dbo.writes");
    deadlock(&instance);
    let mut holder = connect(&instance, login(2));
    run(&mut *holder, "begin tran; update sales.orders set amount = 3 where id = 10");
    run(&mut *holder, "begin tran; create table dbo.pending (a int); create table #t (a int)");
    run(&mut *holder, "update dbo.filled set w = 1 where k = 2047");
    let mut keeper = connect(&instance, login(3));
    run(&mut *keeper, "use accelerated; update dbo.kept set v = 1 where id = 1; begin tran");
    run(&mut *keeper, "update dbo.kept set v = 2 where id = 2");
    run(&mut *keeper, "update dbo.kept set v = 3 where id = 2");
    let call = Request::Call {
        procedure: Procedure::Named("dbo.one".to_owned()),
        parameters: vec![Parameter {
            name: "@x".to_owned(),
            sql_type: SqlType::Int,
            value: Value::Int(1),
            output: false,
            default: false,
            table: None,
        }],
        more: false,
    };
    holder.run(call, &mut ViewContents::default());
    run(&mut *first, "checkpoint; waitfor delay '00:00:00.050'");
    contended();
    let mut waiting = Vec::from(blocked(&instance));
    wait_until_blocked(&mut *first);
    check_blocking(&mut *first);
    let mut writers = write_versions(&instance, &mut *first);
    waiting.extend(sorting(&instance, &mut *first));
    let mut goes_back = connect(&instance, login(8));
    run(&mut *goes_back, "create table #back (a int, b char(7000)); begin tran");
    run(&mut *goes_back, "insert #back (a) values (1)");
    run(&mut *goes_back, "save tran here; insert #back select k, '' from dbo.filled where k < 30");
    run(&mut *goes_back, "rollback tran here");
    run(&mut *first, "set ansi_null_dflt_on off; set quoted_identifier off");
    ask(&mut *first, "select 1 / 0");
    held.look(&mut *first);
    run(&mut *goes_back, "rollback");
    run(&mut *holder, "rollback");
    writers.iter_mut().for_each(|writer| run(&mut **writer, "rollback"));
    for task in waiting {
        task.join().expect("the blocked sessions go on");
    }
    let wrong = held.wrong();
    drop((first, holder, goes_back, writers));
    instance.stop().expect("a clean stop");
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(wrong.is_empty(), "{} columns:\n{}", wrong.len(), wrong.join("\n"));
}

/// Sessions whose changes keep former rows in the own store of their database, one more than the
/// other; the cleaner has looked at them.
fn write_versions(
    instance: &Arc<Instance>,
    first: &mut dyn Connection,
) -> [Box<dyn Connection>; 2] {
    let mut writers = [connect(instance, login(9)), connect(instance, login(10))];
    for (writer, rows) in writers.iter_mut().zip(["= 1", "between 2 and 9"]) {
        let update = "begin tran; update accelerated.dbo.t set s = 'x' where k";
        run(&mut **writer, &format!("{update} {rows}"));
    }
    run(first, "exec sp_persistent_version_cleanup 'accelerated'");
    writers
}

/// Databases with aborted transactions: no cleaner runs in them, which would sweep these at once.
const ABORTING: [&str; 2] = ["versioned", "also_versioned"];

/// Two transactions that are aborted while records by them would stay on pages of a table that was
/// dropped since.
fn abort(instance: &Instance) {
    for (n, name) in (1..).zip(ABORTING) {
        let database = instance.database_by_name(name).expect("it is open");
        database.home().aborted().enter(AbortedTransaction {
            xsn: Xsn((1 << 47) + n),
            id: TransactionId(n),
            began_at: 1_764_288_000_000_000_000 + n as i64 * 1_000_000_000,
            begin: Lsn(1000 * n),
            end: Lsn(1000 * n + 500),
            nested: n > 1,
            units: vec![AllocUnitId(u32::MAX)],
        });
    }
}

fn wait_until_blocked(session: &mut dyn Connection) {
    let blocked = "select count(*) from sys.dm_exec_requests where blocking_session_id > 0";
    let soon = std::iter::repeat_with(|| cell(session, blocked)).take(20_000);
    assert!(soon.into_iter().any(|n| n == "1"), "nobody is blocked");
    run(session, "waitfor delay '00:00:00.050'");
}

/// Who waits for whom, at which row.
fn check_blocking(session: &mut dyn Connection) {
    let blocked = "select cast(blocking_session_id as varchar) + ' ' + wait_type + ' ' + \
                   left(wait_resource, 4) from sys.dm_exec_requests where blocking_session_id > 0";
    assert_eq!(cell(session, blocked), "52 LCK_M_U KEY:");
    let modes = "select count(*) from sys.dm_tran_locks where request_session_id = 52 and \
                 resource_associated_entity_id in (select hobt_id from sys.partitions where \
                     object_id = object_id('sales.orders') and index_id < 2 \
                     union all select object_id('sales.orders')) and \
                 (resource_type = 'OBJECT' and request_mode = 'IX' or \
                  resource_type = 'PAGE' and request_mode = 'IX' or \
                  resource_type = 'KEY' and request_mode = 'X')";
    assert_eq!(cell(session, modes), "3");
    let key = "select count(*) from sys.dm_tran_locks where resource_type = 'KEY' and \
               len(resource_description) <> 14";
    assert_eq!(cell(session, key), "0");
}
