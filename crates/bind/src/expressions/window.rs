//! Window functions: ranks, neighbours, percentiles, aggregates with OVER; named windows.

use crate::binder::Binder;
use crate::expressions::collation::check_column;
use crate::expressions::comparable::check_key;
use crate::expressions::comparable::check_sorted;
use crate::names::scope::{Clause, WindowGroup};
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use plan::{Frame, FrameEnd, Scalar, ScalarKind, ScalarType, WindowCall, WindowFunction};
use tsql::ast::{self, ExprKind, FrameBound, FrameUnit, Literal};
use types::{SqlType, Value};

/// What partitions, and what orders (true: descending).
type Window = (Vec<Scalar>, Vec<(Scalar, bool)>);

/// A function that needs OVER.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    FirstValue,
    LastValue,
    Lag,
    Lead,
    PercentileCont,
    PercentileDisc,
}

const KINDS: [(&str, Kind); 12] = [
    ("ROW_NUMBER", Kind::RowNumber),
    ("RANK", Kind::Rank),
    ("DENSE_RANK", Kind::DenseRank),
    ("PERCENT_RANK", Kind::PercentRank),
    ("CUME_DIST", Kind::CumeDist),
    ("NTILE", Kind::Ntile),
    ("FIRST_VALUE", Kind::FirstValue),
    ("LAST_VALUE", Kind::LastValue),
    ("LAG", Kind::Lag),
    ("LEAD", Kind::Lead),
    ("PERCENTILE_CONT", Kind::PercentileCont),
    ("PERCENTILE_DISC", Kind::PercentileDisc),
];

impl Kind {
    /// Fewest and most arguments.
    fn arguments(self) -> (usize, usize) {
        match self {
            Kind::RowNumber | Kind::Rank | Kind::DenseRank | Kind::PercentRank | Kind::CumeDist => {
                (0, 0)
            }
            Kind::Ntile
            | Kind::FirstValue
            | Kind::LastValue
            | Kind::PercentileCont
            | Kind::PercentileDisc => (1, 1),
            Kind::Lag | Kind::Lead => (1, 3),
        }
    }

    fn is_percentile(self) -> bool {
        matches!(self, Kind::PercentileCont | Kind::PercentileDisc)
    }

    fn has_frame(self) -> bool {
        matches!(self, Kind::FirstValue | Kind::LastValue)
    }

    fn treats_nulls(self) -> bool {
        self.has_frame() || matches!(self, Kind::Lag | Kind::Lead)
    }
}

