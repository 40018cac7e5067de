//! Atomic values and their types, as far as the language here has them.
//!
//! What a document holds is untyped until something asks for a number. Whole numbers and decimals
//! are exact; everything computed from untyped text is a double. Dates and times stay text in
//! their lexical form, which orders as they do while they are written alike.

use types::{Decimal, SqlType, Value, convert, datetime::print_style};

/// The type of an atomic value, as errors name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtomicType {
    Untyped,
    String,
    Boolean,
    Integer,
    /// `xs:int`, `xs:long` and the like: what SQL's whole numbers are.
    Whole(&'static str),
    Decimal,
    Float,
    Double,
    Base64,
    Hex,
    DateTime,
    Date,
    Time,
}

/// Types whose values compare with each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Untyped,
    Text,
    Boolean,
    Number,
    Bytes,
    Moment(AtomicType),
}

impl AtomicType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            AtomicType::Untyped => "xdt:untypedAtomic",
            AtomicType::String => "xs:string",
            AtomicType::Boolean => "xs:boolean",
            AtomicType::Integer => "xs:integer",
            AtomicType::Whole(name) => name,
            AtomicType::Decimal => "xs:decimal",
            AtomicType::Float => "xs:float",
            AtomicType::Double => "xs:double",
            AtomicType::Base64 => "xs:base64Binary",
            AtomicType::Hex => "xs:hexBinary",
            AtomicType::DateTime => "xs:dateTime",
            AtomicType::Date => "xs:date",
            AtomicType::Time => "xs:time",
        }
    }

    /// The type of a name behind `xs:`.
    pub(crate) fn by_local_name(name: &str) -> Option<AtomicType> {
        Some(match name {
            "string" => AtomicType::String,
            "boolean" => AtomicType::Boolean,
            "integer" => AtomicType::Integer,
            "int" => AtomicType::Whole("xs:int"),
            "long" => AtomicType::Whole("xs:long"),
            "short" => AtomicType::Whole("xs:short"),
            "unsignedByte" => AtomicType::Whole("xs:unsignedByte"),
            "decimal" => AtomicType::Decimal,
            "float" => AtomicType::Float,
            "double" => AtomicType::Double,
            "base64Binary" => AtomicType::Base64,
            "hexBinary" => AtomicType::Hex,
            "dateTime" => AtomicType::DateTime,
            "date" => AtomicType::Date,
            "time" => AtomicType::Time,
            _ => return None,
        })
    }

    pub(crate) fn class(self) -> Class {
        match self {
            AtomicType::Untyped => Class::Untyped,
            AtomicType::String => Class::Text,
            AtomicType::Boolean => Class::Boolean,
            AtomicType::Base64 | AtomicType::Hex => Class::Bytes,
            AtomicType::DateTime | AtomicType::Date | AtomicType::Time => Class::Moment(self),
            _ => Class::Number,
        }
    }

    /// The type of SQL's values of a type; none where XQuery has no such values.
    pub(crate) fn of_sql(t: SqlType) -> Option<AtomicType> {
        Some(match t {
            SqlType::Bit => AtomicType::Boolean,
            SqlType::TinyInt => AtomicType::Whole("xs:unsignedByte"),
            SqlType::SmallInt => AtomicType::Whole("xs:short"),
            SqlType::Int => AtomicType::Whole("xs:int"),
            SqlType::BigInt => AtomicType::Whole("xs:long"),
            SqlType::Decimal { .. } | SqlType::Money | SqlType::SmallMoney => AtomicType::Decimal,
            SqlType::Real => AtomicType::Float,
            SqlType::Float => AtomicType::Double,
            SqlType::Date => AtomicType::Date,
            SqlType::Time(_) => AtomicType::Time,
            _ if t.is_temporal() => AtomicType::DateTime,
            _ if t.is_character() || t == SqlType::UniqueIdentifier => AtomicType::String,
            _ if t.family() == types::Family::Binary => AtomicType::Base64,
            _ => return None,
        })
    }
}

/// An atomic value.
#[derive(Clone, PartialEq, Debug)]
pub enum Atomic {
    /// Characters of a document.
    Untyped(String),
    /// A string.
    Text(String),
    /// A truth value.
    Boolean(bool),
    /// A whole number.
    Integer(Decimal),
    /// An exact number.
    Decimal(Decimal),
    /// A float; true: of single precision.
    Double(f64, bool),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A date or time in its lexical form.
    Moment(String),
}

