//! A call of a procedure, from text or from a client, and its arguments.

use crate::cursors::cursor::SharedCursor;
use crate::request::{Parameter, TableValue};
use crate::session::registry::Input;
use crate::showplan::cached::shown_text;
use crate::tables::private::PrivateTable;
use base::{SqlError, messages};
use catalog::view::UserType;
use std::sync::Arc;
use types::{SqlType, Value};

/// A call of a procedure, from text or from a client.
#[derive(Default)]
pub(crate) struct Call {
    pub(crate) arguments: Vec<CallArgument>,
    /// EXECUTE … WITH RECOMPILE: the plan is made for this call and not kept.
    pub(crate) recompile: bool,
    /// Whether a text that ends early returns the number of its error as its status.
    pub(crate) tells_error: bool,
}

/// An argument of a [`Call`]. The value of an output argument is replaced.
pub(crate) struct CallArgument {
    pub(crate) name: Option<Box<str>>,
    pub(crate) value: Value,
    pub(crate) sql_type: SqlType,
    pub(crate) output: bool,
    pub(crate) default: bool,
    /// A table or cursor instead of a value.
    pub(crate) table: Option<PassedObject>,
}

impl Call {
    pub(crate) fn of_parameters(parameters: Vec<Parameter>) -> Call {
        let argument = |p: Parameter| CallArgument {
            name: (!p.name.is_empty()).then(|| p.name.into_boxed_str()),
            value: p.value,
            sql_type: p.sql_type,
            output: p.output,
            default: p.default,
            table: p.table.map(PassedObject::Sent),
        };
        Call { arguments: parameters.into_iter().map(argument).collect(), ..Call::default() }
    }

    /// The text that a call by number runs or prepares, for the views.
    pub(crate) fn input_of(&self, number: u16) -> Input {
        let at = |n: usize| self.arguments.get(n)?.value.as_text().filter(|t| !t.is_empty());
        let text = match number {
            2 => at(1),
            5 => at(3),
            7 => Some("sp_cursorfetch".to_owned()),
            10 => at(0).map(|text| shown_text(&at(1).unwrap_or_default(), &text)),
            11 | 13 => at(2).map(|text| shown_text(&at(1).unwrap_or_default(), &text)),
            12 => Some("sp_execute".to_owned()),
            14 => at(1),
            15 => Some("sp_unprepare".to_owned()),
            _ => None,
        };
        Input::call(&text.unwrap_or_default(), self.arguments.len())
    }

    /// Removes the first arguments, which are those of the system procedure itself.
    pub(crate) fn rest(&mut self, own: usize) -> Call {
        let at = own.min(self.arguments.len());
        Call { arguments: self.arguments.split_off(at), ..Call::default() }
    }
}

/// An argument that is not a scalar value.
pub(crate) enum PassedObject {
    /// A table variable of the caller, and its type.
    Made(Arc<PrivateTable>, Option<Arc<UserType>>),
    /// Rows that a client sends.
    Sent(Box<TableValue>),
    /// A cursor variable of the caller.
    Cursor(GivenCursor),
}

impl PassedObject {
    /// The name of its type for errors.
    fn type_name(&self) -> &str {
        match self {
            PassedObject::Made(_, Some(of)) => &of.name,
            PassedObject::Made(_, None) => "table",
            PassedObject::Sent(table) => {
                let last = table.type_name.rsplit('.').next().unwrap_or_default();
                last.trim_matches(['[', ']'])
            }
            PassedObject::Cursor(_) => "cursor",
        }
    }

    /// Error 206: the parameter has another type.
    pub(crate) fn clash(&self, wanted: &str) -> SqlError {
        SqlError::new(messages::OPERAND_CLASH, &[&self.type_name(), &wanted])
    }
}

/// A cursor variable as an argument.
pub(crate) struct GivenCursor {
    pub(crate) name: Box<str>,
    /// Whether it already has a cursor.
    pub(crate) allocated: bool,
    /// The cursor that the procedure returns.
    pub(crate) returned: Option<SharedCursor>,
}
