//! What DBCC LOGINFO and SQLPERF (LOGSPACE) answer, in SQL Server's columns.

use crate::instance::Instance;
use base::{DatabaseId, SqlError, SqlResult, messages};
use database::{Database, LOG_FILE};
use ddl::ResultSet;
use std::sync::Arc;
use types::{Decimal, SqlType, Value};
use wal::VlfStatus;

impl Instance {
    /// A database that is open.
    ///
    /// # Errors
    /// 911.
    pub(crate) fn found(&self, id: DatabaseId) -> SqlResult<Arc<Database>> {
        let unknown = || SqlError::new(messages::DATABASE_NOT_FOUND, &[&id]);
        self.database(id).ok_or_else(unknown)
    }

    /// DBCC SQLPERF (LOGSPACE)
    pub(crate) fn log_space(&self) -> ResultSet {
        let columns = vec![
            ("Database Name", SqlType::SYSNAME, false),
            ("Log Size (MB)", SqlType::Real, false),
            ("Log Space Used (%)", SqlType::Real, false),
            ("Status", SqlType::Int, false),
        ];
        let row = |d: &Database| {
            let usage = d.log().usage();
            let used = usage.used_bytes + usage.reserved_bytes;
            vec![
                Value::nvarchar(&d.home().name()),
                Value::Real((usage.log_bytes() as f64 / 1_048_576.0) as f32),
                Value::Real((100.0 * used as f64 / usage.log_bytes() as f64) as f32),
                Value::Int(0),
            ]
        };
        let databases = self.databases.read();
        ResultSet { columns, rows: databases.values().map(|o| row(&o.database)).collect() }
    }
}

/// DBCC LOGINFO
pub(crate) fn log_info(database: &Database) -> ResultSet {
    let columns = vec![
        ("RecoveryUnitId", SqlType::Int, false),
        ("FileId", SqlType::Int, false),
        ("FileSize", SqlType::BigInt, false),
        ("StartOffset", SqlType::BigInt, false),
        ("FSeqNo", SqlType::Int, false),
        ("Status", SqlType::Int, false),
        ("Parity", SqlType::TinyInt, false),
        ("CreateLSN", SqlType::decimal(25, 0), false),
    ];
    let row = |v: wal::VlfState| {
        let active = v.status == VlfStatus::Active;
        let made = Decimal::new(v.create_lsn.as_numeric(), 0);
        vec![
            Value::Int(0),
            Value::Int(i32::from(LOG_FILE.0)),
            Value::BigInt(v.bytes as i64),
            Value::BigInt(v.offset as i64),
            Value::Int(v.sequence as i32),
            Value::Int(if active { 2 } else { 0 }),
            Value::TinyInt(v.parity),
            made.map_or(Value::Null, Value::Decimal),
        ]
    };
    ResultSet { columns, rows: database.log().vlfs().into_iter().map(row).collect() }
}
