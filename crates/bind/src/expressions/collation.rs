//! Which collation a value has, and what happens where two meet.
//!
//! ```text
//!   COLLATE  >  none  >  a column's  >  the database's     the stronger one wins
//!   two of COLLATE      468           two columns'         none
//! ```
//!
//! A value without collation travels until something needs one: an operation (4191), DISTINCT,
//! CONVERT and COLLATE (446), a column of the result or an order (451), a conversion of varchar,
//! whose code page nobody knows (456, 457). Labels and their table are those of the reference page
//! "Collation Precedence"; numbers, states and which operation says what are from the recorded
//! probes of two public projects (tests/golden/rules/collation_precedence.golden names them).
//! Not from them: the words of PARTITION BY and OUTPUT in 451.
//!
//! Invariants
//!  1. Only characters have a collation: operands of other types are passed over.
//!  2. In messages the operand that came later stands first.

use crate::binder::Binder;
use crate::expressions::deduction::takes_any_type;
use base::{SqlError, SqlResult, messages};
use plan::{
    Coercibility, CollationConflict, CombiningOperator, ImplicitFlag, Scalar, ScalarKind,
    ScalarType,
};
use types::{CodePage, Collation, Family, Length, SqlType};

/// A collation, and how firmly a value has it.
type Label = (Collation, Coercibility);

/// What two labels make together.
enum CombinedLabel {
    One(Label),
    /// Both are columns'.
    Columns {
        earlier: Collation,
        later: Collation,
    },
    /// Both are COLLATE's.
    Clauses {
        earlier: Collation,
        later: Collation,
    },
}

fn meet(a: Label, b: Label) -> CombinedLabel {
    let (earlier, later) = (a.0, b.0);
    match (a.1, b.1) {
        (x, y) if x.rank() != y.rank() => {
            CombinedLabel::One(if x.rank() > y.rank() { a } else { b })
        }
        (Coercibility::Implicit, _) if earlier != later => {
            CombinedLabel::Columns { earlier, later }
        }
        (Coercibility::Explicit, _) if earlier != later => {
            CombinedLabel::Clauses { earlier, later }
        }
        _ => CombinedLabel::One(a),
    }
}

fn label(x: &Scalar) -> Label {
    (x.ty.collation, x.ty.coercibility)
}

fn texts<'x>(items: impl Iterator<Item = &'x Scalar>) -> impl Iterator<Item = Label> {
    items.filter(|x| x.ty.sql_type.is_character()).map(label)
}

/// What is read of a derived table, view or CTE is a column there: COLLATE within it is firm no
/// more.
pub(crate) fn as_column(ty: ScalarType) -> ScalarType {
    match ty.coercibility {
        Coercibility::Explicit => ScalarType { coercibility: Coercibility::Implicit, ..ty },
        _ => ty,
    }
}

/// 468: two collations, neither of which yields.
fn conflict(earlier: Collation, later: Collation, operation: &str) -> SqlError {
    let facts: [&dyn std::fmt::Display; 3] = [&later.name(), &earlier.name(), &operation];
    SqlError::new(messages::INCONSISTENT_COLLATION, &facts).with_state(9)
}

/// The collation of a result that need not have one; `None` when no operand is text.
///
/// # Errors
/// 468 when two operands have COLLATE.
pub(crate) fn combined<'x>(
    items: impl Iterator<Item = &'x Scalar>,
    operator: CombiningOperator,
) -> SqlResult<Option<Label>> {
    let mut found: Option<Label> = None;
    for next in texts(items) {
        found = Some(match found.map(|known| meet(known, next)) {
            None => next,
            Some(CombinedLabel::One(one)) => one,
            Some(CombinedLabel::Columns { earlier, later }) => {
                (earlier, Coercibility::None(CollationConflict { earlier, later, operator }))
            }
            Some(CombinedLabel::Clauses { earlier, later }) => {
                return Err(conflict(earlier, later, operator.name()));
            }
        });
    }
    Ok(found)
}

