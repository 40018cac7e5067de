//! Table variables: for each of them an activation has a table in tempdb, which is made when it is
//! first used.
//!
//! Plans know a table variable by its number in the program (`ObjectId::table_variable`), so all
//! sessions share the plans. `PrivateTables` maps the number to the table of the running
//! activation.
//!
//! Invariants
//!  1. A unit of work of the session's own writes the rows, and ends with each statement. So a
//!     statement that fails leaves no rows, and a rollback of the user's transaction removes none.
//!  2. The table is read without locks, because only its own session reads it.
//!  3. When its activation ends, the table is free for the next one (`tables/pool.rs`), or dropped.
//!     All are dropped when the request ends.

use crate::answer::failure::Failure;
use crate::host::Host;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::tables::pool::TableDeclaration;
use crate::tables::private::{PrivatePart, PrivateTable, make_of, make_table, touched};
use base::{SqlError, SqlResult, messages};
use catalog::view::Table;
use plan::{CAPTURES, PhysicalPlan};
use std::sync::Arc;
use work::{CommitMode, Work};

impl Session {
    /// Makes the table variables that a place names. If the place writes them, also begins the unit
    /// of work.
    pub(crate) fn begin_private(
        &mut self,
        act: &mut Activation,
        place: usize,
    ) -> Result<PrivatePart, Failure> {
        let ready = act.ready[place].as_ref().expect("made ready by the caller");
        if ready.private.is_empty() {
            return Ok(PrivatePart::Reads);
        }
        let plan = Arc::clone(&ready.plan);
        for number in touched(&plan) {
            match number.checked_sub(CAPTURES) {
                Some(n) => self.make_capture(act, &plan, number, usize::from(n))?,
                None => {
                    self.make_table(act, number)?;
                }
            }
        }
        if !plan.writes_private() && plan.header.fires.is_empty() {
            return Ok(PrivatePart::Reads);
        }
        let work = self.private_work();
        if work.is_active() {
            return Ok(PrivatePart::Within(work.mark()));
        }
        work.begin(false, "");
        Ok(PrivatePart::Begun)
    }

    /// Ends a statement's part of the unit of work: invariant 1.
    pub(crate) fn end_private(&mut self, part: &PrivatePart, succeeded: bool) -> SqlResult<()> {
        if matches!(part, PrivatePart::Reads) {
            return Ok(());
        }
        let work = self.private_work();
        let result = match (part, succeeded) {
            (PrivatePart::Reads, _) | (PrivatePart::Within(_), true) => Ok(()),
            (PrivatePart::Begun, true) => work.commit(CommitMode::Full),
            (PrivatePart::Begun, false) => work.roll_back(),
            (PrivatePart::Within(mark), false) => work.roll_back_to(mark),
        };
        result.map_err(|e| e.into_sql("tempdb"))
    }

    /// The unit of work that writes table variables; made when it is first needed.
    pub(crate) fn private_work(&mut self) -> &mut Work {
        let (engine, id) = (self.host.engine(), self.state.id());
        let waiter = self.work.owner().waiter();
        self.tables.work.get_or_insert_with(|| Box::new(Work::new(engine, id, Arc::clone(waiter))))
    }

