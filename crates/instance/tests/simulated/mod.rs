//! What tests of sessions on a simulated machine share: chance by a seed, a login, whole numbers
//! of answers, and DBCC CHECKDB.

use crate::heard::Response;
use session::{Login, Session};
use types::Value;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

pub(crate) fn whole(value: &Value) -> i64 {
    match value {
        Value::TinyInt(n) => i64::from(*n),
        Value::SmallInt(n) => i64::from(*n),
        Value::Int(n) => i64::from(*n),
        Value::BigInt(n) => *n,
        other => panic!("a whole number, not {other:?}"),
    }
}

pub(crate) fn login(database: &str) -> Login {
    Login {
        user: "sa".to_owned(),
        database: database.to_owned(),
        odbc_defaults: true,
        ..Login::default()
    }
}

impl Response {
    /// Rows of whole numbers; an error is a failure.
    pub(crate) fn numbers(session: &mut Session, text: &str) -> Vec<Vec<i64>> {
        let heard = Response::ask(session, text);
        assert!(heard.error().is_none(), "{text}: {:?}", heard.messages);
        heard.rows.iter().map(|row| row.iter().map(whole).collect()).collect()
    }
}

/// DBCC CHECKDB finds nothing in the session's database.
pub(crate) fn check(session: &mut Session, database: &str) {
    let clean =
        format!("found 0 allocation errors and 0 consistency errors in database '{database}'");
    let said = Response::ask(session, "DBCC CHECKDB");
    assert!(said.messages.iter().any(|m| m.text().contains(&clean)), "{:?}", said.messages);
}
