//! Functions and aggregates: signature, null rule, row form; owns SessionFacts.

#![forbid(unsafe_code)]
