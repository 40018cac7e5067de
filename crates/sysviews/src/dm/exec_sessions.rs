//! `sys.dm_exec_sessions`: every session.

use super::session_list::{self, OPTIONS};
use crate::cell::{big, datetime, int, int_ms, text, text_or_null};
use crate::column::{Column, Constant, col, fixed, join, maybe, null, number, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use session::SessionRow;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const BIG: SqlType = SqlType::BigInt;
const NAME: SqlType = SqlType::nvarchar(128);
const SID: SqlType = SqlType::varbinary(85);
const ONE_LOGIN: &str = "sa is the only login yet.";
const NO_DOMAIN: &str = "There is no Windows authentication.";
const ONLY_USERS: &str = "Tasks of the system are no sessions.";
const NO_COUNT: &str = "Logins are not counted by name yet.";

const FRONT: [Column; 24] = [
    col("session_id", SqlType::SmallInt),
    col("login_time", SqlType::DateTime),
    maybe("host_name", NAME),
    maybe("program_name", NAME),
    maybe("host_process_id", INT),
    maybe("client_version", INT),
    maybe("client_interface_name", SqlType::nvarchar(32)),
    fixed("security_id", SID, Constant::Bytes(&[1]), ONE_LOGIN),
    col("login_name", NAME),
    null("nt_domain", NAME, NO_DOMAIN),
    null("nt_user_name", NAME, NO_DOMAIN),
    col("status", SqlType::nvarchar(30)),
    null("context_info", SqlType::varbinary(128), NOT_PUBLISHED),
    col("cpu_time", INT),
    null("memory_usage", INT, NOT_PUBLISHED),
    zero("total_scheduled_time", INT, NO_SCHEDULERS),
    col("total_elapsed_time", INT),
    col("endpoint_id", INT),
    col("last_request_start_time", SqlType::DateTime),
    maybe("last_request_end_time", SqlType::DateTime),
    col("reads", BIG),
    col("writes", BIG),
    col("logical_reads", BIG),
    number("is_user_process", SqlType::Bit, 1, ONLY_USERS),
];

const BACK: [Column; 13] = [
    col("row_count", BIG),
    col("prev_error", INT),
    fixed("original_security_id", SID, Constant::Bytes(&[1]), ONE_LOGIN),
    col("original_login_name", NAME),
    null("last_successful_logon", SqlType::DateTime, NO_COUNT),
    null("last_unsuccessful_logon", SqlType::DateTime, NO_COUNT),
    null("unsuccessful_logons", BIG, NO_COUNT),
    number("group_id", INT, 2, NO_GOVERNOR),
    col("database_id", SqlType::SmallInt),
    number("authenticating_database_id", INT, 1, NO_CONTAINMENT),
    col("open_transaction_count", INT),
    zero("page_server_reads", BIG, NO_PAGE_SERVERS),
    null("contained_availability_group_id", SqlType::UniqueIdentifier, NO_GROUPS),
];

const LEFT: [Column; 39] = join(FRONT, OPTIONS);
const COLUMNS: [Column; 52] = join(LEFT, BACK);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_sessions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(system.sessions.list().iter().map(row).collect())
}

fn row(s: &SessionRow) -> Vec<Value> {
    let login = &s.login;
    let mut cells = vec![
        Value::SmallInt(s.session_id.0),
        datetime(s.login_time),
        text_or_null(&login.host),
        text_or_null(&login.application),
        int(login.process_id),
        int(client_version(login.protocol_version)),
        text_or_null(&login.library),
        text(&login.user),
        text(if s.running { "running" } else { "sleeping" }),
        int_ms(s.cpu_ns),
        int_ms(s.elapsed_ns),
        int(session_list::endpoint(s)),
        datetime(s.request_start_time),
        datetime(s.request_end_time),
        big(s.reads),
        big(s.writes),
        big(s.logical_reads),
    ];
    cells.extend(session_list::options(s));
    cells.extend([
        big(s.row_count),
        int(s.last_error),
        text(&login.user),
        Value::SmallInt(s.database.0 as i16),
        int(s.open_transaction_count),
    ]);
    cells
}

/// The version of TDS as its first digit: 7 of 0x74000004.
fn client_version(protocol: u32) -> i32 {
    (protocol >> 28) as i32
}
