//! Remote procedure calls: procedures by number or name, parameters with type and value.
//!
//! A message may hold many calls. They are decoded one by one, so that a message takes no more
//! memory than its bytes and one call.

use crate::encode::encode_value;
use crate::error::{PARAMETERS_MAX, TdsError, TdsResult, ValueFault};
use crate::headers::Headers;
use crate::reader::Reader;
use crate::table_value::TableParameter;
use crate::typeinfo::{TypeInfo, WireCollation, encode_type};
use crate::writer::WireWriter;
use types::{SqlType, Value};

/// The procedures that have a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u16)]
pub enum ProcId {
    /// sp_cursor
    Cursor = 1,
    /// sp_cursoropen
    CursorOpen = 2,
    /// sp_cursorprepare
    CursorPrepare = 3,
    /// sp_cursorexecute
    CursorExecute = 4,
    /// sp_cursorprepexec
    CursorPrepExec = 5,
    /// sp_cursorunprepare
    CursorUnprepare = 6,
    /// sp_cursorfetch
    CursorFetch = 7,
    /// sp_cursoroption
    CursorOption = 8,
    /// sp_cursorclose
    CursorClose = 9,
    /// sp_executesql
    ExecuteSql = 10,
    /// sp_prepare
    Prepare = 11,
    /// sp_execute
    Execute = 12,
    /// sp_prepexec
    PrepExec = 13,
    /// sp_prepexecrpc
    PrepExecRpc = 14,
    /// sp_unprepare
    Unprepare = 15,
}

/// Numbers and names, in order.
const PROCEDURES: [(ProcId, &str); 15] = [
    (ProcId::Cursor, "sp_cursor"),
    (ProcId::CursorOpen, "sp_cursoropen"),
    (ProcId::CursorPrepare, "sp_cursorprepare"),
    (ProcId::CursorExecute, "sp_cursorexecute"),
    (ProcId::CursorPrepExec, "sp_cursorprepexec"),
    (ProcId::CursorUnprepare, "sp_cursorunprepare"),
    (ProcId::CursorFetch, "sp_cursorfetch"),
    (ProcId::CursorOption, "sp_cursoroption"),
    (ProcId::CursorClose, "sp_cursorclose"),
    (ProcId::ExecuteSql, "sp_executesql"),
    (ProcId::Prepare, "sp_prepare"),
    (ProcId::Execute, "sp_execute"),
    (ProcId::PrepExec, "sp_prepexec"),
    (ProcId::PrepExecRpc, "sp_prepexecrpc"),
    (ProcId::Unprepare, "sp_unprepare"),
];

impl ProcId {
    /// The procedure of a number.
    pub fn from_number(n: u16) -> Option<ProcId> {
        let at = usize::from(n).checked_sub(1)?;
        PROCEDURES.get(at).map(|&(id, _)| id)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        PROCEDURES[usize::from(self as u16) - 1].1
    }
}

/// What a call calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Procedure {
    /// By number.
    Id(ProcId),
    /// By name, as written: perhaps with schema and brackets.
    Name(String),
}

impl Procedure {
    /// The procedure with a number, be it called by number or by (bare or sys-qualified) name.
    pub fn well_known(&self) -> Option<ProcId> {
        match self {
            Procedure::Id(id) => Some(*id),
            Procedure::Name(name) => {
                let bare = name.strip_prefix("[sys].").or_else(|| name.strip_prefix("sys."));
                let bare = bare.unwrap_or(name).trim_start_matches('[').trim_end_matches(']');
                PROCEDURES.iter().find(|(_, n)| n.eq_ignore_ascii_case(bare)).map(|&(id, _)| id)
            }
        }
    }
}

/// The option flags of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RpcOptions(pub u16);

impl RpcOptions {
    /// Compile anew.
    pub const WITH_RECOMPILE: u16 = 0x01;
    /// Send no column metadata.
    pub const NO_METADATA: u16 = 0x02;
    /// Parameters have the types of the last call.
    pub const REUSE_METADATA: u16 = 0x04;
}

/// A parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcParameter {
    /// Its name with `@`, empty when passed by position.
    pub name: String,
    /// Whether the client wants its value back.
    pub output: bool,
    /// Whether the procedure's default is to be taken instead of the value.
    pub default: bool,
    /// Its type.
    pub info: TypeInfo,
    /// Its value.
    pub value: Value,
    /// A table instead of type and value.
    pub table: Option<Box<TableParameter>>,
}

impl RpcParameter {
    /// An input parameter as a client of ours sends it.
    pub fn input(name: &str, sql: SqlType, value: Value) -> RpcParameter {
        let info = TypeInfo::of(sql, WireCollation::SQL_LATIN1_CI_AS);
        let (name, table) = (name.to_owned(), None);
        RpcParameter { name, output: false, default: false, info, value, table }
    }
}

/// One call.
#[derive(Clone, PartialEq, Debug)]
pub struct RpcCall {
    /// The procedure.
    pub procedure: Procedure,
    /// Its options.
    pub options: RpcOptions,
    /// Its parameters in order.
    pub parameters: Vec<RpcParameter>,
}

/// The calls of a message.
#[derive(Clone, Debug)]
pub struct RpcBatch<'a> {
    /// The message's headers.
    pub headers: Headers,
    rest: Reader<'a>,
}

/// Between calls: execute what precedes.
const SEPARATOR: u8 = 0xFF;
/// The same of TDS 7.1, which some clients still send. Also the length of the longest name.
const SEPARATOR_OLD: u8 = 0x80;
/// Between calls: do not execute what precedes.
const SEPARATOR_NO_EXEC: u8 = 0xFE;

