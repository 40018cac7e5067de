//! What the error log says of the last recovery of a database: the phases and their milliseconds.

use crate::ground::client::{Client, asked};
use checks::Outcome;

/// Milliseconds of each phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Phases {
    pub(crate) analysis_ms: i64,
    pub(crate) redo_ms: i64,
    pub(crate) undo_ms: i64,
}

impl Phases {
    /// Of the last line that tells them; `None` where none does.
    pub(crate) fn of(said: &str) -> Option<Phases> {
        said.lines().rev().find_map(|line| {
            let ms = |phase: &str| {
                let after = line.split(&format!("{phase} ")).nth(1)?;
                after.split_once(" ms")?.0.trim().parse().ok()
            };
            let (analysis_ms, redo_ms) = (ms("analysis")?, ms("redo")?);
            Some(Phases { analysis_ms, redo_ms, undo_ms: ms("undo")? })
        })
    }

    /// Of a database, asked as the users ask.
    pub(crate) fn read(client: &mut Client, database: &str) -> Outcome<Phases> {
        let sql = format!("EXEC sp_readerrorlog 0, 1, N'{database}'");
        let rows = asked(client, &sql)?.texts;
        let lines: Vec<String> = rows.into_iter().filter_map(|mut row| row.pop()).collect();
        Phases::of(&lines.join("\n")).ok_or_else(|| "the error log tells no phases".to_owned())
    }
}

impl std::fmt::Display for Phases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Phases { analysis_ms, redo_ms, undo_ms } = self;
        write!(f, "analysis {analysis_ms} ms, redo {redo_ms} ms, undo {undo_ms} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::Phases;

    /// Each phase has its own number, in the last line that tells them.
    #[test]
    fn phases_of_the_last_recovery() {
        let line = |undo: u8| {
            format!(
                "Recovery completed for database d (database ID 5) in 2 second(s) (analysis 7 ms, \
                 redo 30 ms, undo {undo} ms [system undo 1 ms, regular undo 118 ms].)"
            )
        };
        let said = format!("{}\n{}\nParallel redo is shut down.", line(9), line(119));
        let last = Phases { analysis_ms: 7, redo_ms: 30, undo_ms: 119 };
        assert_eq!(Phases::of(&said), Some(last));
        assert_eq!(Phases::of("Starting up database 'd'."), None);
    }
}
