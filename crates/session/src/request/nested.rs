//! A called program: its scope of settings, temporary tables and identity.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::settings::Switches;
use crate::session::state::NEST_LEVEL_MAX;
use base::{DatabaseId, SqlError, messages};
use std::sync::Arc;

impl Session {
    /// Runs an activation of a program that another one calls. It has its own settings, temporary
    /// tables and identity value.
    pub(crate) fn run_nested(
        &mut self,
        act: &mut Activation,
        out: &mut Output<'_>,
        scope: DoneScope,
    ) -> Result<i32, Failure> {
        if self.state.nesting.level >= NEST_LEVEL_MAX {
            return Err(SqlError::new(messages::MAX_NESTING, &[&NEST_LEVEL_MAX]).into());
        }
        let settings = self.state.settings.clone();
        let scope_identity = self.state.identity.scope.take();
        let object = std::mem::replace(&mut self.state.nesting.object, act.program.value.object);
        let database = self.state.database.id;
        let count = self.state.transaction.count;
        self.state.set_nest_level(self.state.nesting.level + 1);
        self.state.temp.enter();
        if act.program.value.procedure.is_some() {
            let quoted = act.program.value.quoted_identifier;
            self.state.settings.set(Switches::QUOTED_IDENTIFIER, quoted);
            self.state.settings.set(Switches::ANSI_NULLS, act.program.value.ansi_nulls);
        }
        if act.program.value.is_trigger() {
            // A failing trigger ends the statement's transaction.
            self.state.settings.set(Switches::XACT_ABORT, true);
        }
        let (meter, before) = (self.meter(), self.spent.run);
        let result = self.run_program(act, out, scope);
        if result.is_ok() {
            self.count_program(act, &meter, &before);
        }
        if result.is_ok() {
            self.state.return_cursors(act);
        }
        self.state.cursors.leave(self.state.nesting.level);
        let dropped = self.end_temp_scope();
        self.state.set_nest_level(self.state.nesting.level - 1);
        self.state.nesting.object = object;
        self.state.identity.scope = scope_identity;
        if self.state.settings != settings {
            self.state.settings = settings;
            self.apply_settings();
        }
        if self.state.database.id != database {
            self.return_to(database, out)?;
        }
        let status = result?;
        dropped?;
        self.check_transaction_count(count, act, out)?;
        Ok(status)
    }

    /// Returns to the caller's database.
    fn return_to(&mut self, database: DatabaseId, out: &mut Output<'_>) -> Result<(), Failure> {
        // Entering the caller's database may wait. A session that waits must not hold locks of an
        // owed commit.
        self.settle_commit();
        let known = self.host.databases().into_iter().find(|d| d.0 == database);
        let Some((_, name)) = known else {
            return Err(SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]).into());
        };
        self.use_database(&name, out)
    }

    /// Error 266 if a program has begun or ended transactions of its caller.
    fn check_transaction_count(
        &mut self,
        before: u32,
        act: &Activation,
        out: &mut Output<'_>,
    ) -> Result<(), Failure> {
        let now = self.state.transaction.count;
        // The client ends a transaction that IMPLICIT_TRANSACTIONS has begun.
        let begun = before == 0 && now == 1 && self.open.implicit;
        // The statement reports what a trigger did to the transaction (3609).
        if before == now || begun || self.state.transaction.doomed || act.program.value.is_trigger()
        {
            return Ok(());
        }
        let e = SqlError::new(messages::TRANSACTION_COUNT_MISMATCH, &[&before, &now]).with_state(2);
        let e = match &act.program.value.procedure {
            Some(name) => e.in_procedure(name),
            None => e,
        };
        if self.flow.tries > 0 {
            return Err(Failure::raised(e));
        }
        self.state.last.error = e.number();
        out.message(&e);
        Ok(())
    }

    /// Drops the temporary tables of the scope that ends.
    fn end_temp_scope(&mut self) -> Result<(), Failure> {
        let gone = self.state.temp.leave();
        if gone.is_empty() || self.state.transaction.doomed {
            return Ok(());
        }
        let own = self.begin_statement();
        let waiter = Arc::clone(self.work.owner().waiter());
        let drop = || self.host.drop_temp_tables(&mut self.work, &gone);
        let result = waiter.undisturbed(drop);
        self.end_statement(own, result, None)
    }
}
