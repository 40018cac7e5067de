//! String functions that build or cut text.

use crate::call::{Call, Function, NullRule};
use crate::chars::{Chars, same_text, widest};
use base::{SqlError, SqlResult, messages};
use types::{ByteBuffer, CodePage, Family, Length, SqlType, Value, text, within_longest};

macro_rules! functions {
    ($($name:literal, $min:literal, $max:literal, $nulls:ident, $result:expr, $eval:expr;)*) => {
        /// Functions that build or cut text.
        pub(crate) const FUNCTIONS: &[Function] = &[
            $(Function {
                name: $name,
                min_args: $min,
                max_args: $max,
                result: $result,
                deterministic: true,
                nulls: NullRule::$nulls,
                date_part: false,
                eval: $eval,
            }),*
        ];
    };
}

functions! {
    "CHAR", 1, 1, Strict, |_| Ok(SqlType::Char(1)), char_of;
    "NCHAR", 1, 1, Strict, |_| Ok(SqlType::NChar(1)), nchar_of;
    "CONCAT", 2, 254, Own, |t| Ok(sum_of(t)), concat;
    "CONCAT_WS", 3, 254, Own, |t| Ok(sum_of(t)), concat_ws;
    "LEFT", 2, 2, Strict, |t| Ok(same_text(t[0])), left;
    "RIGHT", 2, 2, Strict, |t| Ok(same_text(t[0])), right;
    "LOWER", 1, 1, Strict, |t| Ok(same_text(t[0])), |c, a| {
        mapped(c, a, &LOWER)
    };
    "UPPER", 1, 1, Strict, |t| Ok(same_text(t[0])), |c, a| {
        mapped(c, a, &UPPER)
    };
    "LTRIM", 1, 2, Strict, |t| Ok(same_text(t[0])), |c, a| trim(c, a, true, false);
    "RTRIM", 1, 2, Strict, |t| Ok(same_text(t[0])), |c, a| trim(c, a, false, true);
    "TRIM", 1, 2, Strict, |t| Ok(same_text(t[0])), |c, a| trim(c, a, true, true);
    "QUOTENAME", 1, 2, Strict, |_| Ok(SqlType::nvarchar(258)), quote_name;
    "PARSENAME", 2, 2, Strict, |_| Ok(SqlType::SYSNAME), parse_name;
    "REPLACE", 3, 3, Strict, |t| Ok(widest(t)), replace;
    "REPLICATE", 2, 2, Strict, |t| Ok(widest(&t[..1])), replicate;
    "REVERSE", 1, 1, Strict, |t| Ok(same_text(t[0])), reverse;
    "SPACE", 1, 1, Strict, |_| Ok(SqlType::varchar(8000)), space;
    "STR", 1, 3, Strict, |_| Ok(SqlType::varchar(8000)), str_of;
    "STRING_ESCAPE", 2, 2, Strict, |_| Ok(SqlType::NVARCHAR_MAX), string_escape;
    "STUFF", 4, 4, Own, |t| Ok(stuff_type(t)), stuff;
    "SUBSTRING", 3, 3, Strict, |t| Ok(substring_type(t[0])), substring;
    "TRANSLATE", 3, 3, Strict, |t| Ok(same_text(t[0])), translate;
}

fn substring_type(t: SqlType) -> SqlType {
    match t {
        SqlType::Binary(n) => SqlType::varbinary(n),
        SqlType::VarBinary(_) => t,
        SqlType::Image => SqlType::varbinary(8000),
        _ => same_text(t),
    }
}

/// Of binary operands STUFF makes binary; the fourth may be the word NULL.
fn stuff_type(t: &[SqlType]) -> SqlType {
    let binary = |t: SqlType| t.family() == Family::Binary;
    if !binary(t[0]) || t[3].is_character() {
        return widest(&[t[0], t[3]]);
    }
    match [t[0], t[3]].iter().any(|t| t.is_max()) {
        true => SqlType::VarBinary(Length::Max),
        false => SqlType::varbinary(8000),
    }
}

