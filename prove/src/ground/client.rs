//! A TDS client of bare packets, encrypted or not: what a proof drives a server with. It can read
//! nothing for as long as a proof wants, and send an attention at any moment.

use crate::ground::tls;
use checks::Outcome;
use rustls::ClientConnection;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tds::{
    DoneStatus, Encryption, Headers, Login7, Message, PacketAssembler, PacketStatus, PacketType,
    ProcId, Procedure, ProductVersion, Protection, ResponseReader, RpcCall, RpcOptions,
    RpcParameter, Token, encode_rpc, frame,
};
use types::{SqlType, Value};

const PACKET_BYTES: u16 = 4096;
const SILENCE_SECONDS_MAX: u64 = 60;
/// The token DONE, and how long it is.
const DONE: u8 = 0xFD;
const DONE_BYTES: usize = 13;

/// A session.
pub struct Client {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
    input: PacketAssembler,
    tokens: ResponseReader,
}

/// What a batch answered.
#[derive(Default)]
pub struct Answer {
    /// The values of every row, whole numbers only.
    pub(crate) rows: Vec<Vec<i64>>,
    /// The values of every row as text.
    pub(crate) texts: Vec<Vec<String>>,
    pub(crate) messages: Vec<String>,
    pub(crate) errors: Vec<String>,
    /// The values of output parameters, whole numbers only.
    pub(crate) outputs: Vec<i64>,
}

/// A batch that must not fail.
///
/// # Errors
/// It fails, or the connection does.
pub fn asked(client: &mut Client, text: &str) -> Outcome<Answer> {
    let answer = client.batch(text).map_err(|e| format!("{text}: {e}"))?;
    match answer.errors.first() {
        Some(error) => Err(format!("{text}: {error}")),
        None => Ok(answer),
    }
}

/// A call that a stop and continuation of the process has ended is made again: who shares the
/// machine may stop others while he measures.
fn unbroken<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

impl Client {
    /// Connects and logs in, without encryption.
    pub(crate) fn login(port: u16, user: &str, password: &str) -> io::Result<Client> {
        Client::login_with(Encryption::NotSupported, port, user, password)
    }

    /// Connects and logs in.
    pub(crate) fn login_with(
        wish: Encryption,
        port: u16,
        user: &str,
        password: &str,
    ) -> io::Result<Client> {
        let mut client = Client::connect(port)?;
        client.greet(wish)?;
        client.identify(user, password)?;
        Ok(client)
    }

    /// The same from another of this machine's addresses.
    pub(crate) fn login_from(
        from: Ipv4Addr,
        port: u16,
        user: &str,
        password: &str,
    ) -> io::Result<Client> {
        let mut client = Client::connect_from(from, port)?;
        client.greet(Encryption::NotSupported)?;
        client.identify(user, password)?;
        Ok(client)
    }

    /// Connects and says nothing yet.
    pub(crate) fn connect(port: u16) -> io::Result<Client> {
        Client::connect_from(Ipv4Addr::LOCALHOST, port)
    }