/// The collation that an operation needs of its operands; `None` when none is text.
///
/// # Errors
/// 468 when two insist on their own, 4191 when one has none.
pub(crate) fn agreed<'x>(
    items: impl Iterator<Item = &'x Scalar>,
    operation: &str,
) -> SqlResult<Option<Label>> {
    let mut found: Option<Label> = None;
    let mut clash = None;
    for next in texts(items) {
        found = Some(match found.map(|known| (known, meet(known, next))) {
            None => next,
            Some((_, CombinedLabel::One(one))) => one,
            Some((known, CombinedLabel::Columns { earlier, later })) => {
                clash = clash.or(Some((earlier, later)));
                known
            }
            Some((_, CombinedLabel::Clauses { earlier, later })) => {
                return Err(conflict(earlier, later, operation));
            }
        });
    }
    match (found, clash) {
        (Some((_, Coercibility::None(_))), _) => {
            Err(SqlError::new(messages::COLLATION_OF_OPERATION, &[&operation]).with_state(9))
        }
        (Some((_, Coercibility::Implicit)), Some((earlier, later))) => {
            Err(conflict(earlier, later, operation))
        }
        _ => Ok(found),
    }
}

/// The collation of a comparison.
///
/// # Errors
/// As [`agreed`].
pub(crate) fn of_comparison(a: &Scalar, b: &Scalar, operation: &str) -> SqlResult<Collation> {
    match (a.ty.sql_type.is_character(), b.ty.sql_type.is_character()) {
        (true, true) => {
            let found = agreed([a, b].into_iter(), operation)?;
            Ok(found.map_or(a.ty.collation, |(collation, _)| collation))
        }
        (false, true) => Ok(b.ty.collation),
        _ => Ok(a.ty.collation),
    }
}

/// A result of some type with the collation that its operands make: varchar must have one, since
/// its code page is its collation's; nvarchar travels without.
///
/// # Errors
/// 468 for two COLLATEs; 457 for varchar that has lost its collation here, 456 before.
pub(crate) fn settled<'x>(
    ty: ScalarType,
    items: impl Iterator<Item = &'x Scalar> + Clone,
    operator: CombiningOperator,
) -> SqlResult<ScalarType> {
    let Some((collation, coercibility)) = combined(items.clone(), operator)? else {
        return Ok(ty);
    };
    let ty = ScalarType { collation, coercibility, ..ty };
    let Some(unresolved) = coercibility.unresolved().filter(|_| is_narrow(ty.sql_type)) else {
        return Ok(ty);
    };
    let carried = texts(items).any(|(_, c)| c.unresolved().is_some());
    let message = match carried {
        true => messages::COLLATION_OF_RESULT,
        false => messages::COLLATION_OF_VALUE,
    };
    Err(of_conversion(message, (ty.sql_type, ty.sql_type), unresolved))
}

/// Whether text of a type is in a code page.
pub(crate) fn is_narrow(t: SqlType) -> bool {
    t.is_character() && t.family() == Family::Char
}

fn of_conversion(
    message: base::Message,
    (from, to): (SqlType, SqlType),
    unresolved: CollationConflict,
) -> SqlError {
    let CollationConflict { earlier, later, operator } = unresolved;
    let (from, to, operator) = (from.name(), to.name(), operator.name());
    SqlError::new(message, &[&from, &to, &later.name(), &earlier.name(), &operator])
}

/// 446: what cannot be done with a value without collation.
fn of_operation(unresolved: CollationConflict, operation: &str, state: u8) -> SqlError {
    let CollationConflict { earlier, later, operator } = unresolved;
    let facts: [&dyn std::fmt::Display; 4] =
        [&later.name(), &earlier.name(), &operator.name(), &operation];
    SqlError::new(messages::COLLATION_FOR_OPERATION, &facts).with_state(state)
}

/// Why text has no collation.
fn unresolved(ty: ScalarType) -> Option<CollationConflict> {
    ty.coercibility.unresolved().filter(|_| ty.sql_type.is_character())
}

/// 451: the column at a place of a clause must have a collation.
pub(crate) fn check_column(ty: ScalarType, clause: &str, place: usize) -> SqlResult<()> {
    let Some(CollationConflict { earlier, later, operator }) = unresolved(ty) else {
        return Ok(());
    };
    let facts: [&dyn std::fmt::Display; 5] =
        [&later.name(), &earlier.name(), &operator.name(), &clause, &place];
    Err(SqlError::new(messages::COLLATION_OF_COLUMN, &facts))
}

/// 446: what DISTINCT tells apart must have a collation.
pub(crate) fn check_distinct(ty: ScalarType) -> SqlResult<()> {
    unresolved(ty).map_or(Ok(()), |u| Err(of_operation(u, "DISTINCT", 11)))
}

/// 446: CAST and CONVERT to a type with a code page.
pub(crate) fn check_converted(ty: ScalarType, to: SqlType) -> SqlResult<()> {
    let narrow = unresolved(ty).filter(|_| is_narrow(to));
    narrow.map_or(Ok(()), |u| Err(of_operation(u, "CONVERT", 20)))
}

