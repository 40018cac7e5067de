//! A response as it grows: what a session produces, as tokens in packets.
//!
//! Invariants
//!  1. A DONE is held back until it is known what follows, so MORE is always right.
//!  2. Tokens are added whole; a response that is cut off ends between tokens.
//!  3. After an attention only changes of the environment are sent: the client discards the rest,
//!     but must know that its transaction is gone.

use crate::link::{Link, Speech};
use base::SqlError;
use os::wait::{CancelReason, WaitKind, Waiter, Wake};
use session::{
    ClosedSink, ColumnOrigin, Command, Completion, DoneScope, EnvironmentChange, Parameter,
    ResultColumn, ResultSink,
};
use std::borrow::Cow;
use tds::{
    Column, ColumnFlags, DoneKind, DoneStatus, EnvChange, Origin, PacketType, PacketWriter,
    ReturnValue, RowEncoder, TdsError, WireCollation, command, encode_columns, encode_no_columns,
    encode_notice, encode_origins, encode_return_status, origin_status,
};
use types::{SqlType, Value};

/// What is collected before it is sent.
const FLUSH_BYTES: usize = 16 * 1024;
/// Errors from here on end the connection: results that came are to be thrown away.
const FATAL: u8 = 20;
/// The columns of COLMETADATA.
const COLUMNS_MAX: usize = 4096;

/// A row was not sent to its end, and has none.
struct UnsentRow;

impl From<TdsError> for UnsentRow {
    fn from(_: TdsError) -> UnsentRow {
        UnsentRow
    }
}

/// The response to one request.
pub(crate) struct Response<'a> {
    link: &'a Link,
    waiter: &'a Waiter,
    server_name: &'a str,
    speech: Speech,
    output_bytes_max: usize,
    writer: PacketWriter,
    packets: Vec<u8>,
    rows: Option<RowEncoder>,
    held: Option<tds::DoneToken>,
    outputs: Outputs,
    /// The client knows the columns of this call's rows.
    bare: bool,
    /// The client is gone.
    closed: bool,
    /// Errors were told since the last DONE.
    failed: bool,
    /// One of them ends the connection.
    fatal: bool,
    /// Nothing is sent before the end.
    holds: bool,
}

/// The rest of a response, all but the word on an attention.
pub(crate) struct Ending {
    speech: Speech,
    writer: PacketWriter,
    packets: Vec<u8>,
    done: tds::DoneToken,
}

impl Ending {
    /// Ends the response and sends the rest of it.
    pub(crate) fn send(mut self, link: &Link) {
        link.finish(|attention| {
            let cut_off = tds::DoneToken::new(DoneKind::Done, DoneStatus::ERROR);
            let done = if attention { cut_off } else { self.done };
            done.encode(self.writer.payload());
            self.writer.finish(&mut self.packets);
            let mut packets = std::mem::take(&mut self.packets);
            if attention {
                let acknowledged = tds::DoneToken::new(DoneKind::Done, DoneStatus::ATTENTION);
                packets.extend(last_words(self.speech, acknowledged));
            }
            packets
        });
    }
}

