//! What a heap or tree is to be made of, where it was put, and who makes it.
//!
//! `database` implements [`SystemHobts`] and [`Builder`]; `ddl` uses them through `&dyn`.

use crate::sysrows::{AllocUnitRow, DropRow, SystemTable, SystemTableId};
use crate::view::{Index, IndexKind, KeyField, PhysicalColumn, Table};
use access::{Growth, Hobt};
use base::{AllocUnitId, DatabaseId, HobtId, IndexId, ObjectId, PageId, SqlResult};
use std::sync::Arc;
use types::{Collation, SqlType};
use work::Work;

/// A physical column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HobtColumn {
    /// Its type.
    pub sql_type: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How its characters compare.
    pub collation: Collation,
}

/// A heap or B-tree, as data: enough to create or to open it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HobtSpec {
    /// Its database.
    pub database: DatabaseId,
    /// The table that it is of, for locks and messages.
    pub object_id: ObjectId,
    /// Which index of the table.
    pub index_id: IndexId,
    /// Its id.
    pub hobt: HobtId,
    /// How it holds rows.
    pub kind: IndexKind,
    /// Physical columns in order; [`Table::hobt_layout`] says which.
    pub columns: Vec<HobtColumn>,
    /// What the last so many columns are in rows from before they were added.
    pub added: Vec<Option<Box<[u8]>>>,
    /// The full unique key; empty for a heap.
    pub key: Vec<KeyField>,
    /// How many of `key` were declared.
    pub declared_key: usize,
    /// The declared key is unique. A clustered index that is not has its uniquifier as the last
    /// key field.
    pub unique: bool,
    /// Percent; 0 is 100: of no meaning to a system table.
    pub fill_factor: u8,
    /// PAD_INDEX.
    pub padded: bool,
}

impl HobtSpec {
    /// Of an index of a table; of one in several partitions see [`crate::view::Partitions::sole`].
    pub fn of(table: &Table, index: &Index) -> HobtSpec {
        HobtSpec::of_hobt(table, index, index.partitions.sole())
    }

    /// Of the hobt of a partition of an index.
    pub fn of_hobt(table: &Table, index: &Index, hobt: HobtId) -> HobtSpec {
        let layout = table.hobt_layout(index);
        let column = |&at: &PhysicalColumn| {
            let (sql_type, nullable) = table.physical_type(at);
            let collation = match at {
                PhysicalColumn::Column(n) => table.columns[n].collation,
                PhysicalColumn::Dropped(_) | PhysicalColumn::Uniquifier | PhysicalColumn::Rid => {
                    Collation::default()
                }
            };
            HobtColumn { sql_type, nullable, collation }
        };
        HobtSpec {
            database: table.database,
            object_id: table.object_id,
            index_id: index.index_id,
            hobt,
            kind: index.kind,
            columns: layout.columns.iter().map(column).collect(),
            added: match index.kind {
                IndexKind::Nonclustered => Vec::new(),
                IndexKind::Heap | IndexKind::Clustered => {
                    table.history.added.iter().map(|a| a.default.clone()).collect()
                }
            },
            key: layout.key,
            declared_key: layout.declared_key,
            unique: index.unique,
            fill_factor: index.fill_factor,
            padded: index.padded,
        }
    }

    /// Of a system table.
    pub fn of_system(database: DatabaseId, table: &SystemTable) -> HobtSpec {
        let column = |c: &crate::SystemColumn| HobtColumn {
            sql_type: c.sql_type,
            nullable: c.nullable,
            collation: Collation::LATIN1_BIN2,
        };
        HobtSpec {
            database,
            object_id: table.id.object_id(),
            index_id: IndexId(1),
            hobt: table.id.hobt(),
            kind: IndexKind::Clustered,
            columns: table.columns.iter().map(column).collect(),
            added: Vec::new(),
            key: (0..table.key).map(|field| KeyField { field, descending: false }).collect(),
            declared_key: table.key,
            unique: true,
            fill_factor: 0,
            padded: false,
        }
    }

    /// Whether a row may have values that are stored off it.
    pub fn may_have_large_values(&self) -> bool {
        let bytes = |c: &HobtColumn| match types::fixed_width(c.sql_type) {
            Some(width) => usize::from(width),
            None if c.sql_type.is_max() => usize::MAX,
            None => usize::try_from(c.sql_type.max_length()).unwrap_or(usize::MAX),
        };
        let total = self.columns.iter().map(bytes).fold(0_usize, usize::saturating_add);
        total > base::limits::RECORD_BYTES_MAX
    }
}

/// What the pages of an allocation unit are for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum UnitKind {
    /// IN_ROW_DATA
    Rows = 1,
    /// LOB_DATA
    Large = 2,
    /// ROW_OVERFLOW_DATA
    Overflow = 3,
}

impl UnitKind {
    /// Of `sys.allocation_units.type`.
    pub const fn of_number(n: u8) -> Option<UnitKind> {
        match n {
            1 => Some(UnitKind::Rows),
            2 => Some(UnitKind::Large),
            3 => Some(UnitKind::Overflow),
            _ => None,
        }
    }

    /// `sys.allocation_units.type_desc`
    pub const fn name(self) -> &'static str {
        match self {
            UnitKind::Rows => "IN_ROW_DATA",
            UnitKind::Large => "LOB_DATA",
            UnitKind::Overflow => "ROW_OVERFLOW_DATA",
        }
    }
}

