//! `sys.servers`: this server, number 0.

use crate::cell::text;
use crate::column::{Column, Constant, col, fixed, null, number, word, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const LONG: SqlType = SqlType::nvarchar(4000);
const ITSELF: &str = "The only server is this one: there are no linked servers.";

const COLUMNS: [Column; 26] = [
    zero("server_id", INT, ITSELF),
    col("name", SqlType::SYSNAME),
    word("product", SqlType::SYSNAME, "SQL Server", ITSELF),
    word("provider", SqlType::SYSNAME, "SQLNCLI", ITSELF),
    col("data_source", LONG),
    null("location", LONG, ITSELF),
    null("provider_string", LONG, ITSELF),
    null("catalog", SqlType::SYSNAME, ITSELF),
    zero("connect_timeout", INT, ITSELF),
    zero("query_timeout", INT, ITSELF),
    zero("is_linked", BIT, ITSELF),
    number("is_remote_login_enabled", BIT, 1, ITSELF),
    number("is_rpc_out_enabled", BIT, 1, ITSELF),
    zero("is_data_access_enabled", BIT, ITSELF),
    zero("is_collation_compatible", BIT, ITSELF),
    number("uses_remote_collation", BIT, 1, ITSELF),
    null("collation_name", SqlType::SYSNAME, ITSELF),
    zero("lazy_schema_validation", BIT, ITSELF),
    zero("is_system", BIT, ITSELF),
    zero("is_publisher", BIT, NO_REPLICATION),
    zero("is_subscriber", BIT, NO_REPLICATION),
    zero("is_distributor", BIT, NO_REPLICATION),
    zero("is_nonsql_subscriber", BIT, NO_REPLICATION),
    zero("is_remote_proc_transaction_promotion_enabled", BIT, NO_DTC),
    fixed("modify_date", SqlType::DateTime, Constant::Released, ITSELF),
    zero("is_rda_server", BIT, NO_STRETCH),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "servers", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(vec![vec![text(system.server), text(system.server)]])
}
