//! The physical tree: operators of row mode.
//!
//! Each operator names the slots it writes. `carried` of an operator that remembers rows lists
//! the slots it saves with each and restores when it gives the row out again.

use crate::{
    AggregateCall, ChangedId, FunctionRows, JoinKind, LockHints, Predicate, Recursion, Scalar,
    Slot, SortKey, Split, WindowCall,
};
use base::{DatabaseId, HobtId, ObjectId};
use types::{Collation, SqlType};

/// An operator with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Physical {
    /// Rows of a heap or an index, all or a range of its key.
    Access(Box<Access>),
    /// For each row of the input (an index's), the row in the heap or clustered index.
    Lookup(Box<KeyLookup>),
    /// Rows of a system view or function.
    Virtual(Box<VirtualScan>),
    /// Rows that a function makes of its arguments.
    Function(Box<FunctionRows>),
    /// Rows that stand in the plan.
    Constants {
        /// Each as long as `columns`.
        rows: Vec<Vec<Scalar>>,
        /// Where their values go.
        columns: Vec<Slot>,
    },
    /// The rows that a target of the plan has changed.
    Changed {
        /// Which target's.
        id: ChangedId,
        /// What was kept of them, in the slots where it was.
        columns: Vec<Slot>,
    },
    /// Rows for which a predicate is true.
    Filter {
        /// Its rows.
        input: Box<Physical>,
        /// What must be true.
        predicate: Predicate,
    },
    /// Rows only if a predicate that reads none of their columns is true; decided once per open,
    /// before the input is opened.
    StartupFilter {
        /// Its rows.
        input: Box<Physical>,
        /// What must be true.
        predicate: Predicate,
    },
    /// The value of a scalar subquery has one row at most: a second one is error 512.
    Assert {
        /// Its rows.
        input: Box<Physical>,
        /// Which row it is, from 1.
        count: Slot,
    },
    /// Further columns, computed from left to right.
    Compute {
        /// Its rows.
        input: Box<Physical>,
        /// What is computed into which slot.
        columns: Vec<(Slot, Scalar)>,
    },
    /// For each row of the outer side, those of the inner, opened anew: it may read outer slots.
    NestedLoops(Box<NestedLoops>),
    /// A hash table of one side, probed with the other.
    HashJoin(Box<HashJoin>),
    /// Two inputs in the order of their keys, read side by side.
    MergeJoin(Box<MergeJoin>),
    /// All rows in order.
    Sort {
        /// Its rows.
        input: Box<Physical>,
        /// By what.
        keys: Vec<SortKey>,
        /// What else each row keeps (keys included).
        carried: Vec<Slot>,
        /// Equal keys once.
        distinct: bool,
    },
    /// The first `top` rows in order, keeping no more than those.
    TopSort {
        /// Its rows.
        input: Box<Physical>,
        /// How many.
        top: Top,
        /// By what.
        keys: Vec<SortKey>,
        /// What each row keeps (keys included).
        carried: Vec<Slot>,
    },
    /// The first rows.
    Top {
        /// Its rows.
        input: Box<Physical>,
        /// How many.
        top: Top,
    },
    /// Groups by hash table. Without calls: DISTINCT. A group's row has its keys in their slots
    /// again, and nothing else of its rows.
    HashAggregate {
        /// Its rows.
        input: Box<Physical>,
        /// What rows of a group share.
        keys: Vec<(Slot, Collation)>,
        /// What is computed.
        calls: Vec<AggregateCall>,
    },
    /// Groups of neighbours: the input is ordered by the keys. Without keys: one row always. A
    /// group's row has its keys in their slots again.
    StreamAggregate {
        /// Its rows.
        input: Box<Physical>,
        /// What rows of a group share.
        keys: Vec<(Slot, Collation)>,
        /// What is computed.
        calls: Vec<AggregateCall>,
    },
    /// Window functions; the input is ordered by partition, then order.
    Window {
        /// Its rows.
        input: Box<Physical>,
        /// Where a partition begins.
        partition: Vec<(Slot, Collation)>,
        /// Which rows are peers.
        order: Vec<(Slot, Collation)>,
        /// What is computed.
        calls: Vec<WindowCall>,
        /// What a row keeps where the operator must see the rows after it first.
        carried: Vec<Slot>,
    },
    /// Rows of an anchor, and depth first those that follow from each.
    Recursive(Box<Recursion<Physical>>),
    /// One input after the other, their slots copied.
    Concatenation {
        /// Each with the slots that go into `columns`, in order.
        inputs: Vec<(Physical, Vec<Slot>)>,
        /// Where they go.
        columns: Vec<Slot>,
    },
    /// Two ordered inputs read side by side into one order.
    MergeUnion(Box<MergeUnion>),
    /// Rows that several workers make, each with a copy of the operators below, change hands.
    Exchange(Box<Exchange>),
    /// Two rows of each: an index's old entry and its new one.
    Split(Box<Split>),
    /// Rows of an input that is read once, found by a key whenever it is opened.
    IndexSpool(Box<IndexSpool>),
    /// Reads its whole input before it gives the first row: a change never sees its own rows
    /// (Halloween protection). As the inner side of a loop join it is filled once and read again.
    Spool {
        /// Its rows.
        input: Box<Physical>,
        /// What each row keeps.
        carried: Vec<Slot>,
    },
}

