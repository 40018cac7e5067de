//! `Session`: a TDS session of bare packets, without encryption.

use crate::figure::Outcome;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use tds::{
    Encryption, Headers, Login7, Message, PacketAssembler, PacketStatus, PacketType, Prelogin,
    Procedure, ProductVersion, Protection, ResponseReader, RpcCall, RpcOptions, RpcParameter,
    Token, frame,
};
use types::Value;

const PACKET_BYTES: u16 = 4096;

/// A session.
pub(crate) struct Session {
    pub(crate) socket: TcpStream,
    input: PacketAssembler,
    tokens: ResponseReader,
}

impl Session {
    /// Connects and logs in.
    pub(crate) fn login(port: u16, password: &str, database: &str) -> io::Result<Session> {
        let socket = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        socket.set_nodelay(true)?;
        let input = PacketAssembler::new(usize::MAX);
        let mut session = Session { socket, input, tokens: ResponseReader::new() };
        session.greet()?;
        let login = Login7 {
            tds_version: 0x7400_0004,
            user_name: "sa".to_owned(),
            password: password.to_owned(),
            app_name: "bench".to_owned(),
            database: database.to_owned(),
            ..Login7::default()
        };
        let mut payload = Vec::new();
        login.encode(&mut payload);
        session.send(PacketType::Login, payload)?;
        let tokens = session.response()?;
        match tokens.iter().any(|token| matches!(token, Token::LoginAck(_))) {
            true => Ok(session),
            false => Err(io::Error::other(format!("login refused: {tokens:?}"))),
        }
    }

    fn greet(&mut self) -> io::Result<()> {
        let asked = Prelogin {
            version: Some(ProductVersion::SERVER),
            encryption: Some(Encryption::NotSupported),
            ..Prelogin::default()
        };
        let mut payload = Vec::new();
        asked.encode(&mut payload);
        self.send(PacketType::Prelogin, payload)?;
        let answer = Prelogin::decode(&self.message()?.payload).map_err(io::Error::other)?;
        match answer.encryption.map(|theirs| Encryption::NotSupported.outcome(theirs)) {
            None | Some(Protection::None) => Ok(()),
            Some(_) => Err(io::Error::other("the server demands encryption")),
        }
    }

    /// Runs a batch to its end; its rows of whole numbers, or its first error.
    pub(crate) fn batch(&mut self, text: &str) -> io::Result<Vec<i64>> {
        let mut payload = Vec::new();
        tds::encode_batch(&Headers::new(0), text, &mut payload);
        self.send(PacketType::Batch, payload)?;
        let mut numbers = Vec::new();
        for token in self.response()? {
            match token {
                Token::Row(row) => numbers.extend(row.iter().filter_map(whole)),
                Token::Error(e) => {
                    return Err(io::Error::other(format!("{}: {}", e.number, e.text)));
                }
                _ => {}
            }
        }
        Ok(numbers)
    }

    /// Runs a batch to its end; its rows, or its first error.
    pub(crate) fn rows(&mut self, text: &str) -> io::Result<Vec<Vec<Value>>> {
        let mut payload = Vec::new();
        tds::encode_batch(&Headers::new(0), text, &mut payload);
        self.send(PacketType::Batch, payload)?;
        let tokens = self.response()?;
        first_error(&tokens)?;
        let row = |token| if let Token::Row(row) = token { Some(row) } else { None };
        Ok(tokens.into_iter().filter_map(row).collect())
    }

    /// Sends rows that an INSERT BULK announces; how many were loaded.
    pub(crate) fn bulk(&mut self, statement: &str, rows: Vec<u8>) -> io::Result<u64> {
        self.batch(statement)?;
        self.send(PacketType::BulkLoad, rows)?;
        let tokens = self.response()?;
        first_error(&tokens)?;
        let count = |token: &Token| if let Token::Done(d) = token { Some(d.count) } else { None };
        Ok(tokens.iter().filter_map(count).sum())
    }

