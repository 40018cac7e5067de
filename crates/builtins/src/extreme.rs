//! GREATEST and LEAST: NULLs are passed over, unless there is nothing else.

use crate::call::{Call, Function, NullRule};
use base::{SqlError, SqlResult, messages};
use std::cmp::Ordering;
use types::{SqlType, Value, common_type, compare};

/// Functions that pick one of their arguments by order.
pub(crate) const FUNCTIONS: &[Function] = &[extreme("GREATEST", greatest), extreme("LEAST", least)];

const fn extreme(
    name: &'static str,
    eval: fn(&mut Call<'_>, &[Value]) -> SqlResult<Value>,
) -> Function {
    Function {
        name,
        min_args: 1,
        max_args: 254,
        result,
        deterministic: true,
        nulls: NullRule::Own,
        date_part: false,
        eval,
    }
}

fn result(types: &[SqlType]) -> SqlResult<SqlType> {
    let Some((&first, rest)) = types.split_first() else {
        return Err(SqlError::new(messages::FUNCTION_ARGUMENT_COUNT, &[&"greatest", &1]));
    };
    rest.iter().try_fold(first, |all, &one| common_type(all, one))
}

fn greatest(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    pick(call, args, Ordering::Greater)
}

fn least(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    pick(call, args, Ordering::Less)
}

fn pick(call: &mut Call<'_>, args: &[Value], order: Ordering) -> SqlResult<Value> {
    let mut best = Value::Null;
    for i in (0..args.len()).filter(|&i| !args[i].is_null()) {
        let value = call.to(args, i, call.result)?;
        if best.is_null() || compare(&value, &best, call.collation) == order {
            best = value;
        }
    }
    Ok(best)
}
