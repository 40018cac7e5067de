//! `sp_readerrorlog [@p1 [, @p2 [, @p3 [, @p4]]]]`, `xp_readerrorlog` with seven arguments, and
//! `sp_cycle_errorlog`: the error log as rows.
//!
//! The file is read in pieces, so a long log costs no memory. Only in descending order (seventh
//! argument) rows are kept, up to [`KEPT_BYTES_MAX`]. A line without a time stamp belongs to the
//! entry of the line before and has its date. The search looks only at the text and ignores case.
//! There is no agent, so its log (type 2) does not exist.
//!
//! 22004 is as xp_readerrorlog reports it; that it can be caught is a guess.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, SqlResult, messages};
use os::disk::File;
use std::sync::Arc;
use types::datetime::{Dialect, Moment, parse_date};
use types::{SqlType, Value, convert};

/// The bytes of the file that are read at a time; a longer line is cut.
const PIECE_BYTES: usize = 64 << 10;
/// The most bytes of rows in descending order.
const KEPT_BYTES_MAX: usize = 32 << 20;
/// `2026-11-24 14:00:00.00`; older logs have five more digits.
const STAMP_BYTES_MIN: usize = 22;
const STAMP_BYTES_MAX: usize = 27;
/// The width of the source field, which follows the stamp and a blank.
const SOURCE_BYTES: usize = 11;

pub(crate) fn sp(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    at_most(call, "sp_readerrorlog", 4)?;
    for named in call.arguments.iter().filter_map(|a| a.name.as_deref()) {
        if !["", "@p1", "@p2", "@p3", "@p4"].contains(&&*named.to_lowercase()) {
            let facts: [&dyn std::fmt::Display; 2] = [&named, &"sp_readerrorlog"];
            return Err(SqlError::new(messages::NOT_A_PARAMETER, &facts).into());
        }
    }
    let asked = LogRequest {
        number: call.whole_number("@p1", 0)?.unwrap_or(0),
        agent: asks_agent(call, "@p2")?,
        sought: sought([call.text("@p3", 2), call.text("@p4", 3)]),
        span: (None, None),
        descending: false,
    };
    read(session, &asked, out)
}

pub(crate) fn xp(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    at_most(call, "xp_readerrorlog", 7)?;
    if let Some(named) = call.arguments.iter().find_map(|a| a.name.as_deref()) {
        return Err(Failure::unsupported(&format!("xp_readerrorlog {named}")));
    }
    let order = call.text("", 6).unwrap_or_default().trim().to_lowercase();
    if !["", "asc", "desc"].contains(&order.as_str()) {
        return Err(Failure::unsupported(&format!("xp_readerrorlog in order {order}")));
    }
    let asked = LogRequest {
        number: call.whole_number("", 0)?.unwrap_or(0),
        agent: asks_agent(call, "")?,
        sought: sought([call.text("", 2), call.text("", 3)]),
        span: (moment(call, 4)?, moment(call, 5)?),
        descending: order == "desc",
    };
    read(session, &asked, out)
}

pub(crate) fn cycle(
    session: &mut Session,
    call: &mut Call,
    _: &mut Output<'_>,
) -> Result<i32, Failure> {
    if !call.arguments.is_empty() {
        let name = &"sp_cycle_errorlog";
        return Err(SqlError::new(messages::NO_PARAMETERS_EXPECTED, &[name]).into());
    }
    session.host.cycle_error_log()?;
    Ok(0)
}

/// The arguments of a call.
struct LogRequest {
    number: i64,
    agent: bool,
    /// Texts that a row must contain, in lower case.
    sought: Vec<String>,
    span: (Option<Moment>, Option<Moment>),
    descending: bool,
}

fn sought(texts: [Option<String>; 2]) -> Vec<String> {
    let given = texts.into_iter().flatten().filter(|t| !t.is_empty());
    given.map(|t| t.to_lowercase()).collect()
}

/// Whether the call asks for the agent's log; another type is an error.
fn asks_agent(call: &Call, name: &str) -> Result<bool, Failure> {
    match call.whole_number(name, 1)? {
        None | Some(1) => Ok(false),
        Some(2) => Ok(true),
        Some(other) => Err(Failure::unsupported(&format!("xp_readerrorlog of kind {other}"))),
    }
}

fn at_most(call: &Call, procedure: &str, most: usize) -> Result<(), Failure> {
    match call.arguments.len() > most {
        true => Err(SqlError::new(messages::TOO_MANY_PROC_ARGUMENTS, &[&procedure]).into()),
        false => Ok(()),
    }
}

fn moment(call: &Call, position: usize) -> SqlResult<Option<Moment>> {
    let Some(given) = call.get("", position) else { return Ok(None) };
    Ok(Moment::of(&convert(&given.value, given.sql_type, SqlType::DateTime, 0)?))
}

