//! Values that expressions will have, as far as they are known when a plan is made.
//!
//! The moment of compiling stands for that of the run: an estimate may be wrong, a value is never
//! taken from here.

use super::Estimator;
use crate::facts::Facts;
use base::{SqlError, SqlResult, messages};
use builtins::{Call, Fact, Question, SessionFacts};
use plan::{Scalar, ScalarKind};
use types::Value;
use types::datetime::{Dialect, Moment};

/// What functions may ask while a plan is made.
struct CompileFacts<'a> {
    facts: &'a dyn Facts,
    now: Moment,
}

impl SessionFacts for CompileFacts<'_> {
    fn fact(&self, _: Fact) -> SqlResult<Value> {
        Err(unknown())
    }

    fn resolve(&self, _: Question, _: &[Value]) -> SqlResult<Value> {
        Err(unknown())
    }

    fn clock(&self) -> Moment {
        self.now
    }

    fn dialect(&self) -> Dialect {
        self.facts.dialect()
    }

    fn random(&self) -> u64 {
        0
    }
}

fn unknown() -> SqlError {
    SqlError::new(messages::INTERNAL, &[&"an estimate asked the session"])
}

impl Estimator<'_> {
    /// The value that an expression will have, as far as that is known now.
    pub(super) fn value(&self, x: &Scalar) -> Option<Value> {
        match &x.kind {
            ScalarKind::Constant(value) => Some(value.clone()),
            ScalarKind::Variable(id) => {
                let value = self.facts.value(*id)?;
                types::convert(&value, x.ty.sql_type, x.ty.sql_type, 0).ok()
            }
            ScalarKind::Cast { operand, style: None, .. } => {
                let value = self.value(operand)?;
                let (from, to) = (operand.ty.sql_type, x.ty.sql_type);
                types::convert_dated(&value, from, to, 0, self.facts.dialect()).ok()
            }
            ScalarKind::Negate(operand) => types::negate(&self.value(operand)?, x.ty.sql_type).ok(),
            ScalarKind::Binary { op, left, right } => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                match left.is_null() || right.is_null() {
                    true => Some(Value::Null),
                    false => types::apply(*op, &left, &right, x.ty.sql_type).ok(),
                }
            }
            ScalarKind::Function { function, args, arg_types }
                if function.is_runtime_constant() && !function.is_drawn() =>
            {
                let now = self.facts.now()?;
                let args = args.iter().map(|a| self.value(a)).collect::<Option<Vec<Value>>>()?;
                let facts = CompileFacts { facts: self.facts, now };
                let (result, collation) = (x.ty.sql_type, x.ty.collation);
                let mut call = Call { facts: &facts, arg_types, result, collation };
                function.call(&mut call, &args).ok()
            }
            _ => None,
        }
    }
}
