//! A connection's task: reads messages, passes requests to workers, handles attentions.

use crate::account::{Account, WholeRequest};
use crate::entrance::Place;
use crate::link::{Channel, Leftover, Link, Speech};
use crate::listener::House;
use crate::login::admit;
use crate::request::{self, Outcome, Terms};
use crate::response::{last_errors, last_words};
use crate::wire::{ReadOutcome, Wire};
use base::SqlError;
use os::wait::CancelReason;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tds::{DoneKind, DoneStatus, DoneToken, PacketAssembler, PacketStatus, PacketType};
use tokio::net::TcpStream;

/// Requests that may wait for the one that runs. As long as there are fewer, the socket is read:
/// an attention or the client's end is noticed.
const QUEUED_MAX: usize = 2;
/// How long a client may take to read the last words.
const FAREWELL: Duration = Duration::from_secs(2);
/// The same when the server stops and many are to be told.
const FAREWELL_AT_STOP: Duration = Duration::from_millis(100);

/// A connection from accept to close.
pub(crate) async fn serve(
    house: Arc<House>,
    (socket, from): (TcpStream, SocketAddr),
    at_door: Place,
) {
    let link = Arc::new(Link::new(Wire::new(socket, from)));
    let place = house.enlist(&link);
    // Boxed: what a login needs is given back before the connection is idle for a day.
    let admitted = Box::pin(admit(&house, &link, at_door)).await;
    if let Some(channel) = admitted {
        Attendant::new(&house, &link, channel).attend().await;
    }
    // Boxed for the same reason.
    let patience = if house.is_stopping() { FAREWELL_AT_STOP } else { FAREWELL };
    // A client that does not read its last words in time does without them.
    let _ = Box::pin(tokio::time::timeout(patience, farewell(&link.wire))).await;
    house.strike(place);
}

/// Lets the client read what is left; a socket closed with unread input would take it back.
async fn farewell(wire: &Wire) -> io::Result<()> {
    while wire.unsent() > 0 {
        wire.ready(false).await?;
        wire.push()?;
    }
    wire.close_sending()?;
    while !wire.discard() {
        wire.ready(true).await?;
    }
    Ok(())
}

/// The state of a connection between two events.
struct Attendant<'a> {
    house: &'a Arc<House>,
    link: &'a Arc<Link>,
    speech: Speech,
    /// The session, unless a worker has it, or has left it in the link.
    channel: Option<Box<Channel>>,
    input: PacketAssembler,
    /// Requests that came while another runs.
    next: VecDeque<WholeRequest>,
    account: Account,
    /// The message that is coming goes to the worker, or is forgotten when that wants no more.
    streams: bool,
    /// Reads of a long message since others were let in between.
    in_a_row: u32,
}

/// Reads of a message that is long; then others are read.
const READS_IN_A_ROW: u32 = 8;

