//! TDS packets, tokens, login, type encodings, both directions: bytes and messages, no sockets.

#![forbid(unsafe_code)]