impl Binder<'_> {
    /// A function that exists only with OVER; None when it is none.
    pub(crate) fn ranking(&mut self, call: &ast::FunctionCall) -> SqlResult<Option<Scalar>> {
        let name = &call.name.object;
        let Some(kind) = KINDS.iter().find(|k| k.0.eq_ignore_ascii_case(name)).map(|k| k.1) else {
            return Ok(None);
        };
        let Some(over) = &call.over else {
            return Err(SqlError::new(messages::WINDOW_NEEDS_OVER, &[&name.to_ascii_lowercase()]));
        };
        let over = &*self.named_window(over)?;
        self.window_allowed()?;
        check_shape(kind, call, over)?;
        let (fewest, most) = kind.arguments();
        if !(fewest..=most).contains(&call.arguments.len()) {
            let name = name.to_ascii_lowercase();
            let counts: [&dyn std::fmt::Display; 3] = [&name, &fewest, &most];
            return Err(match fewest == most {
                true => SqlError::new(messages::WINDOW_ARGUMENT_COUNT, &counts),
                false => SqlError::new(messages::WINDOW_ARGUMENT_RANGE, &counts),
            });
        }
        if kind.is_percentile() {
            return self.percentile(kind, call, over).map(Some);
        }
        let bigint = self.plain(SqlType::BigInt, true);
        let float = self.plain(SqlType::Float, true);
        let (function, ty) = match kind {
            Kind::RowNumber => (WindowFunction::RowNumber, bigint),
            Kind::Rank => (WindowFunction::Rank, bigint),
            Kind::DenseRank => (WindowFunction::DenseRank, bigint),
            Kind::PercentRank => (WindowFunction::PercentRank, float),
            Kind::CumeDist => (WindowFunction::CumeDist, float),
            Kind::Ntile => {
                let groups = self.window_argument(&call.arguments[0])?;
                (WindowFunction::Ntile(self.implicit(groups, SqlType::BigInt)?), bigint)
            }
            _ => self.neighbour(kind, call, over)?,
        };
        self.windowed(over, function, ty).map(Some)
    }

    /// FIRST_VALUE, LAST_VALUE, LAG, LEAD.
    fn neighbour(
        &mut self,
        kind: Kind,
        call: &ast::FunctionCall,
        over: &ast::OverClause,
    ) -> SqlResult<(WindowFunction, ScalarType)> {
        let argument = self.window_argument(&call.arguments[0])?;
        let ty = ScalarType { nullable: true, ..argument.ty };
        let ignore_nulls = call.ignore_nulls == Some(true);
        if kind.has_frame() {
            let frame = frame_of(over)?;
            let last = kind == Kind::LastValue;
            return Ok((WindowFunction::Edge { argument, last, frame, ignore_nulls }, ty));
        }
        let offset = match call.arguments.get(1) {
            Some(e) => {
                let offset = self.window_argument(e)?;
                self.implicit(offset, SqlType::BigInt)?
            }
            None => self.constant(Value::BigInt(1), SqlType::BigInt),
        };
        let default = match call.arguments.get(2) {
            Some(e) => {
                let default = self.window_argument(e)?;
                Some(self.implicit(default, ty.sql_type)?)
            }
            None => None,
        };
        let lead = kind == Kind::Lead;
        Ok((WindowFunction::Shifted { argument, offset, default, lead, ignore_nulls }, ty))
    }

    /// PERCENTILE_CONT, PERCENTILE_DISC: WITHIN GROUP orders the partitions of OVER.
    fn percentile(
        &mut self,
        kind: Kind,
        call: &ast::FunctionCall,
        over: &ast::OverClause,
    ) -> SqlResult<Scalar> {
        let [within] = call.within_group.as_slice() else {
            let name = call.name.object.to_ascii_lowercase();
            return Err(SqlError::new(messages::WITHIN_GROUP_ONE, &[&name]));
        };
        let fraction = self.window_argument(&call.arguments[0])?;
        let fraction = self.implicit(fraction, SqlType::Float)?;
        let p = fraction.as_constant();
        if p.is_some_and(|p| !matches!(p, Value::Float(p) if (0.0..=1.0).contains(p))) {
            return Err(SqlError::new(messages::PERCENTILE_RANGE, &[]));
        }
        let argument = self.window_argument(&within.expr)?;
        let continuous = kind == Kind::PercentileCont;
        let family = argument.ty.sql_type.family();
        use types::Family as F;
        if continuous && !matches!(family, F::Integer | F::Decimal | F::Money | F::Float) {
            let name = argument.ty.sql_type.error_name();
            let facts: [&dyn std::fmt::Display; 2] = [&name, &call.name.object];
            return Err(SqlError::new(messages::OPERAND_TYPE_INVALID, &facts));
        }
        let argument = if continuous { self.implicit(argument, SqlType::Float)? } else { argument };
        let ty = ScalarType { nullable: true, ..argument.ty };
        let mut ordered = over.clone();
        ordered.order_by = call.within_group.clone();
        let function = WindowFunction::Percentile { argument, fraction, continuous };
        self.windowed(&ordered, function, ty)
    }

    /// An argument, within which no other window function may stand.
    fn window_argument(&mut self, e: &ast::Expr) -> SqlResult<Scalar> {
        self.set_in_window(true);
        let bound = self.expr(e);
        self.set_in_window(false);
        bound
    }

    fn window_allowed(&self) -> SqlResult<()> {
        let Some(scope) = self.scopes.last() else {
            return Err(SqlError::new(messages::WINDOW_NOT_ALLOWED, &[]));
        };
        if scope.in_window || scope.in_aggregate {
            return Err(SqlError::new(messages::WINDOW_NESTED, &[]));
        }
        if !matches!(scope.clause, Clause::SelectList | Clause::OrderBy) {
            return Err(SqlError::new(messages::WINDOW_NOT_ALLOWED, &[]));
        }
        Ok(())
    }

    /// An aggregate with OVER.
    pub(crate) fn window_aggregate(
        &mut self,
        aggregate: Aggregate,
        call: &ast::FunctionCall,
        over: &ast::OverClause,
    ) -> SqlResult<Scalar> {
        let over = &*self.named_window(over)?;
        self.window_allowed()?;
        if call.distinct {
            return Err(SqlError::new(messages::DISTINCT_WITH_OVER, &[]));
        }
        if matches!(aggregate, Aggregate::StringAgg | Aggregate::ApproxPercentile(_)) {
            let name = aggregate.name().to_ascii_lowercase();
            return Err(SqlError::new(messages::NOT_WINDOW_FUNCTION, &[&name]));
        }
        let frame = frame_of(over)?;
        self.set_in_window(true);
        let argument = self.aggregate_argument(aggregate, call, false);
        self.set_in_window(false);
        let (argument, _) = argument?;
        let ty = self.aggregate_type(aggregate, argument.as_ref())?;
        let function = WindowFunction::Aggregate { function: aggregate, argument, frame };
        self.windowed(over, function, ty)
    }

    /// Notes a call under its window and reads its slot.
    fn windowed(
        &mut self,
        over: &ast::OverClause,
        function: WindowFunction,
        ty: ScalarType,
    ) -> SqlResult<Scalar> {
        self.set_in_window(true);
        let window = self.window(over);
        self.set_in_window(false);
        let (partition, order) = window?;
        let output = self.new_slot();
        let call = WindowCall { function, output, ty };
        let scope = self.scopes.last_mut().expect("a window function stands within a query");
        let same = scope.windows.iter_mut().find(|w| w.partition == partition && w.order == order);
        let Some(group) = same else {
            scope.windows.push(WindowGroup { partition, order, calls: vec![call] });
            return Ok(Scalar::column(output, ty));
        };
        let known = group.calls.iter().find(|c| c.function == call.function && c.ty == ty);
        if let Some(known) = known {
            return Ok(Scalar::column(known.output, ty));
        }
        group.calls.push(call);
        Ok(Scalar::column(output, ty))
    }

    pub(crate) fn set_in_window(&mut self, within: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.in_window = within;
        }
    }

    pub(crate) fn window(&mut self, over: &ast::OverClause) -> SqlResult<Window> {
        let mut partition = Vec::with_capacity(over.partition_by.len());
        for (n, e) in over.partition_by.iter().enumerate() {
            let key = self.expr(e)?;
            let checked = check_sorted(key.ty.sql_type);
            let checked = checked.and_then(|()| check_column(key.ty, "PARTITION BY", n + 1));
            checked.map_err(|error| error.at_line(e.span.line))?;
            if key.as_constant().is_none() {
                partition.push(key);
            }
        }
        let mut order = Vec::with_capacity(over.order_by.len());
        for (n, item) in over.order_by.iter().enumerate() {
            let message = match &item.expr.kind {
                ExprKind::Literal(Literal::Integer(_)) => Some(messages::WINDOW_INTEGER_ORDER),
                ExprKind::Literal(_) => Some(messages::WINDOW_CONSTANT_ORDER),
                _ => None,
            };
            if let Some(message) = message {
                return Err(SqlError::new(message, &[]).at_line(item.expr.span.line));
            }
            let key = self.expr(&item.expr)?;
            let line = item.expr.span.line;
            check_key(key.ty, n + 1).map_err(|error| error.at_line(line))?;
            // What never changes orders nothing: OVER (ORDER BY (SELECT NULL)).
            let fixed = matches!(key.kind, ScalarKind::Constant(_) | ScalarKind::Variable(_));
            if !fixed {
                order.push((key, item.descending));
            }
        }
        Ok((partition, order))
    }

    /// A window with what the WINDOW clause says of the name in it.
    fn named_window<'o>(
        &self,
        over: &'o ast::OverClause,
    ) -> SqlResult<std::borrow::Cow<'o, ast::OverClause>> {
        use std::borrow::Cow;
        let Some(name) = &over.window else { return Ok(Cow::Borrowed(over)) };
        let mut whole = over.clone();
        let mut next = Some(name.clone());
        let mut seen = 0;
        while let Some(name) = next.take() {
            let named = self.scopes.last().map_or(&[][..], |s| &s.window_names);
            let unknown = || SqlError::new(messages::WINDOW_UNKNOWN, &[&name]).at_line(name.line);
            let (_, base) = named.iter().find(|(n, _)| self.same(n, &name)).ok_or_else(unknown)?;
            seen += 1;
            if seen > named.len() {
                return Err(SqlError::new(messages::WINDOW_CYCLE, &[]).at_line(name.line));
            }
            // An element may be given once along the way.
            let twice = (!whole.partition_by.is_empty() && !base.partition_by.is_empty())
                || (!whole.order_by.is_empty() && !base.order_by.is_empty())
                || (whole.frame.is_some() && base.frame.is_some());
            if twice {
                return Err(SqlError::new(messages::WINDOW_ELEMENT_TWICE, &[]).at_line(name.line));
            }
            if whole.partition_by.is_empty() {
                whole.partition_by.clone_from(&base.partition_by);
            }
            if whole.order_by.is_empty() {
                whole.order_by.clone_from(&base.order_by);
            }
            whole.frame = whole.frame.take().or_else(|| base.frame.clone());
            next.clone_from(&base.window);
        }
        Ok(Cow::Owned(whole))
    }
}

