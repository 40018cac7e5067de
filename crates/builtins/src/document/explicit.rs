//! FOR XML EXPLICIT: rows that say themselves which element they are and in which one they stand.
//!
//! A row becomes a record: its tag, its parent, and the columns of its tag, already escaped. The
//! records are joined in the query's order; then the document is made of them, since where an
//! element ends only the next row knows.
//!
//! ```text
//! shape    namespaces ␁ name of column 3 ␁ name of column 4 …
//! record   tag ␁ parent ␁ kind and text of column 3 ␁ …        (kind `0`: there is none)
//! ```

use super::{BETWEEN, BETWEEN_RECORDS, checked, made, written};
use crate::call::Call;
use crate::document::xml::{Element, escape, name_of};
use base::{SqlError, SqlResult, messages};
use os::room::Room as _;
use types::{SqlType, Value};

/// Where a column's value goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Attribute,
    Element,
    /// An element also for NULL.
    Nil,
    Text,
    /// Markup as it is.
    Markup,
    Cdata,
    Hidden,
}

/// A column: `element!tag!attribute!directive`.
struct Column<'s> {
    element: &'s str,
    tag: i64,
    name: &'s str,
    place: Place,
}

/// The columns of a query behind tag and parent.
#[derive(Default)]
pub struct ExplicitShape {
    text: String,
}

impl ExplicitShape {
    /// `declared`: what elements at the top declare.
    ///
    /// # Errors
    /// 102 for a name with a control character.
    pub fn new(declared: &str) -> SqlResult<ExplicitShape> {
        Ok(ExplicitShape { text: checked(declared)?.to_owned() })
    }

    /// Adds a column by its name.
    ///
    /// # Errors
    /// 6802 for a name that says not where it goes; 40517 for a directive of schemas.
    pub fn column(&mut self, name: &str) -> SqlResult<()> {
        column(checked(name)?)?;
        self.text.push(BETWEEN);
        self.text.push_str(name);
        Ok(())
    }

    /// The first argument of the calls.
    pub fn into_value(self) -> Value {
        Value::nvarchar(&self.text)
    }
}

fn column(written: &str) -> SqlResult<Column<'_>> {
    let invalid = || SqlError::new(messages::XML_EXPLICIT_COLUMN, &[&written]);
    let mut parts = written.split('!');
    let element = parts.next().filter(|e| !e.is_empty()).ok_or_else(invalid)?;
    let tag = parts.next().and_then(|t| t.parse().ok()).filter(|t: &i64| *t > 0);
    let tag = tag.ok_or_else(invalid)?;
    let (name, directive) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if parts.next().is_some() {
        return Err(invalid());
    }
    let place = match (directive.to_ascii_lowercase().as_str(), name.is_empty()) {
        ("" | "id" | "idref" | "idrefs", false) => Place::Attribute,
        ("" | "element", true) => Place::Text,
        ("element", false) => Place::Element,
        ("elementxsinil", false) => Place::Nil,
        ("xml", _) => Place::Markup,
        ("cdata", true) => Place::Cdata,
        ("hide", _) => Place::Hidden,
        ("xmltext", _) => {
            let feature = "the directive xmltext of FOR XML EXPLICIT";
            return Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]));
        }
        _ => return Err(invalid()),
    };
    Ok(Column { element, tag, name, place })
}

/// A row as a record: the shape, the tag, the parent, the columns.
pub(super) fn record(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let shape = args[0].as_text().unwrap_or_default();
    let number = |at: usize| args.get(at).and_then(Value::as_i64);
    let tag = number(1).filter(|t| *t > 0);
    let tag = tag.ok_or_else(|| SqlError::new(messages::XML_EXPLICIT_TAG, &[]))?;
    let parent = match args.get(2) {
        None | Some(Value::Null) => 0,
        Some(_) => number(2).filter(|p| *p >= 0).ok_or_else(parent_invalid)?,
    };
    let mut out = format!("{tag}{BETWEEN}{parent}");
    for (n, name) in shape.split(BETWEEN).skip(1).enumerate() {
        out.push(BETWEEN);
        let c = column(name)?;
        let value = args.get(n + 3).filter(|v| !v.is_null() && c.tag == tag);
        let Some(value) = value else {
            out.push('0');
            continue;
        };
        out.push('1');
        let sql_type = call.arg_types.get(n + 3).copied().unwrap_or(SqlType::NVARCHAR_MAX);
        let text = written(value, sql_type)?;
        match c.place {
            Place::Hidden => {}
            Place::Attribute => escape(&text, true, &mut out)?,
            Place::Cdata | Place::Markup => {
                out.make_room(text.len())?;
                out.extend(text.chars().filter(|&c| c != BETWEEN && c != BETWEEN_RECORDS));
            }
            _ if sql_type == SqlType::Xml => {
                out.make_room(text.len())?;
                out.push_str(&text);
            }
            _ => escape(&text, false, &mut out)?,
        }
    }
    made(&out)
}

