//! Triggers: fired when a statement has changed its rows, before the statement ends.
//!
//! The plan of a change whose table has triggers writes old and new rows into tables of tempdb as
//! it runs (`plan::TriggerFiring`). The session then runs each trigger as a program that sees these
//! tables as `deleted` and `inserted`. A trigger runs within the statement's transaction.
//!
//! Invariants
//!  1. Captured rows exist while the statement's triggers run, and are removed when it ends.
//!  2. A trigger does not fire itself directly unless RECURSIVE_TRIGGERS is ON; an INSTEAD OF
//!     trigger never does.
//!  3. When a trigger ends the transaction, the statement's batch ends (3609). When a trigger dooms
//!     the transaction, catches the error and goes on, no further trigger fires, and batch and
//!     transaction end (3616).
//!  4. A transaction that a trigger begins within the statement's own, and does not end, remains
//!     open as the user's.

use crate::answer::failure::{Failure, Reach};
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::configuration::Setting;
use crate::program::programs::module_program;
use crate::program::steps::PlaceId;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::state::{Firing, State};
use crate::tables::private::{PrivatePart, PrivateTable};
use access::{Isolation, LockPlan, ScanRange};
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Column, DatabaseView, Events, Module, Object, Table, captured_rows};
use exec::{ExecContext, Executor, Outcome};
use plan::{CAPTURES, TriggerFiring};
use std::sync::Arc;

impl Session {
    /// Runs a change and the triggers that it fires.
    pub(crate) fn run_firing<R>(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        out: &mut Output<'_>,
        run: R,
    ) -> Result<Outcome, Failure>
    where
        R: FnOnce(&mut Executor, &mut ExecContext<'_>, &mut Output<'_>) -> SqlResult<Outcome>,
    {
        // Triggers may follow a commit of the change, so that commit is not the last thing.
        self.flow.last = false;
        let own = self.begin_change(act, place)?;
        let point = (!own).then(|| self.rollback_point());
        let changed = self.change_captured(act, place, |e, c| run(e, c, out));
        let fired = match changed {
            Ok(outcome) => self.fire_all(act, place, own, outcome, out),
            Err(e) => Err(e),
        };
        self.drop_captures(act);
        match fired {
            Ok(outcome) if self.work.is_active() => {
                let own = own && !self.outlasts_statement();
                self.end_statement(own, Ok(outcome), None)
            }
            Ok(_) => {
                let mut failure =
                    Failure::from(SqlError::new(messages::TRANSACTION_ENDED_IN_TRIGGER, &[]));
                failure.reach = Reach::Batch;
                Err(failure)
            }
            Err(failure) => {
                if !self.work.is_active() {
                    return Err(failure);
                }
                match &point {
                    Some(point) if !self.state.transaction.doomed => {
                        self.roll_back_to(point)?;
                        self.work.locks().release_short(self.work.owner());
                    }
                    Some(_) => {}
                    None => self.roll_back_work()?,
                }
                Err(failure)
            }
        }
    }

    /// Whether a trigger has begun a transaction within the statement's own that is still open.
    fn outlasts_statement(&mut self) -> bool {
        if self.state.transaction.count < 2 {
            return false;
        }
        self.state.transaction.count -= 1;
        self.work.adopt();
        self.note_transaction();
        true
    }

