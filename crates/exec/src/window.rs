//! Window functions over an input ordered by partition, then order.
//!
//! Ranks and running rows need only the row before; aggregates of a whole partition, of peers,
//! and NTILE need the rows after it: a partition is then kept, and its rows are given out with
//! what was found.

use crate::expr::Expr;
use crate::operator::{Node, Operator};
use crate::rows::RowBuffer;
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use builtins::{Aggregate, State};
use plan::{Slot, WindowCall, WindowFunction};
use std::collections::BTreeSet;
use types::{Collation, SqlType, Value, compare, fit_number};

/// Computes window functions.
pub(crate) struct Window {
    id: usize,
    input: Node,
    partition: Vec<(Slot, Collation)>,
    order: Vec<(Slot, Collation)>,
    calls: Vec<Call>,
    /// The rows of one partition are kept before any is given out.
    gathers: bool,
    rows: RowBuffer,
    /// Slots of the row that begins the next partition.
    saved_slots: Vec<Slot>,
    saved: Option<Vec<Value>>,
    /// Partition keys and order keys of the row before.
    partition_keys: Option<Vec<Value>>,
    order_keys: Vec<Value>,
    /// Rows, peer groups and the rank within the partition.
    row: i64,
    peers: i64,
    rank: i64,
    total: i64,
    giving: bool,
}

struct Call {
    function: Function,
    output: Slot,
    result: SqlType,
}

enum Function {
    RowNumber,
    Rank,
    DenseRank,
    Ntile(Expr),
    Aggregate(Box<Running>),
}

/// An aggregate and what is known of it.
struct Running {
    function: Aggregate,
    argument: Option<Expr>,
    argument_type: SqlType,
    collation: Collation,
    running_rows: Option<bool>,
    state: Option<State>,
    /// Its value at the end of each peer group, or of the partition alone.
    values: Vec<Value>,
}

impl Window {
    pub(crate) fn new(
        id: usize,
        input: Node,
        partition: Vec<(Slot, Collation)>,
        order: Vec<(Slot, Collation)>,
        calls: &[WindowCall],
        carried: &[Slot],
    ) -> SqlResult<Window> {
        let kept = kept_slots(&partition, &order, calls, carried);
        let calls = calls.iter().map(Call::new).collect::<SqlResult<Vec<_>>>()?;
        Ok(Window {
            id,
            input,
            partition,
            order,
            gathers: calls.iter().any(Call::looks_ahead),
            calls,
            rows: RowBuffer::new(kept.clone()),
            saved_slots: kept,
            saved: None,
            partition_keys: None,
            order_keys: Vec::new(),
            row: 0,
            peers: 0,
            rank: 0,
            total: 0,
            giving: false,
        })
    }

    fn same(run: &Run<'_>, keys: &[(Slot, Collation)], values: &[Value]) -> bool {
        let same = |(k, v): (&(Slot, Collation), &Value)| compare(run.slot(k.0), v, k.1).is_eq();
        keys.iter().zip(values).all(same)
    }

    fn is_new_partition(&self, run: &Run<'_>) -> bool {
        !self.partition_keys.as_ref().is_some_and(|v| Self::same(run, &self.partition, v))
    }

    /// The row in the frame begins a partition.
    fn begin_partition(&mut self, run: &Run<'_>) {
        let keys = self.partition.iter().map(|k| run.slot(k.0).clone());
        self.partition_keys = Some(keys.collect());
        (self.row, self.peers, self.rank) = (0, 0, 0);
        for c in &mut self.calls {
            c.begin();
        }
    }

    /// Counts the row in the frame; whether it begins a group of peers.
    fn count_row(&mut self, run: &Run<'_>) -> bool {
        self.row += 1;
        let first = self.row == 1 || !Self::same(run, &self.order, &self.order_keys);
        if first {
            self.peers += 1;
            self.rank = self.row;
            self.order_keys.clear();
            self.order_keys.extend(self.order.iter().map(|k| run.slot(k.0).clone()));
        }
        first
    }

    /// Streaming: the row in the frame gets its values at once.
    fn next_streamed(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if !self.input.next(run)? {
            return Ok(false);
        }
        if self.is_new_partition(run) {
            self.begin_partition(run);
        }
        self.count_row(run);
        for c in &mut self.calls {
            c.step(run, false)?;
        }
        self.give(run)?;
        Ok(true)
    }

    /// Keeps the next partition; false when there is none.
    fn gather(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.rows.clear(run);
        match self.saved.take() {
            Some(saved) => {
                for (&slot, value) in self.saved_slots.iter().zip(saved) {
                    run.set(slot, value);
                }
            }
            None if self.giving => return Ok(false),
            None if !self.input.next(run)? => return Ok(false),
            None => {}
        }
        self.begin_partition(run);
        loop {
            run.tick()?;
            if self.count_row(run) && self.row > 1 {
                self.calls.iter_mut().try_for_each(Call::end_peers)?;
            }
            for c in &mut self.calls {
                c.step(run, true)?;
            }
            self.rows.push(run)?;
            if !self.input.next(run)? {
                break;
            }
            if self.is_new_partition(run) {
                let saved = self.saved_slots.iter().map(|&s| run.slot(s).clone());
                self.saved = Some(saved.collect());
                break;
            }
        }
        self.calls.iter_mut().try_for_each(Call::end_peers)?;
        run.counts[self.id].spilled_bytes += self.rows.spilled_bytes();
        self.total = self.row;
        (self.row, self.peers, self.rank) = (0, 0, 0);
        self.giving = true;
        self.rows.rewind()?;
        Ok(true)
    }