impl<'a> Response<'a> {
    pub(crate) fn new(
        link: &'a Link,
        waiter: &'a Waiter,
        server_name: &'a str,
        speech: Speech,
        output_bytes_max: usize,
    ) -> Response<'a> {
        Response {
            link,
            waiter,
            server_name,
            speech,
            output_bytes_max,
            writer: PacketWriter::new(PacketType::Response, speech.packet_bytes, speech.spid),
            packets: Vec::new(),
            rows: None,
            held: None,
            outputs: Outputs::default(),
            bare: false,
            closed: false,
            failed: false,
            fatal: false,
            holds: false,
        }
    }

    /// The parameters of the call that comes next: where its output values stand.
    /// `bare`: the client wants no description of columns.
    pub(crate) fn expect_outputs(&mut self, parameters: &[Parameter], bare: bool) {
        self.outputs = Outputs::of(parameters);
        self.bare = bare;
    }

    /// Whether a call after this one would still be of use.
    pub(crate) fn goes_on(&self) -> bool {
        !self.closed && self.waiter.cancellation().is_none()
    }

    /// Tokens that no session yields: those of a login.
    pub(crate) fn append(&mut self, tokens: impl FnOnce(&mut Vec<u8>)) {
        if let Some(out) = self.token() {
            tokens(out);
        }
    }

    /// Ends the response with this DONE.
    pub(crate) fn end_with(mut self, done: tds::DoneToken) {
        self.release_held();
        self.held = Some(done);
        self.finish();
    }

    /// Ends the response and sends the rest of it.
    pub(crate) fn finish(self) {
        let link = self.link;
        self.ending().send(link);
    }

    /// All has been said; it is sent later, perhaps by another thread.
    pub(crate) fn ending(mut self) -> Ending {
        let status = if self.failed { DoneStatus::ERROR } else { DoneStatus::FINAL };
        let fallback = tds::DoneToken::new(DoneKind::Done, status);
        Ending {
            speech: self.speech,
            done: self.held.take().unwrap_or(fallback),
            writer: self.writer,
            packets: self.packets,
        }
    }

    /// Where the next token goes; none when nobody wants it.
    fn token(&mut self) -> Option<&mut Vec<u8>> {
        if self.closed || self.link.has_attention() {
            return None;
        }
        self.release_held();
        Some(self.writer.payload())
    }

    /// Something follows the DONE that was held.
    fn release_held(&mut self) {
        if let Some(mut done) = self.held.take() {
            done.status = done.status.and(DoneStatus::MORE);
            done.encode(self.writer.payload());
        }
    }

    fn flush_if_much(&mut self) -> Result<(), ClosedSink> {
        if self.holds || self.writer.payload().len() < FLUSH_BYTES {
            return Ok(());
        }
        self.writer.flush_full(&mut self.packets);
        let sent = self.link.wire.send(&self.packets);
        self.packets.clear();
        match sent {
            Ok(left) if left < self.output_bytes_max => Ok(()),
            Ok(_) => self.await_room(),
            Err(_) => self.close(),
        }
    }

    /// The client does not read: waits until it does, or the request is to end.
    fn await_room(&mut self) -> Result<(), ClosedSink> {
        while self.link.wire.wants_room(self.output_bytes_max / 2) {
            match self.waiter.wait(WaitKind::AsyncNetworkIo, None) {
                Wake::Signalled | Wake::TimedOut => {}
                Wake::Cancelled(CancelReason::Attention) => return Err(ClosedSink),
                Wake::Cancelled(_) => return self.close(),
            }
        }
        self.waiter.clear_signal();
        Ok(())
    }

    /// A row whose values are sent as they are encoded: what the client does not read of them is
    /// not kept a second time.
    fn long_row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        self.release_held();
        let Some(rows) = self.rows.take() else { return Err(ClosedSink) };
        let sent = rows.encode_long(values, self, |r| r.writer.payload(), Self::send_part);
        self.rows = Some(rows);
        match sent {
            Ok(true) => Ok(()),
            Ok(false) => Err(ClosedSink),
            // A part of the row is out: nothing can follow it.
            Err(UnsentRow) => self.close(),
        }
    }

    /// Sends what is full of a row; whether the client wants the rest of it.
    fn send_part(&mut self) -> Result<bool, UnsentRow> {
        match self.flush_if_much() {
            Ok(()) => Ok(!self.link.has_attention()),
            Err(ClosedSink) if self.closed => Err(UnsentRow),
            Err(ClosedSink) => Ok(false),
        }
    }

    fn close(&mut self) -> Result<(), ClosedSink> {
        self.closed = true;
        Err(ClosedSink)
    }

    fn give_up(&mut self, error: &SqlError) -> Result<(), ClosedSink> {
        self.message(error);
        Err(ClosedSink)
    }
}