impl Atomic {
    /// What it takes beside itself in memory.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Atomic::Untyped(s) | Atomic::Text(s) | Atomic::Moment(s) => s.capacity(),
            Atomic::Bytes(b) => b.capacity(),
            Atomic::Boolean(_) | Atomic::Integer(_) | Atomic::Decimal(_) => 0,
            Atomic::Double(..) => 0,
        }
    }

    /// The characters.
    pub fn text(&self) -> String {
        match self {
            Atomic::Untyped(s) | Atomic::Text(s) | Atomic::Moment(s) => s.clone(),
            Atomic::Boolean(b) => b.to_string(),
            Atomic::Integer(d) | Atomic::Decimal(d) => d.normalized().to_string(),
            Atomic::Double(x, single) => double_text(*x, if *single { 7 } else { 15 }),
            Atomic::Bytes(bytes) => encode_base64(bytes),
        }
    }

    /// The bytes that its text has in base64.
    pub fn base64(&self) -> Option<Vec<u8>> {
        decode_base64(&self.text())
    }

    /// As a number; untyped text too.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Atomic::Untyped(s) | Atomic::Text(s) => parse_double(s),
            Atomic::Integer(d) | Atomic::Decimal(d) => Some(d.to_f64()),
            Atomic::Double(x, _) => Some(*x),
            Atomic::Boolean(b) => Some(f64::from(u8::from(*b))),
            Atomic::Bytes(_) | Atomic::Moment(_) => None,
        }
    }

    /// A value of SQL; none of NULL.
    pub(crate) fn of_value(value: &Value, from: SqlType) -> Option<Atomic> {
        let text = |style| {
            let text = convert(value, from, SqlType::NVARCHAR_MAX, style).ok()?;
            text.as_text()
        };
        Some(match value {
            Value::Null | Value::Xml(_) => return None,
            Value::Bit(b) => Atomic::Boolean(*b),
            Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) | Value::BigInt(_) => {
                Atomic::Integer(Decimal::from_i64(value.as_i64()?))
            }
            Value::Decimal(d) => Atomic::Decimal(*d),
            Value::Money(n) => Atomic::Decimal(Decimal::new(i128::from(*n), 4)?),
            Value::Real(x) => Atomic::Double(f64::from(*x), true),
            Value::Float(x) => Atomic::Double(*x, false),
            Value::Binary(b) => Atomic::Bytes(b.to_vec()),
            Value::Char(_) | Value::NChar(_) => Atomic::Text(value.as_text()?),
            Value::Guid(_) => Atomic::Text(text(0)?),
            Value::Time(_) => Atomic::Moment(text(0)?),
            _ => {
                let mut shown = print_style(value, from, 126)?;
                // A datetime shows its milliseconds always.
                if matches!(value, Value::DateTime(_)) && !shown.contains('.') {
                    shown.push_str(".000");
                }
                Atomic::Moment(shown)
            }
        })
    }

    /// As a value of another type; none when it is none.
    pub(crate) fn cast(&self, to: AtomicType) -> Option<Atomic> {
        let text = || self.text();
        Some(match to {
            AtomicType::Untyped => Atomic::Untyped(text()),
            AtomicType::String => Atomic::Text(text()),
            AtomicType::Boolean => Atomic::Boolean(match self {
                Atomic::Boolean(b) => *b,
                Atomic::Integer(_) | Atomic::Decimal(_) | Atomic::Double(..) => {
                    self.number()? != 0.0
                }
                _ => match text().trim() {
                    "true" | "1" => true,
                    "false" | "0" => false,
                    _ => return None,
                },
            }),
            AtomicType::Integer | AtomicType::Whole(_) => {
                let n = self.exact()?;
                if matches!(self, Atomic::Untyped(_) | Atomic::Text(_))
                    && n.normalized().scale() > 0
                {
                    return None;
                }
                let n = n.truncate(0);
                Atomic::Integer(within(to, n)?)
            }
            AtomicType::Decimal => Atomic::Decimal(self.exact()?),
            AtomicType::Double => Atomic::Double(self.number()?, false),
            AtomicType::Float => Atomic::Double(f64::from(self.number()? as f32), true),
            AtomicType::Base64 => match self {
                Atomic::Bytes(bytes) => Atomic::Bytes(bytes.clone()),
                _ => Atomic::Bytes(decode_base64(&text())?),
            },
            AtomicType::Hex => match self {
                Atomic::Bytes(bytes) => Atomic::Bytes(bytes.clone()),
                _ => Atomic::Bytes(decode_hex(text().trim())?),
            },
            AtomicType::DateTime | AtomicType::Date | AtomicType::Time => moment(&text(), to)?,
        })
    }

    fn exact(&self) -> Option<Decimal> {
        match self {
            Atomic::Integer(d) | Atomic::Decimal(d) => Some(*d),
            Atomic::Double(x, _) => Decimal::from_f64(*x, 10),
            Atomic::Boolean(b) => Some(Decimal::from_i64(i64::from(*b))),
            Atomic::Untyped(s) | Atomic::Text(s) => {
                let s = s.trim();
                let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
                if s.is_empty() || !s.chars().all(plain) { None } else { Decimal::parse(s) }
            }
            Atomic::Bytes(_) | Atomic::Moment(_) => None,
        }
    }
}

