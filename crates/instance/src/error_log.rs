//! The error log: a file `errorlog` of the data folder, a line a fact, with its time. Those before
//! are `errorlog.1`, the newest, to `errorlog.6`, as SQL Server keeps them.
//!
//! Invariants
//!  1. A fact is one line, whatever names and texts of clients are in it: what ends a line, moves a
//!     terminal's cursor or turns its writing around is written as an escape, here and for all.
//!  2. A report has several lines; each behind the first is indented, so none passes for a fact.
//!  3. A line is no longer than [`LINE_BYTES_MAX`] and what its escapes add.

use base::SqlError;
use os::clock;
use os::disk::{Disk, File, OpenMode};
use os::sync::Mutex;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use types::SqlType;
use types::datetime::Moment;

/// How many of those before are kept.
const KEPT: u32 = 6;

/// The error log of a process.
pub(crate) struct ErrorLog {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    current: Mutex<CurrentFile>,
}

/// The file that is written, and where it ends.
#[derive(Default)]
struct CurrentFile {
    file: Option<Arc<dyn File>>,
    end: u64,
}

/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = 719_162;
const DAY_NS: i64 = 86_400_000_000_000;
/// `2026-11-24 14:00:00.00`, as SQL Server writes it.
const STAMP_BYTES: usize = 22;

fn stamp() -> String {
    let ns = clock::now().0;
    let moment = Moment {
        days: (ns.div_euclid(DAY_NS) + UNIX_EPOCH_DAYS) as i32,
        ticks: (ns.rem_euclid(DAY_NS) / 100) as u64,
        offset: 0,
    };
    let mut text =
        moment.to_value(SqlType::DateTime2(2)).map(|v| v.to_string()).unwrap_or_default();
    text.truncate(STAMP_BYTES);
    text
}

impl ErrorLog {
    /// Opens the log anew; that of the last start is kept.
    pub(crate) fn open(disk: &Arc<dyn Disk>, dir: &Path) -> ErrorLog {
        let (disk, dir) = (Arc::clone(disk), dir.to_owned());
        let log = ErrorLog { disk, dir, current: Mutex::default() };
        // Without the old logs, or without a new one, the engine is still worth having.
        let _ = log.cycle();
        log
    }

    fn path(&self, number: u32) -> PathBuf {
        match number {
            0 => self.dir.join("errorlog"),
            n => self.dir.join(format!("errorlog.{n}")),
        }
    }

    /// Begins a new file; each before gets the next number, the last one goes.
    ///
    /// # Errors
    /// The operating system's. The log goes on in the file that it has.
    pub(crate) fn cycle(&self) -> io::Result<()> {
        let mut current = self.current.lock();
        for number in (0..KEPT).rev() {
            let path = self.path(number);
            if self.disk.exists(&path) {
                self.disk.rename(&path, &self.path(number + 1))?;
            }
        }
        let how = OpenMode { create: true, direct: false };
        *current = CurrentFile { file: Some(self.disk.open(&self.path(0), how)?), end: 0 };
        Ok(())
    }

    /// A file of the log, and where it ends now; `None` where there is none of that number.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn file(&self, number: u32) -> io::Result<Option<(Arc<dyn File>, u64)>> {
        if number == 0 {
            let current = self.current.lock();
            return Ok(current.file.as_ref().map(|file| (Arc::clone(file), current.end)));
        }
        let path = self.path(number);
        if number > KEPT || !self.disk.exists(&path) {
            return Ok(None);
        }
        let file = self.disk.open(&path, OpenMode { create: false, direct: false })?;
        let end = file.len()?;
        Ok(Some((file, end)))
    }

    /// Adds an error and those that explain it: its number on a line, its text on the next.
    pub(crate) fn error(&self, source: &str, e: &SqlError) {
        e.earlier().iter().for_each(|earlier| self.error(source, earlier));
        if e.severity() > 10 {
            let [number, severity, state] = [e.number(), e.severity().into(), e.state().into()];
            let line = format!("Error: {number}, Severity: {severity}, State: {state}.");
            self.line(source, &line);
        }
        self.line(source, e.text());
    }

    /// Adds a fact: invariant 1.
    pub(crate) fn line(&self, source: &str, text: &str) {
        self.write(&format!("{} {source:<11} {}\n", stamp(), one_line(text)));
    }

    /// Adds a report: invariant 2.
    pub(crate) fn report(&self, source: &str, text: &str) {
        let lines: Vec<String> = text.lines().map(one_line).collect();
        self.write(&format!("{} {source:<11} {}\n", stamp(), lines.join("\n    ")));
    }

    fn write(&self, line: &str) {
        let mut current = self.current.lock();
        let end = current.end;
        let Some(file) = &current.file else { return };
        // A full disk must not stop the engine for the sake of its log.
        if file.write_at(line.as_bytes(), end).is_ok() {
            current.end += line.len() as u64;
        }
    }
}

/// The longest text of a line; of a longer one the beginning is written.
const LINE_BYTES_MAX: usize = 16 << 10;

/// A text as it can stand in a line.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(LINE_BYTES_MAX));
    for (at, c) in text.char_indices() {
        if at >= LINE_BYTES_MAX {
            line.push_str(&format!("… ({} bytes more)", text.len() - at));
            break;
        }
        match c {
            '\n' => line.push_str("\\n"),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            c if misleads(c) => line.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => line.push(c),
        }
    }
    line
}

/// Control characters, those that end lines or paragraphs, those that change the direction of
/// writing, and those that take no room.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{200b}'..='\u{200f}' | '\u{feff}')
        || matches!(c, '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{LINE_BYTES_MAX, one_line};

    /// Invariants 1 and 3: nothing of a client's makes a line of its own.
    #[test]
    fn a_text_is_one_line_whatever_is_in_it() {
        let cases = [
            ("sa'\n2026-01-01 00:00:00.00 Server", "sa'\\n2026-01-01 00:00:00.00 Server"),
            ("a\r\nb\tc\0", "a\\r\\nb\\tc\\u{0}"),
            ("\u{1b}[2J\u{9b}31m", "\\u{1b}[2J\\u{9b}31m"),
            ("\u{85}\u{2028}\u{2029}\u{202e}x", "\\u{85}\\u{2028}\\u{2029}\\u{202e}x"),
            ("Grüße, 漢字 \u{1f600}", "Grüße, 漢字 \u{1f600}"),
        ];
        for (text, line) in cases {
            assert_eq!(one_line(text), line);
        }
        let long = one_line(&"é".repeat(LINE_BYTES_MAX));
        assert!(long.ends_with(&format!("é… ({LINE_BYTES_MAX} bytes more)")), "{}", long.len());
    }
}