impl ResultSink for Response<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        if columns.len() > COLUMNS_MAX {
            let what = "a result of more than 4096 columns";
            return self.give_up(&SqlError::new(base::messages::INTERNAL, &[&what]));
        }
        let (version, bare) = (self.speech.version, self.bare);
        let columns: Vec<Column<'_>> = columns.iter().map(wire_column).collect();
        let Some(out) = self.token() else { return Err(ClosedSink) };
        match bare {
            true => encode_no_columns(out),
            false => encode_columns(&columns, version, out),
        }
        self.rows = Some(RowEncoder::new(&columns, version));
        self.flush_if_much()
    }

    fn origins(&mut self, tables: &[Vec<String>], columns: &[ColumnOrigin]) {
        let columns: Vec<Origin<'_>> = columns.iter().map(wire_origin).collect();
        if !self.bare
            && let Some(out) = self.token()
        {
            encode_origins(tables, &columns, out);
        }
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        if self.closed || self.link.has_attention() {
            return Err(ClosedSink);
        }
        let Some(rows) = &self.rows else {
            let what = "a row without columns";
            return self.give_up(&SqlError::new(base::messages::INTERNAL, &[&what]));
        };
        if rows.is_long(values) {
            return self.long_row(values);
        }
        // What is encoded of one is there twice.
        let documents = values.iter().filter(|v| matches!(v, Value::Xml(_)));
        if let Err(e) = os::values::room(documents.map(|v| 4 * v.heap_bytes()).sum()) {
            return self.give_up(&e);
        }
        if let Err(e) = rows.encode(values, self.writer.payload()) {
            return self.give_up(&e.into());
        }
        self.flush_if_much()
    }

    fn message(&mut self, message: &SqlError) {
        let server_name = self.server_name;
        self.failed |= message.severity() > 10;
        self.fatal |= message.severity() >= FATAL;
        if let Some(out) = self.token() {
            encode_notice(message, server_name, out);
            // A client that is gone is found out at the next row or at the end.
            let _ = self.flush_if_much();
        }
    }

    fn done(&mut self, done: Completion) {
        self.rows = None;
        self.failed = false;
        let fatal = std::mem::take(&mut self.fatal);
        if self.token().is_some() {
            let mut held = wire_done(done);
            if fatal {
                held.status = held.status.and(DoneStatus::SERVER_ERROR);
            }
            self.held = Some(held);
            if done.more {
                self.release_held();
                let _ = self.flush_if_much();
            }
        }
    }

    fn return_status(&mut self, status: i32) {
        if let Some(out) = self.token() {
            encode_return_status(status, out);
        }
    }

    fn return_value(&mut self, name: &str, sql_type: SqlType, value: &Value) {
        let (ordinal, name) = self.outputs.place(name);
        let collation = match sql_type.is_character() {
            true => WireCollation::SQL_LATIN1_CI_AS,
            false => WireCollation::NONE,
        };
        let token = ReturnValue {
            ordinal,
            name: Cow::Owned(name),
            of_function: false,
            sql: sql_type,
            collation,
            value: value.clone(),
        };
        let version = self.speech.version;
        let Some(out) = self.token() else { return };
        if let Err(e) = token.encode(version, out) {
            self.message(&e.into());
        }
    }

    fn hold(&mut self) {
        self.holds = true;
    }

    fn environment(&mut self, change: &EnvironmentChange) {
        if self.closed {
            return;
        }
        self.release_held();
        wire_change(change).encode(self.writer.payload());
    }
}

/// Where the output parameters of a call stand, so that drivers find their values.
#[derive(Default)]
struct Outputs {
    /// (ordinal, name) of those whose value has not come.
    waiting: Vec<(u16, String)>,
}

impl Outputs {
    fn of(parameters: &[Parameter]) -> Outputs {
        let outputs = parameters.iter().enumerate().filter(|(_, p)| p.output);
        let place = |(i, p): (usize, &Parameter)| (u16::try_from(i).unwrap_or(0), p.name.clone());
        Outputs { waiting: outputs.map(place).collect() }
    }

    /// Ordinal and name of the parameter that a value is for: by name, else the next in order.
    fn place(&mut self, name: &str) -> (u16, String) {
        let same = |(_, n): &(u16, String)| !n.is_empty() && n.eq_ignore_ascii_case(name);
        let unnamed = |(_, n): &(u16, String)| n.is_empty();
        let at = self.waiting.iter().position(same);
        match at.or_else(|| self.waiting.iter().position(unnamed)) {
            Some(at) => self.waiting.remove(at),
            None => (0, name.to_owned()),
        }
    }
}

fn wire_column(column: &ResultColumn) -> Column<'_> {
    let mut flags = ColumnFlags::default();
    if column.nullable {
        flags = flags.and(ColumnFlags::NULLABLE);
    }
    if column.identity {
        flags = flags.and(ColumnFlags::IDENTITY);
    }
    flags = flags.and(match column.computed {
        true => ColumnFlags::COMPUTED,
        false => ColumnFlags::UPDATABLE_UNKNOWN,
    });
    Column {
        name: Cow::Borrowed(&column.name),
        sql: column.sql_type,
        collation: column.collation.into(),
        flags,
        // What drivers know a rowversion by: its bytes travel as binary(8).
        user_type: if column.sql_type == SqlType::RowVersion { 80 } else { 0 },
    }
}

fn wire_origin(origin: &ColumnOrigin) -> Origin<'_> {
    let bit = |on: bool, bit: u8| if on { bit } else { 0 };
    Origin {
        table: origin.table,
        status: bit(origin.expression, origin_status::EXPRESSION)
            | bit(origin.key, origin_status::KEY)
            | bit(origin.hidden, origin_status::HIDDEN),
        name: origin.name.as_deref(),
    }
}

