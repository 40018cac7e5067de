//! A TDS server that is a script: it obeys a few words of a batch and notes what it saw.
//!
//! `rows N` gives a table, `rows for ever` one that ends by attention, `wait` waits for one,
//! `error S` and `message` say something, `begin` and `commit` change the transaction, `vanish`
//! closes the connection.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod door;

use base::SqlError;
use door::Door;
use os::sync::Mutex;
use os::task::JoinHandle;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use tds::{
    Column, ColumnFlags, DoneKind, DoneStatus, DoneToken, Encryption, EnvChange, Login7, LoginAck,
    PacketType, Prelogin, ProductVersion, Protection, Request, RowEncoder, TdsVersion, command,
    decode_request, encode_columns, encode_notice,
};
use types::{SqlType, Value};

/// How the server protects its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Security {
    Plain,
    Offered,
    Required,
    Strict,
}

/// What is wrong with the server.
#[derive(Clone, Copy, Default)]
pub(crate) struct Answers {
    pub(crate) nonsense: bool,
}

/// What it saw.
#[derive(Clone, Default)]
pub(crate) struct Observations {
    pub(crate) logins: Vec<(String, String)>,
    pub(crate) batches: Vec<String>,
    pub(crate) transactions: Vec<u64>,
    pub(crate) attentions: usize,
    pub(crate) plain_after_login: bool,
}

pub(crate) struct Responder {
    port: u16,
    pem: String,
    seen: Arc<Mutex<Observations>>,
    stopping: Arc<AtomicBool>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Clone)]
struct Script {
    security: Security,
    answers: Answers,
    config: Arc<rustls::ServerConfig>,
    seen: Arc<Mutex<Observations>>,
}