/// What OVER and WITHIN GROUP may have of a function.
fn check_shape(kind: Kind, call: &ast::FunctionCall, over: &ast::OverClause) -> SqlResult<()> {
    let name = call.name.object.to_ascii_lowercase();
    let message = if over.frame.is_some() && !kind.has_frame() {
        messages::FUNCTION_NOT_WINDOW
    } else if kind.is_percentile() && call.within_group.is_empty() {
        messages::NEEDS_WITHIN_GROUP
    } else if !kind.is_percentile() && !call.within_group.is_empty() {
        messages::NO_WITHIN_GROUP
    } else if kind.is_percentile() && !over.order_by.is_empty() {
        messages::WINDOW_NO_ORDER
    } else if !kind.is_percentile() && over.order_by.is_empty() {
        messages::WINDOW_NEEDS_ORDER
    } else if call.ignore_nulls.is_some() && !kind.treats_nulls() {
        return Err(unsupported("IGNORE NULLS with this function", call.span.line));
    } else {
        return Ok(());
    };
    Err(SqlError::new(message, &[&name]))
}

/// The frame of a window: as written, or the default.
fn frame_of(over: &ast::OverClause) -> SqlResult<Frame> {
    let Some(frame) = &over.frame else {
        return Ok(if over.order_by.is_empty() { Frame::WHOLE } else { Frame::RANGE });
    };
    let rows = frame.unit == FrameUnit::Rows;
    let bound = frame_bounds(frame).map_err(|e| e.at_line(over.span.line))?;
    if over.order_by.is_empty() {
        return Err(SqlError::new(messages::FRAME_NEEDS_ORDER, &[]).at_line(over.span.line));
    }
    Ok(match bound {
        (FrameEnd::First, FrameEnd::Last) => Frame::WHOLE,
        (start, end) => Frame { rows, start, end },
    })
}

