//! Random queries over a data set.
//!
//! A generator carries what may be named where it stands (`Scope`) and how deep it may still go.
//! What it makes is deterministic: ROWS frames and positions are ordered by something unique, rows
//! are limited only under an order by all columns.

mod condition;
mod expression;
mod query;

use crate::tables::DataSet;
use crate::tree::{Change, Cond, Expr, Kind, Query};
use sim::Random;

/// What may be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Features {
    /// Only what both engines mean alike.
    pub(crate) common: bool,
}

/// A column that may be named.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) alias: String,
    pub(crate) column: String,
    pub(crate) kind: Kind,
    /// Unique and not NULL within its source.
    pub(crate) unique: bool,
}

impl Name {
    fn expr(&self) -> Expr {
        Expr::Column(self.alias.clone(), self.column.clone())
    }
}

/// The columns that may be named.
pub(crate) type Scope = Vec<Name>;

/// A common table expression that may be named.
#[derive(Clone, Debug)]
struct CommonTable {
    name: String,
    kinds: Vec<Kind>,
}

/// Makes queries.
pub(crate) struct Generator<'a> {
    random: &'a mut Random,
    data: &'a DataSet,
    features: Features,
    aliases: u32,
    /// Sources that may still be added to the statement: it bounds its cost.
    sources: u32,
    common: Vec<CommonTable>,
    /// No subquery may stand here.
    flat: bool,
}

impl<'a> Generator<'a> {
    /// For a data set.
    pub(crate) fn new(random: &'a mut Random, data: &'a DataSet, features: Features) -> Self {
        let sources = if data.large { 3 } else { 5 };
        let flat = data.large;
        Generator { random, data, features, aliases: 0, sources, common: Vec::new(), flat }
    }

    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("q{}", self.aliases)
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n as u64) as usize
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.random.one_in(n)
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        self.random.pick(of)
    }

    /// A query.
    pub(crate) fn query(&mut self) -> Query {
        self.statement()
    }

    /// A query without groups and limits, and a condition to part its rows by: the query whole,
    /// and with a WHERE of the condition, of its negation, and of its being unknown.
    pub(crate) fn partition(&mut self) -> [Query; 4] {
        let (whole, scope) = self.plain();
        let condition = self.condition(&scope, 3);
        let unknown = Expr::Case(
            vec![
                (condition.clone(), Expr::Int(1)),
                (Cond::Not(Box::new(condition.clone())), Expr::Int(0)),
            ],
            None,
        );
        let with = |c: Cond| query::filtered(&whole, c);
        [
            with(condition.clone()),
            with(Cond::Not(Box::new(condition))),
            with(Cond::IsNull(unknown, false)),
            whole,
        ]
    }

    /// A change of a table that violates no key.
    pub(crate) fn change(&mut self) -> Change {
        let at = self.below(self.data.tables.len());
        let table = &self.data.tables[at];
        let scope: Scope = table
            .columns
            .iter()
            .enumerate()
            .map(|(n, c)| Name {
                alias: "u".to_owned(),
                column: c.name.clone(),
                kind: c.kind,
                unique: n == 0,
            })
            .collect();
        let name = table.name.clone();
        match self.below(3) {
            0 => Change::Delete(name, self.condition(&scope, 2)),
            1 => Change::Update(name, self.assignments(&scope, at), self.condition(&scope, 2)),
            _ => self.insertion(at),
        }
    }

    fn assignments(&mut self, scope: &Scope, table: usize) -> Vec<(String, Expr)> {
        let mut set = Vec::new();
        for (n, column) in self.data.tables[table].columns.iter().enumerate() {
            if n == 0 {
                if self.one_in(5) {
                    let id = scope[0].expr();
                    let x = Expr::Arithmetic('+', Box::new(id), Box::new(Expr::Int(2_000_000)));
                    set.push((column.name.clone(), x));
                }
            } else if self.one_in(3) {
                set.push((column.name.clone(), self.stored(scope, table, n)));
            }
        }
        if set.is_empty() {
            set.push((
                self.data.tables[table].columns[1].name.clone(),
                self.stored(scope, table, 1),
            ));
        }
        set
    }

    /// A value that a column can hold: another column of its type, or a short constant.
    fn stored(&mut self, scope: &Scope, table: usize, column: usize) -> Expr {
        let columns = &self.data.tables[table].columns;
        let (type_name, nullable) = (columns[column].type_name, columns[column].nullable);
        let alike: Vec<usize> = (1..columns.len())
            .filter(|&n| columns[n].type_name == type_name && (nullable || !columns[n].nullable))
            .collect();
        let kind = columns[column].kind;
        if alike.is_empty() || self.one_in(3) {
            return self.constant(kind);
        }
        let at = alike[self.below(alike.len())];
        let other = scope[at].expr();
        match self.one_in(3) {
            true => {
                let otherwise = self.constant(kind);
                Expr::Case(vec![(self.condition(scope, 1), other)], Some(Box::new(otherwise)))
            }
            false => other,
        }
    }

    fn insertion(&mut self, table: usize) -> Change {
        let columns = self.data.tables[table].columns.clone();
        let name = self.data.tables[table].name.clone();
        let alias = self.alias();
        let scope: Scope = columns
            .iter()
            .enumerate()
            .map(|(n, c)| Name {
                alias: alias.clone(),
                column: c.name.clone(),
                kind: c.kind,
                unique: n == 0,
            })
            .collect();
        let fresh =
            Expr::Arithmetic('+', Box::new(scope[0].expr()), Box::new(Expr::Int(1_000_000)));
        let items = std::iter::once(fresh).chain(scope[1..].iter().map(Name::expr)).collect();
        let filter = self.condition(&scope, 2);
        let query = query::of_table(&name, &alias, items, filter, &columns);
        Change::Insert(name, columns.into_iter().map(|c| c.name).collect(), query)
    }
}
