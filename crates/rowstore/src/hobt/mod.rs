//! `RowHobt`: one open heap or B-tree of rows.
//!
//! Physical columns are numbered as in the catalog's layouts. This crate knows no names and no SQL
//! types, only widths and comparisons.

pub(crate) mod state;

use crate::error::{RowError, RowResult};
use crate::hobt::state::HobtState;
use crate::large::piece::pieces_spec;
use access::{HobtKind, HobtPlaces, HobtSpec, StoredHobt, WriteError};
use base::{AllocUnitId, PageId, SqlError, messages};
use btree::{KeyOrder, Tree, TreeOptions, TreeSplits};
use buffer::{Change, Undo};
use lock::Resource;
use page::{Field, PageKind, RecordKind, RowLayout};
use space::AllocUnit;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Weak};
use work::{Home, Part};

/// An open heap or B-tree of rows.
pub(crate) struct RowHobt {
    pub(crate) home: Arc<Home>,
    pub(crate) spec: HobtSpec,
    pub(crate) places: HobtPlaces,
    pub(crate) layout: RowLayout,
    pub(crate) unit: Arc<AllocUnit>,
    pub(crate) tree: Option<Tree>,
    pub(crate) state: Arc<HobtState>,
    /// The tree with the pieces of large values.
    pub(crate) large: Option<Arc<RowHobt>>,
    pub(crate) me: Weak<RowHobt>,
}

impl RowHobt {
    /// The hobt, if it has this storage format.
    pub(crate) fn of(hobt: &dyn StoredHobt) -> Option<&RowHobt> {
        hobt.as_any()?.downcast_ref()
    }

    /// Opens a hobt that exists on disk, with the unit of its values that are off their rows.
    /// Nothing is read.
    pub(crate) fn open(
        home: &Arc<Home>,
        spec: HobtSpec,
        places: HobtPlaces,
        large: Option<(AllocUnitId, HobtPlaces)>,
    ) -> Arc<RowHobt> {
        let large = large
            .map(|(unit, pieces)| Self::open_with(home, pieces_spec(&spec, unit), pieces, None));
        Self::open_with(home, spec, places, large)
    }

    fn open_with(
        home: &Arc<Home>,
        spec: HobtSpec,
        places: HobtPlaces,
        large: Option<Arc<RowHobt>>,
    ) -> Arc<RowHobt> {
        let unit = Arc::new(AllocUnit::open(spec.unit, places.first_iam));
        Self::open_in(home, spec, places, large, (unit, HobtState::counting(Arc::default())))
    }

    /// The same hobt with other added columns behind those that all its rows have. If it has no
    /// unit for values off the rows, it gets `large`. Sessions that have it open with the old
    /// columns may continue to use it, because all records begin in the same way.
    pub(crate) fn with_layout(&self, spec: HobtSpec, large: Option<Arc<RowHobt>>) -> Arc<RowHobt> {
        assert_eq!((spec.hobt, spec.unit), (self.spec.hobt, self.spec.unit), "the same hobt");
        let first = |s: &HobtSpec| s.widths.len() - s.added.len();
        assert_eq!(first(&spec), first(&self.spec), "what all rows have stays");
        let large = self.large.clone().or(large);
        self.with_same_pages(spec, large)
    }

    /// The same new hobt, without rows, as the replacement of another: it continues the activity
    /// counters of that one.
    pub(crate) fn in_place_of(&self, other: &RowHobt) -> Arc<RowHobt> {
        assert_ne!(self.spec.hobt, other.spec.hobt, "a hobt is made anew under its own number");
        let state = HobtState::counting(Arc::clone(&other.state.activity));
        state.rows_known.store(self.state.rows_known.load(Relaxed), Relaxed);
        let (unit, large) = (Arc::clone(&self.unit), self.large.clone());
        Self::open_in(&self.home, self.spec.clone(), self.places, large, (unit, state))
    }

    /// The same hobt without its unit for values off the rows, which has just been undone.
    pub(crate) fn without_large(&self) -> Arc<RowHobt> {
        self.with_same_pages(self.spec.clone(), None)
    }

    fn with_same_pages(&self, spec: HobtSpec, large: Option<Arc<RowHobt>>) -> Arc<RowHobt> {
        let shared = (Arc::clone(&self.unit), Arc::clone(&self.state));
        Self::open_in(&self.home, spec, self.places, large, shared)
    }

    /// Makes the unit for values off the rows, for a hobt that has none.
    ///
    /// # Errors
    /// 1105, 9002, damaged maps.
    pub(crate) fn make_large(
        &self,
        work: &mut work::Work,
        unit: AllocUnitId,
    ) -> base::SqlResult<Arc<RowHobt>> {
        assert!(self.large.is_none(), "a hobt has one such unit");
        Self::create_with(work, &self.home, pieces_spec(&self.spec, unit), None)
    }

