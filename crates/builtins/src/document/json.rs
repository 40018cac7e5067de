//! FOR JSON: a row as an object. A name with points is a path: `a.b` and `a.c`, standing side by
//! side, are one object within.

use super::{BETWEEN, checked, held, made, written};
use crate::call::Call;
use base::{SqlError, SqlResult, messages};
use os::room::Room as _;
use types::{Family, SqlType, Value};

/// How the rows of a query are written.
#[derive(Default)]
pub struct JsonShape {
    text: String,
}

impl JsonShape {
    /// `nulls`: columns that are NULL are written too.
    pub fn new(nulls: bool) -> JsonShape {
        JsonShape { text: if nulls { "n".into() } else { "-".into() } }
    }

    /// Adds a column. `path`: points in its name separate objects; `raw`: it is JSON already.
    ///
    /// # Errors
    /// 102 for a name with a control character.
    pub fn column(&mut self, name: &str, path: bool, raw: bool) -> SqlResult<()> {
        let kind = match (path, raw) {
            (true, true) => 'P',
            (true, false) => 'p',
            (false, true) => 'N',
            (false, false) => 'n',
        };
        self.text.extend([BETWEEN, kind]);
        self.text.push_str(checked(name)?);
        Ok(())
    }

    /// The first argument of the calls.
    pub fn into_value(self) -> Value {
        Value::nvarchar(&self.text)
    }
}

pub(super) fn row(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let shape = args[0].as_text().unwrap_or_default();
    let mut parts = shape.split(BETWEEN);
    let nulls = parts.next() == Some("n");
    let mut object = Object { text: "{".to_owned(), ..Object::default() };
    for (n, column) in parts.enumerate() {
        let (Some(value), Some(kind)) = (args.get(n + 1), column.chars().next()) else { break };
        if value.is_null() && !nulls {
            continue;
        }
        let name = &column[1..];
        let (within, name) = match name.rsplit_once('.') {
            Some((within, last)) if matches!(kind, 'p' | 'P') => (Some(within), last),
            _ => (None, name),
        };
        object.enter(within)?;
        object.member(name, within)?;
        let raw = matches!(kind, 'P' | 'N');
        push_value(value, call.arg_types[n + 1], raw, &mut object.text)?;
    }
    object.enter(None)?;
    object.text.push('}');
    made(&object.text)
}

/// An object that is being written, with the objects within that are open.
#[derive(Default)]
pub(super) struct Object {
    pub(super) text: String,
    open: Vec<String>,
    /// Full paths that were written or closed: none may come again.
    done: Vec<String>,
}

impl Object {
    fn comma(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('{') {
            self.text.push(',');
        }
    }

    /// Closes and opens objects until the path is the open one.
    fn enter(&mut self, path: Option<&str>) -> SqlResult<()> {
        let wanted: Vec<&str> = path.map_or(Vec::new(), |p| p.split('.').collect());
        let same = self.open.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
        while self.open.len() > same {
            self.done.push(self.open.join("."));
            self.open.pop();
            self.text.push('}');
        }
        for name in &wanted[same..] {
            self.comma();
            self.open.push((*name).to_owned());
            let full = self.open.join(".");
            if self.done.contains(&full) {
                return Err(conflict(&full));
            }
            push_text(name, &mut self.text);
            self.text.push_str(":{");
        }
        Ok(())
    }

    /// The name of a member, whose value is to follow.
    pub(super) fn member(&mut self, name: &str, within: Option<&str>) -> SqlResult<()> {
        let full = within.map_or_else(|| name.to_owned(), |w| format!("{w}.{name}"));
        if self.done.contains(&full) {
            return Err(conflict(&full));
        }
        self.comma();
        push_text(name, &mut self.text);
        self.text.push(':');
        self.done.push(full);
        Ok(())
    }
}

fn conflict(name: &str) -> SqlError {
    SqlError::new(messages::JSON_NAME_CONFLICT, &[&name])
}

pub(crate) fn push_value(value: &Value, t: SqlType, raw: bool, out: &mut String) -> SqlResult<()> {
    if value.is_null() {
        out.push_str("null");
        return Ok(());
    }
    if let Value::Variant(v) = value {
        let (held, t) = held(v);
        return push_value(&held, t, raw, out);
    }
    if let Value::Bit(b) = value {
        out.push_str(if *b { "true" } else { "false" });
        return Ok(());
    }
    let text = written(value, t)?;
    let longer = text.bytes().filter(|&b| b < b' ' || matches!(b, b'"' | b'\\' | b'/')).count();
    out.make_room(text.len() + 5 * longer + 2)?;
    let number =
        matches!(t.family(), Family::Integer | Family::Decimal | Family::Money | Family::Float);
    if raw || number {
        out.push_str(&text);
    } else {
        push_text(&text, out);
    }
    Ok(())
}

/// A JSON string.
pub(crate) fn push_text(text: &str, out: &mut String) {
    out.push('"');
    escaped(text, out);
    out.push('"');
}

/// Text within the quotes of a JSON string, as STRING_ESCAPE and FOR JSON write it.
pub(crate) fn escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' | '\\' | '/' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{C}' => out.push_str("\\f"),
            c if c.is_ascii_control() => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
}
