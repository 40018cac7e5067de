//! A statement that shows something, made smaller as long as it still does.
//!
//! Edits are tried blindly: one that names a column that is gone gives an error, shows nothing,
//! and is dropped.

use crate::tree::{Body, Cond, Expr, Query, Select, Source};

/// The most statements tried.
const TRIES_MAX: usize = 400;

/// The smallest query found that still `shows`.
pub(crate) fn smallest(query: &Query, shows: &mut dyn FnMut(&Query) -> bool) -> Query {
    let mut best = query.clone();
    let mut tries = 0;
    'again: loop {
        for smaller in of_query(&best) {
            tries += 1;
            if tries > TRIES_MAX {
                return best;
            }
            if shows(&smaller) {
                best = smaller;
                continue 'again;
            }
        }
        return best;
    }
}

fn of_query(q: &Query) -> Vec<Query> {
    let mut all = Vec::new();
    if !q.common.is_empty() {
        all.push(Query { common: Vec::new(), ..q.clone() });
    }
    for (n, (name, common)) in q.common.iter().enumerate() {
        for smaller in of_query(common) {
            let mut q = q.clone();
            q.common[n] = (name.clone(), smaller);
            all.push(q);
        }
    }
    if q.limit.is_some() {
        all.push(Query { limit: None, ..q.clone() });
    }
    all.extend(of_body(&q.body).into_iter().map(|body| Query { body, ..q.clone() }));
    if let Body::Select(s) = &q.body
        && s.items.len() > 1
    {
        for n in 0..s.items.len() {
            let mut q = q.clone();
            q.kinds.remove(n);
            if let Body::Select(s) = &mut q.body {
                s.items.remove(n);
            }
            all.push(q);
        }
    }
    all
}

fn of_body(body: &Body) -> Vec<Body> {
    match body {
        Body::Select(s) => of_select(s).into_iter().map(|s| Body::Select(Box::new(s))).collect(),
        Body::Set(op, a, b) => {
            let mut all = vec![(**a).clone(), (**b).clone()];
            let left = of_body(a).into_iter();
            all.extend(left.map(|a| Body::Set(op, Box::new(a), b.clone())));
            let right = of_body(b).into_iter();
            all.extend(right.map(|b| Body::Set(op, a.clone(), Box::new(b))));
            all
        }
    }
}

fn of_select(s: &Select) -> Vec<Select> {
    let mut all = Vec::new();
    all.extend(of_source(&s.from).into_iter().map(|from| Select { from, ..s.clone() }));
    if let Some(filter) = &s.filter {
        all.push(Select { filter: None, ..s.clone() });
        let parts = of_cond(filter).into_iter();
        all.extend(parts.map(|c| Select { filter: Some(c), ..s.clone() }));
    }
    if let Some(having) = &s.having {
        all.push(Select { having: None, ..s.clone() });
        let parts = of_cond(having).into_iter();
        all.extend(parts.map(|c| Select { having: Some(c), ..s.clone() }));
    }
    if s.distinct {
        all.push(Select { distinct: false, ..s.clone() });
    }
    if let Some(group) = &s.group {
        for n in 0..group.keys.len() {
            let mut group = group.clone();
            group.keys.remove(n);
            all.push(Select { group: Some(group), ..s.clone() });
        }
    }
    for (n, item) in s.items.iter().enumerate() {
        for smaller in of_expr(item) {
            let mut s = s.clone();
            s.items[n] = smaller;
            all.push(s);
        }
    }
    all
}

