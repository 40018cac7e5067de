//! Kernels: a comparison for all rows of a batch at once.
//!
//! The form, the kind of lanes and the relation are told apart once a vector, outside of the loop;
//! the loop over numbers has neither branches nor calls, so the compiler can vectorise it. A
//! dictionary and runs are judged by their entries where these are fewer than the rows.
//!
//! Invariants
//!  1. A kernel says of a row what `types::compare` says of its values; NULL is unknown.
//!  2. It answers for rows of `among` only, and allocates nothing.

use crate::constant::Lane;
use crate::lanes::Lanes;
use crate::texts::Texts;
use crate::vector::Form;
use crate::{Constant, ROWS_MAX, RowSet, Truth, Vector};
use std::cmp::Ordering;
use types::{Collation, Family, Relation, SqlType, StorageOrder, compare_storage};

/// Numbers that lanes hold.
trait Number: Copy {
    fn is_equal(self, other: Self) -> bool;
    fn is_less(self, other: Self) -> bool;
}

impl Number for i64 {
    #[inline(always)]
    fn is_equal(self, other: i64) -> bool {
        self == other
    }

    #[inline(always)]
    fn is_less(self, other: i64) -> bool {
        self < other
    }
}

impl Number for i128 {
    #[inline(always)]
    fn is_equal(self, other: i128) -> bool {
        self == other
    }

    #[inline(always)]
    fn is_less(self, other: i128) -> bool {
        self < other
    }
}

/// Zeros are equal. What is not a number comes last: it is no SQL value, but bytes can be one.
impl Number for f64 {
    #[inline(always)]
    fn is_equal(self, other: f64) -> bool {
        (self == other) | (self.is_nan() & other.is_nan())
    }

    #[inline(always)]
    fn is_less(self, other: f64) -> bool {
        (self < other) | (!self.is_nan() & other.is_nan())
    }
}

/// How a column stands to a constant, among some rows.
///
/// # Panics
/// When the constant was made for a column whose lanes are of another kind.
pub fn compare_constant(
    column: &Vector,
    relation: Relation,
    constant: &Constant,
    among: &RowSet,
) -> Truth {
    let (form, among) = (column.form(), &among.and(&RowSet::first(column.len())));
    let holds = match (column.lanes(), &constant.0) {
        (_, Lane::Null) => return Truth::UNKNOWN,
        (Lanes::Whole(lanes), Lane::Whole(than)) => number(form, lanes, relation, *than),
        (Lanes::Wide(lanes), Lane::Wide(than)) => number(form, lanes, relation, *than),
        (Lanes::Float(lanes), Lane::Float(than)) => number(form, lanes, relation, *than),
        (Lanes::Bytes(texts), Lane::Bytes(than, order)) => {
            let known = among.and(column.valid());
            text(form, texts, &known, |bytes| relation.holds(order.of(bytes, than)))
        }
        _ => panic!("the constant was made for another type than {}", column.sql_type()),
    };
    Truth::of(holds, among, column.valid())
}

/// Whether [`compare_vectors`] compares columns of two types.
pub fn comparable(a: SqlType, b: SqlType) -> bool {
    let family = a.family();
    match (a, b) {
        (SqlType::Decimal { scale, .. }, SqlType::Decimal { scale: other, .. }) => {
            scale == other && is_wide(a) == is_wide(b)
        }
        (SqlType::Xml, _) | (_, SqlType::Xml) => false,
        (SqlType::Time(_), SqlType::Time(_)) => true,
        (SqlType::DateTime2(_), SqlType::DateTime2(_)) => true,
        _ if family == b.family() => {
            a == b || !matches!(family, Family::Temporal | Family::Variant)
        }
        _ => false,
    }
}

fn is_wide(sql_type: SqlType) -> bool {
    matches!(Lanes::new(sql_type), Lanes::Wide(_))
}

/// How one column stands to another one, among some rows. The collation is for strings.
///
/// # Panics
/// When the types are not [`comparable`], or the vectors have different numbers of rows.
pub fn compare_vectors(
    a: &Vector,
    relation: Relation,
    b: &Vector,
    collation: Collation,
    among: &RowSet,
) -> Truth {
    assert!(comparable(a.sql_type(), b.sql_type()), "columns were converted to one type");
    assert_eq!(a.len(), b.len(), "columns of one batch have the same rows");
    let among = &among.and(&RowSet::first(a.len()));
    let valid = a.valid().and(b.valid());
    let holds = match (a.lanes(), b.lanes()) {
        (Lanes::Whole(x), Lanes::Whole(y)) => numbers((a, x), relation, (b, y), among),
        (Lanes::Wide(x), Lanes::Wide(y)) => numbers((a, x), relation, (b, y), among),
        (Lanes::Float(x), Lanes::Float(y)) => numbers((a, x), relation, (b, y), among),
        (Lanes::Bytes(x), Lanes::Bytes(y)) => {
            let order = compare_storage(a.sql_type(), collation);
            texts((a, x), (b, y), &among.and(&valid), order, |order| relation.holds(order))
        }
        _ => unreachable!("lanes of comparable types are of one kind"),
    };
    Truth::of(holds, among, &valid)
}

