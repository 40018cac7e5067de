//! The error log: a file `errorlog` of the data folder, a line a fact, with its time.

use os::clock;
use os::disk::{Disk, File, OpenHow};
use os::sync::Mutex;
use std::path::Path;
use std::sync::Arc;
use types::SqlType;
use types::datetime::Moment;

/// The error log of a process.
pub(crate) struct ErrorLog {
    file: Option<Arc<dyn File>>,
    end: Mutex<u64>,
}

/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = 719_162;
const DAY_NS: i64 = 86_400_000_000_000;

fn stamp() -> String {
    let ns = clock::now().0;
    let moment = Moment {
        days: (ns.div_euclid(DAY_NS) + UNIX_EPOCH_DAYS) as i32,
        ticks: (ns.rem_euclid(DAY_NS) / 100) as u64,
        offset: 0,
    };
    moment.to_value(SqlType::DateTime2(2)).map(|v| v.to_string()).unwrap_or_default()
}

impl ErrorLog {
    /// Opens the log; the one of the last start is kept as `errorlog.1`.
    pub(crate) fn open(disk: &dyn Disk, dir: &Path) -> ErrorLog {
        let path = dir.join("errorlog");
        if disk.exists(&path) {
            // Without the old log the new one is still worth having.
            let _ = disk.rename(&path, &dir.join("errorlog.1"));
        }
        let file = disk.open(&path, OpenHow { create: true, direct: false }).ok();
        ErrorLog { file, end: Mutex::new(0) }
    }

    /// Adds a line.
    pub(crate) fn line(&self, source: &str, text: &str) {
        let Some(file) = &self.file else { return };
        let line = format!("{} {source:<11} {text}\n", stamp());
        let mut end = self.end.lock();
        // A full disk must not stop the engine for the sake of its log.
        if file.write_at(line.as_bytes(), *end).is_ok() {
            *end += line.len() as u64;
        }
    }
}
