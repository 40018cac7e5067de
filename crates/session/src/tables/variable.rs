//! Table variables: each activation has a table of tempdb for each, made when it is first touched.
//!
//! Plans know a table variable by its number in the program ([`ObjectId::table_variable`]), so
//! all sessions share them; [`PrivateTables`] says which table it is in the activation that runs.
//!
//! Invariants
//!  1. Its rows are written by a unit of work of the session's own, which ends with each
//!     statement: a statement that fails leaves nothing, a rollback of the user's transaction
//!     leaves everything.
//!  2. It is read without locks: whoever reads it is the session that has it.
//!  3. Its activation's end frees it for the next one (`tables/pool.rs`), or drops it; the
//!     request's end drops all.

use crate::answer::failure::Failure;
use crate::host::{DeclareCall, Host};
use crate::program::steps::Program;
use crate::request::activation::Activation;
use crate::session::Session;
use crate::session::settings::Settings;
use crate::tables::pool::Declared;
use access::{Hobt, Hobts, TableSource};
use base::{DatabaseId, HobtId, ObjectId, SessionId, SqlError, SqlResult, messages};
use catalog::view::{SchemaId, Table, UserType};
use exec::IdentitySource;
use plan::{CAPTURES, IdentityColumn, PhysicalPlan};
use std::sync::Arc;
use tsql::ast;
use types::Value;
use work::{CommitMode, Mark, Work};

/// The table that a table variable is in one activation.
pub(crate) struct Made {
    /// As tempdb knows it.
    pub(crate) table: Arc<Table>,
    /// Its heap and indexes, in the order of the definition's.
    hobts: Vec<Arc<dyn Hobt>>,
}

impl Made {
    /// How large its heap or an index is.
    pub(crate) fn size(&self, position: usize) -> Option<optimize::Size> {
        let size = self.hobts.get(position)?.size();
        Some(optimize::Size { rows: size.rows as f64, pages: size.pages as f64 })
    }
}

/// What a plan that names table variables finds by id.
pub(crate) struct PrivateTables<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) made: &'a [Option<Arc<Made>>],
    /// Rows captured for triggers.
    pub(crate) captures: &'a [Option<Arc<Made>>],
}

impl PrivateTables<'_> {
    fn of(&self, number: u16) -> SqlResult<&Made> {
        let made = match number.checked_sub(CAPTURES) {
            Some(n) => self.captures.get(usize::from(n)),
            None => self.made.get(usize::from(number)),
        };
        let made = made.and_then(Option::as_deref);
        let what = "a table variable was not made";
        made.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&what]))
    }
}

impl Hobts for PrivateTables<'_> {
    fn hobt(&self, database: DatabaseId, hobt: HobtId) -> SqlResult<Arc<dyn Hobt>> {
        let Some((number, position)) = hobt.table_variable() else {
            return self.host.hobts().hobt(database, hobt);
        };
        let found = self.of(number)?.hobts.get(position);
        let what = "a table variable lacks an index";
        found.cloned().ok_or_else(|| SqlError::new(messages::INTERNAL, &[&what]))
    }

    fn system_view(
        &self,
        database: DatabaseId,
        object: ObjectId,
        arguments: &[Value],
        work: &Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        self.host.hobts().system_view(database, object, arguments, work)
    }
}

impl IdentitySource for PrivateTables<'_> {
    fn next(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
    ) -> SqlResult<i128> {
        let object = match object.table_variable() {
            Some(number) => self.of(number)?.table.object_id,
            None => object,
        };
        self.host.identity().next(work, database, object, column)
    }

    fn given(
        &self,
        work: &mut Work,
        database: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
        value: i128,
    ) -> SqlResult<()> {
        let object = match object.table_variable() {
            Some(number) => self.of(number)?.table.object_id,
            None => object,
        };
        self.host.identity().given(work, database, object, column, value)
    }
}

impl Made {
    /// Its rows.
    pub(crate) fn rows(&self) -> &dyn Hobt {
        let base =
            self.hobts.first().expect("a table has a heap or a clustered index, listed first");
        &**base
    }
}

/// A table for a table variable of a program.
pub(crate) fn make_table(
    host: &dyn Host,
    private: &mut Work,
    program: &Program,
    number: u16,
) -> SqlResult<Arc<Made>> {
    let Some(definition) = program.tables.get(usize::from(number)) else {
        let what = "a table variable has no definition";
        return Err(SqlError::new(messages::INTERNAL, &[&what]));
    };
    make_of(host, private, &definition.definition)
}

/// A table by a definition.
fn make_of(host: &dyn Host, private: &mut Work, definition: &Table) -> SqlResult<Arc<Made>> {
    let table = host.make_table(private, definition)?;
    let mut hobts = Vec::with_capacity(table.indexes.len());
    for index in &table.indexes {
        hobts.push(host.hobts().hobt(table.database, index.hobt)?);
    }
    Ok(Arc::new(Made { table, hobts }))
}

/// Something done in a transaction of its own.
pub(crate) fn at_once<T>(
    work: &mut Work,
    f: impl FnOnce(&mut Work) -> SqlResult<T>,
) -> SqlResult<T> {
    work.begin(false, "");
    let result = f(work);
    let ended = match &result {
        Ok(_) => work.commit(CommitMode::Full),
        Err(_) => work.roll_back(),
    };
    ended.map_err(|e| e.into_sql("tempdb"))?;
    result
}

/// The table variables that a plan names, by number.
pub(crate) fn touched(plan: &PhysicalPlan) -> Vec<u16> {
    plan.header.references.iter().filter_map(|r| r.object.table_variable()).collect()
}

