//! A TDS client of bare packets, without encryption: what a proof drives a server with.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;
use tds::{
    Encryption, Headers, Login7, Message, PacketAssembler, PacketStatus, PacketType, Prelogin,
    ProductVersion, Protection, ResponseReader, Token, frame,
};
use types::Value;

const PACKET_BYTES: u16 = 4096;
const SILENCE_SECONDS_MAX: u64 = 60;

/// A session.
pub(crate) struct Client {
    socket: TcpStream,
    input: PacketAssembler,
    tokens: ResponseReader,
}

/// What a batch answered.
#[derive(Default)]
pub(crate) struct Answer {
    /// The values of every row, whole numbers only.
    pub(crate) rows: Vec<Vec<i64>>,
    pub(crate) messages: Vec<String>,
    pub(crate) errors: Vec<String>,
}

impl Client {
    /// Connects and logs in.
    pub(crate) fn login(port: u16, user: &str, password: &str) -> io::Result<Client> {
        let socket = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(SILENCE_SECONDS_MAX)))?;
        let input = PacketAssembler::new(usize::MAX);
        let mut client = Client { socket, input, tokens: ResponseReader::new() };
        client.greet()?;
        let login = Login7 {
            tds_version: 0x7400_0004,
            user_name: user.to_owned(),
            password: password.to_owned(),
            app_name: "prove".to_owned(),
            ..Login7::default()
        };
        let mut payload = Vec::new();
        login.encode(&mut payload);
        client.send(PacketType::Login, payload)?;
        let tokens = client.response()?;
        if tokens.iter().any(|token| matches!(token, Token::LoginAck(_))) {
            return Ok(client);
        }
        Err(io::Error::other(format!("login refused: {:?}", Answer::of(tokens).errors)))
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

    /// Runs a batch to its end. An error is of the connection; those of T-SQL are in the answer.
    pub(crate) fn batch(&mut self, text: &str) -> io::Result<Answer> {
        let mut payload = Vec::new();
        tds::encode_batch(&Headers::new(0), text, &mut payload);
        self.send(PacketType::Batch, payload)?;
        self.response().map(Answer::of)
    }

    fn send(&mut self, kind: PacketType, payload: Vec<u8>) -> io::Result<()> {
        let mut packets = Vec::new();
        frame(kind, PacketStatus::default(), PACKET_BYTES, payload, &mut packets);
        self.socket.write_all(&packets)
    }

    fn message(&mut self) -> io::Result<Message> {
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(message) = self.input.next_message().map_err(io::Error::other)? {
                return Ok(message);
            }
            match self.socket.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.input.feed(&buffer[..n]),
            }
        }
    }

    fn response(&mut self) -> io::Result<Vec<Token>> {
        let message = self.message()?;
        self.tokens.feed(&message.payload);
        let mut tokens = Vec::new();
        while let Some(token) = self.tokens.next_token().map_err(io::Error::other)? {
            tokens.push(token);
        }
        Ok(tokens)
    }
}

impl Answer {
    fn of(tokens: Vec<Token>) -> Answer {
        let mut answer = Answer::default();
        for token in tokens {
            match token {
                Token::Row(row) => answer.rows.push(row.iter().filter_map(whole).collect()),
                Token::Info(notice) => answer.messages.push(notice.text),
                Token::Error(notice) => {
                    answer.errors.push(format!("{}: {}", notice.number, notice.text));
                }
                _ => {}
            }
        }
        answer
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::TinyInt(n) => Some(i64::from(*n)),
        Value::SmallInt(n) => Some(i64::from(*n)),
        Value::Int(n) => Some(i64::from(*n)),
        Value::BigInt(n) => Some(*n),
        _ => None,
    }
}
