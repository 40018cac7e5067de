//! Frames, latched guards, eviction, checkpoint writes; owns Change (latch, log, stamp).

#![forbid(unsafe_code)]
