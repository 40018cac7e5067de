//! The users of row versions in an instance: the open transactions that use them, and the
//! transactions that were open when one of them took its snapshot. Each unit of work publishes its
//! own use (`version_use.rs`); this file reads all of them.

use crate::engine::Engine;
use crate::version_use::{VersionUse, VersionUser};
use base::{SessionId, Xsn};
use std::sync::Arc;
use txn::OpenSnapshot;

impl Engine {
    /// A unit of work of a session begins to use versions.
    pub(crate) fn enlist_version_use(&self, session: SessionId) -> Arc<VersionUse> {
        let made = Arc::new(VersionUse::new(session));
        let mut uses = self.version_uses.lock();
        // Units of work that are gone leave the list when another comes.
        uses.retain(|of| of.strong_count() > 0);
        uses.push(Arc::downgrade(&made));
        made
    }

    /// The numbers that were open at the moment of a transaction under SNAPSHOT. None of any other,
    /// nor when it is over.
    pub fn open_before(&self, user: &VersionUser) -> Vec<Xsn> {
        match (user.xsn, user.moment) {
            (Some(own), Some(at)) if self.transactions.snapshots.is_registered(at) => {
                self.transactions.commits.unseen(own, at)
            }
            _ => Vec::new(),
        }
    }

    /// The lowest of them, or its own; none of a transaction without a moment.
    pub fn first_open_before(&self, user: &VersionUser) -> Option<Xsn> {
        user.moment?;
        self.open_before(user).first().copied().or(user.xsn)
    }

    /// The open transactions that use row versions, oldest first. Each is true of its own moment.
    pub fn version_users(&self) -> Vec<VersionUser> {
        self.each_use(VersionUse::read)
    }

    /// The same, each with a number: who reads by statements alone and outside a transaction of the
    /// user draws none by itself.
    pub fn numbered_version_users(&self) -> Vec<VersionUser> {
        let commits = &self.transactions.commits;
        self.each_use(|of| of.read_numbered(commits))
    }

    fn each_use(&self, read: impl Fn(&VersionUse) -> Option<VersionUser>) -> Vec<VersionUser> {
        let uses: Vec<_> = self.version_uses.lock().iter().filter_map(|of| of.upgrade()).collect();
        let mut users: Vec<_> = uses.iter().filter_map(|of| read(of)).collect();
        users.sort_unstable_by_key(|user| user.transaction.0);
        users
    }

    /// The numbers that were open when a statement's snapshot was taken. None when it is over.
    pub fn open_before_snapshot(&self, snapshot: &OpenSnapshot) -> Vec<Xsn> {
        let transactions = &self.transactions;
        let unseen = transactions.commits.unseen(Xsn(snapshot.drawn.0 + 1), snapshot.at);
        // As long as it is registered what it does not see keeps its times.
        match transactions.snapshots.is_open((snapshot.ticket, snapshot.at)) {
            true => unseen,
            false => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version_use::Traversal;
    use base::TransactionId;
    use txn::CommitTime;

    #[test]
    fn a_transaction_is_told_while_it_uses_versions_and_nothing_of_it_after() {
        let engine = Engine::new(lock::Table::new(&lock::Options::default()));
        let own = engine.enlist_version_use(SessionId(51));
        assert_eq!(engine.version_users(), []);
        own.begin(TransactionId(7), 100);
        own.begin(TransactionId(7), 200);
        let number = own.draw(&engine.transactions.commits);
        assert_eq!(own.draw(&engine.transactions.commits), number, "once");
        own.reads_as_of(CommitTime(9));
        let mut followed = Traversal::default();
        followed.follow(2);
        followed.follow(1);
        own.traversed(followed);
        let user = engine.version_users().remove(0);
        assert_eq!((user.transaction, user.session), (TransactionId(7), SessionId(51)));
        assert_eq!((user.xsn, user.moment), (Some(number), Some(CommitTime(9))));
        assert_eq!((user.since_ns, engine.open_before(&user)), (100, vec![]), "not registered");
        assert_eq!(user.traversed, Traversal { chains: 2, versions: 3, longest: 2 });
        assert_eq!(user.traversed.average(), 1.5);
        assert_eq!(own.end(), Some(number));
        assert_eq!((own.end(), engine.version_users()), (None, vec![]));
        own.begin(TransactionId(8), 300);
        let user = engine.version_users().remove(0);
        assert_eq!((user.xsn, user.moment, user.traversed), (None, None, Traversal::default()));
        drop(own);
        assert_eq!(engine.version_users(), []);
    }

    #[test]
    fn who_asks_gives_a_reader_the_number_that_it_writes_under_later() {
        let engine = Engine::new(lock::Table::new(&lock::Options::default()));
        let commits = &engine.transactions.commits;
        let own = engine.enlist_version_use(SessionId(51));
        own.begin(TransactionId(7), 100);
        let writer = commits.begin();
        assert_eq!(engine.version_users()[0].xsn, None);
        let number = engine.numbered_version_users()[0].xsn;
        assert!(number > Some(writer), "nobody else has it");
        assert_eq!(engine.numbered_version_users()[0].xsn, number, "it keeps it");
        assert_eq!((Some(own.draw(commits)), own.end()), (number, number));
        assert_eq!(engine.numbered_version_users(), []);
        // A number that comes as the transaction goes is ended by the next, or when there is none.
        let late = own.draw(commits);
        assert_eq!(own.end(), Some(late));
        let late = own.draw(commits);
        own.leave(commits);
        assert_eq!(commits.outcome(late), txn::Outcome::Aborted);
    }
}
