//! Scalars and predicates as text.

use super::list;
use crate::{LikeText, LockHints, Predicate, Quantifier, Scalar, ScalarKind, SortKey, Top};
use std::fmt;
use types::Value;

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ScalarKind as K;
        match &self.kind {
            K::Constant(v @ (Value::Char(_) | Value::NChar(_))) => write!(f, "'{v}'"),
            K::Constant(v) => write!(f, "{v}"),
            K::Column(slot) => write!(f, "{slot}"),
            K::Variable(id) => write!(f, "{id}"),
            K::Global(fact) => write!(f, "@@{fact:?}"),
            K::Negate(x) => write!(f, "-{x}"),
            K::BitNot(x) => write!(f, "~{x}"),
            K::Binary { op, left, right } => write!(f, "({left} {} {right})", op.sign()),
            K::Case { branches, otherwise } => {
                f.write_str("CASE")?;
                for (when, then) in branches {
                    write!(f, " WHEN {when} THEN {then}")?;
                }
                if let Some(x) = otherwise {
                    write!(f, " ELSE {x}")?;
                }
                f.write_str(" END")
            }
            K::Coalesce(items) => {
                f.write_str("COALESCE(")?;
                list(f, items, |f, x| write!(f, "{x}"))?;
                f.write_str(")")
            }
            K::Call(call) => {
                write!(f, "{}(", call.name)?;
                list(f, &call.args, |f, x| write!(f, "{x}"))?;
                f.write_str(")")
            }
            K::Cast { operand, style, attempt, .. } => {
                let name = if *attempt { "TRY_CAST" } else { "CAST" };
                write!(f, "{name}({operand} AS {}", self.ty.sql_type)?;
                if let Some(style) = style {
                    write!(f, ", {style}")?;
                }
                f.write_str(")")
            }
            K::Function { function, args, .. } => {
                write!(f, "{}(", function.name)?;
                list(f, args, |f, x| write!(f, "{x}"))?;
                f.write_str(")")
            }
            K::Method { method, args } => {
                write!(f, "XML {}(", method.query.method().name())?;
                list(f, args, |f, x| write!(f, "{x}"))?;
                f.write_str(")")
            }
            K::Subquery(id) => write!(f, "({id})"),
            K::Let { slot, value, body } => write!(f, "LET {slot} = {value} IN {body}"),
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Predicate as P;
        match self {
            P::Constant(Some(true)) => f.write_str("true"),
            P::Constant(Some(false)) => f.write_str("false"),
            P::Constant(None) => f.write_str("unknown"),
            P::Compare { op, left, right, .. } => write!(f, "{left} {} {right}", op.sign()),
            P::IsNull(x) => write!(f, "{x} IS NULL"),
            P::IsDistinct { left, right, .. } => write!(f, "{left} IS DISTINCT FROM {right}"),
            P::Like { operand, pattern: LikeText::Compiled(_), .. } => {
                write!(f, "{operand} LIKE <pattern>")
            }
            P::Like { operand, pattern: LikeText::Dynamic { pattern, .. }, .. } => {
                write!(f, "{operand} LIKE {pattern}")
            }
            P::InList { operand, list: items, .. } => {
                write!(f, "{operand} IN (")?;
                list(f, items, |f, x| write!(f, "{x}"))?;
                f.write_str(")")
            }
            P::Exists(id) => write!(f, "EXISTS ({id})"),
            P::Quantified { op, quantifier, operand, subquery, .. } => {
                let word = if *quantifier == Quantifier::All { "ALL" } else { "ANY" };
                write!(f, "{operand} {} {word} ({subquery})", op.sign())
            }
            P::Not(p) => write!(f, "NOT ({p})"),
            P::And(parts) => joined(f, parts, " AND "),
            P::Or(parts) => joined(f, parts, " OR "),
            P::Let { slot, value, body } => write!(f, "LET {slot} = {value} IN {body}"),
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Predicate], word: &str) -> fmt::Result {
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            f.write_str(word)?;
        }
        match part {
            Predicate::And(_) | Predicate::Or(_) => write!(f, "({part})")?,
            _ => write!(f, "{part}")?,
        }
    }
    Ok(())
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.slot, if self.descending { " DESC" } else { "" })
    }
}

impl fmt::Display for Top {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.count {
            Some(count) => write!(f, "{count}")?,
            None => f.write_str("all")?,
        }
        if self.percent {
            f.write_str(" percent")?;
        }
        if let Some(keys) = &self.ties {
            f.write_str(" with ties ")?;
            list(f, keys, |f, k| write!(f, "{k}"))?;
        }
        match &self.offset {
            Some(offset) => write!(f, " offset {offset}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for LockHints {
    /// Nothing when there is nothing to say.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == LockHints::default() {
            return Ok(());
        }
        write!(f, " locks {:?}/{:?}", self.granule, self.strength)?;
        if let Some(level) = self.level {
            write!(f, " {level:?}")?;
        }
        for (on, word) in
            [(self.hold, " hold"), (self.read_past, " readpast"), (self.no_wait, " nowait")]
        {
            if on {
                f.write_str(word)?;
            }
        }
        Ok(())
    }
}
