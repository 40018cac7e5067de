//! Statements of a batch, and the document that shows them.

use crate::columns::Columns;
use crate::expression::constant;
use crate::names::Names;
use crate::relop::{RelOps, shown};
use crate::tree::Tree;
use crate::warnings::AffectingConvert;
use crate::writer::Writer;
use plan::{PhysicalPlan, VariableId};
use std::collections::BTreeSet;
use types::Value;

/// The version of the public schema whose vocabulary is used.
const VERSION: &str = "1.564";
const NAMESPACE: &str = "http://schemas.microsoft.com/sqlserver/2004/07/showplan";

pub(crate) const NS_PER_MS: u64 = 1_000_000;
/// Of the kinds of waits those that took longest are shown.
const WAITS_SHOWN: usize = 10;

/// A statement to be shown.
#[derive(Debug, Default)]
pub struct Statement<'s> {
    /// Its place in the batch, from 1.
    pub id: u32,
    /// Its text.
    pub text: &'s str,
    /// `SELECT`, `INSERT`, `COND` and the like.
    pub kind: &'s str,
    /// Its plan, when it has one.
    pub plan: Option<&'s PhysicalPlan>,
    /// What it did, when it ran.
    pub ran: Option<RunFigures>,
    /// The text with parameters that is run instead of it.
    pub parameterized: Option<&'s str>,
    /// `StatementParameterizationType`: 1 a client's, 2 simple; none where there are no parameters.
    pub parameterization: Option<u8>,
    /// The database that USE goes to.
    pub database: Option<&'s str>,
    /// What hangs on its condition.
    pub branches: Option<Branches<'s>>,
}

/// What an IF or WHILE decides about.
#[derive(Debug, Default)]
pub struct Branches<'s> {
    /// When the condition is true.
    pub then: Vec<Statement<'s>>,
    /// ELSE
    pub otherwise: Option<Vec<Statement<'s>>>,
}

/// What a statement did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFigures {
    /// Of each operator, in preorder: the statement's tree, then those of its subqueries.
    pub counts: Vec<Count>,
    /// The same by thread, the statement's own first; empty where it ran alone.
    pub by_thread: Vec<Vec<Count>>,
    /// Workers of each exchange; 1 where it ran alone.
    pub degree: usize,
    /// Its memory, when it asked for some.
    pub memory: Option<Memory>,
    /// What variables were, but for those that it assigned.
    pub variables: Vec<(VariableId, Value)>,
    /// Rows sent, assigned or changed.
    pub rows_affected: u64,
    /// What it took, where that is known.
    pub took: Option<ResourceUse>,
    /// What it waited for, its workers' waits with its own.
    pub waits: Vec<Wait>,
}

/// What a statement took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceUse {
    /// Processor time, of workers too.
    pub cpu_ns: u64,
    /// On the clock.
    pub elapsed_ns: u64,
    /// Locks it asked for, its workers' with its own.
    pub lock_requests: u64,
    /// Of a change where locking is optimized: whether it locked rows when they qualified.
    pub after_qualification: Option<&'static str>,
}

/// Waits of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// As `sys.dm_os_wait_stats` names it.
    pub kind: &'static str,
    /// How many.
    pub count: u64,
    /// How long in all.
    pub time_ns: u64,
}

/// What an operator did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Rows it gave.
    pub rows: u64,
    /// Times it was opened.
    pub rebinds: u64,
    /// Times it was begun again with nothing changed outside.
    pub rewinds: u64,
    /// Times it was found to have no more rows.
    pub ends: u64,
    /// Rows that it read of a table, given or not; none where it reads none.
    pub rows_read: Option<u64>,
    /// Bytes it spilled.
    pub spilled_bytes: u64,
    /// What it read, where it reads pages.
    pub reads: Option<Reads>,
    /// When and how long, where it was timed.
    pub times: Option<Times>,
}

impl Count {
    /// Times it was opened or rewound.
    pub fn executions(&self) -> u64 {
        self.rebinds + self.rewinds
    }

    /// Adds what it did in another thread; moments stay those of the first.
    pub fn add(&mut self, more: &Count) {
        self.rows += more.rows;
        self.rebinds += more.rebinds;
        self.rewinds += more.rewinds;
        self.ends += more.ends;
        self.spilled_bytes += more.spilled_bytes;
        self.rows_read = self.rows_read.zip(more.rows_read).map(|(a, b)| a + b);
        if let Some((sum, more)) = self.reads.as_mut().zip(more.reads) {
            sum.scans += more.scans;
            sum.rows.add(&more.rows);
            sum.lob.add(&more.lob);
            sum.ghosts += more.ghosts;
            sum.versions += more.versions;
        }
        if let Some((sum, more)) = self.times.as_mut().zip(more.times) {
            sum.elapsed_ns += more.elapsed_ns;
            sum.cpu_ns += more.cpu_ns;
        }
    }
}

