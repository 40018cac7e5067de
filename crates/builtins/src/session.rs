//! Functions over the facts of a session, chance, and the functions that choose.

use crate::call::{Call, Fact, Function, NullRule};
use crate::metadata::fitted;
use base::SqlResult;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use types::{SqlType, Value, common_type};

macro_rules! facts {
    ($($name:literal, $result:expr, $fact:ident;)*) => {
        [$(Function {
            name: $name,
            min_args: 0,
            max_args: 0,
            result: |_| Ok($result),
            deterministic: false,
            nulls: NullRule::Own,
            date_part: false,
            eval: |call, _| fitted(call.facts.fact(Fact::$fact)?, call.result),
        }),*]
    };
}

const I: SqlType = SqlType::Int;
const NAME: SqlType = SqlType::SYSNAME;

/// Functions that are facts of the session.
pub(crate) const OF_FACTS: &[Function] = &facts! {
    "APP_NAME", NAME, AppName;
    "CURRENT_REQUEST_ID", SqlType::SmallInt, RequestId;
    "CURRENT_TRANSACTION_ID", SqlType::BigInt, TransactionId;
    "CONTEXT_INFO", SqlType::varbinary(128), ContextInfo;
    "CURRENT_USER", NAME, CurrentUser;
    "SESSION_USER", NAME, CurrentUser;
    "USER", NAME, CurrentUser;
    "ERROR_LINE", I, ErrorLine;
    "ERROR_MESSAGE", SqlType::nvarchar(4000), ErrorMessage;
    "ERROR_NUMBER", I, ErrorNumber;
    "ERROR_PROCEDURE", NAME, ErrorProcedure;
    "ERROR_SEVERITY", I, ErrorSeverity;
    "ERROR_STATE", I, ErrorState;
    "HOST_ID", SqlType::Char(10), HostId;
    "HOST_NAME", NAME, HostName;
    "MIN_ACTIVE_ROWVERSION", SqlType::Binary(8), MinActiveRowVersion;
    "ORIGINAL_DB_NAME", NAME, OriginalDatabaseName;
    "ORIGINAL_LOGIN", NAME, OriginalLogin;
    "ROWCOUNT_BIG", SqlType::BigInt, RowCount;
    "SCOPE_IDENTITY", SqlType::decimal(38, 0), ScopeIdentity;
    "SYSTEM_USER", NAME, LoginName;
    "XACT_STATE", SqlType::SmallInt, XactState;
};

/// Functions that choose, and chance.
pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "ISNULL",
        min_args: 2,
        max_args: 2,
        result: |t| Ok(t[0]),
        deterministic: true,
        nulls: NullRule::Own,
        date_part: false,
        eval: |call, args| {
            if args[0].is_null() { call.to(args, 1, call.result) } else { Ok(args[0].clone()) }
        },
    },
    Function {
        name: "CHOOSE",
        min_args: 2,
        max_args: 255,
        result: |t| t[2..].iter().try_fold(t[1], |all, &one| common_type(all, one)),
        deterministic: true,
        nulls: NullRule::Own,
        date_part: false,
        eval: choose,
    },
    Function {
        name: "NEWID",
        min_args: 0,
        max_args: 0,
        result: |_| Ok(SqlType::UniqueIdentifier),
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval: new_id,
    },
    Function {
        name: "NEWSEQUENTIALID",
        min_args: 0,
        max_args: 0,
        result: |_| Ok(SqlType::UniqueIdentifier),
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval: sequential_id,
    },
    Function {
        name: "RAND",
        min_args: 0,
        max_args: 1,
        result: |_| Ok(SqlType::Float),
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval: rand,
    },
];

fn choose(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    if args[0].is_null() {
        return Ok(Value::Null);
    }
    match usize::try_from(call.int(args, 0)?) {
        Ok(n) if (1..args.len()).contains(&n) => call.to(args, n, call.result),
        _ => Ok(Value::Null),
    }
}

/// A random identifier of version 4.
fn new_id(call: &mut Call<'_>, _: &[Value]) -> SqlResult<Value> {
    let mut guid = [0; 16];
    guid[..8].copy_from_slice(&call.facts.random().to_le_bytes());
    guid[8..].copy_from_slice(&call.facts.random().to_le_bytes());
    // The version stands in the high half of the seventh byte as text shows it.
    guid[7] = (guid[7] & 0x0F) | 0x40;
    guid[8] = (guid[8] & 0x3F) | 0x80;
    Ok(Value::Guid(guid))
}

/// The last number of `NEWSEQUENTIALID`, in 100 ns of the clock, and what marks this process.
static SEQUENTIAL_LAST: AtomicU64 = AtomicU64::new(0);
static SEQUENTIAL_NODE: OnceLock<[u8; 8]> = OnceLock::new();

/// A uniqueidentifier above all that this process has given: the clock, moved on where it stood
/// still, highest bytes where SQL Server's order looks first.
fn sequential_id(call: &mut Call<'_>, _: &[Value]) -> SqlResult<Value> {
    let now = u64::try_from(call.facts.clock().total_utc()).unwrap_or(0);
    let next = |last: u64| Some(now.max(last + 1));
    let last = SEQUENTIAL_LAST.fetch_update(Relaxed, Relaxed, next).unwrap_or(0);
    let time = now.max(last + 1);
    let [.., a, b, c, d, e, f, g, h] = time.to_be_bytes();
    let node = *SEQUENTIAL_NODE.get_or_init(|| call.facts.random().to_le_bytes());
    let mut guid = [0; 16];
    guid[..8].copy_from_slice(&[e, f, g, h, c, d, a, b]);
    guid[8..].copy_from_slice(&node);
    Ok(Value::Guid(guid))
}

fn rand(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let seed = match args.first().filter(|v| !v.is_null()) {
        None => None,
        Some(seed) => Some(match seed.as_i64() {
            Some(n) => n,
            None => call.int(args, 0)?,
        }),
    };
    Ok(Value::Float(call.facts.rand(seed)))
}
