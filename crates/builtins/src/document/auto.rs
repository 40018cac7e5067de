//! FOR JSON AUTO and FOR XML AUTO over several tables: columns of one table are one level, levels
//! lie within each other in the order of the select list.
//!
//! A row becomes a record, the text of each level. When the document is made of the records, one
//! level after the other is compared with the row before: what is equal as far as that stays open,
//! and a row without difference is one more of the innermost level.
//!
//! ```text
//! shape    form, `n` for NULLs too ␁ what the outermost declares ␁ number of levels
//!          ␁ name of a level … ␁ level and kind of a column with its name …
//! record   `u` where it equals none, `o` where its tag is open, text of level 0 ␁ of level 1 …
//! ```
//! Source: "AUTO mode heuristics in shaping returned XML", "Format JSON output automatically with
//! AUTO mode" (learn.microsoft.com).

use super::json::Object;
use super::xml::{Element, name_of};
use super::{BETWEEN, BETWEEN_RECORDS, checked, json, made, xml};
use crate::call::Call;
use base::SqlResult;
use os::room::Room as _;
use types::{SqlType, Value};

/// How the levels are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum AutoForm {
    /// FOR JSON
    Json,
    /// FOR XML
    Attributes,
    /// FOR XML … ELEMENTS
    Elements,
}

impl AutoForm {
    fn letter(self) -> char {
        match self {
            AutoForm::Json => 'j',
            AutoForm::Attributes => 'a',
            AutoForm::Elements => 'e',
        }
    }
}

/// The levels of a query, outermost first, and its columns.
pub struct AutoShape {
    head: String,
    levels: Vec<String>,
    columns: String,
}

impl AutoShape {
    /// `nulls`: columns that are NULL are written too; `declared`: what the outermost declare.
    ///
    /// # Errors
    /// 102 for a name with a control character.
    pub fn new(form: AutoForm, nulls: bool, declared: &str) -> SqlResult<AutoShape> {
        let mut head = String::from(form.letter());
        head.extend([if nulls { 'n' } else { '-' }, BETWEEN]);
        head.push_str(checked(declared)?);
        Ok(AutoShape { head, levels: Vec::new(), columns: String::new() })
    }

    /// Adds a level within those before; its number.
    ///
    /// # Errors
    /// 102 for a name with a control character.
    pub fn level(&mut self, name: &str) -> SqlResult<usize> {
        self.levels.push(checked(name)?.to_owned());
        Ok(self.levels.len() - 1)
    }

    /// Adds a column. `raw`: it is JSON or XML already; `compared`: its values can be equal.
    ///
    /// # Errors
    /// 102 for a name with a control character.
    pub fn column(&mut self, level: usize, name: &str, raw: bool, compared: bool) -> SqlResult<()> {
        let kind = match (raw, compared) {
            (true, true) => 'r',
            (true, false) => 'R',
            (false, true) => 'v',
            (false, false) => 'V',
        };
        self.columns.push_str(&format!("{BETWEEN}{level}{kind}{}", checked(name)?));
        Ok(())
    }

    /// The first argument of the calls.
    pub fn into_value(self) -> Value {
        let AutoShape { head, levels, columns } = self;
        let count = levels.len();
        let names: String = levels.iter().flat_map(|l| [BETWEEN.into(), l.clone()]).collect();
        Value::nvarchar(&format!("{head}{BETWEEN}{count}{names}{columns}"))
    }
}

/// A shape as it is read.
struct Shape<'s> {
    form: char,
    nulls: bool,
    declared: &'s str,
    levels: Vec<&'s str>,
    columns: Vec<Column<'s>>,
}

struct Column<'s> {
    level: usize,
    raw: bool,
    compared: bool,
    name: &'s str,
}

impl<'s> Shape<'s> {
    /// What the names of its levels take, where each begins anew.
    fn text_bytes(&self) -> usize {
        let levels: usize = self.levels.iter().map(|name| 2 * name.len() + 16).sum();
        levels + self.declared.len()
    }

