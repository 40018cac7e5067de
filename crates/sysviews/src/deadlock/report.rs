//! A deadlock as a document.
//!
//! Invariants
//!  1. Every `id` of an owner or a waiter is that of a process in the list.
//!  2. All texts of statements together have at most `TEXTS_CHARS` characters.
//!
//! The lock table gives the circle as it was when all its edges were seen at once. Its members wait
//! until the victim is woken, which is after this, unless a timeout or an attention ends their
//! wait. Then the facts of their session may be from a later moment.

use super::{names::Names, process, resource};
use crate::document::Document;
use base::{DatabaseId, SessionId};
use catalog::view::DatabaseView;
use lock::{Deadlock, DeadlockMember};
use session::Registry;
use std::sync::Arc;
use txn::ActiveTransaction;
use work::Engine;

/// The most characters of the text of a statement or an input buffer.
const TEXT_CHARS: usize = 4_000;
/// The most characters of all texts of a report. Many statements may wait in one circle, and a
/// report must fit into the ring whatever its texts are (a character takes at most five bytes,
/// `&amp;`).
const TEXTS_CHARS: usize = 64_000;

/// The sources of facts about the members of a deadlock.
pub struct Surroundings<'a> {
    /// The open transactions.
    pub engine: &'a Engine,
    /// The sessions.
    pub sessions: &'a Registry,
    /// The definitions of an open database as a session sees them.
    pub view: &'a dyn Fn(SessionId, DatabaseId) -> Option<Arc<DatabaseView>>,
}

/// A report that is being written.
pub(super) struct Report<'a> {
    pub(super) out: Document,
    pub(super) deadlock: &'a Deadlock,
    pub(super) sessions: &'a Registry,
    pub(super) names: Names<'a>,
    pub(super) active: Vec<ActiveTransaction>,
    pub(super) now_ns: u64,
    /// The characters that further texts may use.
    texts_left: usize,
}

/// The name of a member in all three lists.
pub(super) fn process_id(member: &DeadlockMember) -> String {
    format!("process{:x}", member.number)
}

impl Report<'_> {
    /// The characters that the next text may use.
    pub(super) fn text_room(&self) -> usize {
        TEXT_CHARS.min(self.texts_left)
    }

    /// Writes the text of an element.
    pub(super) fn text(&mut self, text: &str) {
        let text: String = text.chars().take(self.text_room()).collect();
        self.texts_left -= text.chars().count();
        self.out.text(&text);
    }
}

/// Writes the document.
pub(crate) fn report(deadlock: &Deadlock, around: &Surroundings<'_>) -> String {
    let mut r = Report {
        out: Document::default(),
        deadlock,
        sessions: around.sessions,
        names: Names::new(around.view, deadlock.members.iter().map(|m| m.session)),
        active: around.engine.transactions.active(),
        now_ns: os::clock::monotonic_ns(),
        texts_left: TEXTS_CHARS,
    };
    // The victim comes first; from there on each member waits for the next.
    let (before, from_victim) = deadlock.members.split_at(deadlock.victim);
    let members = || from_victim.iter().chain(before);
    r.out.begin("deadlock");
    r.out.begin("victim-list");
    for victim in members().take(1) {
        r.out.begin("victimProcess");
        r.out.attribute("id", process_id(victim));
        r.out.end();
    }
    r.out.end();
    r.out.begin("process-list");
    members().for_each(|m| process::write(&mut r, m));
    r.out.end();
    r.out.begin("resource-list");
    members().for_each(|m| resource::write(&mut r, m));
    r.out.end();
    r.out.end();
    r.out.finish()
}
