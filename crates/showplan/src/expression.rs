//! Expressions and conditions as text, spelled as SQL Server's plans spell them.
//!
//! Recursion is bounded by the depth that `bind` admits.

use crate::columns::Columns;
use crate::tree::AssertSubject;
use builtins::Fact;
use plan::{
    AggregateCall, CompareOp, LikeText, Predicate, Quantifier, Scalar, ScalarKind, Slot, SortKey,
    SubqueryId, Target, WindowCall,
};
use types::{SqlType, Value};

/// `(5)`, `'text'`, `N'text'`, NULL.
pub(crate) fn constant(value: &Value) -> String {
    let text = || value.to_string().replace('\'', "''");
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Char(_) => format!("'{}'", text()),
        Value::NChar(_) => format!("N'{}'", text()),
        Value::Binary(_) => value.to_string(),
        _ if value.as_i64().is_some() => format!("({value})"),
        Value::Decimal(_) | Value::Money(_) | Value::Float(_) | Value::Real(_) => {
            format!("({value})")
        }
        _ => format!("'{}'", text()),
    }
}

/// `@@rowcount`; functions that only tell a fact of the session look the same.
pub(crate) fn global(fact: Fact) -> String {
    format!("@@{fact:?}").to_lowercase()
}

/// What a subquery is called where it is not spelled out.
pub(crate) fn subquery_name(id: SubqueryId) -> String {
    format!("[Subquery{}]", 1000 + id.0)
}

fn list<T>(items: impl IntoIterator<Item = T>, one: impl FnMut(T) -> String) -> String {
    items.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Columns<'_> {
    pub(crate) fn slot(&self, slot: Slot) -> String {
        self.column(slot).in_expression()
    }

    pub(crate) fn scalar(&self, x: &Scalar) -> String {
        use ScalarKind as K;
        match &x.kind {
            K::Constant(v) => constant(v),
            K::Column(slot) => self.slot(*slot),
            K::Variable(id) => format!("[{}]", self.names.variable(*id)),
            K::Global(fact) => global(*fact),
            K::Negate(x) => format!("-{}", self.operand(x)),
            K::BitNot(x) => format!("~{}", self.operand(x)),
            K::Binary { op, left, right } => {
                format!("{}{}{}", self.operand(left), op.sign(), self.operand(right))
            }
            K::Case { branches, otherwise } => {
                let mut text = "CASE".to_owned();
                for (when, then) in branches {
                    text += &format!(" WHEN {} THEN {}", self.predicate(when), self.scalar(then));
                }
                match otherwise {
                    Some(x) => text += &format!(" ELSE {} END", self.scalar(x)),
                    None => text += " ELSE NULL END",
                }
                text
            }
            K::Coalesce(items) => format!("coalesce({})", list(items, |x| self.scalar(x))),
            K::Call(call) => {
                format!("{}({})", call.name, list(&call.args, |x| self.scalar(x)))
            }
            K::Cast { operand, style, attempt, implicit } => {
                let name = match (attempt, implicit.0) {
                    (true, _) => "TRY_CONVERT",
                    (false, true) => "CONVERT_IMPLICIT",
                    (false, false) => "CONVERT",
                };
                let style = style.as_ref().map_or("0".to_owned(), |s| self.scalar(s));
                format!("{name}({},{},{style})", x.ty.sql_type, self.scalar(operand))
            }
            K::Function { function, args, .. } => {
                let name = function_name(function.name);
                format!(
                    "{name}({})",
                    args.iter().map(|x| self.scalar(x)).collect::<Vec<_>>().join(",")
                )
            }
            K::Method { method, args } => {
                let name = method.query.method().name();
                format!("{name}({})", list(args, |x| self.scalar(x)))
            }
            K::Subquery(id) => subquery_name(*id),
            K::Let { slot, value, body } => {
                format!("{} WITH {}={}", self.scalar(body), self.slot(*slot), self.scalar(value))
            }
        }
    }

    /// Within another expression: in parentheses where it has parts.
    fn operand(&self, x: &Scalar) -> String {
        match x.kind {
            ScalarKind::Binary { .. } => format!("({})", self.scalar(x)),
            _ => self.scalar(x),
        }
    }

    pub(crate) fn predicate(&self, p: &Predicate) -> String {
        use Predicate as P;
        match p {
            P::Constant(Some(true)) => "(1)=(1)".to_owned(),
            P::Constant(Some(false)) => "(1)=(0)".to_owned(),
            P::Constant(None) => "NULL=NULL".to_owned(),
            P::Compare { op, left, right, .. } => self.comparison(left, *op, right),
            P::IsNull(x) => format!("{} IS NULL", self.scalar(x)),
            P::IsDistinct { left, right, .. } => {
                format!("{} IS NOT {}", self.operand(left), self.operand(right))
            }
            P::Like { operand, pattern, .. } => {
                format!("{} like {}", self.scalar(operand), self.pattern(pattern))
            }
            P::InList { operand, list, .. } => {
                let one = |x: &Scalar| self.comparison(operand, CompareOp::Equal, x);
                list.iter().map(one).collect::<Vec<_>>().join(" OR ")
            }
            P::Exists(id) => format!("EXISTS({})", subquery_name(*id)),
            P::Quantified { op, quantifier, operand, subquery, .. } => {
                let word = if *quantifier == Quantifier::All { "ALL" } else { "ANY" };
                let (operand, subquery) = (self.scalar(operand), subquery_name(*subquery));
                format!("{operand}{}{word}({subquery})", op.sign())
            }
            P::Not(p) => format!("NOT {}", self.part(p)),
            P::And(parts) => parts.iter().map(|p| self.part(p)).collect::<Vec<_>>().join(" AND "),
            P::Or(parts) => parts.iter().map(|p| self.part(p)).collect::<Vec<_>>().join(" OR "),
            P::Let { slot, value, body } => {
                format!("{} WITH {}={}", self.predicate(body), self.slot(*slot), self.scalar(value))
            }
        }
    }

    fn part(&self, p: &Predicate) -> String {
        match p {
            Predicate::Or(_) | Predicate::And(_) | Predicate::InList { .. } => {
                format!("({})", self.predicate(p))
            }
            _ => self.predicate(p),
        }
    }

    fn comparison(&self, left: &Scalar, op: CompareOp, right: &Scalar) -> String {
        format!("{}{}{}", self.operand(left), op.sign(), self.operand(right))
    }

    pub(crate) fn pattern(&self, pattern: &LikeText) -> String {
        match pattern {
            LikeText::Compiled(pattern) => format!("'{}'", pattern.to_string().replace('\'', "''")),
            LikeText::Dynamic { pattern, escape: None } => self.scalar(pattern),
            LikeText::Dynamic { pattern, escape: Some(escape) } => {
                format!("{} escape {}", self.scalar(pattern), self.scalar(escape))
            }
        }
    }

    pub(crate) fn aggregate(&self, call: &AggregateCall) -> String {
        let name = call.function.name();
        let distinct = if call.distinct { "DISTINCT " } else { "" };
        let argument = call.argument.as_ref().map_or("*".to_owned(), |x| self.scalar(x));
        match &call.separator {
            None => format!("{name}({distinct}{argument})"),
            Some(s) => format!("{name}({distinct}{argument}, {})", self.scalar(s)),
        }
    }

    pub(crate) fn window(&self, call: &WindowCall) -> String {
        let mut arguments = call.function.arguments().map(|x| self.scalar(x)).peekable();
        let name = call.function.name();
        match (arguments.peek(), call.function.ranks()) {
            (None, true) => name.to_owned(),
            (None, false) => format!("{name}(*)"),
            (Some(_), _) => format!("{name}({})", arguments.collect::<Vec<_>>().join(", ")),
        }
    }

    /// `[a] ASC, [b] DESC`
    pub(crate) fn order(&self, keys: &[SortKey]) -> String {
        let word = |k: &SortKey| if k.descending { "DESC" } else { "ASC" };
        list(keys, |k| format!("{} {}", self.column(k.slot).full(), word(k)))
    }

    /// `[a], [b]`
    pub(crate) fn slots<'s>(&self, slots: impl IntoIterator<Item = &'s Slot>) -> String {
        list(self.all(slots), |c| c.full())
    }
}

