//! recovery.3, an update of every row that ends without its commit while the server runs: by
//! ROLLBACK, by KILL, by a cancellation, by a connection that is gone. Measured is the time until
//! it is done and another session has changed those very rows. The same of parts of a transaction:
//! savepoints, statements that are cancelled, statements that fail at their last row.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Part, measures, median};
use crate::ground::ledger::Random;
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{number, session};
use crate::recovery::big_table::{self, DATABASE, Options, TABLE, UPDATE};
use crate::recovery::kills;
use checks::Outcome;
use std::thread;
use std::time::{Duration, Instant};

const SIZES: [i64; 3] = [1_000_000, 5_000_000, 20_000_000];
/// Rows of a part of a transaction.
const PART_ROWS: i64 = 1_000_000;
const REPETITIONS: usize = 3;
/// Of a cancellation that is to come within the update.
const ATTEMPTS: usize = 5;
const DONE_MS_MAX: f64 = 100.0;
/// What a statement that fails may take against one that does not, and noise of the machine.
const FAILED_TIMES_MAX: f64 = 1.1;

/// How the transaction ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Rollback,
    Kill,
    /// An attention while the update runs, under XACT_ABORT.
    Cancel,
    /// The connection is gone while the session waits for its next batch.
    Lost,
    /// The connection is gone while the update runs.
    LostWithin,
}

const ENDS: [(End, &str); 5] = [
    (End::Rollback, "ROLLBACK"),
    (End::Kill, "KILL"),
    (End::Cancel, "a cancellation within the update"),
    (End::Lost, "a dropped connection"),
    (End::LostWithin, "a connection dropped within the update"),
];

struct Scene {
    server: ServerProcess,
    rows: i64,
    sum: i64,
    /// What the update of every row takes.
    whole: Duration,
    random: Random,
}

/// A part of a transaction that is undone; milliseconds.
type UndonePart = fn(&mut Scene) -> Outcome<f64>;

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    Ok(measures(ground, &[("transactions", transactions), ("parts", parts_of_transactions)]))
}

fn transactions(ground: &Ground<'_>) -> Part {
    let mut figures = Vec::new();
    for rows in SIZES {
        let mut scene = Scene::make(ground, rows)?;
        for (end, name) in ENDS {
            let mut all = Vec::new();
            for _ in 0..REPETITIONS {
                all.push(scene.ended(end).map_err(|why| format!("{name}: {why}"))?);
            }
            let what = format!("{} rows, {name}: done and writable by others", scene.rows);
            figures.push(figure(what, all));
        }
        scene.server.stop()?;
    }
    Ok(figures)
}

fn parts_of_transactions(ground: &Ground<'_>) -> Part {
    let mut scene = Scene::make(ground, PART_ROWS)?;
    let rows = scene.rows;
    let mut figures = Vec::new();
    let parts: [(&str, UndonePart); 3] = [
        ("ROLLBACK to a savepoint", Scene::savepoint),
        ("the second of three savepoints", Scene::savepoints),
        ("a statement that is cancelled", Scene::cancelled_statement),
    ];
    for (name, part) in parts {
        let mut all = Vec::new();
        for _ in 0..REPETITIONS {
            all.push(part(&mut scene).map_err(|why| format!("{name}: {why}"))?);
        }
        figures.push(figure(format!("{rows} rows, {name}: done"), all));
    }
    figures.push(scene.failed_statement()?);
    scene.server.stop()?;
    Ok(figures)
}

