//! `Database`: an open database and the objects that belong to it.

use crate::drops::Drops;
use crate::files::FileNote;
use crate::hobts::OpenHobts;
use crate::losers::PutOffWork;
use crate::named::Files;
use access::Formats;
use base::{DatabaseId, SessionId};
use buffer::{Pages, Pool};
use catalog::view::{DatabaseView, SystemObjects};
use catalog::{DatabaseOptions, FileSettings, Identities, Ids, Modifications, Publisher};
use os::disk::Disk;
use os::sync::{Mutex, RwLock};
use os::task::JoinHandle;
use os::wait::Waiter;
use space::Space;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use version::DatabaseStore;
use wal::{Log, Seal};
use work::{Engine, Home, Work};

/// What the databases of an instance share.
#[derive(Clone)]
pub struct Environment {
    /// The disk of the files.
    pub disk: Arc<dyn Disk>,
    /// The buffer pool.
    pub pool: Arc<Pool>,
    /// Transactions and locks.
    pub engine: Arc<Engine>,
    /// System views and functions, the same in every database.
    pub system: Arc<SystemObjects>,
    /// The storage formats of tables.
    pub formats: Formats,
}

impl Environment {
    /// A unit of work of the engine itself.
    pub(crate) fn system_work(&self) -> Work {
        Work::new(&self.engine, SessionId(1), Arc::new(Waiter::new()))
    }
}

/// An open database.
pub struct Database {
    pub(crate) env: Environment,
    pub(crate) id: DatabaseId,
    pub(crate) files: Files,
    pub(crate) home: Arc<Home>,
    pub(crate) pages: Arc<Pages>,
    pub(crate) space: Arc<Space>,
    pub(crate) log: Arc<Log>,
    pub(crate) hobts: Arc<OpenHobts>,
    /// Its own version store; tempdb has none.
    pub(crate) versions: Option<Arc<DatabaseStore>>,
    pub(crate) drops: Drops,
    pub(crate) publisher: Publisher,
    pub(crate) ids: Arc<Ids>,
    pub(crate) identities: Arc<Identities>,
    pub(crate) modifications: Arc<Modifications>,
    pub(crate) options: RwLock<DatabaseOptions>,
    pub(crate) file_notes: RwLock<[FileNote; 2]>,
    /// The settings of tempdb's files, which master stores.
    pub(crate) loaded_files: FileSettings,
    pub(crate) checkpointing: Mutex<()>,
    /// One sweep of its versions at a time.
    pub(crate) sweeping: Mutex<()>,
    /// The cleaner of versions, if it runs.
    pub(crate) cleaner: Mutex<Option<JoinHandle<()>>>,
    /// Whether a checkpoint is due soon because recovery has changed pages.
    pub(crate) recovered: AtomicBool,
    /// Losers that are undone while the database is in use.
    pub(crate) put_off: Mutex<Vec<PutOffWork>>,
    pub(crate) survives: bool,
    /// Why it is open for reading only, if it is (`emergency.rs`).
    pub(crate) sealed: Option<Seal>,
    pub(crate) stopping: Arc<Waiter>,
}

impl Database {
    /// Its number.
    pub fn id(&self) -> DatabaseId {
        self.id
    }

    /// Its files.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The database as units of work see it.
    pub fn home(&self) -> &Arc<Home> {
        &self.home
    }

    /// Its pages.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// Its allocator.
    pub fn space(&self) -> &Arc<Space> {
        &self.space
    }

    /// Its log.
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// The definitions that every session sees.
    pub fn view(&self) -> Arc<DatabaseView> {
        self.publisher.current()
    }

    /// Publishes committed definitions.
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// The numbers of new objects.
    pub fn ids(&self) -> &Arc<Ids> {
        &self.ids
    }

    /// Identity values.
    pub fn identities(&self) -> &Arc<Identities> {
        &self.identities
    }

    /// The counts of changed rows of its tables.
    pub fn modifications(&self) -> &Arc<Modifications> {
        &self.modifications
    }

    /// Its options.
    pub fn options(&self) -> DatabaseOptions {
        self.options.read().clone()
    }

    /// Open heaps and indexes.
    pub fn hobts(&self) -> &Arc<OpenHobts> {
        &self.hobts
    }

    /// Its own version store, which may have no page yet; tempdb has none.
    pub fn versions(&self) -> Option<&Arc<DatabaseStore>> {
        self.versions.as_ref()
    }

    /// Whether it survives a restart; tempdb does not.
    pub fn survives(&self) -> bool {
        self.survives
    }

    /// A unit of work of the engine itself.
    pub fn system_work(&self) -> Work {
        self.env.system_work()
    }

    /// What all databases of the instance share.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.env.engine
    }
}
