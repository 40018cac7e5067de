//! NEXT VALUE FOR: a value of a sequence is drawn once a row, whoever mentions it.
//!
//! A statement has one stream of rows in which values may be drawn: its select list, its VALUES,
//! its SET. The first mention of a sequence makes a [`Draw`] with a slot; every mention reads that
//! slot. A select list computes it above its rows, in the order that OVER wants; elsewhere it is
//! written by the first expression of the row that reads it.
//!
//! Drawing is a call of the session (`plan::UserCall`) whose function is the sequence: nothing
//! moves or repeats such a call.

use crate::binder::{Binder, unsupported};
use crate::query::{Ordering, Place};
use crate::select::computed_columns;
use base::{Message, SqlError, SqlResult, messages};
use catalog::view::Object;
use plan::{Logical, Scalar, ScalarKind, ScalarType, Slot, SortKey, UserCall, UserFunction};
use tsql::ast::{self, ExprKind};

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
    sequence: UserFunction,
    name: Box<str>,
    slot: Slot,
    ty: ScalarType,
    /// OVER (ORDER BY …)
    order: Option<Vec<(Scalar, bool)>>,
    /// Something writes the slot.
    placed: bool,
}

/// The draws of a statement.
pub(crate) struct Draws {
    pub(crate) rule: DrawRule,
    list: Vec<Draw>,
    /// What rows of a row constructor drew for themselves.
    by_rows: Vec<UserFunction>,
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

/// What the select list of a query may do.
pub(crate) fn list_rule(s: &ast::Select, ordering: Ordering<'_>, place: Place) -> DrawRule {
    DrawRule::Refused(match place {
        Place::Operand => messages::NEXT_VALUE_SET_OPERATION,
        Place::Derived | Place::Subquery { .. } | Place::Document => messages::NEXT_VALUE_NESTED,
        Place::Statement if s.distinct => messages::NEXT_VALUE_SET_OPERATION,
        Place::Statement if s.top.is_some() || ordering.offset.is_some() => {
            messages::NEXT_VALUE_TOP
        }
        Place::Statement => {
            return DrawRule::SelectList { ordered: !ordering.items.is_empty() };
        }
    })
}

/// Whether an expression may leave parts of it uncomputed.
pub(crate) fn is_conditional(kind: &ExprKind) -> bool {
    const FUNCTIONS: [&str; 4] = ["COALESCE", "NULLIF", "ISNULL", "CHOOSE"];
    match kind {
        ExprKind::Case(_) | ExprKind::Iif(_) => true,
        ExprKind::Function(call) => {
            FUNCTIONS.iter().any(|f| f.eq_ignore_ascii_case(&call.name.object))
        }
        _ => false,
    }
}

impl Binder<'_> {
    /// Binds a part under a rule.
    pub(crate) fn drawing<T>(
        &mut self,
        rule: DrawRule,
        part: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = std::mem::replace(&mut self.draws.rule, rule);
        let result = part(self);
        self.draws.rule = before;
        result
    }

