//! Window functions and their frames.
//!
//! A frame says which rows of a partition an aggregate sees from one of them. Its ends only move
//! forward from row to row, which is what `exec` builds on.

use crate::{Scalar, ScalarType, Slot};
use builtins::Aggregate;

/// One window function.
#[derive(Clone, Debug, PartialEq)]
pub struct WindowCall {
    /// Which.
    pub function: WindowFunction,
    /// Where the result goes.
    pub output: Slot,
    /// The result's type.
    pub ty: ScalarType,
}

/// See [`WindowCall`].
#[derive(Clone, Debug, PartialEq)]
pub enum WindowFunction {
    /// 1, 2, 3 …
    RowNumber,
    /// Equal rows share a number, gaps follow.
    Rank,
    /// Equal rows share a number, without gaps.
    DenseRank,
    /// (rank - 1) / (rows - 1)
    PercentRank,
    /// The share of rows that come before or are equal.
    CumeDist,
    /// The number of one of so many groups.
    Ntile(Scalar),
    /// An aggregate of the frame.
    Aggregate {
        /// Which.
        function: Aggregate,
        /// Of what; `None` for `COUNT(*)`.
        argument: Option<Scalar>,
        /// Over which rows.
        frame: Frame,
    },
    /// FIRST_VALUE, LAST_VALUE.
    Edge {
        /// Of what.
        argument: Scalar,
        /// LAST_VALUE
        last: bool,
        /// Over which rows.
        frame: Frame,
        /// Rows whose value is NULL do not count.
        ignore_nulls: bool,
    },
    /// LAG, LEAD.
    Shifted {
        /// Of what.
        argument: Scalar,
        /// How many rows away, a bigint.
        offset: Scalar,
        /// Where there is no such row; NULL when absent.
        default: Option<Scalar>,
        /// LEAD
        lead: bool,
        /// Rows whose value is NULL do not count.
        ignore_nulls: bool,
    },
    /// PERCENTILE_CONT, PERCENTILE_DISC: the window is ordered by the argument.
    Percentile {
        /// What the partition is ordered by; a float where `continuous`.
        argument: Scalar,
        /// A float from 0 to 1.
        fraction: Scalar,
        /// Between two values, instead of one of them.
        continuous: bool,
    },
}

/// The rows that a window function sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// ROWS: the current row is one row. RANGE: it and its peers.
    pub rows: bool,
    /// The first row.
    pub start: FrameEnd,
    /// The last row.
    pub end: FrameEnd,
}

/// An end of a [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEnd {
    /// UNBOUNDED PRECEDING, as a start.
    First,
    /// n PRECEDING
    Preceding(u64),
    /// CURRENT ROW
    Current,
    /// n FOLLOWING
    Following(u64),
    /// UNBOUNDED FOLLOWING, as an end.
    Last,
}

impl Frame {
    /// The whole partition.
    pub const WHOLE: Frame = Frame { rows: true, start: FrameEnd::First, end: FrameEnd::Last };
    /// What ORDER BY alone means: rows before, and the current one with its peers.
    pub const RANGE: Frame = Frame { rows: false, start: FrameEnd::First, end: FrameEnd::Current };
    /// ROWS UNBOUNDED PRECEDING
    pub const ROWS: Frame = Frame { rows: true, start: FrameEnd::First, end: FrameEnd::Current };
}

impl WindowFunction {
    /// Its name as showplan writes it.
    pub fn name(&self) -> &'static str {
        use WindowFunction as W;
        match self {
            W::RowNumber => "row_number",
            W::Rank => "rank",
            W::DenseRank => "dense_rank",
            W::PercentRank => "percent_rank",
            W::CumeDist => "cume_dist",
            W::Ntile(_) => "ntile",
            W::Aggregate { function, .. } => function.name(),
            W::Edge { last: false, .. } => "first_value",
            W::Edge { last: true, .. } => "last_value",
            W::Shifted { lead: false, .. } => "lag",
            W::Shifted { lead: true, .. } => "lead",
            W::Percentile { continuous: true, .. } => "percentile_cont",
            W::Percentile { continuous: false, .. } => "percentile_disc",
        }
    }

    /// Numbers rows by their order alone.
    pub fn ranks(&self) -> bool {
        use WindowFunction as W;
        matches!(
            self,
            W::RowNumber | W::Rank | W::DenseRank | W::PercentRank | W::CumeDist | W::Ntile(_)
        )
    }

    /// The rows that it sees, where that is to be said.
    pub fn frame(&self) -> Option<Frame> {
        match self {
            WindowFunction::Aggregate { frame, .. } | WindowFunction::Edge { frame, .. } => {
                Some(*frame)
            }
            _ => None,
        }
    }

    /// What it computes with.
    pub fn arguments(&self) -> impl Iterator<Item = &Scalar> {
        use WindowFunction as W;
        let all = match self {
            W::Ntile(x) | W::Edge { argument: x, .. } => [Some(x), None, None],
            W::Aggregate { argument, .. } => [argument.as_ref(), None, None],
            W::Shifted { argument, offset, default, .. } => {
                [Some(argument), Some(offset), default.as_ref()]
            }
            W::Percentile { argument, fraction, .. } => [Some(argument), Some(fraction), None],
            W::RowNumber | W::Rank | W::DenseRank | W::PercentRank | W::CumeDist => [None; 3],
        };
        all.into_iter().flatten()
    }

    /// The same, to be changed.
    pub fn arguments_mut(&mut self) -> impl Iterator<Item = &mut Scalar> {
        use WindowFunction as W;
        let all = match self {
            W::Ntile(x) | W::Edge { argument: x, .. } => [Some(x), None, None],
            W::Aggregate { argument, .. } => [argument.as_mut(), None, None],
            W::Shifted { argument, offset, default, .. } => {
                [Some(argument), Some(offset), default.as_mut()]
            }
            W::Percentile { argument, fraction, .. } => [Some(argument), Some(fraction), None],
            W::RowNumber | W::Rank | W::DenseRank | W::PercentRank | W::CumeDist => {
                [None, None, None]
            }
        };
        all.into_iter().flatten()
    }
}
