//! MariaDB's protocol as far as [`Connection`] needs it: a login without a password, queries whose
//! rows are text, and a statement prepared once whose parameters are binary.

use crate::connection::{Connection, Insert, ReceivedBytes, dial};
use crate::figure::Outcome;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::fd::{AsFd as _, BorrowedFd};
use types::Value;

/// LONG_PASSWORD, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, PLUGIN_AUTH.
const CAPABILITIES: u32 = 0x1 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x8_0000;
const PACKET_MAX: u32 = 1 << 24;
const LATIN1: u8 = 8;
const PLUGIN: &str = "mysql_native_password";
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
/// First bytes of answers.
const OK: u8 = 0x00;
const END: u8 = 0xFE;
const ERROR: u8 = 0xFF;
/// An end is shorter than any row that could begin like one.
const END_BYTES_MAX: usize = 8;
/// Types of parameters.
const TINY: u8 = 1;
const DATE: u8 = 10;
const VAR_STRING: u8 = 253;

/// A session.
pub(crate) struct MariaDbSession {
    socket: TcpStream,
    arrived: ReceivedBytes,
    /// Of what is prepared.
    statement: [u8; 4],
}

impl MariaDbSession {
    pub(crate) fn login(port: u16, user: &str, database: &str) -> Outcome<MariaDbSession> {
        let (socket, arrived) = (dial(port)?, ReceivedBytes::default());
        let mut session = MariaDbSession { socket, arrived, statement: [0; 4] };
        checked(session.packet()?)?;
        let mut body = CAPABILITIES.to_le_bytes().to_vec();
        body.extend_from_slice(&PACKET_MAX.to_le_bytes());
        body.push(LATIN1);
        body.extend_from_slice(&[0; 23]);
        // Behind the user's name: a password of no bytes.
        body.extend_from_slice(&[user.as_bytes(), b"\0\0", database.as_bytes(), b"\0"].concat());
        body.extend_from_slice(&[PLUGIN.as_bytes(), b"\0"].concat());
        session.send(1, &body)?;
        match checked(session.packet()?)?.first() {
            Some(&OK) => Ok(session),
            _ => Err("the login asks for more than a name".to_owned()),
        }
    }

    fn send(&mut self, number: u8, body: &[u8]) -> Outcome<()> {
        let mut packet = (body.len() as u32).to_le_bytes();
        packet[3] = number;
        let packet = [&packet, body].concat();
        self.socket.write_all(&packet).map_err(|e| format!("send: {e}"))
    }

    fn packet(&mut self) -> Outcome<Vec<u8>> {
        loop {
            if let Some((_, body)) = self.arrived.message(4, following) {
                return Ok(body);
            }
            self.arrived.receive(&mut self.socket)?;
        }
    }

    /// Packets up to the end of them.
    fn packets(&mut self) -> Outcome<Vec<Vec<u8>>> {
        let mut packets = Vec::new();
        loop {
            let packet = checked(self.packet()?)?;
            if packet.first() == Some(&END) && packet.len() <= END_BYTES_MAX {
                return Ok(packets);
            }
            packets.push(packet);
        }
    }

    fn query(&mut self, sql: &str) -> Outcome<Vec<i64>> {
        self.send(0, &[&[QUERY], sql.as_bytes()].concat())?;
        if checked(self.packet()?)?.first() == Some(&OK) {
            return Ok(Vec::new());
        }
        self.packets()?;
        Ok(self.packets()?.iter().filter_map(|row| first_number(row)).collect())
    }
}

impl Connection for MariaDbSession {
    fn run(&mut self, sql: &str) -> Outcome<Vec<i64>> {
        self.query(sql).map_err(|e| format!("{sql}: {e}"))
    }

    fn prepare(&mut self, insert: &Insert) -> Outcome<()> {
        let text = insert.text(|_| "?".to_owned());
        self.send(0, &[&[PREPARE], text.as_bytes()].concat())?;
        let answer = checked(self.packet()?).map_err(|e| format!("{text}: {e}"))?;
        let number = answer.get(1..5).and_then(|bytes| bytes.try_into().ok());
        self.statement = number.ok_or("a prepared statement without a number")?;
        // What is told of the parameters.
        self.packets().map(drop)
    }

    fn ask(&mut self, row: &[Value]) -> Outcome<()> {
        // No cursor, once.
        let mut body = [&[EXECUTE], &self.statement[..], &[0, 1, 0, 0, 0]].concat();
        body.resize(body.len() + row.len().div_ceil(8), 0);
        body.push(1);
        let mut values = Vec::new();
        for value in row {
            body.extend_from_slice(&[binary(value, &mut values)?, 0]);
        }
        body.extend_from_slice(&values);
        self.send(0, &body)
    }

    fn answered(&mut self) -> Outcome<bool> {
        self.arrived.receive(&mut self.socket)?;
        match self.arrived.message(4, following) {
            Some((_, body)) => checked(body).map(|_| true),
            None => Ok(false),
        }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Bytes behind a packet's length and number.
fn following(head: &[u8]) -> usize {
    u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize
}

/// The packet, unless it is an error: number, `#`, five letters of state, message.
fn checked(packet: Vec<u8>) -> Outcome<Vec<u8>> {
    match packet.first() {
        Some(&ERROR) => Err(String::from_utf8_lossy(packet.get(9..).unwrap_or(&[])).into_owned()),
        _ => Ok(packet),
    }
}

/// The first column of a row: a byte of length and text.
fn first_number(row: &[u8]) -> Option<i64> {
    let (&bytes, rest) = row.split_first()?;
    std::str::from_utf8(rest.get(..usize::from(bytes))?).ok()?.parse().ok()
}

/// Writes a value; its type.
fn binary(value: &Value, out: &mut Vec<u8>) -> Outcome<u8> {
    match value {
        Value::Bit(flag) => {
            out.push(u8::from(*flag));
            Ok(TINY)
        }
        Value::Date(_) => {
            let text = value.to_string();
            let parts: Vec<u16> = text.split('-').filter_map(|part| part.parse().ok()).collect();
            let [year, month, day] = parts[..] else { return Err(format!("the date {text}")) };
            let [low, high] = year.to_le_bytes();
            out.extend_from_slice(&[4, low, high, month as u8, day as u8]);
            Ok(DATE)
        }
        Value::Char(text) if text.len() < 251 => {
            out.push(text.len() as u8);
            out.extend_from_slice(text);
            Ok(VAR_STRING)
        }
        other => Err(format!("{other} has no form here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets as MariaDB documents them.
    #[test]
    fn packets_are_read_and_written() {
        assert_eq!(following(&[1, 2, 0, 0]), 513);
        assert_eq!(first_number(b"\x0242"), Some(42));
        assert_eq!(first_number(&[0xFB]), None);
        assert_eq!(checked(b"\xFF\x7A\x04#42S02no table".to_vec()), Err("no table".to_owned()));
        let mut out = Vec::new();
        assert_eq!(binary(&Value::Date(730_119), &mut out), Ok(DATE));
        assert_eq!(out, [4, 0xD0, 0x07, 1, 1]);
    }
}
