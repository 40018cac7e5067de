//! A database of one tree on a simulated disk, and the tables that the tests put into it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use base::{AllocUnitId, DatabaseId, FileId, Lsn, PageId};
use btree::{BtreeRedo, KeyBuf, KeyOrder, SplitPolicy, Tree, TreeOptions};
use buffer::{Change, Pages, PagesOptions, Pool, Undo};
use os::disk::{Disk, File, OpenMode};
use os::vm::AlignedBuffer;
use os::wait::Waiter;
use page::{
    Field, Finding, KeyColumn, Number, PageBytes, PageKind, PageView, RecordKind, RowLayout,
};
use sim::Random;
use space::{AllocUnit, FileFacts, GrowthOptions, Space, SpaceRedo, format_file};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use wal::{
    Group, Log, LogOptions, LogReader, LogReservation, RedoTable, TransactionChain, WalError,
};

pub const UNIT: AllocUnitId = AllocUnitId(77);
const DATABASE: DatabaseId = DatabaseId(5);

/// A column of a key, as the model orders it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    Int(Option<i32>),
    Descending(Reverse<Option<i32>>),
    Text(Vec<u8>),
}

/// A key, as the model orders it.
pub type ModelKey = Vec<Part>;

/// What a tree holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schema {
    /// Clustered on int, with a variable payload.
    Rows,
    /// The one-column table of the seeds: rows of 11 bytes.
    Bare,
    /// Nonclustered on (int DESC NULL, text), with an int that is no key.
    Entries,
    /// Clustered on text of up to 800 bytes.
    LongKeys,
}

pub fn compare_ints(a: &[u8], b: &[u8]) -> Ordering {
    let int = |b: &[u8]| b.try_into().map(i32::from_le_bytes).unwrap_or_default();
    int(a).cmp(&int(b))
}

pub fn compare_bytes(a: &[u8], b: &[u8]) -> Ordering {
    a.cmp(b)
}

impl Schema {
    pub fn leaf(self) -> RowLayout {
        match self {
            Schema::Rows => RowLayout::of_rows(&[Some(4), None]),
            Schema::Bare => RowLayout::of_rows(&[Some(4)]),
            Schema::Entries => RowLayout::of_entries(&[Some(4), Some(4), None], true, 0),
            Schema::LongKeys => RowLayout::of_rows(&[None, None]),
        }
    }

    pub fn leaf_kind(self) -> PageKind {
        if self == Schema::Entries { PageKind::Index } else { PageKind::Data }
    }

    pub fn order(self) -> KeyOrder {
        let int = |leaf_column, descending| KeyColumn {
            hash: None,
            compare: |a, b, _| compare_ints(a, b),
            rule: 0,
            number: Some(Number::Signed),
            weights: None,
            descending,
            leaf_column,
        };
        let text = |leaf_column| KeyColumn {
            hash: None,
            compare: |a, b, _| compare_bytes(a, b),
            rule: 0,
            number: None,
            weights: None,
            descending: false,
            leaf_column,
        };
        KeyOrder::new(match self {
            Schema::Rows | Schema::Bare => vec![int(0, false)],
            // The key's columns stand elsewhere in the leaf than in the key.
            Schema::Entries => vec![int(1, true), text(2)],
            Schema::LongKeys => vec![text(0)],
        })
    }

    pub fn options(self, rig: &Rig) -> TreeOptions {
        TreeOptions {
            pages: Arc::clone(&rig.pages),
            space: Arc::clone(&rig.space),
            unit: Arc::clone(&rig.unit),
            root: rig.root,
            order: self.order(),
            leaf: self.leaf(),
            nullable_key: self == Schema::Entries,
            leaf_kind: self.leaf_kind(),
            splits: Arc::default(),
        }
    }

