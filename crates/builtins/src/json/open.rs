//! The rows of OPENJSON: items of a container with their kinds, or records with columns of their
//! own.
//!
//! Rows are read as they are asked for: what is wrong with a text is told when its rows get there.

use super::path::Path;
use super::reader::{Items, Kind, Reader, Span, unescaped};
use super::{fragment, nvarchar};
use crate::table_function::TableRows;
use base::{SqlError, SqlResult, messages};
use types::{Value, text};

/// A column of OPENJSON's WITH: what it reads of a record, as text.
#[derive(Clone, PartialEq, Debug)]
pub struct JsonColumn {
    path: Path,
    as_json: bool,
}

impl JsonColumn {
    /// A column; without a path it reads the member of its name.
    ///
    /// # Errors
    /// 13607 for a path that is none.
    pub fn new(name: &str, path: Option<&str>, as_json: bool) -> SqlResult<JsonColumn> {
        let path = match path {
            Some(path) => Path::parse(&path.encode_utf16().collect::<Vec<u16>>(), false)?,
            None => Path::of_member(&name.encode_utf16().collect::<Vec<u16>>()),
        };
        Ok(JsonColumn { path, as_json })
    }

    fn read(&self, text: &[u16], record: &Span) -> SqlResult<Value> {
        let mut reader = Reader::from(text, record.at.start, 0);
        if !reader.follow(&self.path.steps)? {
            return match self.path.strict {
                true => Err(SqlError::new(messages::JSON_PROPERTY_MISSING, &[]).with_state(6)),
                false => Ok(Value::Null),
            };
        }
        let span = reader.value()?;
        if self.as_json {
            return fragment(text, &span, &self.path, 1);
        }
        if span.kind.is_container() && self.path.strict {
            return Err(SqlError::new(messages::JSON_OBJECT_MISSING, &[]));
        }
        Ok(if span.kind.is_container() { Value::Null } else { plain(text, &span)? })
    }
}

/// A value as text: of a string its characters.
fn plain(text: &[u16], span: &Span) -> SqlResult<Value> {
    match span.kind {
        Kind::Null => Ok(Value::Null),
        Kind::String => nvarchar(&unescaped(text, &span.at)?),
        _ => nvarchar(&text[span.at.clone()]),
    }
}

/// A place in a container, kept between rows.
struct Place {
    at: usize,
    depth: usize,
    items: Items,
    count: usize,
}

/// The container whose items become rows.
struct JsonContainer {
    text: Vec<u16>,
    place: Option<Place>,
    /// Of errors about the text.
    state: u8,
}

impl JsonContainer {
    /// The container of a path; no rows where a lax path leads to none.
    fn new(arguments: &[Value], object_is_one: bool) -> SqlResult<(JsonContainer, Option<Span>)> {
        let unit_list = |v: Option<&Value>| match v {
            Some(Value::NChar(bytes)) => {
                os::values::room(bytes.len())?;
                Ok(Some(text::units(bytes).collect::<Vec<u16>>()))
            }
            _ => Ok::<_, SqlError>(None),
        };
        let path = match arguments.get(1) {
            None => Path::default(),
            path => match unit_list(path)? {
                Some(path) => Path::parse(&path, false)?,
                None => {
                    let facts: [&dyn std::fmt::Display; 3] = [&"NULL", &2, &"OPENJSON"];
                    let error = SqlError::new(messages::ARGUMENT_TYPE_INVALID, &facts);
                    return Err(error.with_state(9));
                }
            },
        };
        let text = unit_list(arguments.first())?.unwrap_or_default();
        let none = JsonContainer { text: Vec::new(), place: None, state: 0 };
        if arguments.first().is_none_or(Value::is_null) {
            return Ok((none, None));
        }
        let state = if arguments.len() > 1 { 3 } else { 4 };
        let mut reader = Reader::new(&text);
        if !reader.seek(&path.steps).map_err(|e| e.with_state(state))? {
            return match path.strict {
                true => Err(SqlError::new(messages::JSON_PROPERTY_MISSING, &[]).with_state(3)),
                false => Ok((none, None)),
            };
        }
        match reader.peek() {
            b'{' if object_is_one => {
                let span = reader.value().map_err(|e| e.with_state(state))?;
                Ok((JsonContainer { text, place: None, state }, Some(span)))
            }
            b'{' | b'[' => {
                let items = reader.enter()?;
                let place = Place { at: reader.at, depth: reader.depth(), items, count: 0 };
                Ok((JsonContainer { text, place: Some(place), state }, None))
            }
            _ if path.strict => Err(SqlError::new(messages::JSON_NOT_OPENED, &[])),
            _ => Ok((none, None)),
        }
    }

    /// The next item: its key and value.
    fn next(&mut self) -> SqlResult<Option<(Value, Span)>> {
        let Some(place) = &mut self.place else { return Ok(None) };
        let mut reader = Reader::from(&self.text, place.at, place.depth);
        let stated = |e: SqlError| e.with_state(self.state);
        let Some(name) = reader.item(&mut place.items).map_err(stated)? else {
            self.place = None;
            return Ok(None);
        };
        let value = reader.value().map_err(stated)?;
        (place.at, place.depth) = (reader.at, reader.depth());
        let key = match name.start {
            0 => Value::nvarchar(&place.count.to_string()),
            start => nvarchar(&unescaped(&self.text, &(start - 1..name.end + 1))?)?,
        };
        place.count += 1;
        Ok(Some((key, value)))
    }
}

/// OPENJSON without WITH: key, value, type.
pub(crate) struct JsonItems(JsonContainer);

impl JsonItems {
    pub(crate) fn new(arguments: &[Value]) -> SqlResult<JsonItems> {
        JsonContainer::new(arguments, false).map(|(opened, _)| JsonItems(opened))
    }
}

impl TableRows for JsonItems {
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        let Some((key, span)) = self.0.next()? else { return Ok(false) };
        let kind = match span.kind {
            Kind::Null => 0,
            Kind::String => 1,
            Kind::Number => 2,
            Kind::Bool => 3,
            Kind::Array => 4,
            Kind::Object => 5,
        };
        let values = [key, plain(&self.0.text, &span)?, Value::Int(kind)];
        row.iter_mut().zip(values).for_each(|(to, value)| *to = value);
        Ok(true)
    }
}

/// OPENJSON with WITH: a row for each element of an array, or one for an object.
pub(crate) struct JsonRecords {
    opened: JsonContainer,
    one: Option<Span>,
    columns: Box<[JsonColumn]>,
}

impl JsonRecords {
    pub(crate) fn new(arguments: &[Value], columns: &[JsonColumn]) -> SqlResult<JsonRecords> {
        let (opened, one) = JsonContainer::new(arguments, true)?;
        Ok(JsonRecords { opened, one, columns: columns.into() })
    }
}

impl TableRows for JsonRecords {
    fn next(&mut self, row: &mut [Value]) -> SqlResult<bool> {
        let record = match self.one.take() {
            Some(one) => one,
            None => match self.opened.next()? {
                Some((_, span)) => span,
                None => return Ok(false),
            },
        };
        for (to, column) in row.iter_mut().zip(&self.columns) {
            *to = column.read(&self.opened.text, &record)?;
        }
        Ok(true)
    }
}
