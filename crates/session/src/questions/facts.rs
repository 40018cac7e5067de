//! The session's answers to functions and `@@` variables.

use crate::session::state::{State, now};
use base::{DatabaseId, SqlResult};
use builtins::{Fact, Question, Rand, SessionFacts};
use std::sync::atomic::Ordering::Relaxed;
use types::datetime::{Dialect, Moment};
use types::{Decimal, Value};

impl State {
    fn caught_fact(&self, fact: Fact) -> Value {
        let Some(error) = self.nesting.caught.last() else { return Value::Null };
        match fact {
            Fact::ErrorLine => Value::Int(error.line() as i32),
            Fact::ErrorMessage => Value::nvarchar(error.text()),
            Fact::ErrorNumber => Value::Int(error.number()),
            Fact::ErrorProcedure => error.procedure().map_or(Value::Null, Value::nvarchar),
            Fact::ErrorSeverity => Value::Int(i32::from(error.severity())),
            _ => Value::Int(i32::from(error.state())),
        }
    }

    fn setting(&self, fact: Fact) -> Value {
        let s = &self.settings;
        match fact {
            Fact::DateFirst => Value::TinyInt(s.date_first),
            Fact::LangId => Value::SmallInt(s.language.id),
            Fact::Language => Value::nvarchar(s.language.name),
            Fact::LockTimeout => Value::Int(s.lock_timeout_ms),
            Fact::Options => Value::Int(s.bits() as i32),
            _ => Value::Int(s.text_size),
        }
    }

    /// Facts of the server without a counter are 0, as SQL Server documents for an idle server.
    fn server(&self, fact: Fact) -> Value {
        let property = |name| self.host.server_property(name);
        match fact {
            Fact::Connections => Value::Int(self.host.registry().logins() as i32),
            Fact::ServerName => property("SERVERNAME"),
            Fact::ServiceName => Value::nvarchar("MSSQLSERVER"),
            Fact::Version => property("VERSION"),
            Fact::MicrosoftVersion => Value::Int(0x1000_03E8),
            Fact::MaxConnections => Value::Int(32767),
            Fact::MaxPrecision => Value::TinyInt(38),
            Fact::TimeTicks => Value::Int(31250),
            Fact::CpuBusy => Value::Int((os::clock::process_cpu_ns() / 31_250_000) as i32),
            Fact::Dbts => Value::varbinary(&self.host.row_version(self.database.id).to_be_bytes()),
            Fact::MinActiveRowVersion => {
                // Reads this first: a transaction that begins meanwhile has later rowversions.
                let next = self.host.row_version(self.database.id) + 1;
                let oldest = self.host.registry().oldest_row_version(self.database.id);
                Value::varbinary(&oldest.unwrap_or(next).to_be_bytes())
            }
            Fact::FetchStatus => Value::Int(self.cursors.fetch_status),
            Fact::CursorRows => Value::Int(self.cursors.rows as i32),
            _ => Value::Int(0),
        }
    }

    /// A rowversion for a row that this session's transaction writes.
    fn next_row_version(&self, database: DatabaseId) -> SqlResult<Value> {
        self.entry.versions_rows(database, || self.host.row_version(database) + 1);
        let next = self.host.next_row_version(database)?;
        Ok(Value::varbinary(&next.to_be_bytes()))
    }
}

fn identity(value: Option<i128>) -> Value {
    let decimal = value.and_then(|v| Decimal::new(v, 0));
    decimal.map_or(Value::Null, Value::Decimal)
}

impl SessionFacts for State {
    fn fact(&self, fact: Fact) -> SqlResult<Value> {
        let login = self.entry.login();
        Ok(match fact {
            Fact::AppName => Value::nvarchar(&login.application),
            Fact::HostId => Value::varchar(&format!("{:<10}", login.process_id)),
            Fact::OriginalDatabaseName => Value::nvarchar(&self.database.original),
            Fact::RequestId => Value::SmallInt(0),
            Fact::TransactionId => Value::BigInt(self.entry.transaction.load(Relaxed) as i64),
            Fact::RemoteServer => Value::Null,
            Fact::HostName => Value::nvarchar(&login.host),
            Fact::LoginName | Fact::OriginalLogin => Value::nvarchar(&login.user),
            Fact::CurrentUser => Value::nvarchar("dbo"),
            Fact::CurrentSchemaName => Value::nvarchar("dbo"),
            Fact::CurrentDatabaseId => Value::SmallInt(self.database.id.0 as i16),
            Fact::CurrentDatabaseName => Value::nvarchar(&self.database.name),
            Fact::ContextInfo => self.context.info.clone(),
            Fact::Error => Value::Int(self.last.error),
            Fact::RowCount => Value::BigInt(self.last.rows as i64),
            Fact::TranCount => Value::Int(self.transaction.count as i32),
            Fact::XactState => {
                Value::SmallInt(match (self.transaction.count, self.transaction.doomed) {
                    (0, _) => 0,
                    (_, true) => -1,
                    (_, false) => 1,
                })
            }
            Fact::NestLevel => Value::Int(self.nesting.level as i32),
            Fact::TriggerNestLevel => Value::Int(self.nesting.firing.level as i32),
            Fact::ColumnsUpdated => match self.nesting.firing.level {
                0 => Value::Null,
                _ => Value::varbinary(&self.nesting.firing.columns),
            },
            Fact::ProcId => Value::Int(self.nesting.object.0),
            Fact::Spid => Value::SmallInt(self.id().0),
            Fact::ScopeIdentity => identity(self.identity.scope),
            Fact::LastIdentity => identity(self.identity.last),
            Fact::ErrorLine
            | Fact::ErrorMessage
            | Fact::ErrorNumber
            | Fact::ErrorProcedure
            | Fact::ErrorSeverity
            | Fact::ErrorState => self.caught_fact(fact),
            Fact::DateFirst
            | Fact::LangId
            | Fact::Language
            | Fact::LockTimeout
            | Fact::Options
            | Fact::TextSize => self.setting(fact),
            _ => self.server(fact),
        })
    }

    fn resolve(&self, question: Question, arguments: &[Value]) -> SqlResult<Value> {
        match (question, arguments) {
            (Question::NextRowVersion, [Value::SmallInt(id)]) => {
                self.next_row_version(DatabaseId(*id as u16))
            }
            _ => crate::questions::answer(self, question, arguments),
        }
    }

    fn clock(&self) -> Moment {
        if let Some(now) = self.now.get() {
            return now;
        }
        let now = now();
        self.now.set(Some(now));
        now
    }

    fn dialect(&self) -> Dialect {
        self.settings.dialect()
    }

    fn random(&self) -> u64 {
        os::entropy::random_u64()
    }

    fn rand(&self, seed: Option<i64>) -> f64 {
        let kept = || self.rand.get().unwrap_or_else(|| Rand::drawn(self.random()));
        let mut rand = seed.map_or_else(kept, Rand::seeded);
        let number = rand.draw();
        self.rand.set(Some(rand));
        number
    }
}