fn read(session: &mut Session, asked: &LogRequest, out: &mut Output<'_>) -> Result<i32, Failure> {
    let missing = |code: i32, why: &str| SqlError::new(messages::ERROR_LOG, &[&code, &why]);
    let no_file = || missing(2, "The system cannot find the file specified.");
    let wanted = u32::try_from(asked.number).ok().filter(|_| !asked.agent).ok_or_else(no_file)?;
    let (file, end) = match session.host.error_log(wanted) {
        Ok(Some(log)) => log,
        Ok(None) => return Err(no_file().into()),
        Err(e) => return Err(missing(e.raw_os_error().unwrap_or(0), &e.to_string()).into()),
    };
    let columns = [
        ("LogDate".to_owned(), SqlType::DateTime, true),
        ("ProcessInfo".to_owned(), SqlType::nvarchar(50), true),
        ("Text".to_owned(), SqlType::NVARCHAR_MAX, true),
    ];
    session.send_columns(&columns, out)?;
    let (mut count, mut kept, mut kept_bytes) = (0, Vec::new(), 0);
    let mut lines = Lines { file, at: 0, end, piece: Vec::new(), read: 0 };
    let mut before = Row::default();
    while let Some(line) = lines.next().map_err(|e| missing(0, &e.to_string()))? {
        session.work.owner().waiter().check().map_err(SqlError::from)?;
        before = Row::of(&line, before);
        if !before.is_asked(asked) {
            continue;
        }
        count += 1;
        if !asked.descending {
            out.row(&before.values())?;
            continue;
        }
        kept_bytes += before.text.len() + size_of::<Row>();
        if kept_bytes > KEPT_BYTES_MAX {
            return Err(SqlError::new(messages::OUT_OF_MEMORY, &[&"default"]).into());
        }
        kept.push(before.clone());
    }
    kept.iter().rev().try_for_each(|row| out.row(&row.values()))?;
    session.end_rows(count, out, DoneScope::InProcedure);
    Ok(0)
}

/// A line of the log.
#[derive(Clone, Default)]
struct Row {
    at: Option<Moment>,
    source: String,
    text: String,
}

impl Row {
    /// Parses a line. A line without a stamp continues the row before.
    fn of(line: &str, before: Row) -> Row {
        let dated = line.as_bytes().get(4) == Some(&b'-');
        let end = line.match_indices(' ').nth(1).map(|(i, _)| i);
        let end = end.filter(|i| dated && (STAMP_BYTES_MIN..=STAMP_BYTES_MAX).contains(i));
        let date = |end| parse_date(&line[..end], SqlType::DateTime2(7), 0, Dialect::default());
        let Some((at, end)) = end.and_then(|end| date(end).map(|at| (at, end))) else {
            return Row { text: line.to_owned(), ..before };
        };
        let rest = &line[end + 1..];
        // A source that is longer than its field ends at the next blank.
        let field = rest.char_indices().nth(SOURCE_BYTES).map_or(rest.len(), |(i, _)| i);
        let cut = rest[field..].find(' ').map_or(rest.len(), |i| field + i);
        let (source, text) = rest.split_at(cut);
        Row {
            at: Some(at),
            source: source.trim_end().to_owned(),
            text: text.strip_prefix(' ').unwrap_or(text).to_owned(),
        }
    }

    fn is_asked(&self, asked: &LogRequest) -> bool {
        let (from, to) = asked.span;
        let at = self.at.map(Moment::total);
        let late = from.is_none_or(|from| at.is_some_and(|at| at >= from.total()));
        let early = to.is_none_or(|to| at.is_some_and(|at| at <= to.total()));
        let text = || self.text.to_lowercase();
        late && early
            && (asked.sought.is_empty() || {
                let text = text();
                asked.sought.iter().all(|sought| text.contains(sought))
            })
    }

    fn values(&self) -> [Value; 3] {
        let at = self.at.and_then(|at| at.to_value(SqlType::DateTime));
        let source = if self.at.is_some() { Value::nvarchar(&self.source) } else { Value::Null };
        [at.unwrap_or(Value::Null), source, Value::nvarchar(&self.text)]
    }
}

/// The lines of a file, up to the end that it had when it was opened.
struct Lines {
    file: Arc<dyn File>,
    at: u64,
    end: u64,
    piece: Vec<u8>,
    /// The bytes of the piece that were returned.
    read: usize,
}

impl Lines {
    fn next(&mut self) -> std::io::Result<Option<String>> {
        loop {
            let left = &self.piece[self.read..];
            if let Some(n) = left.iter().position(|&b| b == b'\n') {
                let line = text_of(&left[..n]);
                self.read += n + 1;
                return Ok(Some(line));
            }
            let over = self.at == self.end || left.len() >= PIECE_BYTES;
            if over && !left.is_empty() {
                let line = text_of(left);
                self.read = self.piece.len();
                return Ok(Some(line));
            }
            if self.at == self.end {
                return Ok(None);
            }
            self.piece.drain(..self.read);
            self.read = 0;
            let (from, n) = (self.piece.len(), (self.end - self.at).min(PIECE_BYTES as u64));
            self.piece.resize(from + n as usize, 0);
            self.file.read_at(&mut self.piece[from..], self.at)?;
            self.at += n;
        }
    }
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\r').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_row_whatever_it_holds() {
        let first = Row::of("2026-11-24 14:00:00.05 Server      It starts.", Row::default());
        assert_eq!((first.source.as_str(), first.text.as_str()), ("Server", "It starts."));
        assert!(first.at.is_some());
        let next = Row::of("  and goes on", first.clone());
        assert_eq!((next.source.as_str(), next.text.as_str()), ("Server", "  and goes on"));
        assert_eq!(next.at.map(Moment::total), first.at.map(Moment::total));
        let old = Row::of("2026-11-24 14:00:00.0500000 Server      It starts.", Row::default());
        assert_eq!((old.source.as_str(), old.text.as_str()), ("Server", "It starts."));
        let long = Row::of("2026-11-24 14:00:00.05 spid1234567890 said", first);
        assert_eq!((long.source.as_str(), long.text.as_str()), ("spid1234567890", "said"));
        for odd in [
            "",
            "2026-11-24 14:00:00.05",
            "2026-11-24 14:00:00.05 ",
            "    -      ",
            "\u{fffd}\u{fffd}",
            "9",
        ] {
            let row = Row::of(odd, Row::default());
            assert!(row.values().len() == 3, "{odd}");
        }
    }
}
