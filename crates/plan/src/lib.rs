//! Pure data: scalar expressions, logical tree, physical tree.

#![forbid(unsafe_code)]
