//! Tables, their columns, indexes and constraints.

use super::{
    AutoFill, ExtendedProperty, ForeignKey, Partition, Partitions, PropertyClass, PropertyOwner,
    RowHistory, SchemaId,
};
use crate::statistics::Distribution;
use base::{DatabaseId, HobtId, IndexId, ObjectId};
use std::sync::Arc;
use types::{Collation, Restriction, SqlType};

/// A user table, or a temporary one.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The database it lives in; tempdb for `#t` and table variables.
    pub database: DatabaseId,
    /// Its object id.
    pub object_id: ObjectId,
    /// Its schema.
    pub schema_id: SchemaId,
    /// The schema's name.
    pub schema_name: Box<str>,
    /// Its name; a temporary table's begins with `#`.
    pub name: Box<str>,
    /// Live columns in definition order.
    pub columns: Vec<Column>,
    /// The heap or clustered index first (every table has one of them), then the others by id.
    pub indexes: Vec<Index>,
    /// Statistics of their own, by id; those of an index are its own.
    pub statistics: Vec<Statistics>,
    /// CHECK constraints.
    pub checks: Vec<Check>,
    /// FOREIGN KEY constraints.
    pub foreign_keys: Vec<ForeignKey>,
    /// What became of the columns of its rows since they were made.
    pub history: RowHistory,
    /// Extended properties of the table, its columns, indexes and constraints.
    pub properties: Vec<ExtendedProperty>,
    /// `#t` or a table variable: seen by one session. `##t` is an ordinary table of tempdb.
    pub is_temp: bool,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its id, from 1; gaps where columns were dropped.
    pub column_id: i32,
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub sql_type: SqlType,
    /// `sys.columns.user_type_id`: tells numeric (108) from decimal (106), sysname (256) from
    /// nvarchar.
    pub user_type_id: i32,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// How its characters compare; of no meaning for other types.
    pub collation: Collation,
    /// ROWGUIDCOL: what `$ROWGUID` means; of one column of a table.
    pub row_guid: bool,
    /// IDENTITY.
    pub identity: Option<Identity>,
    /// DEFAULT.
    pub default: Option<Default>,
    /// `AS expression`.
    pub computed: Option<ComputedColumn>,
    /// Its place among the table's physical columns, perhaps with gaps; `None` when it is computed
    /// and not stored: one that is not PERSISTED is stored from its first index on.
    pub physical: Option<u16>,
}

impl Column {
    /// It is computed when a row is written: PERSISTED, or part of an index.
    pub fn is_stored_computed(&self) -> bool {
        self.computed.is_some() && self.physical.is_some()
    }

    /// It is computed, and not PERSISTED: what no constraint but a key may name.
    pub fn is_virtual(&self) -> bool {
        self.computed.as_ref().is_some_and(|c| !c.persisted)
    }
}

/// IDENTITY(seed, increment).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The first value.
    pub seed: i128,
    /// What is added.
    pub increment: i128,
    /// NOT FOR REPLICATION, of which only replication would take notice.
    pub not_for_replication: bool,
}

/// A DEFAULT constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Default {
    /// The constraint's object.
    pub object_id: ObjectId,
    /// The constraint's name.
    pub name: Box<str>,
    /// Whether the system chose the name.
    pub system_named: bool,
    /// The expression's text.
    pub text: Box<str>,
}

/// The expression of a computed column.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputedColumn {
    /// Its text.
    pub text: Box<str>,
    /// Stored in the row.
    pub persisted: bool,
}

/// A CHECK constraint.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The constraint's object.
    pub object_id: ObjectId,
    /// Its name.
    pub name: Box<str>,
    /// Whether the system chose the name.
    pub system_named: bool,
    /// The condition's text.
    pub text: Box<str>,
    /// The ordinal of the column it was written behind, which error 547 names.
    pub column: Option<usize>,
    /// NOCHECK CONSTRAINT: not enforced.
    pub disabled: bool,
    /// Rows may be there that were never checked.
    pub not_trusted: bool,
    /// NOT FOR REPLICATION: it is never trusted.
    pub not_for_replication: bool,
}

