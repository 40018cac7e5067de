//! One window function: which rows it must read before it can answer, and its answer.

use super::lane::{Lane, Marks};
use super::sliding::{Computation, READERS, SlidingAggregate};
use crate::expr::Expr;
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use builtins::State;
use plan::{Frame, FrameEnd, Scalar, Slot, WindowCall, WindowFunction};
use types::{SqlType, Value, fit_number};

/// The rows that are kept before any of them is given out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Unit {
    /// None: each row is answered at once.
    Row,
    /// A row's peers.
    Peers,
    /// Its partition.
    Partition,
}

/// Where a row stands in its partition.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Place {
    /// From 0.
    pub(super) row: u64,
    /// The first of its peers, and the row after the last.
    pub(super) peers: (u64, u64),
    /// Groups of peers up to its own, from 1.
    pub(super) groups: u64,
    /// Rows of the partition, as far as the operator has read it.
    pub(super) total: u64,
}

/// A window function.
pub(super) struct Call {
    function: Function,
    output: Slot,
    result: SqlType,
}

enum Function {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile(Expr),
    Aggregate(Box<FramedAggregate>),
    Edge(Box<Edge>),
    Shift(Box<Shift>),
    Percentile(Box<Percentile>),
}

/// An aggregate with its frame.
struct FramedAggregate {
    argument: Option<Expr>,
    computation: Computation,
    frame: Frame,
    way: Way,
}

/// How an aggregate follows its frame.
enum Way {
    /// The whole partition: one answer.
    Whole(State, Value),
    /// ROWS UNBOUNDED PRECEDING: one step a row.
    Rows(State),
    /// RANGE UNBOUNDED PRECEDING where peers are given out together: their answer.
    Peers(State, Value),
    /// The same where a partition is: an answer for each group of peers.
    Range(State, Lane),
    /// All others.
    Sliding(SlidingAggregate, Lane),
}

/// FIRST_VALUE, LAST_VALUE.
struct Edge {
    argument: Expr,
    last: bool,
    frame: Frame,
    values: Lane,
    /// IGNORE NULLS: which rows count.
    present: Option<Marks>,
    /// Rows that were looked at, and the last of them that counts.
    looked: u64,
    found: Option<u64>,
}

/// LAG, LEAD.
struct Shift {
    argument: Expr,
    offset: Expr,
    default: Option<Expr>,
    lead: bool,
    /// Of all rows, or of those that count.
    values: Lane,
    present: Option<Marks>,
    /// IGNORE NULLS: how many of the first rows count.
    counted: (u64, u64),
}

/// PERCENTILE_CONT, PERCENTILE_DISC.
struct Percentile {
    argument: Expr,
    fraction: Expr,
    continuous: bool,
    values: Lane,
    answer: Option<Value>,
}

impl Call {
    pub(super) fn new(call: &WindowCall) -> SqlResult<Call> {
        use WindowFunction as W;
        let function = match &call.function {
            W::RowNumber => Function::RowNumber,
            W::Rank => Function::Rank,
            W::DenseRank => Function::DenseRank,
            W::PercentRank => Function::PercentRank,
            W::CumeDist => Function::CumeDist,
            W::Ntile(x) => Function::Ntile(Expr::new(x)?),
            W::Aggregate { function, argument, frame } => {
                let ty = argument.as_ref().map(|x| x.ty);
                let computation = Computation {
                    function: *function,
                    argument: ty.map_or(SqlType::Int, |t| t.sql_type),
                    collation: ty.unwrap_or(call.ty).collation,
                };
                Function::Aggregate(Box::new(FramedAggregate::new(
                    argument.as_ref(),
                    computation,
                    *frame,
                )?))
            }
            W::Edge { argument, last, frame, ignore_nulls } => Function::Edge(Box::new(Edge {
                argument: Expr::new(argument)?,
                last: *last,
                frame: *frame,
                values: Lane::new(1),
                present: ignore_nulls.then(Marks::default),
                looked: 0,
                found: None,
            })),
            W::Shifted { argument, offset, default, lead, ignore_nulls } => {
                Function::Shift(Box::new(Shift {
                    argument: Expr::new(argument)?,
                    offset: Expr::new(offset)?,
                    default: default.as_ref().map(Expr::new).transpose()?,
                    lead: *lead,
                    values: Lane::new(1),
                    present: ignore_nulls.then(Marks::default),
                    counted: (0, 0),
                }))
            }
            W::Percentile { argument, fraction, continuous } => {
                Function::Percentile(Box::new(Percentile {
                    argument: Expr::new(argument)?,
                    fraction: Expr::new(fraction)?,
                    continuous: *continuous,
                    values: Lane::new(1),
                    answer: None,
                }))
            }
        };
        Ok(Call { function, output: call.output, result: call.ty.sql_type })
    }

