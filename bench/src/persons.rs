//! `Persons`: the rows of W2, each session's own and the same for every engine and run.

use crate::connection::Insert;
use types::Value;

/// What is inserted: names in no order, so that five indexes are met anywhere.
pub(crate) const INSERT: Insert = Insert {
    table: "person",
    columns: &[
        ("family_name", "varchar(25)"),
        ("given_name", "varchar(20)"),
        ("is_member", "bit"),
        ("born", "date"),
        ("street", "varchar(48)"),
        ("town", "varchar(30)"),
        ("post_code", "varchar(10)"),
        ("country", "char(2)"),
        ("phone", "varchar(16)"),
        ("mail", "varchar(48)"),
    ],
};
/// 2026-01-01, in days from 0001-01-01; births lie before it.
const TODAY: i32 = 739_616;

/// An endless row of persons.
pub(crate) struct Persons {
    state: u64,
}

impl Persons {
    /// Of a session.
    pub(crate) fn new(session: u64) -> Persons {
        Persons { state: (session + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) }
    }

    /// xorshift64*, its upper half.
    fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        ((self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32) * bound) >> 32
    }

    fn text(&mut self, prefix: &str, bound: u64) -> Value {
        Value::varchar(&format!("{prefix}{}", self.below(bound)))
    }

    /// The next one, in the order of [`INSERT`]'s columns.
    pub(crate) fn next(&mut self) -> [Value; 10] {
        [
            self.text("LN", 10_000),
            self.text("FN", 10_000),
            Value::Bit(self.below(2) == 1),
            Value::Date(TODAY - self.below(10_000) as i32),
            self.text("SA", 10_000_000),
            self.text("CI", 100),
            self.text("PC", 1_000),
            self.text("C", 10),
            self.text("PN", 10_000_000),
            self.text("EM", 10_000_000),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows repeat from run to run, differ between sessions, and fill the columns.
    #[test]
    fn persons_are_told_apart() {
        let rows = |session| {
            let mut persons = Persons::new(session);
            (0..100).map(|_| persons.next()).collect::<Vec<_>>()
        };
        assert_eq!(rows(1), rows(1));
        assert_ne!(rows(1), rows(2));
        assert_eq!(INSERT.columns.len(), rows(0)[0].len());
        assert_eq!(Value::Date(TODAY).to_string(), "2026-01-01");
    }
}
