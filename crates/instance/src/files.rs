//! The files of databases: MODIFY FILE, what CREATE DATABASE says of them, tempdb's at a start.
//!
//! Of a change everything is looked at before anything is done. Then the file obeys, then it gets
//! its size, and last the setting is written and committed: a crash before that leaves the old
//! setting, of a file that may be longer by then. What is set of tempdb stands in master, and is
//! put back when tempdb is made anew.

use crate::asker::Asker;
use crate::error_log::ErrorLog;
use crate::instance::{Instance, same_name};
use crate::start::{MASTER, TEMPDB};
use crate::unsupported::unsupported;
use base::limits::PAGE_BYTES;
use base::{FileId, SqlError, SqlResult, messages};
use catalog::{FileGrowth, FileOwner, FileSetting};
use database::{DATA_FILE, Database, LOG_FILE, Sizing};
use ddl::{FileChange, FileSize, NewDatabase, NewFile};
use wal::LOG_BYTES_MAX;
use work::{CommitMode, Work};

/// The least that a file may begin with, and a data file: it has the system tables.
const FILE_BYTES_MIN: u64 = 512 << 10;
const DATA_BYTES_MIN: u64 = 2 << 20;

impl Asker<'_> {
    /// MODIFY FILE
    pub(crate) fn change_file(&self, name: &str, change: &FileChange) -> SqlResult<()> {
        let unknown = || SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&name]).with_state(5);
        let database = self.instance.database_by_name(name).ok_or_else(unknown)?;
        self.with_database(&database, || {
            let _one = self.instance.filing.lock();
            self.instance.modify_file(&database, change)
        })
    }
}

impl Instance {
    fn modify_file(&self, database: &Database, change: &FileChange) -> SqlResult<()> {
        if database.options().read_only {
            return Err(SqlError::new(messages::DATABASE_NOT_WRITABLE, &[]).with_state(4));
        }
        let unknown = || SqlError::new(messages::MODIFY_FILE_UNKNOWN, &[&change.name]);
        let file = database.file_by_name(&change.name).ok_or_else(unknown)?;
        let before = database.file_setting(file);
        let new = &change.change;
        if !change.offline && *new == NewFile::default() {
            return Err(SqlError::new(messages::MODIFY_FILE_NOTHING, &[&before.name]));
        }
        if change.offline {
            return Err(SqlError::new(messages::FILE_STATE_FIXED, &[]).with_state(2));
        }
        if new.path.is_some() {
            return Err(unsupported("ALTER DATABASE ... MODIFY FILE (FILENAME)"));
        }
        let wanted = changed(database, file, &before, new)?;
        database
            .limit_file(file, &wanted)
            .map_err(|bytes| too_long(database, file, bytes, &wanted))?;
        let done = new.size.map_or(Ok(()), |bytes| database.resize_file(file, bytes));
        let done = done.and_then(|()| self.write_setting(database, file, &wanted));
        match &done {
            Ok(()) => database.note_file(file, &wanted),
            Err(_) => database.restore_file(file, &before),
        }
        done
    }

    /// Writes what is set, for every start to come.
    fn write_setting(
        &self,
        database: &Database,
        file: FileId,
        setting: &FileSetting,
    ) -> SqlResult<()> {
        if database.id() != TEMPDB {
            return write(database, FileOwner::Itself, &[(file, setting.clone())]);
        }
        let master = self.database(MASTER).expect("master is open as long as the instance");
        write(&master, FileOwner::Tempdb, &[(file, setting.clone())])
    }
}

/// In a transaction of its own.
fn write(
    database: &Database,
    owner: FileOwner,
    settings: &[(FileId, FileSetting)],
) -> SqlResult<()> {
    let name = &*database.home().name();
    let mut work = database.system_work();
    work.begin(false, "ALTER DATABASE");
    let put = |work: &mut Work| {
        settings.iter().try_for_each(|(file, s)| database.write_file(work, owner, *file, s))
    };
    match put(&mut work) {
        Ok(()) => work.commit(CommitMode::Full).map_err(|e| e.into_sql(name)),
        Err(e) => {
            work.roll_back().map_err(|e| e.into_sql(name))?;
            Err(e)
        }
    }
}

