//! Window functions: ROW_NUMBER and its kin, aggregates with OVER.

use crate::binder::{Binder, unsupported};
use crate::scope::{Clause, WindowGroup};
use base::{SqlError, SqlResult, messages};
use builtins::Aggregate;
use plan::{Scalar, ScalarType, WindowCall, WindowFunction};
use tsql::ast::{self, ExprKind, FrameBound, FrameUnit, Literal};
use types::SqlType;

/// Window functions that parse and aren't executable yet.
const LATER: [&str; 8] = [
    "LAG",
    "LEAD",
    "FIRST_VALUE",
    "LAST_VALUE",
    "PERCENT_RANK",
    "CUME_DIST",
    "PERCENTILE_CONT",
    "PERCENTILE_DISC",
];

/// What partitions, and what orders (true: descending).
type Window = (Vec<Scalar>, Vec<(Scalar, bool)>);

impl Binder<'_> {
    /// A ranking function; None when it is none.
    pub(crate) fn ranking(&mut self, call: &ast::FunctionCall) -> SqlResult<Option<Scalar>> {
        let name = call.name.object.to_ascii_uppercase();
        if LATER.contains(&name.as_str()) {
            return Err(unsupported(&name, call.span.line));
        }
        let function = match name.as_str() {
            "ROW_NUMBER" => WindowFunction::RowNumber,
            "RANK" => WindowFunction::Rank,
            "DENSE_RANK" => WindowFunction::DenseRank,
            "NTILE" => WindowFunction::Ntile(Scalar::null(SqlType::BigInt)),
            _ => return Ok(None),
        };
        let Some(over) = &call.over else {
            return Err(SqlError::new(messages::WINDOW_NEEDS_OVER, &[&name]));
        };
        if over.order_by.is_empty() {
            return Err(SqlError::new(messages::WINDOW_NEEDS_ORDER, &[&name]));
        }
        if over.frame.is_some() {
            return Err(SqlError::new(messages::FUNCTION_NOT_WINDOW, &[&name]));
        }
        self.window_allowed()?;
        let wanted = usize::from(matches!(function, WindowFunction::Ntile(_)));
        if call.arguments.len() != wanted {
            return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&name, &wanted]));
        }
        let function = match call.arguments.first() {
            Some(groups) => {
                let groups = self.expr(groups)?;
                WindowFunction::Ntile(self.implicit(groups, SqlType::BigInt)?)
            }
            None => function,
        };
        let ty = self.plain(SqlType::BigInt, true);
        self.windowed(over, function, ty).map(Some)
    }

    fn window_allowed(&self) -> SqlResult<()> {
        let allowed = self.scopes.last().is_some_and(|s| {
            matches!(s.clause, Clause::SelectList | Clause::OrderBy)
                && !s.in_window
                && !s.in_aggregate
        });
        if allowed { Ok(()) } else { Err(SqlError::new(messages::WINDOW_NOT_ALLOWED, &[])) }
    }

    /// An aggregate with OVER.
    pub(crate) fn window_aggregate(
        &mut self,
        aggregate: Aggregate,
        call: &ast::FunctionCall,
        over: &ast::Over,
    ) -> SqlResult<Scalar> {
        self.window_allowed()?;
        if call.distinct {
            return Err(unsupported("DISTINCT with OVER", call.span.line));
        }
        if aggregate == Aggregate::StringAgg {
            return Err(unsupported("STRING_AGG with OVER", call.span.line));
        }
        let running_rows = match (&over.frame, over.order_by.is_empty()) {
            (None, true) => None,
            (None, false) => Some(false),
            (Some(frame), _) => running(frame, over.span.line)?,
        };
        let (argument, _) = self.aggregate_argument(aggregate, call, false)?;
        let ty = self.aggregate_type(aggregate, argument.as_ref())?;
        let function = WindowFunction::Aggregate { function: aggregate, argument, running_rows };
        self.windowed(over, function, ty)
    }

    /// Notes a call under its window and reads its slot.
    fn windowed(
        &mut self,
        over: &ast::Over,
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
        match same {
            Some(group) => group.calls.push(call),
            None => scope.windows.push(WindowGroup { partition, order, calls: vec![call] }),
        }
        Ok(Scalar::column(output, ty))
    }

    fn set_in_window(&mut self, within: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.in_window = within;
        }
    }

    fn window(&mut self, over: &ast::Over) -> SqlResult<Window> {
        let mut partition = Vec::with_capacity(over.partition_by.len());
        for e in &over.partition_by {
            partition.push(self.expr(e)?);
        }
        let mut order = Vec::with_capacity(over.order_by.len());
        for item in &over.order_by {
            if matches!(item.expr.kind, ExprKind::Literal(Literal::Integer(_))) {
                let error = SqlError::new(messages::WINDOW_INTEGER_ORDER, &[]);
                return Err(error.at_line(item.expr.span.line));
            }
            let key = self.expr(&item.expr)?;
            // What never changes orders nothing: OVER (ORDER BY (SELECT NULL)).
            if key.as_constant().is_none() {
                order.push((key, item.descending));
            }
        }
        Ok((partition, order))
    }
}

/// Frames from the first row to the current one, or the whole partition.
fn running(frame: &ast::Frame, line: u32) -> SqlResult<Option<bool>> {
    match (&frame.start, &frame.end) {
        (FrameBound::UnboundedPreceding, FrameBound::CurrentRow) => {
            Ok(Some(frame.unit == FrameUnit::Rows))
        }
        (FrameBound::UnboundedPreceding, FrameBound::UnboundedFollowing) => Ok(None),
        _ => Err(unsupported("a window frame with these bounds", line)),
    }
}
