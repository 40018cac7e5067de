//! What trusted CHECK constraints say of the columns that a statement mentions: plans read nothing
//! where a condition contradicts them.
//!
//! Only comparisons of columns with constants, IN lists and their ANDs, ORs and NOTs are told:
//! binding them meets no error and changes nothing of the statement. A constraint is not false for
//! any row; so for a column that is not NULL it is true.

use crate::binder::Binder;
use crate::names::reference::Reference;
use catalog::view::{Object, Table};
use plan::{Predicate, Slot};
use std::sync::Arc;
use tsql::ast::{CompareOp, Condition, ConditionKind, Expr, ExprKind};

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
            let Ok(mut condition) = parsed else { continue };
            list(&mut condition);
            if is_plain(&condition, &mentioned) {
                let scope = self.new_row_scope(table, slots);
                told.extend(self.within(scope, |b| b.condition(&condition)));
            }
        }
        told
    }
}

/// A table with constraints, and where its columns are that the statement mentions.
fn checked(reference: &Reference) -> Option<(Arc<Table>, Vec<Option<Slot>>)> {
    let Object::Table(table) = &reference.object else { return None };
    if table.checks.is_empty() || reference.used.is_empty() {
        return None;
    }
    let slots = (0..table.columns.len()).map(|n| reference.used.get(&n).copied()).collect();
    Some((Arc::clone(table), slots))
}

/// Makes IN of `c = 1 OR c = 2 …`, which is what the normal form of a check makes of it: plans know
/// more of a list.
fn list(condition: &mut Condition) {
    use ConditionKind as C;
    match &mut condition.kind {
        C::And(parts) => parts.iter_mut().for_each(list),
        C::Not(inner) => {
            list(inner);
            if let C::InList { operand, list, negated: false } = &inner.kind {
                let (operand, list) = (operand.clone(), list.clone());
                condition.kind = C::InList { operand, list, negated: true };
            }
        }
        C::Or(parts) => match listed(parts) {
            Some(of) => condition.kind = of,
            None => parts.iter_mut().for_each(list),
        },
        _ => {}
    }
}

fn listed(parts: &[Condition]) -> Option<ConditionKind> {
    let (mut name, mut first, mut list) = (None, None, Vec::with_capacity(parts.len()));
    for part in parts {
        let ConditionKind::Compare { op: CompareOp::Equal, left, right } = &part.kind else {
            return None;
        };
        let ExprKind::Column(column) = &left.kind else { return None };
        let own: &str = &column.name;
        if *name.get_or_insert(own) != own {
            return None;
        }
        first.get_or_insert_with(|| left.clone());
        list.push((**right).clone());
    }
    Some(ConditionKind::InList { operand: first?, list, negated: false })
}

fn is_plain(condition: &Condition, mentioned: &dyn Fn(&str) -> bool) -> bool {
    use ConditionKind as C;
    let value = |x: &Expr| is_value(x, mentioned);
    match &condition.kind {
        C::Compare { left, right, .. } => value(left) && value(right),
        C::Between { operand, low, high, .. } => value(operand) && value(low) && value(high),
        C::InList { operand, list, .. } => value(operand) && list.iter().all(value),
        C::And(parts) | C::Or(parts) => parts.iter().all(|p| is_plain(p, mentioned)),
        C::Not(inner) => is_plain(inner, mentioned),
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
