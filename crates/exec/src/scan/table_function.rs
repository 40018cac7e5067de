//! Table-valued function: rows that a builtin makes from its arguments, one by one.
//!
//! Only the function's position is kept; a call that is read again begins anew.

use crate::expr::Expr;
use crate::operator::Operator;
use crate::run::Run;
use base::SqlResult;
use builtins::{TableFunction, TableRows};
use plan::Slot;
use types::Value;

/// The rows of a call.
pub(crate) struct FunctionRows {
    function: TableFunction,
    arguments: Vec<Expr>,
    columns: Vec<Slot>,
    rows: Option<Box<dyn TableRows>>,
    row: Vec<Value>,
}

impl FunctionRows {
    pub(crate) fn new(call: &plan::FunctionRows) -> SqlResult<FunctionRows> {
        Ok(FunctionRows {
            function: call.function.clone(),
            arguments: Expr::all(&call.arguments)?,
            columns: call.columns.clone(),
            rows: None,
            row: Vec::new(),
        })
    }
}

impl Operator for FunctionRows {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let evaluated = self.arguments.iter().map(|x| x.eval(run));
        let arguments = evaluated.collect::<SqlResult<Vec<Value>>>()?;
        self.rows = Some(self.function.open(&arguments, &mut || run.tick_builtin())?);
        self.row.resize(self.columns.len(), Value::Null);
        Ok(())
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        run.tick()?;
        let Some(rows) = &mut self.rows else { return Ok(false) };
        if !rows.next(&mut self.row)? {
            return Ok(false);
        }
        for (slot, value) in self.columns.iter().zip(&mut self.row) {
            run.set(*slot, std::mem::replace(value, Value::Null));
        }
        Ok(true)
    }

    fn close(&mut self) {
        self.rows = None;
    }
}