impl Responder {
    pub(crate) fn start(security: Security, answers: Answers) -> Responder {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let pem = made.cert.pem();
        let config = tls_config(made.cert.der().clone(), key, security);
        let seen = Arc::new(Mutex::new(Observations::default()));
        let stopping = Arc::new(AtomicBool::new(false));
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let script = Script { security, answers, config, seen: Arc::clone(&seen) };
        let stop = Arc::clone(&stopping);
        let listener = os::task::spawn("responder", move || listen(&socket, &script, &stop));
        Responder { port, pem, seen, stopping, listener: Some(listener) }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn certificate(&self) -> &str {
        &self.pem
    }

    /// Waits until a batch has come.
    pub(crate) fn await_batch(&self) {
        while self.seen.lock().batches.is_empty() {
            os::task::sleep_ns(1_000_000);
        }
    }

    /// What it saw, all clients being gone.
    pub(crate) fn stop(mut self) -> Observations {
        self.end();
        self.seen.lock().clone()
    }

    fn end(&mut self) {
        if let Some(listener) = self.listener.take() {
            self.stopping.store(true, SeqCst);
            drop(TcpStream::connect(("127.0.0.1", self.port)));
            listener.join().unwrap();
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.end();
        }
    }
}

fn tls_config(
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    security: Security,
) -> Arc<rustls::ServerConfig> {
    let versions: &[&rustls::SupportedProtocolVersion] = match security {
        Security::Strict => &[&rustls::version::TLS13],
        _ => &[&rustls::version::TLS12],
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    if security == Security::Strict {
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
    }
    Arc::new(config)
}

fn listen(socket: &TcpListener, script: &Script, stopping: &AtomicBool) {
    let mut clients = Vec::new();
    for client in socket.incoming() {
        if stopping.load(SeqCst) {
            break;
        }
        let (client, script) = (client.unwrap(), script.clone());
        // A client that goes away in the middle is part of some stories.
        clients.push(os::task::spawn("client", move || drop(script.serve(client))));
    }
    clients.into_iter().for_each(|c| c.join().unwrap());
}

/// The connection is over.
pub(crate) struct Disconnection;
type ServeResult<T> = Result<T, Disconnection>;

impl Script {
    fn serve(&self, client: TcpStream) -> ServeResult<()> {
        let mut door = Door::open(client);
        if self.security == Security::Strict {
            door.encrypt(&self.config)?;
        }
        let asked = door.message()?;
        let wish = Prelogin::decode(&asked.payload).map_err(|_| Disconnection)?;
        let wanted = wish.encryption.unwrap_or(Encryption::NotSupported);
        let answer = match self.security {
            Security::Plain | Security::Strict => Encryption::NotSupported,
            Security::Offered => wanted.answer_offered(),
            Security::Required => wanted.answer_forced(),
        };
        let mut payload = Vec::new();
        wish.answer(ProductVersion::SERVER, answer).encode(&mut payload);
        door.send(PacketType::Response, payload)?;
        let protection = wanted.outcome(answer);
        if protection != Protection::None {
            door.encrypt_within(&self.config)?;
        }
        let message = door.message()?;
        if protection == Protection::LoginOnly {
            door.end_encryption();
        }
        self.log_in(&mut door, &Login7::decode(&message.payload).map_err(|_| Disconnection)?)?;
        while self.request(&mut door)? {}
        Ok(())
    }

    fn log_in(&self, door: &mut Door, login: &Login7) -> ServeResult<()> {
        let mut out = Vec::new();
        let welcome = login.password == "secret";
        let mut seen = self.seen.lock();
        seen.logins.push((login.user_name.clone(), login.password.clone()));
        seen.plain_after_login = !door.is_encrypted();
        drop(seen);
        if !welcome {
            let text = format!("Login failed for user '{}'.", login.user_name);
            encode_notice(&SqlError::raw(18456, 14, 1, text), "RESPONDER", &mut out);
            DoneToken::new(DoneKind::Done, DoneStatus::ERROR).encode(&mut out);
            door.send(PacketType::Response, out)?;
            return Err(Disconnection);
        }
        let text = "Changed database context to 'master'.".to_owned();
        encode_notice(&SqlError::raw(5701, 0, 2, text), "RESPONDER", &mut out);
        let version = TdsVersion::negotiate(login.tds_version).map_err(|_| Disconnection)?;
        LoginAck::new(version, ProductVersion::SERVER).encode(&mut out);
        EnvChange::PacketSize { new: login.packet_size, old: 4096 }.encode(&mut out);
        DoneToken::new(DoneKind::Done, DoneStatus::FINAL).encode(&mut out);
        door.send(PacketType::Response, out)?;
        door.set_packet_size(login.packet_size as u16);
        Ok(())
    }

    fn request(&self, door: &mut Door) -> ServeResult<bool> {
        let message = door.message()?;
        let mut out = Vec::new();
        match decode_request(&message).map_err(|_| Disconnection)? {
            Request::Batch { headers, text } => {
                let mut seen = self.seen.lock();
                seen.batches.push(text.clone());
                seen.transactions.push(headers.transaction);
                drop(seen);
                if self.answers.nonsense {
                    out.extend_from_slice(b"\0nonsense");
                } else {
                    self.batch(&text, door, &mut out)?;
                }
            }
            Request::Attention => {
                self.seen.lock().attentions += 1;
                DoneToken::new(DoneKind::Done, DoneStatus::ATTENTION).encode(&mut out);
            }
            _ => return Err(Disconnection),
        }
        if !out.is_empty() {
            door.send(PacketType::Response, out)?;
        }
        Ok(true)
    }

    fn batch(&self, text: &str, door: &mut Door, out: &mut Vec<u8>) -> ServeResult<()> {
        let mut words = text.split_whitespace();
        let mut status = DoneStatus::FINAL;
        match (words.next().unwrap_or(""), words.next().unwrap_or("")) {
            ("rows", "for") => return self.rows_until_attention(door),
            ("rows", n) => return rows(n.parse().map_err(|_| Disconnection)?, true, out),
            ("wait", _) => return Ok(()),
            ("vanish", _) => return Err(Disconnection),
            ("error", severity) => {
                let severity = severity.parse().map_err(|_| Disconnection)?;
                let e = SqlError::raw(50000, severity, 1, "wrong".to_owned()).at_line(1);
                encode_notice(&e, "RESPONDER", out);
                status = DoneStatus::ERROR;
            }
            ("message", _) => {
                encode_notice(&SqlError::raw(0, 0, 1, "told".to_owned()), "RESPONDER", out);
            }
            ("begin", _) => EnvChange::BeginTransaction(77).encode(out),
            ("commit", _) => EnvChange::CommitTransaction(77).encode(out),
            _ => {}
        }
        DoneToken::new(DoneKind::Done, status).encode(out);
        Ok(())
    }

    fn rows_until_attention(&self, door: &mut Door) -> ServeResult<()> {
        door.begin_stream();
        loop {
            let mut out = Vec::new();
            rows(500, false, &mut out)?;
            door.stream(out)?;
            if door.has_attention()? {
                self.seen.lock().attentions += 1;
                let mut out = Vec::new();
                DoneToken::new(DoneKind::Done, DoneStatus::ATTENTION).encode(&mut out);
                return door.end_stream(out);
            }
        }
    }
}

fn rows(count: i32, ended: bool, out: &mut Vec<u8>) -> ServeResult<()> {
    let columns = [Column::new("n", SqlType::Int, ColumnFlags::NULLABLE)];
    encode_columns(&columns, TdsVersion::V7_4, out);
    let encoder = RowEncoder::new(&columns, TdsVersion::V7_4);
    for n in 0..count {
        encoder.encode(&[Value::Int(n)], out).map_err(|_| Disconnection)?;
    }
    if ended {
        let kind = DoneKind::Done;
        DoneToken::with_count(kind, DoneStatus::FINAL, command::SELECT, count as u64).encode(out);
    }
    Ok(())
}