impl<'a> Attendant<'a> {
    fn new(house: &'a Arc<House>, link: &'a Arc<Link>, channel: Box<Channel>) -> Attendant<'a> {
        Attendant {
            house,
            link,
            speech: channel.speech,
            channel: Some(channel),
            input: PacketAssembler::new(house.options.request_bytes_max),
            next: VecDeque::new(),
            account: Account::new(house.lender.clone()),
            streams: false,
            in_a_row: 0,
        }
    }

    async fn attend(mut self) {
        let why = self.converse().await;
        if let Err(e) = why
            && e.kind() != io::ErrorKind::UnexpectedEof
        {
            self.house.log(self.link, &format!("session {}: {e}", self.speech.spid));
        }
        self.link.cancel(CancelReason::Kill);
        while self.channel.is_none() {
            match self.link.take_back() {
                Leftover::Channel(channel) => self.channel = Some(channel),
                Leftover::Over => return,
                Leftover::Nothing if self.link.awaits_back() => self.link.wire.woken().await,
                Leftover::Nothing => {}
            }
        }
        if let Some(channel) = self.channel.take() {
            let house = Arc::clone(self.house);
            self.house.workers.submit(move || request::end(house.engine.as_ref(), channel));
        }
    }

    /// Until the connection ends. An error is the client's end or fault.
    async fn converse(&mut self) -> io::Result<()> {
        loop {
            match self.link.take_back() {
                Leftover::Channel(channel) => {
                    debug_assert!(self.channel.is_none(), "a session is at one place");
                    self.channel = Some(channel);
                }
                Leftover::Over => return Ok(()),
                Leftover::Nothing => {}
            }
            if self.is_to_end() {
                return Ok(());
            }
            self.take_messages()?;
            if self.has_something() && !self.link.awaits_back() {
                continue;
            }
            self.drop_buffers();
            let behind = self.streams && self.link.inflow.is_full();
            let reads = self.next.len() < QUEUED_MAX && !behind;
            self.link.wire.ready(reads).await?;
            if self.link.wire.push()? {
                self.link.signal();
            }
            if reads && self.link.wire.receive(&mut self.input)? == ReadOutcome::End {
                return Ok(());
            }
            self.let_others_be_read().await;
        }
    }

    /// In the midst of a long message: whoever sends as fast as it is read would be read alone, and
    /// all sockets are read by one thread.
    async fn let_others_be_read(&mut self) {
        let midway = self.input.partial_kind().is_some();
        self.in_a_row = if midway { self.in_a_row + 1 } else { 0 };
        if self.in_a_row >= READS_IN_A_ROW {
            self.in_a_row = 0;
            tokio::task::yield_now().await;
        }
    }

    /// There is something for the session, which a worker has.
    fn has_something(&self) -> bool {
        let loads = self.input.partial_kind() == Some(PacketType::BulkLoad);
        self.channel.is_none() && (self.streams || loads || !self.next.is_empty())
    }

    /// An idle connection holds no buffers, and nobody tells when it becomes idle.
    fn drop_buffers(&mut self) {
        if !self.input.is_midway() {
            self.input = PacketAssembler::new(self.house.options.request_bytes_max);
        }
    }

    /// The server stops, or an idle session was killed.
    fn is_to_end(&self) -> bool {
        self.channel.as_deref().is_some_and(|c| self.link.is_ended() || c.is_killed())
    }

    /// Takes up all messages that have come whole.
    fn take_messages(&mut self) -> io::Result<()> {
        loop {
            if let Some(channel) = self.channel.take() {
                match self.next.pop_front() {
                    Some(asked) => self.take_up(channel, asked)?,
                    None => self.channel = Some(channel),
                }
            }
            if self.channel.is_some() && !self.next.is_empty() {
                continue;
            }
            if self.next.len() >= QUEUED_MAX {
                return Ok(());
            }
            match self.input.next_message() {
                Ok(Some(message)) if message.kind == PacketType::Attention => {
                    // It is for all that was asked before it.
                    let waited = !self.next.is_empty();
                    self.next.clear();
                    self.streams = false;
                    self.account.give_up();
                    self.link.attention(self.speech, waited)?;
                }
                Ok(Some(message)) if self.streams => {
                    self.streams = false;
                    self.link.inflow.push(&message.payload);
                    self.link.inflow.finish(message.status.has(PacketStatus::IGNORE));
                    self.link.signal();
                }
                Ok(Some(message)) => self.next.push_back(self.account.close(message)),
                Ok(None) => {
                    self.take_part();
                    return Ok(());
                }
                Err(e) => return self.lost(e),
            }
        }
    }

    /// Takes what has come of a message that is not here whole: a bulk load is run while it comes.
    fn take_part(&mut self) {
        let loads = self.input.partial_kind() == Some(PacketType::BulkLoad);
        let begins = loads && !self.streams && self.next.is_empty();
        match self.channel.take_if(|_| begins) {
            Some(channel) => {
                let Some(message) = self.input.take_partial() else { return };
                self.streams = true;
                self.link.inflow.begin();
                let asked = self.account.begin(message);
                self.dispatch(channel, asked);
            }
            None if self.streams => {
                if let Some(part) = self.input.take_partial().filter(|p| !p.payload.is_empty()) {
                    self.link.inflow.push(&part.payload);
                    self.link.signal();
                }
            }
            None => self.account.watch(&mut self.input),
        }
    }

    fn take_up(&mut self, channel: Box<Channel>, asked: WholeRequest) -> io::Result<()> {
        if asked.message.status.has(PacketStatus::IGNORE) {
            // Given up half sent: not run, but answered.
            self.channel = Some(channel);
            let done = DoneToken::new(DoneKind::Done, DoneStatus::ERROR);
            return self.link.wire.send(&last_words(self.speech, done)).map(|_| ());
        }
        self.dispatch(channel, asked);
        Ok(())
    }

    fn dispatch(&self, channel: Box<Channel>, asked: WholeRequest) {
        channel.waiter.reset_unless_killed();
        self.link.begin(&channel.waiter);
        if self.link.is_ended() {
            self.link.cancel(CancelReason::Shutdown);
        }
        let (house, link) = (Arc::clone(self.house), Arc::clone(self.link));
        self.house.workers.submit_request(move || {
            let terms = Terms {
                output_bytes_max: house.options.output_bytes_max,
                request_bytes_max: house.options.request_bytes_max,
                account: Account::new(house.lender.clone()),
            };
            let engine = Arc::clone(&house.engine);
            match request::answer(engine.as_ref(), &link, channel, asked, terms) {
                Outcome::Answered(given_back) => {
                    link.give_back(given_back);
                    None
                }
                Outcome::Owes(owed, unanswered) => Some(owed.when_durable(move || {
                    link.give_back(unanswered.answer(engine.as_ref(), &link));
                })),
            }
        });
    }

    /// The stream has lost its framing: says so and ends the connection.
    fn lost(&mut self, e: tds::TdsError) -> io::Result<()> {
        let told = format!("{e}");
        if self.channel.is_some() {
            let error = SqlError::from(e);
            let name = self.house.engine.server_name();
            self.link.wire.send(&last_errors(self.speech, &[error], name))?;
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, told))
    }
}