/// Milliseconds of each repetition, the middle one judged.
fn figure(what: String, all: Vec<f64>) -> Figure {
    let told: Vec<String> = all.iter().map(|ms| format!("{ms:.1}")).collect();
    let middle = median(all);
    Figure {
        what: format!("{what}, of {}", told.join(", ")),
        figure: format!("{middle:.1} ms"),
        limit: format!("{DONE_MS_MAX:.0} ms"),
        pass: middle <= DONE_MS_MAX,
    }
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

impl Scene {
    fn make(ground: &Ground<'_>, rows: i64) -> Outcome<Scene> {
        let data = ground.folder("recovery.3")?.join("data");
        let rows = ground.scaled(rows).max(20_000);
        let mut server = ServerProcess::start(&ground.binary()?, &data)?;
        let mut client = server.client()?;
        big_table::make(ground, &mut client, rows)?;
        asked(&mut client, "USE master")?;
        Options::ACCELERATED.set(&mut client, DATABASE)?;
        let mut client = session(&server, DATABASE)?;
        let sum = big_table::sum(&mut client)? + rows;
        let began = Instant::now();
        asked(&mut client, UPDATE)?;
        let (whole, random) = (began.elapsed(), Random(kills::any_seed()));
        Ok(Scene { server, rows, sum, whole, random })
    }

    /// A moment of the update, not quite at its begin.
    fn drawn(&mut self) -> Duration {
        self.whole.mul_f64(0.2 + self.random.below(700) as f64 / 1_000.0)
    }

    /// One transaction and its end; milliseconds from the order to another session's change of its
    /// rows. Afterwards each index has what was there before.
    fn ended(&mut self, end: End) -> Outcome<f64> {
        let mut other = session(&self.server, DATABASE)?;
        let mut took = None;
        for _ in 0..ATTEMPTS {
            took = self.ended_within(end, &mut other)?;
            big_table::is_as_before(&mut other, self.sum)?;
            big_table::until_map_is_empty(&mut other, DATABASE)?;
            big_table::is_as_before(&mut other, self.sum)?;
            if took.is_some() {
                break;
            }
        }
        took.ok_or_else(|| format!("the update was over before the end came, {ATTEMPTS} times"))
    }

    /// The same; `None` where a cancellation came behind the end of the update.
    fn ended_within(&mut self, end: End, other: &mut Client) -> Outcome<Option<f64>> {
        let within = self.drawn();
        let mut client = session(&self.server, DATABASE)?;
        let text = "SET XACT_ABORT ON; BEGIN TRANSACTION; SELECT CAST(@@SPID AS int)";
        let spid = number(&mut client, text)?;
        client.send_batch(UPDATE).map_err(|e| format!("{UPDATE}: {e}"))?;
        if matches!(end, End::Cancel | End::LostWithin) {
            thread::sleep(within);
        } else {
            client.forget_answer().map_err(|e| format!("{UPDATE}: {e}"))?;
        }
        let began = Instant::now();
        match end {
            End::Rollback => drop(asked(&mut client, "ROLLBACK TRANSACTION")?),
            End::Kill => drop(asked(other, &format!("KILL {spid}"))?),
            End::Cancel if !cancelled(&mut client)? => {
                asked(&mut client, "ROLLBACK TRANSACTION")?;
                // The update is faster than it was: the next end comes earlier.
                self.whole = self.whole.mul_f64(0.6);
                return Ok(None);
            }
            End::Cancel => {}
            End::Lost | End::LostWithin => drop(client),
        }
        asked(other, &big_table::touch_some(self.rows))?;
        Ok(Some(ms(began)))
    }

    /// All rows behind a savepoint; the transaction goes on and commits.
    fn savepoint(&mut self) -> Outcome<f64> {
        let mut client = session(&self.server, DATABASE)?;
        asked(&mut client, "BEGIN TRANSACTION; SAVE TRANSACTION here")?;
        asked(&mut client, UPDATE)?;
        let began = Instant::now();
        asked(&mut client, "ROLLBACK TRANSACTION here")?;
        let took = ms(began);
        self.goes_on(&mut client, 0)?;
        Ok(took)
    }

    /// An update of every row behind each of three savepoints; the last two updates go.
    fn savepoints(&mut self) -> Outcome<f64> {
        let mut client = session(&self.server, DATABASE)?;
        asked(&mut client, "BEGIN TRANSACTION")?;
        for name in ["one", "two", "three"] {
            asked(&mut client, &format!("SAVE TRANSACTION {name}"))?;
            asked(&mut client, UPDATE)?;
        }
        let began = Instant::now();
        asked(&mut client, "ROLLBACK TRANSACTION two")?;
        let took = ms(began);
        self.goes_on(&mut client, 1)?;
        Ok(took)
    }

    /// The batch ends, the transaction stays.
    fn cancelled_statement(&mut self) -> Outcome<f64> {
        let within = self.drawn();
        let mut client = session(&self.server, DATABASE)?;
        asked(&mut client, "SET XACT_ABORT OFF; BEGIN TRANSACTION")?;
        client.send_batch(UPDATE).map_err(|e| format!("{UPDATE}: {e}"))?;
        thread::sleep(within);
        let began = Instant::now();
        let within = cancelled(&mut client)?;
        let took = ms(began);
        // One that had ended before the attention came was not undone.
        self.goes_on(&mut client, i64::from(!within))?;
        Ok(took)
    }

    /// A statement that fails at its last row takes no longer than one that does not.
    fn failed_statement(&mut self) -> Outcome<Figure> {
        let fails = format!(
            "UPDATE {TABLE} SET Quantity = Quantity + 1 / IIF(TransactionID = {}, 0, 1)",
            self.rows
        );
        let (mut failed, mut done) = (Vec::new(), Vec::new());
        for _ in 0..REPETITIONS {
            let mut client = session(&self.server, DATABASE)?;
            asked(&mut client, "SET XACT_ABORT OFF; BEGIN TRANSACTION")?;
            let began = Instant::now();
            let answer = client.batch(&fails).map_err(|e| format!("{fails}: {e}"))?;
            failed.push(ms(began));
            if !answer.errors.iter().any(|error| error.starts_with("8134: ")) {
                return Err(format!("{fails}: {:?}", answer.errors));
            }
            self.goes_on(&mut client, 0)?;
            asked(&mut client, "BEGIN TRANSACTION")?;
            let began = Instant::now();
            asked(&mut client, UPDATE)?;
            done.push(ms(began));
            asked(&mut client, "ROLLBACK TRANSACTION")?;
            big_table::until_map_is_empty(&mut client, DATABASE)?;
        }
        let (failed, done) = (median(failed), median(done));
        let limit = done * FAILED_TIMES_MAX + DONE_MS_MAX;
        Ok(Figure {
            what: format!(
                "{} rows, a statement that fails at its last row, against {done:.0} ms of one that \
                 does not",
                self.rows
            ),
            figure: format!("{failed:.0} ms"),
            limit: format!("{limit:.0} ms: {FAILED_TIMES_MAX} x and {DONE_MS_MAX:.0} ms"),
            pass: failed <= limit,
        })
    }

    /// Behind a part that was undone, its transaction has so many updates of every row. It makes
    /// one change of its own, commits, and takes both back: nothing is left over, by each index.
    fn goes_on(&mut self, client: &mut Client, updates: i64) -> Outcome<()> {
        big_table::is_as_before(client, self.sum + updates * self.rows)?;
        let one = |by: i64| {
            format!("UPDATE {TABLE} SET Quantity = Quantity + {by} WHERE TransactionID = 1")
        };
        asked(client, &one(7))?;
        asked(client, "COMMIT TRANSACTION")?;
        big_table::is_as_before(client, self.sum + updates * self.rows + 7)?;
        asked(client, &one(-7))?;
        self.sum += updates * self.rows;
        big_table::until_map_is_empty(client, DATABASE)?;
        big_table::is_as_before(client, self.sum)
    }
}

/// True where the attention came within the batch.
fn cancelled(client: &mut Client) -> Outcome<bool> {
    let sent = client.attention().and_then(|()| client.acknowledged());
    sent.map_err(|e| format!("attention: {e}"))
}
