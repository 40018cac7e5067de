//! Who owns which page: extents, allocation maps, free space, file growth.

#![forbid(unsafe_code)]
