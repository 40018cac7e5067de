//! `Restriction`: the rows that a filtered index has.
//!
//! A conjunction of tests, each of one column against constants; that is all a filter may say.
//! So it can be kept as data, be tested by whoever has a row, with values or with stored bytes,
//! and be compared with what a query asks.
//!
//! Invariant 1: a test of NULL other than IS NULL fails, as WHERE has it.

use crate::{Collation, Family, SqlType, Value, compare, decode_storage};
use std::cmp::Ordering;

/// How a value stands to a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the operator of that name")]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    /// Whether an order is one that it admits.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            Relation::Equal => order.is_eq(),
            Relation::NotEqual => order.is_ne(),
            Relation::Less => order.is_lt(),
            Relation::LessOrEqual => order.is_le(),
            Relation::Greater => order.is_gt(),
            Relation::GreaterOrEqual => order.is_ge(),
        }
    }

    /// As it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Relation::Equal => "=",
            Relation::NotEqual => "<>",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        }
    }

    /// The relation of a sign.
    pub fn of_sign(sign: &str) -> Option<Relation> {
        const ALL: [Relation; 6] = [
            Relation::Equal,
            Relation::NotEqual,
            Relation::Less,
            Relation::LessOrEqual,
            Relation::Greater,
            Relation::GreaterOrEqual,
        ];
        ALL.into_iter().find(|r| r.sign() == sign)
    }
}

/// What is asked of a column. Constants have [`ColumnTest::constant_type`].
#[derive(Clone, PartialEq, Debug)]
pub enum Requirement {
    /// IS NULL
    Null,
    /// IS NOT NULL
    NotNull,
    /// A comparison with a constant.
    Compared(Relation, Value),
    /// IN
    OneOf(Vec<Value>),
}

/// A column and what is asked of it.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnTest {
    /// Its ordinal in the table.
    pub column: usize,
    /// Its type.
    pub sql_type: SqlType,
    /// How its characters compare.
    pub collation: Collation,
    /// What is asked.
    pub requirement: Requirement,
}

impl ColumnTest {
    /// The type that constants have: the column's, of text and bytes at any length.
    pub fn constant_type(&self) -> SqlType {
        match self.sql_type.family() {
            Family::Char => SqlType::VARCHAR_MAX,
            Family::NChar => SqlType::NVARCHAR_MAX,
            Family::Binary => SqlType::VARBINARY_MAX,
            _ => self.sql_type,
        }
    }

    /// Whether a value passes.
    pub fn holds(&self, value: &Value) -> bool {
        match &self.requirement {
            Requirement::Null => value.is_null(),
            Requirement::NotNull => !value.is_null(),
            _ if value.is_null() => false,
            Requirement::Compared(relation, constant) => {
                relation.holds(compare(value, constant, self.collation))
            }
            Requirement::OneOf(constants) => {
                constants.iter().any(|c| compare(value, c, self.collation).is_eq())
            }
        }
    }

    /// Whether a value passes whose stored bytes are these; `None` is NULL. Bytes that are no
    /// value of the type pass nothing but IS NOT NULL.
    pub fn holds_stored(&self, field: Option<&[u8]>) -> bool {
        match (field, &self.requirement) {
            (None, requirement) => *requirement == Requirement::Null,
            (Some(_), Requirement::Null) => false,
            (Some(_), Requirement::NotNull) => true,
            (Some(bytes), _) => decode_storage(bytes, self.sql_type).is_ok_and(|v| self.holds(&v)),
        }
    }
}

/// A filter. Its text is how `sys.indexes.filter_definition` shows it.
#[derive(Clone, PartialEq, Debug)]
pub struct Restriction {
    /// The text.
    pub text: Box<str>,
    /// All must hold.
    pub tests: Vec<ColumnTest>,
}

impl Restriction {
    /// Whether a row passes whose values by ordinal are these.
    pub fn admits<'v>(&self, value: &dyn Fn(usize) -> &'v Value) -> bool {
        self.tests.iter().all(|t| t.holds(value(t.column)))
    }

    /// Whether a row passes whose stored bytes by ordinal are these; `None` is NULL.
    pub fn admits_stored<'b>(&self, field: &dyn Fn(usize) -> Option<&'b [u8]>) -> bool {
        self.tests.iter().all(|t| t.holds_stored(field(t.column)))
    }

    /// Whether it asks for something of a column.
    pub fn reads(&self, column: usize) -> bool {
        self.tests.iter().any(|t| t.column == column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restriction(requirement: Requirement) -> Restriction {
        let collation = Collation::default();
        let test = ColumnTest { column: 0, sql_type: SqlType::Int, collation, requirement };
        Restriction { text: "".into(), tests: vec![test] }
    }

    /// Values and their stored bytes pass alike; NULL passes IS NULL alone.
    #[test]
    fn values_and_bytes_agree() {
        let seven = Value::Int(7);
        for (requirement, passing) in [
            (Requirement::Null, vec![]),
            (Requirement::NotNull, vec![5, 7, 9]),
            (Requirement::Compared(Relation::Equal, seven.clone()), vec![7]),
            (Requirement::Compared(Relation::NotEqual, seven.clone()), vec![5, 9]),
            (Requirement::Compared(Relation::Less, seven.clone()), vec![5]),
            (Requirement::Compared(Relation::GreaterOrEqual, seven.clone()), vec![7, 9]),
            (Requirement::OneOf(vec![Value::Int(5), seven.clone()]), vec![5, 7]),
        ] {
            let is_null = requirement == Requirement::Null;
            let r = restriction(requirement);
            assert_eq!(r.admits(&|_| &Value::Null), is_null);
            assert_eq!(r.admits_stored(&|_| None), is_null);
            for n in [5_i32, 7, 9] {
                let (bytes, v) = (n.to_le_bytes(), &Value::Int(n));
                assert_eq!(r.admits(&|_| v), passing.contains(&n), "{r:?}");
                assert_eq!(r.admits_stored(&|_| Some(&bytes)), passing.contains(&n), "{r:?}");
            }
        }
    }
}