    fn connect_from(from: Ipv4Addr, port: u16) -> io::Result<Client> {
        use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
        let own = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&own, &SocketAddr::from((from, 0)))?;
        unbroken(|| Ok(connect(&own, &SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?))?;
        let socket = TcpStream::from(own);
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(SILENCE_SECONDS_MAX)))?;
        let input = PacketAssembler::new(usize::MAX);
        Ok(Client { socket, tls: None, input, tokens: ResponseReader::new() })
    }

    /// The errors of the next message, and whether the server has closed behind it.
    pub(crate) fn last_words(&mut self) -> io::Result<(Vec<String>, bool)> {
        let errors = Answer::of(self.response()?).errors;
        let closed = matches!(unbroken(|| self.socket.read(&mut [0; 1])), Ok(0) | Err(_));
        Ok((errors, closed))
    }

    /// Waits so long for an answer instead of a minute.
    pub(crate) fn with_patience(self, at_most: Duration) -> io::Result<Client> {
        self.socket.set_read_timeout(Some(at_most))?;
        Ok(self)
    }

    /// LOGIN7 and its answer.
    fn identify(&mut self, user: &str, password: &str) -> io::Result<()> {
        let login = Login7 {
            tds_version: 0x7400_0004,
            user_name: user.to_owned(),
            password: password.to_owned(),
            app_name: "prove".to_owned(),
            ..Login7::default()
        };
        let mut payload = Vec::new();
        login.encode(&mut payload);
        self.send(PacketType::Login, payload)?;
        let tokens = self.response()?;
        if tokens.iter().any(|token| matches!(token, Token::LoginAck(_))) {
            return Ok(());
        }
        Err(io::Error::other(format!("login refused: {:?}", Answer::of(tokens).errors)))
    }

    fn greet(&mut self, wish: Encryption) -> io::Result<()> {
        let asked = tds::Prelogin {
            version: Some(ProductVersion::SERVER),
            encryption: Some(wish),
            ..tds::Prelogin::default()
        };
        let mut payload = Vec::new();
        asked.encode(&mut payload);
        self.send(PacketType::Prelogin, payload)?;
        let answer = tds::Prelogin::decode(&self.message()?.payload).map_err(io::Error::other)?;
        match answer.encryption.map_or(Protection::None, |theirs| wish.outcome(theirs)) {
            Protection::None if wish == Encryption::NotSupported => Ok(()),
            Protection::Whole if wish == Encryption::On => self.shake_hands(),
            _ => Err(io::Error::other("the server wants another encryption")),
        }
    }

    /// TLS within PRELOGIN packets.
    fn shake_hands(&mut self) -> io::Result<()> {
        let mut tls = Box::new(tls::client()?);
        loop {
            let mut raw = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut raw)?;
            }
            if !raw.is_empty() {
                self.send(PacketType::Prelogin, raw)?;
            }
            if !tls.is_handshaking() {
                break;
            }
            match self.input.next_packet().map_err(io::Error::other)? {
                Some((_, mut body)) => {
                    while !body.is_empty() {
                        tls.read_tls(&mut body)?;
                        tls.process_new_packets().map_err(io::Error::other)?;
                    }
                }
                None => self.receive()?,
            }
        }
        self.tls = Some(tls);
        Ok(())
    }

    /// Runs a batch to its end. An error is of the connection; those of T-SQL are in the answer.
    pub(crate) fn batch(&mut self, text: &str) -> io::Result<Answer> {
        self.send_batch(text)?;
        self.response().map(Answer::of)
    }

    /// The tokens that answer a batch.
    pub(crate) fn tokens(&mut self, text: &str) -> io::Result<Vec<Token>> {
        self.send_batch(text)?;
        self.response()
    }

    /// Asks, and reads nothing.
    pub(crate) fn send_batch(&mut self, text: &str) -> io::Result<()> {
        let mut payload = Vec::new();
        tds::encode_batch(&Headers::new(0), text, &mut payload);
        self.send(PacketType::Batch, payload)
    }

    /// sp_prepexec of a statement of one int, `@p`.
    pub(crate) fn prepare_and_run(&mut self, text: &str, p: i32) -> io::Result<Answer> {
        let nvarchar = |s: &str| {
            let sql_type = SqlType::nvarchar(u16::try_from(s.len()).unwrap_or(u16::MAX).max(1));
            RpcParameter::input("", sql_type, Value::nvarchar(s))
        };
        let handle = RpcParameter::input("", SqlType::Int, Value::Null);
        let handle = RpcParameter { output: true, ..handle };
        let value = RpcParameter::input("@p", SqlType::Int, Value::Int(p));
        let parameters = vec![handle, nvarchar("@p int"), nvarchar(text), value];
        self.call(ProcId::PrepExec, parameters)
    }

    /// sp_execute of it.
    pub(crate) fn run_prepared(&mut self, handle: i32, p: i32) -> io::Result<Answer> {
        let handle = RpcParameter::input("", SqlType::Int, Value::Int(handle));
        let value = RpcParameter::input("@p", SqlType::Int, Value::Int(p));
        self.call(ProcId::Execute, vec![handle, value])
    }

    fn call(&mut self, procedure: ProcId, parameters: Vec<RpcParameter>) -> io::Result<Answer> {
        let procedure = Procedure::Id(procedure);
        let call = RpcCall { procedure, options: RpcOptions::default(), parameters };
        let mut payload = Vec::new();
        encode_rpc(&Headers::new(0), &[call], &mut payload).map_err(io::Error::other)?;
        self.send(PacketType::Rpc, payload)?;
        self.response().map(Answer::of)
    }

    /// Asks the server to end what runs.
    pub(crate) fn attention(&mut self) -> io::Result<()> {
        self.send(PacketType::Attention, Vec::new())
    }

    /// Reads and forgets until the attention is acknowledged: by a message of its own, one DONE.
    /// True when it cut the answer off, which ends with a DONE of an error then.
    pub(crate) fn acknowledged(&mut self) -> io::Result<bool> {
        let (mut first, mut cut_off) = (true, false);
        loop {
            while let Some((header, body)) = self.input.next_packet().map_err(io::Error::other)? {
                let last = header.status.has(PacketStatus::EOM);
                let status = if last { last_status(body) } else { None };
                if first && status.is_some_and(|status| status.has(DoneStatus::ATTENTION)) {
                    self.tokens = ResponseReader::new();
                    return Ok(cut_off);
                }
                cut_off = status.is_some_and(|status| status.has(DoneStatus::ERROR));
                first = last;
            }
            self.receive()?;
        }
    }

    /// Reads an answer to its end, and forgets it.
    pub(crate) fn forget_answer(&mut self) -> io::Result<()> {
        loop {
            while let Some((header, _)) = self.input.next_packet().map_err(io::Error::other)? {
                if header.status.has(PacketStatus::EOM) {
                    return Ok(());
                }
            }
            self.receive()?;
        }
    }

    /// Waits until the first bytes of an answer have come, without taking them.
    pub(crate) fn answer_begins(&self) -> io::Result<()> {
        match unbroken(|| self.socket.peek(&mut [0]))? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// How long the server takes to close a connection that says nothing more.
    pub(crate) fn until_closed(mut self, at_most: Duration) -> io::Result<Duration> {
        let from = Instant::now();
        self.socket.set_read_timeout(Some(at_most))?;
        let mut buffer = [0; 4096];
        loop {
            match unbroken(|| self.socket.read(&mut buffer)) {
                Ok(0) => return Ok(from.elapsed()),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::ConnectionReset => return Ok(from.elapsed()),
                Err(e) => return Err(e),
            }
        }
    }

    /// The same of one that sends a byte every so often.
    pub(crate) fn trickle_until_closed(
        mut self,
        every: Duration,
        at_most: Duration,
    ) -> io::Result<Duration> {
        let from = Instant::now();
        self.socket.set_read_timeout(Some(every))?;
        while from.elapsed() < at_most {
            match unbroken(|| self.socket.read(&mut [0; 64])) {
                Ok(0) => return Ok(from.elapsed()),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) if e.kind() == io::ErrorKind::ConnectionReset => return Ok(from.elapsed()),
                Ok(_) => {}
                Err(e) => return Err(e),
            }
            if self.socket.write_all(&[0]).is_err() {
                return Ok(from.elapsed());
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Sends bytes that are what a proof makes them.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes)
    }

    /// The socket itself, for a proof that ends it rudely.
    pub(crate) fn into_socket(self) -> TcpStream {
        self.socket
    }

    fn send(&mut self, kind: PacketType, payload: Vec<u8>) -> io::Result<()> {
        let mut packets = Vec::new();
        frame(kind, PacketStatus::default(), PACKET_BYTES, payload, &mut packets);
        let Some(tls) = &mut self.tls else { return self.socket.write_all(&packets) };
        let mut rest = packets.as_slice();
        while !rest.is_empty() {
            let taken = tls.writer().write(rest)?;
            rest = &rest[taken..];
            while tls.wants_write() {
                unbroken(|| tls.write_tls(&mut self.socket))?;
            }
        }
        Ok(())
    }

    /// Reads once; an error at the end of the stream.
    fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        let n = unbroken(|| self.socket.read(&mut buffer))?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(tls) = &mut self.tls else {
            self.input.feed(&buffer[..n]);
            return Ok(());
        };
        let mut cipher = &buffer[..n];
        let mut plain = [0; 16 * 1024];
        while !cipher.is_empty() {
            tls.read_tls(&mut cipher)?;
            tls.process_new_packets().map_err(io::Error::other)?;
            loop {
                match tls.reader().read(&mut plain) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(n) => self.input.feed(&plain[..n]),
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(())
    }

    fn message(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = self.input.next_message().map_err(io::Error::other)? {
                return Ok(message);
            }
            self.receive()?;
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
                Token::Row(row) => {
                    answer.rows.push(row.iter().filter_map(whole).collect());
                    answer.texts.push(row.iter().map(Value::to_string).collect());
                }
                Token::ReturnValue(output) => answer.outputs.extend(whole(&output.value)),
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

/// The status of the DONE that ends a message.
fn last_status(body: &[u8]) -> Option<DoneStatus> {
    let done = body.get(body.len().checked_sub(DONE_BYTES)?..)?;
    (done[0] == DONE).then(|| DoneStatus(u16::from_le_bytes([done[1], done[2]])))
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
