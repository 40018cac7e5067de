//! What a fifth session does beside the ledgers' while the server is killed: each activity by
//! turns, one a round. An activity is an entry of the list; a proof prints all of them.
//!
//! Invariants
//!  1. Before the first kill each runs once: one that the server does not know is named as refused,
//!     never left out.
//!  2. A kill counts as within an activity by what can be seen from outside: by the statement that
//!     was asked for and not answered, by the length of the log's file, by the numbers of virtual
//!     log files.

use crate::ground::client::{Client, asked};
use crate::ground::program::ServerProcess;
use crate::ground::scene::number;
use checks::Outcome;
use std::fs;
use std::path::{Path, PathBuf};

/// Of what is not supported.
const UNSUPPORTED: &str = "40517: ";
/// SIZE of MODIFY FILE is no more than the file has.
const SIZE_NOT_LARGER: &str = "5039: ";
pub(crate) const DEADLOCK: &str = "1205: ";
/// Who waits for log in a transaction of his own holds what he waits for: a log that is so small
/// and may not grow refuses now and then.
const LOG_FULL: &str = "9002: ";
/// Rows of `dbo.B`, which only its indexes' definitions change.
pub(crate) const STILL_ROWS: i64 = 4_000;
pub(crate) const STILL_SUM: &str = "SELECT COUNT(*), SUM(v), SUM(LEN(filler)) FROM dbo.B";
/// Made beside the ledgers' table: one that is large enough for its indexes to take a while, and
/// one that only takes log.
pub(crate) const SCHEMA: [&str; 3] = [
    "CREATE TABLE dbo.Room (id int IDENTITY NOT NULL, filler char(3000) NOT NULL)",
    "CREATE TABLE dbo.B (id int NOT NULL CONSTRAINT PK_B PRIMARY KEY CLUSTERED, v bigint NOT NULL, \
     filler varchar(200) NOT NULL); CREATE NONCLUSTERED INDEX IX_B ON dbo.B (v) INCLUDE (filler)",
    "INSERT dbo.B SELECT TOP (4000) ROW_NUMBER() OVER (ORDER BY a.number), \
     ROW_NUMBER() OVER (ORDER BY a.number) * 7919 % 4001, REPLICATE('b', 100 + a.number % 100) \
     FROM master..spt_values a CROSS JOIN master..spt_values b WHERE a.type = 'P' AND b.type = 'P'",
];

/// The log's file may be shrunk to its smallest first.
const SHORT_LOG: &str = "CHECKPOINT; DBCC SHRINKFILE (Kills_log, 1) WITH NO_INFOMSGS; \
    DBCC SHRINKFILE (Kills_log, 1) WITH NO_INFOMSGS";
const SMALL_STEPS: &str = "ALTER DATABASE Kills MODIFY FILE (NAME = Kills_log, FILEGROWTH = 256KB)";
/// Two megabytes, so that five sessions do not meet a full log all the time.
const NO_GROWTH: &str = "IF (SELECT size FROM sys.database_files WHERE file_id = 2) < 256 \
    ALTER DATABASE Kills MODIFY FILE (NAME = Kills_log, SIZE = 2MB); \
    ALTER DATABASE Kills MODIFY FILE (NAME = Kills_log, FILEGROWTH = 0)";
const USUAL_GROWTH: &str = "ALTER DATABASE Kills MODIFY FILE (NAME = Kills_log, FILEGROWTH = 8MB)";

/// How a kill is known to have come within an activity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KillEvidence {
    /// A step of it had been asked for and not answered.
    Asked,
    /// And the log's file had become longer in it.
    Longer,
    /// Since the round began every virtual log file had been entered anew.
    Wrapped,
}

/// A batch; where `of_it` is not set, it only makes ready for the others.
struct Step {
    text: &'static str,
    of_it: bool,
    /// What it may be refused with.
    may: &'static [&'static str],
}

const fn step(text: &'static str) -> Step {
    Step { text, of_it: true, may: &[DEADLOCK] }
}

const fn small(text: &'static str) -> Step {
    Step { text, of_it: true, may: &[DEADLOCK, LOG_FULL] }
}

const fn ready(text: &'static str) -> Step {
    Step { text, of_it: false, may: &[DEADLOCK, SIZE_NOT_LARGER] }
}

/// Something that goes on while sessions write.
pub(crate) struct Activity {
    pub(crate) name: &'static str,
    /// Before the ledgers' sessions begin.
    before: &'static [&'static str],
    /// By turns, until the kill.
    steps: &'static [Step],
    within: KillEvidence,
    /// What a transaction of the ledgers may be refused with, all of it.
    pub(crate) refusals: &'static [&'static str],
    /// The longest until the kill.
    pub(crate) pause_ms: u64,
}