    fn open_in(
        home: &Arc<Home>,
        spec: HobtSpec,
        places: HobtPlaces,
        large: Option<Arc<RowHobt>>,
        (unit, state): (Arc<AllocUnit>, Arc<HobtState>),
    ) -> Arc<RowHobt> {
        assert_eq!(spec.kind == HobtKind::Heap, spec.key.is_empty(), "all but heaps have a key");
        assert!(spec.kind != HobtKind::Heap || !spec.uniquifier, "a heap's rows have RIDs");
        debug_assert!(spec.key.iter().all(|k| k.leaf_column < spec.widths.len()), "key columns");
        if let Some(large) = &large {
            assert_ne!(large.spec.unit, spec.unit, "values off the rows have their own unit");
            assert_eq!(large.spec.hobt, spec.hobt, "and the hobt of their rows");
            assert!(large.spec.pieces, "and are held as pieces");
            assert!(large.large.is_none(), "a piece has no pieces");
        }
        let layout = layout_of(&spec);
        let tree = (spec.kind != HobtKind::Heap).then(|| {
            Tree::open(TreeOptions {
                pages: Arc::clone(&home.pages),
                space: Arc::clone(&home.space),
                unit: Arc::clone(&unit),
                root: places.root,
                order: KeyOrder::new(spec.key.clone()),
                leaf: layout.clone(),
                nullable_key: spec.nullable_key,
                leaf_kind: leaf_kind(spec.kind),
                splits: Arc::clone(&state.splits),
            })
        });
        Arc::new_cyclic(|me| RowHobt {
            home: Arc::clone(home),
            spec,
            places,
            layout,
            unit,
            tree,
            state,
            large,
            me: Weak::clone(me),
        })
    }

    /// Makes the pages of a new hobt within a transaction. A rollback frees them.
    pub(crate) fn create_pages(
        home: &Arc<Home>,
        part: &mut Part,
        session: base::SessionId,
        spec: &HobtSpec,
    ) -> RowResult<HobtPlaces> {
        part.reserve(1024)?;
        let undo = part.undo();
        let made = home.space.create_unit(spec.unit, undo)?;
        let begin = part.begin();
        let mut change = Change::new(&home.pages, &mut part.group);
        begin.log(&mut change, session);
        let unit = made.apply(&mut change)?;
        change.finish(&mut part.chain);
        assert!(part.has_logged(), "what is made can be taken back");
        part.logged(256);
        let claim = home.space.claim(&unit, 1)?;
        let mut change = Change::new(&home.pages, &mut part.group);
        let root = home.space.allocate(&mut change, &unit, claim)?[0];
        let places = HobtPlaces { first_iam: unit.first_iam, root: change.id(root) };
        assert_eq!(unit.id, spec.unit, "the unit that was asked for");
        assert!(!places.root.is_none(), "a hobt has a page");
        assert_ne!(places.root, places.first_iam, "its map is no page of its rows");
        let layout = layout_of(spec);
        match spec.kind {
            HobtKind::Heap => {
                let min_len = layout.min_len().to_le_bytes();
                let format = crate::heap::redo::kinds::FORMAT;
                change.apply(root, unit.id, format, 0, &[&min_len], Undo::Never);
            }
            kind => Tree::format_root(&mut change, root, &unit, leaf_kind(kind), &layout),
        }
        change.finish(&mut part.chain);
        Ok(places)
    }

    /// Makes a hobt within the open transaction of a unit of work. With `large`, values may be
    /// stored off the rows, in a unit with that id.
    ///
    /// # Errors
    /// 1105, 9002, damaged maps.
    pub(crate) fn create(
        work: &mut work::Work,
        home: &Arc<Home>,
        spec: HobtSpec,
        large: Option<AllocUnitId>,
    ) -> base::SqlResult<Arc<RowHobt>> {
        let large = match large {
            Some(unit) => Some(Self::create_with(work, home, pieces_spec(&spec, unit), None)?),
            None => None,
        };
        Self::create_with(work, home, spec, large)
    }

    fn create_with(
        work: &mut work::Work,
        home: &Arc<Home>,
        spec: HobtSpec,
        large: Option<Arc<RowHobt>>,
    ) -> base::SqlResult<Arc<RowHobt>> {
        assert!(work.is_active(), "whoever makes a hobt can take it back");
        let session = work.session();
        let part = work.part(home);
        let made = Self::create_pages(home, part, session, &spec);
        let places = match made {
            Ok(places) => places,
            Err(e) => {
                let as_heap =
                    HobtSpec { kind: HobtKind::Heap, key: Vec::new(), uniquifier: false, ..spec };
                let nowhere = HobtPlaces { first_iam: PageId::NONE, root: PageId::NONE };
                return Err(Self::open(home, as_heap, nowhere, None).sql(e));
            }
        };
        let hobt = Self::open_with(home, spec, places, large);
        hobt.state.rows_known.store(1, Relaxed);
        hobt.state.built.store(1, Relaxed);
        Ok(hobt)
    }

    /// As [`access::Upkeep::mark_dropped`]; its tree of large values with it.
    pub(crate) fn mark_dropped(&self) {
        for tree in [Some(self), self.large.as_deref()].into_iter().flatten() {
            tree.state.dropped.store(true, Release);
        }
    }

