//! Methods of the xml type: an expression that is read once, and its run for each row.

use base::{SqlError, SqlResult, messages};
use types::datetime::Dialect;
use types::{Bytes, Family, SqlType, Value, convert, convert_dated, text};
use xml::{NodeId, Xml};
use xquery::{Atomic, Method, Query, Stop};

/// A method with its expression.
#[derive(Debug, PartialEq)]
pub struct XmlMethod {
    /// What it asks.
    pub query: Query,
    /// The type of its result: of value(), the one that it was given.
    pub result: SqlType,
    /// The types of the statement's values that the expression names.
    pub types: Box<[SqlType]>,
    /// The variable or column that it is called on, for 5302.
    pub subject: Box<str>,
}

impl XmlMethod {
    /// The result for a value of xml, which comes first, and values of the statement; the text
    /// of value() is read as a date by DATEFORMAT, as CONVERT would.
    ///
    /// # Errors
    /// What the run answers; of value(), what the conversion answers; 5302 for modify() of NULL.
    pub fn call(&self, args: &[Value], dialect: Dialect, stop: &mut Stop<'_>) -> SqlResult<Value> {
        let (xml, values) = match args.split_first() {
            Some((Value::Xml(xml), values)) => (xml, values),
            _ if self.query.method() == Method::Modify => {
                return Err(SqlError::new(
                    messages::MUTATOR_OF_NULL,
                    &[&"modify()", &self.subject],
                ));
            }
            _ => return Ok(Value::Null),
        };
        let mut stop = || stop();
        Ok(match self.query.method() {
            Method::Query => Value::Xml(self.query.query(xml, values, &self.types, &mut stop)?),
            Method::Exist => Value::Bit(self.query.exist(xml, values, &self.types, &mut stop)?),
            Method::Modify => Value::Xml(self.query.modify(xml, values, &self.types, &mut stop)?),
            Method::Value | Method::Nodes => {
                match self.query.value(xml, values, &self.types, &mut stop)? {
                    Some(value) => converted(&value, self.result, dialect)?,
                    None => Value::Null,
                }
            }
        })
    }

    /// The rows of nodes().
    ///
    /// # Errors
    /// What the run answers.
    pub(crate) fn rows(&self, args: &[Value], stop: &mut Stop<'_>) -> SqlResult<Nodes> {
        let Some((Value::Xml(xml), values)) = args.split_first() else {
            return Ok(Nodes { xml: None, nodes: Vec::new().into_iter() });
        };
        let mut stop = || stop();
        let nodes = self.query.nodes(xml, values, &self.types, &mut stop)?;
        Ok(Nodes { xml: Some(xml.clone()), nodes: nodes.into_iter() })
    }
}

/// A value as the type that value() was asked for: its text is converted, bytes are bytes.
fn converted(value: &Atomic, to: SqlType, dialect: Dialect) -> SqlResult<Value> {
    let long = SqlType::NVARCHAR_MAX;
    if to.family() == Family::Binary {
        let bytes = match value {
            Atomic::Bytes(bytes) => Some(bytes.clone()),
            other => other.base64(),
        };
        let Some(bytes) = bytes else { return Ok(Value::Null) };
        let bytes = Value::Binary(Bytes::from(bytes));
        return convert(&bytes, SqlType::VARBINARY_MAX, to, 0);
    }
    match value {
        Atomic::Double(x, _) if *x == 0.0 && to.is_number() => {
            convert(&Value::Float(*x), SqlType::Float, to, 0)
        }
        Atomic::Boolean(b) if to.is_number() => convert(&Value::Bit(*b), SqlType::Bit, to, 0),
        other => {
            let text = text::encoded_utf16(&other.text()).map(Value::NChar)?;
            convert_dated(&text, long, to, 0, dialect)
        }
    }
}

/// Rows of nodes(): the value, standing at one node after the other.
pub(crate) struct Nodes {
    xml: Option<Xml>,
    nodes: std::vec::IntoIter<NodeId>,
}

impl crate::table_function::TableRows for Nodes {
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        let (Some(xml), Some(node)) = (&self.xml, self.nodes.next()) else { return Ok(false) };
        if let Some(place) = row.first_mut() {
            *place = Value::Xml(xml.at(node));
        }
        Ok(true)
    }
}
