//! PostgreSQL's protocol, version 3, as far as [`Connection`] needs it: start-up without a
//! password, simple queries, and Parse once, then Bind, Execute and Sync for each row.

use crate::connection::{Connection, Insert, ReceivedBytes, dial};
use crate::figure::Outcome;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::fd::{AsFd as _, BorrowedFd};
use types::Value;

const VERSION: i32 = 3 << 16;
/// Of what is prepared.
const NAME: &[u8] = b"insert\0";
/// Days from 0001-01-01 to 2000-01-01, where PostgreSQL's dates begin.
const EPOCH_DAYS: i32 = 730_119;

/// A session.
pub(crate) struct PostgreSqlSession {
    socket: TcpStream,
    arrived: ReceivedBytes,
    output: Vec<u8>,
    /// The error of an answer that is not whole yet.
    error: Option<String>,
}

impl PostgreSqlSession {
    pub(crate) fn login(port: u16, user: &str, database: &str) -> Outcome<PostgreSqlSession> {
        let (socket, arrived) = (dial(port)?, ReceivedBytes::default());
        let mut session = PostgreSqlSession { socket, arrived, output: Vec::new(), error: None };
        let mut body = VERSION.to_be_bytes().to_vec();
        for text in ["user", user, "database", database, ""] {
            body.extend_from_slice(text.as_bytes());
            body.push(0);
        }
        session.output.extend_from_slice(&length(body.len()));
        session.output.extend_from_slice(&body);
        session.send()?;
        session.finish().map(|_| session)
    }

    fn put(&mut self, kind: u8, body: &[u8]) {
        self.output.push(kind);
        self.output.extend_from_slice(&length(body.len()));
        self.output.extend_from_slice(body);
    }

    fn send(&mut self) -> Outcome<()> {
        let sent = self.socket.write_all(&self.output).map_err(|e| format!("send: {e}"));
        self.output.clear();
        sent
    }

    /// Takes in what there is of an answer; true when ReadyForQuery ends it.
    fn take(&mut self, numbers: &mut Vec<i64>) -> Outcome<bool> {
        while let Some((head, body)) = self.arrived.message(5, following) {
            match head[0] {
                b'D' => numbers.extend(first_number(&body)),
                b'E' => self.error = Some(message(&body)),
                b'Z' => return self.error.take().map_or(Ok(true), Err),
                _ => {}
            }
        }
        Ok(false)
    }

    fn finish(&mut self) -> Outcome<Vec<i64>> {
        let mut numbers = Vec::new();
        while !self.take(&mut numbers)? {
            self.arrived.receive(&mut self.socket)?;
        }
        Ok(numbers)
    }
}

impl Connection for PostgreSqlSession {
    fn run(&mut self, sql: &str) -> Outcome<Vec<i64>> {
        self.put(b'Q', &[sql.as_bytes(), b"\0"].concat());
        self.send()?;
        self.finish().map_err(|e| format!("{sql}: {e}"))
    }

    fn prepare(&mut self, insert: &Insert) -> Outcome<()> {
        let text = insert.text(|n| format!("${n}"));
        // Behind the text: no types, which the server infers.
        self.put(b'P', &[NAME, text.as_bytes(), b"\0", &[0, 0]].concat());
        self.put(b'S', &[]);
        self.send()?;
        self.finish().map(drop).map_err(|e| format!("{text}: {e}"))
    }

    fn ask(&mut self, row: &[Value]) -> Outcome<()> {
        let count = (row.len() as u16).to_be_bytes();
        // One format for all: binary.
        let mut body = [&b"\0"[..], NAME, &[0, 1, 0, 1], &count].concat();
        for value in row {
            let bytes = binary(value)?;
            body.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            body.extend_from_slice(&bytes);
        }
        body.extend_from_slice(&[0, 0]);
        self.put(b'B', &body);
        self.put(b'E', &[0; 5]);
        self.put(b'S', &[]);
        self.send()
    }

    fn answered(&mut self) -> Outcome<bool> {
        self.arrived.receive(&mut self.socket)?;
        self.take(&mut Vec::new())
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The length word of a message, which counts itself.
fn length(body: usize) -> [u8; 4] {
    (body as u32 + 4).to_be_bytes()
}

/// Bytes behind a message's kind and length word.
fn following(head: &[u8]) -> usize {
    let word = [head[1], head[2], head[3], head[4]];
    (u32::from_be_bytes(word) as usize).saturating_sub(4)
}

/// The first column of a row, which comes as text.
fn first_number(row: &[u8]) -> Option<i64> {
    let bytes = i32::from_be_bytes(row.get(2..6)?.try_into().ok()?);
    let text = row.get(6..6 + usize::try_from(bytes).ok()?)?;
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The message of an ErrorResponse, whose fields have a letter and end with a zero.
fn message(fields: &[u8]) -> String {
    let mut fields = fields.split(|byte| *byte == 0);
    let message = fields.find_map(|field| field.strip_prefix(b"M"));
    String::from_utf8_lossy(message.unwrap_or(b"an error without a message")).into_owned()
}

fn binary(value: &Value) -> Outcome<Vec<u8>> {
    match value {
        Value::Bit(flag) => Ok(vec![u8::from(*flag)]),
        Value::Date(days) => Ok((days - EPOCH_DAYS).to_be_bytes().to_vec()),
        Value::Char(text) => Ok(text.to_vec()),
        other => Err(format!("{other} has no form here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages as PostgreSQL documents them.
    #[test]
    fn answers_are_read() {
        assert_eq!(following(&[b'Z', 0, 0, 0, 5]), 1);
        assert_eq!(first_number(&[0, 1, 0, 0, 0, 2, b'4', b'2']), Some(42));
        assert_eq!(first_number(&[0, 1, 255, 255, 255, 255]), None);
        assert_eq!(message(b"SERROR\0C42P01\0Mno table\0\0"), "no table");
        assert_eq!(binary(&Value::Date(EPOCH_DAYS + 1)), Ok(vec![0, 0, 0, 1]));
    }
}