/// What a statement does to its session's private unit of work.
pub(crate) enum PrivatePart {
    /// Nothing.
    Reads,
    /// It began it.
    Begun,
    /// It runs within a statement that did.
    Within(Mark),
}

impl Session {
    /// Makes the table variables that a place names, and opens what writes them where it does.
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

    /// Ends a statement's part: invariant 1.
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

    /// What writes table variables; made when it is first wanted.
    pub(crate) fn private_work(&mut self) -> &mut Work {
        let (engine, id) = (self.host.engine(), self.state.id());
        let waiter = self.work.owner().waiter();
        self.private.get_or_insert_with(|| Box::new(Work::new(engine, id, Arc::clone(waiter))))
    }

    /// The table of a table variable, made unless the activation has it.
    pub(crate) fn make_table(
        &mut self,
        act: &mut Activation,
        number: u16,
    ) -> Result<Arc<Made>, Failure> {
        let at = usize::from(number);
        if let Some(Some(made)) = act.tables.get(at) {
            return Ok(Arc::clone(made));
        }
        let program = Arc::clone(&act.program);
        // A batch runs once a request.
        let recurs = program.value.procedure.is_some();
        let declared = recurs.then(|| Declared::Program(Arc::clone(&program)));
        let free = declared.as_ref().and_then(|declared| self.spare.take(declared, number));
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

    /// A table that will be free when its activation has ended, if somebody may take it then.
    fn make_pooled(
        &mut self,
        declared: Option<Declared>,
        number: u16,
        make: impl FnOnce(&dyn Host, &mut Work) -> SqlResult<Arc<Made>>,
    ) -> SqlResult<Arc<Made>> {
        // A statement that writes tables like it would take it with it when it fails.
        let stays = !self.private_work().is_active();
        let host = Arc::clone(&self.host);
        let made = self.in_private(|work| make(&*host, work))?;
        if let Some(declared) = declared.filter(|_| stays) {
            self.spare.enter(declared, number, &made);
        }
        Ok(made)
    }

    /// A table for rows that a trigger will see.
    fn make_capture(
        &mut self,
        act: &mut Activation,
        plan: &Arc<PhysicalPlan>,
        number: u16,
        at: usize,
    ) -> Result<(), Failure> {
        let declared = Declared::Plan(Arc::clone(plan));
        let made = match self.spare.take(&declared, number) {
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

    /// Something done at once, in the private unit of work.
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

    /// Gives back tables that an activation has had: invariant 3.
    pub(crate) fn end_tables(&mut self, tables: impl Iterator<Item = Arc<Made>>) {
        let mut gone = Vec::new();
        for made in tables {
            // A table that was handed in belongs to the caller, who still has it.
            let users = Arc::strong_count(&made) - usize::from(self.spare.has(&made));
            if users == 1 && !self.is_spared(&made) {
                gone.push(Arc::clone(&made.table));
                self.spare.remove(&made);
            }
        }
        self.drop_private(&gone);
    }

    /// Empties a table for the next activation; whether it is of the pool, and was small.
    fn is_spared(&mut self, made: &Arc<Made>) -> bool {
        let may_stay = self.spare.has(made) && self.spare.has_room();
        let written = || self.private.as_ref().is_some_and(|work| work.is_active());
        // What cannot be emptied now, for whatever reason, is dropped.
        let spared = may_stay && !written() && self.host.empty_table(&made.table).unwrap_or(false);
        if spared {
            self.spare.free(made);
        }
        spared
    }

    /// The tables of an activation that has ended.
    pub(crate) fn drop_tables(&mut self, act: &mut Activation) {
        let tables = std::mem::take(&mut act.tables);
        self.end_tables(tables.into_iter().flatten());
    }

    /// The request has ended: so have the tables of its procedures and triggers.
    pub(crate) fn drop_spare_tables(&mut self, all: bool) {
        let unused = self.spare.take_unused(all);
        self.drop_private(&unused);
    }
}

/// Makes definitions of table variables while text is compiled.
pub(crate) struct Declarer<'s> {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) session: SessionId,
    pub(crate) database: DatabaseId,
    /// Where types without schema are looked for before dbo.
    pub(crate) schema: SchemaId,
    pub(crate) work: &'s mut Work,
    pub(crate) settings: &'s Settings,
    pub(crate) text: Arc<str>,
    /// Where parameters may be undeclared: the names of those that were met.
    pub(crate) undeclared: Option<Vec<Box<str>>>,
}

impl Declarer<'_> {
    /// A name that no variable has, where it may be a parameter's.
    pub(crate) fn undeclared(&mut self, name: &str) -> Option<plan::VariableId> {
        let names = self.undeclared.as_mut()?;
        let at = names
            .iter()
            .position(|n| crate::program::steps::same_name(n, name))
            .unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            });
        u16::try_from(at).ok().map(bind::untyped_variable)
    }

    pub(crate) fn table(
        &mut self,
        name: &ast::Name,
        number: u16,
        definition: &ast::TableDefinition,
    ) -> SqlResult<Table> {
        self.host.declare_table(DeclareCall {
            session: self.session,
            database: self.database,
            schema: self.schema,
            work: self.work,
            name,
            number,
            definition,
            text: &self.text,
            settings: self.settings,
        })
    }

    /// The type of a user that a name means; none where it is a system type's, or nobody's.
    pub(crate) fn user_type(&self, written: &ast::TypeName) -> Option<Arc<UserType>> {
        let view = self.host.view(self.session, self.database)?;
        ddl::user_type(written, &view, self.schema)
    }
}
