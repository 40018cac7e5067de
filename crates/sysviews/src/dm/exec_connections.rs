//! `sys.dm_exec_connections`: how each session is connected.

use super::session_list;
use crate::cell::{datetime, int, text};
use crate::column::{Column, col, maybe, null, word, zero};
use crate::reason::NOT_PUBLISHED;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use session::SessionRow;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const FORTY: SqlType = SqlType::nvarchar(40);
const GUID: SqlType = SqlType::UniqueIdentifier;

const COLUMNS: [Column; 22] = [
    maybe("session_id", INT),
    maybe("most_recent_session_id", INT),
    col("connect_time", SqlType::DateTime),
    col("net_transport", FORTY),
    maybe("protocol_type", FORTY),
    maybe("protocol_version", INT),
    maybe("endpoint_id", INT),
    col("encrypt_option", FORTY),
    word("auth_scheme", FORTY, "SQL", "There is no other authentication."),
    zero("node_affinity", SqlType::SmallInt, "Connections belong to no NUMA node."),
    null("num_reads", INT, NOT_PUBLISHED),
    null("num_writes", INT, NOT_PUBLISHED),
    maybe("last_read", SqlType::DateTime),
    maybe("last_write", SqlType::DateTime),
    maybe("net_packet_size", INT),
    maybe("client_net_address", SqlType::varchar(48)),
    maybe("client_tcp_port", INT),
    null("local_net_address", SqlType::varchar(48), NOT_PUBLISHED),
    null("local_tcp_port", INT, NOT_PUBLISHED),
    col("connection_id", GUID),
    null("parent_connection_id", GUID, "There are no multiple active result sets."),
    maybe("most_recent_sql_handle", SqlType::varbinary(64)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_connections",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(system.sessions.list().iter().map(row).collect())
}

/// Address and port of `10.0.0.1:1433` and `[::1]:1433`.
fn split(address: &str) -> (&str, Option<i32>) {
    match address.rsplit_once(':') {
        Some((host, port)) => (host.trim_matches(['[', ']']), port.parse().ok()),
        None => (address, None),
    }
}

fn row(s: &SessionRow) -> Vec<Value> {
    let login = &s.login;
    let (address, port) = split(&login.address);
    let embedded = address.is_empty();
    let or_null = |v: Value| if embedded { Value::Null } else { v };
    vec![
        int(s.session_id.0),
        int(s.session_id.0),
        datetime(s.login_time),
        text(if embedded { "Shared memory" } else { "TCP" }),
        or_null(text("TSQL")),
        or_null(int(login.protocol_version)),
        int(session_list::endpoint(s)),
        text(if login.encrypted { "TRUE" } else { "FALSE" }),
        datetime(s.request_start_time),
        datetime(s.request_end_time),
        or_null(int(login.packet_bytes)),
        if embedded { Value::varchar("<local machine>") } else { Value::varchar(address) },
        Value::from(port),
        session_list::connection_id(s),
        session_list::sql_handle(s),
    ]
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn addresses_have_ports() {
        assert_eq!(split("127.0.0.1:50123"), ("127.0.0.1", Some(50_123)));
        assert_eq!(split("[::1]:50123"), ("::1", Some(50_123)));
        assert_eq!(split(""), ("", None));
    }
}
