//! NEXT VALUE FOR: a value of a sequence is drawn once a row, whoever mentions it.
//!
//! A statement has one stream of rows in which values may be drawn: its select list, its VALUES,
//! its SET. The first mention of a sequence makes a [`Draw`] with a slot; every mention reads that
//! slot. A select list computes it above its rows, in the order that OVER wants; elsewhere it is
//! written by the first expression of the row that reads it.
//!
//! Drawing is a call of the session (`plan::UserCall`) whose function is the sequence: nothing
//! moves or repeats such a call.

use crate::binder::Binder;
use crate::expressions::draws::{Draw, DrawRule};
use crate::refusal::unsupported;
use crate::tree::computed_columns;
use base::{SqlError, SqlResult, messages};
use catalog::view::Object;
use plan::{Logical, Scalar, SortKey, UserFunction};
use tsql::ast;

impl Binder<'_> {
    /// Binds a part under a rule.
    pub(crate) fn drawing<T>(
        &mut self,
        rule: DrawRule,
        part: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let before = self.draws.replace_rule(rule);
        let result = part(self);
        self.draws.replace_rule(before);
        result
    }

    /// The same where nothing that was drawn before is known.
    pub(crate) fn drawing_anew<T>(
        &mut self,
        part: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let fresh = self.draws.renewed();
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
        if let Some(known) = self.draws.known(sequence) {
            if known.order != order && matches!(self.draws.rule(), DrawRule::SelectList { .. }) {
                return Err(SqlError::new(messages::NEXT_VALUE_OVER_DIFFERS, &[]));
            }
            return Ok(Scalar::column(known.slot, known.ty));
        }
        if self.draws.is_drawn_by_rows(sequence) {
            return Err(SqlError::new(messages::NEXT_VALUE_ROW_CONSTRUCTOR, &[]));
        }
        let (slot, ty) = (self.new_slot(), self.plain(s.sql_type, true));
        let name = format!("NEXT VALUE FOR {}.{}", found.database.name(), s.two_part_name()).into();
        self.refer(&found.database, found.object.clone())?;
        self.header.calls = true;
        self.draws.add(Draw { sequence, name, slot, ty, order, placed: false });
        Ok(Scalar::column(slot, ty))
    }

    fn draw_allowed(&self, over: bool) -> SqlResult<()> {
        let scope = self.scopes.last();
        let refused = match self.draws.rule() {
            _ if scope.is_some_and(|s| s.in_aggregate) => messages::NEXT_VALUE_AGGREGATE,
            _ if scope.is_some_and(|s| s.in_window) => messages::NEXT_VALUE_CLAUSE,
            DrawRule::Refused(why) => why,
            DrawRule::Row if over => messages::NEXT_VALUE_OVER,
            DrawRule::SelectList { ordered: true } if !over => messages::NEXT_VALUE_ORDER,
            DrawRule::Row | DrawRule::SelectList { .. } => return Ok(()),
        };
        Err(SqlError::new(refused, &[]))
    }

    fn draw_order(&mut self, over: &ast::OverClause, line: u32) -> SqlResult<Vec<(Scalar, bool)>> {
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
        while let Some((slot, call, order)) = self.draws.place_next() {
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
}
