//! A database that keeps versions on its own pages, or there and in tempdb in turn: its home says
//! where versions go, and the pointer in a tag says where one is, also where the home has chosen
//! anew since, and also where the database was closed or killed in between and opened again.

use super::*;
use base::Xsn;
use catalog::view::{Column, Index, IndexColumn, Object, Partitions, SchemaId, Table};
use catalog::{Changes, Delta};
use version::{DatabaseStore, PageCopy, StoreKind};

/// Takes out of a database's own store what nobody reads, as the background does.
fn clean(db: &Database) {
    let transactions = &db.engine().transactions;
    let horizon = transactions.snapshots.store_horizon(&transactions.commits);
    let home = db.home();
    let is_past = |by: Xsn| {
        let settled = home.is_settled(by) && !home.aborted().contains(by);
        settled || transactions.commits.is_past(by, horizon)
    };
    let mut from = Some(0);
    while let Some(at) = from {
        from = own(db).reclaim(at, 16, &is_past).unwrap().next;
    }
}

fn own(db: &Database) -> &Arc<DatabaseStore> {
    db.versions().expect("a database that survives has a store of its own")
}

/// How many versions its own store has.
fn kept(db: &Database) -> usize {
    let (mut copy, mut count) = (PageCopy::default(), 0);
    for page in own(db).pages().unwrap() {
        assert!(own(db).copy_page(page, &mut copy).unwrap());
        for (at, version) in copy.versions() {
            assert_eq!((at.store, version.origin.hobt), (StoreKind::Own, HOBT));
            assert_eq!(version.origin.database, DatabaseId(5));
            count += 1;
        }
    }
    count
}

/// Everybody has ended: nothing is left of former rows, and every page is somebody's.
fn ends_without_versions(world: World, seed: u64) {
    let db = Arc::clone(&world.db);
    world.finish();
    clean(&db);
    assert_eq!(kept(&db), 0, "seed {seed}: versions that nobody needs");
    let report = db.check();
    assert!(report.is_clean(), "seed {seed}: {report:?}");
}

/// Histories in which the home chooses another store again and again: chains lead from one into the
/// other and back, and every snapshot reads its moment all the same.
fn switching(kind: IndexKind) {
    let (mut generated, mut elsewhere) = ([0; 2], 0);
    for seed in 0..seeds() {
        let mut world = World::new(kind, seed * 983 + 3);
        let engine = Arc::clone(&world.env.engine);
        world.with_versions();
        for step in 0..400 {
            let keeps_own = step % 40 < 20;
            world.db.home().version_stores().keep_own(keeps_own);
            let before = own(&world.db).usage().generated;
            world.step();
            world.look(false);
            if !keeps_own {
                let now = own(&world.db).usage().generated;
                assert_eq!(now, before, "versions go where the home says");
            }
            if step % 40 == 30 {
                elsewhere += kept(&world.db);
            }
            if step % 30 == 0 {
                clean(&world.db);
            }
        }
        let shared = engine.version_usage().unwrap().generated;
        generated[0] += shared;
        generated[1] += own(&world.db).usage().generated;
        ends_without_versions(world, seed);
    }
    let all_met = generated.iter().all(|n| *n > 0) && elsewhere > 0;
    assert!(all_met, "{generated:?} kept, {elsewhere} there where the home has not chosen");
}

#[test]
fn versions_of_a_clustered_index_are_found_in_tempdb_and_at_home() {
    switching(IndexKind::Clustered);
}

#[test]
fn versions_of_a_nonclustered_index_are_found_in_tempdb_and_at_home() {
    switching(IndexKind::Nonclustered);
}

#[test]
fn versions_of_a_heap_are_found_in_tempdb_and_at_home() {
    switching(IndexKind::Heap);
}

/// The table whose hobt a world has, so that the hobt is known after a start.
fn table(kind: IndexKind) -> Table {
    let column = |id: i32, name: &str, sql_type: SqlType| Column {
        column_id: id,
        name: name.into(),
        sql_type,
        user_type_id: sql_type.user_type_id(),
        nullable: false,
        collation: Collation::default(),
        row_guid: false,
        identity: None,
        default: None,
        computed: None,
        physical: Some((id - 1) as u16),
    };
    let is_heap = kind == IndexKind::Heap;
    let key = match is_heap {
        true => Vec::new(),
        false => vec![IndexColumn { column: 0, descending: false }],
    };
    let index = Index {
        index_id: IndexId(i32::from(!is_heap)),
        name: if is_heap { "".into() } else { "PK_T".into() },
        kind,
        unique: !is_heap,
        primary_key: !is_heap,
        unique_constraint: false,
        constraint_id: (!is_heap).then_some(ObjectId(100_301)),
        system_named: false,
        key,
        included: Vec::new(),
        partitions: Partitions::one(HOBT),
        fill_factor: 0,
        auto_fill: None,
        padded: false,
        ignore_dup_key: false,
        disabled: false,
        filter: None,
        gathered: Default::default(),
    };
    Table {
        database: DatabaseId(5),
        object_id: ObjectId(100_300),
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: "T".into(),
        columns: vec![column(1, "k", SqlType::Int), column(2, "v", SqlType::VARCHAR_MAX)],
        indexes: vec![index],
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: Default::default(),
        properties: Vec::new(),
        is_temp: false,
    }
}

