//! `RowTest`: a condition on one column, decided on a row's stored bytes before any value is
//! decoded. A test that most rows of a scan fail costs a few nanoseconds a row.
//!
//! Invariant: when a test fails, its conjunct is false or unknown. NULL fails every test.

use access::{Field, RowView};
use builtins::LikePattern;
use plan::{CompareOp, LikeText, Predicate, Scalar, ScanColumn};
use std::sync::Arc;
use types::{Bytes, Collation, Family, SqlType, TextOrder, Value, number_of, stored_number};

/// A test of a column.
pub(crate) struct RowTest {
    field: usize,
    sql_type: SqlType,
    test: Test,
}

enum Test {
    /// As numbers that order like the values.
    Number(CompareOp, i64),
    /// As texts under a collation.
    Text(CompareOp, TextOrder, Collation, Bytes),
    Like {
        pattern: Arc<LikePattern>,
        negated: bool,
    },
    /// Numbers in order: whether one is among them, or is not.
    Among {
        numbers: Box<[i64]>,
        negated: bool,
    },
    /// NOT IN of a list with NULL is true of nothing.
    Never,
}

impl RowTest {
    /// The test of a conjunct, if bytes can decide it.
    pub(crate) fn new(conjunct: &Predicate, columns: &[ScanColumn]) -> Option<RowTest> {
        let (predicate, negated) = match conjunct {
            Predicate::Not(inner) => (&**inner, true),
            other => (other, false),
        };
        match predicate {
            Predicate::Compare { op, left, right, collation } if !negated => {
                let (column, value, op) = match (column(left, columns), column(right, columns)) {
                    (Some(c), None) => (c, right.as_constant()?, *op),
                    (None, Some(c)) => (c, left.as_constant()?, op.mirrored()),
                    _ => return None,
                };
                let test = match (value, column.sql_type.family()) {
                    (Value::Char(b), Family::Char) => {
                        Test::Text(op, collation.char_order(), *collation, b.clone())
                    }
                    (Value::NChar(b), Family::NChar) => {
                        Test::Text(op, collation.nchar_order(), *collation, b.clone())
                    }
                    (value, _) => Test::Number(op, number_of(value, column.sql_type)?),
                };
                Some(RowTest { field: column.field, sql_type: column.sql_type, test })
            }
            Predicate::Like { operand, pattern: LikeText::Compiled(pattern), .. } => {
                let column = column(operand, columns)?;
                if !matches!(column.sql_type.family(), Family::Char | Family::NChar) {
                    return None;
                }
                let test = Test::Like { pattern: Arc::clone(pattern), negated };
                Some(RowTest { field: column.field, sql_type: column.sql_type, test })
            }
            Predicate::InList { operand, list, .. } => {
                let column = column(operand, columns)?;
                let test = among(list, column.sql_type, negated)?;
                Some(RowTest { field: column.field, sql_type: column.sql_type, test })
            }
            _ => None,
        }
    }

    /// Whether it is true of a row; `None` where the bytes do not tell.
    #[inline]
    pub(crate) fn holds(&self, row: &RowView<'_>) -> Option<bool> {
        let bytes = match row.field(self.field)? {
            Field::Null => return Some(false),
            Field::Inline(bytes) => bytes,
            Field::OffRow(_) => return None,
        };
        Some(match &self.test {
            Test::Number(op, than) => op.holds(stored_number(bytes, self.sql_type)?.cmp(than)),
            Test::Text(op, order, rule, than) => op.holds(order(bytes, than, rule.id())),
            Test::Like { pattern, negated } => {
                let matches = match self.sql_type.family() {
                    Family::Char => pattern.matches_char(bytes)?,
                    _ => pattern.matches_nchar(bytes)?,
                };
                matches != *negated
            }
            Test::Among { numbers, negated } => {
                let number = stored_number(bytes, self.sql_type)?;
                numbers.binary_search(&number).is_ok() != *negated
            }
            Test::Never => false,
        })
    }
}

/// IN, or NOT IN, of constants that are numbers.
fn among(list: &[Scalar], sql_type: SqlType, negated: bool) -> Option<Test> {
    let mut numbers = Vec::with_capacity(list.len());
    for x in list {
        match x.as_constant()? {
            Value::Null if negated => return Some(Test::Never),
            Value::Null => {}
            value => numbers.push(number_of(value, sql_type)?),
        }
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(Test::Among { numbers: numbers.into(), negated })
}

/// The column that a scalar is.
fn column(x: &Scalar, columns: &[ScanColumn]) -> Option<ScanColumn> {
    let slot = x.as_column()?;
    columns.iter().copied().find(|c| c.slot == slot)
}
