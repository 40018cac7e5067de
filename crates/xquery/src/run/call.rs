//! Functions of the library.

use super::{Focus, Item, Run, compare};
use crate::atomic::{Atomic, AtomicType};
use crate::tree::{Arithmetic, Expr, Function};
use base::SqlResult;
use std::cmp::Ordering;
use types::Decimal;

/// Digits behind the point of a mean.
const MEAN_SCALE: u8 = 10;

impl Run<'_> {
    pub(super) fn call(
        &mut self,
        function: Function,
        args: &[Expr],
        focus: &Focus,
    ) -> SqlResult<Vec<Item>> {
        use Function as F;
        let count = |n: usize| vec![Item::Atomic(Atomic::Integer(Decimal::from_i64(n as i64)))];
        let text = |s: String| vec![Item::Atomic(Atomic::Text(s))];
        let boolean = |b: bool| vec![Item::Atomic(Atomic::Boolean(b))];
        let first = args.first();
        let items = match (function, first) {
            (F::Not | F::Concat | F::Contains | F::Substring, _) | (_, None) => Vec::new(),
            (_, Some(first)) => self.eval(first, focus)?,
        };
        Ok(match function {
            F::Position => count(focus.position),
            F::Last => count(focus.size),
            F::Count => count(items.len()),
            F::Empty => boolean(items.is_empty()),
            F::Not => match first {
                Some(test) => boolean(!self.holds(test, focus)?),
                None => Vec::new(),
            },
            F::Data => items.iter().map(|i| Item::Atomic(self.atomized(i))).collect(),
            F::DistinctValues => self.distinct(&items)?,
            F::String => text(items.first().map_or_else(String::new, |i| self.string(i))),
            F::StringLength => count(items.first().map_or(0, |i| self.string(i).chars().count())),
            F::LowerCase => {
                text(items.first().map_or_else(String::new, |i| self.string(i).to_lowercase()))
            }
            F::UpperCase => {
                text(items.first().map_or_else(String::new, |i| self.string(i).to_uppercase()))
            }
            F::LocalName => text(self.name_part(&items, |n| &n.local)),
            F::NamespaceUri => text(self.name_part(&items, |n| &n.uri)),
            F::Concat => {
                let mut whole = String::new();
                for arg in args {
                    whole.push_str(&self.argument(arg, focus)?);
                    self.bounded_text(whole.len())?;
                }
                text(whole)
            }
            F::Contains => match args {
                [whole, part] => {
                    let whole = self.argument(whole, focus)?;
                    boolean(whole.contains(&self.argument(part, focus)?))
                }
                _ => Vec::new(),
            },
            F::Substring => text(self.substring(args, focus)?),
            F::Number => {
                let number = items.first().and_then(|i| self.atomized(i).number());
                number.map(|x| Item::Atomic(Atomic::Double(x, false))).into_iter().collect()
            }
            F::Ceiling | F::Floor | F::Round => {
                let value = items.first().map(|i| self.atomized(i));
                value.and_then(|v| rounded(function, &v)).map(Item::Atomic).into_iter().collect()
            }
            F::Sum | F::Avg | F::Max | F::Min => {
                let values: Vec<Atomic> = items.iter().map(|i| self.atomized(i)).collect();
                folded(function, &values).map(Item::Atomic).into_iter().collect()
            }
        })
    }

    fn string(&self, item: &Item) -> String {
        self.atomized(item).text()
    }

    /// An argument as a string: nothing is the empty one.
    fn argument(&mut self, e: &Expr, focus: &Focus) -> SqlResult<String> {
        Ok(self.value(e, focus)?.map_or_else(String::new, |v| v.text()))
    }

    fn name_part(&self, items: &[Item], part: fn(&xml::Name) -> &str) -> String {
        match items.first() {
            Some(Item::Node(tree, id)) => {
                self.tree(*tree).name(*id).map_or_else(String::new, |n| part(n).to_owned())
            }
            _ => String::new(),
        }
    }

    fn distinct(&mut self, items: &[Item]) -> SqlResult<Vec<Item>> {
        let mut known: Vec<Atomic> = Vec::new();
        let mut texts = std::collections::BTreeSet::new();
        for item in items {
            self.tick()?;
            let value = self.atomized(item);
            // Numbers that are written apart may be equal; all else is equal when its text is.
            let new = match value {
                Atomic::Double(..) | Atomic::Decimal(_) | Atomic::Integer(_) => {
                    !known.iter().any(|k| compare::order(k, &value) == Some(Ordering::Equal))
                }
                _ => texts.insert(value.text()),
            };
            if new {
                known.push(value);
            }
        }
        Ok(known.into_iter().map(Item::Atomic).collect())
    }

    /// Positions are rounded; the first character is number 1.
    fn substring(&mut self, args: &[Expr], focus: &Focus) -> SqlResult<String> {
        let [text, from, rest @ ..] = args else { return Ok(String::new()) };
        let text = self.argument(text, focus)?;
        let round = |v: Option<Atomic>| v.and_then(|v| v.number()).map(|x| (x + 0.5).floor());
        let Some(from) = round(self.value(from, focus)?) else { return Ok(String::new()) };
        let end = match rest.first() {
            None => f64::INFINITY,
            Some(length) => match round(self.value(length, focus)?) {
                Some(length) => from + length,
                None => return Ok(String::new()),
            },
        };
        let within = |n: usize| {
            let place = n as f64 + 1.0;
            place >= from && place < end
        };
        Ok(text.chars().enumerate().filter(|(n, _)| within(*n)).map(|(_, c)| c).collect())
    }
}

