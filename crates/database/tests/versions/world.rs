//! How a world of these tests is made: its disk, its databases, its hobt.

use super::*;

pub(super) fn fresh_disk() -> Arc<Disk> {
    let options = DiskOptions { latency: false, capacity_bytes: 1 << 40, ..DiskOptions::default() };
    Arc::new(Disk::new(options))
}

pub(super) fn environment(disk: Arc<Disk>) -> Environment {
    let memory = Memory::new(64 << 20);
    Environment {
        disk,
        pool: buffer::Pool::new(&memory, 128).unwrap(),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    }
}

pub(super) fn make(env: &Environment, id: u16, name: &str, survives: bool) -> Arc<Database> {
    let files = Files::of(Path::new("/data"), name);
    let options = DatabaseOptions::default();
    Database::create(env, DatabaseId(id), name, &files, &Sizing::default(), &options, survives)
        .unwrap()
}

impl World {
    pub(super) fn new(kind: IndexKind, seed: u64) -> World {
        World::on(kind, seed, fresh_disk())
    }

    pub(super) fn on(kind: IndexKind, seed: u64, disk: Arc<Disk>) -> World {
        World::of(environment(disk), kind, seed)
    }

    /// One whose transactions of so many records or fewer are undone from the log.
    pub(super) fn undone_from_log(kind: IndexKind, seed: u64, records: u64) -> World {
        let env = environment(fresh_disk());
        env.engine.undo_from_log(records);
        World::of(env, kind, seed)
    }

    fn of(env: Environment, kind: IndexKind, seed: u64) -> World {
        env.disk.create_dir(Path::new("/data")).unwrap();
        let tempdb = make(&env, 2, "tempdb", false);
        env.engine.keep_versions_in(version::TempdbStore::new(&tempdb.home().space));
        let db = make(&env, 5, "d", true);
        // Most ghosts go without locks in one of four histories.
        if seed.is_multiple_of(4) {
            env.engine.settle_under_locks(1);
        }
        let mut reader = Work::new(&env.engine, SessionId(50), Arc::default());
        reader.begin(true, "");
        let places = db.builder().create_hobt(&mut reader, &spec(kind)).unwrap();
        reader.commit(CommitMode::Delayed).unwrap();
        let hobt = db.hobts().get(HOBT).unwrap();
        let mut world = World::with(env, (db, tempdb), hobt, (kind, reader), seed);
        world.places = Some(places);
        world
    }

    pub(super) fn with(
        env: Environment,
        (db, tempdb): (Arc<Database>, Arc<Database>),
        hobt: Arc<dyn StoredHobt>,
        (kind, reader): (IndexKind, Work),
        seed: u64,
    ) -> World {
        let session = |n| {
            let mut work = Work::new(&env.engine, SessionId(51 + n as i16), Arc::default());
            work.set_timeout(Timeout::NO_WAIT);
            Session { work, changes: Changes::default(), savepoint: None, moment: None }
        };
        World {
            sessions: (0..SESSIONS).map(session).collect(),
            committed: Rows::new(),
            commits: 0,
            changed_by: BTreeMap::new(),
            conflicts: 0,
            locked: 0,
            buried: false,
            rids: Rids::new(),
            committed_rids: Rids::new(),
            snapshots: Vec::new(),
            draw: Draw(seed),
            next: 0,
            env,
            db,
            hobt,
            places: None,
            kind,
            reader,
            tempdb,
            tight: None,
            sweep: None,
            in_row_at: None,
        }
    }
}