    /// The change itself; captures its rows.
    fn change_captured(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        run: impl FnOnce(&mut Executor, &mut ExecContext<'_>) -> SqlResult<Outcome>,
    ) -> Result<Outcome, Failure> {
        let part: PrivatePart = self.begin_private(act, place)?;
        let result = self.with_context(act, place, run);
        self.end_private(&part, result.is_ok())?;
        Ok(result?)
    }

    fn fire_all(
        &mut self,
        act: &mut Activation,
        place: PlaceId,
        own: bool,
        outcome: Outcome,
        out: &mut Output<'_>,
    ) -> Result<Outcome, Failure> {
        let ready = act.ready[place].as_ref().expect("it has just run");
        let plan = Arc::clone(&ready.plan);
        if own {
            // A trigger sees the statement's own transaction as the user's.
            self.enter_own_transaction();
        }
        if outcome.identity.is_some() {
            self.state.identity.scope = outcome.identity;
            self.state.identity.last = outcome.identity;
        }
        for fired in &plan.header.fires {
            // A cascade that has changed no row fires no trigger; a statement always fires its
            // triggers.
            let own = plan.statement.target().is_some_and(|t| t.object == fired.object);
            let named = own || fired.instead_of;
            if !named && !self.has_captured(act, fired)? {
                continue;
            }
            if self.state.nests_no_further(fired) {
                continue;
            }
            for module in self.state.triggers_of(fired) {
                // Invariant 2.
                let here = fired.database == self.state.database.id;
                if here
                    && module.object_id == self.state.nesting.object
                    && !self.state.recursive(fired.database)
                {
                    continue;
                }
                self.state.last.rows = outcome.rows_affected;
                self.state.last.error = 0;
                self.fire(act, fired, &module, out)?;
                // Invariant 3.
                if self.state.transaction.doomed {
                    return Err(SqlError::new(messages::TRIGGER_RAISED, &[]).into());
                }
                if !self.work.is_active() {
                    return Ok(outcome);
                }
            }
        }
        // The last identity value is that of a trigger's INSERT. The statement's own has already
        // been recorded.
        Ok(Outcome { identity: None, ..outcome })
    }

    /// Runs one trigger.
    fn fire(
        &mut self,
        act: &Activation,
        fired: &TriggerFiring,
        module: &Arc<Module>,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let Some(view) = self.state.view(fired.database) else { return Ok(()) };
        let tables = given_tables(&view, fired.object);
        let text = (&*module.text).into();
        let mut declarer = self.declarer(fired.database, &text);
        let entry = match module_program(&mut declarer, module, false, &tables) {
            Ok(entry) => entry,
            Err(errors) => return Err(self.tell_all(errors, DoneScope::InProcedure, out)),
        };
        let mut inner = self.idle.take(&entry);
        inner.tables =
            vec![captured(act, fired.inserted).cloned(), captured(act, fired.deleted).cloned()];
        inner.tables.resize(entry.value.tables.len(), None);
        let level = self.state.nesting.firing.level + 1;
        let firing = Firing { level, columns: fired.columns.clone() };
        let before = std::mem::replace(&mut self.state.nesting.firing, firing);
        if fired.instead_of {
            self.state.nesting.instead.push((fired.database, module.object_id));
        }
        let result = self.in_database_of(fired.database, |session| {
            session.run_nested(&mut inner, out, DoneScope::InProcedure)
        });
        if fired.instead_of {
            self.state.nesting.instead.pop();
        }
        self.state.nesting.firing = before;
        self.drop_tables(&mut inner);
        self.idle.give_back(inner);
        result.map(|_| ())
    }

    /// Whether a cascade has changed any row.
    fn has_captured(&mut self, act: &Activation, fired: &TriggerFiring) -> SqlResult<bool> {
        for number in [fired.inserted, fired.deleted] {
            let Some(made) = captured(act, number) else { continue };
            let locks = LockPlan::read(Isolation::ReadUncommitted);
            let mut cursor = made.rows().scan(&mut self.work, &ScanRange::default(), &locks)?;
            if cursor.next(&mut self.work)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn drop_captures(&mut self, act: &mut Activation) {
        let captures = std::mem::take(&mut act.captures);
        self.end_tables(captures.into_iter().flatten());
    }
}

impl State {
    /// RECURSIVE_TRIGGERS of a database.
    fn recursive(&self, database: DatabaseId) -> bool {
        let on = self.host.database_property(database, "ISRECURSIVETRIGGERSENABLED");
        on.as_i64() == Some(1)
    }

    /// Whether no further trigger fires: a trigger runs, and 'nested triggers' is 0. INSTEAD OF
    /// triggers fire all the same.
    fn nests_no_further(&self, fired: &TriggerFiring) -> bool {
        let nests = self.host.configuration().in_use(Setting::NestedTriggers) != 0;
        !nests && !fired.instead_of && self.nesting.firing.level > 0
    }

    /// The triggers that a change fires, in order.
    fn triggers_of(&self, fired: &TriggerFiring) -> Vec<Arc<Module>> {
        let Some(view) = self.view(fired.database) else { return Vec::new() };
        let event = Events::of_bits(fired.event);
        let fires = |m: &Arc<Module>| {
            m.trigger.as_ref().is_some_and(|t| match fired.instead_of {
                true => t.fires_instead(event),
                false => t.fires_after(event),
            })
        };
        let mut modules: Vec<Arc<Module>> = view.triggers_of(fired.object).filter(fires).collect();
        modules.sort_by_key(|m| {
            let trigger = m.trigger.as_ref();
            let place = match trigger {
                Some(t) if t.first.has(event) => 0,
                Some(t) if t.last.has(event) => 2,
                _ => 1,
            };
            (place, m.object_id)
        });
        modules
    }

    /// The definition of the table into which a change captures its rows.
    pub(crate) fn capture_of(&self, fires: &[TriggerFiring], number: u16) -> Option<Table> {
        let is_it = |f: &&TriggerFiring| f.inserted == Some(number) || f.deleted == Some(number);
        let fired = fires.iter().find(is_it)?;
        let view = self.view(fired.database)?;
        let name = if fired.inserted == Some(number) { "inserted" } else { "deleted" };
        Some(captured_rows(&columns_of(&view, fired.object), name, number))
    }
}

fn captured(act: &Activation, number: Option<u16>) -> Option<&Arc<PrivateTable>> {
    act.captures.get(usize::from(number?.checked_sub(CAPTURES)?))?.as_ref()
}

/// The tables `inserted` and `deleted` of a trigger on a table or view.
pub(crate) fn given_tables(view: &DatabaseView, object: ObjectId) -> [Arc<Table>; 2] {
    let columns = columns_of(view, object);
    [("inserted", 0), ("deleted", 1)]
        .map(|(name, number)| Arc::new(captured_rows(&columns, name, number)))
}

/// The columns of a table or view.
fn columns_of(view: &DatabaseView, object: ObjectId) -> Vec<Column> {
    match view.by_id(object) {
        Some(Object::Table(t)) => t.columns.clone(),
        Some(Object::Module(m)) => m.columns.clone(),
        Some(Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_)) | None => Vec::new(),
    }
}
