//! The real server on the loopback, with an engine behind it that says back what it was told.
//!
//! What is fuzzed is everything between the socket and the engine: packets, pre-login, login,
//! requests, and the way back. The engine answers with the values it was given, so that whatever
//! can be decoded is also encoded.

use base::{SessionId, SqlError, SqlResult, messages};
use os::wait::Waiter;
use server::{Certificate, Engine, Options, Place, Server, Strictness};
use session::{
    Command, Completion, Connection, DoneScope, EnvironmentChange, Login, Parameter, Request,
    ResultColumn, ResultSink, TransactionRequest,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicI16, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tds::PacketAssembler;
use types::{Collation, SqlType, Value};

/// Longer than any answer takes: a server that is silent so long hangs.
const SILENCE_MAX: Duration = Duration::from_secs(60);

struct Echo {
    next: AtomicI16,
}

struct EchoSession {
    id: SessionId,
    waiter: Arc<Waiter>,
    open: bool,
}

impl Engine for Echo {
    fn authenticate(&self, _user: &str, _password: &str) -> SqlResult<()> {
        Ok(())
    }

    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>> {
        if login.database.starts_with('!') {
            return Err(SqlError::new(messages::CANNOT_OPEN_DATABASE, &[&login.database]));
        }
        let id = SessionId(51 + self.next.fetch_add(1, Relaxed) % 1000);
        Ok(Box::new(EchoSession { id, waiter: Arc::default(), open: false }))
    }

    fn server_name(&self) -> &str {
        "ECHO"
    }

    fn log(&self, line: &str) {
        assert!(!line.contains("panicked"), "{line}");
    }
}

fn column(sql_type: SqlType) -> ResultColumn {
    let (name, collation) = ("c".to_owned(), Collation::default());
    let nullable = true;
    let (identity, computed, untyped) = (false, false, false);
    ResultColumn { name, sql_type, collation, nullable, identity, computed, untyped }
}

impl EchoSession {
    fn done(&self, scope: DoneScope, rows: Option<u64>, more: bool) -> Completion {
        let command = Command::Select;
        Completion { scope, command, rows, more, error: false, in_transaction: self.open }
    }

    fn batch(&mut self, text: &str, sink: &mut dyn ResultSink) {
        if text.starts_with('!') {
            sink.message(&SqlError::new(messages::INTERNAL, &[&text]));
        } else {
            let columns = [column(SqlType::NVARCHAR_MAX), column(SqlType::Int)];
            let rows = [
                [Value::nvarchar(text), Value::Int(text.len() as i32)],
                [Value::Null, Value::Null],
            ];
            if sink.columns(&columns).is_ok() {
                let _ = rows.iter().try_for_each(|row| sink.row(row));
            }
        }
        sink.done(self.done(DoneScope::Statement, Some(2), false));
    }

    fn call(&mut self, parameters: &[Parameter], more: bool, sink: &mut dyn ResultSink) {
        let columns: Vec<ResultColumn> = parameters.iter().map(|p| column(p.sql_type)).collect();
        let row: Vec<Value> = parameters.iter().map(|p| p.value.clone()).collect();
        if !columns.is_empty() && columns.len() <= 1024 && sink.columns(&columns).is_ok() {
            let _ = sink.row(&row);
            let _ = sink.row(&vec![Value::Null; row.len()]);
        }
        sink.done(self.done(DoneScope::InProcedure, Some(1), true));
        sink.return_status(parameters.len() as i32);
        for p in parameters.iter().filter(|p| p.output) {
            sink.return_value(&p.name, p.sql_type, &p.value);
        }
        sink.done(self.done(DoneScope::Procedure, None, more));
    }

    fn transaction(&mut self, asked: &TransactionRequest, sink: &mut dyn ResultSink) {
        let next = match asked {
            TransactionRequest::Begin { .. } => true,
            TransactionRequest::Commit { next, .. } => {
                sink.environment(&EnvironmentChange::Commit(7));
                next.is_some()
            }
            TransactionRequest::Rollback { next, .. } => {
                sink.environment(&EnvironmentChange::Rollback(7));
                next.is_some()
            }
            TransactionRequest::Save { .. } => self.open,
        };
        if next && !self.open {
            sink.environment(&EnvironmentChange::Begin(7));
        }
        self.open = next;
        sink.done(self.done(DoneScope::Statement, None, false));
    }
}

impl Connection for EchoSession {
    fn session_id(&self) -> SessionId {
        self.id
    }

    fn run(&mut self, request: Request, sink: &mut dyn ResultSink) -> bool {
        match request {
            Request::Batch(text) => self.batch(&text, sink),
            Request::Call { parameters, more, .. } => self.call(&parameters, more, sink),
            Request::Transaction(asked) => self.transaction(&asked, sink),
        }
        true
    }

    fn load(&mut self, rows: &mut dyn session::BulkRows, sink: &mut dyn ResultSink) -> bool {
        let mut row = vec![types::Value::Null; rows.columns().len()];
        loop {
            match rows.next(&mut row) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(e) => {
                    sink.message(&e);
                    return true;
                }
            }
        }
    }

    fn reset(&mut self, keep_transaction: bool, sink: &mut dyn ResultSink) {
        self.open &= keep_transaction;
        sink.environment(&EnvironmentChange::ResetDone);
    }

    fn waiter(&self) -> Arc<Waiter> {
        Arc::clone(&self.waiter)
    }

    fn greet(&mut self, sink: &mut dyn ResultSink) {
        let (new, old) = ("master".to_owned(), "master".to_owned());
        sink.environment(&EnvironmentChange::Database { new, old });
        sink.environment(&EnvironmentChange::Collation(Collation::default().tds_bytes()));
    }
}