    /// The same where nothing that was drawn before is known.
    pub(crate) fn drawing_anew<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let fresh = Draws { rule: self.draws.rule, ..Draws::default() };
        let before = std::mem::replace(&mut self.draws, fresh);
        let result = part(self);
        self.draws = before;
        result
    }

    /// `NEXT VALUE FOR sequence [OVER (ORDER BY …)]`
    pub(crate) fn next_value(&mut self, n: &ast::NextValue, line: u32) -> SqlResult<Scalar> {
        self.draw_allowed(n.over.is_some())?;
        let found = self.lookup(&n.sequence)?;
        let Object::Sequence(s) = &found.object else {
            return Err(SqlError::new(messages::NOT_A_SEQUENCE, &[&n.sequence]));
        };
        let order = n.over.as_ref().map(|over| self.draw_order(over, line)).transpose()?;
        let sequence = UserFunction { database: found.database.id(), object: s.object_id };
        if let Some(known) = self.draws.list.iter().find(|d| d.sequence == sequence) {
            if known.order != order && matches!(self.draws.rule, DrawRule::SelectList { .. }) {
                return Err(SqlError::new(messages::NEXT_VALUE_OVER_DIFFERS, &[]));
            }
            return Ok(Scalar::column(known.slot, known.ty));
        }
        if self.draws.by_rows.contains(&sequence) {
            return Err(SqlError::new(messages::NEXT_VALUE_ROW_CONSTRUCTOR, &[]));
        }
        let (slot, ty) = (self.new_slot(), self.plain(s.sql_type, true));
        let name = format!("NEXT VALUE FOR {}.{}", found.database.name(), s.two_part_name()).into();
        self.refer(&found.database, found.object.clone())?;
        self.header.calls = true;
        self.draws.list.push(Draw { sequence, name, slot, ty, order, placed: false });
        Ok(Scalar::column(slot, ty))
    }

    fn draw_allowed(&self, over: bool) -> SqlResult<()> {
        let scope = self.scopes.last();
        let refused = match self.draws.rule {
            _ if scope.is_some_and(|s| s.in_aggregate) => messages::NEXT_VALUE_AGGREGATE,
            _ if scope.is_some_and(|s| s.in_window) => messages::NEXT_VALUE_CLAUSE,
            DrawRule::Refused(why) => why,
            DrawRule::Row if over => messages::NEXT_VALUE_OVER,
            DrawRule::SelectList { ordered: true } if !over => messages::NEXT_VALUE_ORDER,
            DrawRule::Row | DrawRule::SelectList { .. } => return Ok(()),
        };
        Err(SqlError::new(refused, &[]))
    }

    fn draw_order(&mut self, over: &ast::Over, line: u32) -> SqlResult<Vec<(Scalar, bool)>> {
        if over.window.is_some() || over.frame.is_some() {
            return Err(unsupported("NEXT VALUE FOR over a named window or frame", line));
        }
        if !over.partition_by.is_empty() {
            return Err(SqlError::new(messages::NEXT_VALUE_PARTITION, &[]));
        }
        if over.order_by.is_empty() {
            return Err(SqlError::new(messages::NEXT_VALUE_OVER_EMPTY, &[]));
        }
        self.set_in_window(true);
        let window = self.window(over);
        self.set_in_window(false);
        Ok(window?.1)
    }

    /// Rows with the values that the select list draws.
    pub(crate) fn drawn_rows(&mut self, mut tree: Logical) -> Logical {
        for at in 0..self.draws.list.len() {
            let draw = &mut self.draws.list[at];
            if std::mem::replace(&mut draw.placed, true) {
                continue;
            }
            let (slot, call) = (draw.slot, draw.call());
            let order = draw.order.clone().unwrap_or_default();
            let mut columns = Vec::new();
            let mut keys: Vec<SortKey> = Vec::with_capacity(order.len());
            for (x, descending) in order {
                let (slot, collation) = self.slot_of(x, &mut columns);
                keys.push(SortKey { slot, collation, descending });
            }
            tree = computed_columns(tree, columns);
            if !keys.is_empty() {
                tree = Logical::Sort { input: Box::new(tree), keys };
            }
            tree = computed_columns(tree, vec![(slot, call)]);
        }
        tree
    }

    /// Lets the first of a row's expressions, in the order in which they are computed, draw what
    /// they read.
    pub(crate) fn draw_in(&mut self, values: &mut [&mut Scalar]) {
        for draw in self.draws.list.iter_mut().filter(|d| !d.placed) {
            let reader = values.iter_mut().find(|x| x.reads().slots.contains(&draw.slot));
            let Some(reader) = reader else { continue };
            let ty = reader.ty;
            let body = Box::new(std::mem::replace(*reader, Scalar::null(ty.sql_type)));
            let value = Box::new(draw.call());
            **reader = Scalar { kind: ScalarKind::Let { slot: draw.slot, value, body }, ty };
            draw.placed = true;
        }
    }

    /// A row of a row constructor draws for itself.
    pub(crate) fn draw_in_row(&mut self, row: &mut [Scalar], drawn: &mut Vec<UserFunction>) {
        let mut values: Vec<&mut Scalar> = row.iter_mut().collect();
        self.draw_in(&mut values);
        drawn.extend(self.draws.list.drain(..).map(|d| d.sequence));
    }

    /// What rows have drawn, a default of the statement cannot share (11731).
    pub(crate) fn set_drawn_by_rows(&mut self, drawn: Vec<UserFunction>) {
        self.draws.by_rows = drawn;
    }
}

impl Draw {
    fn call(&self) -> Scalar {
        let call = UserCall {
            function: self.sequence,
            name: self.name.clone(),
            null_on_null_input: false,
            args: Vec::new(),
        };
        Scalar { kind: ScalarKind::Call(Box::new(call)), ty: self.ty }
    }
}