    fn of(text: &'s str) -> Shape<'s> {
        let mut parts = text.split(BETWEEN);
        let mut head = parts.next().unwrap_or_default().chars();
        let (form, nulls) = (head.next().unwrap_or('j'), head.next() == Some('n'));
        let declared = parts.next().unwrap_or_default();
        let count = parts.next().and_then(|n| n.parse().ok()).unwrap_or(0);
        let levels = parts.by_ref().take(count).collect();
        let columns = parts.filter_map(|part| {
            let at = part.find(|c: char| !c.is_ascii_digit())?;
            let kind = part[at..].chars().next()?;
            Some(Column {
                level: part[..at].parse().ok()?,
                raw: matches!(kind, 'r' | 'R'),
                compared: matches!(kind, 'r' | 'v'),
                name: &part[at + 1..],
            })
        });
        Shape { form, nulls, declared, levels, columns: columns.collect() }
    }
}

/// A row as a record: the shape, then its values.
pub(super) fn record(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let text = args[0].as_text().unwrap_or_default();
    let shape = Shape::of(&text);
    let mut out = String::new();
    for (level, name) in shape.levels.iter().enumerate() {
        if level > 0 {
            out.push(BETWEEN);
        }
        let given = args.iter().zip(call.arg_types.iter()).skip(1);
        let own = shape.columns.iter().zip(given).filter(|(c, _)| c.level == level);
        let mut own: Vec<(&Column<'_>, (&Value, &SqlType))> = own.collect();
        let equals_none = own.iter().any(|(c, _)| !c.compared);
        if shape.form == 'a' {
            // Attributes stand before what is within the element.
            own.sort_by_key(|(c, _)| c.raw);
        }
        let mut element = Element::default();
        let mut object = Object::default();
        if shape.form != 'j' {
            element.open(&name_of(name));
            element.text.push_str(if level == 0 { shape.declared } else { "" });
        }
        for (c, (value, &sql_type)) in own {
            match shape.form {
                'j' if value.is_null() && !shape.nulls => {}
                'j' => {
                    object.member(c.name, None)?;
                    json::push_value(value, sql_type, c.raw, &mut object.text)?;
                }
                form => {
                    let place = xml::Place { form, floor: 1, nulls: shape.nulls };
                    xml::push_column(&mut element, place, c.name, c.raw, (value, sql_type))?;
                }
            }
        }
        element.close_to(1);
        out.push(if equals_none { 'u' } else { '-' });
        out.push(if element.tag_is_open() { 'o' } else { '-' });
        out.make_room(element.text.len())?;
        out.push_str(&element.text);
        // What is JSON already may hold what stands between records.
        object.text.retain(|c| c != BETWEEN && c != BETWEEN_RECORDS);
        out.make_room(object.text.len())?;
        out.push_str(&object.text);
    }
    made(&out)
}

/// Records as a document: the shape, the records.
pub(super) fn document(_: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    // The text and the document.
    os::values::room(args.get(1).map_or(0, |v| 2 * v.heap_bytes()))?;
    let (Some(text), Some(records)) = (args[0].as_text(), args.get(1).and_then(Value::as_text))
    else {
        return Ok(Value::Null);
    };
    let shape = Shape::of(&text);
    let mut out = String::with_capacity(records.len());
    let mut before: Vec<&str> = Vec::new();
    for record in records.split(BETWEEN_RECORDS) {
        // Names stand twice, and anew for each level that begins.
        out.make_room(2 * record.len() + shape.text_bytes())?;
        let levels: Vec<&str> = record.split(BETWEEN).collect();
        let equal = |(a, b): &(&&str, &&str)| a == b && !b.starts_with('u');
        let same = before.iter().zip(&levels).take_while(equal).count();
        let from = same.min(levels.len() - 1);
        match before.is_empty() {
            true => {}
            false if shape.form == 'j' => close_objects(before.len() - from, &mut out),
            false => close_elements(&shape, &before, from, &mut out),
        }
        if !before.is_empty() && shape.form == 'j' {
            out.push(',');
        }
        for level in from..levels.len() {
            match shape.form {
                'j' => open_object(&shape, &levels, level, &mut out),
                _ => open_element(&levels, level, &mut out),
            }
        }
        before = levels;
    }
    match shape.form {
        'j' => close_objects(before.len(), &mut out),
        _ => close_elements(&shape, &before, 0, &mut out),
    }
    made(&out)
}

/// What a record has of a level.
fn text_of(level: &str) -> &str {
    level.get(2..).unwrap_or_default()
}

fn open_object(shape: &Shape<'_>, levels: &[&str], level: usize, out: &mut String) {
    let members = text_of(levels[level]);
    out.push('{');
    out.push_str(members);
    if let Some(within) = shape.levels.get(level + 1) {
        out.push_str(if members.is_empty() { "" } else { "," });
        json::push_text(within, out);
        out.push_str(":[");
    }
}

/// Ends the innermost objects, and the lists around them but the last.
fn close_objects(count: usize, out: &mut String) {
    out.push_str(&vec!["}"; count].join("]"));
}

fn open_element(levels: &[&str], level: usize, out: &mut String) {
    out.push_str(text_of(levels[level]));
    if is_open(levels[level]) && level + 1 < levels.len() {
        out.push('>');
    }
}

/// Ends the elements from a level on, innermost first.
fn close_elements(shape: &Shape<'_>, levels: &[&str], from: usize, out: &mut String) {
    for level in (from..levels.len()).rev() {
        if level + 1 == levels.len() && is_open(levels[level]) {
            out.push_str("/>");
        } else {
            out.push_str(&format!("</{}>", name_of(shape.levels[level])));
        }
    }
}

/// Whether the tag of a level has no `>` yet.
fn is_open(level: &str) -> bool {
    level.get(1..2) == Some("o")
}
