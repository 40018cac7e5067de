//! Makes a database: files, system tables, boot page, a first checkpoint.
//!
//! Until the caller records the database durably, nothing refers to it: a crash leaves files
//! without a database. Before the call the caller records that it makes these files, and removes
//! them at its next start.

use crate::boot;
use crate::database::{Database, Environment};
use crate::hobts::OpenHobts;
use crate::named::Files;
use crate::open::{StorageFloors, wish_versions};
use crate::redo_table::redo_table;
use crate::spec::row_spec;
use base::{DatabaseId, FileId, SqlError, SqlResult, Xsn, messages};
use buffer::{Pages, PagesOptions};
use catalog::{Changes, DatabaseOptions, HobtSpec, SYSTEM_TABLES};
use os::disk::{File, OpenMode};
use rowstore::RowUndo;
use space::{FileFacts, GrowthOptions, Space, format_file};
use std::path::Path;
use std::sync::Arc;
use txn::{UndoHandler, UndoTable};
use version::{DatabaseStore, VersionStore};
use wal::{Log, LogOptions, LogReservation, WalError};
use work::{CommitMode, Home};

/// The initial sizes and the growth of files.
#[derive(Clone, Copy, Debug)]
pub struct Sizing {
    /// The initial size of the data file in pages; whole extents.
    pub data_pages: u32,
    /// The data file's growth.
    pub data_growth: GrowthOptions,
    /// The options of the log.
    pub log: LogOptions,
}

impl Default for Sizing {
    fn default() -> Self {
        Sizing {
            data_pages: 1024,
            data_growth: GrowthOptions::default(),
            log: LogOptions::default(),
        }
    }
}

fn not_made(path: &Path, e: &std::io::Error) -> SqlError {
    if e.kind() == std::io::ErrorKind::AlreadyExists {
        return SqlError::new(messages::FILE_EXISTS, &[&path.display()]);
    }
    SqlError::new(messages::CREATE_FILE_FAILED, &[e, &path.display()])
}

fn not_filled(path: &Path, e: &std::io::Error) -> SqlError {
    SqlError::new(messages::EXPAND_FILE_FAILED, &[e, &path.display()])
}

impl Database {
    /// Makes a database with a number and a name in the given files, which must not exist.
    ///
    /// # Errors
    /// 5170 if a file exists already, which stays as it is; the disk's. Files made so far are
    /// removed.
    pub fn create(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
        options: &DatabaseOptions,
        survives: bool,
    ) -> SqlResult<Arc<Database>> {
        let made = Self::make_files(env, files)?;
        let made = Self::create_files(env, id, name, files, made, sizing, survives)
            .and_then(|opened| Self::fill(opened, options));
        if made.is_err() {
            // No other file refers to them.
            let _ = env.disk.remove(&files.data);
            let _ = env.disk.remove(&files.log);
        }
        made
    }

    /// Makes two files that did not exist. An existing file stays as it is.
    fn make_files(env: &Environment, files: &Files) -> SqlResult<[Arc<dyn File>; 2]> {
        let make = |path: &Path, direct| {
            let file = env.disk.open(path, OpenMode { create: true, direct })?;
            file.keep_others_out(path).map(|()| file)
        };
        let data = make(&files.data, true).map_err(|e| not_made(&files.data, &e))?;
        match make(&files.log, false) {
            Ok(log) => Ok([data, log]),
            Err(e) => {
                let _ = env.disk.remove(&files.data);
                Err(not_made(&files.log, &e))
            }
        }
    }

