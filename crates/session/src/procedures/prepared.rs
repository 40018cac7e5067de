//! What `sp_prepare` and its kin keep for a client.

use crate::program::steps::Program;
use plancache::Entry;
use std::sync::Arc;

/// What a handle of the session stands for.
#[derive(Clone)]
pub(crate) enum Prepared {
    Text {
        parameters: String,
        text: String,
        entry: Arc<Entry<Program>>,
    },
    /// A procedure, by its name as the client wrote it.
    Call(String),
}
