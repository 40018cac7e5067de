//! Constants of the text: their types and values.

use crate::binder::Binder;
use base::{SqlError, SqlResult, messages};
use plan::Scalar;
use tsql::ast::{Expr, ExprKind, Literal};
use types::{Bytes, CodePage, Decimal, Length, PRECISION_MAX, SqlType, Value, convert, text};

impl Binder<'_> {
    pub(crate) fn literal(&self, literal: &Literal) -> SqlResult<Scalar> {
        let (value, sql_type) = match literal {
            Literal::Null => (Value::Null, SqlType::Int),
            Literal::Integer(digits) => match digits.parse::<i32>() {
                Ok(n) => (Value::Int(n), SqlType::Int),
                Err(_) => decimal(digits)?,
            },
            Literal::Decimal(digits) => decimal(digits)?,
            Literal::Float(text) => match text.parse::<f64>() {
                Ok(x) if x.is_finite() => (Value::Float(x), SqlType::Float),
                _ => return Err(out_of_range(text)),
            },
            Literal::Money(text) => {
                let from = SqlType::varchar(text.len().clamp(1, 8000) as u16);
                (convert(&Value::varchar(text), from, SqlType::Money, 0)?, SqlType::Money)
            }
            Literal::String(text) => string(text, self.collation.code_page()),
            Literal::National(text) => national(text),
            Literal::Binary(bytes) => {
                (Value::varbinary(bytes), SqlType::VarBinary(length(bytes.len(), 8000)))
            }
        };
        Ok(self.constant(value, sql_type))
    }

    /// A whole number of the text beside a numeric has the digits it is written with, not an
    /// int's ten: `10.0 / 3` has six places.
    pub(crate) fn digits_counted(
        &self,
        bound: Scalar,
        written: &Expr,
        beside: SqlType,
    ) -> SqlResult<Scalar> {
        match &written.kind {
            ExprKind::Literal(Literal::Integer(digits))
                if matches!(beside, SqlType::Decimal { .. }) =>
            {
                let (value, sql_type) = decimal(digits)?;
                self.costs(&bound, sql_type);
                Ok(self.constant(value, sql_type))
            }
            _ => Ok(bound),
        }
    }

    /// `{d '…'}` and its like.
    pub(crate) fn odbc_literal(&self, tag: &str, text: &str) -> SqlResult<Scalar> {
        let to = match tag {
            "d" | "t" | "ts" => SqlType::DateTime,
            _ => SqlType::UniqueIdentifier,
        };
        let from = SqlType::varchar(text.len().clamp(1, 8000) as u16);
        Ok(self.constant(convert(&Value::varchar(text), from, to, 0)?, to))
    }
}

fn out_of_range(text: &str) -> SqlError {
    SqlError::new(messages::INTEGER_LITERAL_SYNTAX, &[&text])
}

/// A number as numeric with as many digits as it has.
fn decimal(written: &str) -> SqlResult<(Value, SqlType)> {
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    let digits = whole.trim_start_matches('0').len() + fraction.len();
    if digits > PRECISION_MAX as usize {
        return Err(out_of_range(written));
    }
    let scale = fraction.len() as u8;
    let value = Decimal::parse(written).and_then(|d| d.rescale(scale));
    let value = value.ok_or_else(|| out_of_range(written))?;
    let precision = (digits.max(1) as u8).max(scale);
    Ok((Value::Decimal(value), SqlType::Decimal { precision, scale }))
}

fn length(n: usize, limit: u16) -> Length {
    match u16::try_from(n) {
        Ok(n) if n <= limit => Length::N(n.max(1)),
        _ => Length::Max,
    }
}

fn string(written: &str, page: CodePage) -> (Value, SqlType) {
    let bytes = page.encode(written);
    let sql_type = SqlType::VarChar(length(bytes.len(), 8000));
    (Value::Char(Bytes::from(bytes)), sql_type)
}

fn national(written: &str) -> (Value, SqlType) {
    let bytes = text::encode_utf16(written);
    let sql_type = SqlType::NVarChar(length(bytes.len() / 2, 4000));
    (Value::NChar(Bytes::from(bytes)), sql_type)
}
