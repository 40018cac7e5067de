//! Queries: their answers, their plans, and what both cost.

pub(crate) mod analytic_queries;
pub(crate) mod answers_of_postgresql;
pub(crate) mod changes_and_lookups;
pub(crate) mod estimates_and_orders;
pub(crate) mod judge;
pub(crate) mod one_answer_by_every_plan;
pub(crate) mod parsing_and_kept_plans;
pub(crate) mod rules_that_surprise;
pub(crate) mod sets_beyond_memory;
