//! The settings of a database's two files, and their effect.
//!
//! `space` and `wal`, which extend the files, know how far a file may grow. Only views know its
//! name. The settings in a file's row (`catalog::FileSetting`) are applied when the database is
//! opened. Until then, during recovery, files grow by the instance's defaults: undo is never
//! refused because of a limit.

use crate::create::Sizing;
use crate::database::Database;
use base::limits::PAGE_BYTES;
use base::{DatabaseId, FileId, SqlError, SqlResult, messages};
use catalog::{Changes, FileGrowth, FileOwner, FileSetting};
use space::{GrowthOptions, SpaceError};
use std::path::Path;
use wal::{LOG_BYTES_MAX, LogOptions};
use work::Work;

/// The data file.
pub const DATA_FILE: FileId = FileId(1);
/// The log.
pub const LOG_FILE: FileId = FileId(2);

const PAGE: u64 = PAGE_BYTES as u64;

/// Facts of a file that only views and the next start need.
#[derive(Clone, Debug)]
pub(crate) struct FileNote {
    name: Box<str>,
    bytes_at_start: Option<u64>,
}

/// The logical names of files that were not named.
pub(crate) fn named_at_first(id: DatabaseId, database: &str) -> [FileNote; 2] {
    let log = format!("{database}_log");
    let names = match id {
        DatabaseId(1) => ["master", "mastlog"],
        DatabaseId(2) => ["tempdev", "templog"],
        DatabaseId(3) => ["modeldev", "modellog"],
        DatabaseId(4) => ["MSDBData", "MSDBLog"],
        _ => [database, &log],
    };
    names.map(|name| FileNote { name: name.into(), bytes_at_start: None })
}

fn note_of(file: FileId) -> usize {
    assert!(file == DATA_FILE || file == LOG_FILE, "a database has two files");
    usize::from(file == LOG_FILE)
}

fn pages(bytes: u64) -> u32 {
    u32::try_from(bytes / PAGE).unwrap_or(u32::MAX)
}

/// The growth of a data file for `space`.
fn data_growth(setting: &FileSetting) -> GrowthOptions {
    let most = GrowthOptions::default().max_pages;
    let (pages_at_a_time, percent) = match setting.growth {
        FileGrowth::Bytes(bytes) => (pages(bytes), 0),
        FileGrowth::Percent(percent) => (0, percent),
    };
    let max_pages = setting.bytes_max.map_or(most, |bytes| pages(bytes).min(most));
    GrowthOptions { pages: pages_at_a_time, percent, max_pages }
}

/// The growth of a log for `wal`.
fn log_growth(setting: &FileSetting) -> LogOptions {
    let (growth_bytes, growth_percent) = match setting.growth {
        FileGrowth::Bytes(bytes) => (bytes, 0),
        FileGrowth::Percent(percent) => (0, percent),
    };
    let max_bytes = setting.bytes_max.unwrap_or(LOG_BYTES_MAX).min(LOG_BYTES_MAX);
    LogOptions { growth_bytes, growth_percent, max_bytes, ..LogOptions::default() }
}

fn growth(bytes: u64, percent: u32) -> FileGrowth {
    match percent {
        0 => FileGrowth::Bytes(bytes),
        percent => FileGrowth::Percent(percent),
    }
}

fn of_data(g: GrowthOptions) -> (Option<u64>, FileGrowth) {
    let most = Some(g.max_pages).filter(|n| *n < GrowthOptions::default().max_pages);
    (most.map(|n| u64::from(n) * PAGE), growth(u64::from(g.pages) * PAGE, g.percent))
}

fn of_log(o: LogOptions) -> (Option<u64>, FileGrowth) {
    let most = Some(o.max_bytes).filter(|n| *n < LOG_BYTES_MAX);
    (most, growth(o.growth_bytes, o.growth_percent))
}

impl Sizing {
    /// The setting of a file for which only a name was given.
    pub fn setting(&self, file: FileId, name: &str) -> FileSetting {
        let (bytes_max, growth) =
            if file == LOG_FILE { of_log(self.log) } else { of_data(self.data_growth) };
        FileSetting { name: name.into(), bytes_max, growth, bytes_at_start: None }
    }

