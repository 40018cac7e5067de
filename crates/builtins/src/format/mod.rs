//! FORMAT: numbers and dates by the patterns of .NET, as a culture writes them.

mod date;
mod digits;
mod number;

use crate::call::{Call, Function, NullRule};
use crate::culture::Culture;
use base::SqlResult;
use types::datetime::Moment;
use types::{SqlType, Value};

pub(crate) use digits::Digits;

/// FORMAT and FORMATMESSAGE.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "FORMAT",
        min_args: 2,
        max_args: 3,
        result: |t| {
            if t[0].is_number() || t[0].is_temporal() {
                return Ok(SqlType::nvarchar(4000));
            }
            Err(crate::call::invalid_argument(t[0], 0, "format"))
        },
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval: format,
    },
    Function {
        name: "FORMATMESSAGE",
        min_args: 1,
        max_args: 21,
        result: |_| Ok(SqlType::nvarchar(2048)),
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval: format_message,
    },
];

/// A pattern that means nothing gives NULL, as in SQL Server.
fn format(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    if args[..2].iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    let culture = match args.get(2) {
        Some(Value::Null) | None => Culture::named(call.facts.dialect().language.culture)?,
        Some(_) => Culture::named(&call.string(args, 2)?)?,
    };
    let pattern = call.string(args, 1)?;
    let text = match Moment::of(&args[0]) {
        Some(m) => date::format(m, call.arg_types[0], &pattern, culture_of(&pattern, culture)),
        None => number::format(&args[0], &pattern, culture),
    };
    Ok(text.map_or(Value::Null, |t| Value::nvarchar(&t)))
}

/// The culture of a pattern of dates: some are the same everywhere.
fn culture_of(pattern: &str, culture: &'static Culture) -> &'static Culture {
    if matches!(pattern, "r" | "R" | "o" | "O" | "s" | "u") { Culture::american() } else { culture }
}

fn format_message(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    if args[0].is_null() || !call.arg_types[0].is_character() {
        return Ok(Value::Null);
    }
    let template = call.string(args, 0)?;
    let text = print_message(&template, &args[1..]);
    Ok(text.map_or(Value::Null, |t| Value::nvarchar(&shortened(t))))
}

/// Units of UTF-16 that a message may have.
const MESSAGE_MAX: usize = 2047;

/// A message that is too long ends in three dots.
fn shortened(text: String) -> String {
    if text.encode_utf16().count() <= MESSAGE_MAX {
        return text;
    }
    let mut left = MESSAGE_MAX - 3;
    let fits = |c: &char| {
        let room = c.len_utf16() <= left;
        left = left.saturating_sub(c.len_utf16());
        room
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.push_str("...");
    kept
}

/// The placeholder for which `print_message` gives nothing, to its letter.
pub fn wrong_placeholder<'t>(template: &'t str, args: &[Value]) -> &'t str {
    let starts = template.match_indices('%').map(|(at, _)| at);
    let ends = |start: usize| {
        let rest = &template[start + 1..];
        let letter = rest.find(|c: char| c.is_alphabetic() && !"hlI".contains(c));
        letter.map_or(template.len(), |at| {
            start + 1 + at + rest[at..].chars().next().map_or(0, char::len_utf8)
        })
    };
    let wrong = starts.map(|start| (start, ends(start))).find(|(start, end)| {
        print_message(&template[..*start], args).is_some()
            && print_message(&template[..*end], args).is_none()
    });
    wrong.map_or(template, |(start, end)| &template[start..end])
}

/// RAISERROR's and FORMATMESSAGE's template: `%d %i %u %o %x %X %s %%` with flags, width and
/// precision. `None` where a placeholder is wrong or its argument of another kind.
pub fn print_message(template: &str, args: &[Value]) -> Option<String> {
    let mut out = String::with_capacity(template.len() + 16);
    let mut args = args.iter();
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = chars.next_if(|c| "-+0# ".contains(*c)) {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                '0' => spec.zero = true,
                '#' => spec.alternate = true,
                _ => spec.blank = true,
            }
        }
        let mut number = || {
            if chars.next_if_eq(&'*').is_some() {
                return args.next().and_then(Value::as_i64).and_then(|n| usize::try_from(n).ok());
            }
            let mut n = None;
            while let Some(d) = chars.peek().and_then(|c| c.to_digit(10)) {
                chars.next();
                n = Some((n.unwrap_or(0) * 10 + d as usize).min(2047));
            }
            n
        };
        spec.width = number().unwrap_or(0).min(2047);
        spec.precision = None;
        if chars.next_if_eq(&'.').is_some() {
            let mut n = 0;
            while let Some(d) = chars.peek().and_then(|c| c.to_digit(10)) {
                chars.next();
                n = (n * 10 + d as usize).min(2047);
            }
            spec.precision = Some(n);
        }
        if chars.next_if(|c| matches!(c, 'h' | 'l')).is_none() && chars.peek() == Some(&'I') {
            // I64 marks a bigint.
            for expected in ['I', '6', '4'] {
                chars.next_if_eq(&expected)?;
            }
        }
        let body = spec.body(chars.next()?, args.next())?;
        spec.pad(&body, &mut out);
    }
    Some(out)
}

/// Bytes of an argument that a message may show at most.
const LONG: usize = 8192;

/// Flags of one placeholder.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    zero: bool,
    alternate: bool,
    blank: bool,
    width: usize,
    precision: Option<usize>,
}

impl Spec {
    fn body(&self, kind: char, arg: Option<&Value>) -> Option<String> {
        if !"diuoxXs".contains(kind) {
            return None;
        }
        // What is not supplied, or NULL, shows as such.
        let arg = match arg {
            None | Some(Value::Null) => return Some("(null)".to_owned()),
            Some(arg) => arg,
        };
        if kind == 's' {
            // Messages are cut sooner.
            let text = match arg {
                Value::Char(b) if b.len() > LONG => Value::Char(b[..LONG].into()).as_text(),
                Value::NChar(b) if b.len() > LONG => Value::NChar(b[..LONG].into()).as_text(),
                other => other.as_text(),
            }?;
            return Some(match self.precision {
                Some(n) => text.chars().take(n).collect(),
                None => text,
            });
        }
        let n = arg.as_i64()?;
        let bits = if matches!(arg, Value::BigInt(_)) { n as u64 } else { n as u32 as u64 };
        Some(match kind {
            'd' | 'i' => match n {
                0.. if self.plus => format!("+{n}"),
                0.. if self.blank => format!(" {n}"),
                _ => n.to_string(),
            },
            'u' => bits.to_string(),
            'o' => format!("{}{bits:o}", if self.alternate { "0" } else { "" }),
            'x' => format!("{}{bits:x}", if self.alternate { "0x" } else { "" }),
            'X' => format!("{}{bits:X}", if self.alternate { "0X" } else { "" }),
            _ => return None,
        })
    }

    fn pad(&self, body: &str, out: &mut String) {
        let missing = self.width.saturating_sub(body.chars().count());
        if self.left {
            out.push_str(body);
            out.extend(std::iter::repeat_n(' ', missing));
        } else if self.zero && !body.starts_with('(') {
            let (sign, rest) = match body.strip_prefix('-') {
                Some(rest) => ("-", rest),
                None => ("", body),
            };
            out.push_str(sign);
            out.extend(std::iter::repeat_n('0', missing));
            out.push_str(rest);
        } else {
            out.extend(std::iter::repeat_n(' ', missing));
            out.push_str(body);
        }
    }
}

#[cfg(test)]
mod tests;