/// A whole number within its type's range.
fn within(t: AtomicType, n: Decimal) -> Option<Decimal> {
    let range = match t {
        AtomicType::Whole("xs:int") => i128::from(i32::MIN)..=i128::from(i32::MAX),
        AtomicType::Whole("xs:long") => i128::from(i64::MIN)..=i128::from(i64::MAX),
        AtomicType::Whole("xs:short") => i128::from(i16::MIN)..=i128::from(i16::MAX),
        AtomicType::Whole("xs:unsignedByte") => 0..=255,
        _ => return Some(n),
    };
    range.contains(&n.whole()).then_some(n)
}

/// A date or time whose text SQL can read.
fn moment(text: &str, to: AtomicType) -> Option<Atomic> {
    let text = text.trim();
    let dated = text.get(4..5) == Some("-");
    let (right, sql) = match to {
        AtomicType::Date => (dated && !text.contains('T'), SqlType::Date),
        AtomicType::Time => (text.get(2..3) == Some(":"), SqlType::Time(7)),
        _ => (dated && text.contains('T'), SqlType::DateTimeOffset(7)),
    };
    let bare = text.strip_suffix('Z').unwrap_or(text);
    let read = convert(&Value::nvarchar(bare), SqlType::NVARCHAR_MAX, sql, 0);
    (right && read.is_ok()).then(|| Atomic::Moment(text.to_owned()))
}

/// A double as its text has it.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    match text {
        "INF" => return Some(f64::INFINITY),
        "-INF" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    if text.is_empty() || !text.chars().all(plain) {
        return None;
    }
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

/// Plain between a millionth and a million, else with an exponent.
fn double_text(x: f64, digits: usize) -> String {
    if x.is_infinite() {
        return if x > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    if x == 0.0 {
        return if x.is_sign_negative() { "-0.0E0" } else { "0.0E0" }.to_owned();
    }
    let rounded = format!("{:.*e}", digits - 1, x);
    let Some((mantissa, exponent)) = rounded.split_once('e') else { return rounded };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-6..6).contains(&exponent) {
        let places = (digits as i32 - 1 - exponent).max(0) as usize;
        let plain = format!("{x:.places$}");
        let cut = plain.trim_end_matches('0').trim_end_matches('.');
        return if plain.contains('.') { cut.to_owned() } else { plain };
    }
    let mut mantissa = mantissa.trim_end_matches('0').to_owned();
    if mantissa.ends_with('.') {
        mantissa.push('0');
    }
    if !mantissa.contains('.') {
        mantissa.push_str(".0");
    }
    format!("{mantissa}E{exponent}")
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let shift = 8 * (3 - chunk.len());
        let group = chunk.iter().fold(0_u32, |n, &b| n << 8 | u32::from(b)) << shift;
        for n in 0..4 {
            let digit = DIGITS.get((group >> (18 - 6 * n) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if n > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

/// The bytes of base64; white space does not count.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let padding = digits.iter().rev().take_while(|&&b| b == b'=').count();
    if padding > 2 {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let (mut group, mut count) = (0_u32, 0);
    for digit in digits.get(..digits.len() - padding)? {
        let value = DIGITS.iter().position(|d| d == digit)?;
        group = group << 6 | value as u32;
        count += 1;
        if count == 4 {
            out.extend_from_slice(&group.to_be_bytes()[1..]);
            (group, count) = (0, 0);
        }
    }
    match count {
        2 => out.push((group >> 4) as u8),
        3 => out.extend_from_slice(&((group >> 2) as u16).to_be_bytes()),
        _ => {}
    }
    Some(out)
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    text.as_bytes()
        .chunks(2)
        .map(|pair| {
            let digit = |b: u8| char::from(b).to_digit(16);
            match pair {
                [a, b] => Some((digit(*a)? * 16 + digit(*b)?) as u8),
                _ => None,
            }
        })
        .collect()
}
