//! From text to a program: parsing, compiling, binding, and the cache of compiled programs.

pub(crate) mod auto_statistics;
pub(crate) mod compilation;
pub(crate) mod compile;
pub(crate) mod compile_cursor;
pub(crate) mod compile_statement;
pub(crate) mod created;
pub(crate) mod cursor_step;
pub(crate) mod declarer;
pub(crate) mod dependencies;
pub(crate) mod parameterize;
pub(crate) mod plan_facts;
pub(crate) mod programs;
pub(crate) mod shell;
pub(crate) mod steps;
pub(crate) mod variables;
