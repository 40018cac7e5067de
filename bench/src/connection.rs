//! `Connection`: a session in an engine's own protocol, over TCP, so that one compiled client
//! drives Ghostlight and its peers alike: statements one after the other, or one prepared INSERT
//! again and again without a wait between asking and looking for the answer.

use crate::figure::Outcome;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::BorrowedFd;
use types::Value;

/// A session. It ends when it is dropped; what it has not committed is rolled back.
pub(crate) trait Connection {
    /// Runs a statement to its end: the first column of its rows, where that is a whole number.
    fn run(&mut self, sql: &str) -> Outcome<Vec<i64>>;

    /// Prepares what [`Connection::ask`] executes.
    fn prepare(&mut self, insert: &Insert) -> Outcome<()>;

    /// Asks for a row: a value for each column. What comes back is [`Connection::answered`].
    fn ask(&mut self, row: &[Value]) -> Outcome<()>;

    /// Reads once; true when the answer is whole, the error where it is one.
    fn answered(&mut self) -> Outcome<bool>;

    /// What to wait for.
    fn socket(&self) -> BorrowedFd<'_>;
}

/// An INSERT of one row.
pub(crate) struct Insert {
    pub(crate) table: &'static str,
    /// Names and types; a type is told to who wants to hear it.
    pub(crate) columns: &'static [(&'static str, &'static str)],
}

impl Insert {
    /// The statement, its parameters spelled by `spell` from 1.
    pub(crate) fn text(&self, spell: impl Fn(usize) -> String) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        let values: Vec<String> = (1..=names.len()).map(spell).collect();
        format!("insert into {} ({}) values ({})", self.table, names.join(", "), values.join(", "))
    }
}

/// Connects to a port of this machine.
pub(crate) fn dial(port: u16) -> Outcome<TcpStream> {
    let socket = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .map_err(|e| format!("connect: {e}"))?;
    socket.set_nodelay(true).map_err(|e| format!("connect: {e}"))?;
    Ok(socket)
}

/// Bytes that have come and are not read yet.
#[derive(Default)]
pub(crate) struct ReceivedBytes {
    bytes: Vec<u8>,
    read: usize,
}

impl ReceivedBytes {
    /// Reads once from the socket, waiting if nothing is there.
    pub(crate) fn receive(&mut self, socket: &mut TcpStream) -> Outcome<()> {
        self.bytes.drain(..self.read);
        self.read = 0;
        let mut buffer = [0; 16 * 1024];
        match socket.read(&mut buffer).map_err(|e| format!("receive: {e}"))? {
            0 => Err("the connection has ended".to_owned()),
            n => {
                self.bytes.extend_from_slice(&buffer[..n]);
                Ok(())
            }
        }
    }

    /// The next message, once all of it is there: a header of `header` bytes that tells how many
    /// more follow it.
    pub(crate) fn message(
        &mut self,
        header: usize,
        more: impl Fn(&[u8]) -> usize,
    ) -> Option<(Vec<u8>, Vec<u8>)> {
        let left = &self.bytes[self.read..];
        let (head, rest) = left.split_at_checked(header)?;
        let body = rest.get(..more(head))?;
        let message = (head.to_vec(), body.to_vec());
        self.read += header + message.1.len();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message is given once it is whole, and once.
    #[test]
    fn messages_are_whole() {
        let mut arrived = ReceivedBytes { bytes: vec![2, 7], read: 0 };
        let next = |arrived: &mut ReceivedBytes| arrived.message(1, |head| usize::from(head[0]));
        assert_eq!(next(&mut arrived), None);
        arrived.bytes.extend([8, 1, 9]);
        assert_eq!(next(&mut arrived), Some((vec![2], vec![7, 8])));
        assert_eq!(next(&mut arrived), Some((vec![1], vec![9])));
        assert_eq!(next(&mut arrived), None);
    }

    /// Parameters stand in the order of the columns.
    #[test]
    fn an_insert_spells_its_parameters() {
        let insert = Insert { table: "t", columns: &[("a", "int"), ("b", "int")] };
        assert_eq!(insert.text(|n| format!("${n}")), "insert into t (a, b) values ($1, $2)");
    }
}
