//! Databases that are dropped while others work, or work while others are dropped.

use crate::visit::Visit;
use crate::{Instance, InstanceOptions};
use access::Hobts as _;
use base::{DatabaseId, SessionId, SqlResult};
use catalog::view::{DatabaseView, SchemaId};
use database::Database;
use ddl::{Databases as _, NewDatabase};
use os::disk::{Disk, File, OpenHow, RealDisk};
use os::sync::{Condvar, Mutex};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use types::Value;
use work::Work;

/// Files whose removal waits: the end of a slow DROP DATABASE.
#[derive(Default)]
struct Gate {
    shut: Mutex<Option<&'static str>>,
    waits: AtomicU32,
    opened: Condvar,
}

/// The real disk behind a gate.
struct Gated(Arc<Gate>);

impl Disk for Gated {
    fn open(&self, path: &Path, how: OpenHow) -> io::Result<Arc<dyn File>> {
        RealDisk.open(path, how)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut shut = self.0.shut.lock();
        while shut.is_some_and(|name| {
            path.file_name().is_some_and(|f| f.to_string_lossy().contains(name))
        }) {
            self.0.waits.fetch_add(1, Relaxed);
            self.0.opened.wait(&mut shut);
        }
        drop(shut);
        RealDisk.remove(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn exists(&self, path: &Path) -> bool {
        RealDisk.exists(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        RealDisk.list(dir)
    }

    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        RealDisk.create_dir(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        RealDisk.sync_dir(dir)
    }
}

struct Stage {
    folder: PathBuf,
    gate: Arc<Gate>,
    instance: Arc<Instance>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.instance.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn stage(name: &str) -> Stage {
    let folder = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
    let gate = Arc::<Gate>::default();
    let options = InstanceOptions { max_memory_bytes: 64 << 20, ..InstanceOptions::default() };
    let disk = Arc::new(Gated(Arc::clone(&gate)));
    let instance = Instance::open(disk, &folder, options).unwrap();
    Stage { folder, gate, instance }
}

fn create(instance: &Instance, name: &str) -> SqlResult<()> {
    instance.create(&NewDatabase { name: name.into(), collation: None, data: None, log: None })
}

fn drop_it(instance: &Instance, name: &str) -> SqlResult<()> {
    ddl::Databases::drop(instance, name)
}

/// While a database is being closed others are made and dropped; its name and its number are not
/// given away before it is gone.
#[test]
fn a_slow_drop_keeps_nobody_waiting() {
    let s = stage("slow-drop");
    create(&s.instance, "slow").unwrap();
    let id = s.instance.database_by_name("slow").unwrap().id();
    *s.gate.shut.lock() = Some("slow");
    let instance = Arc::clone(&s.instance);
    let dropping = os::task::spawn("drop", move || drop_it(&instance, "slow"));
    while s.gate.waits.load(Relaxed) == 0 {
        os::task::sleep_ns(1_000_000);
    }
    create(&s.instance, "other").unwrap();
    assert_ne!(s.instance.database_by_name("other").unwrap().id(), id, "the number is taken");
    assert_eq!(create(&s.instance, "SLOW").unwrap_err().number(), 1801);
    assert_eq!(drop_it(&s.instance, "slow").unwrap_err().number(), 3701);
    drop_it(&s.instance, "other").unwrap();
    *s.gate.shut.lock() = None;
    s.gate.opened.notify_all();
    dropping.join().unwrap().unwrap();
    create(&s.instance, "slow").unwrap();
    assert_eq!(s.instance.database_by_name("slow").unwrap().id(), id);
}

/// Databases of which one is dropped by somebody else as soon as a view holds it.
struct Dropping<'i> {
    visit: Visit<'i>,
    instance: &'i Instance,
    refused: AtomicU32,
}

impl sysviews::Databases for Dropping<'_> {
    fn all(&self) -> Vec<Arc<Database>> {
        self.visit.all()
    }

    fn get(&self, id: DatabaseId) -> Option<Arc<Database>> {
        self.visit.get(id)
    }

    fn view(&self, id: DatabaseId) -> Option<Arc<DatabaseView>> {
        self.visit.view(id)
    }

    fn hold(&self, id: DatabaseId) -> SqlResult<Option<Arc<Database>>> {
        let held = self.visit.hold(id)?;
        if held.as_ref().is_some_and(|d| d.home().name() == "d") {
            assert_eq!(drop_it(self.instance, "d").unwrap_err().number(), 3702);
            self.refused.fetch_add(1, Relaxed);
        }
        Ok(held)
    }
}

/// A view that reads the pages of a database which is not its session's keeps it from being
/// dropped until it has answered, and not longer.
#[test]
fn a_view_holds_the_database_that_it_reads() {
    let s = stage("held-by-views");
    create(&s.instance, "d").unwrap();
    let id = s.instance.database_by_name("d").unwrap().id();
    let objects = sysviews::all();
    let work = Work::new(s.instance.engine(), SessionId(51), Arc::default());
    let everywhere = [Value::SmallInt(id.0 as i16), Value::Null, Value::Null, Value::Null];
    let views: [(&str, &[Value]); 4] = [
        ("dm_db_index_physical_stats", &everywhere),
        ("dm_db_partition_stats", &[]),
        ("allocation_units", &[]),
        ("partitions", &[]),
    ];
    for (name, arguments) in views {
        let view = objects.find(SchemaId::SYS, name).unwrap();
        let databases = Dropping {
            visit: Visit::new(&s.instance, SessionId(51)),
            instance: &s.instance,
            refused: AtomicU32::new(0),
        };
        let system = sysviews::System {
            databases: &databases,
            sessions: &s.instance.registry,
            configuration: &s.instance.configuration,
            semaphores: &s.instance.semaphores,
            workers: &s.instance.query_workers,
            programs: &s.instance.programs,
            memory: &s.instance.memory,
            server: "",
            version: "",
            engine: s.instance.engine(),
            current: id,
            waiter: &os::wait::Waiter::new(),
        };
        sysviews::open(&system, view.object_id, arguments).unwrap();
        assert_eq!(databases.refused.load(Relaxed), 1, "{name}");
        drop(databases);
        s.instance.system_view(id, view.object_id, arguments, &work).unwrap();
    }
    drop_it(&s.instance, "d").unwrap();
}