    fn create_files(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        [data, log_file]: [Arc<dyn File>; 2],
        sizing: &Sizing,
        survives: bool,
    ) -> SqlResult<StorageFloors> {
        let mut family = [0; 16];
        os::entropy::fill(&mut family);
        let facts = FileFacts { family, file: FileId(1), size_pages: sizing.data_pages };
        format_file(&*data, &facts).map_err(|e| e.into_sql("a new file", name))?;
        let log = LogOptions { durable: survives, ..sizing.log };
        let log = Log::create(log_file, family, log).map_err(|e| match e {
            WalError::Io(e) => not_filled(&files.log, &e),
            e => e.into_sql(name),
        })?;
        if let Some(dir) = files.data.parent() {
            env.disk.sync_dir(dir).map_err(|e| not_made(dir, &e))?;
        }
        let options = PagesOptions { database: id, durable: survives, salvaged: false };
        let pages = Pages::new(&env.pool, &log, &redo_table(), options);
        pages.attach(FileId(1), &files.data.to_string_lossy(), data);
        let opened = StorageFloors::wire(env, id, name, files, pages, sizing, survives)?;
        opened.expect_versions(Xsn::NONE);
        env.engine.decisions.enter(id, opened.pages.log(), None, true);
        Ok(opened)
    }

    /// Makes the system tables and the contents of a new database.
    fn fill(opened: StorageFloors, options: &DatabaseOptions) -> SqlResult<Arc<Database>> {
        let StorageFloors { env, home, hobts, pages, .. } = &opened;
        let name = home.name();
        let mut work = env.system_work();
        work.begin(false, "CREATE DATABASE");
        let mut made = Vec::new();
        for table in SYSTEM_TABLES {
            let spec = HobtSpec::of_system(home.database, table);
            let hobt = hobts.create(&mut work, row_spec(&spec, table.id.unit()), None)?;
            boot::note_table(pages, table, hobt.places())?;
            made.push((table.id, hobt.places()));
        }
        hobts.enter_system(&made);
        let changes = Changes::new(&**hobts);
        for option in options.all() {
            changes.put_option(&mut work, option)?;
        }
        boot::note_identity(pages, home.database, &name)?;
        boot::note_whole(pages, options)?;
        work.commit(CommitMode::Full).map_err(|e| e.into_sql(&name))?;
        drop(work);
        let database = opened.load()?;
        database.restore_own_files();
        wish_versions(&database.env.engine, &database.home, &database.options.read());
        database.checkpoint(false)?;
        Ok(database)
    }
}

impl StorageFloors {
    /// Tags up to `settled` are from before this start. A transaction with a higher number is
    /// announced on the boot page first.
    pub(crate) fn expect_versions(&self, settled: Xsn) {
        self.env.engine.transactions.commits.raise(settled);
        let (pages, name) = (Arc::clone(&self.pages), self.home.name());
        let raise = move |to: Xsn| {
            let mut log = LogReservation::none(pages.log());
            log.grow(512).map_err(|e| e.into_sql(&name))?;
            boot::note_xsn(&pages, to).map_err(SqlError::from)
        };
        self.home.set_xsn(settled, Box::new(raise));
    }

    /// Connects floors 2 to 4 over open files.
    pub(crate) fn wire(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        pages: Arc<Pages>,
        sizing: &Sizing,
        survives: bool,
    ) -> SqlResult<StorageFloors> {
        let space =
            Space::open(&pages, sizing.data_growth).map_err(|e| e.into_sql("a map", name))?;
        let home = Home::new(&env.engine, name, &pages, &space, survives);
        let hobts = OpenHobts::new(&home, &env.engine, &env.system, &env.formats);
        assert_eq!(hobts.database(), id);
        let directory: Arc<dyn access::HobtDirectory> = hobts.clone();
        let undo: Arc<dyn UndoHandler> = Arc::new(RowUndo::new(&home, &directory, &env.engine));
        // One handler undoes changes of rows and the creation of units.
        let table = UndoTable::default()
            .with(space::kinds::RANGE, &undo)
            .with(btree::KINDS, &undo)
            .with(rowstore::HEAP_KINDS, &undo);
        home.set_undo(table);
        // Tempdb keeps the versions of others, and no own.
        let versions = survives.then(|| DatabaseStore::new(&space, Box::new(boot::BootNote)));
        if let Some(store) = &versions {
            home.version_stores().wire_own(Arc::clone(store) as Arc<dyn VersionStore>);
        }
        Ok(StorageFloors {
            env: env.clone(),
            id,
            files: files.clone(),
            home,
            pages,
            space,
            hobts,
            versions,
            survives,
            sealed: None,
        })
    }
}