    /// What it must have seen before it answers for a row.
    pub(super) fn unit(&self) -> Unit {
        match &self.function {
            Function::RowNumber | Function::Rank | Function::DenseRank => Unit::Row,
            Function::Aggregate(a) => match a.way {
                Way::Rows(_) => Unit::Row,
                Way::Peers(..) => Unit::Peers,
                Way::Whole(..) | Way::Range(..) | Way::Sliding(..) => Unit::Partition,
            },
            _ => Unit::Partition,
        }
    }

    /// Learns what is kept before any row is given out: at least its own unit.
    pub(super) fn settle(&mut self, unit: Unit) {
        if let Function::Aggregate(a) = &mut self.function
            && let (Way::Peers(state, _), Unit::Partition) = (&a.way, unit)
        {
            a.way = Way::Range(state.clone(), Lane::new(1));
        }
    }

    /// A partition begins.
    pub(super) fn begin(&mut self, run: &mut Run<'_>) {
        match &mut self.function {
            Function::Aggregate(a) => a.begin(run),
            Function::Edge(e) => {
                e.values.clear(run);
                e.present.iter_mut().for_each(|m| m.clear(run));
                (e.looked, e.found) = (0, None);
            }
            Function::Shift(s) => {
                s.values.clear(run);
                s.present.iter_mut().for_each(|m| m.clear(run));
                s.counted = (0, 0);
            }
            Function::Percentile(p) => {
                p.values.clear(run);
                p.answer = None;
            }
            _ => {}
        }
    }

    /// The row in the frame is kept; `first`: its peers begin with it.
    pub(super) fn gather(&mut self, run: &mut Run<'_>, first: bool) -> SqlResult<()> {
        match &mut self.function {
            Function::Aggregate(a) => a.gather(run, first),
            Function::Edge(e) => {
                let value = e.argument.eval(run)?;
                e.present.iter_mut().for_each(|m| m.push(run, !value.is_null()));
                e.values.push(run, value)
            }
            Function::Shift(s) => {
                let value = s.argument.eval(run)?;
                if let Some(present) = &mut s.present {
                    present.push(run, !value.is_null());
                    if value.is_null() {
                        return Ok(());
                    }
                }
                s.values.push(run, value)
            }
            Function::Percentile(p) => match p.argument.eval(run)? {
                Value::Null => Ok(()),
                value => p.values.push(run, value),
            },
            _ => Ok(()),
        }
    }

    /// A unit is complete.
    pub(super) fn gathered(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        match &mut self.function {
            Function::Aggregate(a) => a.gathered(run),
            Function::Edge(e) => e.values.seal(),
            Function::Shift(s) => s.values.seal(),
            Function::Percentile(p) => p.values.seal(),
            _ => Ok(()),
        }
    }

    /// Bytes in files of its own.
    pub(super) fn spilled_bytes(&self) -> u64 {
        match &self.function {
            Function::Aggregate(a) => match &a.way {
                Way::Range(_, lane) | Way::Sliding(_, lane) => lane.spilled_bytes(),
                Way::Whole(..) | Way::Rows(_) | Way::Peers(..) => 0,
            },
            Function::Edge(e) => e.values.spilled_bytes(),
            Function::Shift(s) => s.values.spilled_bytes(),
            Function::Percentile(p) => p.values.spilled_bytes(),
            _ => 0,
        }
    }

    /// Forgets all; the grant is over.
    pub(super) fn drop_values(&mut self) {
        let lane = match &mut self.function {
            Function::Aggregate(a) => match &mut a.way {
                Way::Range(_, lane) | Way::Sliding(_, lane) => lane,
                Way::Whole(..) | Way::Rows(_) | Way::Peers(..) => return,
            },
            Function::Edge(e) => {
                e.present.iter_mut().for_each(Marks::drop_bits);
                &mut e.values
            }
            Function::Shift(s) => {
                s.present.iter_mut().for_each(Marks::drop_bits);
                &mut s.values
            }
            Function::Percentile(p) => &mut p.values,
            _ => return,
        };
        lane.drop_values();
    }

    /// Puts its value for the row in the frame into its slot.
    pub(super) fn give(&mut self, run: &mut Run<'_>, place: &Place) -> SqlResult<()> {
        let number = match &mut self.function {
            Function::RowNumber => place.row + 1,
            Function::Rank => place.peers.0 + 1,
            Function::DenseRank => place.groups,
            Function::Ntile(x) => ntile(x.with(run, Value::as_i64)?, place.row, place.total)?,
            other => {
                let value = other.value(run, place)?;
                run.set(self.output, value);
                return Ok(());
            }
        };
        let value = fit_number(number.into(), self.result).unwrap_or(Value::Null);
        run.set(self.output, value);
        Ok(())
    }
}