/// Status flags of a parameter.
const BY_REF: u8 = 0x01;
const DEFAULT: u8 = 0x02;
const ENCRYPTED: u8 = 0x08;

/// Characters of a parameter's name with its `@`.
const PARAMETER_NAME_MAX: usize = 128;
/// Characters of a procedure's name of up to four parts.
const PROCEDURE_NAME_MAX: usize = 1046;

impl<'a> RpcBatch<'a> {
    pub(crate) fn decode(mut r: Reader<'a>) -> TdsResult<RpcBatch<'a>> {
        let headers = Headers::decode(&mut r)?;
        if r.is_empty() {
            return Err(TdsError::Truncated { offset: r.offset(), needed: 2 });
        }
        Ok(RpcBatch { headers, rest: r })
    }

    /// The next call, or none. After an error there are no more: the place of the next is lost.
    ///
    /// # Errors
    /// What is wrong with the call; `Parameter` says which of its parameters.
    pub fn next_call(&mut self) -> TdsResult<Option<RpcCall>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let call = self.decode_call();
        if call.is_err() {
            self.rest = Reader::new(&[]);
        }
        call.map(Some)
    }

    /// Whether a call follows: decides DONE_MORE on the one before.
    pub fn has_more(&self) -> bool {
        !self.rest.is_empty()
    }

    fn decode_call(&mut self) -> TdsResult<RpcCall> {
        let procedure = self.decode_procedure()?;
        let options = RpcOptions(self.rest.u16()?);
        let mut parameters = Vec::new();
        while !self.rest.is_empty() {
            if self.at_separator() {
                if self.rest.u8()? == SEPARATOR_NO_EXEC {
                    return Err(TdsError::Unsupported { feature: "RPC batch flag NoExec" });
                }
                break;
            }
            if parameters.len() == PARAMETERS_MAX {
                return Err(TdsError::TooManyParameters);
            }
            parameters.push(self.decode_parameter(parameters.len() + 1)?);
        }
        Ok(RpcCall { procedure, options, parameters })
    }

    fn at_separator(&self) -> bool {
        match self.rest.peek() {
            Some(SEPARATOR | SEPARATOR_NO_EXEC) => true,
            // A name of 128 characters begins with "@".
            Some(SEPARATOR_OLD) => !self.rest.rest()[1..].starts_with(b"@\0"),
            _ => false,
        }
    }

    fn decode_procedure(&mut self) -> TdsResult<Procedure> {
        if self.rest.rest().starts_with(&[0xFF, 0xFF]) {
            self.rest.u16()?;
            let number = self.rest.u16()?;
            return ProcId::from_number(number).map(Procedure::Id).ok_or(TdsError::RpcName);
        }
        let name = self.rest.us_varchar()?;
        if name.is_empty() || name.len() > PROCEDURE_NAME_MAX * 3 {
            return Err(TdsError::RpcName);
        }
        Ok(Procedure::Name(name))
    }

    fn decode_parameter(&mut self, ordinal: usize) -> TdsResult<RpcParameter> {
        let name = self.rest.b_varchar()?;
        let flags = self.rest.u8()?;
        let about = |e: TdsError| match e {
            TdsError::Value { fault } => TdsError::Parameter { ordinal, name: name.clone(), fault },
            other => other,
        };
        if name.encode_utf16().count() > PARAMETER_NAME_MAX {
            return Err(about(TdsError::Value { fault: ValueFault::Name }));
        }
        if flags & ENCRYPTED != 0 {
            return Err(TdsError::Unsupported { feature: "Always Encrypted" });
        }
        if flags & !(BY_REF | DEFAULT) != 0 {
            return Err(about(TdsError::Value { fault: ValueFault::StatusFlags }));
        }
        let (output, default) = (flags & BY_REF != 0, flags & DEFAULT != 0);
        if TableParameter::is_at(&self.rest) {
            let table = Some(Box::new(TableParameter::decode(&mut self.rest).map_err(about)?));
            let info = TypeInfo::of(SqlType::Int, WireCollation::NONE);
            let value = Value::Null;
            return Ok(RpcParameter { name, output, default, info, value, table });
        }
        let info = TypeInfo::decode(&mut self.rest).map_err(about)?;
        let value = info.decode_value(&mut self.rest).map_err(about)?;
        Ok(RpcParameter { name, output, default, info, value, table: None })
    }
}

/// Appends the payload of a message with some calls.
///
/// # Errors
/// `Parameter` when a value is not of its parameter's type.
pub fn encode_rpc(headers: &Headers, calls: &[RpcCall], out: &mut Vec<u8>) -> TdsResult<()> {
    headers.encode(out);
    for (i, call) in calls.iter().enumerate() {
        if i > 0 {
            out.put_u8(SEPARATOR);
        }
        match &call.procedure {
            Procedure::Id(id) => {
                out.put_u16(0xFFFF);
                out.put_u16(*id as u16);
            }
            Procedure::Name(name) => out.put_us_varchar(name),
        }
        out.put_u16(call.options.0);
        for (i, p) in call.parameters.iter().enumerate() {
            encode_parameter(i + 1, p, out)?;
        }
    }
    Ok(())
}

fn encode_parameter(ordinal: usize, p: &RpcParameter, out: &mut Vec<u8>) -> TdsResult<()> {
    out.put_b_varchar(&p.name);
    let by_ref = if p.output { BY_REF } else { 0 };
    let default = if p.default { DEFAULT } else { 0 };
    out.put_u8(by_ref | default);
    let sql = p.info.sql.modern();
    encode_type(sql, p.info.collation, out);
    encode_value(sql, p.info.collation, &p.value, out).map_err(|e| match e {
        TdsError::Value { fault } => TdsError::Parameter { ordinal, name: p.name.clone(), fault },
        other => other,
    })
}
