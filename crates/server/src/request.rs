//! A request on its worker: decoded, run, answered. A panic ends only the request and its
//! connection.

use crate::account::{Account, WholeRequest};
use crate::bulk;
use crate::engine::Engine;
use crate::link::{Channel, Link};
use crate::response::{Ending, Response};
use base::{SqlError, messages};
use os::wait::CancelReason;
use session::{
    Completion, DoneScope, OwedCommit, Parameter, Procedure, Request, RequestEnd, ResultSink,
    TableValue, TableValueColumn, TransactionIsolation, TransactionRequest,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tds::{
    Isolation, PacketStatus, PacketType, ProcId, RpcBatch, RpcCall, RpcOptions, TableParameter,
    TdsError, TransactionCommand, TypeInfo,
};
use types::{Bytes, Length, SqlType, Value};

/// What a worker may take.
pub(crate) struct Terms {
    pub(crate) output_bytes_max: usize,
    pub(crate) request_bytes_max: usize,
    /// What it holds of a message that comes while it runs is charged here.
    pub(crate) account: Account,
}

/// What has become of a message.
pub(crate) enum Outcome {
    /// It is answered; the session, or none when the connection ends.
    Answered(Option<Box<Channel>>),
    /// Its answer waits for a commit.
    Owes(OwedCommit, UnansweredSession),
}

/// A session whose request's answer waits for its commit.
pub(crate) struct UnansweredSession {
    channel: Box<Channel>,
    ending: Ending,
}

impl UnansweredSession {
    /// The commit is durable: says so. Returns the session, or none when the connection ends.
    pub(crate) fn answer(mut self, engine: &dyn Engine, link: &Link) -> Option<Box<Channel>> {
        let settled = catch_unwind(AssertUnwindSafe(|| self.channel.connection.settle()));
        // Where that panicked nobody knows what it came to: the connection ends without an answer.
        if settled.is_ok() {
            self.ending.send(link);
        }
        if let Err(panic) = settled {
            let (spid, what) = (self.channel.speech.spid, panic_text(panic.as_ref()));
            engine.log(&format!("session {spid}: the end of a request panicked: {what}"));
            end(engine, self.channel);
            return None;
        }
        Some(self.channel)
    }
}

/// Answers a message, or has all ready for it but the commit.
pub(crate) fn answer(
    engine: &dyn Engine,
    link: &Link,
    mut channel: Box<Channel>,
    mut asked: WholeRequest,
    terms: Terms,
) -> Outcome {
    let waiter = std::sync::Arc::clone(&channel.waiter);
    let name = engine.server_name();
    let most = terms.output_bytes_max;
    let _lent = os::values::lend(terms.account.values());
    let mut response = Response::new(link, &waiter, name, channel.speech, most);
    let run = AssertUnwindSafe(|| {
        if asked.message.kind == PacketType::BulkLoad && !asked.refused {
            let source = bulk::Source {
                link,
                waiter: &waiter,
                account: terms.account,
                bytes_max: terms.request_bytes_max,
                bytes: std::mem::take(&mut asked.message.payload),
                whole: !asked.streamed,
            };
            let goes_on = begin(&mut channel, &asked, &mut response)
                .unwrap_or_else(|| load(&mut channel, source, &mut response));
            return RequestEnd::Whole(goes_on);
        }
        run(&mut channel, &asked, &mut response)
    });
    let answered = match catch_unwind(run) {
        Ok(answered) => answered,
        Err(panic) => {
            let what = panic_text(panic.as_ref());
            engine.log(&format!("session {}: a request panicked: {what}", channel.speech.spid));
            response.message(&SqlError::new(messages::INTERNAL, &[&what]));
            RequestEnd::Whole(false)
        }
    };
    link.inflow.close();
    // The client may ask for as much again.
    drop(asked);
    // The response's end must be on its way before the task may take up the next request.
    let goes_on = match answered {
        RequestEnd::Owes(owed) => {
            return Outcome::Owes(owed, UnansweredSession { ending: response.ending(), channel });
        }
        RequestEnd::Whole(goes_on) => goes_on,
    };
    response.finish();
    if !goes_on {
        end(engine, channel);
        return Outcome::Answered(None);
    }
    Outcome::Answered(Some(channel))
}

/// Drops a session; whatever happens in there, the server goes on.
pub(crate) fn end(engine: &dyn Engine, channel: Box<Channel>) {
    let spid = channel.speech.spid;
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(channel))) {
        let what = panic_text(panic.as_ref());
        engine.log(&format!("session {spid}: its end panicked: {what}"));
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// What is done before a message is run; an answer when it is not to be.
fn begin(channel: &mut Channel, asked: &WholeRequest, response: &mut Response<'_>) -> Option<bool> {
    let message = &asked.message;
    match channel.waiter.cancellation() {
        Some(CancelReason::Kill) => {
            response.message(&SqlError::new(messages::SESSION_KILLED, &[]));
            return Some(false);
        }
        Some(CancelReason::Shutdown) => return Some(false),
        _ => {}
    }
    if message.status.has(PacketStatus::RESET_CONNECTION) {
        channel.connection.reset(false, response);
    } else if message.status.has(PacketStatus::RESET_CONNECTION_SKIP_TRAN) {
        channel.connection.reset(true, response);
    }
    if asked.refused {
        let error = SqlError::new(messages::OUT_OF_MEMORY, &[&"default"]);
        return Some(fail(&error, DoneScope::Statement, response));
    }
    None
}

/// Runs a bulk load; false when the connection ends.
fn load(channel: &mut Channel, source: bulk::Source<'_>, response: &mut Response<'_>) -> bool {
    match bulk::Rows::new(source) {
        Ok(mut rows) => channel.connection.load(&mut rows, response),
        // The attention is told when the response ends.
        Err(e) if e.number() == messages::ATTENTION.number => true,
        Err(e) => fail(&e, DoneScope::Statement, response),
    }
}

/// Runs a message.
fn run(channel: &mut Channel, asked: &WholeRequest, response: &mut Response<'_>) -> RequestEnd {
    if let Some(goes_on) = begin(channel, asked, response) {
        return RequestEnd::Whole(goes_on);
    }
    let message = &asked.message;
    match tds::decode_request(message) {
        Ok(tds::Request::Batch { text, .. }) => {
            channel.connection.run_last(Request::Batch(text), response)
        }
        Ok(tds::Request::Rpc(calls)) => run_calls(channel, calls, response),
        Ok(tds::Request::Transaction { command, .. }) => {
            channel.connection.run_last(Request::Transaction(transaction(command)), response)
        }
        // The task answers attentions itself; one that is here has nothing to interrupt. Bulk loads
        // have gone another way.
        Ok(tds::Request::Attention | tds::Request::BulkLoad(_)) => RequestEnd::Whole(true),
        Err(e) => RequestEnd::Whole(refuse(e, DoneScope::Statement, response)),
    }
}

/// The calls of a message, one after the other; each is decoded when its turn comes.
fn run_calls(
    channel: &mut Channel,
    mut calls: RpcBatch<'_>,
    response: &mut Response<'_>,
) -> RequestEnd {
    loop {
        let call = match calls.next_call() {
            Ok(Some(call)) => call,
            Ok(None) => return RequestEnd::Whole(true),
            Err(e) => return RequestEnd::Whole(refuse(e, DoneScope::Procedure, response)),
        };
        let more = calls.has_more();
        // Who fetches from a cursor knows its columns; others are told them all the same.
        let fetches = call.procedure.well_known() == Some(ProcId::CursorFetch);
        let bare = fetches && call.options.0 & RpcOptions::NO_METADATA != 0;
        let (procedure, parameters) = convert_call(call);
        response.expect_outputs(&parameters, bare);
        let request = Request::Call { procedure, parameters, more };
        if !more {
            return channel.connection.run_last(request, response);
        }
        if !channel.connection.run(request, response) {
            return RequestEnd::Whole(false);
        }
        if !response.goes_on() {
            return RequestEnd::Whole(true);
        }
    }
}

/// Tells what is wrong with a request; false when the stream cannot be trusted any more.
fn refuse(e: TdsError, scope: DoneScope, response: &mut Response<'_>) -> bool {
    let goes_on = !e.is_fatal();
    fail(&SqlError::from(e), scope, response) && goes_on
}

/// Tells why a request does not run.
fn fail(error: &SqlError, scope: DoneScope, response: &mut Response<'_>) -> bool {
    response.message(error);
    response.done(Completion {
        scope,
        command: session::Command::Other,
        rows: None,
        more: false,
        error: true,
        in_transaction: false,
    });
    true
}

fn convert_call(call: RpcCall) -> (Procedure, Vec<Parameter>) {
    let procedure = match (call.procedure.well_known(), call.procedure) {
        (Some(id), _) => Procedure::Numbered(id as u16),
        (None, tds::Procedure::Name(name)) => Procedure::Named(name),
        (None, tds::Procedure::Id(id)) => Procedure::Numbered(id as u16),
    };
    let parameters = call.parameters.into_iter().map(|p| Parameter {
        name: p.name,
        sql_type: received(p.info.sql, &p.value),
        value: padded(p.info.sql, p.value),
        output: p.output,
        default: p.default,
        table: p.table.map(|t| Box::new(table_value(*t))),
    });
    (procedure, parameters.collect())
}

/// The type of a value: what came as characters of varchar is nvarchar.
fn received(sql_type: SqlType, value: &Value) -> SqlType {
    match (sql_type, value) {
        (SqlType::Char(n) | SqlType::VarChar(Length::N(n)), Value::NChar(_)) if n <= 4000 => {
            SqlType::nvarchar(n)
        }
        (SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text, Value::NChar(_)) => {
            SqlType::NVARCHAR_MAX
        }
        _ => sql_type,
    }
}

/// A table as the session takes it.
fn table_value(t: TableParameter) -> TableValue {
    let column = |&(info, default): &(TypeInfo, bool)| {
        let sql_type = info.sql;
        TableValueColumn { sql_type, default }
    };
    let type_name = match (t.schema.is_empty(), t.type_name.is_empty()) {
        (_, true) => String::new(),
        (true, false) => bracketed(&t.type_name),
        (false, false) => format!("{}.{}", bracketed(&t.schema), bracketed(&t.type_name)),
    };
    let columns = t.columns.iter().map(column).collect();
    TableValue { type_name, columns, rows: t.rows, charge: t.charge }
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// A fixed-length value as long as its type: drivers declare char(5) and send three characters.
fn padded(sql_type: SqlType, value: Value) -> Value {
    let (full, blank): (usize, &[u8]) = match (sql_type, &value) {
        (SqlType::Char(n), Value::Char(_)) => (usize::from(n), b" "),
        (SqlType::NChar(n), Value::NChar(_)) => (usize::from(n) * 2, b" \0"),
        (SqlType::Binary(n), Value::Binary(_)) => (usize::from(n), &[0]),
        _ => return value,
    };
    let bytes = value.as_bytes().unwrap_or_default();
    if bytes.len() >= full {
        return value;
    }
    let filling = blank.iter().copied().cycle().take(full - bytes.len());
    let bytes = Bytes::from(bytes.iter().copied().chain(filling).collect::<Vec<u8>>());
    match value {
        Value::Char(_) => Value::Char(bytes),
        Value::NChar(_) => Value::NChar(bytes),
        _ => Value::Binary(bytes),
    }
}

fn transaction(command: TransactionCommand) -> TransactionRequest {
    let next = |begin: Option<tds::Begin>| begin.map(|b| (isolation(b.isolation), b.name));
    match command {
        TransactionCommand::Begin(b) => {
            TransactionRequest::Begin { name: b.name, isolation: isolation(b.isolation) }
        }
        TransactionCommand::Commit { name, then } => {
            TransactionRequest::Commit { name, next: next(then) }
        }
        TransactionCommand::Rollback { name, then } => {
            TransactionRequest::Rollback { name, next: next(then) }
        }
        TransactionCommand::Save { name } => TransactionRequest::Save { name },
    }
}

fn isolation(asked: Option<Isolation>) -> TransactionIsolation {
    match asked {
        None => TransactionIsolation::Unchanged,
        Some(Isolation::ReadUncommitted) => TransactionIsolation::ReadUncommitted,
        Some(Isolation::ReadCommitted) => TransactionIsolation::ReadCommitted,
        Some(Isolation::RepeatableRead) => TransactionIsolation::RepeatableRead,
        Some(Isolation::Serializable) => TransactionIsolation::Serializable,
        Some(Isolation::Snapshot) => TransactionIsolation::Snapshot,
    }
}
