//! What trusted CHECK constraints say of the columns that a statement mentions: plans read nothing
//! where a condition contradicts them.
//!
//! Only comparisons of columns with constants, IN lists and their ANDs and ORs are told: binding
//! them meets no error and changes nothing of the statement. A constraint is not false for any row;
//! so for a column that is not NULL it is true.

use crate::binder::{Binder, ReferenceState};
use catalog::view::{Object, Table};
use plan::{Predicate, Slot};
use std::sync::Arc;
use tsql::ast::{Condition, ConditionKind, Expr, ExprKind};

impl Binder<'_> {
    /// Of each table that is referred to.
    pub(crate) fn known_checks(&mut self) -> Vec<Vec<Predicate>> {
        let tables: Vec<_> = self.references.iter().map(checked).collect();
        tables.into_iter().map(|table| table.map_or_else(Vec::new, |t| self.told(&t))).collect()
    }

    fn told(&mut self, (table, slots): &(Arc<Table>, Vec<Option<Slot>>)) -> Vec<Predicate> {
        let trusted = table.checks.iter().filter(|c| !c.disabled && !c.not_trusted);
        let mentioned = |name: &str| {
            let named = |c: &catalog::view::Column| c.name.eq_ignore_ascii_case(name);
            table.columns.iter().zip(slots).any(|(c, slot)| slot.is_some() && named(c))
        };
        let mut told = Vec::new();
        for check in trusted {
            let parsed = tsql::parse_condition(&check.text, tsql::ParseOptions::default());
            let Ok(condition) = parsed else { continue };
            if is_plain(&condition, &mentioned) {
                let scope = self.new_row_scope(table, slots);
                told.extend(self.within(scope, |b| b.condition(&condition)));
            }
        }
        told
    }
}

/// A table with constraints, and where its columns are that the statement mentions.
fn checked(state: &ReferenceState) -> Option<(Arc<Table>, Vec<Option<Slot>>)> {
    let Object::Table(table) = &state.reference else { return None };
    if table.checks.is_empty() || state.used.is_empty() {
        return None;
    }
    let slots = (0..table.columns.len()).map(|n| state.used.get(&n).copied()).collect();
    Some((Arc::clone(table), slots))
}

fn is_plain(condition: &Condition, mentioned: &dyn Fn(&str) -> bool) -> bool {
    use ConditionKind as C;
    let value = |x: &Expr| is_value(x, mentioned);
    match &condition.kind {
        C::Compare { left, right, .. } => value(left) && value(right),
        C::Between { operand, low, high, .. } => value(operand) && value(low) && value(high),
        C::InList { operand, list, .. } => value(operand) && list.iter().all(value),
        C::And(parts) | C::Or(parts) => parts.iter().all(|p| is_plain(p, mentioned)),
        _ => false,
    }
}

fn is_value(x: &Expr, mentioned: &dyn Fn(&str) -> bool) -> bool {
    match &x.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Unary { operand, .. } => matches!(operand.kind, ExprKind::Literal(_)),
        ExprKind::Column(column) => column.qualifier.is_none() && mentioned(&column.name),
        _ => false,
    }
}