/// What all constraints of a table have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint<'a> {
    /// Its object.
    pub object_id: ObjectId,
    /// Its name.
    pub name: &'a str,
    /// `sys.objects.type`, without its trailing blank.
    pub type_code: &'static str,
}

/// How an index holds its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// Index 0: rows without order.
    Heap,
    /// Index 1: the rows themselves in key order.
    Clustered,
    /// Keys with locators.
    Nonclustered,
}

impl IndexKind {
    /// Whether it is no index: rows without order, each known by its RID.
    pub const fn is_heap(self) -> bool {
        matches!(self, IndexKind::Heap)
    }

    /// Whether what it holds has a key.
    pub const fn has_key(self) -> bool {
        !self.is_heap()
    }

    /// Whether it holds the rows, by their key.
    pub const fn is_clustered(self) -> bool {
        matches!(self, IndexKind::Clustered)
    }

    /// Whether it holds the rows of its table.
    pub const fn holds_rows(self) -> bool {
        !self.holds_entries()
    }

    /// Whether it holds entries that lead to rows.
    pub const fn holds_entries(self) -> bool {
        matches!(self, IndexKind::Nonclustered)
    }
}

/// A heap or an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// 0 heap, 1 clustered, 2 and up nonclustered.
    pub index_id: IndexId,
    /// Its name; empty for a heap.
    pub name: Box<str>,
    /// How it holds its rows.
    pub kind: IndexKind,
    /// Keys are unique.
    pub unique: bool,
    /// It enforces the PRIMARY KEY; its name is the constraint's.
    pub primary_key: bool,
    /// It enforces a UNIQUE constraint; its name is the constraint's.
    pub unique_constraint: bool,
    /// The constraint's object, where it enforces one.
    pub constraint_id: Option<ObjectId>,
    /// Whether the system chose the constraint's name.
    pub system_named: bool,
    /// Key columns as declared.
    pub key: Vec<IndexColumn>,
    /// INCLUDE columns: ordinals of the table's columns.
    pub included: Vec<usize>,
    /// Its B-trees or heaps: one, where nobody partitioned it.
    pub partitions: Partitions,
    /// Percent; 0 is the server's default (100).
    pub fill_factor: u8,
    /// FILLFACTOR = AUTO: each build chooses the factor, by this the last time.
    pub auto_fill: Option<AutoFill>,
    /// PAD_INDEX: builds leave as much free on the pages above the leaves.
    pub padded: bool,
    /// IGNORE_DUP_KEY.
    pub ignore_dup_key: bool,
    /// Neither read nor maintained.
    pub disabled: bool,
    /// Which rows it has, where it has not all.
    pub filter: Option<Arc<Restriction>>,
    /// What is known of its key's values; of a heap nothing.
    pub gathered: StatisticsContent,
}

impl Index {
    /// Whether a column is in it, or decides about its rows.
    pub fn has_column(&self, ordinal: usize) -> bool {
        self.key.iter().any(|k| k.column == ordinal)
            || self.included.contains(&ordinal)
            || self.filter.as_ref().is_some_and(|f| f.reads(ordinal))
    }
}

/// What statistics hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatisticsContent {
    /// NORECOMPUTE: only a statement updates them.
    pub no_recompute: bool,
    /// What was found; none when nobody looked, or there were no rows.
    pub distribution: Option<Arc<Distribution>>,
}

/// Statistics that no index has.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Their number among the table's statistics and indexes.
    pub stats_id: IndexId,
    /// Their name, which no index of the table has.
    pub name: Box<str>,
    /// The columns: ordinals of the table's.
    pub columns: Vec<usize>,
    /// What they hold.
    pub gathered: StatisticsContent,
}