    /// A key of a small set, so that it is met again.
    pub fn key(self, n: u32) -> ModelKey {
        match self {
            Schema::Rows | Schema::Bare => vec![Part::Int(Some(n as i32 - 50))],
            Schema::Entries => {
                let int = (!n.is_multiple_of(7)).then_some((n % 13) as i32);
                vec![Part::Descending(Reverse(int)), Part::Text(format!("t{:05}", n / 3).into())]
            }
            Schema::LongKeys => {
                let mut text = format!("{:06}", n.wrapping_mul(7919) % 999_983).into_bytes();
                text.resize(6 + (n as usize * 37) % 790, b'x');
                vec![Part::Text(text)]
            }
        }
    }

    /// A record of a key.
    pub fn record(self, key: &ModelKey, payload: &[u8], ghost: bool) -> Vec<u8> {
        let bytes = key_bytes(key);
        let fields = fields_of(&bytes);
        let mut out = Vec::new();
        let kind = match (self, ghost) {
            (Schema::Entries, false) => RecordKind::Index,
            (Schema::Entries, true) => RecordKind::GhostIndex,
            (_, false) => RecordKind::Primary,
            (_, true) => RecordKind::GhostData,
        };
        let row = match self {
            Schema::Rows | Schema::LongKeys => vec![fields[0], Field::Inline(payload)],
            Schema::Bare => vec![fields[0]],
            Schema::Entries => {
                let mut four = [0; 4];
                let n = payload.len().min(4);
                four[..n].copy_from_slice(&payload[..n]);
                let four = four.to_vec().leak();
                vec![Field::Inline(four), fields[0], fields[1]]
            }
        };
        self.leaf().encode(kind, &row, None, &mut out);
        out
    }
}

/// The bytes of a key's columns.
pub fn key_bytes(key: &ModelKey) -> Vec<Option<Vec<u8>>> {
    let of = |part: &Part| match part {
        Part::Int(n) | Part::Descending(Reverse(n)) => n.map(|n| n.to_le_bytes().to_vec()),
        Part::Text(t) => Some(t.clone()),
    };
    key.iter().map(of).collect()
}

pub fn fields_of(bytes: &[Option<Vec<u8>>]) -> Vec<Field<'_>> {
    bytes.iter().map(|b| b.as_ref().map_or(Field::Null, |b| Field::Inline(b))).collect()
}

/// The database.
pub struct Rig {
    pub log: Arc<Log>,
    pub pages: Arc<Pages>,
    pub space: Arc<Space>,
    pub unit: Arc<AllocUnit>,
    pub root: PageId,
    pub data: Arc<dyn File>,
}

pub fn redo_table() -> Arc<RedoTable> {
    let table =
        RedoTable::new().with(space::kinds::RANGE, &SpaceRedo).with(btree::KINDS, &BtreeRedo);
    Arc::new(table)
}

fn log_options() -> LogOptions {
    LogOptions { initial_bytes: 1 << 20, growth_bytes: 1 << 20, ..LogOptions::default() }
}

fn open_file(disk: &dyn Disk, name: &str, create: bool) -> Arc<dyn File> {
    disk.open(Path::new(name), OpenMode { create, direct: false }).unwrap()
}

fn pages_over(log: &Arc<Log>, data: &Arc<dyn File>, frames: usize) -> Arc<Pages> {
    let memory = os::memory::Memory::new(64 << 20);
    let pool = Pool::new(&memory, frames).unwrap();
    let options = PagesOptions { database: DATABASE, durable: true, salvaged: false };
    let pages = Pages::new(&pool, log, &redo_table(), options);
    pages.attach(FileId(1), "data", Arc::clone(data));
    pages
}

const GROWTH: GrowthOptions = GrowthOptions { pages: 64, percent: 0, max_pages: 8000 };