    /// Applies a growth setting to a file that will be made.
    pub fn grow_as(&mut self, file: FileId, setting: &FileSetting) {
        match file == LOG_FILE {
            true => {
                let LogOptions { initial_bytes, durable, .. } = self.log;
                self.log = LogOptions { initial_bytes, durable, ..log_growth(setting) };
            }
            false => self.data_growth = data_growth(setting),
        }
    }
}

impl Database {
    /// A file by its logical name, in any case.
    pub fn file_by_name(&self, name: &str) -> Option<FileId> {
        let wanted = name.to_lowercase();
        let notes = self.file_notes.read();
        [DATA_FILE, LOG_FILE].into_iter().find(|f| notes[note_of(*f)].name.to_lowercase() == wanted)
    }

    /// A file's name, growth and limit.
    pub fn file_setting(&self, file: FileId) -> FileSetting {
        let FileNote { name, bytes_at_start } = self.file_notes.read()[note_of(file)].clone();
        let (bytes_max, growth) = match file == LOG_FILE {
            true => of_log(self.log.options()),
            false => of_data(self.space.growth(DATA_FILE).unwrap_or_default()),
        };
        FileSetting { name, bytes_max, growth, bytes_at_start }
    }

    /// The length of a file.
    pub fn file_bytes(&self, file: FileId) -> u64 {
        match file == LOG_FILE {
            true => self.log.usage().total_bytes,
            false => u64::from(self.space.size_pages(DATA_FILE).unwrap_or(0)) * PAGE,
        }
    }

    /// The path of a file.
    pub fn file_path(&self, file: FileId) -> &Path {
        if file == LOG_FILE { &self.files.log } else { &self.files.data }
    }

    /// Applies a growth setting from now on.
    ///
    /// # Errors
    /// The file's length, if it exceeds the limit. Nothing is changed then.
    pub fn limit_file(&self, file: FileId, setting: &FileSetting) -> Result<(), u64> {
        match file == LOG_FILE {
            true => self.log.set_growth(&log_growth(setting)),
            false => {
                let limited = self.space.limit_growth(DATA_FILE, data_growth(setting));
                limited.map_err(|pages| u64::from(pages) * PAGE)
            }
        }
    }

    /// Extends a file to a length, whatever its limit is, unless it is longer.
    ///
    /// # Errors
    /// 5149; for a data file 9002, and part of the extension is done then.
    pub fn resize_file(&self, file: FileId, bytes: u64) -> SqlResult<()> {
        let path = self.file_path(file).display();
        let not_longer = |e| SqlError::new(messages::EXPAND_FILE_FAILED, &[&e, &path]);
        if file == LOG_FILE {
            return self.log.resize(bytes).map_err(not_longer);
        }
        self.space.resize(DATA_FILE, pages(bytes)).map_err(|e| match e {
            SpaceError::Disk(e) => not_longer(e),
            e => e.into_sql("an allocation map", &self.home.name()),
        })
    }

    /// Restores the settings of a file, even if it is longer than its limit.
    pub fn restore_file(&self, file: FileId, setting: &FileSetting) {
        match file == LOG_FILE {
            true => self.log.restore_growth(&log_growth(setting)),
            false => self.space.set_growth(DATA_FILE, data_growth(setting)),
        }
        self.note_file(file, setting);
    }

    /// Records the name and initial size of a file for views and the next start.
    pub fn note_file(&self, file: FileId, setting: &FileSetting) {
        let FileSetting { name, bytes_at_start, .. } = setting.clone();
        self.file_notes.write()[note_of(file)] = FileNote { name, bytes_at_start };
    }

    /// Writes the settings of a file of this database, or of tempdb.
    ///
    /// # Errors
    /// Locks, space, log.
    pub fn write_file(
        &self,
        work: &mut Work,
        owner: FileOwner,
        file: FileId,
        setting: &FileSetting,
    ) -> SqlResult<()> {
        Changes::new(&*self.hobts).put_file(work, owner, file, setting)
    }

    /// The settings of tempdb's file when this database, master, was opened.
    pub fn setting_for_tempdb(&self, file: FileId) -> Option<&FileSetting> {
        self.loaded_files.of(FileOwner::Tempdb, file)
    }

    pub(crate) fn restore_own_files(&self) {
        for file in [DATA_FILE, LOG_FILE] {
            if let Some(setting) = self.loaded_files.of(FileOwner::Itself, file) {
                self.restore_file(file, setting);
            }
        }
    }
}