/// Where an allocation unit is. Nothing of it changes while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitPlaces {
    /// Its id.
    pub unit: AllocUnitId,
    /// What for.
    pub kind: UnitKind,
    /// The first IAM page.
    pub first_iam: PageId,
    /// The root of a tree; none for a heap.
    pub root: PageId,
    /// The first page of a heap, or of the leaf level when it was made.
    pub first_page: PageId,
}

/// Where a heap or tree is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HobtPlaces {
    /// Its units: rows first.
    pub units: Vec<UnitPlaces>,
}

impl HobtPlaces {
    /// The unit of its rows.
    pub fn rows(&self) -> Option<&UnitPlaces> {
        self.units.iter().find(|u| u.kind == UnitKind::Rows)
    }
}

/// A unit whose pages are to be freed: its owner's drop has committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedUnit {
    /// Whose it was.
    pub hobt: HobtId,
    /// Where it is.
    pub places: UnitPlaces,
}

/// Opens the system tables of a database. Implemented by `database`.
pub trait SystemHobts: Send + Sync {
    /// A system table's rows.
    fn open(&self, table: SystemTableId) -> Arc<dyn Hobt>;
}

/// Makes and drops heaps and trees. Implemented by `database`.
pub trait Builder: Send + Sync {
    /// Makes an empty heap or tree in the caller's transaction: gone again when it rolls back.
    ///
    /// # Errors
    /// Space, log.
    fn create_hobt(&self, work: &mut Work, spec: &HobtSpec) -> SqlResult<HobtPlaces>;

    /// A hobt that was just made takes the place of another: what is counted of its use goes on
    /// from there.
    fn counts_on(&self, _hobt: HobtId, _former: HobtId) {}

    /// Frees a hobt's pages once the transaction has committed. Its rows in `sysallocunits` are
    /// rows of `sysdrops` already.
    ///
    /// # Errors
    /// Log.
    fn drop_hobt_after_commit(&self, work: &mut Work, dropped: &[DroppedUnit]) -> SqlResult<()>;

    /// Gives the heap or clustered index of a table the columns that were added to it, and where
    /// they need it a unit for values off the rows, which it then gives. Nothing is undone when
    /// the transaction rolls back but that unit: whoever writes rows without the columns may.
    ///
    /// # Errors
    /// Space, log; no such hobt.
    fn add_columns(&self, work: &mut Work, spec: &HobtSpec) -> SqlResult<Option<UnitPlaces>>;

    /// How a tree has grown since it was built; `None` for a heap.
    ///
    /// # Errors
    /// Damaged pages, cancellation; no such hobt.
    fn growth(&self, work: &Work, spec: &HobtSpec) -> SqlResult<Option<Growth>>;

    /// Moves the rows of a hobt together, leaves being filled to `percent`, and brings its pages
    /// into order; with `large` those of values off the rows, too. Each step stands by itself and
    /// stays, whatever becomes of the transaction; others read and write meanwhile.
    ///
    /// # Errors
    /// Damaged pages, log, cancellation; no such hobt.
    fn reorganize(
        &self,
        work: &mut Work,
        spec: &HobtSpec,
        percent: u8,
        large: bool,
    ) -> SqlResult<()>;

    /// A hobt of the database, also one that the caller's transaction has just made.
    ///
    /// # Errors
    /// When there is no such hobt.
    fn open(&self, spec: &HobtSpec) -> SqlResult<Arc<dyn Hobt>>;
}

fn page(file: i16, page: i32) -> Option<PageId> {
    Some(PageId::new(u16::try_from(file).ok()?, page as u32))
}

impl UnitPlaces {
    pub(crate) fn of_row(row: &AllocUnitRow) -> Option<UnitPlaces> {
        Some(UnitPlaces {
            unit: AllocUnitId(row.unit as u32),
            kind: UnitKind::of_number(row.kind)?,
            first_iam: page(row.first_iam_file, row.first_iam_page)?,
            root: page(row.root_file, row.root_page)?,
            first_page: page(row.first_file, row.first_page)?,
        })
    }

    pub(crate) fn row(&self, hobt: HobtId) -> AllocUnitRow {
        AllocUnitRow {
            hobt: hobt.0 as i32,
            kind: self.kind as u8,
            unit: self.unit.0 as i32,
            first_iam_file: self.first_iam.file.0 as i16,
            first_iam_page: self.first_iam.page as i32,
            root_file: self.root.file.0 as i16,
            root_page: self.root.page as i32,
            first_file: self.first_page.file.0 as i16,
            first_page: self.first_page.page as i32,
        }
    }
}

impl DroppedUnit {
    pub(crate) fn of_row(row: &DropRow) -> Option<DroppedUnit> {
        let places = UnitPlaces {
            unit: AllocUnitId(row.unit as u32),
            kind: UnitKind::of_number(row.kind)?,
            first_iam: page(row.first_iam_file, row.first_iam_page)?,
            root: page(row.root_file, row.root_page)?,
            first_page: page(row.first_file, row.first_page)?,
        };
        Some(DroppedUnit { hobt: HobtId(row.hobt as u32), places })
    }

    pub(crate) fn row(&self) -> DropRow {
        let r = self.places.row(self.hobt);
        DropRow {
            unit: r.unit,
            hobt: r.hobt,
            kind: r.kind,
            first_iam_file: r.first_iam_file,
            first_iam_page: r.first_iam_page,
            root_file: r.root_file,
            root_page: r.root_page,
            first_file: r.first_file,
            first_page: r.first_page,
        }
    }
}