/// An eager index spool. Its input reads nothing from outside; `open` seeks in what was kept of it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpool {
    /// Its rows.
    pub input: Physical,
    /// The key: as many columns as `equal` has, and one more where there are ends.
    pub keys: Vec<SortKey>,
    /// What each row keeps (keys included).
    pub carried: Vec<Slot>,
    /// What the first columns of the key equal.
    pub equal: Vec<Scalar>,
    /// Where the next one begins; no row that is wanted is below.
    pub lower: Option<Scalar>,
    /// Where it ends; no row that is wanted is above.
    pub upper: Option<Scalar>,
    /// What must be true of a row: all that was sought, and more.
    pub predicate: Predicate,
}

/// How many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    /// A bigint (a float when `percent`), read once per open; NULL and negative
    /// ones are error 1014. `None`: all.
    pub count: Option<Scalar>,
    /// Of all rows, rounded up.
    pub percent: bool,
    /// WITH TIES: and rows that equal the last one in these keys.
    pub ties: Option<Vec<SortKey>>,
    /// OFFSET: rows left out first, a bigint.
    pub offset: Option<Scalar>,
}

/// Which hobt, with the names that show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Its database.
    pub database: DatabaseId,
    /// The table.
    pub object: ObjectId,
    /// The heap or index.
    pub hobt: HobtId,
    /// `schema.table`
    pub table: Box<str>,
    /// The index's name; empty for a heap.
    pub index: Box<str>,
    /// The alias in the query.
    pub alias: Box<str>,
}

/// A physical column read into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanColumn {
    /// Position among the hobt's physical columns: the argument of `RowCursor::field`.
    pub field: usize,
    /// Its type: what `types::decode_storage` is asked with.
    pub sql_type: SqlType,
    /// Where its value goes. A uniquifier's bytes go as a varbinary, NULL when absent.
    pub slot: Slot,
}

/// A scan or a seek of one hobt.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// Which.
    pub source: Source,
    /// What is read.
    pub columns: Vec<ScanColumn>,
    /// Where the RID of a heap's row goes, as binary(8), when somebody asks.
    pub rid: Option<Slot>,
    /// Where `RowCursor::hint` goes, as a bigint (file << 48 | page << 16 | slot), NULL without.
    pub hint: Option<Slot>,
    /// Where the same goes as `%%physloc%%` has it, a binary(8) of page, file, slot.
    pub location: Option<Slot>,
    /// The ranges, one after the other; `None` scans everything.
    pub seek: Option<Seek>,
    /// From the end of the key order.
    pub backward: bool,
    /// Rows must come out in key order; otherwise a scan in order of allocation serves too.
    pub ordered: bool,
    /// What must be true of a row beyond the seek; a row for which it isn't gives its lock back.
    pub residual: Option<Predicate>,
    /// TABLESAMPLE
    pub sample: Option<PageSample>,
    /// Locks.
    pub locks: LockHints,
    /// Below an exchange: workers share the rows among them. Otherwise each reads all of them.
    pub divided: bool,
}

