//! Who uses a function: checks, defaults and computed columns, whose texts name it.

use crate::binder::Binder;
use crate::environment::Environment;
use base::{ObjectId, SqlResult};
use catalog::view::{Check, Table};
use plan::Slot;

/// The part of a table that names a module: a constraint, or the table itself for a computed
/// column. A text that has no meaning any more uses nothing.
pub fn user_of(
    environment: &Environment<'_>,
    table: &Table,
    module: ObjectId,
    name: &str,
) -> Option<Box<str>> {
    let name = name.to_lowercase();
    let uses = |text: &str, bound: &dyn Fn(&mut Binder<'_>) -> SqlResult<()>| {
        // Most texts name no function, and need not be bound.
        text.to_lowercase().contains(&name) && {
            let mut binder = Binder::new(environment);
            bound(&mut binder).is_ok()
                && binder.header.references.iter().any(|r| r.object == module)
        }
    };
    let check = |c: &&Check| uses(&c.text, &|b| b.one_check(table, c));
    if let Some(c) = table.checks.iter().find(check) {
        return Some(c.name.clone());
    }
    for (n, c) in table.columns.iter().enumerate() {
        if let Some(d) = &c.default
            && uses(&d.text, &|b| b.default_value(table, n).map(drop))
        {
            return Some(d.name.clone());
        }
        if let Some(computed) = &c.computed
            && uses(&computed.text, &|b| b.one_computed(table, &computed.text))
        {
            return Some(table.name.clone());
        }
    }
    None
}

impl Binder<'_> {
    fn one_check(&mut self, table: &Table, check: &Check) -> SqlResult<()> {
        let slots = self.any_slots(table);
        let alone = Check { disabled: false, ..check.clone() };
        let table = Table { checks: vec![alone], ..table.clone() };
        self.checks(&table, &slots, None).map(drop)
    }

    fn one_computed(&mut self, table: &Table, text: &str) -> SqlResult<()> {
        let slots = self.any_slots(table);
        self.over_row(table, &slots, text).map(drop)
    }

    fn any_slots(&mut self, table: &Table) -> Vec<Option<Slot>> {
        table.columns.iter().map(|_| Some(self.new_slot())).collect()
    }
}
