//! A response as it arrives, handed on to a sink token by token.

use crate::backend::BackendError;
use session::{
    ClosedSink, Command, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use tds::{Column, ColumnFlags, DoneKind, DoneStatus, EnvChange, ResponseReader, Token, command};
use types::Collation;

/// How a message of a response ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// As responses do.
    Complete,
    /// With the acknowledgement of an attention.
    Attention,
}

/// The response to one request.
pub(super) struct Answer<'s> {
    reader: ResponseReader,
    sink: &'s mut dyn ResultSink,
    transaction: u64,
    /// Results are thrown away from here on; messages are not.
    discarding: bool,
    /// The sink wants no more.
    unwanted: bool,
    acknowledged: bool,
}

impl<'s> Answer<'s> {
    pub(super) fn new(sink: &'s mut dyn ResultSink, transaction: u64) -> Answer<'s> {
        Answer {
            reader: ResponseReader::new(),
            sink,
            transaction,
            discarding: false,
            unwanted: false,
            acknowledged: false,
        }
    }

    /// The payload of a packet.
    pub(super) fn packet(&mut self, body: &[u8]) -> Result<(), BackendError> {
        self.reader.feed(body);
        while let Some(token) = self.reader.next_token().map_err(not_understood)? {
            if self.token(token).is_err() {
                self.unwanted = true;
                self.discarding = true;
            }
        }
        Ok(())
    }

    /// After the last packet of a message.
    pub(super) fn end(&mut self) -> Result<End, BackendError> {
        if !self.reader.is_empty() {
            return Err(BackendError::Lost("the server's answer is cut off".to_owned()));
        }
        Ok(if self.acknowledged { End::Attention } else { End::Complete })
    }

    /// An attention is on its way: no more results.
    pub(super) fn discard(&mut self) {
        self.discarding = true;
    }

    /// Nobody wants the rest.
    pub(super) fn is_unwanted(&self) -> bool {
        self.unwanted
    }

    /// The transaction that is open after it, 0 for none.
    pub(super) fn transaction(&self) -> u64 {
        self.transaction
    }

    fn token(&mut self, token: Token) -> Result<(), ClosedSink> {
        match token {
            Token::Columns(columns) if !self.discarding && !columns.is_empty() => {
                let columns: Vec<ResultColumn> = columns.iter().map(column).collect();
                self.sink.columns(&columns)
            }
            Token::Row(values) if !self.discarding => self.sink.row(&values),
            Token::Info(notice) | Token::Error(notice) => {
                self.sink.message(&notice.into());
                Ok(())
            }
            Token::Done(done) => {
                self.done(done);
                Ok(())
            }
            Token::EnvChange(change) => {
                self.environment(change);
                Ok(())
            }
            Token::ReturnStatus(status) => {
                self.sink.return_status(status);
                Ok(())
            }
            Token::ReturnValue(v) => {
                self.sink.return_value(&v.name, v.sql, &v.value);
                Ok(())
            }
            Token::Columns(_)
            | Token::Row(_)
            | Token::LoginAck(_)
            | Token::FeatureAck(_)
            | Token::Order(_)
            | Token::Skipped(_) => Ok(()),
        }
    }

    fn done(&mut self, done: tds::DoneToken) {
        if done.status.has(DoneStatus::ATTENTION) {
            self.acknowledged = true;
            return;
        }
        if self.discarding {
            return;
        }
        self.sink.done(Completion {
            scope: match done.kind {
                DoneKind::Done => DoneScope::Statement,
                DoneKind::Proc => DoneScope::Procedure,
                DoneKind::InProc => DoneScope::InProcedure,
            },
            command: match done.command {
                command::SELECT => Command::Select,
                command::INSERT => Command::Insert,
                command::UPDATE => Command::Update,
                command::DELETE => Command::Delete,
                command::MERGE => Command::Merge,
                _ => Command::Other,
            },
            rows: done.status.has(DoneStatus::COUNT).then_some(done.count),
            more: done.status.has(DoneStatus::MORE),
            error: done.status.has(DoneStatus::ERROR),
            in_transaction: done.status.has(DoneStatus::IN_XACT),
        });
    }

    fn environment(&mut self, change: EnvChange) {
        match change {
            EnvChange::BeginTransaction(descriptor) => {
                self.transaction = descriptor;
                self.sink.environment(&EnvironmentChange::Begin(descriptor));
            }
            EnvChange::CommitTransaction(descriptor) => {
                self.transaction = 0;
                self.sink.environment(&EnvironmentChange::Commit(descriptor));
            }
            EnvChange::RollbackTransaction(descriptor) => {
                self.transaction = 0;
                self.sink.environment(&EnvironmentChange::Rollback(descriptor));
            }
            EnvChange::Database { new, old } => {
                self.sink.environment(&EnvironmentChange::Database { new, old });
            }
            EnvChange::Language { new, old } => {
                self.sink.environment(&EnvironmentChange::Language { new, old });
            }
            EnvChange::Collation { new, .. } => {
                self.sink.environment(&EnvironmentChange::Collation(new.0));
            }
            EnvChange::ResetAck => self.sink.environment(&EnvironmentChange::ResetDone),
            EnvChange::Charset { .. } | EnvChange::PacketSize { .. } | EnvChange::Other(_) => {}
        }
    }
}

fn not_understood(e: tds::TdsError) -> BackendError {
    BackendError::Lost(format!("the server's answer is not understood: {e}"))
}

fn column(c: &Column<'static>) -> ResultColumn {
    ResultColumn {
        name: c.name.clone().into_owned(),
        sql_type: c.sql,
        collation: Collation::by_tds_bytes(c.collation.0).unwrap_or_default(),
        nullable: c.flags.has(ColumnFlags::NULLABLE),
        identity: c.flags.has(ColumnFlags::IDENTITY),
        computed: c.flags.has(ColumnFlags::COMPUTED),
        untyped: false,
    }
}