/// Of an operator with what is below it; moments are of the monotonic clock, 0 for none yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Time in its calls.
    pub elapsed_ns: u64,
    /// The same without waits.
    pub cpu_ns: u64,
    /// It was opened first.
    pub opened_at: u64,
    /// Its last call ended.
    pub called_at: u64,
    /// It gave its first row.
    pub first_row_at: u64,
    /// It gave its last row.
    pub last_row_at: u64,
}

/// Pages that an operator read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Scans and seeks that were begun.
    pub scans: u64,
    /// Pages of rows.
    pub rows: PageCounts,
    /// Pages of values off the rows.
    pub lob: PageCounts,
    /// Ghosts passed.
    pub ghosts: u64,
    /// Stored versions gone along.
    pub versions: u64,
}

/// How many pages were asked for, and how many of them were not in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Asked for.
    pub logical: u64,
    /// Read when asked for.
    pub physical: u64,
    /// Read before that.
    pub read_ahead: u64,
}

impl PageCounts {
    fn add(&mut self, more: &PageCounts) {
        self.logical += more.logical;
        self.physical += more.physical;
        self.read_ahead += more.read_ahead;
    }
}

/// The memory of a statement, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Without which it would not have begun.
    pub required: usize,
    /// What it would have liked.
    pub desired: usize,
    /// What it could have become.
    pub requested: usize,
    /// What it was granted in the end.
    pub granted: usize,
    /// The most it used.
    pub used_max: usize,
}

/// The document that shows statements of a batch. `build` is the server's version,
/// `set_options` are the settings under which text means what it means.
pub fn xml(
    statements: &[Statement<'_>],
    names: &dyn Names,
    build: &str,
    set_options: &[(&str, bool)],
) -> String {
    let mut document = Document { w: Writer::default(), names, set_options };
    document.w.begin("ShowPlanXML");
    document.w.attribute("xmlns", NAMESPACE);
    document.w.attribute("Version", VERSION);
    document.w.attribute("Build", build);
    document.w.begin("BatchSequence");
    document.w.begin("Batch");
    document.block(statements);
    document.w.end();
    document.w.end();
    document.w.end();
    document.w.finish()
}

struct Document<'d> {
    w: Writer,
    names: &'d dyn Names,
    set_options: &'d [(&'d str, bool)],
}

