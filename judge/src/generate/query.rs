//! Queries: sources, selects, set operations, subqueries.

use super::{CommonTable, Generator, Name, Scope};
use crate::tables::Column;
use crate::tree::{
    Aggregate, Body, Cond, Expr, Group, GroupForm, JoinKind, KINDS, Kind, Query, Select, Source,
};

impl Generator<'_> {
    pub(super) fn statement(&mut self) -> Query {
        let mut common = Vec::new();
        if self.sources > 2 && self.one_in(6) {
            let query = self.some_query(&Vec::new(), None);
            let name = format!("w{}", common.len());
            self.common.push(CommonTable { name: name.clone(), kinds: query.kinds.clone() });
            common.push((name, query));
        }
        let query = self.some_query(&Vec::new(), None);
        self.common.clear();
        Query { common, ..query }
    }

    /// A select without groups and limits, and what its conditions may name.
    pub(super) fn plain(&mut self) -> (Query, Scope) {
        let (from, scope) = self.source(&Vec::new(), false);
        let kinds: Vec<Kind> = scope.iter().map(|n| n.kind).take(4).collect();
        let items = scope.iter().take(4).map(Name::expr).collect();
        let select =
            Select { distinct: false, items, from, filter: None, group: None, having: None };
        (of(select, kinds), scope)
    }

    /// A subquery of one column.
    pub(super) fn subquery(&mut self, outer: &Scope, kind: Kind) -> Query {
        let outer = if self.one_in(4) { Vec::new() } else { outer.clone() };
        self.some_query(&outer, Some(kind))
    }

    /// A subquery of one row: an aggregate over all rows.
    pub(super) fn scalar_subquery(&mut self, outer: &Scope, kind: Kind) -> Expr {
        let (from, scope) = self.source(&Vec::new(), true);
        let item = match self.aggregate(&scope, kind) {
            Expr::Aggregate(Aggregate::CountRows, ..) if kind != Kind::Int => Expr::Null(kind),
            x => x,
        };
        let both: Scope = scope.iter().chain(outer).cloned().collect();
        let filter = (!self.one_in(4)).then(|| self.condition(&both, 1));
        let group = Some(Group { keys: Vec::new(), form: GroupForm::Plain });
        let select =
            Select { distinct: false, items: vec![item], from, filter, group, having: None };
        Expr::Subquery(Box::new(of(select, vec![kind])))
    }

    /// A query that may name outer columns; of one column of a kind, if that is asked.
    fn some_query(&mut self, outer: &Scope, one: Option<Kind>) -> Query {
        let kinds = match one {
            Some(kind) => vec![kind],
            None => (0..1 + self.below(3)).map(|_| self.pick(&KINDS)).collect(),
        };
        let mut body = Body::Select(Box::new(self.select(outer, &kinds)));
        if self.sources > 0 && self.one_in(6) {
            let words = ["union all", "union", "except", "intersect"];
            let right = Body::Select(Box::new(self.select(outer, &kinds)));
            body = Body::Set(self.pick(&words), Box::new(body), Box::new(right));
        }
        let limit = self.one_in(7).then(|| {
            let skipped = if self.one_in(2) { 0 } else { self.below(4) as u64 };
            (skipped, 1 + self.below(9) as u64)
        });
        Query { common: Vec::new(), body, kinds, limit }
    }

    fn select(&mut self, outer: &Scope, kinds: &[Kind]) -> Select {
        let (from, scope) = self.source(outer, false);
        let both: Scope = scope.iter().chain(outer).cloned().collect();
        let filter = (!self.one_in(3)).then(|| self.condition(&both, 2));
        if self.one_in(3) {
            return self.grouped(from, &scope, outer, filter, kinds);
        }
        let unique = match &from {
            Source::Table(..) => scope.iter().find(|n| n.unique).map(Name::expr),
            _ => None,
        };
        let windows = self.one_in(6);
        let items = kinds
            .iter()
            .map(|&kind| match windows && self.one_in(2) {
                true => self.window(&scope, kind, unique.clone()),
                false => self.value(&both, kind, 2),
            })
            .collect();
        let distinct = self.one_in(5);
        Select { distinct, items, from, filter, group: None, having: None }
    }

    fn grouped(
        &mut self,
        from: Source,
        scope: &Scope,
        outer: &Scope,
        filter: Option<Cond>,
        kinds: &[Kind],
    ) -> Select {
        let mut keys: Scope = Vec::new();
        for _ in 0..self.below(3) {
            let name = scope[self.below(scope.len())].clone();
            if !keys.iter().any(|k| k.alias == name.alias && k.column == name.column) {
                keys.push(name);
            }
        }
        let items = kinds
            .iter()
            .map(|&kind| match self.column(&keys, kind) {
                Some(key) if self.one_in(2) => key,
                _ if self.one_in(6) => match self.limited_by_group(scope, kind) {
                    Some(subquery) => subquery,
                    None => self.aggregate(scope, kind),
                },
                _ => self.aggregate(scope, kind),
            })
            .collect();
        let having = (!keys.is_empty() && self.one_in(4)).then(|| {
            let kind = self.pick(&KINDS);
            let total = self.aggregate(scope, kind);
            let limit = self.constant(kind);
            let of_total = Cond::Compare(crate::tree::Operator(">="), total, limit);
            match self.one_in(3) {
                true => {
                    let visible: Scope = keys.iter().chain(outer).cloned().collect();
                    Cond::Or(vec![of_total, self.condition(&visible, 1)])
                }
                false => of_total,
            }
        });
        let form = self.group_form(keys.len());
        let keys = keys.iter().map(Name::expr).collect();
        let group = Some(Group { keys, form });
        Select { distinct: self.one_in(8), items, from, filter, group, having }
    }

    /// A subquery of one row, of the rows that an aggregate of the query around it lets through.
    fn limited_by_group(&mut self, group: &Scope, kind: Kind) -> Option<Expr> {
        if self.flat || self.sources == 0 {
            return None;
        }
        let by = self.pick(&KINDS);
        let of_group = self.column(group, by)?;
        let (from, scope) = self.source(&Vec::new(), true);
        let own = self.column(&scope, by)?;
        let item = match self.aggregate(&scope, kind) {
            Expr::Aggregate(Aggregate::CountRows, ..) if kind != Kind::Int => Expr::Null(kind),
            x => x,
        };
        let function = self.pick(&[Aggregate::Min, Aggregate::Max]);
        let limit = Expr::Aggregate(function, false, Some(Box::new(of_group)));
        let op = self.pick(&["=", "<", ">=", "<>"]);
        let filter = Some(Cond::Compare(crate::tree::Operator(op), own, limit));
        let group = Some(Group { keys: Vec::new(), form: GroupForm::Plain });
        let select =
            Select { distinct: false, items: vec![item], from, filter, group, having: None };
        Some(Expr::Subquery(Box::new(of(select, vec![kind]))))
    }

    fn group_form(&mut self, keys: usize) -> GroupForm {
        if keys == 0 || !self.one_in(5) {
            return GroupForm::Plain;
        }
        match self.below(3) {
            0 => GroupForm::Rollup,
            1 => GroupForm::Cube,
            _ => {
                // One with every key comes first: a key in no set could not be selected.
                let mut sets: Vec<Vec<usize>> = vec![(0..keys).collect()];
                for _ in 0..1 + self.below(2) {
                    let one = self.below(keys);
                    sets.push(if self.one_in(2) { Vec::new() } else { vec![one] });
                }
                GroupForm::Sets(sets)
            }
        }
    }

    /// What stands in FROM, and the columns it gives. `small` is one table or two.
    fn source(&mut self, outer: &Scope, small: bool) -> (Source, Scope) {
        let (mut source, mut scope) = self.leaf(outer);
        let most = if small { 1 } else { 3 };
        let mut joined = 0;
        while joined < most && self.sources > 0 && self.one_in(2) {
            joined += 1;
            if self.one_in(8) && !self.data.large {
                let visible: Scope = scope.iter().chain(outer).cloned().collect();
                let query = self.some_query(&visible, None);
                let (alias, optional) = (self.alias(), self.one_in(2));
                scope.extend(columns_of(&query, &alias));
                source = Source::Apply(optional, Box::new(source), Box::new(query), alias);
                continue;
            }
            let (right, own) = self.leaf(outer);
            let kinds = [
                JoinKind::Inner,
                JoinKind::Inner,
                JoinKind::Inner,
                JoinKind::Left,
                JoinKind::Left,
                JoinKind::Right,
                JoinKind::Full,
                JoinKind::Cross,
            ];
            let kind = match self.pick(&kinds) {
                JoinKind::Cross if self.data.large => JoinKind::Inner,
                kind => kind,
            };
            let on = (kind != JoinKind::Cross).then(|| self.joining(&scope, &own));
            scope.extend(own);
            source = Source::Join(kind, Box::new(source), Box::new(right), on);
        }
        if joined > 0 {
            scope.iter_mut().for_each(|n| n.unique &= self.data.large);
        }
        (source, scope)
    }

    fn leaf(&mut self, outer: &Scope) -> (Source, Scope) {
        self.sources = self.sources.saturating_sub(1);
        let alias = self.alias();
        if !self.common.is_empty() && self.one_in(2) {
            let common = self.common[0].clone();
            let scope = named(&common.kinds, &alias);
            return (Source::Common(common.name, alias), scope);
        }
        if self.sources > 1 && self.one_in(7) && !self.data.large {
            let _ = outer;
            let query = self.some_query(&Vec::new(), None);
            let scope = columns_of(&query, &alias);
            return (Source::Derived(Box::new(query), alias), scope);
        }
        let at = self.below(self.data.tables.len());
        let table = &self.data.tables[at];
        let scope = table
            .columns
            .iter()
            .enumerate()
            .map(|(n, c)| Name {
                alias: alias.clone(),
                column: c.name.clone(),
                kind: c.kind,
                unique: n == 0,
            })
            .collect();
        (Source::Table(table.name.clone(), alias), scope)
    }
}

fn named(kinds: &[Kind], alias: &str) -> Scope {
    let name = |(n, &kind): (usize, &Kind)| Name {
        alias: alias.to_owned(),
        column: format!("c{n}"),
        kind,
        unique: false,
    };
    kinds.iter().enumerate().map(name).collect()
}

fn columns_of(query: &Query, alias: &str) -> Scope {
    named(&query.kinds, alias)
}

fn of(select: Select, kinds: Vec<Kind>) -> Query {
    Query { common: Vec::new(), body: Body::Select(Box::new(select)), kinds, limit: None }
}

/// A plain select with a WHERE.
pub(super) fn filtered(query: &Query, condition: Cond) -> Query {
    let mut query = query.clone();
    if let Body::Select(select) = &mut query.body {
        select.filter = Some(condition);
    }
    query
}

/// A select of one table.
pub(super) fn of_table(
    table: &str,
    alias: &str,
    items: Vec<Expr>,
    filter: Cond,
    columns: &[Column],
) -> Query {
    let select = Select {
        distinct: false,
        items,
        from: Source::Table(table.to_owned(), alias.to_owned()),
        filter: Some(filter),
        group: None,
        having: None,
    };
    of(select, columns.iter().map(|c| c.kind).collect())
}
