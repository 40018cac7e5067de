//! What the error log says of the version stores that databases have in their own files.
//!
//! ```text
//!   store with versions > 40 % of the data files    one line, with whom most of it waits for
//!                         < 30 %                    one line; the next passing is told again
//!   every 10 minutes                                one line of each store that has versions
//!   a sweep that an error has ended                 one line; and one when a sweep came to its end
//! ```
//!
//! The share is of pages with versions: empty pages go back to the database by themselves, and do
//! not count for the database either. Whom the
//! store waits for is known from the cleaner's last pass, so nothing is read for it.

use crate::instance::Instance;
use base::limits::PAGE_BYTES;
use base::{DatabaseId, SessionId, TransactionId};
use database::Database;
use os::clock::{monotonic_ns, now};
use std::collections::{BTreeMap, BTreeSet};
use work::PassedPages;

/// Percent of a database's data files at which a store is told.
const TOLD_PERCENT: u64 = 40;
/// Below so much it may be told again.
const FORGOTTEN_PERCENT: u64 = 30;
/// How often a line tells of each store.
const REPORT_NS: u64 = 600_000_000_000;
/// Characters of a statement in a line.
const STATEMENT_CHARS: usize = 200;

/// What was told already.
pub(crate) struct StoreWatch {
    large: BTreeSet<DatabaseId>,
    /// What has ended the sweeps of databases, as it was told.
    faults: BTreeMap<DatabaseId, String>,
    reported_ns: u64,
}

impl StoreWatch {
    pub(crate) fn new() -> StoreWatch {
        let (large, faults) = (BTreeSet::new(), BTreeMap::new());
        StoreWatch { large, faults, reported_ns: monotonic_ns() }
    }
}

/// How large a store is, beside its database.
#[derive(Clone, Copy)]
struct StoreShare {
    /// Pages with versions.
    pages: u64,
    /// Pages of the database's data files, without empty ones of the store.
    of: u64,
}

impl StoreShare {
    fn of(database: &Database) -> StoreShare {
        let usage = database.home().version_usage();
        let (pages, space) = (usage.pages.saturating_sub(usage.empty), database.space());
        let files = database.pages().file_ids().filter_map(|id| space.size_pages(id));
        let of = files.map(u64::from).sum::<u64>().saturating_sub(usage.empty);
        StoreShare { pages, of: of.max(1) }
    }

    fn percent(self) -> u64 {
        100 * self.pages / self.of
    }
}

fn mb(pages: u64) -> String {
    format!("{:.1} MB", (pages * PAGE_BYTES as u64) as f64 / 1_048_576.0)
}

impl Instance {
    /// Looks at the stores of all databases; a step of the background.
    pub(crate) fn watch_stores(&self, watch: &mut StoreWatch) {
        let ids: BTreeSet<_> = self.databases.read().keys().copied().collect();
        watch.large.retain(|id| ids.contains(id));
        watch.faults.retain(|id, _| ids.contains(id));
        let reports = monotonic_ns().saturating_sub(watch.reported_ns) >= REPORT_NS;
        for database in ids.into_iter().filter_map(|id| self.database(id)) {
            self.watch_cleaner(&database, &mut watch.faults);
            let stores = database.home().version_stores();
            if !stores.keeps_own() && database.home().aborted().is_empty() {
                watch.large.remove(&database.id());
                continue;
            }
            self.watch_store(&database, watch, reports);
        }
        if reports {
            watch.reported_ns = monotonic_ns();
        }
    }

    /// Tells what has ended the cleaner's sweeps, once, and that nothing does any more.
    fn watch_cleaner(&self, database: &Database, told: &mut BTreeMap<DatabaseId, String>) {
        let (id, name) = (database.id(), database.home().name());
        match database.home().cleaner_times().fault() {
            Some(e) if told.get(&id).is_none_or(|text| text != e.text()) => {
                let line = format!(
                    "The cleaner of versions in database '{name}' was ended by error {}, severity \
                     {}, state {}: {} It tries again every 10 seconds.",
                    e.number(),
                    e.severity(),
                    e.state(),
                    e.text()
                );
                self.write_log("spid7s", &line);
                told.insert(id, e.text().to_owned());
            }
            None if told.remove(&id).is_some() => {
                let line = format!("The cleaner of versions in database '{name}' works again.");
                self.write_log("spid7s", &line);
            }
            _ => {}
        }
    }