/// Half goes up.
fn rounded(function: Function, value: &Atomic) -> Option<Atomic> {
    let whole = |x: f64| match function {
        Function::Ceiling => x.ceil(),
        Function::Floor => x.floor(),
        _ => (x + 0.5).floor(),
    };
    Some(match value {
        Atomic::Integer(d) => Atomic::Integer(*d),
        Atomic::Decimal(d) => Atomic::Decimal(Decimal::from_f64(whole(d.to_f64()), 0)?),
        Atomic::Double(x, single) => Atomic::Double(whole(*x), *single),
        other => Atomic::Double(whole(other.number()?), false),
    })
}

/// Untyped text counts as a double; text that is no number leaves no result.
fn folded(function: Function, values: &[Atomic]) -> Option<Atomic> {
    let mut all = Vec::with_capacity(values.len());
    for value in values {
        all.push(match value {
            Atomic::Untyped(_) => value.cast(AtomicType::Double)?,
            _ => value.clone(),
        });
    }
    let mut rest = all.iter();
    let first = rest.next();
    match function {
        Function::Max | Function::Min => {
            let wanted = if function == Function::Max { Ordering::Greater } else { Ordering::Less };
            let mut best = first?;
            for value in rest {
                if compare::order(value, best)? == wanted {
                    best = value;
                }
            }
            Some(best.clone())
        }
        _ => {
            let none = function == Function::Sum;
            let zero = Atomic::Integer(Decimal::from_i64(0));
            let Some(first) = first else { return none.then_some(zero) };
            let mut sum = first.clone();
            for value in rest {
                sum = compare::computed(Arithmetic::Add, &sum, value)?;
            }
            if none {
                return Some(sum);
            }
            match sum {
                Atomic::Integer(d) | Atomic::Decimal(d) => {
                    let count = Decimal::from_i64(all.len() as i64);
                    let mean = d.div(count, MEAN_SCALE + 1)?;
                    Some(Atomic::Decimal(mean.truncate(MEAN_SCALE)))
                }
                Atomic::Double(x, single) => Some(Atomic::Double(x / all.len() as f64, single)),
                _ => None,
            }
        }
    }
}
