//! The logical tree: what a query means, before anyone chose how.

use crate::{
    ChangedId, FunctionRows, JoinHint, LockHints, OldRow, Predicate, Recursion, Scalar, ScalarType,
    Slot, SortKey, Top, WindowCall,
};
use base::{DatabaseId, ObjectId};
use builtins::Aggregate;
use types::Collation;

/// A table reference of the statement: its place in the list that `bind` hands to `optimize`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableNo(pub u32);

/// A relation.
#[derive(Clone, Debug, PartialEq)]
pub enum Logical {
    /// Rows of a table.
    Get(Box<Get>),
    /// Rows of a system view or function.
    Virtual(Box<VirtualGet>),
    /// Rows that a function makes of its arguments.
    Function(Box<FunctionRows>),
    /// Rows that stand in the statement; one row without columns for a SELECT without FROM.
    Values {
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
        input: Box<Logical>,
        /// What must be true.
        predicate: Predicate,
    },
    /// Further columns, computed from left to right.
    Compute {
        /// Its rows.
        input: Box<Logical>,
        /// What is computed into which slot.
        columns: Vec<(Slot, Scalar)>,
    },
    /// Rows of two sides.
    Join {
        /// What is kept.
        kind: JoinKind,
        /// The side that comes first.
        left: Box<Logical>,
        /// The other.
        right: Box<Logical>,
        /// ON; always true for a cross join.
        on: Predicate,
        /// How it is to be done.
        hint: Option<JoinHint>,
        /// APPLY: the right side reads slots of the left.
        apply: bool,
    },
    /// Groups.
    Aggregate(Box<Grouping>),
    /// Each combination of values once.
    Distinct {
        /// Its rows.
        input: Box<Logical>,
        /// What is compared.
        columns: Vec<(Slot, Collation)>,
    },
    /// Window functions over partitions.
    Window {
        /// Its rows.
        input: Box<Logical>,
        /// PARTITION BY
        partition: Vec<SortKey>,
        /// ORDER BY
        order: Vec<SortKey>,
        /// What is computed.
        calls: Vec<WindowCall>,
    },
    /// Rows in an order.
    Sort {
        /// Its rows.
        input: Box<Logical>,
        /// By what.
        keys: Vec<SortKey>,
    },
    /// The first rows.
    Top {
        /// Its rows; in order when it is a Sort.
        input: Box<Logical>,
        /// How many.
        top: Top,
    },
    /// All rows of several relations, one after the other.
    Concatenate {
        /// Each with the slots that go into `columns`, in order.
        inputs: Vec<(Logical, Vec<Slot>)>,
        /// Where they go.
        columns: Vec<Slot>,
    },
    /// A common table expression that names itself.
    Recursive(Box<Recursion<Logical>>),
}

/// A reference to a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Get {
    /// Which table.
    pub table: TableNo,
    /// Its name in the query, for display.
    pub alias: Box<str>,
    /// Columns that the statement mentions, and where they go.
    pub columns: Vec<GetColumn>,
    /// What is false for no row of it: of trusted CHECK constraints.
    pub checks: Vec<Predicate>,
    /// Lock hints.
    pub locks: LockHints,
    /// INDEX(n): an index of the table by position among its indexes.
    pub index: Option<usize>,
    /// INDEX(n, m): further indexes that its rows are to be looked for in.
    pub further: Vec<usize>,
    /// FORCESEEK
    pub force_seek: bool,
    /// How many key columns of the index it asks to seek with, at least.
    pub seek_columns: usize,
    /// FORCESCAN
    pub force_scan: bool,
    /// TABLESAMPLE: the rows of some of its pages; `index` is then its base.
    pub sample: Option<Sample>,
    /// This reference is what an UPDATE or DELETE changes: its row must be locatable.
    pub target: Option<OldRow>,
    /// Where the row's place goes, as binary(8): that of the heap or clustered index.
    pub location: Option<Slot>,
}

/// TABLESAMPLE
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How much of the table.
    pub size: SampleSize,
    /// REPEATABLE: the same pages whenever they are the same.
    pub seed: Option<i64>,
}

/// See [`Sample`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleSize {
    /// Of its pages.
    Percent(f64),
    /// About as many rows, as its pages hold on average.
    Rows(u64),
}

/// A column of a [`Get`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GetColumn {
    /// Ordinal of the table's column.
    pub column: usize,
    /// Where its value goes.
    pub slot: Slot,
}

/// A reference to a system view or function.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualGet {
    /// Which reference.
    pub table: TableNo,
    /// In whose context it answers.
    pub database: DatabaseId,
    /// Which.
    pub object: ObjectId,
    /// `sys.name`, for display.
    pub name: Box<str>,
    /// Arguments of a function, converted to its parameters' types; of an APPLY they may read
    /// slots of the left side.
    pub arguments: Vec<Scalar>,
    /// Columns that the statement mentions.
    pub columns: Vec<GetColumn>,
}

/// What a join keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs that satisfy ON.
    Inner,
    /// Those, and left rows without partner (right slots NULL).
    Left,
    /// Those, and right rows without partner.
    Right,
    /// All of these.
    Full,
    /// Left rows that have a partner, once.
    Semi,
    /// Left rows that have none.
    Anti,
}

/// GROUP BY.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    /// Its rows.
    pub input: Logical,
    /// What rows of a group share. None: one group, also of no rows.
    pub keys: Vec<(Slot, Collation)>,
    /// What is computed for each group.
    pub calls: Vec<AggregateCall>,
}

/// One aggregate of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateCall {
    /// Which.
    pub function: Aggregate,
    /// Over distinct values.
    pub distinct: bool,
    /// What is aggregated: its type is what `Aggregate::start` takes; `None` for `COUNT(*)`.
    pub argument: Option<Scalar>,
    /// STRING_AGG's separator.
    pub separator: Option<Scalar>,
    /// Where the result goes.
    pub output: Slot,
    /// The result's type.
    pub ty: ScalarType,
    /// How much of it.
    pub phase: AggregatePhase,
}

impl AggregateCall {
    /// Whether the result depends on the order of rows.
    pub fn relies_on_order(&self) -> bool {
        self.function == Aggregate::StringAgg
    }

    /// Where the result goes and the column that it is taken from, of ANY.
    pub fn any_of(&self) -> Option<(Slot, Slot)> {
        let column = self.argument.as_ref()?.as_column()?;
        (self.function == Aggregate::Any).then_some((self.output, column))
    }
}

/// What part of an aggregate a call computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AggregatePhase {
    /// From values to the result.
    #[default]
    Whole,
    /// From values to a state, as varbinary: of the rows that one worker has.
    Partial,
    /// From states to the result. The argument is a state, its type that of the values.
    Final,
}
