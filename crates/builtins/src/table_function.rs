//! Functions that give rows: STRING_SPLIT, GENERATE_SERIES, OPENJSON, nodes() of xml, pieces of
//! documents.
//!
//! The binder converts their arguments to the types that are told here; rows are made one by one
//! as they are asked for.

use crate::chars::Chars;
use crate::json::{JsonColumn, JsonItems, JsonRecords};
use crate::xml_method::XmlMethod;
use base::{SqlError, SqlResult, messages};
use std::sync::Arc;
use types::{Bytes, Collation, Decimal, SqlType, Value};

/// A function of FROM.
#[derive(Clone, PartialEq, Debug)]
pub enum TableFunction {
    /// The parts of a text between separators, both of one encoding: value, ordinal.
    StringSplit(Collation),
    /// Numbers of a type from a first to a last by steps: value.
    GenerateSeries(SqlType),
    /// Text of UTF-16 in pieces of 2,033 units: how a document of FOR XML or FOR JSON is sent.
    Pieces,
    /// Items of JSON text: key, value, type. Text and path are nvarchar.
    OpenJson,
    /// Records of JSON text: columns as nvarchar.
    OpenJsonWith(Box<[JsonColumn]>),
    /// Nodes of a value of xml.
    Nodes(Arc<XmlMethod>),
}

/// Rows that a function gives.
pub trait TableRows: Send {
    /// The next row into the values of all columns; false after the last.
    ///
    /// # Errors
    /// What is wrong with the argument where the row is.
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool>;
}

impl TableFunction {
    /// Its name, as plans show it.
    pub fn name(&self) -> &'static str {
        match self {
            TableFunction::StringSplit(_) => "STRING_SPLIT",
            TableFunction::GenerateSeries(_) => "GENERATE_SERIES",
            TableFunction::Pieces => "DOCUMENT_PIECES",
            TableFunction::OpenJson => "OPENJSON_DEFAULT",
            TableFunction::OpenJsonWith(_) => "OPENJSON_EXPLICIT",
            TableFunction::Nodes(_) => "XML Reader with XPath filter",
        }
    }

    /// How many rows it is guessed to give.
    pub fn rows_guess(&self) -> f64 {
        match self {
            TableFunction::StringSplit(_)
            | TableFunction::OpenJson
            | TableFunction::OpenJsonWith(_)
            | TableFunction::Nodes(_) => 50.0,
            TableFunction::GenerateSeries(_) => 1000.0,
            TableFunction::Pieces => 1.0,
        }
    }

    /// Its rows for some arguments; `stop` is asked now and then while it looks for them.
    ///
    /// # Errors
    /// What is wrong with an argument; what `stop` answers.
    pub fn open(
        &self,
        arguments: &[Value],
        stop: &mut xquery::Stop<'_>,
    ) -> SqlResult<Box<dyn TableRows>> {
        Ok(match self {
            TableFunction::StringSplit(collation) => Box::new(Parts::new(arguments, *collation)?),
            TableFunction::GenerateSeries(SqlType::Decimal { scale, .. }) => {
                Box::new(Decimals::new(arguments, *scale)?)
            }
            TableFunction::GenerateSeries(ty) => Box::new(Integers::new(arguments, *ty)?),
            TableFunction::Pieces => Box::new(Pieces::new(arguments)),
            TableFunction::OpenJson => Box::new(JsonItems::new(arguments)?),
            TableFunction::OpenJsonWith(columns) => Box::new(JsonRecords::new(arguments, columns)?),
            TableFunction::Nodes(method) => Box::new(method.rows(arguments, stop)?),
        })
    }
}

/// The first columns of a row.
fn fill<const N: usize>(row: &mut [Value], values: [Value; N]) {
    row.iter_mut().zip(values).for_each(|(to, value)| *to = value);
}

struct Parts {
    text: Option<Chars>,
    separator: Chars,
    at: usize,
    ordinal: i64,
    collation: Collation,
}

impl Parts {
    fn new(arguments: &[Value], collation: Collation) -> SqlResult<Parts> {
        let chars = |n: usize| match arguments.get(n) {
            Some(value) => Chars::of_collation(value, collation),
            None => Ok(None),
        };
        let (text, separator) = (chars(0)?, chars(1)?);
        match separator {
            Some(separator) if separator.len() == 1 => {
                Ok(Parts { text, separator, at: 0, ordinal: 0, collation })
            }
            _ => {
                let facts: [&dyn std::fmt::Display; 2] = [&"separator", &"nchar(1)/nvarchar(1)"];
                Err(SqlError::new(messages::PARAMETER_TYPE_INVALID, &facts).with_state(11))
            }
        }
    }
}

