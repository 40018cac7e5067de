//! The tables behind functions' table variables: the pool of one statement, and the units of work
//! that write them.
//!
//! When a call ends, the next call of the same function uses its tables (`tables/pool.rs`), until
//! the calling statement ends.
//!
//! Invariants
//!  1. Making and writing a call's tables is a unit of work of its own. It ends with each statement
//!     of the function, so no rollback of the caller's transaction undoes it.
//!  2. If a call panics, its unit of work and its tables remain registered here. The session ends
//!     both.

use crate::functions::caller::{CallContext, FunctionCaller};
use crate::functions::known::Functions;
use crate::host::temporary_tables::TemporaryTables;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::state::State;
use crate::tables::pool::TableDeclaration;
use crate::tables::private::{PrivateTable, at_once, make_table};
use base::SqlResult;
use catalog::view::Table;
use std::cell::RefCell;
use std::sync::Arc;
use work::Work;

/// The unit of work that writes a call's table variables. It is taken when it is first needed and
/// held while the call runs. After a panic the session has it.
pub(crate) struct OwnWork<'s> {
    state: &'s State,
    functions: &'s RefCell<Functions>,
    work: Option<Work>,
}

impl<'s> OwnWork<'s> {
    pub(crate) fn new(state: &'s State, functions: &'s RefCell<Functions>) -> OwnWork<'s> {
        OwnWork { state, functions, work: None }
    }

    pub(crate) fn get(&mut self) -> &mut Work {
        let (state, functions) = (self.state, self.functions);
        self.work.get_or_insert_with(|| {
            let idle = functions.borrow_mut().tables.works.pop();
            idle.unwrap_or_else(|| {
                let waiter = Arc::clone(state.entry.waiter());
                Work::new(state.host.engine(), state.id(), waiter)
            })
        })
    }
}

impl Drop for OwnWork<'_> {
    fn drop(&mut self) {
        if let (Some(work), Ok(mut functions)) = (self.work.take(), self.functions.try_borrow_mut())
        {
            functions.tables.works.push(work);
        }
    }
}

impl FunctionCaller<'_> {
    /// The table of a call's table variable; makes it if it does not exist yet.
    pub(crate) fn made(
        &self,
        act: &mut Activation,
        number: u16,
        lent: &mut CallContext<'_>,
    ) -> SqlResult<Arc<PrivateTable>> {
        let at = usize::from(number);
        if let Some(Some(made)) = act.tables.get(at) {
            return Ok(Arc::clone(made));
        }
        let program = Arc::clone(&act.program);
        let declared = TableDeclaration::Program(Arc::clone(&program));
        let free = self.functions.borrow_mut().tables.pool.take(&declared, number);
        let made = match free {
            Some(made) => made,
            None => {
                let host = &*self.state.host;
                let made =
                    at_once(lent.own.get(), |work| make_table(host, work, &program.value, number))?;
                self.functions.borrow_mut().tables.pool.enter(declared, number, &made);
                made
            }
        };
        act.tables.resize(program.value.tables.len(), None);
        act.tables[at] = Some(Arc::clone(&made));
        Ok(made)
    }

    /// A call has ended: its tables are free again.
    pub(crate) fn end_tables(
        &self,
        act: &mut Activation,
        lent: &mut CallContext<'_>,
        succeeded: bool,
    ) -> SqlResult<()> {
        if act.tables.is_empty() {
            return Ok(());
        }
        // Tables that were passed in come first. They belong to the caller.
        let given = act.program.value.parameters.iter().filter(|p| p.table.is_some()).count();
        let mut ended = Ok(());
        for made in act.tables.drain(..).skip(given).flatten() {
            ended = ended.and(self.give_back(&made, lent, succeeded));
        }
        ended
    }

    /// Frees the tables that earlier calls returned and that no reader uses any more.
    pub(crate) fn end_reads(&self, lent: &mut CallContext<'_>) -> SqlResult<()> {
        loop {
            let read = self.functions.borrow().tables.pool.read_to_end();
            let Some(made) = read else { return Ok(()) };
            self.give_back(&made, lent, true)?;
        }
    }

    /// Empties a table for the next call, or drops it.
    fn give_back(
        &self,
        made: &Arc<PrivateTable>,
        lent: &mut CallContext<'_>,
        may_stay: bool,
    ) -> SqlResult<()> {
        let host = &*self.state.host;
        let may_stay = may_stay && self.functions.borrow().tables.pool.has_room();
        // A table that cannot be emptied now, for whatever reason, is dropped.
        if may_stay && host.empty_table(&made.table).unwrap_or(false) {
            self.functions.borrow_mut().tables.pool.free(made);
            return Ok(());
        }
        drop_tables(host, lent.own.get(), &[Arc::clone(&made.table)])?;
        self.functions.borrow_mut().tables.pool.remove(made);
        Ok(())
    }
}

impl Session {
    /// A statement has ended, and with it the tables of the functions that it called. Tables that
    /// an open cursor reads remain.
    pub(crate) fn drop_function_tables(&mut self, all: bool) {
        if self.functions.get_mut().tables.pool.is_empty() {
            return;
        }
        let unused = self.functions.get_mut().tables.pool.take_unused(all);
        if unused.is_empty() {
            return;
        }
        let mut own = OwnWork::new(&self.state, &self.functions);
        let dropped = drop_tables(&*self.host, own.get(), &unused);
        drop(own);
        if let Err(e) = dropped {
            self.host.log(&format!("tables of functions were not dropped: {e}"));
        }
    }
}

/// Drops tables, even when the request is cancelled.
fn drop_tables(
    host: &dyn TemporaryTables,
    work: &mut Work,
    tables: &[Arc<Table>],
) -> SqlResult<()> {
    let waiter = Arc::clone(work.owner().waiter());
    waiter.undisturbed(|| at_once(work, |work| host.drop_temp_tables(work, tables)))
}