/// 5040
fn too_long(database: &Database, file: FileId, bytes: u64, wanted: &FileSetting) -> SqlError {
    let most = wanted.bytes_max.unwrap_or(LOG_BYTES_MAX);
    let (name, has, most) = (database.home().name(), bytes >> 10, most >> 10);
    let facts: [&dyn std::fmt::Display; 4] = [&name, &file.0, &has, &most];
    SqlError::new(messages::MODIFY_FILE_MAXSIZE, &facts)
}

/// MAXSIZE; nothing less than the largest log limits a log.
fn most(file: FileId, size: FileSize) -> Option<u64> {
    match size {
        FileSize::Bytes(bytes) if file == LOG_FILE && bytes >= LOG_BYTES_MAX => None,
        FileSize::Bytes(bytes) => Some(bytes),
        FileSize::Unlimited => None,
    }
}

fn exceeds(growth: FileGrowth, bytes_max: Option<u64>) -> bool {
    matches!((growth, bytes_max), (FileGrowth::Bytes(bytes), Some(most)) if bytes > most)
}

/// What is set of a file after a change, and that it may be.
fn changed(
    database: &Database,
    file: FileId,
    before: &FileSetting,
    new: &NewFile,
) -> SqlResult<FileSetting> {
    let mut wanted = before.clone();
    if let Some(name) = &new.name {
        if database.file_by_name(name).is_some() {
            return Err(SqlError::new(messages::FILE_NAME_IN_USE, &[name]).with_state(3));
        }
        wanted.name = name.clone();
    }
    let has = database.file_bytes(file);
    if let Some(size) = new.size_max {
        wanted.bytes_max = most(file, size);
        if wanted.bytes_max.is_some_and(|most| most < has) {
            return Err(too_long(database, file, has, &wanted));
        }
    }
    wanted.growth = new.growth.unwrap_or(before.growth);
    // A growth that leads beyond a limit set before, as CREATE DATABASE may leave it, is no
    // matter of a change of something else.
    let asked = new.growth.is_some() || new.size_max.is_some();
    if asked && exceeds(wanted.growth, wanted.bytes_max) {
        let state = if new.growth.is_some() { 1 } else { 3 };
        let e = SqlError::new(messages::GROWTH_ABOVE_MAXSIZE, &[&before.name]);
        return Err(e.with_state(state));
    }
    if let Some(size) = new.size {
        if size <= has {
            return Err(SqlError::new(messages::MODIFY_FILE_SIZE, &[]));
        }
        if file == LOG_FILE && size > LOG_BYTES_MAX {
            return Err(SqlError::new(messages::LOG_FILE_TOO_LARGE, &[]));
        }
        // Whoever asks for more than the limit wants that limit no more.
        wanted.bytes_max = wanted.bytes_max.map(|most| most.max(size));
        if database.id() == TEMPDB {
            wanted.bytes_at_start = Some(size);
        }
    }
    Ok(wanted)
}

/// How a new database is made, and what is set of its files, as far as they are spoken of.
pub(crate) struct FilePlan {
    pub(crate) sizing: Sizing,
    /// With the sizes that were asked for.
    files: Vec<(FileId, FileSetting, Option<u64>)>,
}