impl TableRows for Parts {
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        let Some(text) = &self.text else { return Ok(false) };
        let end = text.find(&self.separator, self.at, self.collation)?;
        let part = text.slice(self.at, end.unwrap_or(text.len()))?;
        let to = if text.is_wide() { SqlType::NVARCHAR_MAX } else { SqlType::VARCHAR_MAX };
        self.ordinal += 1;
        fill(row, [part.into_value(to), Value::BigInt(self.ordinal)]);
        match end {
            Some(end) => self.at = end + 1,
            None => self.text = None,
        }
        Ok(true)
    }
}

/// Bytes of a piece of a document.
const PIECE_BYTES: usize = 2033 * 2;

struct Pieces {
    /// UTF-16.
    text: Bytes,
    at: usize,
}

impl Pieces {
    fn new(arguments: &[Value]) -> Pieces {
        let text = match arguments.first() {
            Some(Value::NChar(text)) => text.clone(),
            _ => Bytes::new(&[]),
        };
        Pieces { text, at: 0 }
    }
}

impl TableRows for Pieces {
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(false);
        }
        let piece = &rest[..rest.len().min(PIECE_BYTES)];
        self.at += piece.len();
        fill(row, [Value::NChar(Bytes::new(piece))]);
        Ok(true)
    }
}

/// 4199: a step of 0.
fn no_step() -> SqlError {
    SqlError::new(messages::ARGUMENT_VALUE_INVALID, &[&0, &3, &"generate_series"])
}

/// The next number, with those that bound it; `None`: there is none.
struct Integers {
    next: Option<i64>,
    last: i64,
    step: i64,
    ty: SqlType,
}

impl Integers {
    fn new(arguments: &[Value], ty: SqlType) -> SqlResult<Integers> {
        let number = |n: usize| arguments.get(n).and_then(Value::as_i64);
        let none = arguments.iter().any(Value::is_null);
        let (first, last) = (number(0).unwrap_or(0), number(1).unwrap_or(0));
        let step = number(2).unwrap_or(if first > last { -1 } else { 1 });
        if step == 0 && !none {
            return Err(no_step());
        }
        Ok(Integers { next: (!none).then_some(first), last, step, ty })
    }
}

impl TableRows for Integers {
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        let within = |n: &i64| if self.step > 0 { *n <= self.last } else { *n >= self.last };
        let Some(n) = self.next.filter(within) else { return Ok(false) };
        // `n` lies between two numbers of the type.
        let value = match self.ty {
            SqlType::TinyInt => Value::TinyInt(n as u8),
            SqlType::SmallInt => Value::SmallInt(n as i16),
            SqlType::Int => Value::Int(n as i32),
            _ => Value::BigInt(n),
        };
        fill(row, [value]);
        self.next = n.checked_add(self.step);
        Ok(true)
    }
}

struct Decimals {
    next: Option<Decimal>,
    last: Decimal,
    step: Decimal,
    scale: u8,
}

impl Decimals {
    fn new(arguments: &[Value], scale: u8) -> SqlResult<Decimals> {
        let number = |n: usize| match arguments.get(n) {
            Some(Value::Decimal(d)) => Some(*d),
            _ => None,
        };
        let zero = Decimal::from_i64(0);
        let one = Decimal::from_i64(1);
        let (first, last) = (number(0), number(1).unwrap_or(zero));
        let falling = first.is_some_and(|first| first > last);
        let step = number(2).unwrap_or(if falling { one.neg() } else { one });
        let none = arguments.iter().any(Value::is_null);
        if step == zero && !none {
            return Err(no_step());
        }
        Ok(Decimals { next: first.filter(|_| !none), last, step, scale })
    }
}

impl TableRows for Decimals {
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        let rising = self.step > Decimal::from_i64(0);
        let within = |n: &Decimal| if rising { *n <= self.last } else { *n >= self.last };
        let Some(n) = self.next.filter(within) else { return Ok(false) };
        fill(row, [Value::Decimal(n)]);
        self.next = n.checked_add(self.step).and_then(|n| n.rescale(self.scale));
        Ok(true)
    }
}
