//! What is there when all have ended: each table by each of its indexes, the ledger, counters.

use crate::DATABASE;
use crate::book::{ALL, ALONE, Book, Pages, ReadRequest};
use crate::driver::rows;
use crate::heard::Response;
use crate::simulated::{check, login};
use crate::story::{self, KEYS, Path, Table};
use instance::Instance;
use session::Session;
use std::collections::BTreeSet;

pub(crate) fn look(instance: &Instance, tables: &[Table], book: &Book) {
    let mut session = instance.connect(login(DATABASE)).expect("a session");
    let mut page = book.open();
    for table in tables {
        by_each_path(&mut session, table, &mut page);
    }
    ledger(&mut session, &page);
    counters(&mut session, &page);
    check(&mut session, DATABASE);
}

fn by_each_path(session: &mut Session, table: &Table, page: &mut Pages) {
    let all = ReadRequest { table: table.at, keys: (0, KEYS - 1), lengths: ALL, u: None };
    let since = page.tick();
    for path in Path::EACH {
        let asked = story::fit(all, path);
        let text = story::select(1, table, path, &asked, true);
        let heard = Response::ask(session, &text);
        assert!(heard.error().is_none(), "{text}: {:?}", heard.messages);
        let found = rows(page, table.at, &heard.rows, 1, &text);
        page.check_locked(ALONE, since, &asked, &found, &text);
    }
}

/// Whose commit was answered is there, and nobody else.
fn ledger(session: &mut Session, page: &Pages) {
    let ids = Response::numbers(session, "SELECT id FROM dbo.L");
    let found: BTreeSet<i64> = ids.into_iter().flatten().collect();
    let of_writers = page.transactions.iter().filter(|(id, t)| t.writes && page.committed(**id));
    let expected: BTreeSet<i64> = of_writers.map(|(id, _)| *id).collect();
    assert_eq!(found, expected, "the ledger");
}

fn counters(session: &mut Session, page: &Pages) {
    for row in Response::numbers(session, "SELECT id, n FROM dbo.C") {
        let [id, n] = row.as_slice() else { panic!("two columns: {row:?}") };
        let (sure, unsure) = page.added.get(id).copied().unwrap_or_default();
        assert!((sure..=sure + unsure).contains(n), "counter {id}: {n} of {sure} + {unsure}");
    }
}
