//! Plans as SET SHOWPLAN, SET STATISTICS and the views show them.

pub(crate) mod cached;
pub(crate) mod describe;
pub(crate) mod names;
pub(crate) mod ran;
pub(crate) mod running;
pub(crate) mod show;