/// The part of a table's pages whose rows are read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageSample {
    /// How many of them, from 0 to 1: a page is taken with that probability.
    pub fraction: f64,
    /// What decides about each page; drawn anew by each run where it is not given.
    pub seed: Option<i64>,
}

/// Rows of several workers, given to one or several others. A statement that runs with one worker
/// passes its rows on as if the operator were not there.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchange {
    /// What each worker runs.
    pub input: Physical,
    /// Who gets a row.
    pub kind: ExchangeKind,
    /// What a row takes along.
    pub columns: Vec<Slot>,
}

/// Who gets the rows of an exchange.
#[derive(Clone, Debug, PartialEq)]
pub enum ExchangeKind {
    /// The one operator above, in any order.
    Gather,
    /// The same in an order in which each worker gives its own.
    GatherOrdered(Vec<SortKey>),
    /// Of the workers above the one of its hash: rows that are equal in these come together.
    Repartition(Vec<(Slot, Collation)>),
}

/// The ranges of a seek.
#[derive(Clone, Debug, PartialEq)]
pub struct Seek {
    /// The types of the key's first columns, as many as the longest bound has; bounds are
    /// converted to them already.
    pub types: Vec<SqlType>,
    /// Whether each of those orders descending in the index. Bounds are in key order: where the
    /// first range column descends, `lower` holds the greater value.
    pub descending: Vec<bool>,
    /// How each of those compares text.
    pub collations: Vec<Collation>,
    /// Ranges. Several come from IN and OR: they may repeat and overlap, and are to be sorted and
    /// united when opened (in key order, or against it when `backward`).
    pub ranges: Vec<SeekRange>,
    /// At most one row matches: the key is unique and wholly given, by one range.
    pub unique: bool,
}

/// One range. A bound with a NULL value matches nothing (comparisons with NULL are unknown),
/// except where `null_matches`.
#[derive(Clone, Debug, PartialEq)]
pub struct SeekRange {
    /// Leading columns that are equal: part of both bounds.
    pub equal: Vec<Scalar>,
    /// Positions in `equal` that come from IS NULL: there NULL is sought.
    pub null_matches: Vec<bool>,
    /// Lower bound of the next column in key order.
    pub lower: Option<Bound>,
    /// Upper bound of the next column in key order.
    pub upper: Option<Bound>,
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The value.
    pub value: Scalar,
    /// Whether rows that equal it are within.
    pub inclusive: bool,
    /// The value is NULL on purpose: the range begins (or, descending, ends) where NULLs do not
    /// reach, as `col < 5` asks.
    pub after_null: bool,
    /// NULL, once it is computed, is no bound at all.
    pub unless_null: bool,
}

/// From an index's row to the row itself.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyLookup {
    /// Rows of an index: an [`Access`], which gives an entry again where it has changed before its
    /// row is found; or places alone, without any other column of the row.
    pub input: Physical,
    /// The heap or clustered index.
    pub source: Source,
    /// The locator's slots: the full key of the clustered index, or the RID alone.
    pub locator: Vec<Slot>,
    /// Their types.
    pub types: Vec<SqlType>,
    /// The locator is a RID.
    pub by_rid: bool,
    /// What is read.
    pub columns: Vec<ScanColumn>,
    /// As [`Access::rid`].
    pub rid: Option<Slot>,
    /// As [`Access::hint`].
    pub hint: Option<Slot>,
    /// As [`Access::location`].
    pub location: Option<Slot>,
    /// What must be true of the row.
    pub residual: Option<Predicate>,
    /// Locks.
    pub locks: LockHints,
}