    fn watch_store(&self, database: &Database, watch: &mut StoreWatch, reports: bool) {
        let (share, name) = (StoreShare::of(database), database.home().name());
        let percent = share.percent();
        let was_large = watch.large.contains(&database.id());
        let size = format!("{} of {}, {percent} %", mb(share.pages), mb(share.of));
        if percent >= TOLD_PERCENT && !was_large {
            watch.large.insert(database.id());
            let blocker = self.store_blocker(database);
            let line = format!(
                "The persistent version store of database '{name}' has grown above {TOLD_PERCENT} \
                 % of the database ({size}). {blocker}"
            );
            self.write_log("spid7s", &line);
        } else if percent < FORGOTTEN_PERCENT && was_large {
            watch.large.remove(&database.id());
            let line = format!(
                "The persistent version store of database '{name}' is below {FORGOTTEN_PERCENT} % \
                 of the database again ({size})."
            );
            self.write_log("spid7s", &line);
        }
        let aborted = database.home().aborted().count();
        if reports && share.pages + aborted as u64 > 0 {
            let PassedPages { for_active, for_snapshots, .. } =
                database.home().cleaner_times().passed();
            let line = format!(
                "[PVS] database '{name}': {size}; {aborted} aborted transactions; pages that wait \
                 for active transactions {for_active}, for snapshots {for_snapshots}. {}",
                self.store_blocker(database)
            );
            self.write_log("spid7s", &line);
        }
    }

    /// A sentence on whom most pages of a store wait for, as the cleaner found in its last pass.
    fn store_blocker(&self, database: &Database) -> String {
        let home = database.home();
        let passed = home.cleaner_times().passed();
        let for_aborted = passed.for_oldest_aborted + passed.for_other_aborted;
        let most = passed.for_active.max(for_aborted).max(passed.for_snapshots);
        if most > 0 && most == for_aborted {
            let aborted = home.aborted().list();
            if let Some(oldest) = aborted.iter().min_by_key(|a| a.xsn) {
                return format!(
                    "Most of it waits until the rows of aborted transactions are put back: {} of \
                     them, the oldest is transaction {}.",
                    aborted.len(),
                    oldest.id
                );
            }
        }
        let reader = self.engine().transactions.snapshots.open();
        let reader = reader.first().filter(|_| most > 0 && most == passed.for_snapshots);
        if let Some(oldest) = reader {
            let (by, ago_ns) = (oldest.by, monotonic_ns().saturating_sub(oldest.by.since_ns));
            let kind = if by.whole { "the snapshot of a transaction" } else { "a statement" };
            return self.waits_for(kind, (by.session, by.transaction), ago_ns);
        }
        match home.open_parts().first() {
            Some(part) => {
                let ago = part.began_at.map_or(0, |at| now().0.saturating_sub(at).max(0));
                let by = (part.session, Some(part.id));
                self.waits_for("an active transaction", by, ago.unsigned_abs())
            }
            None => "Nobody holds it: the cleaner goes over it.".to_owned(),
        }
    }

    fn waits_for(
        &self,
        kind: &str,
        (session, transaction): (SessionId, Option<TransactionId>),
        ago_ns: u64,
    ) -> String {
        let number = transaction.map_or_else(String::new, |t| format!(", transaction {t}"));
        let text = self.registry.list().into_iter().find(|s| s.session_id == session);
        let text = text.and_then(|s| s.input.text.as_deref().map(str::to_owned));
        let text: String = text.unwrap_or_default().chars().take(STATEMENT_CHARS).collect();
        let s = ago_ns / 1_000_000_000;
        format!("Most of it waits for {kind} of session {session}{number}, {s} s old: {text}")
    }
}
