//! String functions that answer numbers: lengths, positions, codes.

use crate::call::{Call, strict_functions};
use crate::chars::Chars;
use crate::like::LikePattern;
use base::SqlResult;
use types::{Family, SqlType, Value, storage_bytes, text};

strict_functions! {
    /// Functions that answer numbers about text.
    "ASCII", 1, 1, |_| Ok(SqlType::Int), ascii;
    "UNICODE", 1, 1, |_| Ok(SqlType::Int), unicode;
    "CHARINDEX", 2, 3, |t| Ok(position_type(t[1])), char_index;
    "PATINDEX", 2, 2, |t| Ok(position_type(t[1])), pat_index;
    "LEN", 1, 1, |t| Ok(position_type(t[0])), len;
    "DATALENGTH", 1, 1, |t| Ok(position_type(t[0])), data_length;
    "SOUNDEX", 1, 1, |_| Ok(SqlType::varchar(5)), soundex;
    "DIFFERENCE", 2, 2, |_| Ok(SqlType::Int), difference;
}

fn position_type(t: SqlType) -> SqlType {
    if t.is_max() && !t.is_text_image() { SqlType::BigInt } else { SqlType::Int }
}

/// A position in the function's type.
fn number(n: usize, t: SqlType) -> Value {
    if t == SqlType::BigInt { Value::BigInt(n as i64) } else { Value::Int(n as i32) }
}

fn ascii(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::in_encoding(call, args, 0, false)?;
    Ok(s.bytes().first().map(|&b| b as i32).into())
}

fn unicode(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let s = Chars::in_encoding(call, args, 0, true)?;
    let mut units = text::units(s.bytes());
    let (first, second) = (units.next(), units.next());
    let pair = first.zip(second).filter(|_| call.collation.has_supplementary());
    let whole = pair.and_then(|(a, b)| char::decode_utf16([a, b]).next()?.ok());
    Ok(match whole {
        Some(c) => Value::Int(c as i32),
        None => first.map(i32::from).into(),
    })
}

fn char_index(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let wide = call.arg_types[..2].iter().any(|t| t.family() == Family::NChar);
    let needle = Chars::in_encoding(call, args, 0, wide)?;
    let s = Chars::in_encoding(call, args, 1, wide)?;
    let from = match args.get(2) {
        Some(_) => usize::try_from(call.int(args, 2)?.max(1) - 1).unwrap_or(usize::MAX),
        None => 0,
    };
    let hit = if needle.len() == 0 { None } else { s.find(&needle, from, call.collation)? };
    Ok(number(hit.map_or(0, |i| i + 1), call.result))
}

fn pat_index(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let wide = call.arg_types.iter().any(|t| t.family() == Family::NChar);
    let as_value = |c: Chars| c.into_value(SqlType::VARCHAR_MAX);
    let pattern = as_value(Chars::in_encoding(call, args, 0, wide)?);
    let s = as_value(Chars::in_encoding(call, args, 1, wide)?);
    let pattern = LikePattern::compile(&pattern, None, call.collation);
    Ok(number(pattern.find(&s)?.map_or(0, |i| i + 1), call.result))
}

fn len(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    if let Value::Binary(b) = &args[0] {
        return Ok(number(b.len(), call.result));
    }
    Ok(number(Chars::of(call, args, 0)?.trimmed_len(), call.result))
}

fn data_length(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    Ok(number(storage_bytes(&args[0], call.arg_types[0]), call.result))
}

fn soundex(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    Ok(Value::varchar(&soundex_text(&call.string(args, 0)?)))
}

/// A letter and three digits. H and W do not separate equal codes, vowels do.
fn soundex_text(s: &str) -> String {
    let code = |c: char| match c.to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => Some('1'),
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => Some('2'),
        'D' | 'T' => Some('3'),
        'L' => Some('4'),
        'M' | 'N' => Some('5'),
        'R' => Some('6'),
        _ => None,
    };
    let mut letters = s.chars().take_while(char::is_ascii_alphabetic);
    let Some(first) = letters.next() else { return "0000".to_owned() };
    let mut out = first.to_ascii_uppercase().to_string();
    let mut last = code(first);
    for c in letters {
        let this = code(c);
        if let Some(digit) = this.filter(|_| this != last) {
            out.push(digit);
        }
        if !matches!(c.to_ascii_uppercase(), 'H' | 'W') {
            last = this;
        }
        if out.len() == 4 {
            break;
        }
    }
    format!("{out:0<4}")
}

fn difference(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let a = soundex_text(&call.string(args, 0)?);
    let b = soundex_text(&call.string(args, 1)?);
    Ok(Value::Int(a.chars().zip(b.chars()).filter(|(x, y)| x == y).count() as i32))
}
