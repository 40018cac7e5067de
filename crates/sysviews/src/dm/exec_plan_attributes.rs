//! `sys.dm_exec_plan_attributes(plan)`: the settings of a program's compilation, and its cache key.

use super::plan_list::{self, HANDLE};
use crate::cell::{bit, code, int, variant};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use plancache::Entry;
use session::{Program, Settings, Switches};
use types::{SqlType, Value};

const COLUMNS: [Column; 3] = [
    col("attribute", SqlType::varchar(128)),
    maybe("value", SqlType::Variant),
    col("is_cache_key", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_plan_attributes",
    parameters: Some(&[("@handle", HANDLE)]),
    columns: &COLUMNS,
    rows,
};

/// The bits of `set_options`, which differ from those of `@@OPTIONS`.
const SET_OPTIONS: [(Switches, u32); 8] = [
    (Switches::ANSI_PADDING, 1),
    (Switches::CONCAT_NULL_YIELDS_NULL, 8),
    (Switches::ANSI_WARNINGS, 16),
    (Switches::ANSI_NULLS, 32),
    (Switches::QUOTED_IDENTIFIER, 64),
    (Switches::ANSI_NULL_DFLT_ON, 128),
    (Switches::ARITHABORT, 4096),
    (Switches::NUMERIC_ROUNDABORT, 8192),
];

fn set_options(key: u64) -> u32 {
    let on = Settings::switches_of(key);
    SET_OPTIONS.iter().filter(|(switch, _)| on & switch.bits() != 0).map(|(_, bit)| bit).sum()
}

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let found = plan_list::by_plan(system, arguments.first());
    Ok(found.map(|entry| attributes(&entry)).unwrap_or_default())
}

fn attributes(entry: &Entry<Program>) -> Vec<Vec<Value>> {
    let key = entry.key();
    let object = match plan_list::module(entry) {
        Some((_, object)) => object,
        // SQL Server, too, shows a hash of the text.
        None => entry.text_handle().fingerprint.half() as i32,
    };
    let row = |name: &str, value: Value, is_key| vec![code(name), value, bit(is_key)];
    let number = |n: i64| variant(int(n), SqlType::Int);
    let handle = Value::varbinary(&entry.text_handle().bytes());
    vec![
        row("set_options", number(set_options(key.options).into()), true),
        row("objectid", number(object.into()), true),
        row("dbid", variant(Value::SmallInt(key.database.0 as i16), SqlType::SmallInt), true),
        row("dbid_execute", variant(Value::SmallInt(0), SqlType::SmallInt), true),
        // A name without schema means dbo in every session, so all sessions share plans.
        row("user_id", number(-2), true),
        row("language_id", number(Settings::language_of(key.options).into()), true),
        row("date_format", number(Settings::date_format_of(key.options).into()), true),
        row("date_first", number(Settings::date_first_of(key.options).into()), true),
        row("hits_exec_context", number(entry.uses().saturating_sub(1) as i64), false),
        row("sql_handle", variant(handle, SqlType::varbinary(64)), false),
    ]
}