impl World {
    /// A world whose hobt is defined.
    fn defined(kind: IndexKind, seed: u64) -> World {
        let mut world = World::new(kind, seed);
        let table = table(kind);
        world.reader.begin(true, "");
        let system = Arc::clone(world.db.hobts());
        let changes = Changes::new(&*system);
        changes.put_table(&mut world.reader, None, &table).unwrap();
        let places = world.places.as_ref().unwrap();
        changes.put_places(&mut world.reader, HOBT, places).unwrap();
        world.reader.commit(CommitMode::Full).unwrap();
        world.db.publisher().publish(&[Delta::PutObject(Object::Table(Arc::new(table)))]);
        world
    }

    /// The database is closed, or its process killed, and it is opened again.
    fn reopened(self, killed: bool) -> World {
        self.reopened_after(killed, |_| ())
    }

    /// The same; something is done to its files in between.
    fn reopened_after(mut self, killed: bool, between: impl FnOnce(&Environment)) -> World {
        self.end_all();
        self.snapshots.clear();
        self.sessions.iter_mut().for_each(|s| s.work.rest());
        self.reader.rest();
        let World { db, hobt, env, .. } = &mut self;
        if killed {
            db.log().flush_all();
            db.pages().close();
            env.engine.decisions.leave(DatabaseId(5));
        } else {
            db.close(Vec::new()).unwrap();
        }
        let files = Files::of(Path::new("/data"), "d");
        between(env);
        let opened = Database::open(env, DatabaseId(5), "d", &files, &Sizing::default());
        (*db, *hobt) = {
            let (db, report) = opened.unwrap();
            assert!(!killed || report.redone.applied > 0, "{report:?}");
            let hobt = db.hobts().get(HOBT).expect("the table is known");
            (db, hobt)
        };
        self.changed_by.clear();
        self
    }
}

/// Histories with the own store chosen, and starts in between: every snapshot reads its moment,
/// what was put before a start goes after it, and pages are filled again.
fn starting(kind: IndexKind) {
    let (mut survived, mut most) = (0, 0);
    for seed in 0..seeds() {
        let mut world = World::defined(kind, seed * 991 + 11);
        for start in 0..4 {
            world.with_versions();
            world.db.home().version_stores().keep_own(true);
            world.look(true);
            for _ in 0..120 {
                world.step();
                world.look(false);
            }
            let before = kept(&world.db);
            world = world.reopened(start % 2 == 0);
            survived += before.min(kept(&world.db));
            if world.draw.below(2) == 0 {
                clean(&world.db);
                assert_eq!(kept(&world.db), 0, "seed {seed}: nobody reads what was before");
            }
            most = most.max(own(&world.db).usage().pages);
        }
        world.with_versions();
        world.db.home().version_stores().keep_own(true);
        ends_without_versions(world, seed);
    }
    assert!(survived > 0, "versions survive a start");
    assert!(most < 400, "{most} pages");
}

#[test]
fn versions_of_a_clustered_index_survive_starts() {
    starting(IndexKind::Clustered);
}

#[test]
fn versions_of_a_heap_survive_starts() {
    starting(IndexKind::Heap);
}

/// CHECKDB names a record of the store that is no version; the table is sound all the same, and
/// goes on.
#[test]
fn a_check_names_what_is_no_version() {
    let mut world = World::defined(IndexKind::Clustered, 5);
    world.with_versions();
    world.db.home().version_stores().keep_own(true);
    let mut copy = PageCopy::default();
    // What ghosts had goes when the database is closed.
    let odd = loop {
        (0..50).for_each(|_| world.step());
        world.end_all();
        let with_versions = own(&world.db).pages().unwrap().into_iter().find(|page| {
            own(&world.db).copy_page(*page, &mut copy).unwrap() && copy.versions().count() > 5
        });
        if let Some(page) = with_versions {
            break page;
        }
    };
    let mut world = world.reopened_after(false, |env| {
        let path = Path::new("/data").join("d.mdf");
        let mode = os::disk::OpenMode { create: false, direct: false };
        let file = env.disk.open(&path, mode).unwrap();
        let offset = u64::from(odd.page) * 8192;
        let mut bytes = Box::new([0; 8192]);
        file.read_at(&mut *bytes, offset).unwrap();
        let slots = page::PageView(&bytes).slot_count();
        let slot = (0..slots).find(|s| page::PageView(&bytes).record(*s).is_some()).unwrap();
        page::PageMut(&mut bytes).set_record_kind(slot, page::RecordKind::GhostVersion);
        page::seal(&mut bytes);
        file.write_at(&*bytes, offset).unwrap();
    });
    let report = world.db.check();
    let found: Vec<_> = report.consistency.iter().map(|f| (f.page, f.error.number())).collect();
    assert_eq!(found, [(odd, 8944)], "{report:?}");
    assert_eq!(report.allocation, []);
    world.with_versions();
    world.db.home().version_stores().keep_own(true);
    for _ in 0..100 {
        world.step();
    }
    world.end_all();
}
