//! The error log: a file `errorlog` of the data folder, a line a fact, with its time. Those before
//! are `errorlog.1`, the newest, to `errorlog.6`, as SQL Server keeps them.

use os::clock;
use os::disk::{Disk, File, OpenHow};
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
    current: Mutex<Current>,
}

/// The file that is written, and where it ends.
#[derive(Default)]
struct Current {
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
        let how = OpenHow { create: true, direct: false };
        *current = Current { file: Some(self.disk.open(&self.path(0), how)?), end: 0 };
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
        let file = self.disk.open(&path, OpenHow { create: false, direct: false })?;
        let end = file.len()?;
        Ok(Some((file, end)))
    }

    /// Adds a line.
    pub(crate) fn line(&self, source: &str, text: &str) {
        let line = format!("{} {source:<11} {text}\n", stamp());
        let mut current = self.current.lock();
        let end = current.end;
        let Some(file) = &current.file else { return };
        // A full disk must not stop the engine for the sake of its log.
        if file.write_at(line.as_bytes(), end).is_ok() {
            current.end += line.len() as u64;
        }
    }
}