    /// As [`access::Upkeep::is_dropped`].
    pub(crate) fn is_dropped(&self) -> bool {
        self.state.dropped.load(Acquire)
    }

    /// The splits of its tree since the hobt was opened; zeros for a heap.
    pub(crate) fn splits(&self) -> TreeSplits {
        self.state.splits.read()
    }

    pub(crate) fn tree(&self) -> &Tree {
        self.tree.as_ref().expect("only heaps have no tree")
    }

    /// This hobt as the settler of its ghosts.
    pub(crate) fn settler(&self) -> Arc<dyn work::Settler> {
        self.arc()
    }

    pub(crate) fn arc(&self) -> Arc<RowHobt> {
        self.me.upgrade().expect("a hobt in use is alive")
    }

    /// The resource of table locks.
    pub(crate) fn object_resource(&self) -> Resource {
        Resource::object(self.home.database, self.spec.object)
    }

    pub(crate) fn page_resource(&self, page: PageId) -> Resource {
        Resource::page(self.home.database, self.spec.hobt, page)
    }

    /// Whether these are the fields of a row: one for each physical column in its writer's
    /// definition. Columns that are missing there were added by a transaction that rolled back.
    pub(crate) fn is_row(&self, row: &[Field<'_>]) -> bool {
        let columns = self.spec.widths.len();
        (columns - self.spec.added.len()..=columns).contains(&row.len())
    }

    /// The column of the uniquifier, if rows have one.
    pub(crate) fn uniquifier_at(&self) -> Option<usize> {
        let last = self.spec.key.last().filter(|_| self.spec.uniquifier);
        last.map(|k| k.leaf_column)
    }

    /// Builds a record of all physical columns.
    pub(crate) fn encode(&self, row: &[Field<'_>], out: &mut Vec<u8>) {
        let kind = match self.spec.kind {
            HobtKind::Nonclustered => RecordKind::Index,
            HobtKind::Heap | HobtKind::Clustered => RecordKind::Primary,
        };
        out.clear();
        debug_assert!(self.is_row(row), "one field a column");
        self.layout.encode(kind, row, None, out);
        let reckoned = self.layout.encoded_len(row, false);
        debug_assert_eq!(out.len(), reckoned, "room was reckoned for that");
        if self.spec.kind == HobtKind::Heap {
            page::pad(out);
        }
    }

    /// Changes the row count. Uncommitted rows count, as in sys.partitions.
    pub(crate) fn count_rows(&self, delta: i64) {
        self.state.rows.fetch_add(delta, Relaxed);
    }
}

impl RowHobt {
    /// The error as the user sees it. If the name of an object is unknown, its id is shown.
    pub(crate) fn sql(&self, e: RowError) -> SqlError {
        let name = self.home.name();
        let object = format!("object {}", self.spec.object);
        let table = || self.home.object_name(self.spec.object);
        match e {
            RowError::Btree(e) => e.into_sql(&object, &name),
            RowError::Buffer(e) => e.into(),
            RowError::Space(e) => e.into_sql(&object, &name),
            RowError::Log(e) => e.into_sql(&name),
            RowError::Lock(e) => e.into(),
            RowError::Cancelled(why) => why.into(),
            RowError::Version(e) => {
                let own = self.home.version_stores().keeps_own();
                e.into_sql(if own { &name } else { "tempdb" })
            }
            RowError::Conflict => {
                SqlError::new(messages::UPDATE_CONFLICT, &[&table(), &name]).with_state(2)
            }
            RowError::NotKept => SqlError::new(messages::VERSION_NOT_FOUND, &[&table(), &name]),
            RowError::Victim => SqlError::new(messages::VERSIONS_VICTIM, &[]),
            RowError::Sql(e) => e,
        }
    }

    pub(crate) fn write_error(&self, e: RowError) -> WriteError {
        match e {
            RowError::Conflict => WriteError::Conflict,
            e => WriteError::Sql(self.sql(e)),
        }
    }
}

pub(crate) fn leaf_kind(kind: HobtKind) -> PageKind {
    match kind {
        HobtKind::Heap | HobtKind::Clustered => PageKind::Data,
        HobtKind::Nonclustered => PageKind::Index,
    }
}

pub(crate) fn layout_of(spec: &HobtSpec) -> RowLayout {
    match spec.kind {
        HobtKind::Nonclustered => {
            assert!(spec.added.is_empty(), "entries are rebuilt when their columns change");
            RowLayout::of_entries(&spec.widths, spec.nullable, 0)
        }
        HobtKind::Heap | HobtKind::Clustered => {
            assert!(spec.added.len() <= spec.widths.len(), "added columns are columns");
            let first = spec.widths.len() - spec.added.len();
            let mut layout = RowLayout::of_rows(&spec.widths[..first]);
            for (width, default) in spec.widths[first..].iter().zip(&spec.added) {
                layout.add_column(*width, default.as_deref());
            }
            debug_assert_eq!(layout.column_count(), spec.widths.len(), "each has its place");
            layout
        }
    }
}