/// Every activity.
pub(crate) const ACTIVITIES: &[Activity] = &[
    Activity {
        name: "the log grows",
        before: &[SHORT_LOG, SMALL_STEPS],
        steps: &[
            step(
                "BEGIN TRANSACTION; INSERT dbo.Room (filler) SELECT TOP (1500) 'grown' \
                 FROM master..spt_values a CROSS JOIN (VALUES (1), (2)) b (n)",
            ),
            ready("ROLLBACK TRANSACTION"),
            ready(SHORT_LOG),
        ],
        within: KillEvidence::Longer,
        refusals: &[DEADLOCK],
        pause_ms: 300,
    },
    Activity {
        name: "the log wraps",
        before: &[SHORT_LOG, NO_GROWTH],
        steps: &[
            small("INSERT dbo.Room (filler) SELECT TOP (15) 'again' FROM master..spt_values"),
            small("DELETE dbo.Room"),
        ],
        within: KillEvidence::Wrapped,
        refusals: &[DEADLOCK, LOG_FULL],
        pause_ms: 600,
    },
    Activity {
        name: "DBCC SHRINKFILE of the log",
        before: &[SHORT_LOG, SMALL_STEPS],
        steps: &[
            ready("ALTER DATABASE Kills MODIFY FILE (NAME = Kills_log, SIZE = 12MB)"),
            step("DBCC SHRINKFILE (Kills_log, 4) WITH NO_INFOMSGS"),
            step("DBCC SHRINKFILE (Kills_log, 1) WITH NO_INFOMSGS"),
        ],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 200,
    },
    Activity {
        name: "CHECKPOINT",
        before: &[USUAL_GROWTH],
        steps: &[step("CHECKPOINT")],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 150,
    },
    Activity {
        name: "ALTER INDEX REBUILD",
        before: &[USUAL_GROWTH],
        steps: &[
            step("ALTER INDEX PK_T ON dbo.T REBUILD"),
            step("ALTER INDEX IX_T ON dbo.T REBUILD"),
            step("ALTER INDEX ALL ON dbo.B REBUILD"),
        ],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 300,
    },
    Activity {
        name: "ALTER INDEX REBUILD WITH (FILLFACTOR)",
        before: &[USUAL_GROWTH],
        steps: &[
            step("ALTER INDEX ALL ON dbo.T REBUILD WITH (FILLFACTOR = 40)"),
            step("ALTER INDEX PK_B ON dbo.B REBUILD WITH (FILLFACTOR = 70)"),
            step("ALTER INDEX IX_T ON dbo.T REBUILD WITH (FILLFACTOR = 100)"),
        ],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 300,
    },
    Activity {
        name: "CREATE INDEX and DROP INDEX",
        before: &[USUAL_GROWTH, "DROP INDEX IF EXISTS IX_Late ON dbo.T, IX_Late ON dbo.B"],
        steps: &[
            step("CREATE INDEX IX_Late ON dbo.T (id, v)"),
            step("CREATE UNIQUE INDEX IX_Late ON dbo.B (filler, id) WITH (FILLFACTOR = 80)"),
            step("DROP INDEX IX_Late ON dbo.T"),
            step("DROP INDEX IX_Late ON dbo.B"),
        ],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 300,
    },
    Activity {
        name: "ALTER INDEX REBUILD WITH (ONLINE = ON)",
        before: &[USUAL_GROWTH],
        steps: &[
            step("ALTER INDEX PK_T ON dbo.T REBUILD WITH (ONLINE = ON)"),
            step("ALTER INDEX IX_T ON dbo.T REBUILD WITH (ONLINE = ON)"),
            step("ALTER INDEX IX_B ON dbo.B REBUILD WITH (ONLINE = ON, FILLFACTOR = 60)"),
        ],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 300,
    },
    Activity {
        name: "CREATE INDEX WITH (ONLINE = ON)",
        before: &[USUAL_GROWTH, "DROP INDEX IF EXISTS IX_On ON dbo.T, IX_On ON dbo.B"],
        steps: &[
            step("CREATE INDEX IX_On ON dbo.T (id, v) WITH (ONLINE = ON)"),
            step("CREATE INDEX IX_On ON dbo.B (filler) WITH (ONLINE = ON)"),
            ready("DROP INDEX IX_On ON dbo.T"),
            ready("DROP INDEX IX_On ON dbo.B"),
        ],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 300,
    },
    Activity {
        name: "CREATE and DROP of a clustered index WITH (ONLINE = ON)",
        before: &[
            USUAL_GROWTH,
            "DROP TABLE IF EXISTS dbo.H; SELECT id, v, filler INTO dbo.H FROM dbo.B; \
             CREATE INDEX IX_H ON dbo.H (v)",
        ],
        steps: &[
            step("CREATE CLUSTERED INDEX CX_H ON dbo.H (v, id) WITH (ONLINE = ON)"),
            ready("UPDATE dbo.H SET v = v + 1 WHERE id % 3 = 0"),
            step(
                "CREATE CLUSTERED INDEX CX_H ON dbo.H (filler) \
                 WITH (ONLINE = ON, DROP_EXISTING = ON)",
            ),
            step("DROP INDEX CX_H ON dbo.H WITH (ONLINE = ON)"),
            step("ALTER TABLE dbo.H REBUILD WITH (ONLINE = ON)"),
        ],
        within: KillEvidence::Asked,
        refusals: &[DEADLOCK],
        pause_ms: 300,
    },
];

