//! JSON_MODIFY: the text as it was, with one span of it replaced.

use super::path::{Path, Step};
use super::reader::{Kind, Reader, Span};
use base::{SqlError, SqlResult, messages};
use std::ops::Range;

/// What a path leads to, seen from the container around it.
struct Place {
    /// The value.
    value: Span,
    /// From its name to its end; of an element its value.
    item: Range<usize>,
    /// The comma before it.
    before: Option<usize>,
}

/// Where a container ends.
struct End {
    close: usize,
    empty: bool,
}

/// The text with `new` (JSON; None: NULL) at the path.
///
/// # Errors
/// 13609 for a text that is no JSON; for a strict path 13608 and 13621; 13619.
pub(super) fn modify(text: &[u16], path: &Path, new: Option<&[u16]>) -> SqlResult<Vec<u16>> {
    const NULL: [u16; 4] = [0x6E, 0x75, 0x6C, 0x6C];
    let mut whole = Reader::new(text);
    if !matches!(whole.peek(), b'{' | b'[') {
        return Err(whole.unexpected(whole.at));
    }
    let root = whole.whole()?;
    let written = new.unwrap_or(&NULL);
    let Some((last, parents)) = path.steps.split_last() else {
        if !path.append {
            let error = SqlError::new(messages::JSON_PATH_UNSUPPORTED, &[&2]);
            return Err(error);
        }
        return append(text, path, &root, written);
    };
    let mut reader = Reader::new(text);
    if !reader.seek(parents)? {
        return unchanged(text, path);
    }
    match (last, reader.peek()) {
        (Step::Member(_), b'{') | (Step::Element(_), b'[') => {}
        _ => return unchanged(text, path),
    }
    match (place(&mut reader, last)?, last) {
        (Ok(found), _) if path.append => append(text, path, &found.value, written),
        (Ok(found), Step::Member(_)) if new.is_none() && !path.strict => Ok(without(text, found)),
        (Ok(found), _) => Ok(replaced(text, found.value.at, &[written])),
        (Err(end), Step::Member(name)) if !path.strict && (new.is_some() || path.append) => {
            let (quote, array) = (&[0x22][..], path.append);
            let comma: &[u16] = if end.empty { &[] } else { &[0x2C] };
            let (open, close): (&[u16], &[u16]) =
                if array { (&[0x5B], &[0x5D]) } else { (&[], &[]) };
            let parts = [comma, quote, name, quote, &[0x3A], open, written, close];
            Ok(replaced(text, end.close..end.close, &parts))
        }
        (Err(_), _) => unchanged(text, path),
    }
}

/// The item of a step in the container that the reader stands at, or the container's end.
fn place(reader: &mut Reader<'_>, step: &Step) -> SqlResult<Result<Place, End>> {
    let mut items = reader.enter()?;
    let (mut n, mut before) = (0, None);
    loop {
        reader.peek();
        let here = reader.at;
        let Some(name) = reader.item(&mut items)? else {
            return Ok(Err(End { close: here, empty: n == 0 }));
        };
        if n > 0 {
            before = Some(here);
        }
        let hit = reader.is(step, name.clone(), n);
        let value = reader.value()?;
        if hit {
            let start = if name.start == 0 { value.at.start } else { name.start - 1 };
            let item = start..value.at.end;
            return Ok(Ok(Place { value, item, before }));
        }
        n += 1;
    }
}

fn unchanged(text: &[u16], path: &Path) -> SqlResult<Vec<u16>> {
    match path.strict {
        true => Err(SqlError::new(messages::JSON_PROPERTY_MISSING, &[]).with_state(2)),
        false => Ok(text.to_vec()),
    }
}

fn append(text: &[u16], path: &Path, array: &Span, written: &[u16]) -> SqlResult<Vec<u16>> {
    if array.kind != Kind::Array {
        return match path.strict {
            true => Err(SqlError::new(messages::JSON_ARRAY_MISSING, &[])),
            false => Ok(text.to_vec()),
        };
    }
    let close = array.at.end - 1;
    let inner = &text[array.at.start + 1..close];
    let empty = inner.iter().all(|u| matches!(u, 9 | 10 | 13 | 32));
    let comma: &[u16] = if empty { &[] } else { &[0x2C] };
    Ok(replaced(text, close..close, &[comma, written]))
}

/// Without a member and the comma before it; of the first member the comma behind it.
fn without(text: &[u16], found: Place) -> Vec<u16> {
    if let Some(comma) = found.before {
        return replaced(text, comma..found.item.end, &[]);
    }
    let behind = text[found.item.end..].iter().position(|u| !matches!(u, 9 | 10 | 13 | 32));
    let end = match behind.map(|n| found.item.end + n) {
        Some(at) if text.get(at) == Some(&0x2C) => at + 1,
        _ => found.item.end,
    };
    replaced(text, found.item.start..end, &[])
}

fn replaced(text: &[u16], span: Range<usize>, parts: &[&[u16]]) -> Vec<u16> {
    let added: usize = parts.iter().map(|p| p.len()).sum();
    let mut out = Vec::with_capacity(text.len() + added);
    out.extend_from_slice(&text[..span.start]);
    parts.iter().for_each(|p| out.extend_from_slice(p));
    out.extend_from_slice(&text[span.end..]);
    out
}