impl Rig {
    /// A new database with an empty tree, durable when this returns.
    pub fn create(disk: &dyn Disk, schema: Schema, frames: usize) -> Rig {
        let family = [9; 16];
        let data = open_file(disk, "data", true);
        format_file(&*data, &FileFacts { family, file: FileId(1), size_pages: 64 }).unwrap();
        let log = Log::create(open_file(disk, "log", true), family, log_options()).unwrap();
        disk.sync_dir(Path::new("")).unwrap();
        let pages = pages_over(&log, &data, frames);
        let space = Space::open(&pages, GROWTH).unwrap();
        let mut group = Group::new();
        let making = space.create_unit(UNIT, Undo::Never).unwrap();
        let mut change = Change::new(&pages, &mut group);
        let unit = Arc::new(making.apply(&mut change).unwrap());
        change.finish(&mut TransactionChain::default());
        let claim = space.claim(&unit, 1).unwrap();
        let mut change = Change::new(&pages, &mut group);
        let root_page = space.allocate(&mut change, &unit, claim).unwrap()[0];
        let root = change.id(root_page);
        Tree::format_root(&mut change, root_page, &unit, schema.leaf_kind(), &schema.leaf());
        change.finish(&mut TransactionChain::default());
        log.flush_all();
        Rig { log, pages, space, unit, root, data }
    }

    /// The database after a crash: torn pages restored, the log repeated.
    pub fn recover(disk: &dyn Disk, at: TreeStart, frames: usize) -> (Rig, SurvivingChanges) {
        let data = open_file(disk, "data", false);
        let files = BTreeMap::from([(1, Arc::clone(&data))]);
        buffer::restore_torn_pages(DATABASE, &files).unwrap();
        let log = Log::open(open_file(disk, "log", false), log_options()).unwrap();
        let min = log.checkpoint().min_lsn;
        let pages = pages_over(&log, &data, frames);
        let ends = redo(&log, &pages, min);
        let space = Space::open(&pages, GROWTH).unwrap();
        let unit = Arc::new(AllocUnit::open(UNIT, at.first_iam));
        (Rig { log, pages, space, unit, root: at.root, data }, SurvivingChanges { ends, min })
    }

    /// What another process must know to find the tree again.
    pub fn made(&self) -> TreeStart {
        TreeStart { first_iam: self.unit.first_iam, root: self.root }
    }

    pub fn tree(&self, schema: Schema) -> Tree {
        Tree::open(schema.options(self))
    }

    /// Writes everything home and says so in the log, as a checkpoint does.
    pub fn checkpoint(&self) {
        let flushed = self.pages.flush_dirty();
        let mut group = Group::new();
        group.push_plain(wal::kinds::CHECKPOINT_END, 0, &[]).unwrap();
        let at = self.log.append(&mut group, &mut TransactionChain::default());
        self.log.flush_to(at.last);
        self.log.set_checkpoint(at.last, flushed.lsn.min(at.last), false).unwrap();
        self.log.truncate(flushed.lsn);
    }

    /// What verification finds in tree and maps.
    pub fn findings(&self, tree: &Tree) -> Vec<String> {
        let mut reached = BTreeSet::new();
        let found = verified(tree, &mut |id, _| {
            reached.insert(id);
        });
        let mut findings: Vec<String> = found.iter().map(|f| format!("{f:?}")).collect();
        let maps = self.space.check(&[&self.unit], &Waiter::new()).unwrap();
        findings.extend(maps.kept.iter().map(|f| format!("{f:?}")));
        let owned: BTreeSet<PageId> =
            self.space.unit_pages(&self.unit, &Waiter::new()).unwrap().pages.into_iter().collect();
        for page in owned.symmetric_difference(&reached) {
            findings.push(format!("page {page} is owned and not reached, or the reverse"));
        }
        findings
    }
}