    /// Runs a batch to its end and forgets its rows; its first error.
    pub(crate) fn discard(&mut self, text: &str) -> io::Result<()> {
        let mut payload = Vec::new();
        tds::encode_batch(&Headers::new(0), text, &mut payload);
        self.send(PacketType::Batch, payload)?;
        // The last bytes hold the end of the response: a whole message would be all of the rows.
        let (mut buffer, mut header, mut left) = (vec![0; 64 * 1024], Vec::new(), 0_usize);
        let mut last = false;
        loop {
            let n = self.socket.read(&mut buffer)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut bytes = &buffer[..n];
            while !bytes.is_empty() {
                let now = left.min(bytes.len());
                (left, bytes) = (left - now, &bytes[now..]);
                if left > 0 || bytes.is_empty() {
                    break;
                }
                let missing = (8 - header.len()).min(bytes.len());
                header.extend_from_slice(&bytes[..missing]);
                bytes = &bytes[missing..];
                if let [_, status, high, low, ..] = header[..]
                    && header.len() == 8
                {
                    last = status & 1 != 0;
                    left = usize::from(u16::from_be_bytes([high, low])).saturating_sub(8);
                    header.clear();
                }
            }
            if last && left == 0 && header.is_empty() {
                return Ok(());
            }
        }
    }

    /// Calls a procedure; the tokens of its answer, or its first error.
    pub(crate) fn call(
        &mut self,
        procedure: Procedure,
        parameters: Vec<RpcParameter>,
    ) -> Result<Vec<Token>, String> {
        self.ask(procedure, parameters)?;
        let tokens = self.response().map_err(|e| e.to_string())?;
        match tokens.iter().find_map(|t| if let Token::Error(e) = t { Some(e) } else { None }) {
            Some(e) => Err(format!("{}: {}", e.number, e.text)),
            None => Ok(tokens),
        }
    }

    /// The call without the wait for its answer.
    pub(crate) fn ask(
        &mut self,
        procedure: Procedure,
        parameters: Vec<RpcParameter>,
    ) -> Outcome<()> {
        let call = RpcCall { procedure, options: RpcOptions(0), parameters };
        let mut payload = Vec::new();
        tds::encode_rpc(&Headers::new(0), &[call], &mut payload).map_err(|e| e.to_string())?;
        self.send(PacketType::Rpc, payload).map_err(|e| e.to_string())
    }

    fn send(&mut self, kind: PacketType, payload: Vec<u8>) -> io::Result<()> {
        self.socket.write_all(&packets(kind, payload))
    }

    fn message(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = self.arrived()? {
                return Ok(message);
            }
        }
    }

    /// Reads once; the message, if it is complete.
    pub(crate) fn arrived(&mut self) -> io::Result<Option<Message>> {
        if let Some(message) = self.input.next_message().map_err(io::Error::other)? {
            return Ok(Some(message));
        }
        let mut buffer = [0; 16 * 1024];
        match self.socket.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => self.input.feed(&buffer[..n]),
        }
        self.input.next_message().map_err(io::Error::other)
    }

    /// The tokens of a response.
    pub(crate) fn read(&mut self, message: &Message) -> io::Result<Vec<Token>> {
        self.tokens.feed(&message.payload);
        let mut tokens = Vec::new();
        while let Some(token) = self.tokens.next_token().map_err(io::Error::other)? {
            tokens.push(token);
        }
        Ok(tokens)
    }

    fn response(&mut self) -> io::Result<Vec<Token>> {
        let message = self.message()?;
        self.read(&message)
    }
}

/// A message as bytes of the wire.
pub(crate) fn packets(kind: PacketType, payload: Vec<u8>) -> Vec<u8> {
    let mut packets = Vec::new();
    frame(kind, PacketStatus::default(), PACKET_BYTES, payload, &mut packets);
    packets
}

fn first_error(tokens: &[Token]) -> io::Result<()> {
    match tokens.iter().find_map(|t| if let Token::Error(e) = t { Some(e) } else { None }) {
        Some(e) => Err(io::Error::other(format!("{}: {}", e.number, e.text))),
        None => Ok(()),
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(i64::from(*n)),
        Value::BigInt(n) => Some(*n),
        _ => None,
    }
}
