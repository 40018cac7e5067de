//! Values of a kind.

use super::{Generator, Name, Scope};
use crate::tables::word;
use crate::tree::{Aggregate, Expr, Function, KINDS, Kind, Window, WindowFunction};

impl Generator<'_> {
    /// A constant of a kind, at times one that no row has.
    pub(super) fn constant(&mut self, kind: Kind) -> Expr {
        let n = self.below(12) as i64;
        match kind {
            Kind::Int => Expr::Int(n - 2),
            Kind::Decimal => Expr::Decimal(n * 25 - 100),
            Kind::Text => Expr::Text(word(n, 3)),
            Kind::Date => Expr::Date(n * 17),
        }
    }

    /// A column of a kind, if one may be named.
    pub(super) fn column(&mut self, scope: &Scope, kind: Kind) -> Option<Expr> {
        let of: Vec<&Name> = scope.iter().filter(|n| n.kind == kind).collect();
        match of.len() {
            0 => None,
            n => Some(of[self.below(n)].expr()),
        }
    }

    /// A value of a kind, no deeper than `depth`.
    pub(super) fn value(&mut self, scope: &Scope, kind: Kind, depth: u32) -> Expr {
        if depth == 0 || self.one_in(3) {
            return match self.column(scope, kind) {
                Some(column) if !self.one_in(6) => column,
                _ if self.one_in(25) => Expr::Null(kind),
                _ => self.constant(kind),
            };
        }
        match self.below(9) {
            0 => {
                let condition = self.condition(scope, depth - 1);
                let x = self.value(scope, kind, depth - 1);
                let otherwise = match self.one_in(3) {
                    true => None,
                    false => Some(Box::new(self.value(scope, kind, depth - 1))),
                };
                Expr::Case(vec![(condition, x)], otherwise)
            }
            1 => {
                let (a, b) = self.two(scope, kind, depth);
                Expr::Call(Function::Coalesce, vec![a, b])
            }
            2 => {
                let (a, b) = self.two(scope, kind, depth);
                Expr::Call(Function::NullIf, vec![a, b])
            }
            3 if !self.flat && self.sources > 0 => self.scalar_subquery(scope, kind),
            _ => self.operation(scope, kind, depth),
        }
    }

    fn two(&mut self, scope: &Scope, kind: Kind, depth: u32) -> (Expr, Expr) {
        (self.value(scope, kind, depth - 1), self.value(scope, kind, depth - 1))
    }

    fn call(&mut self, function: Function, scope: &Scope, kind: Kind, depth: u32) -> Expr {
        let x = self.value(scope, kind, depth - 1);
        Expr::Call(function, vec![x])
    }

    fn operation(&mut self, scope: &Scope, kind: Kind, depth: u32) -> Expr {
        match kind {
            Kind::Int => self.whole(scope, depth),
            Kind::Decimal => match self.below(4) {
                0 => self.call(Function::DecimalOfInt, scope, Kind::Int, depth.min(1)),
                1 => self.call(Function::Abs, scope, Kind::Decimal, depth),
                _ => {
                    let sign = self.pick(&['+', '-']);
                    let (a, b) = self.two(scope, kind, depth);
                    Expr::Arithmetic(sign, Box::new(a), Box::new(b))
                }
            },
            Kind::Text => match self.below(5) {
                0 => self.call(Function::TextOfInt, scope, Kind::Int, depth),
                1 => {
                    let (a, b) = self.two(scope, kind, depth.min(2));
                    Expr::Call(Function::Concatenate, vec![a, b])
                }
                2 => self.call(Function::Replace('a', 'b'), scope, Kind::Text, depth),
                _ => {
                    let from = 1 + self.below(3) as u32;
                    let n = 1 + self.below(3) as u32;
                    self.call(Function::Substring(from, n), scope, Kind::Text, depth)
                }
            },
            Kind::Date => {
                let days = self.below(40) as i64 - 20;
                self.call(Function::AddDays(days), scope, Kind::Date, depth)
            }
        }
    }

    fn whole(&mut self, scope: &Scope, depth: u32) -> Expr {
        match self.below(9) {
            0 => self.call(Function::Abs, scope, Kind::Int, depth),
            1 => self.call(Function::Length, scope, Kind::Text, depth),
            2 => self.call(Function::Year, scope, Kind::Date, depth),
            3 => self.call(Function::Month, scope, Kind::Date, depth),
            4 => {
                let (a, b) = self.two(scope, Kind::Date, depth);
                Expr::Call(Function::DaysBetween, vec![a, b])
            }
            5 => {
                let sign = self.pick(&['/', '%']);
                let (a, b) = self.two(scope, Kind::Int, depth);
                Expr::Arithmetic(sign, Box::new(a), Box::new(b))
            }
            6 => {
                let a = self.value(scope, Kind::Int, depth - 1);
                let factor = Expr::Int(1 + self.below(4) as i64);
                Expr::Arithmetic('*', Box::new(a), Box::new(factor))
            }
            _ => {
                let sign = self.pick(&['+', '-']);
                let (a, b) = self.two(scope, Kind::Int, depth);
                Expr::Arithmetic(sign, Box::new(a), Box::new(b))
            }
        }
    }

    /// An aggregate of a kind over rows of a scope.
    pub(super) fn aggregate(&mut self, scope: &Scope, kind: Kind) -> Expr {
        let was = std::mem::replace(&mut self.flat, true);
        let depth = u32::from(self.one_in(3));
        let made = match (kind, self.below(8)) {
            (Kind::Int, 0 | 1) => Expr::Aggregate(Aggregate::CountRows, false, None),
            (Kind::Int, 2 | 3) => {
                let of = self.pick(&KINDS);
                let (distinct, x) = (self.one_in(2), self.value(scope, of, depth));
                Expr::Aggregate(Aggregate::Count, distinct, Some(Box::new(x)))
            }
            (Kind::Int, 4) if !self.features.common => {
                let x = self.value(scope, kind, depth);
                Expr::Aggregate(Aggregate::Average, self.one_in(4), Some(Box::new(x)))
            }
            (Kind::Int | Kind::Decimal, 5 | 6) => {
                let x = self.value(scope, kind, depth);
                Expr::Aggregate(Aggregate::Sum(kind), self.one_in(4), Some(Box::new(x)))
            }
            (Kind::Text, 0) if !self.data.large => {
                let x = self.value(scope, kind, 0);
                Expr::Aggregate(Aggregate::Join, false, Some(Box::new(x)))
            }
            _ => {
                let function = self.pick(&[Aggregate::Min, Aggregate::Max]);
                let x = self.value(scope, kind, depth);
                Expr::Aggregate(function, false, Some(Box::new(x)))
            }
        };
        self.flat = was;
        made
    }

    /// A window function of a kind over the rows of a scope. `unique` orders them whole.
    pub(super) fn window(&mut self, scope: &Scope, kind: Kind, unique: Option<Expr>) -> Expr {
        let was = std::mem::replace(&mut self.flat, true);
        let mut partition = Vec::new();
        if self.one_in(2) {
            let of = self.pick(&KINDS);
            partition.extend(self.column(scope, of));
        }
        let mut order = Vec::new();
        let of = self.pick(&KINDS);
        if let Some(key) = self.column(scope, of) {
            order.push((key, self.one_in(3)));
        }
        let whole = unique.is_some() && self.one_in(2);
        if let (true, Some(key)) = (whole, unique) {
            order.retain(|(k, _)| *k != key);
            order.push((key, self.one_in(3)));
        }
        let (function, argument, frame) = self.windowed(scope, kind, whole, order.is_empty());
        if matches!(function, WindowFunction::Named(_)) && order.is_empty() {
            // A rank needs an order; a column of any kind is one.
            order.extend(scope.first().map(|n| (n.expr(), false)));
        }
        self.flat = was;
        Expr::Window(Window { function, argument, partition, order, frame })
    }

    fn windowed(
        &mut self,
        scope: &Scope,
        kind: Kind,
        whole: bool,
        unordered: bool,
    ) -> (WindowFunction, Option<Box<Expr>>, Option<&'static str>) {
        const FRAMES: [&str; 6] = [
            "rows unbounded preceding",
            "rows between 1 preceding and 2 following",
            "rows between 3 preceding and 1 preceding",
            "rows between current row and unbounded following",
            "rows between 2 following and 3 following",
            "rows between unbounded preceding and unbounded following",
        ];
        const RANGES: [&str; 3] = [
            "range between unbounded preceding and current row",
            "range between current row and unbounded following",
            "range between unbounded preceding and unbounded following",
        ];
        if kind == Kind::Int && self.one_in(3) {
            let names: &[&str] = match whole {
                true => &["row_number", "rank", "dense_rank"],
                false => &["rank", "dense_rank"],
            };
            return (WindowFunction::Named(self.pick(names)), None, None);
        }
        let x = Box::new(self.value(scope, kind, 0));
        if whole && self.one_in(3) {
            let name = self.pick(&["lag", "lead", "first_value", "last_value"]);
            let framed = name.ends_with("value") && self.one_in(2);
            let frame = framed.then(|| self.pick(&FRAMES));
            return (WindowFunction::Named(name), Some(x), frame);
        }
        let function = match kind {
            Kind::Int | Kind::Decimal => {
                self.pick(&[Aggregate::Sum(kind), Aggregate::Min, Aggregate::Max])
            }
            Kind::Text | Kind::Date => self.pick(&[Aggregate::Min, Aggregate::Max]),
        };
        let frame = match (unordered, whole) {
            (true, _) => None,
            (false, true) => self.one_in(2).then(|| self.pick(&FRAMES)),
            (false, false) => self.one_in(2).then(|| self.pick(&RANGES)),
        };
        (WindowFunction::Aggregate(function), Some(x), frame)
    }
}
