//! The 8 KB page and the row record as bytes: offsets, slots, checksum, RowLayout.

#![forbid(unsafe_code)]
