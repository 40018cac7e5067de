//! Values that a statement draws from sequences, and where it may.

use base::{Message, messages};
use plan::{Scalar, ScalarKind, ScalarType, Slot, UserCall, UserFunction};

/// What a mention may do where it stands.
#[derive(Clone, Copy)]
pub(crate) enum DrawRule {
    /// A select list; `ordered`: only with OVER.
    SelectList { ordered: bool },
    /// VALUES, SET, a default, an expression alone: without OVER.
    Row,
    /// Not at all, and why.
    Refused(Message),
}

/// A value drawn once a row.
pub(crate) struct Draw {
    pub(crate) sequence: UserFunction,
    pub(crate) name: Box<str>,
    pub(crate) slot: Slot,
    pub(crate) ty: ScalarType,
    /// OVER (ORDER BY …)
    pub(crate) order: Option<Vec<(Scalar, bool)>>,
    /// Something writes the slot.
    pub(crate) placed: bool,
}

impl Draw {
    /// The call of the session that draws.
    pub(crate) fn call(&self) -> Scalar {
        let call = UserCall {
            function: self.sequence,
            name: self.name.clone(),
            null_on_null_input: false,
            args: Vec::new(),
        };
        Scalar { kind: ScalarKind::Call(Box::new(call)), ty: self.ty }
    }
}

/// The draws of a statement.
pub(crate) struct Draws {
    pub(crate) rule: DrawRule,
    pub(crate) list: Vec<Draw>,
    /// What rows of a row constructor drew for themselves.
    pub(crate) by_rows: Vec<UserFunction>,
}

impl Default for Draws {
    fn default() -> Self {
        let rule = DrawRule::Refused(messages::NEXT_VALUE_CLAUSE);
        Draws { rule, list: Vec::new(), by_rows: Vec::new() }
    }
}

impl Draws {
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.by_rows.is_empty()
    }
}
