//! Hints on pages of a database that survives: bytes that a restart does not want.
//!
//! A hint is written without a log, and it does not make its page dirty. It goes home with the next
//! logged change of the page, or is lost when the page leaves memory before that. Then the page
//! comes back with an older hint, perhaps one of an earlier process. So a reader of a hint must be
//! able to tell that it is of this process, or must be right whatever it says.
//!
//! Invariant: no logged operation asks for the bytes of a hint. So redo may meet any hint.

use crate::guard::WriteGuard;
use page::PageMut;

impl WriteGuard<'_> {
    /// The page, to write a hint on it.
    pub fn hint_mut(&mut self) -> PageMut<'_> {
        PageMut(self.bytes_mut())
    }
}
