//! versions.1, ghosts under each rule: the loop that gives one row 123,455 new keys, what its index
//! consists of right after, and when cleanup ran.
//!
//! The default rule removes a ghost when no snapshot lies in its life: one page, whatever is open.
//! STATEMENT waits for the statements that run, TRANSACTION for every transaction that is open; the
//! index under TRANSACTION has known figures, to the last digit.

use crate::ground::client::{Client, asked};
use crate::ground::figure::{Figure, Measure, failed};
use crate::ground::program::{Ground, ServerProcess};
use crate::ground::scene::{script, session};
use checks::Outcome;
use std::thread;
use std::time::{Duration, Instant};

const CPU_SECONDS_MAX: f64 = 120.0;
/// Cleanup looks once a second, at some pages.
const CLEANUP: Duration = Duration::from_secs(60);
/// Level, pages, used %, bytes of a record, rows, ghosts, versions, ghosts of versions. Of the
/// levels above the leaf nobody says the last three.
const HELD: [&str; 3] =
    ["0|823|50.0148|25|1|0|123455|123455", "1|2|66.0675|11|823", "2|1|0.2965|11|2"];

/// A database of its own, and the first session in it.
struct Story<'a> {
    ground: &'a Ground<'a>,
    server: ServerProcess,
    session: Client,
}

pub(crate) fn run(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let parts: [(&str, Measure); 4] = [
        ("locking, the default rule", locking),
        ("RCSI, the default rule", interval),
        ("RCSI beside an open transaction, STATEMENT", statement),
        ("RCSI beside an open transaction, TRANSACTION", transaction),
    ];
    let figures = parts.into_iter().flat_map(|(what, part)| {
        let told = part(ground).unwrap_or_else(|why| vec![failed("", why)]);
        told.into_iter()
            .map(move |figure| Figure { what: format!("{what}{}", figure.what), ..figure })
    });
    Ok(figures.collect())
}

fn locking(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut story = Story::begin(ground, None)?;
    story.run(&["one_row/2_table.sql", "versions/loop.sql"])?;
    let found = story.shape()?;
    let limit = "0|1|0.1359|11|1|0|0|0";
    story.server.stop()?;
    Ok(vec![figure("", found.join(", "), limit, found == [limit])])
}

fn interval(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut story = Story::begin(ground, None)?;
    story.run(&["versions/rcsi.sql", "one_row/2_table.sql", "versions/loop.sql"])?;
    let found = story.shape()?;
    story.server.stop()?;
    Ok(vec![figure("", found.join(", "), "1 leaf page", leaf_pages(&found) == Some(1))])
}

fn statement(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut story = Story::begin(ground, Some("STATEMENT"))?;
    let (other, after, _) = story.beside_open()?;
    let cleaned = story.cleaned()?;
    drop(other);
    story.server.stop()?;
    Ok(vec![
        figure(
            ": right after",
            after.join(", "),
            "more than 2 leaf pages",
            leaf_pages(&after) > Some(2),
        ),
        figure(
            ": after cleanup, the transaction still open",
            cleaned.join(", "),
            "2 leaf pages",
            leaf_pages(&cleaned) == Some(2),
        ),
    ])
}

fn transaction(ground: &Ground<'_>) -> Outcome<Vec<Figure>> {
    let mut story = Story::begin(ground, Some("TRANSACTION"))?;
    let (mut other, after, cpu) = story.beside_open()?;
    let holds = after.len() == HELD.len()
        && after.iter().zip(HELD).all(|(found, wanted)| found.starts_with(wanted));
    asked(&mut other, "COMMIT TRANSACTION")?;
    let cleaned = story.cleaned()?;
    story.server.stop()?;
    let wanted = |row: &String| {
        let parts: Vec<&str> = row.split('|').collect();
        matches!(parts[..], ["0", "2", _, _, "1", "1", ..])
    };
    Ok(vec![
        figure(": right after", after.join(", "), &HELD.join(", "), holds),
        figure(
            ": CPU of the loop",
            format!("{cpu:.1} s"),
            &format!("{CPU_SECONDS_MAX} s"),
            cpu <= CPU_SECONDS_MAX,
        ),
        figure(
            ": after its end and cleanup",
            cleaned.join(", "),
            "2 leaf pages, 1 row, 1 ghost",
            cleaned.first().is_some_and(wanted),
        ),
    ])
}

impl Story<'_> {
    /// A server of its own, so that nothing but the story is open.
    fn begin<'a>(ground: &'a Ground<'a>, rule: Option<&str>) -> Outcome<Story<'a>> {
        let data = ground.folder("versions.1")?.join("data");
        let mut server = ServerProcess::start(&ground.binary()?, &data)?;
        drop(server.client()?);
        let session = session(&server, "master")?;
        let mut story = Story { ground, server, session };
        story.run(&["one_row/0_database.sql", "versions/options.sql"])?;
        if let Some(rule) = rule {
            let set = "ALTER DATABASE SCOPED CONFIGURATION SET GHOST_CLEANUP_RULE";
            asked(&mut story.session, &format!("{set} = {rule}"))?;
        }
        Ok(story)
    }

    fn run(&mut self, scripts: &[&str]) -> Outcome<()> {
        scripts.iter().try_for_each(|name| script(self.ground, &mut self.session, name).map(drop))
    }

    /// The loop while another session has a transaction open that has read another table: that
    /// session, the index right after, and the loop's CPU seconds.
    fn beside_open(&mut self) -> Outcome<(Client, Vec<String>, f64)> {
        asked(&mut self.session, "CREATE TABLE dbo.Elsewhere (id int)")?;
        self.run(&["versions/rcsi.sql", "one_row/2_table.sql"])?;
        let mut other = session(&self.server, "OneRow")?;
        script(self.ground, &mut other, "versions/open.sql")?;
        let before = self.server.cpu()?;
        self.run(&["versions/loop.sql"])?;
        let cpu = (self.server.cpu()? - before).as_secs_f64();
        Ok((other, self.shape()?, cpu))
    }

    /// A line for each level of the index.
    fn shape(&mut self) -> Outcome<Vec<String>> {
        let answer = script(self.ground, &mut self.session, "one_row/4_shape.sql")?;
        Ok(answer.texts.iter().map(|row| row.join("|")).collect())
    }

    /// The shape when the leaf level has come down to two pages, or does not in time.
    fn cleaned(&mut self) -> Outcome<Vec<String>> {
        let from = Instant::now();
        loop {
            let shape = self.shape()?;
            if leaf_pages(&shape) <= Some(2) || from.elapsed() > CLEANUP {
                return Ok(shape);
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
}

fn leaf_pages(shape: &[String]) -> Option<u32> {
    shape.first()?.split('|').nth(1)?.parse().ok()
}

fn figure(what: &str, figure: String, limit: &str, pass: bool) -> Figure {
    Figure { what: what.to_owned(), figure, limit: limit.to_owned(), pass }
}

#[cfg(test)]
mod tests {
    /// The leaf is the first level; where there is none, nothing is said.
    #[test]
    fn pages_of_the_leaf_level() {
        let shape = super::HELD.map(str::to_owned);
        assert_eq!(super::leaf_pages(&shape), Some(823));
        assert_eq!(super::leaf_pages(&[]), None);
    }
}