impl Document<'_> {
    fn block(&mut self, statements: &[Statement<'_>]) {
        self.w.begin("Statements");
        statements.iter().for_each(|s| self.statement(s));
        self.w.end();
    }

    fn statement(&mut self, s: &Statement<'_>) {
        self.w.begin(match (&s.branches, s.database) {
            (Some(_), _) => "StmtCond",
            (None, Some(_)) => "StmtUseDb",
            (None, None) => "StmtSimple",
        });
        self.w.attribute("StatementText", s.text);
        self.w.number("StatementId", s.id);
        self.w.number("StatementCompId", s.id);
        self.w.attribute("StatementType", s.kind);
        if let Some(text) = s.parameterized {
            self.w.attribute("ParameterizedText", text);
        }
        if let Some(kind) = s.parameterization {
            self.w.number("StatementParameterizationType", kind);
        }
        if let Some(database) = s.database {
            self.w.attribute("Database", &crate::columns::quoted(database));
        }
        if let Some(plan) = s.plan {
            let root = plan.estimates.first().filter(|_| plan.statement.source().is_some());
            let cost = root.map_or(0.0, |e| e.subtree);
            self.w.number("StatementSubTreeCost", shown(cost));
            if let Some(root) = root {
                self.w.number("StatementEstRows", shown(root.rows));
            }
            self.w.begin("StatementSetOptions");
            for (name, on) in self.set_options {
                self.w.number(name, on);
            }
            self.w.end();
        }
        match &s.branches {
            None => self.plan(s),
            Some(branches) => {
                self.w.begin("Condition");
                self.plan(s);
                self.w.end();
                self.w.begin("Then");
                self.block(&branches.then);
                self.w.end();
                if let Some(otherwise) = &branches.otherwise {
                    self.w.begin("Else");
                    self.block(otherwise);
                    self.w.end();
                }
            }
        }
        self.w.end();
    }

    fn plan(&mut self, s: &Statement<'_>) {
        let Some(plan) = s.plan else { return };
        let columns = Columns::of(plan, self.names);
        let tree = Tree::of(plan, &columns, s.ran.as_ref());
        // An expression alone has no operators, but may run subqueries: the first stands for it.
        let root = tree.root.as_ref().or_else(|| tree.subqueries.iter().flatten().next());
        let Some(root) = root else { return };
        self.w.begin("QueryPlan");
        if s.ran.is_some() {
            let degree = s.ran.as_ref().map_or(1, |r| r.degree.max(1));
            self.w.number("DegreeOfParallelism", degree);
        }
        if let Some(reason) = plan.header.serial_reason {
            self.w.attribute("NonParallelPlanReason", reason);
        }
        let memory = s.ran.as_ref().and_then(|r| r.memory);
        if let Some(memory) = memory {
            self.w.number("MemoryGrant", kilobytes(memory.granted));
        }
        if let Some(took) = s.ran.as_ref().and_then(|r| r.took) {
            self.w.begin("InternalInfo");
            self.w.number("LockRequests", took.lock_requests);
            if let Some(told) = took.after_qualification {
                self.w.attribute("LockAfterQualification", told);
            }
            self.w.end();
        }
        self.warnings(&columns.affecting_converts(plan), memory);
        if let Some(memory) = memory {
            self.memory(memory);
        }
        self.times(s.ran.as_ref());
        let mut operators = RelOps::new(&mut self.w, &columns, &tree);
        operators.relop(root);
        let read = operators.variables;
        self.parameters(s, plan, read);
        self.w.end();
    }

    /// The variables that a plan reads, the last first: what they were taken to be when it was made
    /// and what they were when it ran, as far as either is known.
    fn parameters(&mut self, s: &Statement<'_>, plan: &PhysicalPlan, read: BTreeSet<VariableId>) {
        let named = |id: &VariableId| !self.names.variable(*id).is_empty();
        let read: Vec<VariableId> = read.into_iter().rev().filter(named).collect();
        if read.is_empty() {
            return;
        }
        let runtime = s.ran.as_ref().map_or(&[][..], |r| &r.variables);
        self.w.begin("ParameterList");
        for id in read {
            self.w.begin("ColumnReference");
            self.w.attribute("Column", &self.names.variable(id));
            if let Some(sql_type) = self.names.variable_type(id) {
                self.w.number("ParameterDataType", sql_type);
            }
            let values = [
                ("ParameterCompiledValue", &plan.header.compiled_for[..]),
                ("ParameterRuntimeValue", runtime),
            ];
            for (name, values) in values {
                if let Some((_, value)) = values.iter().find(|(of, _)| *of == id) {
                    self.w.attribute(name, &constant(value));
                }
            }
            self.w.end();
        }
        self.w.end();
    }

    /// What a statement waited for, longest first, and how long it took.
    fn times(&mut self, ran: Option<&RunFigures>) {
        let Some(ran) = ran else { return };
        let mut waits: Vec<Wait> = ran.waits.clone();
        waits.retain(|w| w.time_ns >= NS_PER_MS);
        waits.sort_by_key(|w| std::cmp::Reverse(w.time_ns));
        waits.truncate(WAITS_SHOWN);
        if !waits.is_empty() {
            self.w.begin("WaitStats");
            for wait in waits {
                self.w.begin("Wait");
                self.w.attribute("WaitType", wait.kind);
                self.w.number("WaitTimeMs", wait.time_ns / NS_PER_MS);
                self.w.number("WaitCount", wait.count);
                self.w.end();
            }
            self.w.end();
        }
        if let Some(took) = ran.took {
            self.w.begin("QueryTimeStats");
            self.w.number("CpuTime", took.cpu_ns / NS_PER_MS);
            self.w.number("ElapsedTime", took.elapsed_ns / NS_PER_MS);
            self.w.end();
        }
    }

    fn memory(&mut self, m: Memory) {
        self.w.begin("MemoryGrantInfo");
        for (name, bytes) in [
            ("SerialRequiredMemory", m.required),
            ("SerialDesiredMemory", m.desired),
            ("RequiredMemory", m.required),
            ("DesiredMemory", m.desired),
            ("RequestedMemory", m.requested),
            ("GrantedMemory", m.granted),
            ("MaxUsedMemory", m.used_max),
        ] {
            self.w.number(name, kilobytes(bytes));
        }
        self.w.end();
    }

    /// What is wrong with the plan as a whole.
    fn warnings(&mut self, converts: &[AffectingConvert], memory: Option<Memory>) {
        let beyond = memory.filter(|m| m.used_max > m.granted);
        if converts.is_empty() && beyond.is_none() {
            return;
        }
        self.w.begin("Warnings");
        for one in converts {
            self.w.begin("PlanAffectingConvert");
            self.w.attribute("ConvertIssue", one.issue);
            self.w.attribute("Expression", &one.expression);
            self.w.end();
        }
        if let Some(m) = beyond {
            self.w.begin("MemoryGrantWarning");
            self.w.attribute("GrantWarningKind", "Used More Than Granted");
            self.w.number("RequestedMemory", kilobytes(m.requested));
            self.w.number("GrantedMemory", kilobytes(m.granted));
            self.w.number("MaxUsedMemory", kilobytes(m.used_max));
            self.w.end();
        }
        self.w.end();
    }
}

fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1024)
}