impl Function {
    fn value(&mut self, run: &mut Run<'_>, place: &Place) -> SqlResult<Value> {
        let share = |n: u64, of: u64| Value::Float(n as f64 / of as f64);
        match self {
            Function::PercentRank if place.total <= 1 => Ok(Value::Float(0.0)),
            Function::PercentRank => Ok(share(place.peers.0, place.total - 1)),
            Function::CumeDist => Ok(share(place.peers.1, place.total)),
            Function::Aggregate(a) => a.value(run, place),
            Function::Edge(e) => e.value(run, place),
            Function::Shift(s) => s.value(run, place),
            Function::Percentile(p) => p.value(run),
            Function::RowNumber | Function::Rank | Function::DenseRank | Function::Ntile(_) => {
                Ok(Value::Null)
            }
        }
    }
}

/// The group of a row: the first groups have one row more where they cannot be equal.
fn ntile(groups: Option<i64>, row: u64, total: u64) -> SqlResult<u64> {
    let Some(groups) = groups.and_then(|n| u64::try_from(n).ok()).filter(|&n| n > 0) else {
        return Err(SqlError::new(messages::NTILE_INVALID, &[]));
    };
    let (size, larger) = (total / groups, total % groups);
    let in_larger = larger * (size + 1);
    Ok(if row < in_larger { row / (size + 1) } else { larger + (row - in_larger) / size.max(1) }
        + 1)
}

/// The rows of a frame, from the first to the one after the last.
fn rows_of(frame: Frame, place: &Place) -> (u64, u64) {
    let Place { row, total, .. } = *place;
    let (first, after) = if frame.rows { (row, row + 1) } else { place.peers };
    let start = match frame.start {
        FrameEnd::First => 0,
        FrameEnd::Preceding(n) => row.saturating_sub(n),
        FrameEnd::Current => first,
        FrameEnd::Following(n) => row.saturating_add(n).min(total),
        FrameEnd::Last => total,
    };
    let end = match frame.end {
        FrameEnd::First => 0,
        FrameEnd::Preceding(n) => (row + 1).saturating_sub(n),
        FrameEnd::Current => after,
        FrameEnd::Following(n) => row.saturating_add(n).saturating_add(1).min(total),
        FrameEnd::Last => total,
    };
    (start.min(end), end)
}

impl FramedAggregate {
    fn new(
        argument: Option<&Scalar>,
        computation: Computation,
        frame: Frame,
    ) -> SqlResult<FramedAggregate> {
        let way = match frame {
            Frame { start: FrameEnd::First, end: FrameEnd::Last, .. } => {
                Way::Whole(computation.start(), Value::Null)
            }
            Frame::ROWS => Way::Rows(computation.start()),
            Frame::RANGE => Way::Peers(computation.start(), Value::Null),
            _ => Way::Sliding(SlidingAggregate::new(computation), Lane::new(READERS)),
        };
        Ok(FramedAggregate {
            argument: argument.map(Expr::new).transpose()?,
            computation,
            frame,
            way,
        })
    }

    fn begin(&mut self, run: &mut Run<'_>) {
        match &mut self.way {
            Way::Whole(state, _) | Way::Peers(state, _) | Way::Rows(state) => {
                *state = self.computation.start();
            }
            Way::Range(state, answers) => {
                *state = self.computation.start();
                answers.clear(run);
            }
            Way::Sliding(sliding, lane) => {
                sliding.begin(run);
                lane.clear(run);
            }
        }
    }

    fn gather(&mut self, run: &mut Run<'_>, first: bool) -> SqlResult<()> {
        let argument = &self.argument;
        match &mut self.way {
            Way::Rows(_) => Ok(()),
            Way::Whole(state, _) | Way::Peers(state, _) => step(state, argument, run),
            Way::Range(state, answers) => {
                if first && answers.len() > 0 {
                    answers.push(run, state.finish()?)?;
                } else if first {
                    // The group before the first has no answer: the first has place 1.
                    answers.push(run, Value::Null)?;
                }
                step(state, argument, run)
            }
            Way::Sliding(_, lane) => {
                let value = argument.as_ref().map_or(Ok(Value::Int(1)), |x| x.eval(run))?;
                lane.push(run, value)
            }
        }
    }

    fn gathered(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        match &mut self.way {
            Way::Rows(_) => Ok(()),
            Way::Whole(state, answer) | Way::Peers(state, answer) => {
                *answer = state.finish()?;
                Ok(())
            }
            Way::Range(state, answers) => {
                answers.push(run, state.finish()?)?;
                answers.seal()
            }
            Way::Sliding(_, lane) => lane.seal(),
        }
    }

