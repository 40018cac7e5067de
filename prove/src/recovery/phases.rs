//! What the error log says of the last recovery of a database: the phases and their milliseconds.

use crate::ground::client::{Client, asked};
use checks::Outcome;

/// Milliseconds of each phase. Analysis and redo may be one pass, which the log tells as one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Phases {
    pub(crate) analysis_and_redo_ms: f64,
    pub(crate) undo_ms: f64,
}

impl Phases {
    /// Of the last line that tells them; `None` where none does.
    pub(crate) fn of(said: &str) -> Option<Phases> {
        said.lines().rev().find_map(|line| {
            let ms = |phase: &str| -> Option<f64> {
                let begin = format!("{phase} ");
                let number = |after: &str| after.split_once(" ms")?.0.trim().parse().ok();
                line.split(&begin).skip(1).find_map(number)
            };
            let analysis_and_redo_ms = ms("redo")? + ms("analysis").unwrap_or(0.0);
            Some(Phases { analysis_and_redo_ms, undo_ms: ms("undo")? })
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
        let Phases { analysis_and_redo_ms, undo_ms } = self;
        write!(f, "analysis and redo {analysis_and_redo_ms} ms, undo {undo_ms} ms")
    }
}

#[cfg(test)]
mod tests {
    use super::Phases;

    /// Each phase has its own number, in the last line that tells them; two that are one pass, too.
    #[test]
    fn phases_of_the_last_recovery() {
        let line = |undo: u8| {
            format!(
                "Recovery completed for database d (database ID 5) in 2 second(s) (analysis 7 ms, \
                 redo 30 ms, undo {undo} ms [system undo 1 ms, regular undo 118 ms].)"
            )
        };
        let said = format!("{}\n{}\nParallel redo is shut down.", line(9), line(119));
        let last = |analysis_and_redo_ms, undo_ms| Some(Phases { analysis_and_redo_ms, undo_ms });
        assert_eq!(Phases::of(&said), last(37.0, 119.0));
        let said = "Recovery of database 'd': analysis and redo 12.5 ms (3 groups), undo 0.1 ms.";
        assert_eq!(Phases::of(said), last(12.5, 0.1));
        assert_eq!(Phases::of("Starting up database 'd'."), None);
    }
}
