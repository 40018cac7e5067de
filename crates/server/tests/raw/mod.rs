//! A client of bare packets: it can be as rude as a test wants.

#![allow(dead_code, missing_docs, clippy::unwrap_used, reason = "each test uses a part of it")]

use crate::fake::{Fake, Lie, PASSWORD, USER};
use os::memory::Memory;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};
use server::{Certificate, Options, Place, Server};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tds::{
    DoneStatus, Encryption, Headers, Login7, PacketAssembler, PacketStatus, PacketType, Prelogin,
    ProductVersion, Protection, ResponseReader, RpcCall, Token, frame,
};

/// A server on the loopback with the fake engine behind it.
pub(crate) struct House {
    pub(crate) server: Server,
    pub(crate) engine: Arc<Fake>,
}

fn certificate() -> Certificate {
    static PEM: OnceLock<String> = OnceLock::new();
    let pem = PEM.get_or_init(|| Certificate::self_signed_pem(&["localhost".to_owned()]).unwrap());
    Certificate::from_pem(pem.as_bytes()).unwrap()
}

pub(crate) fn house_with(change: impl FnOnce(&mut Options)) -> House {
    house_of(None, change)
}

/// With an account for long requests.
pub(crate) fn house_of(memory: Option<Arc<Memory>>, change: impl FnOnce(&mut Options)) -> House {
    let mut options = Options { workers_max: 16, ..Options::default() };
    change(&mut options);
    let engine = Fake::new(PASSWORD, Lie::None, false);
    *engine.memory.lock() = memory;
    let place = Place::take(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let server = Server::start(Arc::clone(&engine) as _, place, options, certificate()).unwrap();
    House { server, engine }
}

pub(crate) fn house() -> House {
    house_with(|_| {})
}

#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        rustls::crypto::ring::default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

fn tls(alpn: bool) -> ClientConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    if alpn {
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
    }
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}

/// The client.
pub(crate) struct RawClient {
    pub(crate) socket: TcpStream,
    pub(crate) tls: Option<ClientConnection>,
    pub(crate) input: PacketAssembler,
    pub(crate) tokens: ResponseReader,
    pub(crate) packet_bytes: u16,
}

impl RawClient {
    pub(crate) fn open(house: &House) -> RawClient {
        RawClient::open_at(house.server.address())
    }

    pub(crate) fn open_at(address: SocketAddr) -> RawClient {
        RawClient::of(TcpStream::connect(address).unwrap())
    }

    /// From one of this machine's addresses.
    pub(crate) fn open_from(house: &House, from: [u8; 4]) -> RawClient {
        use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
        let own = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        bind(&own, &SocketAddr::from((from, 0))).unwrap();
        connect(&own, &house.server.address()).unwrap();
        RawClient::of(TcpStream::from(own))
    }

    fn of(socket: TcpStream) -> RawClient {
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        RawClient {
            socket,
            tls: None,
            input: PacketAssembler::new(usize::MAX),
            tokens: ResponseReader::new(),
            packet_bytes: 4096,
        }
    }

