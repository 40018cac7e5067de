//! log.7, the log as a table: `fn_dblog` over a million records, summed by operation, as fast as
//! reading asks and in memory that does not depend on how many there are.

use crate::ground::client::asked;
use crate::ground::figure::{Figure, median};
use crate::ground::program::{Ground, ServerProcess, of_process};
use crate::ground::scene::{number, script, session};
use checks::Outcome;
use std::time::Instant;

const RECORDS: i64 = 1_000_000;
/// A row of the table is eight records: begin, six entries, commit.
const RECORDS_A_ROW: i64 = 8;
const REPETITIONS: usize = 5;
const RATE_MIN: f64 = 300_000.0;
/// What the server may grow by beside the blocks of a query's memory.
const GROWTH_KB_MAX: u64 = 4096;
const SUMS: &str = "SELECT SUM(n) FROM (SELECT Operation, Context, COUNT_BIG(*) AS n, \
    SUM(CAST([Log Record Length] AS bigint) + [Log Reserve]) AS bytes, COUNT(AllocUnitName) AS u \
    FROM fn_dblog(NULL, NULL) GROUP BY Operation, Context) AS summed";

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let work = ground.folder("log.7")?;
    let mut server = ServerProcess::start(&ground.binary()?, &work.join("data"))?;
    let mut first = server.client()?;
    asked(&mut first, "SELECT 1")?;
    let mut client = session(&server, "master")?;
    script(ground, &mut client, "write_path/0_setup.sql")?;
    asked(&mut client, "ALTER DATABASE WritePath SET DELAYED_DURABILITY = FORCED")?;
    asked(&mut client, "USE WritePath; CHECKPOINT")?;
    // An open transaction keeps what follows in the active log.
    let mut blocker = session(&server, "WritePath")?;
    asked(&mut blocker, "BEGIN TRANSACTION; EXEC dbo.AddPersons 1")?;
    let rows = ground.scaled(RECORDS) / RECORDS_A_ROW;
    asked(&mut client, &format!("EXEC dbo.AddPersons {}", rows / 10))?;
    let few = number(&mut client, SUMS)?;
    let before = peak_kb(&server)?;
    asked(&mut client, &format!("EXEC dbo.AddPersons {}", rows - rows / 10))?;
    let grown_by_rows = peak_kb(&server)?;
    let mut rates = Vec::new();
    let mut records = 0;
    for _ in 0..REPETITIONS {
        let began = Instant::now();
        records = number(&mut client, SUMS)?;
        rates.push(records as f64 / began.elapsed().as_secs_f64());
    }
    let after = peak_kb(&server)?;
    drop((client, blocker, first));
    server.stop()?;
    let rate = median(rates);
    let growth = after.saturating_sub(grown_by_rows);
    Ok(vec![
        Figure {
            what: format!("fn_dblog over {records} records, by operation, median of {REPETITIONS}"),
            figure: format!("{rate:.0} records a second"),
            limit: format!("{RATE_MIN:.0}{}", ground.of_the_whole()),
            pass: rate >= RATE_MIN && records >= RECORDS && ground.is_whole(),
        },
        Figure {
            what: format!(
                "peak memory after {few} records {before} KB; grown by reading {records}"
            ),
            figure: format!("{growth} KB"),
            limit: format!("{GROWTH_KB_MAX} KB"),
            pass: growth <= GROWTH_KB_MAX,
        },
    ])
}

fn peak_kb(server: &ServerProcess) -> Outcome<u64> {
    of_process(server.id(), "status", "VmHWM:").ok_or_else(|| "the server's memory".to_owned())
}
