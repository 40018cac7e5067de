//! FOR XML: a row as an element. In PATH mode a column's name is a path from the row's element;
//! in RAW and AUTO columns are attributes, or with ELEMENTS elements.

use super::{BETWEEN, checked, made, written};
use crate::call::Call;
use base::{SqlError, SqlResult, messages};
use os::room::Room as _;
use types::{SqlType, Value};

/// How columns are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum XmlMode {
    /// RAW, AUTO
    Attributes,
    /// The same with ELEMENTS.
    Elements,
    /// PATH
    Path,
}

/// How the rows of a query are written.
pub struct XmlShape {
    text: String,
}

impl XmlShape {
    /// `element`: the row's, none when empty; `nulls`: XSINIL; `declared`: what each row declares.
    ///
    /// # Errors
    /// 102 for a name with a control character.
    pub fn new(mode: XmlMode, element: &str, nulls: bool, declared: &str) -> SqlResult<XmlShape> {
        let mode = match mode {
            XmlMode::Attributes => 'a',
            XmlMode::Elements => 'e',
            XmlMode::Path => 'p',
        };
        let mut text: String = [mode, if nulls { 'n' } else { '-' }].into_iter().collect();
        text.push_str(checked(element)?);
        text.push(BETWEEN);
        text.push_str(checked(declared)?);
        Ok(XmlShape { text })
    }

    /// Adds a column; `raw`: it is XML already.
    ///
    /// # Errors
    /// 102 for a name with a control character.
    pub fn column(&mut self, name: &str, raw: bool) -> SqlResult<()> {
        self.text.extend([BETWEEN, if raw { 'r' } else { 'v' }]);
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
    let head = parts.next().unwrap_or_default();
    let mut flags = head.chars();
    let (mode, nulls) = (flags.next().unwrap_or('p'), flags.next() == Some('n'));
    let declared = parts.next().unwrap_or_default();
    let mut out = Element::default();
    let tag = flags.as_str();
    if !tag.is_empty() {
        out.open(tag);
        out.text.push_str(declared);
    }
    let floor = out.tags.len();
    let place = Place { form: mode, floor, nulls };
    // Attributes stand before what is within the element.
    let passes: &[Option<bool>] = if mode == 'a' { &[Some(false), Some(true)] } else { &[None] };
    for pass in passes {
        for (n, column) in parts.clone().enumerate() {
            let (Some(value), Some(kind)) = (args.get(n + 1), column.chars().next()) else { break };
            let raw = kind == 'r';
            if pass.is_none_or(|raws| raws == raw) {
                push_column(&mut out, place, &column[1..], raw, (value, call.arg_types[n + 1]))?;
            }
        }
    }
    out.close_to(0);
    made(&out.text)
}

/// Where and how a column is written.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The letter of an [`XmlMode`].
    pub(super) form: char,
    /// Elements around the columns.
    pub(super) floor: usize,
    /// XSINIL
    pub(super) nulls: bool,
}

/// Writes a column; `raw`: it is XML already.
pub(super) fn push_column(
    out: &mut Element,
    Place { form, floor, nulls }: Place,
    name: &str,
    raw: bool,
    (value, sql_type): (&Value, SqlType),
) -> SqlResult<()> {
    let text = match value {
        Value::Null => None,
        value => Some(written(value, sql_type)?),
    };
    let nil = nulls && text.is_none();
    if text.is_none() && !nil {
        return Ok(());
    }
    let text = text.as_deref().unwrap_or("");
    match form {
        'a' if nil => Ok(()),
        'a' if raw => out.within(floor, &[&name_of(name)], |o| o.content(text, true)),
        'a' => out.attribute(&name_of(name), name, text),
        'e' => out.column(floor, &[&name_of(name)], text, raw, nil),
        _ => out.path(floor, name, text, raw, nil),
    }
}

/// An element that is being written.
#[derive(Default)]
pub(super) struct Element {
    pub(super) text: String,
    pub(super) tags: Vec<String>,
    /// The last tag has no `>` yet.
    tag_open: bool,
    /// What came last is of a column named `data()`.
    after_data: bool,
}

impl Element {
    pub(super) fn open(&mut self, tag: &str) {
        self.end_tag();
        self.text.push('<');
        self.text.push_str(tag);
        self.tags.push(tag.to_owned());
        self.tag_open = true;
    }

    /// The last tag has no `>` yet.
    pub(super) fn tag_is_open(&self) -> bool {
        self.tag_open
    }

    fn end_tag(&mut self) {
        if std::mem::take(&mut self.tag_open) {
            self.text.push('>');
        }
    }

    pub(super) fn close_to(&mut self, depth: usize) {
        while self.tags.len() > depth {
            let Some(tag) = self.tags.pop() else { return };
            if std::mem::take(&mut self.tag_open) {
                self.text.push_str("/>");
            } else {
                self.text.push_str("</");
                self.text.push_str(&tag);
                self.text.push('>');
            }
        }
    }

    /// `column`: what its name is in the query.
    fn attribute(&mut self, name: &str, column: &str, text: &str) -> SqlResult<()> {
        if self.tags.is_empty() {
            return Err(SqlError::new(messages::XML_ROW_TAG_MISSING, &[]));
        }
        if !self.tag_open {
            return Err(SqlError::new(messages::XML_ATTRIBUTE_LATE, &[&column]));
        }
        self.text.push_str(&format!(" {name}=\""));
        escape(text, true, &mut self.text)?;
        self.text.push('"');
        Ok(())
    }

