//! Plans: pure data that `bind` and `optimize` make and `exec` runs.
//!
//! ```text
//! Plan<Logical>   what a statement means        bind → optimize
//! Plan<Physical>  how it is computed            optimize → exec, kept by plancache
//! ```
//!
//! **The frame.** A statement runs over one frame of values; each column that any operator
//! produces has its own [`Slot`] in it, unique in the whole plan. An operator's `next` writes its
//! columns into their slots, and whoever stands above reads them there. So filters, TOP and
//! projections move nothing; the inner side of a loop join reads its outer row where it lies; a
//! correlated subquery needs no parameters. Operators that remember rows (sorts, hashes, spools)
//! save and restore the slots that their node lists.
//!
//! Invariants
//!  1. A slot has one writer, except those a Concatenation, a MergeUnion or an outer join fills.
//!  2. Every scalar knows its type; operands have been converted, so evaluation never decides.
//!  3. Everything an error text needs stands in the plan: `exec` never asks a catalog.
//!  4. A plan is immutable and `Send + Sync`; sessions share it.

#![forbid(unsafe_code)]

mod change;
mod estimate;
mod gathers;
mod held;
mod hints;
mod ids;
mod locks;
mod logical;
mod merge;
mod order;
mod output;
mod physical;
mod predicate;
mod program;
mod qualify;
mod reads;
mod recursion;
mod referential;
mod scalar;
mod show;
mod table_function;
mod toll;
mod visit;
mod wide;
mod window;

pub use change::{
    Assignment, CheckConstraint, ColumnSource, Delete, EntryField, IdentityColumn, IndexTarget,
    Insert, InsertColumn, KeyPart, OldRow, Target, TargetColumn, Uniqueness, Update,
};
pub use estimate::Estimate;
pub use hints::{GroupHint, JoinHint, QueryHints, UnionHint};
pub use ids::{ChangedId, FollowUpId, Slot, SubqueryId, VariableId};
pub use locks::{Granule, Level, LockHints, Strength};
pub use logical::{
    AggregateCall, AggregatePhase, Get, GetColumn, Grouping, JoinKind, Logical, Sample, SampleSize,
    TableNo, VirtualGet,
};
pub use merge::{Merge, MergeAction, MergeClause, MergeMatch};
pub use order::{SortKey, Top};
pub use output::{NestedRows, Output, OutputInto, OutputResult};
pub use physical::*;
pub use predicate::{CompareOp, LikeText, Predicate, Quantifier};
pub use program::{
    CAPTURES, CursorColumn, CursorKey, GrantHints, Header, Plan, Query, Reference, ResultColumn,
    SelectAssign, Statement, Subquery, TriggerFiring, UsedStatistics,
};
pub use reads::Reads;
pub use recursion::Recursion;
pub use referential::{Conflict, FollowUp, ForeignKeyCheck, KeptSlots, References};
pub use scalar::{
    Coercibility, CollationConflict, CombiningOperator, ImplicitFlag, Scalar, ScalarKind,
    ScalarType, UserCall, UserFunction,
};
pub use show::Show;
pub use table_function::FunctionRows;
pub use toll::{Toll, Watch};
pub use wide::{EntryWork, IndexChange, Place, WideChange};
pub use window::{Frame, FrameEnd, WindowCall, WindowFunction};

/// The plan of a whole statement that is ready to run.
pub type PhysicalPlan = Plan<Physical>;
/// The plan of a whole statement as bound.
pub type LogicalPlan = Plan<Logical>;
