//! The clockwork: named periodic and signalled steps, budgets, status.

#![forbid(unsafe_code)]
