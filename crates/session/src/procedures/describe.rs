//! `sp_describe_first_result_set @tsql [, @params [, @browse_information_mode]]`: the columns of
//! the first result of a text, which is not run.
//!
//! The text is processed as under SET FMTONLY, in all branches, and no SET in the text changes
//! that. The columns of the first query are the answer. If branches have different columns, SQL
//! Server refuses (11509 and related errors); this implementation returns the first. `tds_length`
//! of decimals, max types and xml is from memory.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::{
    ClosedSink, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use types::{SqlType, Value};

/// The most messages that are kept; nobody reads more.
const MESSAGES_MAX: usize = 100;

/// Keeps the columns of the first result, and the messages before it.
#[derive(Default)]
struct FirstResult {
    columns: Option<Vec<ResultColumn>>,
    messages: Vec<SqlError>,
}

impl ResultSink for FirstResult {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        self.columns.get_or_insert_with(|| columns.to_vec());
        Ok(())
    }

    fn row(&mut self, _: &[Value]) -> Result<(), ClosedSink> {
        Ok(())
    }

    fn message(&mut self, message: &SqlError) {
        if self.messages.len() < MESSAGES_MAX {
            self.messages.push(message.clone());
        }
    }

    fn done(&mut self, _: Completion) {}

    fn return_status(&mut self, _: i32) {}

    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}

    fn environment(&mut self, _: &EnvironmentChange) {}
}

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let text = call.text("@tsql", 0).unwrap_or_default();
    let parameters = call.text("@params", 1).unwrap_or_default();
    if call.number("@browse_information_mode", 2).is_some_and(|mode| mode != 0) {
        return Err(Failure::unsupported(
            "@browse_information_mode of sp_describe_first_result_set",
        ));
    }
    let mut first = FirstResult::default();
    let result = columns_of(session, &parameters, &text, &mut first);
    let broken = |m: &SqlError| m.severity() > 10;
    if first.columns.is_none() && (result.is_err() || first.messages.iter().any(broken)) {
        first.messages.iter().for_each(|m| out.message(m));
        let unanalyzed = SqlError::new(messages::DESCRIBE_COMPILE, &[]);
        return match result {
            Err(failure) if !failure.told => Err(failure),
            Ok(_) | Err(_) => Err(unanalyzed.into()),
        };
    }
    let columns = first.columns.unwrap_or_default();
    let rows = columns.iter().zip(1..).map(|(c, at)| described(c, at)).collect();
    session.send_rowset(&Rowset { columns: shape(), rows }, out, DoneScope::InProcedure)?;
    Ok(0)
}

/// The columns of a text that is not run.
fn columns_of(
    session: &mut Session,
    parameters: &str,
    text: &str,
    first: &mut FirstResult,
) -> Result<(), Failure> {
    let mut out = Output::new(first);
    let entry = match session.prepared_program(parameters, text) {
        Ok(entry) => entry,
        Err(errors) => return Err(session.tell_all(errors, DoneScope::InProcedure, &mut out)),
    };
    let was = std::mem::replace(&mut session.flow.describing, true);
    let mut act = session.idle.take(&entry);
    let result = session.run_nested(&mut act, &mut out, DoneScope::InProcedure);
    session.flow.describing = was;
    session.drop_tables(&mut act);
    session.idle.give_back(act);
    result.map(drop)
}

const BIT: SqlType = SqlType::Bit;

const INT: SqlType = SqlType::Int;

const NAME: SqlType = SqlType::SYSNAME;

