//! Listener, TLS, login, TDS request loop.

#![forbid(unsafe_code)]
