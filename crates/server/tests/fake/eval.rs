//! Expressions and conditions, by the types crate's rules.

use super::tables::Table;
use super::{TypedValue, Variables};
use base::{SqlError, SqlResult, messages};
use std::cmp::Ordering;
use tsql::ast::{self, Expr, ExprKind, Literal};
use types::{BinaryOp, Collation, Decimal, Length, SqlType, Value};

/// What names mean.
pub(crate) struct Scope<'a> {
    pub(crate) variables: &'a Variables,
    pub(crate) row: Option<(&'a Table, &'a [Value])>,
    /// @@TRANCOUNT
    pub(crate) count: u32,
    /// What COUNT(*) counts.
    pub(crate) rows: usize,
}

pub(crate) fn type_of(name: &ast::TypeName, length_default: u16) -> SqlResult<SqlType> {
    use ast::TypeArguments::{Max, None, One, Two};
    let word = name.name.object.to_string();
    let bare = SqlType::by_name(&word, length_default)
        .ok_or_else(|| SqlError::new(messages::TYPE_UNKNOWN, &[&word]))?;
    let short = |n: &u32| u16::try_from(*n).unwrap_or(8000);
    let scale = |n: &u32| u8::try_from(*n).unwrap_or(7);
    Ok(match (bare, &name.arguments) {
        (_, None | ast::TypeArguments::Schema(_)) => bare,
        (SqlType::VarChar(_), Max) => SqlType::VARCHAR_MAX,
        (SqlType::NVarChar(_), Max) => SqlType::NVARCHAR_MAX,
        (SqlType::VarBinary(_), Max) => SqlType::VARBINARY_MAX,
        (SqlType::Decimal { .. }, One(p)) => SqlType::decimal(scale(p), 0),
        (SqlType::Decimal { .. }, Two(p, s)) => SqlType::decimal(scale(p), scale(s)),
        (SqlType::Time(_), One(s)) => SqlType::Time(scale(s)),
        (SqlType::DateTime2(_), One(s)) => SqlType::DateTime2(scale(s)),
        (SqlType::DateTimeOffset(_), One(s)) => SqlType::DateTimeOffset(scale(s)),
        (SqlType::Char(_), One(n)) => SqlType::Char(short(n)),
        (SqlType::VarChar(_), One(n)) => SqlType::varchar(short(n)),
        (SqlType::NChar(_), One(n)) => SqlType::NChar(short(n)),
        (SqlType::NVarChar(_), One(n)) => SqlType::nvarchar(short(n)),
        (SqlType::Binary(_), One(n)) => SqlType::Binary(short(n)),
        (SqlType::VarBinary(_), One(n)) => SqlType::varbinary(short(n)),
        _ => bare,
    })
}

fn text_length(characters: usize, limit: usize) -> Length {
    match u16::try_from(characters) {
        Ok(n) if usize::from(n) <= limit => Length::N(n.max(1)),
        _ => Length::Max,
    }
}

fn literal(literal: &Literal) -> SqlResult<TypedValue> {
    let decimal = |text: &str| -> SqlResult<TypedValue> {
        let value =
            Decimal::parse(text).ok_or_else(|| SqlError::new(messages::SYNTAX_NEAR, &[&text]))?;
        let precision = value.digits().max(value.scale()).max(1);
        Ok((SqlType::decimal(precision, value.scale()), Value::Decimal(value)))
    };
    let through = |text: &str, to: SqlType| -> SqlResult<TypedValue> {
        let from = SqlType::VARCHAR_MAX;
        Ok((to, types::convert(&Value::varchar(text), from, to, 0)?))
    };
    match literal {
        Literal::Null => Ok((SqlType::Int, Value::Null)),
        Literal::Integer(text) => match text.parse::<i32>() {
            Ok(n) => Ok((SqlType::Int, Value::Int(n))),
            Err(_) => decimal(text),
        },
        Literal::Decimal(text) => decimal(text),
        Literal::Float(text) => through(text, SqlType::Float),
        Literal::Money(text) => through(text, SqlType::Money),
        Literal::String(text) => {
            let length = text_length(text.chars().count(), 8000);
            Ok((SqlType::VarChar(length), Value::varchar(text)))
        }
        Literal::National(text) => {
            let length = text_length(text.encode_utf16().count(), 4000);
            Ok((SqlType::NVarChar(length), Value::nvarchar(text)))
        }
        Literal::Binary(bytes) => {
            let length = text_length(bytes.len(), 8000);
            Ok((SqlType::VarBinary(length), Value::varbinary(bytes)))
        }
    }
}

fn unsupported(expr: &Expr) -> SqlError {
    let what = format!("{:?}", expr.kind).chars().take(60).collect::<String>();
    SqlError::new(messages::NOT_SUPPORTED, &[&what]).at_line(expr.span.line)
}

