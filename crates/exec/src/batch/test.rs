//! `BatchTest`: a condition that kernels decide for all rows of a batch, without values and without
//! errors. Other conditions (LIKE, calls) are tested row by row.

use plan::{CompareOp, Predicate, Scalar, ScanColumn};
use types::{Collation, Relation};
use vector::{
    Batch, Constant, RowSet, Truth, comparable, compare_constant, compare_vectors, is_null,
};

/// A condition on columns of a batch, which are those of a scan in the same order.
pub(super) enum BatchTest {
    /// A column with a constant.
    Constant {
        column: usize,
        relation: Relation,
        constant: Constant,
    },
    /// Two columns.
    Columns {
        a: usize,
        relation: Relation,
        b: usize,
        collation: Collation,
    },
    IsNull(usize),
    Not(Box<BatchTest>),
    All(Vec<BatchTest>),
    Any(Vec<BatchTest>),
}

impl BatchTest {
    /// The test of a predicate, if kernels can decide it.
    pub(super) fn new(predicate: &Predicate, columns: &[ScanColumn]) -> Option<BatchTest> {
        let test = |p: &Predicate| BatchTest::new(p, columns);
        Some(match predicate {
            Predicate::Compare { op, left, right, collation } => {
                compared(*op, left, right, *collation, columns)?
            }
            Predicate::IsNull(x) => BatchTest::IsNull(column(x, columns)?),
            Predicate::Not(inner) => BatchTest::Not(Box::new(test(inner)?)),
            Predicate::And(parts) => BatchTest::All(parts.iter().map(test).collect::<Option<_>>()?),
            Predicate::Or(parts) => BatchTest::Any(parts.iter().map(test).collect::<Option<_>>()?),
            _ => return None,
        })
    }

    /// Its truth for some rows of a batch.
    pub(super) fn decide(&self, batch: &Batch, among: &RowSet) -> Truth {
        let column = |n: usize| &batch.columns()[n];
        match self {
            BatchTest::Constant { column: n, relation, constant } => {
                compare_constant(column(*n), *relation, constant, among)
            }
            BatchTest::Columns { a, relation, b, collation } => {
                compare_vectors(column(*a), *relation, column(*b), *collation, among)
            }
            BatchTest::IsNull(n) => is_null(column(*n), among),
            BatchTest::Not(inner) => inner.decide(batch, among).not(),
            // A row that one part is false of is not asked about again.
            BatchTest::All(parts) => {
                parts.iter().fold(Truth::known(*among, among), |truth, part| {
                    truth.and(&part.decide(batch, &among.without(&truth.no)))
                })
            }
            BatchTest::Any(parts) => {
                parts.iter().fold(Truth::known(RowSet::EMPTY, among), |truth, part| {
                    truth.or(&part.decide(batch, &among.without(&truth.yes)))
                })
            }
        }
    }
}

fn compared(
    op: CompareOp,
    left: &Scalar,
    right: &Scalar,
    collation: Collation,
    columns: &[ScanColumn],
) -> Option<BatchTest> {
    let (n, value, op) = match (column(left, columns), column(right, columns)) {
        (Some(a), Some(b)) => {
            let may = comparable(columns[a].sql_type, columns[b].sql_type);
            return may.then_some(BatchTest::Columns { a, relation: relation(op), b, collation });
        }
        (Some(n), None) => (n, right.as_constant()?, op),
        (None, Some(n)) => (n, left.as_constant()?, op.mirrored()),
        (None, None) => return None,
    };
    let constant = Constant::new(value, columns[n].sql_type, collation)?;
    Some(BatchTest::Constant { column: n, relation: relation(op), constant })
}

/// Which column of the batch a scalar is.
fn column(x: &Scalar, columns: &[ScanColumn]) -> Option<usize> {
    let slot = x.as_column()?;
    columns.iter().position(|c| c.slot == slot)
}

fn relation(op: CompareOp) -> Relation {
    match op {
        CompareOp::Equal => Relation::Equal,
        CompareOp::NotEqual => Relation::NotEqual,
        CompareOp::Less => Relation::Less,
        CompareOp::LessOrEqual => Relation::LessOrEqual,
        CompareOp::Greater => Relation::Greater,
        CompareOp::GreaterOrEqual => Relation::GreaterOrEqual,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{ScalarType, Slot};
    use types::{SqlType, Value};

    const TYPES: [SqlType; 3] = [SqlType::Int, SqlType::decimal(9, 2), SqlType::varchar(9)];

    fn column_of(slot: u32) -> Scalar {
        let sql_type = TYPES.get(slot as usize).copied().unwrap_or(SqlType::Int);
        Scalar::column(Slot(slot), ScalarType::new(sql_type, true))
    }

    fn is_test(predicate: &Predicate) -> bool {
        let column = |(field, &sql_type): (usize, &SqlType)| ScanColumn {
            field,
            sql_type,
            slot: Slot(field as u32),
        };
        let columns: Vec<ScanColumn> = TYPES.iter().enumerate().map(column).collect();
        BatchTest::new(predicate, &columns).is_some()
    }

    fn equal(left: Scalar, right: Scalar) -> Predicate {
        Predicate::Compare {
            op: CompareOp::Equal,
            left: Box::new(left),
            right: Box::new(right),
            collation: Collation::SQL_LATIN1_CI_AS,
        }
    }

    /// Kernels decide comparisons with constants and between columns of the scan; a combination is
    /// theirs if each part is.
    #[test]
    fn what_kernels_decide() {
        let int = |n| Scalar::constant(Value::Int(n), SqlType::Int);
        let text = Scalar::constant(Value::varchar("a"), SqlType::varchar(9));
        let kernels = equal(column_of(0), int(1));
        let outer = equal(column_of(0), column_of(7));
        assert!(is_test(&kernels) && is_test(&equal(int(1), column_of(0))));
        assert!(is_test(&equal(column_of(2), text.clone())));
        assert!(is_test(&equal(column_of(1), column_of(1))));
        assert!(is_test(&Predicate::IsNull(Box::new(column_of(2)))));
        assert!(!is_test(&outer), "the column is not of this scan");
        assert!(!is_test(&equal(column_of(0), column_of(1))), "types differ");
        assert!(!is_test(&equal(int(1), int(1))), "nothing of a row");
        assert!(!is_test(&equal(column_of(0), text)), "no int is a text");
        let both = |a: &Predicate, b: &Predicate| vec![a.clone(), b.clone()];
        assert!(is_test(&Predicate::Or(both(&kernels, &kernels))));
        assert!(is_test(&Predicate::Not(Box::new(Predicate::And(both(&kernels, &kernels))))));
        assert!(!is_test(&Predicate::Or(both(&kernels, &outer))));
        assert!(!is_test(&Predicate::And(both(&outer, &kernels))));
    }
}
