//! Analysis, redo, in-doubt transactions; drives handlers it does not know.

#![forbid(unsafe_code)]