    /// The table of a table variable; makes it if the activation does not have it yet.
    pub(crate) fn make_table(
        &mut self,
        act: &mut Activation,
        number: u16,
    ) -> Result<Arc<PrivateTable>, Failure> {
        let at = usize::from(number);
        if let Some(Some(made)) = act.tables.get(at) {
            return Ok(Arc::clone(made));
        }
        let program = Arc::clone(&act.program);
        // A batch runs once in a request.
        let recurs = program.value.procedure.is_some();
        let declared = recurs.then(|| TableDeclaration::Program(Arc::clone(&program)));
        let free = declared.as_ref().and_then(|declared| self.tables.pool.take(declared, number));
        let made = match free {
            Some(free) => free,
            None => self.make_pooled(declared, number, |host, work| {
                make_table(host, work, &program.value, number)
            })?,
        };
        act.tables.resize(program.value.tables.len(), None);
        act.tables[at] = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Makes a table that will be free when its activation has ended, if another one may use it
    /// then.
    fn make_pooled(
        &mut self,
        declared: Option<TableDeclaration>,
        number: u16,
        make: impl FnOnce(&dyn Host, &mut Work) -> SqlResult<Arc<PrivateTable>>,
    ) -> SqlResult<Arc<PrivateTable>> {
        // A statement that writes such tables would undo the table if it failed.
        let stays = !self.private_work().is_active();
        let host = Arc::clone(&self.host);
        let made = self.in_private(|work| make(&*host, work))?;
        if let Some(declared) = declared.filter(|_| stays) {
            self.tables.pool.enter(declared, number, &made);
        }
        Ok(made)
    }

    /// Makes a table for rows that a trigger will see.
    fn make_capture(
        &mut self,
        act: &mut Activation,
        plan: &Arc<PhysicalPlan>,
        number: u16,
        at: usize,
    ) -> Result<(), Failure> {
        let declared = TableDeclaration::Plan(Arc::clone(plan));
        let made = match self.tables.pool.take(&declared, number) {
            Some(free) => free,
            None => {
                let definition = self.state.capture_of(&plan.header.fires, number);
                let what = "a table of captured rows has no definition";
                let missing = || SqlError::new(messages::INTERNAL, &[&what]);
                let definition = definition.ok_or_else(missing)?;
                self.make_pooled(Some(declared), number, |host, work| {
                    make_of(host, work, &definition)
                })?
            }
        };
        if act.captures.len() <= at {
            act.captures.resize(at + 1, None);
        }
        act.captures[at] = Some(made);
        Ok(())
    }

    /// Drops tables of the private unit of work: within the statement that has begun it, else at
    /// once.
    pub(crate) fn drop_private(&mut self, tables: &[Arc<Table>]) {
        if tables.is_empty() {
            return;
        }
        let host = Arc::clone(&self.host);
        let waiter = Arc::clone(self.work.owner().waiter());
        let drop = |work: &mut Work| waiter.undisturbed(|| host.drop_temp_tables(work, tables));
        let dropped = self.in_private(drop);
        if let Err(e) = dropped {
            self.host.log(&format!("tables of table variables were not dropped: {e}"));
        }
    }

    /// Runs something at once in the private unit of work.
    fn in_private<T>(&mut self, f: impl FnOnce(&mut Work) -> SqlResult<T>) -> SqlResult<T> {
        let work = self.private_work();
        let own = !work.is_active();
        if own {
            work.begin(false, "");
        }
        let result = f(work);
        if own {
            let part = PrivatePart::Begun;
            self.end_private(&part, result.is_ok())?;
        }
        result
    }

    /// Returns the tables of an activation: invariant 3.
    pub(crate) fn end_tables(&mut self, tables: impl Iterator<Item = Arc<PrivateTable>>) {
        let mut gone = Vec::new();
        for made in tables {
            // A table that was passed in belongs to the caller, who still uses it.
            let users = Arc::strong_count(&made) - usize::from(self.tables.pool.has(&made));
            if users == 1 && !self.is_spared(&made) {
                gone.push(Arc::clone(&made.table));
                self.tables.pool.remove(&made);
            }
        }
        self.drop_private(&gone);
    }

    /// Empties a table for the next activation. Returns whether it belongs to the pool and was
    /// small.
    fn is_spared(&mut self, made: &Arc<PrivateTable>) -> bool {
        let may_stay = self.tables.pool.has(made) && self.tables.pool.has_room();
        let written = || self.tables.work.as_ref().is_some_and(|work| work.is_active());
        // A table that cannot be emptied now, for whatever reason, is dropped.
        let spared = may_stay && !written() && self.host.empty_table(&made.table).unwrap_or(false);
        if spared {
            self.tables.pool.free(made);
        }
        spared
    }

    /// Drops the tables of an activation that has ended.
    pub(crate) fn drop_tables(&mut self, act: &mut Activation) {
        let tables = std::mem::take(&mut act.tables);
        self.end_tables(tables.into_iter().flatten());
    }

    /// The request has ended, and with it the tables of its procedures and triggers.
    pub(crate) fn drop_spare_tables(&mut self, all: bool) {
        let unused = self.tables.pool.take_unused(all);
        self.drop_private(&unused);
    }
}
