//! What `sp_prepare` and the related procedures keep for a client.

use crate::program::steps::Program;
use plancache::Entry;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a handle of the session stands for.
#[derive(Clone)]
pub(crate) enum PreparedStatement {
    Text {
        parameters: String,
        text: String,
        entry: Arc<Entry<Program>>,
    },
    /// A procedure, by its name as the client wrote it.
    Call(String),
}

/// The handles of a session, and what they stand for.
#[derive(Default)]
pub(crate) struct Handles {
    pub(crate) prepared: BTreeMap<i32, PreparedStatement>,
    last: i32,
}

impl Handles {
    /// A handle that is not in use.
    pub(crate) fn next(&mut self) -> i32 {
        self.last = self.last.wrapping_add(1).max(1);
        self.last
    }
}
