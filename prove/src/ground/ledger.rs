//! The ledger of one session under SIGKILL: what it changed, what was acknowledged, and so what a
//! recovered database may hold of it.
//!
//! Invariants
//!  1. A transaction enters before it is sent; so nothing can be found that was never entered.
//!  2. An acknowledgement of a full commit covers every transaction before it.
//!  3. A transaction that was refused is taken out: nothing of it may be found.
//!  4. What is found is the state after some whole number of transactions, none of them in part,
//!     and not fewer than were acknowledged.

use std::collections::BTreeMap;

/// Keys and values of a session's rows.
pub(crate) type Rows = BTreeMap<i64, i64>;

const KEYS: u64 = 60;

/// A change of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Put { key: i64, value: i64 },
    Remove { key: i64 },
}

/// Numbers that a seed decides.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// What a session did since the last verification.
#[derive(Default)]
pub(crate) struct Ledger {
    base: Rows,
    now: Rows,
    transactions: Vec<Vec<Change>>,
    acknowledged: usize,
    value: i64,
    /// Before the transaction that was entered and not answered.
    before: Option<Rows>,
}

/// The length of the filler beside a value: it must be there with it.
pub(crate) fn filler_length(value: i64) -> i64 {
    1 + value * 37 % 2500
}

fn apply(rows: &mut Rows, changes: &[Change]) {
    for change in changes {
        match *change {
            Change::Put { key, value } => {
                rows.insert(key, value);
            }
            Change::Remove { key } => {
                rows.remove(&key);
            }
        }
    }
}

impl Ledger {
    /// Draws a transaction of `session`: its text; some roll back, and are not entered.
    pub(crate) fn draw(&mut self, session: usize, delayed: bool, random: &mut Random) -> String {
        let mut text = "SET NOCOUNT, XACT_ABORT ON; BEGIN TRANSACTION; ".to_owned();
        let mut changes = Vec::new();
        let mut rows = self.now.clone();
        self.before = None;
        for _ in 0..1 + random.below(4) {
            let key = i64::try_from(random.below(KEYS)).unwrap_or_default();
            let from = changes.len();
            text += &self.statement(session, key, &rows, random, &mut changes);
            apply(&mut rows, &changes[from..]);
        }
        if random.below(8) == 0 {
            return text + "ROLLBACK TRANSACTION;";
        }
        self.transactions.push(changes);
        self.before = Some(std::mem::replace(&mut self.now, rows));
        text + if delayed {
            "COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);"
        } else {
            "COMMIT TRANSACTION;"
        }
    }

    /// One statement on a key, and its changes.
    fn statement(
        &mut self,
        session: usize,
        key: i64,
        rows: &Rows,
        random: &mut Random,
        changes: &mut Vec<Change>,
    ) -> String {
        self.value += 1;
        let (value, length) = (self.value, filler_length(self.value));
        let row = format!("WHERE session = {session} AND id = {key}");
        if !rows.contains_key(&key) {
            changes.push(Change::Put { key, value });
            return format!(
                "INSERT dbo.T (session, id, v, filler) \
                 VALUES ({session}, {key}, {value}, REPLICATE('x', {length})); "
            );
        }
        match random.below(4) {
            0 => {
                changes.push(Change::Remove { key });
                format!("DELETE dbo.T {row}; ")
            }
            1 => {
                let next = (0..).find(|next| !rows.contains_key(next)).unwrap_or(key);
                changes.extend([Change::Remove { key }, Change::Put { key: next, value }]);
                format!(
                    "UPDATE dbo.T SET id = {next}, v = {value}, \
                     filler = REPLICATE('x', {length}) {row}; "
                )
            }
            _ => {
                changes.push(Change::Put { key, value });
                format!("UPDATE dbo.T SET v = {value}, filler = REPLICATE('x', {length}) {row}; ")
            }
        }
    }

    /// The last text was answered without an error; after a full commit all so far is durable.
    pub(crate) fn answered(&mut self, full: bool) {
        self.before = None;
        if full {
            self.acknowledged = self.transactions.len();
        }
    }

    /// The last text was refused, all of it.
    pub(crate) fn refused(&mut self) {
        if let Some(before) = self.before.take() {
            self.now = before;
            self.transactions.pop();
        }
    }

    /// Whether a recovered database may hold these rows; then the ledger begins anew with them.
    pub(crate) fn settle(&mut self, found: &Rows) -> Result<(), String> {
        let mut rows = self.base.clone();
        let mut allowed = self.acknowledged == 0 && rows == *found;
        for (n, changes) in self.transactions.iter().enumerate() {
            apply(&mut rows, changes);
            allowed |= n + 1 >= self.acknowledged && rows == *found;
        }
        if !allowed {
            let (sent, safe) = (self.transactions.len(), self.acknowledged);
            return Err(format!(
                "found {found:?}, which is no state after {safe} to {sent} transactions; the last is {rows:?}"
            ));
        }
        self.base.clone_from(found);
        self.now.clone_from(found);
        self.transactions.clear();
        self.acknowledged = 0;
        self.before = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        let put = |key, value| vec![Change::Put { key, value }];
        let transactions = vec![put(1, 10), put(2, 20), vec![Change::Remove { key: 1 }]];
        Ledger { transactions, acknowledged: 2, ..Ledger::default() }
    }

    /// A refused transaction is none; what had been answered before stays.
    #[test]
    fn what_was_refused_is_taken_out() {
        let (mut ledger, mut random) = (Ledger::default(), Random(1));
        let mut drawn = 0;
        while drawn < 2 {
            let text = ledger.draw(0, false, &mut random);
            if !text.contains("ROLLBACK") {
                drawn += 1;
            }
            if drawn < 2 {
                ledger.answered(true);
            }
        }
        let expected: Rows = ledger.before.clone().unwrap_or_default();
        ledger.refused();
        assert_eq!((ledger.transactions.len(), ledger.acknowledged), (1, 1));
        assert_eq!(ledger.now, expected);
        ledger.refused();
        assert_eq!(ledger.transactions.len(), 1, "nothing is taken out twice");
        assert_eq!(ledger.settle(&expected), Ok(()));
    }

    /// Acknowledged transactions must be there, later ones may be, and none in part.
    #[test]
    fn what_a_recovered_database_may_hold() {
        let cases: [(&[(i64, i64)], bool); 5] = [
            (&[(1, 10), (2, 20)], true),
            (&[(2, 20)], true),
            (&[(1, 10)], false),
            (&[], false),
            (&[(1, 10), (2, 20), (3, 30)], false),
        ];
        for (found, allowed) in cases {
            let found: Rows = found.iter().copied().collect();
            assert_eq!(ledger().settle(&found).is_ok(), allowed, "{found:?}");
        }
    }
}
