//! `sys.dm_exec_text_query_plan(plan, start, end)`: the plan of one statement as text; with 0 and
//! -1 the plans of all statements.

use super::exec_query_plan::row;
use super::plan_list::{self, HANDLE};
use crate::cell::{int_argument, text};
use crate::column::{Column, maybe, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 5] = [
    maybe("dbid", SqlType::SmallInt),
    maybe("objectid", SqlType::Int),
    maybe("number", SqlType::SmallInt),
    zero("encrypted", SqlType::Bit, "WITH ENCRYPTION does not exist."),
    maybe("query_plan", SqlType::NVARCHAR_MAX),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_text_query_plan",
    parameters: Some(&[
        ("@plan_handle", HANDLE),
        ("@statement_start_offset", SqlType::Int),
        ("@statement_end_offset", SqlType::Int),
    ]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let at = |n: usize, default: i64| {
        let given = int_argument(arguments.get(n)).unwrap_or(default);
        i32::try_from(given).unwrap_or(i32::MAX)
    };
    let statement = Some((at(1, 0), at(2, -1))).filter(|&s| s != (0, -1));
    let found = plan_list::by_plan(system, arguments.first());
    Ok(found.map(|entry| row(system, &entry, statement, text)).into_iter().collect())
}