fn frame_bounds(frame: &ast::Frame) -> SqlResult<(FrameEnd, FrameEnd)> {
    let (start, end) = (frame_end(&frame.start)?, frame_end(&frame.end)?);
    let counts = |e| matches!(e, FrameEnd::Preceding(_) | FrameEnd::Following(_));
    if frame.unit == FrameUnit::Range && (counts(start) || counts(end)) {
        return Err(SqlError::new(messages::FRAME_RANGE_BOUND, &[]));
    }
    // The kinds of ends stand in order; a frame may be empty, but not turned around.
    let rank = |e| match e {
        FrameEnd::First => 0,
        FrameEnd::Preceding(_) => 1,
        FrameEnd::Current => 2,
        FrameEnd::Following(_) => 3,
        FrameEnd::Last => 4,
    };
    let turned = rank(start) > rank(end) || start == FrameEnd::Last || end == FrameEnd::First;
    if turned {
        let spelled = format!("BETWEEN {} AND {}", FrameEndText(start), FrameEndText(end));
        return Err(SqlError::new(messages::FRAME_INVALID, &[&spelled]));
    }
    Ok((start, end))
}

struct FrameEndText(FrameEnd);

impl std::fmt::Display for FrameEndText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            FrameEnd::First => f.write_str("UNBOUNDED PRECEDING"),
            FrameEnd::Preceding(_) => f.write_str("PRECEDING"),
            FrameEnd::Current => f.write_str("CURRENT ROW"),
            FrameEnd::Following(_) => f.write_str("FOLLOWING"),
            FrameEnd::Last => f.write_str("UNBOUNDED FOLLOWING"),
        }
    }
}

fn frame_end(bound: &FrameBound) -> SqlResult<FrameEnd> {
    let count = |e: &ast::Expr| match &e.kind {
        ExprKind::Literal(Literal::Integer(n)) => {
            n.parse::<u64>().map_err(|_| SqlError::new(messages::SYNTAX_NEAR, &[n]))
        }
        _ => Err(SqlError::new(messages::SYNTAX_NEAR, &[&"ROWS"])),
    };
    Ok(match bound {
        FrameBound::UnboundedPreceding => FrameEnd::First,
        FrameBound::Preceding(n) => FrameEnd::Preceding(count(n)?),
        FrameBound::CurrentRow => FrameEnd::Current,
        FrameBound::Following(n) => FrameEnd::Following(count(n)?),
        FrameBound::UnboundedFollowing => FrameEnd::Last,
    })
}
