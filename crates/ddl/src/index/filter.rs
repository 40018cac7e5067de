//! The WHERE of a filtered index: columns compared with constants, joined by AND.
//!
//! Any other condition is error 10735. A constant is converted to its column's type once, here. If
//! that could change its value, the filter is refused (10611): SQL Server would have to convert the
//! column instead.

use crate::context::{DdlContext, Place};
use crate::index::definition::column;
use base::{SqlError, SqlResult, messages};
use catalog::view::Table;
use std::sync::Arc;
use tsql::ast::{
    CompareOp, Condition, ConditionKind, Expr, ExprKind, Literal, Name, ParsedText, UnaryOp,
};
use types::{ColumnTest, Family, Relation, Requirement, Restriction, SqlType, Value};

/// The index that gets the filter, and its table.
pub(crate) struct FilterOwner<'a> {
    pub(crate) index: &'a Name,
    pub(crate) table: &'a Table,
    /// The batch.
    pub(crate) text: ParsedText<'a>,
}

/// Makes a filter from a condition.
pub(crate) fn restriction(
    cx: &mut DdlContext<'_>,
    place: &Place,
    asked: &FilterOwner<'_>,
    condition: &Condition,
) -> SqlResult<Arc<Restriction>> {
    let all = std::slice::from_ref(condition);
    let parts = if let ConditionKind::And(parts) = &condition.kind { parts } else { all };
    let mut tests = Vec::with_capacity(parts.len());
    let mut shown = Vec::with_capacity(parts.len());
    for part in parts {
        let (test, text) = asked.test(cx, place, part)?;
        shown.push(text);
        tests.push(test);
    }
    Ok(Arc::new(Restriction { text: format!("({})", shown.join(" AND ")).into(), tests }))
}

impl FilterOwner<'_> {
    fn wrong(&self, line: u32) -> SqlError {
        let args: [&dyn std::fmt::Display; 2] = [self.index, &self.table.two_part_name()];
        SqlError::new(messages::FILTER_WRONG, &args).at_line(line)
    }

    /// One test of the filter, and its text in the stored definition.
    fn test(
        &self,
        cx: &mut DdlContext<'_>,
        place: &Place,
        part: &Condition,
    ) -> SqlResult<(ColumnTest, String)> {
        let line = part.span.line;
        match &part.kind {
            ConditionKind::IsNull { operand, negated } => {
                let test = self.column(place, operand, line)?;
                let (requirement, sign) = match negated {
                    true => (Requirement::NotNull, "IS NOT NULL"),
                    false => (Requirement::Null, "IS NULL"),
                };
                let shown = format!("{} {sign}", self.name(&test));
                Ok((ColumnTest { requirement, ..test }, shown))
            }
            ConditionKind::Compare { op, left, right } => {
                let test = self.column(place, left, line)?;
                let relation = relation(*op).ok_or_else(|| self.wrong(line))?;
                let (value, written) = self.constant(cx, place, &test, right)?;
                let shown = format!("{}{}{written}", self.name(&test), relation.sign());
                let requirement = Requirement::Compared(relation, value);
                Ok((ColumnTest { requirement, ..test }, shown))
            }
            ConditionKind::InList { operand, list, negated: false } => {
                let test = self.column(place, operand, line)?;
                let (mut values, mut shown) = (Vec::new(), Vec::new());
                for item in list {
                    let (value, written) = self.constant(cx, place, &test, item)?;
                    values.push(value);
                    shown.push(written);
                }
                let shown = format!("{} IN ({})", self.name(&test), shown.join(", "));
                Ok((ColumnTest { requirement: Requirement::OneOf(values), ..test }, shown))
            }
            _ => Err(self.wrong(line)),
        }
    }

    /// A test of the column that `operand` names. The caller puts the requirement in.
    fn column(&self, place: &Place, operand: &Expr, line: u32) -> SqlResult<ColumnTest> {
        let ExprKind::Column(name) = &operand.kind else { return Err(self.wrong(line)) };
        let at = column(place, self.table, &name.name)?;
        let c = &self.table.columns[at];
        if c.computed.is_some() {
            let args: [&dyn std::fmt::Display; 3] =
                [self.index, &self.table.two_part_name(), &c.name];
            return Err(SqlError::new(messages::FILTER_COMPUTED, &args).at_line(line));
        }
        let (sql_type, collation) = (c.sql_type, c.collation);
        Ok(ColumnTest { column: at, sql_type, collation, requirement: Requirement::NotNull })
    }

    fn name(&self, test: &ColumnTest) -> String {
        format!("[{}]", self.table.columns[test.column].name.replace(']', "]]"))
    }

    /// A constant as a value of its column's type, and its text in the stored definition.
    fn constant(
        &self,
        cx: &mut DdlContext<'_>,
        place: &Place,
        test: &ColumnTest,
        written: &Expr,
    ) -> SqlResult<(Value, String)> {
        let line = written.span.line;
        let family = literal_family(written).ok_or_else(|| self.wrong(line))?;
        let to = test.constant_type();
        if test.sql_type.is_max() || !keeps(family, to) {
            let name = &self.table.columns[test.column].name;
            let args: [&dyn std::fmt::Display; 4] =
                [self.index, &self.table.two_part_name(), name, name];
            return Err(SqlError::new(messages::FILTER_CONSTANT, &args).at_line(line));
        }
        let text = written.span.of(self.text);
        let value =
            cx.expressions.default_value(cx.work, &place.view, text, (to, test.collation))?;
        if value.is_null() {
            return Err(self.wrong(line));
        }
        let number =
            matches!(family, Family::Integer | Family::Decimal | Family::Float | Family::Money);
        Ok((value, if number { format!("({text})") } else { text.to_owned() }))
    }
}

fn relation(op: CompareOp) -> Option<Relation> {
    Some(match op {
        CompareOp::Equal => Relation::Equal,
        CompareOp::NotEqual => Relation::NotEqual,
        CompareOp::Less => Relation::Less,
        CompareOp::LessOrEqual => Relation::LessOrEqual,
        CompareOp::Greater => Relation::Greater,
        CompareOp::GreaterOrEqual => Relation::GreaterOrEqual,
    })
}

/// The type family of a constant; `None` for any other expression.
fn literal_family(e: &Expr) -> Option<Family> {
    match &e.kind {
        ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => {
            literal_family(operand).filter(|f| *f != Family::Char && *f != Family::NChar)
        }
        ExprKind::Literal(literal) => Some(match literal {
            Literal::Integer(_) => Family::Integer,
            Literal::Decimal(_) => Family::Decimal,
            Literal::Float(_) => Family::Float,
            Literal::Money(_) => Family::Money,
            Literal::Binary(_) => Family::Binary,
            Literal::National(_) => Family::NChar,
            Literal::String(_) => Family::Char,
            Literal::Null => return None,
        }),
        _ => None,
    }
}

/// Whether every constant of a family keeps its value when it is converted to the column's type.
fn keeps(constant: Family, to: SqlType) -> bool {
    match (constant, to.family()) {
        (Family::NChar, Family::Char) => false,
        (Family::Decimal, Family::Integer) => false,
        (Family::Float, column) => column == Family::Float,
        _ => true,
    }
}