/// In lower case, but for those that no text calls.
pub(crate) fn function_name(name: &str) -> String {
    match name.starts_with("LikeRange") {
        true => name.to_owned(),
        false => name.to_lowercase(),
    }
}

/// The number of the first assertion that a row of a change fails; NULL for none.
pub(crate) fn asserted(target: &Target, asserted: AssertSubject) -> Scalar {
    let one = |p: &Predicate, certain: bool| (p.clone(), certain);
    refusing(match asserted {
        AssertSubject::Checks => {
            target.checks.iter().map(|c| one(&c.predicate, c.of_view)).collect()
        }
        AssertSubject::References => {
            target.references.checks.iter().map(|c| one(&c.predicate, false)).collect()
        }
    })
}

/// CASE WHEN … THEN (0) ELSE CASE WHEN … THEN (1) ELSE NULL END END, of conditions that must not be
/// false, or must be true.
fn refusing(conditions: Vec<(Predicate, bool)>) -> Scalar {
    let mut x = Scalar::null(SqlType::Int);
    let numbered: Vec<(i32, _)> = (0..).zip(conditions).collect();
    for (n, (condition, certain)) in numbered.into_iter().rev() {
        let (ty, number) = (x.ty, Scalar::constant(Value::Int(n), SqlType::Int));
        let (when, then, otherwise) = match certain {
            true => (condition, x, number),
            false => (Predicate::Not(Box::new(condition)), number, x),
        };
        let (branches, otherwise) = (vec![(when, then)], Some(Box::new(otherwise)));
        x = Scalar { kind: ScalarKind::Case { branches, otherwise }, ty };
    }
    x
}