/// A server on the loopback before an engine.
pub(crate) struct EngineServer(Server);

impl EngineServer {
    /// Starts one that offers encryption.
    pub(crate) fn start(engine: Arc<dyn Engine>) -> EngineServer {
        EngineServer(start(Strictness::Offered, engine))
    }
}

fn echo(encryption: Strictness) -> Server {
    start(encryption, Arc::new(Echo { next: AtomicI16::new(0) }))
}

fn start(encryption: Strictness, engine: Arc<dyn Engine>) -> Server {
    let pem = Certificate::self_signed_pem(&["localhost".to_owned()]).expect("a certificate");
    let certificate = Certificate::from_pem(pem.as_bytes()).expect("its own PEM");
    let options =
        Options { encryption, workers_max: 4, request_bytes_max: 1 << 20, ..Options::default() };
    let place = Place::take(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    Server::start(engine, place, options, certificate).expect("a listener")
}

/// The server that offers encryption, or the one that forces it.
fn server(forced: bool) -> &'static Server {
    static OFFERED: OnceLock<Server> = OnceLock::new();
    static FORCED: OnceLock<Server> = OnceLock::new();
    match forced {
        false => OFFERED.get_or_init(|| echo(Strictness::Offered)),
        true => FORCED.get_or_init(|| echo(Strictness::Forced)),
    }
}

/// Sends bytes on a connection of its own, then nothing more; all that comes back.
///
/// # Panics
/// When the server neither answers nor closes for long.
pub(crate) fn converse(forced: bool, bytes: &[u8]) -> Vec<u8> {
    let mut socket = connect(server(forced).address());
    socket.set_read_timeout(Some(SILENCE_MAX)).expect("a time above zero");
    // A server that has closed already is right to: what it said before is still read.
    let _ = socket.write_all(bytes);
    let _ = socket.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    if let Err(e) = socket.read_to_end(&mut answer) {
        let silent = matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
        assert!(!silent, "the server hangs after {bytes:?}");
    }
    answer
}

/// A connection that waits for each answer.
pub(crate) struct Conversation {
    socket: TcpStream,
    packets: PacketAssembler,
}

impl Conversation {
    pub(crate) fn with(engine: &EngineServer) -> Conversation {
        let socket = connect(engine.0.address());
        socket.set_read_timeout(Some(SILENCE_MAX)).expect("a time above zero");
        Conversation { socket, packets: PacketAssembler::new(usize::MAX) }
    }

    /// Sends a message; the payload of its answer, or nothing where the server has closed.
    ///
    /// # Panics
    /// When the server neither answers nor closes for long.
    pub(crate) fn ask(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        // A server that has closed already is right to: that is seen below.
        let _ = self.socket.write_all(bytes);
        let mut buffer = [0; 4096];
        loop {
            let next = self.packets.next_message().expect("the server's packets are sound");
            if let Some(message) = next {
                return Some(message.payload);
            }
            match self.socket.read(&mut buffer) {
                Ok(0) => return None,
                Ok(n) => self.packets.feed(&buffer[..n]),
                // libFuzzer's alarm: a read with a time limit is not begun again by the system.
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    let silent = matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                    assert!(!silent, "the server hangs after {bytes:?}");
                    return None;
                }
            }
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    for _ in 0..600 {
        match TcpStream::connect(address) {
            Ok(socket) => return socket,
            // All of our own ports are still in TIME_WAIT.
            Err(e) if e.kind() == ErrorKind::AddrNotAvailable => {
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(e) => panic!("the server does not accept: {e}"),
        }
    }
    panic!("no port is free for a minute");
}