/// The type of a concatenation: the sum of the lengths.
fn sum_of(types: &[SqlType]) -> SqlType {
    let wide = types.iter().any(|t| matches!(t.family(), Family::NChar | Family::Variant));
    let limit = if wide { 4000 } else { 8000 };
    let length = types.iter().fold(Length::N(0), |sum, t| {
        let one = match same_text(*t) {
            _ if *t == SqlType::Variant => Length::N(4000),
            _ if !t.is_character() => Length::N(60),
            SqlType::VarChar(l) | SqlType::NVarChar(l) => l,
            _ => Length::N(60),
        };
        sum.sum(one, limit)
    });
    let length = if length == Length::N(0) { Length::N(1) } else { length };
    if wide { SqlType::NVarChar(length) } else { SqlType::VarChar(length) }
}

fn char_of(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    Ok(match u8::try_from(call.int(args, 0)?) {
        Ok(b) => Value::Char([b].as_slice().into()),
        Err(_) => Value::Null,
    })
}

fn nchar_of(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let code = call.int(args, 0)?;
    if let Ok(unit) = u16::try_from(code) {
        return Ok(Value::NChar(unit.to_le_bytes().as_slice().into()));
    }
    let above = u32::try_from(code).ok().and_then(char::from_u32);
    Ok(match above.filter(|_| call.collation.has_supplementary()) {
        Some(c) => Value::nvarchar(c.encode_utf8(&mut [0; 4])),
        None => Value::Null,
    })
}

fn concat(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let mut out = ByteBuffer::default();
    for i in (0..args.len()).filter(|&i| !args[i].is_null()) {
        out.extend(Chars::like_result(call, args, i)?.bytes())?;
    }
    Ok(Chars::made(out, call.result.family() == Family::NChar).into_value(call.result))
}

fn concat_ws(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let separator = match &args[0] {
        Value::Null => Chars::new(Vec::new(), false),
        _ => Chars::like_result(call, args, 0)?,
    };
    let mut out = ByteBuffer::default();
    let mut first = true;
    for i in (1..args.len()).filter(|&i| !args[i].is_null()) {
        if !std::mem::take(&mut first) {
            out.extend(separator.bytes())?;
        }
        out.extend(Chars::like_result(call, args, i)?.bytes())?;
    }
    Ok(Chars::made(out, call.result.family() == Family::NChar).into_value(call.result))
}

/// A length of LEFT, its second argument, or of SUBSTRING, its third; it may not be negative.
fn count(call: &Call<'_>, args: &[Value], i: usize) -> SqlResult<usize> {
    usize::try_from(call.int(args, i)?).map_err(|_| match i {
        1 => SqlError::new(messages::INVALID_LENGTH_PARAMETER, &[]).with_state(2),
        _ => SqlError::new(messages::INVALID_LENGTH_PARAMETER, &[]).with_state(3),
    })
}

fn left(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::like_result(call, args, 0)?;
    let n = count(call, args, 1)?.min(s.len());
    Ok(s.slice(0, n)?.into_value(call.result))
}

fn right(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::like_result(call, args, 0)?;
    let n = usize::try_from(call.int(args, 1)?)
        .map_err(|_| SqlError::new(messages::INVALID_LENGTH_RIGHT, &[&"RIGHT"]))?
        .min(s.len());
    Ok(s.slice(s.len() - n, s.len())?.into_value(call.result))
}

fn substring(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    // Both count from 1, and a start before the string uses up some of the length.
    let range = |length: usize| -> SqlResult<(usize, usize)> {
        let start = call.int(args, 1)?;
        let n = count(call, args, 2)? as i64;
        let end = start.saturating_add(n).saturating_sub(1).clamp(0, length as i64);
        let start = start.saturating_sub(1).clamp(0, end);
        Ok((start as usize, end as usize))
    };
    if let Value::Binary(b) = &args[0] {
        let (start, end) = range(b.len())?;
        os::values::room(end - start)?;
        return Ok(Value::varbinary(&b[start..end]));
    }
    let s = Chars::like_result(call, args, 0)?;
    let (start, end) = range(s.len())?;
    Ok(s.slice(start, end)?.into_value(call.result))
}

