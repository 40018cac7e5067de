//! recovery.1, the users' story: their scripts as they are, through go-sqlcmd, on the table that
//! the script in `demos/` makes. A long update without accelerated recovery and with it, each
//! killed; what views, the error log and DBCC PAGE say; one row that is changed once, twice and
//! 100,000 times in one transaction; and the cleaning of versions, which blocks nobody.
//!
//! Page 499960, which one script names, is that of the users' machine. The script runs as it is,
//! and then with the page on which the row lies here.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part, parts};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{number, session};
use crate::ground::sqlcmd::{Sqlcmd, SqlcmdSession};
use crate::recovery::big_table::{self, DATABASE, store_kb};
use crate::recovery::phases::Phases;
use checks::Outcome;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const ROWS: i64 = 5_000_000;
/// The undo that the users saw in the engine that they came from.
const UNDO_MS_MAX: f64 = 119.0;
/// What another session's change may wait beside the cleaning.
const BLOCKED_MS_MAX: u128 = 1_000;
const PAGE_KB: i64 = 8;
/// Turns accelerated recovery on; where it is, nothing changes.
const ON: &str = "002_08_adr_on";
const PAGE_OF_USERS: &str = "499960";
/// Of the one row: a copy of the large table's first.
const ONE: &str = "dbo.bigTransactionHistory_row_version";
/// The bytes that the users found behind their row, and those of a tag.
const BEHIND_ROW_BYTES: i64 = 21;
const TAG_BYTES: i64 = 14;

struct Story<'a> {
    ground: &'a Ground<'a>,
    work: PathBuf,
    rows: i64,
    /// Absent between a kill and the next start.
    server: Option<ServerProcess>,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("recovery.1")?;
    let rows = ground.scaled(ROWS).max(1_000);
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    big_table::make(ground, &mut server.client()?, rows)?;
    let mut story = Story { ground, work, rows, server: Some(server) };
    let figures = parts(
        ground,
        &mut story,
        &[
            ("without accelerated recovery", Story::without),
            ("with accelerated recovery", Story::with),
            ("updates of every row", Story::every_row),
            ("one row", Story::one_row),
            ("cleaning", Story::cleaning),
        ],
    );
    story.server.take().map_or(Ok(()), ServerProcess::stop)?;
    Ok(figures)
}

/// A figure that is text, and what it must hold.
fn says(what: &str, said: &str, limit: &str, pass: bool) -> Figure {
    let figure = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>();
    let figure = figure.join(" / ").chars().take(300).collect();
    Figure { what: what.to_owned(), figure, limit: limit.to_owned(), pass }
}

fn figure(what: &str, number: i64, limit: &str, pass: bool) -> Figure {
    says(what, &number.to_string(), limit, pass)
}

/// How often go-sqlcmd says that so many rows were affected; it groups digits.
fn affected(said: &str, rows: i64) -> usize {
    said.replace(',', "").matches(&format!("({rows} rows affected)")).count()
}