    fn value(&mut self, run: &mut Run<'_>, place: &Place) -> SqlResult<Value> {
        match &mut self.way {
            Way::Whole(_, answer) | Way::Peers(_, answer) => Ok(answer.clone()),
            Way::Rows(state) => {
                step(state, &self.argument, run)?;
                state.finish()
            }
            Way::Range(_, answers) => answers.get(0, place.groups),
            Way::Sliding(sliding, lane) => {
                let (start, end) = rows_of(self.frame, place);
                sliding.over(run, lane, start, end)
            }
        }
    }
}

/// Takes the row in the frame.
fn step(state: &mut State, argument: &Option<Expr>, run: &mut Run<'_>) -> SqlResult<()> {
    match argument {
        None => state.step(&Value::Int(1))?,
        Some(x) => x.with(run, |v| state.step(v))??,
    }
    run.outcome.nulls_eliminated |= state.saw_null();
    Ok(())
}

impl Edge {
    fn value(&mut self, run: &mut Run<'_>, place: &Place) -> SqlResult<Value> {
        let (start, end) = rows_of(self.frame, place);
        let at = match &self.present {
            None if self.last => end.checked_sub(1),
            None => Some(start),
            Some(present) => {
                // The first that counts is looked for from the frame's start, the last among all
                // rows up to its end.
                if !self.last {
                    self.looked = self.looked.max(start);
                    self.found = self.found.filter(|&at| at >= start);
                }
                while self.looked < end && (self.last || self.found.is_none()) {
                    run.tick()?;
                    if present.get(self.looked) {
                        self.found = Some(self.looked);
                    }
                    self.looked += 1;
                }
                self.found
            }
        };
        match at {
            Some(at) if (start..end).contains(&at) => self.values.get(0, at),
            _ => Ok(Value::Null),
        }
    }
}

impl Shift {
    fn value(&mut self, run: &mut Run<'_>, place: &Place) -> SqlResult<Value> {
        let Some(offset) = self.offset.with(run, Value::as_i64)? else { return Ok(Value::Null) };
        let Ok(offset) = u64::try_from(offset) else {
            return Err(SqlError::new(messages::LAG_OFFSET_NEGATIVE, &[]));
        };
        let at = match &self.present {
            None if self.lead => place.row.checked_add(offset),
            None => place.row.checked_sub(offset),
            Some(present) => {
                // Rows that count before this one, and whether it does.
                while self.counted.0 < place.row {
                    run.tick()?;
                    self.counted.1 += u64::from(present.get(self.counted.0));
                    self.counted.0 += 1;
                }
                let (before, own) = (self.counted.1, u64::from(present.get(place.row)));
                match (offset, self.lead) {
                    (0, _) if own == 0 => return Ok(Value::Null),
                    (_, true) => (before + own).checked_add(offset).and_then(|n| n.checked_sub(1)),
                    (0, false) => Some(before),
                    (_, false) => before.checked_sub(offset),
                }
            }
        };
        match at {
            Some(at) if at < self.values.len() => self.values.get(0, at),
            _ => self.default.as_ref().map_or(Ok(Value::Null), |x| x.eval(run)),
        }
    }
}

impl Percentile {
    fn value(&mut self, run: &mut Run<'_>) -> SqlResult<Value> {
        if let Some(answer) = &self.answer {
            return Ok(answer.clone());
        }
        let answer = self.computed(run)?;
        self.answer = Some(answer.clone());
        Ok(answer)
    }

    fn computed(&mut self, run: &mut Run<'_>) -> SqlResult<Value> {
        let fraction = match self.fraction.eval(run)? {
            Value::Float(p) if (0.0..=1.0).contains(&p) => p,
            _ => return Err(SqlError::new(messages::PERCENTILE_RANGE, &[])),
        };
        let rows = self.values.len();
        if rows == 0 {
            return Ok(Value::Null);
        }
        if !self.continuous {
            // The first whose share of rows reaches the fraction.
            let place = (fraction * rows as f64).ceil() as u64;
            return self.values.get(0, place.clamp(1, rows) - 1);
        }
        let place = fraction * (rows - 1) as f64;
        let (low, high) = (place.floor(), place.ceil());
        let (a, b) = (self.float(low as u64)?, self.float(high as u64)?);
        Ok(Value::Float(a + (b - a) * (place - low)))
    }

    fn float(&mut self, at: u64) -> SqlResult<f64> {
        Ok(match self.values.get(0, at)? {
            Value::Float(x) => x,
            _ => 0.0,
        })
    }
}