    /// Logged in, with encryption as asked.
    pub(crate) fn logged_in(house: &House, wish: Encryption) -> RawClient {
        let mut raw = RawClient::open(house);
        raw.greet(wish).unwrap();
        let tokens = raw.login(&login7()).unwrap();
        assert!(tokens.iter().any(|t| matches!(t, Token::LoginAck(_))), "{tokens:?}");
        raw
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.tls {
            None => self.socket.write_all(bytes),
            Some(tls) => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let n = tls.writer().write(rest)?;
                    rest = &rest[n..];
                    while tls.wants_write() {
                        tls.write_tls(&mut self.socket)?;
                    }
                }
                Ok(())
            }
        }
    }

    pub(crate) fn send(&mut self, kind: PacketType, payload: Vec<u8>) -> io::Result<()> {
        self.send_with(kind, PacketStatus::default(), payload)
    }

    pub(crate) fn send_with(
        &mut self,
        kind: PacketType,
        status: PacketStatus,
        payload: Vec<u8>,
    ) -> io::Result<()> {
        let mut packets = Vec::new();
        frame(kind, status, self.packet_bytes, payload, &mut packets);
        self.send_bytes(&packets)
    }

    /// Reads once; an error at the end of the stream.
    pub(crate) fn receive(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        let n = self.socket.read(&mut buffer)?;
        if n == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(tls) = &mut self.tls else {
            self.input.feed(&buffer[..n]);
            return Ok(());
        };
        let mut cipher = &buffer[..n];
        while !cipher.is_empty() {
            tls.read_tls(&mut cipher)?;
            tls.process_new_packets().map_err(io::Error::other)?;
            let mut plain = [0; 4096];
            while let Ok(n) = tls.reader().read(&mut plain) {
                if n == 0 {
                    break;
                }
                self.input.feed(&plain[..n]);
            }
        }
        Ok(())
    }

    /// PRELOGIN and the TLS it leads to; the server's answer.
    pub(crate) fn greet(&mut self, wish: Encryption) -> io::Result<Encryption> {
        let asked = Prelogin {
            version: Some(ProductVersion::SERVER),
            encryption: Some(wish),
            ..Prelogin::default()
        };
        let answer = self.ask_prelogin(&asked)?.encryption.unwrap();
        if wish.outcome(answer) != Protection::None {
            self.wrapped_handshake()?;
        }
        Ok(answer)
    }

    /// The server's PRELOGIN.
    pub(crate) fn ask_prelogin(&mut self, asked: &Prelogin) -> io::Result<Prelogin> {
        let mut payload = Vec::new();
        asked.encode(&mut payload);
        self.send(PacketType::Prelogin, payload)?;
        let answer = self.message()?;
        Prelogin::decode(&answer.payload).map_err(io::Error::other)
    }

    fn wrapped_handshake(&mut self) -> io::Result<()> {
        let mut tls = tls(false);
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
                Some((_, body)) => {
                    let mut body = body;
                    while !body.is_empty() {
                        tls.read_tls(&mut body)?;
                        tls.process_new_packets().map_err(io::Error::other)?;
                    }
                }
                None => self.receive()?,
            }
        }
        assert_eq!(tls.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_2));
        assert!(self.input.take_rest().is_empty());
        self.tls = Some(tls);
        Ok(())
    }

    /// TLS first, as TDS 8 wants it.
    pub(crate) fn strict(&mut self) -> io::Result<()> {
        let mut tls = tls(true);
        while tls.is_handshaking() {
            tls.complete_io(&mut self.socket)?;
        }
        assert_eq!(tls.alpn_protocol(), Some(&b"tds/8.0"[..]));
        self.tls = Some(tls);
        let asked = Prelogin {
            version: Some(ProductVersion::SERVER),
            encryption: Some(Encryption::NotSupported),
            ..Prelogin::default()
        };
        let mut payload = Vec::new();
        asked.encode(&mut payload);
        self.send(PacketType::Prelogin, payload)?;
        self.message().map(|_| ())
    }

    pub(crate) fn message(&mut self) -> io::Result<tds::Message> {
        loop {
            if let Some(m) = self.input.next_message().map_err(io::Error::other)? {
                return Ok(m);
            }
            self.receive()?;
        }
    }

    pub(crate) fn login(&mut self, login: &Login7) -> io::Result<Vec<Token>> {
        self.login_after(login, None)
    }

    /// Logs in; `ends_tls` when only the login was to be encrypted.
    pub(crate) fn login_after(
        &mut self,
        login: &Login7,
        protection: Option<Protection>,
    ) -> io::Result<Vec<Token>> {
        let mut payload = Vec::new();
        login.encode(&mut payload);
        self.send(PacketType::Login, payload)?;
        if protection == Some(Protection::LoginOnly) {
            self.tls = None;
        }
        self.response()
    }

    /// The tokens of one whole message.
    pub(crate) fn response(&mut self) -> io::Result<Vec<Token>> {
        let message = self.message()?;
        assert_eq!(message.kind, PacketType::Response);
        self.tokens.feed(&message.payload);
        let mut tokens = Vec::new();
        while let Some(token) = self.tokens.next_token().map_err(io::Error::other)? {
            tokens.push(token);
        }
        assert!(self.tokens.is_empty(), "a response ends between tokens");
        Ok(tokens)
    }

    pub(crate) fn send_batch(&mut self, text: &str) -> io::Result<()> {
        let mut payload = Vec::new();
        tds::encode_batch(&Headers::new(0), text, &mut payload);
        self.send(PacketType::Batch, payload)
    }

    pub(crate) fn batch(&mut self, text: &str) -> io::Result<Vec<Token>> {
        self.send_batch(text)?;
        self.response()
    }

    pub(crate) fn call(&mut self, calls: &[RpcCall]) -> io::Result<Vec<Token>> {
        let mut payload = Vec::new();
        tds::encode_rpc(&Headers::new(0), calls, &mut payload).unwrap();
        self.send(PacketType::Rpc, payload)?;
        self.response()
    }

    pub(crate) fn attention(&mut self) -> io::Result<()> {
        self.send(PacketType::Attention, Vec::new())
    }

    /// Reads messages until the attention is acknowledged: how many came, the last one included.
    pub(crate) fn acknowledged(&mut self) -> io::Result<usize> {
        for n in 1..4 {
            let tokens = self.response()?;
            if statuses(&tokens).iter().any(|s| s.has(DoneStatus::ATTENTION)) {
                assert_eq!(tokens.len(), 1, "{tokens:?}");
                return Ok(n);
            }
        }
        Err(io::Error::other("no acknowledgement"))
    }

    /// Whether the server has closed the connection.
    pub(crate) fn is_closed(&mut self) -> bool {
        while self.receive().is_ok() {}
        true
    }
}

pub(crate) fn login7() -> Login7 {
    Login7 {
        tds_version: 0x7400_0004,
        user_name: USER.to_owned(),
        password: PASSWORD.to_owned(),
        app_name: "test".to_owned(),
        ..Login7::default()
    }
}

pub(crate) fn statuses(tokens: &[Token]) -> Vec<DoneStatus> {
    let done = |t: &Token| if let Token::Done(d) = t { Some(d.status) } else { None };
    tokens.iter().filter_map(done).collect()
}

pub(crate) fn errors(tokens: &[Token]) -> Vec<i32> {
    let number = |t: &Token| if let Token::Error(n) = t { Some(n.number) } else { None };
    tokens.iter().filter_map(number).collect()
}

pub(crate) fn rows(tokens: &[Token]) -> Vec<Vec<types::Value>> {
    let row = |t: &Token| if let Token::Row(r) = t { Some(r.clone()) } else { None };
    tokens.iter().filter_map(row).collect()
}