/// Of which rows a column is NULL; never unknown.
pub fn is_null(column: &Vector, among: &RowSet) -> Truth {
    let among = among.and(&RowSet::first(column.len()));
    Truth::known(among.without(column.valid()), &among)
}

/// Rows whose number stands so to a constant. Lanes of NULLs are among them.
fn number<T: Number>(form: &Form, lanes: &[T], relation: Relation, than: T) -> RowSet {
    match relation {
        Relation::Equal => decide(form, lanes, |x: T| x.is_equal(than)),
        Relation::NotEqual => decide(form, lanes, |x: T| !x.is_equal(than)),
        Relation::Less => decide(form, lanes, |x: T| x.is_less(than)),
        Relation::LessOrEqual => decide(form, lanes, |x: T| !than.is_less(x)),
        Relation::Greater => decide(form, lanes, |x: T| than.is_less(x)),
        Relation::GreaterOrEqual => decide(form, lanes, |x: T| !x.is_less(than)),
    }
}

/// Rows whose lane passes.
#[inline]
fn decide<T: Copy>(form: &Form, lanes: &[T], test: impl Fn(T) -> bool) -> RowSet {
    match form {
        Form::Flat(_) => RowSet::of_lanes(lanes, test),
        Form::Constant(_) => everywhere(test(lanes[0])),
        Form::Dictionary { codes, .. } if lanes.len() <= ROWS_MAX => {
            let entries = RowSet::of_lanes(lanes, test);
            RowSet::of_lanes(codes, |code| entries.contains(code as usize))
        }
        Form::Dictionary { codes, .. } => {
            RowSet::of_lanes(codes, |code| test(lanes[code as usize]))
        }
        Form::Runs { ends, .. } => spread(&RowSet::of_lanes(lanes, test), ends),
    }
}

/// Rows among some whose string passes.
#[inline]
fn text(form: &Form, texts: &Texts, among: &RowSet, test: impl Fn(&[u8]) -> bool) -> RowSet {
    let passing = |n: usize| test(texts.at(n));
    match form {
        Form::Flat(_) => among.iter().filter(|&row| passing(row)).collect(),
        Form::Constant(_) => everywhere(!among.is_empty() && passing(0)),
        Form::Dictionary { codes, .. } if texts.len() <= among.count() => {
            let entries: RowSet = (0..texts.len()).filter(|&n| passing(n)).collect();
            RowSet::of_lanes(codes, |code| entries.contains(code as usize))
        }
        Form::Dictionary { codes, .. } => {
            among.iter().filter(|&row| passing(codes[row] as usize)).collect()
        }
        Form::Runs { ends, .. } => {
            let runs = (0..texts.len()).filter(|&n| {
                let from = if n == 0 { 0 } else { usize::from(ends[n - 1]) };
                let asked = among.next_from(from).is_some_and(|row| row < usize::from(ends[n]));
                asked && passing(n)
            });
            spread(&runs.collect(), ends)
        }
    }
}

fn everywhere(holds: bool) -> RowSet {
    if holds { RowSet::first(ROWS_MAX) } else { RowSet::EMPTY }
}

/// The rows of some runs.
fn spread(runs: &RowSet, ends: &[u16]) -> RowSet {
    let mut rows = RowSet::EMPTY;
    for run in runs {
        let from = if run == 0 { 0 } else { usize::from(ends[run - 1]) };
        rows = rows.or(&RowSet::first(usize::from(ends[run])).without(&RowSet::first(from)));
    }
    rows
}

/// A column with its lanes.
type Side<'v, T> = (&'v Vector, &'v [T]);

fn numbers<T: Number>(
    a: Side<'_, T>,
    relation: Relation,
    b: Side<'_, T>,
    among: &RowSet,
) -> RowSet {
    match relation {
        Relation::Equal => decide_pairs(a, b, among, T::is_equal),
        Relation::NotEqual => decide_pairs(a, b, among, |x, y| !x.is_equal(y)),
        Relation::Less => decide_pairs(a, b, among, T::is_less),
        Relation::LessOrEqual => decide_pairs(a, b, among, |x, y| !y.is_less(x)),
        Relation::Greater => decide_pairs(a, b, among, |x, y| y.is_less(x)),
        Relation::GreaterOrEqual => decide_pairs(a, b, among, |x, y| !x.is_less(y)),
    }
}

/// Rows whose two lanes pass: a loop without branches where both columns are flat, else row by row.
#[inline]
fn decide_pairs<T: Copy>(
    (a, x): Side<'_, T>,
    (b, y): Side<'_, T>,
    among: &RowSet,
    test: impl Fn(T, T) -> bool,
) -> RowSet {
    match (a.form(), b.form()) {
        (Form::Flat(_), Form::Flat(_)) => RowSet::of_pairs(x, y, test),
        _ => among.iter().filter(|&row| test(x[a.position(row)], y[b.position(row)])).collect(),
    }
}

fn texts(
    (a, x): (&Vector, &Texts),
    (b, y): (&Vector, &Texts),
    among: &RowSet,
    order: StorageOrder,
    test: impl Fn(Ordering) -> bool,
) -> RowSet {
    let passing = |&row: &usize| test(order.of(x.at(a.position(row)), y.at(b.position(row))));
    among.iter().filter(passing).collect()
}
