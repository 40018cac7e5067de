//! `SET @s += x`, and the same for each row of a SELECT: appends text to a variable.
//!
//! When an expression concatenates long text and begins with its own target variable, the text is
//! not built anew. First the rest is computed, with the variable as it was; then the rest is
//! appended. So a loop that appends takes time for what it appends, not for what is there. The
//! result is the same as by ordinary evaluation.

use super::{Expr, Link};
use crate::run::Run;
use base::SqlResult;
use types::{BinaryOp, Value};

/// Gives a variable the value of an expression. On an error the variable is as it was.
///
/// # Errors
/// What evaluation meets.
pub(crate) fn assign(variable: usize, x: &Expr, run: &mut Run<'_>) -> SqlResult<()> {
    if appends(x, variable) {
        let mut behind = Vec::new();
        gather(x, run, &mut behind)?;
        if append(&mut run.variables[variable], &behind)? {
            return Ok(());
        }
    }
    run.variables[variable] = x.eval(run)?;
    Ok(())
}

/// Whether it is a sum of text without bounds whose left end is the variable.
fn appends(mut x: &Expr, variable: usize) -> bool {
    let joins = |link: &Link| link.op == BinaryOp::Add && link.result.is_max();
    let mut sums = false;
    loop {
        x = match x {
            Expr::Binary { op: BinaryOp::Add, sides, result } if result.is_max() => &sides.0,
            Expr::Chain { first, rest } if rest.iter().all(joins) => first,
            Expr::Variable(id) => return sums && *id == variable,
            _ => return false,
        };
        sums = true;
    }
}

/// The values behind the left end of such a sum, in turn.
fn gather(x: &Expr, run: &mut Run<'_>, behind: &mut Vec<Value>) -> SqlResult<()> {
    match x {
        Expr::Binary { sides, .. } => {
            gather(&sides.0, run, behind)?;
            behind.push(sides.1.eval(run)?);
        }
        Expr::Chain { first, rest } => {
            gather(first, run, behind)?;
            for link in rest {
                behind.push(link.right.eval(run)?);
            }
        }
        _ => {}
    }
    Ok(())
}

/// Puts texts behind that of a variable, and says whether it could: not where one of them is of
/// another kind.
fn append(variable: &mut Value, behind: &[Value]) -> SqlResult<bool> {
    if variable.is_null() || behind.iter().any(Value::is_null) {
        *variable = Value::Null;
        return Ok(true);
    }
    let kind = std::mem::discriminant(variable);
    if behind.iter().any(|part| std::mem::discriminant(part) != kind) {
        return Ok(false);
    }
    let Some(text) = variable.bytes_mut() else { return Ok(false) };
    let before = text.len();
    for part in behind {
        if let Err(e) = text.append(part.as_bytes().unwrap_or_default()) {
            text.truncate(before);
            return Err(e);
        }
    }
    Ok(true)
}
