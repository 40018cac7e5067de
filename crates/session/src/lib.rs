//! Connection state, SET options, batches, control flow, procedures; owns Host.

#![forbid(unsafe_code)]
