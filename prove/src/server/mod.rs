//! The server as its clients and its machine see it: start, memory, many clients, strange bytes.

pub(crate) mod clients_and_attention;
pub(crate) mod fuzzing;
pub(crate) mod start_up;
pub(crate) mod table_beyond_memory;