    fn next_gathered(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while !self.giving || !self.rows.next(run)? {
            if !self.gather(run)? {
                return Ok(false);
            }
        }
        self.count_row(run);
        self.give(run)?;
        Ok(true)
    }

    /// Puts the values of the row in the frame into their slots.
    fn give(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        for c in &self.calls {
            let whole = match &c.function {
                Function::RowNumber => self.row,
                Function::Rank => self.rank,
                Function::DenseRank => self.peers,
                Function::Ntile(x) => ntile(x.with(run, Value::as_i64)?, self.row, self.total)?,
                Function::Aggregate(a) => {
                    let place = match a.running_rows {
                        Some(true) if self.gathers => self.row,
                        Some(false) => self.peers,
                        Some(true) | None => 1,
                    };
                    run.set(c.output, a.value(place));
                    continue;
                }
            };
            let value = fit_number(whole.into(), c.result).unwrap_or(Value::BigInt(whole));
            run.set(c.output, value);
        }
        Ok(())
    }
}

/// The group of a row: the first groups have one row more where they cannot be equal.
fn ntile(groups: Option<i64>, row: i64, total: i64) -> SqlResult<i64> {
    let Some(groups) = groups.filter(|&n| n > 0) else {
        return Err(SqlError::new(messages::NTILE_INVALID, &[]));
    };
    let (size, larger) = (total / groups, total % groups);
    let in_larger = larger * (size + 1);
    Ok(if row <= in_larger {
        (row - 1) / (size + 1) + 1
    } else {
        larger + (row - in_larger - 1) / size.max(1) + 1
    })
}

impl Call {
    fn new(call: &WindowCall) -> SqlResult<Call> {
        let function = match &call.function {
            WindowFunction::RowNumber => Function::RowNumber,
            WindowFunction::Rank => Function::Rank,
            WindowFunction::DenseRank => Function::DenseRank,
            WindowFunction::Ntile(x) => Function::Ntile(Expr::new(x)?),
            WindowFunction::Aggregate { function, argument, running_rows } => {
                Function::Aggregate(Box::new(Running {
                    function: *function,
                    argument: argument.as_ref().map(Expr::new).transpose()?,
                    argument_type: argument.as_ref().map_or(SqlType::Int, |x| x.ty.sql_type),
                    collation: argument.as_ref().map_or(call.ty.collation, |x| x.ty.collation),
                    running_rows: *running_rows,
                    state: None,
                    values: Vec::new(),
                }))
            }
        };
        Ok(Call { function, output: call.output, result: call.ty.sql_type })
    }

    fn looks_ahead(&self) -> bool {
        match &self.function {
            Function::RowNumber | Function::Rank | Function::DenseRank => false,
            Function::Ntile(_) => true,
            Function::Aggregate(a) => a.running_rows != Some(true),
        }
    }

    fn begin(&mut self) {
        if let Function::Aggregate(a) = &mut self.function {
            a.state = Some(a.function.start(a.argument_type, a.collation, Value::Null));
            a.values.clear();
        }
    }

    fn step(&mut self, run: &mut Run<'_>, keep: bool) -> SqlResult<()> {
        let Function::Aggregate(a) = &mut self.function else { return Ok(()) };
        let Running { argument, state, values, running_rows, .. } = &mut **a;
        let Some(state) = state else { return Ok(()) };
        match argument {
            None => state.step(&Value::Int(1))?,
            Some(x) => x.with(run, |v| state.step(v))??,
        }
        run.outcome.nulls_eliminated |= state.saw_null();
        if *running_rows == Some(true) {
            // A row that is given out at once needs no value but the last.
            if !keep {
                values.clear();
            }
            values.push(state.finish()?);
        }
        Ok(())
    }

    /// A group of peers is complete.
    fn end_peers(&mut self) -> SqlResult<()> {
        let Function::Aggregate(a) = &mut self.function else { return Ok(()) };
        let Some(state) = &a.state else { return Ok(()) };
        match a.running_rows {
            Some(true) => {}
            Some(false) => a.values.push(state.finish()?),
            None => {
                a.values.clear();
                a.values.push(state.finish()?);
            }
        }
        Ok(())
    }
}

impl Running {
    /// The value at a place, from 1.
    fn value(&self, place: i64) -> Value {
        let at = usize::try_from(place - 1).unwrap_or(usize::MAX);
        self.values.get(at).cloned().unwrap_or(Value::Null)
    }
}

/// What a row keeps: what is asked for, and what this operator looks at.
fn kept_slots(
    partition: &[(Slot, Collation)],
    order: &[(Slot, Collation)],
    calls: &[WindowCall],
    carried: &[Slot],
) -> Vec<Slot> {
    let mut kept: BTreeSet<Slot> = carried.iter().copied().collect();
    kept.extend(partition.iter().chain(order).map(|k| k.0));
    for c in calls {
        let (WindowFunction::Aggregate { argument: Some(x), .. } | WindowFunction::Ntile(x)) =
            &c.function
        else {
            continue;
        };
        kept.extend(x.reads().slots);
    }
    kept.into_iter().collect()
}

impl Operator for Window {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.rows.clear(run);
        self.saved = None;
        self.partition_keys = None;
        self.giving = false;
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        run.tick()?;
        if self.gathers { self.next_gathered(run) } else { self.next_streamed(run) }
    }

    fn close(&mut self) {
        self.rows.drop_rows();
        self.saved = None;
        self.partition_keys = None;
        self.calls.iter_mut().for_each(Call::begin);
        self.input.close();
    }
}