/// 456: what is assigned gets its target's collation, but varchar must have had one.
pub(crate) fn check_assigned(ty: ScalarType, to: SqlType) -> SqlResult<()> {
    let narrow = unresolved(ty).filter(|_| is_narrow(ty.sql_type));
    let error = |u| of_conversion(messages::COLLATION_OF_RESULT, (ty.sql_type, to), u);
    narrow.map_or(Ok(()), |u| Err(error(u)))
}

/// 5335: an operand of UNION, INTERSECT and EXCEPT must have a collation; 468 where two differ.
pub(crate) fn check_united<'x>(
    items: impl Iterator<Item = &'x Scalar> + Clone,
    operation: &str,
) -> SqlResult<()> {
    if let Some(x) = items.clone().find(|x| unresolved(x.ty).is_some()) {
        let name = x.ty.sql_type.error_name();
        return Err(SqlError::new(messages::UNION_NOT_COMPARABLE, &[&name]));
    }
    agreed(items, operation).map(|_| ())
}

/// Whether a type can have a collation.
///
/// # Errors
/// 459 for varchar without a code page; 40517 for a sort order whose table is not known.
pub fn check_collation(collation: Collation, sql_type: SqlType) -> SqlResult<()> {
    let name = collation.name();
    if is_narrow(sql_type) && collation.is_unicode_only() {
        return Err(SqlError::new(messages::COLLATION_UNICODE_ONLY, &[&name]));
    }
    if collation.is_unknown_order() {
        let feature = format!("collation {name}");
        return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]));
    }
    Ok(())
}

/// Whether narrow text stands in another page than a collation's.
pub(crate) fn is_elsewhere(ty: ScalarType, collation: Collation) -> bool {
    is_narrow(ty.sql_type) && ty.collation.code_page() != collation.code_page()
}

/// The type of text in another page, which may take more bytes there.
fn in_another_page(sql_type: SqlType, to: CodePage) -> SqlType {
    let times = match to {
        CodePage::Utf8 => 3,
        page if page.is_single_byte() => 1,
        _ => 2,
    };
    let longer = |n: u16| n.saturating_mul(times).min(8000);
    match sql_type {
        SqlType::Char(n) if times > 1 => SqlType::varchar(longer(n)),
        SqlType::VarChar(Length::N(n)) => SqlType::varchar(longer(n)),
        other => other,
    }
}

/// The same text under COLLATE.
///
/// # Errors
/// 445 where the expression has the clause already; 446 for varchar without collation.
fn under_collate(mut x: Scalar, collation: Collation) -> SqlResult<Scalar> {
    let computed = !matches!(x.kind, plan::ScalarKind::Column(_) | plan::ScalarKind::Subquery(_));
    if computed && x.ty.coercibility == Coercibility::Explicit {
        return Err(SqlError::new(messages::COLLATE_TWICE, &[]));
    }
    if let Some(u) = unresolved(x.ty).filter(|_| is_narrow(x.ty.sql_type)) {
        return Err(of_operation(u, "COLLATE", 6));
    }
    x.ty.collation = collation;
    x.ty.coercibility = Coercibility::Explicit;
    Ok(x)
}

/// Functions that need a collation to do their work.
const SENSITIVE: [&str; 19] = [
    "CHARINDEX",
    "DIFFERENCE",
    "ISNUMERIC",
    "LEFT",
    "LEN",
    "LOWER",
    "LTRIM",
    "PATINDEX",
    "REPLACE",
    "REVERSE",
    "RIGHT",
    "RTRIM",
    "SOUNDEX",
    "STUFF",
    "SUBSTRING",
    "TRANSLATE",
    "TRIM",
    "UNICODE",
    "UPPER",
];

/// The collation of a function's result, `ty` so far, and of what it compares.
///
/// # Errors
/// As [`agreed`] and [`settled`].
pub(crate) fn of_function(name: &str, args: &[Scalar], ty: ScalarType) -> SqlResult<ScalarType> {
    let with = |found: Option<Label>| match found {
        Some((collation, coercibility)) => ScalarType { collation, coercibility, ..ty },
        None => ty,
    };
    match (name, args) {
        ("CONCAT", _) => Ok(with(combined(args.iter(), CombiningOperator::Concat)?)),
        ("CONCAT_WS", _) => Ok(with(combined(args.iter(), CombiningOperator::ConcatWs)?)),
        ("CHOOSE", [_, chosen @ ..]) => settled(ty, chosen.iter(), CombiningOperator::Choose),
        ("ISNULL", [first, second]) => {
            let own = if takes_any_type(first) { second } else { first };
            Ok(with(texts(std::iter::once(own)).next()))
        }
        ("GREATEST" | "LEAST", _) => Ok(with(agreed(args.iter(), "GREATEST/LEAST")?)),
        // It reads its format by code.
        ("FORMAT", _) => Ok(ty),
        ("TRIM", _) => Ok(with(agreed(args.iter(), "Trim")?)),
        _ if SENSITIVE.contains(&name) => {
            Ok(with(agreed(args.iter(), &name.to_ascii_lowercase())?))
        }
        _ => {
            let stronger = |a: Label, b: Label| if b.1.rank() > a.1.rank() { b } else { a };
            Ok(with(texts(args.iter()).reduce(stronger)))
        }
    }
}