impl Statistics {
    /// How names begin of those that were made because a query wanted them.
    pub const AUTOMATIC: &str = "_WA_Sys_";

    /// Whether a query made them: what changes a column they are of drops them.
    pub fn automatic(&self) -> bool {
        self.name.starts_with(Self::AUTOMATIC)
    }
}

/// Statistics of either kind.
#[derive(Clone, Debug)]
pub struct AnyStatistics<'a> {
    /// The index's number, where they are an index's.
    pub stats_id: IndexId,
    /// The name.
    pub name: &'a str,
    /// Ordinals of the declared columns.
    pub columns: Vec<usize>,
    /// What they hold.
    pub gathered: &'a StatisticsContent,
    /// The index they belong to.
    pub index: Option<&'a Index>,
}

impl AnyStatistics<'_> {
    /// Whether they are of all rows: those of a filtered index are not.
    pub fn is_whole(&self) -> bool {
        self.index.is_none_or(|i| i.filter.is_none())
    }
}

/// A key column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// Ordinal of the table's column (its position in [`Table::columns`]).
    pub column: usize,
    /// DESC.
    pub descending: bool,
}

impl Table {
    /// Forgets the properties of columns, indexes and constraints that are gone.
    pub fn forget_orphans(&mut self) {
        let all = std::mem::take(&mut self.properties);
        self.properties = all.into_iter().filter(|p| self.has_part(p.owner)).collect();
    }

    fn has_part(&self, owner: PropertyOwner) -> bool {
        let PropertyOwner { class, major, minor } = owner;
        match class {
            PropertyClass::ObjectOrColumn if major == self.object_id => {
                minor == 0 || self.columns.iter().any(|c| c.column_id == minor)
            }
            PropertyClass::ObjectOrColumn => self.constraints().any(|c| c.object_id == major),
            PropertyClass::Index => self.indexes.iter().any(|i| i.index_id.0 == minor),
            PropertyClass::Database
            | PropertyClass::Parameter
            | PropertyClass::Schema
            | PropertyClass::Type
            | PropertyClass::TypeColumn => false,
        }
    }

    /// The ordinal of a column, as the collation of the database compares names.
    pub fn column(&self, name: &str, names: Collation) -> Option<usize> {
        let wanted = super::lookup::folded(name, names);
        self.columns.iter().position(|c| super::lookup::folded(&c.name, names) == wanted)
    }

    /// The heap or clustered index: where the rows themselves are.
    ///
    /// # Panics
    /// When the table has no index entry at all, which the catalog never makes.
    pub fn base(&self) -> &Index {
        self.indexes.first().expect("a table has a heap or a clustered index, listed first")
    }

    /// Whether rows of it, or entries of an index, are in several partitions.
    pub fn is_partitioned(&self) -> bool {
        self.indexes.iter().any(|i| i.partitions.are_several())
    }

    /// The heap or index that a hobt is of, and which partition of it.
    pub fn partition(&self, hobt: HobtId) -> Option<(&Index, Partition)> {
        self.indexes.iter().find_map(|i| Some((i, i.partitions.of(hobt)?)))
    }

    /// The partitions of all its indexes.
    pub fn partitions(&self) -> impl Iterator<Item = (&Index, Partition)> {
        self.indexes.iter().flat_map(|i| i.partitions.iter().map(move |p| (i, p)))
    }

    /// The hobt that the count of identity values belongs to. A table has one count, however many
    /// partitions it has.
    pub fn counter(&self) -> HobtId {
        self.base().partitions.first()
    }

    /// An index by name.
    pub fn index(&self, name: &str, names: Collation) -> Option<&Index> {
        let wanted = super::lookup::folded(name, names);
        self.indexes.iter().find(|i| super::lookup::folded(&i.name, names) == wanted)
    }