/// A case: of a byte of code page 1252, of a unit, and of a unit in Turkish.
struct Case {
    byte: fn(u8) -> u8,
    unit: fn(u16) -> u16,
    turkic: fn(u16) -> u16,
}

const UPPER: Case = Case {
    byte: text::upper_byte,
    unit: text::upper_unit,
    turkic: |unit| match unit {
        0x69 => 0x130,
        0x131 => 0x49,
        other => text::upper_unit(other),
    },
};

const LOWER: Case = Case {
    byte: text::lower_byte,
    unit: text::lower_unit,
    turkic: |unit| match unit {
        0x49 => 0x131,
        0x130 => 0x69,
        other => text::lower_unit(other),
    },
};

fn mapped(call: &mut Call<'_>, args: &[Value], case: &Case) -> SqlResult<Value> {
    let s = Chars::like_result(call, args, 0)?;
    let mut out = ByteBuffer::default();
    let unit = if call.collation.is_turkic() { case.turkic } else { case.unit };
    if s.is_wide() {
        let mapped = |pair: [u8; 2]| unit(u16::from_le_bytes(pair)).to_le_bytes();
        out.extend_mapped(s.bytes(), mapped)?;
    } else if s.page() == CodePage::Cp1252 {
        out.extend_mapped(s.bytes(), |[b]: [u8; 1]| [(case.byte)(b)])?;
    } else if s.page().is_single_byte() {
        // A letter whose other case the page has not stays.
        let page = s.page();
        let byte = |b: u8| page.byte(unit(page.unit(b))).unwrap_or(b);
        out.extend_mapped(s.bytes(), |[b]: [u8; 1]| [byte(b)])?;
    } else {
        let mapped: Vec<u16> = s.units()?.into_iter().map(unit).collect();
        out.extend(&s.page().narrow(&text::bytes_of_units(&mapped)))?;
    }
    Ok(Chars::made(out, s.is_wide()).into_value(call.result))
}

fn trim(call: &mut Call<'_>, args: &[Value], front: bool, back: bool) -> SqlResult<Value> {
    let s = Chars::like_result(call, args, 0)?;
    let set = match args.get(1) {
        Some(_) => Chars::in_encoding(call, args, 1, s.is_wide())?,
        None => Chars::from_units(&[b' ' as u16], s.is_wide()),
    };
    let mut compared = ComparisonCount::default();
    let mut goes = |i: usize| {
        compared.more(set.len())?;
        SqlResult::Ok((0..set.len()).any(|k| s.same(i, &set, k, call.collation)))
    };
    let (mut start, mut end) = (0, s.len());
    while front && start < end && goes(start)? {
        start += 1;
    }
    while back && start < end && goes(end - 1)? {
        end -= 1;
    }
    Ok(s.slice(start, end)?.into_value(call.result))
}

fn quote_name(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::in_encoding(call, args, 0, true)?;
    let quote = match args.get(1) {
        Some(_) => call.string(args, 1)?,
        None => "[".to_owned(),
    };
    let (open, close) = match quote.chars().next() {
        Some('[' | ']') => ('[', ']'),
        Some('(' | ')') => ('(', ')'),
        Some('<' | '>') => ('<', '>'),
        Some('{' | '}') => ('{', '}'),
        Some(q @ ('"' | '\'' | '`')) => (q, q),
        _ => return Ok(Value::Null),
    };
    if s.len() > 128 {
        return Ok(Value::Null);
    }
    let mut out = vec![open as u16];
    for unit in s.units()? {
        out.push(unit);
        if unit == close as u16 {
            out.push(unit);
        }
    }
    out.push(close as u16);
    Ok(Chars::from_units(&out, true).into_value(call.result))
}

/// The parts of a name of up to four, the last first; `None` where it is no name.
fn name_parts(name: &str) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let part = parts.last_mut()?;
        let close = match c {
            '.' => {
                parts.push(String::new());
                continue;
            }
            '[' if part.is_empty() => ']',
            '"' if part.is_empty() => '"',
            c => {
                part.push(c);
                continue;
            }
        };
        loop {
            match chars.next()? {
                c if c == close && chars.peek() == Some(&close) => {
                    chars.next();
                    part.push(close);
                }
                c if c == close => break,
                c => part.push(c),
            }
        }
        if !matches!(chars.peek(), None | Some('.')) {
            return None;
        }
    }
    parts.reverse();
    (parts.len() <= 4).then_some(parts)
}

