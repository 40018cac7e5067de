//! CREATE, ALTER, DROP, index builds, TRUNCATE, DBCC: definitions changed in the user's transaction.

#![forbid(unsafe_code)]
