//! `SQLServer:Databases`: sizes, log and transactions of each database, and of all.

use super::{Counter, Kind, TOTAL, kb, of_instance};
use crate::view::System;
use base::limits::PAGE_BYTES;
use database::Database;
use wal::LogActivity;
use work::StoreActivity;

/// The figures of a database, or of all together.
#[derive(Clone, Copy, Default)]
struct Figures {
    data_kb: u64,
    log_kb: u64,
    log_used_kb: u64,
    active: u64,
    began: u64,
    wrote: u64,
    log: LogActivity,
    versions: StoreActivity,
    in_row_left: u64,
    in_row_read: u64,
}

impl Figures {
    fn of(database: &Database) -> Figures {
        let (space, pages) = (database.space(), database.pages());
        let data_pages = pages.file_ids().filter_map(|id| space.size_pages(id)).map(u64::from);
        let usage = database.log().usage();
        let (began, wrote) = database.home().transaction_counts();
        Figures {
            data_kb: data_pages.sum::<u64>() * kb(PAGE_BYTES as u64),
            log_kb: kb(usage.log_bytes()),
            log_used_kb: kb(usage.used_bytes + usage.reserved_bytes),
            active: database.home().active_count() as u64,
            began,
            wrote,
            log: database.log().activity(),
            versions: database.home().version_activity(),
            in_row_left: database.home().in_row().generated(),
            in_row_read: database.home().in_row().retrieved(),
        }
    }

    fn add(&mut self, other: &Figures) {
        self.data_kb += other.data_kb;
        self.log_kb += other.log_kb;
        self.log_used_kb += other.log_used_kb;
        self.active += other.active;
        self.began += other.began;
        self.wrote += other.wrote;
        self.in_row_left += other.in_row_left;
        self.in_row_read += other.in_row_read;
        let (log, more) = (&mut self.log, &other.log);
        log.flushes += more.flushes;
        log.flushed_bytes += more.flushed_bytes;
        log.write_ns += more.write_ns;
        log.flush_waits += more.flush_waits;
        log.flush_wait_ns += more.flush_wait_ns;
        log.growths += more.growths;
        log.shrinks += more.shrinks;
        log.truncations += more.truncations;
        log.timed_holds += more.timed_holds;
        log.held_ns += more.held_ns;
        let (versions, more) = (&mut self.versions, &other.versions);
        versions.generated += more.generated;
        versions.retrieved += more.retrieved;
        versions.allocated_pages += more.allocated_pages;
        versions.pages_ahead += more.pages_ahead;
        versions.deleted_pages += more.deleted_pages;
    }

    fn counters(&self, instance: &str) -> impl Iterator<Item = Counter> {
        let percent = (100 * self.log_used_kb).checked_div(self.log_kb).unwrap_or(0);
        let (log, ms) = (&self.log, |ns: u64| ns / 1_000_000);
        let values = [
            ("Data File(s) Size (KB)", Kind::Now, self.data_kb),
            ("Log File(s) Size (KB)", Kind::Now, self.log_kb),
            ("Log File(s) Used Size (KB)", Kind::Now, self.log_used_kb),
            ("Percent Log Used", Kind::Now, percent),
            ("Active Transactions", Kind::Now, self.active),
            ("Transactions/sec", Kind::Total, self.began),
            ("Log Flushes/sec", Kind::Total, log.flushes),
            ("Log Bytes Flushed/sec", Kind::Total, log.flushed_bytes),
            ("Log Flush Waits/sec", Kind::Total, log.flush_waits),
            ("Log Flush Wait Time", Kind::Now, ms(log.flush_wait_ns)),
            ("Log Flush Write Time (ms)", Kind::Now, ms(log.write_ns)),
            ("Log Growths", Kind::Now, log.growths),
            ("Log Shrinks", Kind::Now, log.shrinks),
            ("Log Truncations", Kind::Now, log.truncations),
            ("Log Latch Hold Time (ns)", Kind::Average, log.held_ns),
            ("Log Latch Hold Time Base", Kind::Base, log.timed_holds),
            ("Write Transactions/sec", Kind::Total, self.wrote),
            ("PVS in-row diff generated/sec", Kind::Total, self.in_row_left),
            ("PVS in-row diff retrieved/sec", Kind::Total, self.in_row_read),
            ("PVS off-row record generated/sec", Kind::Total, self.versions.generated),
            ("PVS off-row record retrieved/sec", Kind::Total, self.versions.retrieved),
            ("PVS off-row pages allocated/sec", Kind::Total, self.versions.allocated_pages),
            ("PVS off-row pages allocated ahead/sec", Kind::Total, self.versions.pages_ahead),
            ("PVS off-row pages deleted/sec", Kind::Total, self.versions.deleted_pages),
        ];
        of_instance(instance, values)
    }
}

pub(crate) fn databases(system: &System<'_>) -> Vec<Counter> {
    let (mut all, mut total) = (Vec::new(), Figures::default());
    for database in system.databases.all() {
        let figures = Figures::of(&database);
        total.add(&figures);
        all.extend(figures.counters(&database.home().name()));
    }
    all.extend(total.counters(TOTAL));
    all
}