/// A scan of a system view or function.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualScan {
    /// In whose context it answers.
    pub database: DatabaseId,
    /// Which.
    pub object: ObjectId,
    /// `sys.name`
    pub name: Box<str>,
    /// Arguments, evaluated when opened.
    pub arguments: Vec<Scalar>,
    /// What is read.
    pub columns: Vec<ScanColumn>,
    /// What must be true of a row.
    pub residual: Option<Predicate>,
}

/// A loop join.
#[derive(Clone, Debug, PartialEq)]
pub struct NestedLoops {
    /// Inner, Left, Semi or Anti.
    pub kind: JoinKind,
    /// Rows to join.
    pub outer: Physical,
    /// Opened again for each of them.
    pub inner: Physical,
    /// What must be true of a pair.
    pub predicate: Option<Predicate>,
    /// Slots of the inner side: NULL where a left join finds no partner.
    pub inner_slots: Vec<Slot>,
    /// The inner side reads slots of the outer and is opened for each of its rows. Without, a spool
    /// in it is filled once for as long as the join itself is open.
    pub correlated: bool,
}

/// A hash join.
#[derive(Clone, Debug, PartialEq)]
pub struct HashJoin {
    /// What is kept: `Left` keeps all of `probe`, `Right` all of `build`; Semi and Anti keep rows
    /// of `probe`.
    pub kind: JoinKind,
    /// The side that is read first, into a hash table.
    pub build: Physical,
    /// The side that is read second.
    pub probe: Physical,
    /// Equal pairs: slot of build, slot of probe, collation; of one family each (`types::hash`
    /// agrees within it), NULL matching nothing.
    pub keys: Vec<(Slot, Slot, Collation)>,
    /// What else must be true of a pair.
    pub residual: Option<Predicate>,
    /// What a row of the build side keeps.
    pub build_slots: Vec<Slot>,
    /// Slots of the probe side, NULL where a right or full join has none.
    pub probe_slots: Vec<Slot>,
}

/// A merge join. Both inputs are ordered by their keys; it keeps the order of its left one, but a
/// row that only the right one has stands among them with its left slots NULL.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeJoin {
    /// What is kept; Semi and Anti keep rows of `left`.
    pub kind: JoinKind,
    /// The side whose rows are read once, one by one.
    pub left: Physical,
    /// The side of which equal rows are read again for each equal row of the left.
    pub right: Physical,
    /// Equal pairs, in the order of both inputs; of one family each, NULL matching nothing.
    pub keys: Vec<MergeKey>,
    /// Several left rows may have the same keys. Otherwise no right row is kept.
    pub many_to_many: bool,
    /// What else must be true of a pair.
    pub residual: Option<Predicate>,
    /// Slots of the left side that are read above; NULL where there is no left row.
    pub left_slots: Vec<Slot>,
    /// Slots of the right side that are read above; NULL where there is no right row.
    pub right_slots: Vec<Slot>,
}

/// UNION, or UNION ALL, of two inputs that are in one order. Their rows come out in that order.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeUnion {
    /// The side that comes first where both are equal.
    pub left: Physical,
    /// The other; it writes no slot that `left` writes.
    pub right: Physical,
    /// The slots of the left side that go into `columns`, in order.
    pub left_slots: Vec<Slot>,
    /// The same of the right side.
    pub right_slots: Vec<Slot>,
    /// Where they go.
    pub columns: Vec<Slot>,
    /// The order, told of `columns`.
    pub keys: Vec<SortKey>,
    /// Rows that are equal in all keys once.
    pub distinct: bool,
}

/// A pair of columns by which a merge join's inputs are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeKey {
    /// Of the left input.
    pub left: Slot,
    /// Of the right input.
    pub right: Slot,
    /// How characters compare.
    pub collation: Collation,
    /// Both inputs descend by it.
    pub descending: bool,
}