/// The columns of the answer.
fn shape() -> Vec<(String, SqlType, bool)> {
    let shape: [(&str, SqlType, bool); 39] = [
        ("is_hidden", BIT, false),
        ("column_ordinal", INT, false),
        ("name", NAME, true),
        ("is_nullable", BIT, false),
        ("system_type_id", INT, false),
        ("system_type_name", SqlType::nvarchar(256), true),
        ("max_length", SqlType::SmallInt, false),
        ("precision", SqlType::TinyInt, false),
        ("scale", SqlType::TinyInt, false),
        ("collation_name", NAME, true),
        ("user_type_id", INT, true),
        ("user_type_database", NAME, true),
        ("user_type_schema", NAME, true),
        ("user_type_name", NAME, true),
        ("assembly_qualified_type_name", SqlType::nvarchar(4000), true),
        ("xml_collection_id", INT, true),
        ("xml_collection_database", NAME, true),
        ("xml_collection_schema", NAME, true),
        ("xml_collection_name", NAME, true),
        ("is_xml_document", BIT, false),
        ("is_case_sensitive", BIT, false),
        ("is_fixed_length_clr_type", BIT, false),
        ("source_server", NAME, true),
        ("source_database", NAME, true),
        ("source_schema", NAME, true),
        ("source_table", NAME, true),
        ("source_column", NAME, true),
        ("is_identity_column", BIT, true),
        ("is_part_of_unique_key", BIT, true),
        ("is_updateable", BIT, true),
        ("is_computed_column", BIT, true),
        ("is_sparse_column_set", BIT, true),
        ("ordinal_in_order_by_list", SqlType::SmallInt, true),
        ("order_by_is_descending", SqlType::SmallInt, true),
        ("order_by_list_length", SqlType::SmallInt, true),
        ("tds_type_id", INT, false),
        ("tds_length", INT, false),
        ("tds_collation_id", INT, true),
        ("tds_collation_sort_id", SqlType::TinyInt, true),
    ];
    shape.into_iter().map(|(name, t, nullable)| (name.to_owned(), t, nullable)).collect()
}

/// The row of a column.
fn described(c: &ResultColumn, ordinal: i32) -> Vec<Value> {
    let t = c.sql_type;
    let letters = t.is_character();
    let [a, b, d, e, sort] = c.collation.tds_bytes();
    let only = |value: Value| if letters { value } else { Value::Null };
    let mut row = vec![
        Value::Bit(false),
        Value::Int(ordinal),
        if c.name.is_empty() { Value::Null } else { Value::nvarchar(&c.name) },
        Value::Bit(c.nullable),
        Value::Int(t.system_type_id().into()),
        Value::nvarchar(&t.to_string()),
        Value::SmallInt(t.max_length()),
        Value::TinyInt(t.precision()),
        Value::TinyInt(t.scale()),
        only(Value::nvarchar(c.collation.name())),
    ];
    // Columns about user types and schema collections.
    row.resize(19, Value::Null);
    row.push(Value::Bit(false));
    row.push(Value::Bit(letters && c.collation.is_case_sensitive()));
    row.push(Value::Bit(false));
    // Source columns are filled in browse mode only.
    row.resize(27, Value::Null);
    row.push(Value::Bit(c.identity));
    row.push(Value::Null);
    row.push(Value::Bit(!c.computed && !c.identity));
    row.push(Value::Bit(c.computed));
    row.push(Value::Bit(false));
    row.resize(35, Value::Null);
    let (id, length) = on_the_wire(t, c.nullable);
    row.push(Value::Int(id));
    row.push(Value::Int(length));
    row.push(only(Value::Int(i32::from_le_bytes([a, b, d, e]))));
    row.push(only(Value::TinyInt(sort)));
    row
}

/// The number and length of a type in TDS (MS-TDS 2.2.5.4). Nullable types have others.
pub(super) fn on_the_wire(t: SqlType, nullable: bool) -> (i32, i32) {
    let own = i32::from(t.system_type_id());
    let bytes = i32::from(t.max_length());
    let id = match t {
        SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt if nullable => 38,
        SqlType::Bit if nullable => 104,
        SqlType::Real | SqlType::Float if nullable => 109,
        SqlType::SmallMoney | SqlType::Money if nullable => 110,
        SqlType::SmallDateTime | SqlType::DateTime if nullable => 111,
        SqlType::Decimal { .. } => 108,
        _ => own,
    };
    let length = match t {
        SqlType::Decimal { .. } => 17,
        _ if bytes < 0 => 65_535,
        _ => bytes,
    };
    (id, length)
}