/// The kills of one activity.
#[derive(Clone, Debug)]
pub(crate) struct ActivityKills {
    pub(crate) name: &'static str,
    pub(crate) kills: u32,
    /// Those that came within it.
    pub(crate) within: u32,
    /// Statements of it that were answered.
    pub(crate) answered: u64,
    /// What the server said instead of doing it.
    pub(crate) refused: Option<String>,
}

impl ActivityKills {
    fn of(activity: &Activity) -> ActivityKills {
        let (kills, within, answered) = (0, 0, 0);
        ActivityKills { name: activity.name, kills, within, answered, refused: None }
    }
}

/// Virtual log files: how many, and the number of the newest.
#[derive(Clone, Copy, Debug)]
struct LogFiles {
    count: i64,
    newest: i64,
}

fn log_files(client: &mut Client) -> Outcome<LogFiles> {
    let of = "FROM sys.dm_db_log_info(DB_ID('Kills'))";
    let count = number(client, &format!("SELECT COUNT_BIG(*) {of}"))?;
    let newest = format!("SELECT CAST(MAX(vlf_sequence_number) AS bigint) {of}");
    Ok(LogFiles { count, newest: number(client, &newest)? })
}

/// The session that is at one of them.
pub(crate) struct FifthSession {
    activity: &'static Activity,
    client: Client,
    log: PathBuf,
    at_first: LogFiles,
}

/// Where the kill found it.
pub(crate) struct InterruptedActivity {
    pub(crate) answered: u64,
    asked: bool,
    longer: bool,
    at_first: LogFiles,
}

/// Runs each once: those that the server does not know are refused by name.
pub(crate) fn try_all(server: &mut ServerProcess, log: &Path) -> Outcome<Vec<ActivityKills>> {
    let mut told = Vec::new();
    for activity in ACTIVITIES {
        let mut tried = ActivityKills::of(activity);
        let mut fifth = FifthSession::begin(server, activity, log)?;
        for step in activity.steps {
            let answer = fifth.client.batch(step.text).map_err(|e| e.to_string())?;
            match answer.errors.first() {
                Some(error) if error.starts_with(UNSUPPORTED) => {
                    tried.refused = Some(error.clone());
                    break;
                }
                Some(error) => return Err(format!("{}: {error}", step.text)),
                None => {}
            }
        }
        told.push(tried);
    }
    Ok(told)
}

impl FifthSession {
    /// Makes ready for an activity.
    pub(crate) fn begin(
        server: &mut ServerProcess,
        activity: &'static Activity,
        log: &Path,
    ) -> Outcome<FifthSession> {
        let mut client = server.client()?;
        for text in ["USE Kills"].iter().chain(activity.before) {
            asked(&mut client, text)?;
        }
        let at_first = log_files(&mut client)?;
        Ok(FifthSession { activity, client, log: log.to_owned(), at_first })
    }

    /// At it until the connection breaks.
    pub(crate) fn work(mut self) -> Outcome<InterruptedActivity> {
        let length = || fs::metadata(&self.log).map_or(0, |file| file.len());
        let mut left = InterruptedActivity {
            answered: 0,
            asked: false,
            longer: false,
            at_first: self.at_first,
        };
        for step in self.activity.steps.iter().cycle() {
            let before = length();
            // An error of the connection is the kill.
            let Ok(answer) = self.client.batch(step.text) else {
                left.asked = step.of_it;
                left.longer = length() > before;
                break;
            };
            match answer.errors.first() {
                Some(error) if !step.may.iter().any(|may| error.starts_with(may)) => {
                    return Err(format!("{}: {error}", step.text));
                }
                _ => left.answered += u64::from(step.of_it),
            }
        }
        Ok(left)
    }
}

impl Activity {
    /// Whether the kill came within it; the server has recovered.
    pub(crate) fn met(&self, left: &InterruptedActivity, client: &mut Client) -> Outcome<bool> {
        Ok(match self.within {
            KillEvidence::Asked => left.asked,
            KillEvidence::Longer => left.asked && left.longer,
            KillEvidence::Wrapped => {
                let now = log_files(client)?;
                now.newest - left.at_first.newest >= left.at_first.count
            }
        })
    }
}