impl Binder<'_> {
    /// A value that a variable or parameter of a type takes.
    pub(crate) fn assigned(&self, x: Scalar, to: SqlType) -> SqlResult<Scalar> {
        check_assigned(x.ty, to)?;
        let x = if is_narrow(to) { self.on_its_way(x, self.collation) } else { x };
        self.implicit(x, to)
    }

    /// An expression under COLLATE.
    ///
    /// # Errors
    /// As [`under_collate`] and [`check_collation`].
    pub(crate) fn collated(&self, x: Scalar, collation: Collation) -> SqlResult<Scalar> {
        check_collation(collation, x.ty.sql_type)?;
        if !is_elsewhere(x.ty, collation) {
            return under_collate(x, collation);
        }
        // What is refused is refused as it stands, not as it is in another page.
        under_collate(x.clone(), collation)?;
        under_collate(self.recoded(x, collation), collation)
    }

    /// Narrow text in the code page of a collation, which it has then; other values as they are.
    pub(crate) fn recoded(&self, x: Scalar, collation: Collation) -> Scalar {
        if !is_elsewhere(x.ty, collation) || takes_any_type(&x) {
            return x;
        }
        let sql_type = in_another_page(x.ty.sql_type, collation.code_page());
        let ty = ScalarType { sql_type, collation, ..x.ty };
        let (operand, implicit) = (Box::new(x), ImplicitFlag(true));
        let kind = ScalarKind::Cast { operand, style: None, attempt: false, implicit };
        self.folding.fold(Scalar { kind, ty })
    }

    /// Text on its way into a column of a type and collation: narrow text is in the column's page,
    /// or is wide already where the column takes wide text.
    pub(crate) fn for_text_column(&self, x: Scalar, to: SqlType, collation: Collation) -> Scalar {
        match is_narrow(to) {
            true => self.recoded(x, collation),
            false if to.is_character() && is_elsewhere(x.ty, collation) => self.widely(x),
            false => x,
        }
    }

    /// Narrow text of another code page than 1252 as wide text; other values as they are.
    pub(crate) fn in_characters(&self, x: Scalar) -> Scalar {
        match x.ty.collation.code_page() {
            CodePage::Cp1252 => x,
            _ => self.widely(x),
        }
    }

    /// Narrow text as wide text.
    fn widely(&self, x: Scalar) -> Scalar {
        let to = match x.ty.sql_type {
            _ if takes_any_type(&x) => return x,
            SqlType::Char(n) | SqlType::VarChar(Length::N(n)) if n <= 4000 => SqlType::nvarchar(n),
            SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text => SqlType::NVARCHAR_MAX,
            _ => return x,
        };
        self.converted(x, to)
    }

    /// An operand as a value of the result's type and collation.
    pub(crate) fn as_result(&self, x: Scalar, ty: ScalarType) -> SqlResult<Scalar> {
        let x = if is_narrow(ty.sql_type) { self.on_its_way(x, ty.collation) } else { x };
        self.implicit(x, ty.sql_type)
    }

    /// Text on its way into what has a collation: narrow text is in its page, wide text becomes
    /// narrow in it.
    pub(crate) fn on_its_way(&self, x: Scalar, collation: Collation) -> Scalar {
        let mut x = self.recoded(x, collation);
        let pages = (x.ty.collation.code_page(), collation.code_page());
        if x.ty.sql_type.is_character() && pages.0 != pages.1 {
            x.ty.collation = collation;
        }
        x
    }

    /// The type of a value converted to another: text keeps its collation, what becomes text has
    /// the database's.
    pub(crate) fn as_converted(&self, from: ScalarType, to: SqlType) -> ScalarType {
        match from.sql_type.is_character() {
            true => from.converted(to),
            false => self.plain(to, from.nullable),
        }
    }
}
