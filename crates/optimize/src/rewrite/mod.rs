//! Rewrites of the logical tree that need no prices: what they find is never dearer, but for
//! `exists`, which gives another plan to be priced beside the one there is.

mod contradiction;
mod exists;
mod outer;
mod scalars;

pub(crate) use contradiction::contradicts;
pub(crate) use exists::with_joined_exists;
pub(crate) use outer::without_outer;
pub(crate) use scalars::join_scalars;
