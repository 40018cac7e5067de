//! The door used from above: sources, sinks, cursors, spills.

#![forbid(unsafe_code)]