pub(crate) fn eval(expr: &Expr, scope: &Scope<'_>) -> SqlResult<TypedValue> {
    match &expr.kind {
        ExprKind::Literal(l) => literal(l),
        ExprKind::Variable(name) => variable(name, scope, expr.span.line),
        ExprKind::Global(name) => global(name, scope).ok_or_else(|| unsupported(expr)),
        ExprKind::Column(name) => {
            let invalid = || SqlError::new(messages::INVALID_COLUMN, &[&name.name]);
            let (table, row) = scope.row.ok_or_else(|| invalid().at_line(expr.span.line))?;
            let at = table.column(&name.name).map_err(|e| e.at_line(expr.span.line))?;
            Ok((table.columns[at].sql_type, row[at].clone()))
        }
        ExprKind::Unary { op: ast::UnaryOp::Minus, operand } => {
            let (sql_type, value) = eval(operand, scope)?;
            Ok((sql_type, types::negate(&value, sql_type)?))
        }
        ExprKind::Unary { op: ast::UnaryOp::Plus, operand } => eval(operand, scope),
        ExprKind::Arithmetic(chain) => {
            let mut left = eval(&chain.first, scope)?;
            for term in &chain.rest {
                left = binary(term.op, left, eval(&term.operand, scope)?)?;
            }
            Ok(left)
        }
        ExprKind::Cast(cast) => {
            let (from, value) = eval(&cast.operand, scope)?;
            let to = type_of(&cast.target, 30)?;
            Ok((to, types::convert(&value, from, to, 0)?))
        }
        ExprKind::Function(call) if call.star => {
            Ok((SqlType::Int, Value::Int(i32::try_from(scope.rows).unwrap_or(i32::MAX))))
        }
        ExprKind::Function(call) if call.name.object.eq_ignore_ascii_case("DB_NAME") => {
            Ok((SqlType::nvarchar(128), Value::nvarchar("master")))
        }
        _ => Err(unsupported(expr)),
    }
}

fn variable(name: &str, scope: &Scope<'_>, line: u32) -> SqlResult<TypedValue> {
    let found = scope.variables.get(&name.to_lowercase()).cloned();
    found.ok_or_else(|| SqlError::new(messages::VARIABLE_UNDECLARED, &[&name]).at_line(line))
}

fn global(name: &str, scope: &Scope<'_>) -> Option<TypedValue> {
    match name.to_ascii_uppercase().as_str() {
        "@@TRANCOUNT" => {
            Some((SqlType::Int, Value::Int(i32::try_from(scope.count).unwrap_or(i32::MAX))))
        }
        "@@VERSION" => Some((SqlType::nvarchar(300), Value::nvarchar("Fake"))),
        "@@MAX_PRECISION" => Some((SqlType::TinyInt, Value::TinyInt(38))),
        _ => None,
    }
}

fn binary(op: ast::BinaryOp, left: TypedValue, right: TypedValue) -> SqlResult<TypedValue> {
    let op = match op {
        ast::BinaryOp::Add => BinaryOp::Add,
        ast::BinaryOp::Subtract => BinaryOp::Sub,
        ast::BinaryOp::Multiply => BinaryOp::Mul,
        ast::BinaryOp::Divide => BinaryOp::Div,
        ast::BinaryOp::Modulo => BinaryOp::Modulo,
        ast::BinaryOp::BitAnd => BinaryOp::BitAnd,
        ast::BinaryOp::BitOr => BinaryOp::BitOr,
        ast::BinaryOp::BitXor => BinaryOp::BitXor,
        ast::BinaryOp::ShiftLeft | ast::BinaryOp::ShiftRight => {
            return Err(SqlError::new(messages::NOT_SUPPORTED, &[&"shifts"]));
        }
    };
    let how = types::operation(op, left.0, right.0)?;
    let l = types::convert(&left.1, left.0, how.left, 0)?;
    let r = types::convert(&right.1, right.0, how.right, 0)?;
    Ok((how.result, types::apply(op, &l, &r, how.result)?))
}

/// True, false or unknown.
pub(crate) fn holds(condition: &ast::Condition, scope: &Scope<'_>) -> SqlResult<Option<bool>> {
    use ast::CompareOp as Op;
    match &condition.kind {
        ast::ConditionKind::Compare { op, left, right } => {
            let (left, right) = (eval(left, scope)?, eval(right, scope)?);
            if left.1.is_null() || right.1.is_null() {
                return Ok(None);
            }
            let common = types::comparison_type(left.0, right.0)?;
            let l = types::convert(&left.1, left.0, common, 0)?;
            let r = types::convert(&right.1, right.0, common, 0)?;
            let order = types::compare(&l, &r, Collation::default());
            Ok(Some(match op {
                Op::Equal => order == Ordering::Equal,
                Op::NotEqual => order != Ordering::Equal,
                Op::Less => order == Ordering::Less,
                Op::LessOrEqual => order != Ordering::Greater,
                Op::Greater => order == Ordering::Greater,
                Op::GreaterOrEqual => order != Ordering::Less,
            }))
        }
        ast::ConditionKind::IsNull { operand, negated } => {
            Ok(Some(eval(operand, scope)?.1.is_null() != *negated))
        }
        ast::ConditionKind::And(all) => {
            let mut result = Some(true);
            for one in all {
                match holds(one, scope)? {
                    Some(false) => return Ok(Some(false)),
                    None => result = None,
                    Some(true) => {}
                }
            }
            Ok(result)
        }
        _ => Err(SqlError::new(messages::NOT_SUPPORTED, &[&"this condition"])),
    }
}