impl Story<'_> {
    fn script(&self, name: &str) -> PathBuf {
        self.ground.script("recovery").join(format!("{name}.sql"))
    }

    fn sqlcmd(&self) -> Outcome<Sqlcmd> {
        Sqlcmd::new(self.ground, self.server()?, DATABASE, &self.work.join("sqlcmd.log"))
    }

    fn server(&self) -> Outcome<&ServerProcess> {
        self.server.as_ref().ok_or_else(|| "there is no server".to_owned())
    }

    fn session(&self, database: &str) -> Outcome<Client> {
        session(self.server()?, database)
    }

    /// A script in a session of its own.
    fn tell(&self, name: &str) -> Outcome<String> {
        self.sqlcmd()?.run(&self.script(name))
    }

    /// Kills the server, and starts it again; the time from its start to a first answer.
    fn kill(&mut self) -> Outcome<Duration> {
        self.server.take().map_or(Ok(()), ServerProcess::kill)?;
        let server = ServerProcess::start(&self.ground.binary()?, &self.work.join("data"))?;
        let mut client = self.server.insert(server).client()?;
        asked(&mut client, &format!("SELECT COUNT(*) FROM {DATABASE}.sys.tables"))?;
        Ok(self.server()?.started.elapsed())
    }

    fn without(&mut self) -> Part {
        self.tell("002_01_adr_off_compat150")?;
        let mut figures = vec![self.options("0|150")?];
        for name in ["002_02_sp_helpindex", "002_03_sp_helpindex_2"] {
            let said = self.tell(name)?;
            let both = ["pk_bigTransactionHistory|clustered", "IX_ProductId_TransactionDate|noncl"];
            let pass = both.iter().all(|index| said.contains(index));
            figures.push(says(name, &said, "both indexes", pass));
        }
        figures.extend(self.killed("off")?);
        Ok(figures)
    }

    fn options(&mut self, limit: &str) -> Outcome<Figure> {
        let mut client = self.session(DATABASE)?;
        let sql = "SELECT CONCAT(CAST(is_accelerated_database_recovery_on AS int), '|', \
                   compatibility_level) FROM sys.databases WHERE database_id = DB_ID()";
        let texts = asked(&mut client, sql)?.texts;
        let said = texts.first().and_then(|row| row.first()).cloned().unwrap_or_default();
        Ok(says("accelerated recovery, compatibility", &said, limit, said == limit))
    }

    /// The long update, looked at and killed.
    fn killed(&mut self, setting: &str) -> Part {
        let mut session = self.sqlcmd()?.session()?;
        let said = session.script(&self.script("002_04_long_update"))?;
        let all = affected(&said, self.rows) == 1;
        let limit = format!("{} rows affected", self.rows);
        let mut figures = vec![says(&format!("002_04, {setting}"), &said, &limit, all)];
        let said = self.tell("002_05_log_space_usage")?;
        let pass = said.lines().any(|line| line.starts_with(&format!("{DATABASE}|")));
        figures.push(says("002_05, size and use of the log", &said, "a row", pass));
        let said = self.tell("002_06_tran_exec_dmvs")?;
        let pass = said.lines().any(|line| line.contains(&format!("|sa|{DATABASE}|")));
        figures.push(says("002_06, the open transaction", &said, "a row", pass));
        figures.extend(self.start_after_kill(session, setting)?);
        Ok(figures)
    }

    fn start_after_kill(&mut self, session: SqlcmdSession, setting: &str) -> Part {
        let answer = self.kill()?;
        drop(session);
        let said = self.tell("002_07_readerrorlog")?;
        let phases = Phases::of(&said);
        let pass = phases.is_some_and(|p| setting == "off" || p.undo_ms <= UNDO_MS_MAX);
        let limit = match setting {
            "off" => "each phase is told".to_owned(),
            _ => format!("each phase is told, undo at most {UNDO_MS_MAX} ms"),
        };
        let told = phases.map_or("not told".to_owned(), |phases| phases.to_string());
        let told = format!("{told}; first answer after {answer:.2?}");
        let what = format!("002_07, {setting}: phases of the recovery after the kill");
        Ok(vec![says(&what, &told, &limit, pass)])
    }

    fn with(&mut self) -> Part {
        self.tell(ON)?;
        let said = self.tell("002_11_sys_databases")?;
        let wanted = format!("{DATABASE}|0|1");
        let pass = said.lines().any(|line| line.trim() == wanted);
        let mut figures = vec![says("002_11, after 002_08", &said, &wanted, pass)];
        figures.extend(self.killed("accelerated")?);
        Ok(figures)
    }

    fn every_row(&mut self) -> Part {
        self.tell(ON)?;
        let mut figures = Vec::new();
        for (name, times) in [("002_09_update_perf", 1), ("002_10_update_stress", 4)] {
            let began = Instant::now();
            let mut session = self.sqlcmd()?.session()?;
            let said = session.script(&self.script(name))?;
            let seconds = began.elapsed().as_secs_f64();
            let found = affected(&said, self.rows);
            let what = format!("{name}: {times} updates of every row, {seconds:.2} s");
            figures.push(says(&what, &said, &format!("{times} times"), found == times));
        }
        let mut session = self.sqlcmd()?.session()?;
        let said = session.script(&self.script("002_12_version_store_dmvs"))?;
        drop(session);
        let own = said.lines().any(|line| {
            let cells: Vec<&str> = line.split('|').collect();
            cells.len() == 3 && cells[0] == DATABASE && cells[1] != "0"
        });
        figures.push(says("002_12, the own store and who holds it", &said, "a row", own));
        let mut client = self.session("master")?;
        let shared = number(
            &mut client,
            &format!(
                "SELECT ISNULL(SUM(reserved_page_count), 0) \
                 FROM sys.dm_tran_version_store_space_usage WHERE database_id = DB_ID('{DATABASE}')"
            ),
        )?;
        figures.push(figure("002_12, pages in the store of tempdb", shared, "0", shared == 0));
        Ok(figures)
    }

    fn one_row(&mut self) -> Part {
        self.tell(ON)?;
        let said = self.tell("002_13_select_into")?;
        let one = "(1 row affected)";
        let mut figures = vec![says("002_13", &said, one, said.contains(one))];
        figures.push(self.page_of_users()?);
        let fresh = self.look()?;
        figures.push(fresh.judge("a fresh row", "no version", |seen| seen.stats == [0; 6]));
        let mut session = self.sqlcmd()?.session()?;
        session.script(&self.script("002_15_update_one_row"))?;
        let once = self.look()?;
        let limit = format!("a diff in the row, {BEHIND_ROW_BYTES} bytes behind it, decoded");
        let decoded = |state: &RowState| {
            let [all, in_row, diffs, bytes, off_row, long] = state.stats;
            let behind = state.record_bytes - fresh.record_bytes;
            let one = [all, in_row, diffs] == [1; 3] && [off_row, long] == [0; 2];
            one && bytes > 0 && behind == BEHIND_ROW_BYTES && state.payload
        };
        figures.push(once.judge("after the first update", &limit, decoded));
        session.script(&self.script("002_15_update_one_row"))?;
        let twice = self.look()?;
        let off_row = |state: &RowState| {
            let behind = state.record_bytes - fresh.record_bytes;
            state.stats == [1, 0, 0, 0, 1, 0] && behind <= TAG_BYTES && !state.payload
        };
        let limit = "one version off the row, the tag alone in it";
        figures.push(twice.judge("after the second", limit, off_row));
        drop(session);
        figures.extend(self.hundred_thousand()?);
        Ok(figures)
    }

    /// The script as it is: a page, or why there is none.
    fn page_of_users(&mut self) -> Outcome<Figure> {
        let said = self.tell("002_14_dbcc_page").unwrap_or_else(|why| why);
        let page = said.contains(&format!("PAGE: (1:{PAGE_OF_USERS})"));
        let error = said.lines().find(|line| line.starts_with("Msg "));
        let clear = error.is_some() && !said.contains("Msg 3624");
        let told = if page { "the page" } else { &said };
        Ok(says("002_14 as it is", told, "the page, or a clear error", page || clear))
    }

    fn look(&mut self) -> Outcome<RowState> {
        let mut client = self.session(DATABASE)?;
        let page = number(
            &mut client,
            &format!(
                "SELECT allocated_page_page_id FROM sys.dm_db_database_page_allocations(DB_ID(), \
                 OBJECT_ID(N'{ONE}'), 0, NULL, 'DETAILED') WHERE page_type = 1"
            ),
        )?;
        let path = self.script("002_14_dbcc_page");
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let here = self.work.join("dbcc_page.sql");
        let text = text.replace(PAGE_OF_USERS, &page.to_string());
        fs::write(&here, text).map_err(|e| format!("{}: {e}", here.display()))?;
        RowState::of(&self.sqlcmd()?.run(&here)?, &self.tell("002_16_physical_stats_pvs")?)
    }

    fn hundred_thousand(&mut self) -> Part {
        let mut client = self.session("master")?;
        big_table::until_map_is_empty(&mut client, DATABASE)?;
        let before = store_kb(&mut client, DATABASE)?;
        let mut session = self.sqlcmd()?.session()?;
        session.script(&self.script("002_17_update_go_100000"))?;
        let seen = self.look()?;
        let after = store_kb(&mut client, DATABASE)?;
        let grown = after - before;
        let what = format!("002_17, the store before and after ({before} KB, {after} KB)");
        let one = |seen: &RowState| seen.stats[0] == 1 && seen.stats[4] + seen.stats[1] == 1;
        Ok(vec![
            seen.judge("002_17, after 100,000 updates in one transaction", "one version", one),
            figure(&what, grown, &format!("{PAGE_KB} KB more"), grown <= PAGE_KB),
        ])
    }

    /// The users' cleaning, and somebody who changes another table meanwhile.
    fn cleaning(&mut self) -> Part {
        self.tell(ON)?;
        let mut cleaner = self.sqlcmd()?.session()?;
        let text = fs::read_to_string(self.script("002_18_pvs_cleanup"))
            .map_err(|e| format!("002_18: {e}"))?;
        cleaner.send(&text)?;
        let mut other = self.session(DATABASE)?;
        let began = Instant::now();
        let (mut longest, mut changes) = (0, 0);
        while began.elapsed() < Duration::from_millis(500) || changes < 10 {
            let one = Instant::now();
            asked(&mut other, &format!("UPDATE {ONE} SET Quantity = Quantity + 1"))?;
            longest = longest.max(one.elapsed().as_millis());
            changes += 1;
        }
        let said = cleaner.answer()?;
        let stats = said.lines().any(|line| line.starts_with(&format!("{DATABASE}|")));
        let what = format!("the longest of {changes} changes beside 002_18, ms");
        Ok(vec![
            says("002_18", &said, "what the store has, and the cleaning returns", stats),
            figure(
                &what,
                i64::try_from(longest).unwrap_or(i64::MAX),
                &BLOCKED_MS_MAX.to_string(),
                longest <= BLOCKED_MS_MAX,
            ),
        ])
    }
}