    /// Whether plans may rely on any of its CHECK and FOREIGN KEY constraints.
    pub fn trusts_constraints(&self) -> bool {
        let checks = self.checks.iter().map(|c| (c.disabled, c.not_trusted));
        let keys = self.foreign_keys.iter().map(|k| (k.disabled, k.not_trusted));
        checks.chain(keys).any(|(disabled, not_trusted)| !disabled && !not_trusted)
    }

    /// Its constraints of all kinds.
    pub fn constraints(&self) -> impl Iterator<Item = Constraint<'_>> {
        let keys = self.indexes.iter().filter_map(|i| {
            let type_code = if i.primary_key { "PK" } else { "UQ" };
            Some(Constraint { object_id: i.constraint_id?, name: &i.name, type_code })
        });
        let checks = self.checks.iter().map(|c| (c.object_id, &c.name, "C"));
        let foreign = self.foreign_keys.iter().map(|k| (k.object_id, &k.name, "F"));
        let defaults = self.columns.iter().filter_map(|c| c.default.as_ref());
        let defaults = defaults.map(|d| (d.object_id, &d.name, "D"));
        let others = checks.chain(foreign).chain(defaults);
        keys.chain(others.map(|(object_id, name, type_code)| Constraint {
            object_id,
            name,
            type_code,
        }))
    }

    /// The ordinal of the column of an id.
    pub fn ordinal(&self, column_id: i32) -> Option<usize> {
        self.columns.iter().position(|c| c.column_id == column_id)
    }

    /// The ordinal of the identity column.
    pub fn identity(&self) -> Option<usize> {
        self.columns.iter().position(|c| c.identity.is_some())
    }

    /// The ordinal of the rowversion column.
    pub fn row_version(&self) -> Option<usize> {
        self.columns.iter().position(|c| c.sql_type == SqlType::RowVersion)
    }

    /// All statistics by their number: those of indexes and those of their own.
    pub fn all_statistics(&self) -> Vec<AnyStatistics<'_>> {
        let indexes = self.indexes.iter().filter(|i| i.kind != IndexKind::Heap);
        let of_index = indexes.map(|i| AnyStatistics {
            stats_id: i.index_id,
            name: &i.name,
            columns: i.key.iter().map(|k| k.column).collect(),
            gathered: &i.gathered,
            index: Some(i),
        });
        let own = self.statistics.iter().map(|s| AnyStatistics {
            stats_id: s.stats_id,
            name: &s.name,
            columns: s.columns.clone(),
            gathered: &s.gathered,
            index: None,
        });
        let mut all: Vec<_> = of_index.chain(own).collect();
        all.sort_by_key(|s| s.stats_id);
        all
    }

    /// Differs whenever statistics do that begin with a column that matters, by its ordinal: plans
    /// that were chosen with others are stale.
    pub fn statistics_stamp(&self, matters: impl Fn(usize) -> bool) -> u64 {
        let known = self.all_statistics().into_iter();
        let known = known.filter(|s| s.columns.first().is_some_and(|&c| matters(c)));
        let at = known.map(|s| s.gathered.distribution.as_ref().map_or(1, |d| d.updated_ns as u64));
        at.fold(0, |sum: u64, n| sum.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(n))
    }

    /// Whether another definition of it differs in nothing but statistics.
    pub fn has_rows_of(&self, other: &Table) -> bool {
        let bare = |table: &Table| {
            let mut bare = table.clone();
            bare.statistics.clear();
            bare.indexes.iter_mut().for_each(|i| i.gathered = StatisticsContent::default());
            bare
        };
        bare(self) == bare(other)
    }

    /// A number that none of its indexes and statistics has; 1 is a clustered index's.
    pub fn next_index_id(&self) -> IndexId {
        let indexes = self.indexes.iter().map(|i| i.index_id.0);
        let used = indexes.chain(self.statistics.iter().map(|s| s.stats_id.0));
        IndexId(used.max().unwrap_or(0).max(1) + 1)
    }

    /// `schema.table`, as most messages name it.
    pub fn two_part_name(&self) -> String {
        format!("{}.{}", self.schema_name, self.name)
    }
}
