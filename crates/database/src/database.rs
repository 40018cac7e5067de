//! `Database`: an open database and everything wired to it.

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
use os::wait::Waiter;
use space::Space;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wal::{Log, Seal};
use work::{Engine, Home, Work};

/// What databases of an instance share.
#[derive(Clone)]
pub struct Environment {
    /// Where files are.
    pub disk: Arc<dyn Disk>,
    /// The buffer pool.
    pub pool: Arc<Pool>,
    /// Transactions and locks.
    pub engine: Arc<Engine>,
    /// System views and functions, the same in every database.
    pub system: Arc<SystemObjects>,
    /// How tables are stored.
    pub formats: Formats,
}

impl Environment {
    /// A unit of work of the system itself.
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
    pub(crate) drops: Drops,
    pub(crate) publisher: Publisher,
    pub(crate) ids: Arc<Ids>,
    pub(crate) identities: Arc<Identities>,
    pub(crate) modifications: Arc<Modifications>,
    pub(crate) options: RwLock<DatabaseOptions>,
    pub(crate) file_notes: RwLock<[FileNote; 2]>,
    /// What master keeps of tempdb's files.
    pub(crate) loaded_files: FileSettings,
    pub(crate) checkpointing: Mutex<()>,
    /// What recovery did is to be checkpointed soon.
    pub(crate) recovered: AtomicBool,
    /// Losers that are undone while it is in use.
    pub(crate) put_off: Mutex<Vec<PutOffWork>>,
    pub(crate) survives: bool,
    /// Why it is read, and never written, if that is so (`emergency.rs`).
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

    /// As units of work see it.
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

    /// The definitions that everybody sees.
    pub fn view(&self) -> Arc<DatabaseView> {
        self.publisher.current()
    }

    /// Where committed definitions are published.
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Numbers for new objects.
    pub fn ids(&self) -> &Arc<Ids> {
        &self.ids
    }

    /// Identity values.
    pub fn identities(&self) -> &Arc<Identities> {
        &self.identities
    }

    /// How many rows of its tables were changed.
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

    /// Whether it is there after a restart; tempdb is not.
    pub fn survives(&self) -> bool {
        self.survives
    }

    /// A unit of work of the system itself.
    pub fn system_work(&self) -> Work {
        self.env.system_work()
    }

    /// What all databases of the instance share.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.env.engine
    }
}