/// What DBCC PAGE and the physical stats say of the one row.
struct RowState {
    /// Versions, those in the row, diffs in the row, their bytes, off the row, for long off the
    /// row.
    stats: [i64; 6],
    record_bytes: i64,
    /// The pointer that DBCC PAGE prints.
    pointer: String,
    /// Whether it prints what lies behind the row, decoded.
    payload: bool,
}

impl RowState {
    fn of(page: &str, stats: &str) -> Outcome<RowState> {
        let after = |name: &str| {
            let line = page.lines().find(|line| line.contains(name))?;
            let (_, value) = line.split_once(name)?;
            Some(value.trim_start_matches([' ', ':', '=']).trim().to_owned())
        };
        let bytes = after("Record Size").and_then(|v| v.split(' ').next()?.parse().ok());
        let heap = stats.lines().find(|line| line.starts_with("0|0|"));
        let cells: Vec<i64> =
            heap.into_iter().flat_map(|l| l.split('|')).map(|c| c.parse().unwrap_or(-1)).collect();
        let stats = cells.get(4..10).and_then(|cells| cells.try_into().ok());
        Ok(RowState {
            stats: stats.ok_or_else(|| format!("physical stats say {cells:?}"))?,
            record_bytes: bytes.ok_or_else(|| format!("DBCC PAGE prints no record: {page}"))?,
            pointer: after("Version Pointer").unwrap_or_else(|| "none".to_owned()),
            payload: page.to_lowercase().contains("in-row version"),
        })
    }

    fn judge(&self, what: &str, limit: &str, is_right: impl Fn(&RowState) -> bool) -> Figure {
        let RowState { stats, record_bytes, pointer, payload } = self;
        let [all, in_row, diffs, bytes, off_row, long] = stats;
        let told = format!(
            "{all} versions, {in_row} in the row ({diffs} diffs, {bytes} bytes), {off_row} and \
             {long} off it; a record of {record_bytes} bytes, pointer {pointer}, payload printed: \
             {payload}"
        );
        says(what, &told, limit, is_right(self))
    }
}