/// What verification finds when nobody cancels it.
pub fn verified(tree: &Tree, visit: &mut dyn FnMut(PageId, PageView<'_>)) -> Vec<Finding> {
    tree.verify(&Waiter::new(), visit).unwrap()
}

/// Where a tree begins.
#[derive(Clone, Copy, Debug)]
pub struct TreeStart {
    pub first_iam: PageId,
    pub root: PageId,
}

/// Which changes a crash left.
pub struct SurvivingChanges {
    ends: BTreeSet<Lsn>,
    min: Lsn,
}

impl SurvivingChanges {
    /// Whether the group that ends there is in the log, or was home before the checkpoint.
    pub fn has(&self, end: Lsn) -> bool {
        end < self.min || self.ends.contains(&end)
    }
}

/// Repeats the log, and says where the groups of the process end that made it: a later process
/// begins with another incarnation, at the LSN of what was lost.
fn redo(log: &Log, pages: &Pages, from: Lsn) -> BTreeSet<Lsn> {
    let (mut ends, mut later) = (BTreeSet::new(), false);
    let mut reader = LogReader::new(log, from);
    loop {
        let more = reader.next_block::<WalError>(|group| {
            let incarnation = group.records[0].kind() == wal::kinds::INCARNATION;
            later |= incarnation && group.end() > Lsn::new(1, 16, 1);
            if !later {
                ends.insert(group.end());
            }
            let ids: BTreeSet<PageId> = group.records.iter().filter_map(|r| r.page()).collect();
            for id in ids {
                pages.redo_group(id, group).unwrap();
            }
            Ok(())
        });
        if !more.unwrap() {
            return ends;
        }
    }
}

pub fn read_page(data: &dyn File, id: PageId) -> Box<PageBytes> {
    let mut buffer = AlignedBuffer::new(8192);
    let offset = u64::from(id.page) * 8192;
    if offset + 8192 <= data.len().unwrap() {
        data.read_at(&mut buffer, offset).unwrap();
    }
    let page: PageBytes = buffer[..8192].try_into().unwrap();
    assert!(PageView(&page).is_blank() || page::verify(&page, id), "page {id} is torn");
    Box::new(page)
}

pub fn write_pages(data: &dyn File, pages: &mut BTreeMap<PageId, Box<PageBytes>>) {
    let end = pages.keys().map(|id| (u64::from(id.page) + 1) * 8192).max().unwrap_or(0);
    if end > data.len().unwrap() {
        data.set_len(end).unwrap();
    }
    let mut buffer = AlignedBuffer::new(8192);
    for (id, page) in pages {
        page::seal(page);
        buffer.copy_from_slice(&page[..]);
        data.write_at(&buffer, u64::from(id.page) * 8192).unwrap();
    }
    data.sync().unwrap();
}

/// One operation on a record, done as rowstore would: seek, make room, change.
#[derive(Clone, Debug)]
pub enum Op {
    Put(ModelKey, Vec<u8>),
    Ghost(ModelKey),
    Unghost(ModelKey),
    Expunge(ModelKey),
}

impl Op {
    pub fn key(&self) -> &ModelKey {
        match self {
            Op::Put(k, _) | Op::Ghost(k) | Op::Unghost(k) | Op::Expunge(k) => k,
        }
    }
}

/// What a key has in the model.
pub type Row = (bool, Vec<u8>);

/// The effect of an operation on a model: what [`perform`] does to the tree.
pub fn model(model: &mut BTreeMap<ModelKey, Row>, op: &Op) {
    match op {
        Op::Put(k, payload) => {
            model.insert(k.clone(), (false, payload.clone()));
        }
        Op::Ghost(k) => {
            if let Some(row) = model.get_mut(k) {
                row.0 = true;
            }
        }
        Op::Unghost(k) => {
            if let Some(row) = model.get_mut(k) {
                row.0 = false;
            }
        }
        Op::Expunge(k) => {
            model.remove(k);
        }
    }
}

/// The right to log what one operation may take at most, its splits included.
pub fn reserve(tree: &Tree) -> LogReservation {
    let mut log = LogReservation::none(tree.pages().log());
    log.grow(8 * btree::STRUCTURE_LOG_BYTES_MAX).unwrap();
    log
}

/// Does an operation; where it went in the log, or nothing when there was nothing to do.
/// `about` is called when everything is latched, before the change is logged.
pub fn perform(
    tree: &Tree,
    schema: Schema,
    group: &mut Group,
    op: &Op,
    policy: SplitPolicy,
    undo: Undo,
    about: &mut dyn FnMut(),
) -> Option<Lsn> {
    let bytes = key_bytes(op.key());
    let key = fields_of(&bytes);
    let _log = reserve(tree);
    let mut chain = TransactionChain::default();
    if let Undo::By(id) = undo {
        chain.id = id;
    }
    loop {
        let leaf = tree.seek_write(&key).unwrap();
        let status = leaf.record().map(page::is_ghost_record);
        let record = match op {
            Op::Put(k, payload) => Some(schema.record(k, payload, false)),
            _ => None,
        };
        let idle = match (op, status) {
            (Op::Put(..), _) => leaf.record() == record.as_deref(),
            (_, None) => true,
            (Op::Ghost(_), Some(ghost)) => ghost,
            (Op::Unghost(_), Some(ghost)) => !ghost,
            (Op::Expunge(_), Some(_)) => false,
        };
        if idle {
            about();
            return None;
        }
        if let Some(record) = &record {
            let room = match leaf.is_exact() {
                true => leaf.has_room_to_replace(record.len()),
                false => leaf.has_room(record.len()),
            };
            if !room {
                drop(leaf);
                tree.make_room(group, &key, record.len(), policy).unwrap();
                continue;
            }
        }
        let exact = leaf.is_exact();
        about();
        let mut change = Change::new(tree.pages(), group);
        let (page, slot) = leaf.join(&mut change);
        match (op, record) {
            (Op::Put(..), Some(r)) if exact => tree.replace(&mut change, page, slot, &r, undo),
            (Op::Put(..), Some(r)) => tree.insert(&mut change, page, slot, &r, undo),
            (Op::Ghost(_), _) => tree.ghost(&mut change, page, slot, undo),
            (Op::Unghost(_), _) => tree.unghost(&mut change, page, slot, undo),
            (_, _) => tree.expunge(&mut change, page, slot, undo),
        }
        .unwrap();
        return Some(change.finish(&mut chain).last);
    }
}

/// Moves records of two leaves together, or lets two leaves exchange their pages: what no record
/// is to notice.
pub fn reorganize(tree: &Tree, schema: Schema, group: &mut Group, random: &mut Random, keys: u64) {
    let mut drawn = || schema.key(random.below(keys) as u32);
    let (a, b) = (drawn(), drawn());
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    let (low_bytes, high_bytes) = (key_bytes(&low), key_bytes(&high));
    let _log = reserve(tree);
    if low == high || random.one_in(2) {
        let fill = 8096 * [50, 80, 100][random.below(3) as usize] / 100;
        tree.compact(group, &fields_of(&low_bytes), fill).unwrap();
    } else {
        let (low, high) = (fields_of(&low_bytes), fields_of(&high_bytes));
        tree.exchange_leaves(group, &low, &high).unwrap();
    }
}

/// Every record of the tree from left to right: its spelled key and its bytes.
pub fn contents(tree: &Tree) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    let search = btree::SearchKey { fields: &[], bias: btree::Bias::FirstAtLeast };
    let mut at = tree.seek(search).unwrap();
    let mut key = KeyBuf::default();
    while let Some(leaf) = at {
        leaf.copy_key(&mut key).unwrap();
        all.push((key.bytes().to_vec(), leaf.record().to_vec()));
        at = leaf.forward().unwrap();
    }
    all
}

/// What [`contents`] should say of a model.
pub fn expected(schema: Schema, model: &BTreeMap<ModelKey, Row>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let row = |(k, (ghost, payload)): (&ModelKey, &Row)| {
        let bytes = key_bytes(k);
        (KeyBuf::of(&fields_of(&bytes)).bytes().to_vec(), schema.record(k, payload, *ghost))
    };
    model.iter().map(row).collect()
}