fn of_source(source: &Source) -> Vec<Source> {
    match source {
        Source::Table(..) | Source::Common(..) => Vec::new(),
        Source::Derived(q, alias) => {
            let inner = of_query(q).into_iter();
            inner.map(|q| Source::Derived(Box::new(q), alias.clone())).collect()
        }
        Source::Join(kind, a, b, on) => {
            let mut all = vec![(**a).clone(), (**b).clone()];
            let made = |a: Source, b: Source, on: Option<Cond>| {
                Source::Join(*kind, Box::new(a), Box::new(b), on)
            };
            all.extend(of_source(a).into_iter().map(|a| made(a, (**b).clone(), on.clone())));
            all.extend(of_source(b).into_iter().map(|b| made((**a).clone(), b, on.clone())));
            if let Some(on) = on {
                let parts = of_cond(on).into_iter();
                all.extend(parts.map(|c| made((**a).clone(), (**b).clone(), Some(c))));
            }
            all
        }
        Source::Apply(outer, a, q, alias) => {
            let mut all = vec![(**a).clone()];
            let made = |a: Source, q: Query| {
                Source::Apply(*outer, Box::new(a), Box::new(q), alias.clone())
            };
            all.extend(of_source(a).into_iter().map(|a| made(a, (**q).clone())));
            all.extend(of_query(q).into_iter().map(|q| made((**a).clone(), q)));
            all
        }
    }
}

fn of_cond(c: &Cond) -> Vec<Cond> {
    match c {
        Cond::And(of) | Cond::Or(of) => {
            let mut all = of.clone();
            for (n, part) in of.iter().enumerate() {
                for smaller in of_cond(part) {
                    let mut of = of.clone();
                    of[n] = smaller;
                    all.push(if matches!(c, Cond::And(_)) { Cond::And(of) } else { Cond::Or(of) });
                }
            }
            all
        }
        Cond::Not(inner) => {
            let mut all = vec![(**inner).clone()];
            all.extend(of_cond(inner).into_iter().map(|c| Cond::Not(Box::new(c))));
            all
        }
        Cond::Exists(q, n) => {
            of_query(q).into_iter().map(|q| Cond::Exists(Box::new(q), *n)).collect()
        }
        Cond::InQuery(x, q, n) => {
            let inner = of_query(q).into_iter();
            inner.map(|q| Cond::InQuery(x.clone(), Box::new(q), *n)).collect()
        }
        Cond::Quantified(op, x, q, all) => {
            let inner = of_query(q).into_iter();
            inner.map(|q| Cond::Quantified(*op, x.clone(), Box::new(q), *all)).collect()
        }
        Cond::Compare(op, a, b) => {
            let left = of_expr(a).into_iter().map(|a| Cond::Compare(*op, a, b.clone()));
            let right = of_expr(b).into_iter().map(|b| Cond::Compare(*op, a.clone(), b));
            left.chain(right).collect()
        }
        Cond::InList(x, list, n) if list.len() > 1 => {
            (0..list.len()).map(|at| Cond::InList(x.clone(), vec![list[at].clone()], *n)).collect()
        }
        Cond::IsNull(x, n) => of_expr(x).into_iter().map(|x| Cond::IsNull(x, *n)).collect(),
        Cond::Between(..) | Cond::InList(..) | Cond::Like(..) | Cond::Distinct(..) => Vec::new(),
    }
}

fn of_expr(x: &Expr) -> Vec<Expr> {
    match x {
        Expr::Arithmetic(_, a, b) => vec![(**a).clone(), (**b).clone()],
        Expr::Call(_, arguments) => arguments.clone(),
        Expr::Case(branches, otherwise) => {
            let mut all: Vec<Expr> = branches.iter().map(|(_, x)| x.clone()).collect();
            all.extend(otherwise.iter().map(|x| (**x).clone()));
            for (n, (c, value)) in branches.iter().enumerate() {
                for smaller in of_cond(c) {
                    let mut branches = branches.clone();
                    branches[n] = (smaller, value.clone());
                    all.push(Expr::Case(branches, otherwise.clone()));
                }
            }
            all
        }
        Expr::Aggregate(function, distinct, Some(x)) => {
            let inner = of_expr(x).into_iter();
            inner.map(|x| Expr::Aggregate(*function, *distinct, Some(Box::new(x)))).collect()
        }
        Expr::Subquery(q) => of_query(q).into_iter().map(|q| Expr::Subquery(Box::new(q))).collect(),
        Expr::Window(_) | Expr::Aggregate(..) => Vec::new(),
        Expr::Column(..)
        | Expr::Int(_)
        | Expr::Decimal(_)
        | Expr::Text(_)
        | Expr::Date(_)
        | Expr::Null(_) => Vec::new(),
    }
}