fn wire_done(done: Completion) -> tds::DoneToken {
    let kind = match done.scope {
        DoneScope::Statement => DoneKind::Done,
        DoneScope::InProcedure => DoneKind::InProc,
        DoneScope::Procedure => DoneKind::Proc,
    };
    let mut status = DoneStatus::FINAL;
    if done.error {
        status = status.and(DoneStatus::ERROR);
    }
    if done.in_transaction {
        status = status.and(DoneStatus::IN_XACT);
    }
    let command = wire_command(done.command);
    match done.rows {
        Some(rows) => tds::DoneToken::with_count(kind, status, command, rows),
        None => tds::DoneToken { command, ..tds::DoneToken::new(kind, status) },
    }
}

fn wire_command(command: Command) -> u16 {
    match command {
        Command::Select => command::SELECT,
        Command::SelectInto => command::SELECT_INTO,
        Command::Insert => command::INSERT,
        Command::Update => command::UPDATE,
        Command::Delete => command::DELETE,
        Command::Merge => command::MERGE,
        Command::BulkInsert => command::BULK_INSERT,
        Command::Execute => command::EXECUTE,
        Command::Message => command::MESSAGE,
        Command::SetOn => command::SET_ON,
        Command::SetOff => command::SET_OFF,
        Command::Set => command::SET,
        Command::Begin => command::BEGIN,
        Command::Commit => command::COMMIT,
        Command::Rollback => command::ROLLBACK,
        Command::OpenCursor => command::OPEN_CURSOR,
        Command::Shutdown => command::SHUTDOWN,
        Command::Define(words) => command::of_definition(words),
        Command::Other => command::NONE,
    }
}

fn wire_change(change: &EnvironmentChange) -> EnvChange {
    match change {
        EnvironmentChange::Database { new, old } => {
            EnvChange::Database { new: new.clone(), old: old.clone() }
        }
        EnvironmentChange::Language { new, old } => {
            EnvChange::Language { new: new.clone(), old: old.clone() }
        }
        EnvironmentChange::Collation(bytes) => {
            EnvChange::Collation { new: WireCollation(*bytes), old: None }
        }
        EnvironmentChange::Begin(d) => EnvChange::BeginTransaction(*d),
        EnvironmentChange::Commit(d) => EnvChange::CommitTransaction(*d),
        EnvironmentChange::Rollback(d) => EnvChange::RollbackTransaction(*d),
        EnvironmentChange::ResetDone => EnvChange::ResetAck,
    }
}

/// A whole response of one DONE.
pub(crate) fn last_words(speech: Speech, done: tds::DoneToken) -> Vec<u8> {
    let mut writer = PacketWriter::new(PacketType::Response, speech.packet_bytes, speech.spid);
    done.encode(writer.payload());
    let mut packets = Vec::new();
    writer.finish(&mut packets);
    packets
}

/// A whole response of errors alone.
pub(crate) fn last_errors(speech: Speech, errors: &[SqlError], server_name: &str) -> Vec<u8> {
    let mut writer = PacketWriter::new(PacketType::Response, speech.packet_bytes, speech.spid);
    for error in errors {
        encode_notice(error, server_name, writer.payload());
    }
    tds::DoneToken::new(DoneKind::Done, DoneStatus::ERROR).encode(writer.payload());
    let mut packets = Vec::new();
    writer.finish(&mut packets);
    packets
}

#[cfg(test)]
mod tests {
    use super::{Command, Completion, DoneScope, wire_done};
    use tds::{DoneKind, DoneStatus};

    /// What clients read in a DONE: which end, of what, with which count.
    #[test]
    fn a_done_says_what_ended() {
        let done = |scope, command, rows| {
            let (more, error, in_transaction) = (false, false, true);
            wire_done(Completion { scope, command, rows, more, error, in_transaction })
        };
        let inserted = done(DoneScope::InProcedure, Command::Insert, Some(0));
        assert_eq!((inserted.kind, inserted.command), (DoneKind::InProc, 0xC3));
        assert_eq!(inserted.status, DoneStatus::IN_XACT.and(DoneStatus::COUNT));
        let plain = [
            (Command::SelectInto, 0xC2),
            (Command::Execute, 0xE0),
            (Command::Message, 0xF7),
            (Command::SetOn, 0xB9),
            (Command::SetOff, 0xBA),
            (Command::Set, 0xF9),
            (Command::Begin, 0xD4),
            (Command::Commit, 0xD5),
            (Command::Rollback, 0xD2),
            (Command::OpenCursor, 0x20),
            (Command::Shutdown, 0xBF),
            (Command::Define("CREATE PROCEDURE"), 0xDE),
            (Command::Define("RECONFIGURE"), 0),
            (Command::Other, 0),
        ];
        for (command, number) in plain {
            let done = done(DoneScope::Statement, command, None);
            assert_eq!((done.command, done.status), (number, DoneStatus::IN_XACT), "{command:?}");
        }
    }
}
