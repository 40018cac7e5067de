//! OPTION (…): what a statement asks of how it is computed.

use crate::VariableId;
use types::Value;

/// Hints of a whole statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryHints {
    /// FORCE ORDER: joins in the order of the text.
    pub force_order: bool,
    /// LOOP JOIN, HASH JOIN: these methods alone; none named, all.
    pub joins: Vec<JoinHint>,
    /// HASH GROUP, ORDER GROUP.
    pub groups: Option<GroupHint>,
    /// CONCAT UNION, HASH UNION, MERGE UNION: these methods alone; none named, all.
    pub unions: Vec<UnionHint>,
    /// KEEPFIXED PLAN: other statistics make no other plan.
    pub keep_fixed: bool,
    /// KEEP PLAN: a temporary table makes another plan no sooner than others do.
    pub keep_plan: bool,
    /// NO_PERFORMANCE_SPOOL: no spool where there is another way.
    pub no_spool: bool,
    /// QUERYTRACEON 8790: each index is changed by itself where that can be, whatever it costs.
    pub wide: bool,
    /// FAST n: the first n rows soon.
    pub fast: Option<u64>,
    /// MAXDOP n, where n is not 0.
    pub max_workers: Option<u32>,
    /// ENABLE_PARALLEL_PLAN_PREFERENCE: exchanges whatever they cost.
    pub prefer_exchanges: bool,
    /// OPTIMIZE FOR: the value that a variable is taken to have; none for UNKNOWN.
    pub optimize_for: Vec<(VariableId, Option<Value>)>,
    /// OPTIMIZE FOR UNKNOWN: nothing is known of any variable.
    pub unknown: bool,
}

/// How a join is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinHint {
    /// LOOP
    Loop,
    /// HASH
    Hash,
    /// MERGE
    Merge,
}

/// How groups are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupHint {
    /// HASH GROUP
    Hash,
    /// ORDER GROUP
    Order,
}

/// How UNION finds equal rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnionHint {
    /// CONCAT UNION: one after the other, then sorted.
    Concat,
    /// HASH UNION
    Hash,
    /// MERGE UNION: all sides in one order, read side by side.
    Merge,
}