    pub(super) fn content(&mut self, text: &str, raw: bool) -> SqlResult<()> {
        self.end_tag();
        if raw {
            self.text.push_str(text);
            return Ok(());
        }
        escape(text, false, &mut self.text)
    }

    /// Writes within the element of a path, which is opened as far as it is not yet.
    fn within(
        &mut self,
        floor: usize,
        path: &[&str],
        write: impl FnOnce(&mut Self) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let open = self.tags.get(floor..).unwrap_or(&[]);
        let same = open.iter().zip(path).take_while(|(a, b)| a == b).count();
        self.close_to(floor + same);
        for tag in &path[same..] {
            self.open(tag);
        }
        write(self)
    }

    /// An element of its own for a column.
    pub(super) fn column(
        &mut self,
        floor: usize,
        path: &[&str],
        text: &str,
        raw: bool,
        nil: bool,
    ) -> SqlResult<()> {
        let Some((last, before)) = path.split_last() else { return self.content(text, raw) };
        self.within(floor, before, |o| {
            o.open(last);
            if nil {
                o.text.push_str(" xsi:nil=\"true\"");
            } else {
                o.content(text, raw)?;
            }
            o.close_to(o.tags.len() - 1);
            Ok(())
        })
    }

    /// A column of PATH.
    fn path(
        &mut self,
        floor: usize,
        name: &str,
        text: &str,
        raw: bool,
        nil: bool,
    ) -> SqlResult<()> {
        let after_data = std::mem::take(&mut self.after_data);
        let steps: Vec<&str> = name.split('/').collect();
        let (last, before) = steps.split_last().unwrap_or((&"", &[]));
        match *last {
            "" | "*" | "text()" | "node()" if nil => Ok(()),
            "" | "*" | "text()" | "node()" => self.within(floor, before, |o| o.content(text, raw)),
            "data()" if nil => Ok(()),
            "data()" => self.within(floor, before, |o| {
                o.content(if after_data { " " } else { "" }, false)?;
                o.after_data = true;
                o.content(text, raw)
            }),
            "comment()" if nil => Ok(()),
            "comment()" => self.within(floor, before, |o| {
                check_dashes(text)?;
                o.content(&format!("<!--{text}-->"), true)
            }),
            _ => match (instruction_target(last), last.strip_prefix('@')) {
                (Some(_), _) | (_, Some(_)) if nil => Ok(()),
                (Some(target), _) => {
                    self.within(floor, before, |o| o.content(&format!("<?{target} {text}?>"), true))
                }
                (_, Some(attribute)) => {
                    self.within(floor, before, |o| o.attribute(attribute, name, text))
                }
                (None, None) => self.column(floor, &steps, text, raw, nil),
            },
        }
    }
}

/// The target of a step `processing-instruction(target)`.
pub fn instruction_target(step: &str) -> Option<&str> {
    step.strip_prefix("processing-instruction(")?.strip_suffix(')')
}

/// A comment ends at two dashes: 9322. The states are those that a public project recorded of SQL
/// Server 2025.
fn check_dashes(text: &str) -> SqlResult<()> {
    let state = match text {
        _ if text.contains("--") => 2,
        _ if text.ends_with('-') => 3,
        _ => return Ok(()),
    };
    let text = "Two consecutive '-' can only appear in a comment constructor if they are used to \
        close the comment ('-->').";
    Err(SqlError::raw(messages::XQUERY_COMMENT.number, 16, state, text.to_owned()))
}

/// A name as XML can have it, for RAW and AUTO: other characters become `_xHHHH_`, as does what
/// would read as one of those. SQL Server has the names of XML 1.0's fourth edition, in which some
/// characters beyond Latin letters are no part of a name that are here.
pub fn name_of(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut chars = name.chars().enumerate().peekable();
    while let Some((n, c)) = chars.next() {
        let fits = match c {
            '_' => chars.peek().is_none_or(|&(_, next)| next != 'x'),
            ':' => n > 0,
            _ if n == 0 => xml::is_name_start(c),
            _ => xml::is_name_char(c),
        };
        match u32::from(c) {
            _ if fits && c.len_utf16() == 1 => out.push(c),
            code @ 0x1_0000.. => out.push_str(&format!("_x{code:06X}_")),
            code => out.push_str(&format!("_x{code:04X}_")),
        }
    }
    out
}

pub(super) fn escape(text: &str, attribute: bool, out: &mut String) -> SqlResult<()> {
    let longer =
        text.bytes().filter(|&b| b < b' ' || matches!(b, b'&' | b'<' | b'>' | b'"')).count();
    out.make_room(text.len() + 5 * longer)?;
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if attribute => out.push_str("&quot;"),
            '\r' => out.push_str("&#x0D;"),
            '\n' if attribute => out.push_str("&#x0A;"),
            '\t' if attribute => out.push_str("&#x09;"),
            '\n' | '\t' => out.push(c),
            c if (c as u32) < 0x20 => out.push_str(&format!("&#x{:02X};", c as u32)),
            c => out.push(c),
        }
    }
    Ok(())
}
