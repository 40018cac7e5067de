//! Rewrites of the logical tree that need no prices: what they find is never dearer.

mod contradiction;
mod outer;
mod scalars;

pub(crate) use contradiction::contradicts;
pub(crate) use outer::without_outer;
pub(crate) use scalars::join_scalars;