fn parse_name(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let n = call.int(args, 1)?;
    let parts = name_parts(&call.string(args, 0)?);
    let part = parts.and_then(|p| p.get(usize::try_from(n - 1).ok()?).cloned());
    Ok(match part {
        Some(p) if !p.is_empty() && p.encode_utf16().count() <= 128 => Value::nvarchar(&p),
        _ => Value::Null,
    })
}

fn replace(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::like_result(call, args, 0)?;
    let old = Chars::like_result(call, args, 1)?;
    let new = Chars::like_result(call, args, 2)?;
    if old.len() == 0 {
        return Ok(s.into_value(call.result));
    }
    let mut out = ByteBuffer::default();
    let mut at = 0;
    while let Some(hit) = s.find(&old, at, call.collation)? {
        out.extend(s.part(at, hit))?;
        out.extend(new.bytes())?;
        at = hit + old.len();
        if !call.result.is_max() && out.as_slice().len() > LIMITED_BYTES {
            break;
        }
    }
    out.extend(s.part(at, s.len()))?;
    Ok(Chars::made(out, s.is_wide()).into_value(call.result))
}

/// More than any value has whose type is limited: it is cut there.
const LIMITED_BYTES: usize = 8000;

fn replicate(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let Ok(times) = usize::try_from(call.int(args, 1)?) else { return Ok(Value::Null) };
    let s = Chars::like_result(call, args, 0)?;
    let whole = s.bytes().len().saturating_mul(times);
    let bytes = if call.result.is_max() { whole } else { whole.min(LIMITED_BYTES) };
    within_longest(bytes)?;
    let mut out = ByteBuffer::with_room(bytes)?;
    out.extend(&s.bytes()[..bytes.min(s.bytes().len())])?;
    // Pieces of a size that is cheap to copy, however short the text is.
    let together = (PIECE_BYTES / s.bytes().len().max(1)).min(times);
    let several = if together > 1 { s.bytes().repeat(together) } else { Vec::new() };
    let piece = if together > 1 { &several[..] } else { s.bytes() };
    while out.as_slice().len() < bytes {
        let more = piece.len().min(bytes - out.as_slice().len());
        out.extend(&piece[..more])?;
    }
    Ok(Chars::made(out, s.is_wide()).into_value(call.result))
}

/// REPLICATE's.
const PIECE_BYTES: usize = 64 << 10;

fn reverse(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::like_result(call, args, 0)?;
    let mut out = ByteBuffer::with_room(s.bytes().len())?;
    if s.len() != s.bytes().len() / (1 + usize::from(s.is_wide())) {
        for at in (0..s.len()).rev() {
            out.extend(s.part(at, at + 1))?;
        }
    } else if s.is_wide() {
        for pair in s.bytes().as_chunks::<2>().0.iter().rev() {
            out.extend(pair)?;
        }
    } else {
        for &byte in s.bytes().iter().rev() {
            out.push(byte)?;
        }
    }
    Ok(Chars::made(out, s.is_wide()).into_value(call.result))
}

fn space(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    Ok(match usize::try_from(call.int(args, 0)?) {
        Ok(n) => Chars::new(vec![b' '; n.min(8000)], false).into_value(call.result),
        Err(_) => Value::Null,
    })
}

/// STR(float, length = 10, decimals = 0): right-justified, asterisks where it does not fit.
fn str_of(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let x = call.float(args, 0)?;
    let optional = |i: usize, default: i64| match args.get(i) {
        Some(_) => call.int(args, i),
        None => Ok(default),
    };
    let (Ok(length), Ok(decimals)) =
        (usize::try_from(optional(1, 10)?), usize::try_from(optional(2, 0)?))
    else {
        return Ok(Value::Null);
    };
    if length == 0 || length > 8000 {
        return Ok(Value::Null);
    }
    let digits = crate::format::Digits::of_float(x);
    let whole = digits.fixed(0).len();
    if whole > length {
        return Ok(Value::varchar(&"*".repeat(length)));
    }
    // Decimals give way before the whole part does.
    let room = length.saturating_sub(whole + 1);
    let text = digits.fixed(decimals.min(16).min(room));
    Ok(Value::varchar(&format!("{text:>length$}")))
}

