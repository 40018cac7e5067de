//! The sqlcmd-like client, remote over TDS or embedded; the binary ghostlight.

#![forbid(unsafe_code)]