fn parent_invalid() -> SqlError {
    SqlError::new(messages::XML_EXPLICIT_PARENT, &[])
}

/// Records as a document: the shape, the records.
pub(super) fn document(_: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    os::values::room(args.get(1).map_or(0, |v| 2 * v.heap_bytes()))?;
    let (Some(shape), Some(records)) = (args[0].as_text(), args.get(1).and_then(Value::as_text))
    else {
        return Ok(Value::Null);
    };
    let mut parts = shape.split(BETWEEN);
    let declared = parts.next().unwrap_or_default();
    let columns = parts.map(column).collect::<SqlResult<Vec<_>>>()?;
    let mut document = Document::default();
    for record in records.split(BETWEEN_RECORDS) {
        document.out.text.make_room(2 * record.len() + 2 * shape.len())?;
        document.row(record, &columns, declared)?;
    }
    document.out.close_to(0);
    made(&document.out.text)
}

#[derive(Default)]
struct Document {
    out: Element,
    /// The tags of the elements that are open, innermost last.
    open: Vec<i64>,
}

impl Document {
    fn row(&mut self, record: &str, columns: &[Column<'_>], declared: &str) -> SqlResult<()> {
        let mut fields = record.split(BETWEEN);
        let mut number = || fields.next().and_then(|f| f.parse::<i64>().ok()).unwrap_or(0);
        let (tag, parent) = (number(), number());
        let values: Vec<&str> = fields.collect();
        let own: Vec<(&Column<'_>, Option<&str>)> = columns
            .iter()
            .zip(values)
            .filter(|(c, _)| c.tag == tag)
            .map(|(c, v)| (c, v.strip_prefix('1')))
            .collect();
        let Some((first, _)) = own.first() else {
            return Err(SqlError::new(messages::XML_EXPLICIT_UNDECLARED, &[&tag]));
        };
        let depth = match parent {
            0 => 0,
            _ => {
                let at = self.open.iter().rposition(|t| *t == parent);
                let closed = || SqlError::new(messages::XML_EXPLICIT_PARENT_CLOSED, &[&parent]);
                at.ok_or_else(closed)? + 1
            }
        };
        self.out.close_to(depth);
        self.open.truncate(depth);
        self.out.open(&name_of(first.element));
        self.open.push(tag);
        if depth == 0 {
            self.out.text.push_str(declared);
        }
        for (c, value) in &own {
            if let (Place::Attribute, Some(value)) = (c.place, value) {
                self.out.text.push_str(&format!(" {}=\"{value}\"", name_of(c.name)));
            }
        }
        own.iter().try_for_each(|(c, value)| self.content(c, *value))
    }

    fn content(&mut self, c: &Column<'_>, value: Option<&str>) -> SqlResult<()> {
        let nil = c.place == Place::Nil && value.is_none();
        let text = match (c.place, value) {
            (Place::Attribute | Place::Hidden, _) => return Ok(()),
            (Place::Cdata, Some(v)) => return self.out.content(&format!("<![CDATA[{v}]]>"), true),
            (_, Some(v)) => v,
            (_, None) if nil => "",
            (_, None) => return Ok(()),
        };
        let floor = self.out.tags.len();
        match c.name {
            "" => self.out.content(text, true),
            name => self.out.column(floor, &[&name_of(name)], text, true, nil),
        }
    }
}