fn string_escape(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    if !call.string(args, 1)?.eq_ignore_ascii_case("json") {
        return Err(call.invalid(1, "string_escape"));
    }
    let whole = call.string(args, 0)?;
    let mut out = ByteBuffer::default();
    let mut some = String::new();
    for piece in pieces(&whole, PIECE_BYTES) {
        some.clear();
        crate::document::json_escaped(piece, &mut some);
        some.encode_utf16().try_for_each(|unit| out.extend(&unit.to_le_bytes()))?;
    }
    Ok(Value::NChar(out.into_bytes()))
}

fn stuff(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    if args[..3].iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    if call.result.family() == Family::Binary {
        return stuff_binary(call, args);
    }
    let s = Chars::like_result(call, args, 0)?;
    let (start, length) = (call.int(args, 1)?, call.int(args, 2)?);
    if start < 1 || start > s.len() as i64 || length < 0 {
        return Ok(Value::Null);
    }
    let start = start as usize - 1;
    let end = start.saturating_add(length as usize).min(s.len());
    let mut out = ByteBuffer::default();
    out.extend(s.part(0, start))?;
    if !args[3].is_null() {
        out.extend(Chars::like_result(call, args, 3)?.bytes())?;
    }
    out.extend(s.part(end, s.len()))?;
    Ok(Chars::made(out, s.is_wide()).into_value(call.result))
}

/// The same of bytes.
fn stuff_binary(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let bytes = |i: usize| call.to(args, i, call.result);
    let (whole, put) = (bytes(0)?, bytes(3)?);
    let (Some(whole), put) = (whole.as_bytes(), put.as_bytes().unwrap_or_default()) else {
        return Ok(Value::Null);
    };
    let (start, length) = (call.int(args, 1)?, call.int(args, 2)?);
    let start = usize::try_from(start).ok().filter(|n| (1..=whole.len()).contains(n));
    let (Some(start), Ok(length)) = (start, usize::try_from(length)) else {
        return Ok(Value::Null);
    };
    let (head, tail) = whole.split_at(start - 1);
    let tail = tail.get(length..).unwrap_or_default();
    Ok(Value::varbinary(&[head, put, tail].concat()))
}

fn translate(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::like_result(call, args, 0)?;
    let from = Chars::like_result(call, args, 1)?;
    let to = Chars::like_result(call, args, 2)?;
    if from.len() != to.len() {
        return Err(SqlError::new(messages::TRANSLATE_LENGTHS, &[]));
    }
    let mut out = ByteBuffer::with_room(s.bytes().len())?;
    let mut compared = ComparisonCount::default();
    for i in 0..s.len() {
        compared.more(from.len())?;
        let other = (0..from.len()).find(|&k| s.same(i, &from, k, call.collation));
        out.extend(other.map_or(s.part(i, i + 1), |k| to.part(k, k + 1)))?;
    }
    Ok(Chars::made(out, s.is_wide()).into_value(call.result))
}

/// TRANSLATE and TRIM look whether they are to end after so many comparisons.
const COMPARED_MAX: usize = 1 << 20;

/// Comparisons since the last look.
#[derive(Default)]
struct ComparisonCount(usize);

impl ComparisonCount {
    /// Looks in time before some more.
    fn more(&mut self, comparisons: usize) -> SqlResult<()> {
        self.0 += comparisons;
        if self.0 > COMPARED_MAX {
            self.0 = 0;
            os::values::look()?;
        }
        Ok(())
    }
}

/// A text in pieces of about so many bytes.
fn pieces(text: &str, bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(bytes));
        rest = behind;
        (!piece.is_empty()).then_some(piece)
    })
}
