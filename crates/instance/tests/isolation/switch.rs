//! Who switches options while others work: versions of statements and of transactions, optimized
//! locking, accelerated recovery, and when ghosts are cleared away; and reorganizes tables.

use crate::DATABASE;
use crate::book::Book;
use crate::heard::Response;
use crate::simulated::{Random, login};
use instance::Instance;
use std::sync::Arc;

/// Others are inside, a lock in time, the turn is another's, versions are needed by an option.
const EXPECTED: [i32; 7] = [1205, 1222, 5061, 5069, 5070, 12133, 12134];
const SWITCHES: u64 = 14;

pub(crate) struct Switcher {
    pub(crate) instance: Arc<Instance>,
    pub(crate) book: Arc<Book>,
    pub(crate) r: Random,
}

impl Switcher {
    pub(crate) fn run(mut self) {
        let mut session = self.instance.connect(login("")).expect("master is open");
        for _ in 0..SWITCHES {
            let delay = self.r.below(40);
            let text = format!("WAITFOR DELAY '00:00:00.0{delay:02}'; {}", self.draw());
            self.book.open().say(format!("s> {text}"));
            let heard = Response::ask(&mut session, &text);
            let strange = heard.errors().find(|e| !EXPECTED.contains(&e.number()));
            let mut page = self.book.open();
            if strange.is_some() || !heard.goes_on {
                page.fail(None, &format!("{text}: {strange:?}"));
            }
            let error = heard.error().map(|e| e.number());
            page.say(format!("s< {error:?}"));
            page.count(if error.is_none() { "switches" } else { "switches refused" }, 1);
        }
    }

    fn draw(&mut self) -> String {
        let on = ["ON", "OFF"][self.r.below(2) as usize];
        let waits = ["", " WITH NO_WAIT", " WITH ROLLBACK IMMEDIATE", " WITH ROLLBACK AFTER 1"];
        let wait = waits[self.r.below(4) as usize];
        match self.r.below(12) {
            0..=2 => format!("ALTER DATABASE {DATABASE} SET READ_COMMITTED_SNAPSHOT {on}{wait}"),
            3 | 4 => format!("ALTER DATABASE {DATABASE} SET ALLOW_SNAPSHOT_ISOLATION {on}"),
            5 | 6 => format!("ALTER DATABASE {DATABASE} SET OPTIMIZED_LOCKING = {on}{wait}"),
            10 | 11 => {
                format!("ALTER DATABASE {DATABASE} SET ACCELERATED_DATABASE_RECOVERY = {on}{wait}")
            }
            8 | 9 => {
                let t = ["T", "H"][self.r.below(2) as usize];
                format!(
                    "USE {DATABASE}; IF OBJECT_ID('dbo.{t}') IS NOT NULL \
                     ALTER INDEX ALL ON dbo.{t} REORGANIZE; USE master"
                )
            }
            _ => {
                let rule = ["INTERVAL", "TRANSACTION"][self.r.below(2) as usize];
                format!(
                    "USE {DATABASE}; ALTER DATABASE SCOPED CONFIGURATION \
                     SET GHOST_CLEANUP_RULE = {rule}; USE master"
                )
            }
        }
    }
}