/// Looks at the files of a new database before anything is made.
pub(crate) fn plan(new: &NewDatabase, sizing: &Sizing) -> SqlResult<FilePlan> {
    let mut sizing = *sizing;
    let log_name = format!("{}_log", new.name);
    let named = |file: &Option<NewFile>, otherwise: &str| {
        let name = file.as_ref().and_then(|f| f.name.as_deref());
        name.unwrap_or(otherwise).to_owned()
    };
    let names = [named(&new.data, &new.name), named(&new.log, &log_name)];
    if same_name(&names[0], &names[1]) {
        return Err(SqlError::new(messages::FILE_NAME_IN_USE, &[&names[1]]).with_state(5));
    }
    let mut files = Vec::new();
    for ((file, new), name) in [(DATA_FILE, &new.data), (LOG_FILE, &new.log)].into_iter().zip(names)
    {
        let Some(new) = new else { continue };
        check_size(file, new)?;
        let size = match file == LOG_FILE {
            true => sizing.log.initial_bytes,
            false => u64::from(sizing.data_pages) * PAGE_BYTES as u64,
        };
        check_limits(file, new, &name, new.size.unwrap_or(size))?;
        let mut setting = sizing.setting(file, &name);
        setting.bytes_max = new.size_max.map_or(setting.bytes_max, |m| most(file, m));
        setting.growth = new.growth.unwrap_or(setting.growth);
        sizing.grow_as(file, &setting);
        let first = size.min(new.size.unwrap_or(size));
        match file == LOG_FILE {
            true => sizing.log.initial_bytes = first,
            false => sizing.data_pages = (first / PAGE_BYTES as u64) as u32,
        }
        files.push((file, setting, new.size));
    }
    Ok(FilePlan { sizing, files })
}

fn check_size(file: FileId, new: &NewFile) -> SqlResult<()> {
    let Some(size) = new.size else { return Ok(()) };
    if file == DATA_FILE && size < DATA_BYTES_MIN {
        let mb = DATA_BYTES_MIN >> 20;
        return Err(SqlError::new(messages::PRIMARY_FILE_TOO_SMALL, &[&mb]));
    }
    if size < FILE_BYTES_MIN {
        return Err(SqlError::new(messages::FILE_TOO_SMALL, &[]));
    }
    if file == LOG_FILE && size > LOG_BYTES_MAX {
        return Err(SqlError::new(messages::LOG_FILE_TOO_LARGE, &[]));
    }
    Ok(())
}

fn check_limits(file: FileId, new: &NewFile, name: &str, size: u64) -> SqlResult<()> {
    let most = new.size_max.and_then(|m| most(file, m));
    if most.is_some_and(|most| most < size) {
        return Err(SqlError::new(messages::MAXSIZE_BELOW_SIZE, &[&name]));
    }
    if new.growth.is_some_and(|growth| exceeds(growth, most)) {
        return Err(SqlError::new(messages::GROWTH_ABOVE_MAXSIZE, &[&name]).with_state(2));
    }
    Ok(())
}

/// What CREATE DATABASE says of the files of a database that was made and that nobody knows yet.
pub(crate) fn set_first(database: &Database, planned: &FilePlan) -> SqlResult<()> {
    let mut settings = Vec::new();
    for (file, setting, size) in &planned.files {
        database.resize_file(*file, size.unwrap_or(0))?;
        database.restore_file(*file, setting);
        settings.push((*file, setting.clone()));
    }
    if settings.is_empty() { Ok(()) } else { write(database, FileOwner::Itself, &settings) }
}

/// How tempdb is made: with files that grow as was set.
pub(crate) fn sizing_of_tempdb(master: &Database, sizing: &Sizing) -> Sizing {
    let mut sizing = *sizing;
    for file in [DATA_FILE, LOG_FILE] {
        if let Some(setting) = master.setting_for_tempdb(file) {
            sizing.grow_as(file, setting);
        }
    }
    sizing
}

/// Puts back what was set of tempdb's files. One that cannot have its size begins smaller: the
/// error log says so.
pub(crate) fn restore_tempdb(master: &Database, tempdb: &Database, log: &ErrorLog) {
    for file in [DATA_FILE, LOG_FILE] {
        let Some(setting) = master.setting_for_tempdb(file) else { continue };
        if let Err(e) = tempdb.resize_file(file, setting.bytes_at_start.unwrap_or(0)) {
            let name = &setting.name;
            log.line("spid5s", &format!("File '{name}' of tempdb is small: {}", e.text()));
        }
        tempdb.restore_file(file, setting);
    }
}
