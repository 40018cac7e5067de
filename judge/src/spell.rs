//! A query in an engine's words.
//!
//! Invariants
//!  1. Both spellings mean the same by each engine's documentation; where no common meaning exists
//!     the generator does not make the form (see `generate::Features`).

use crate::tree::{
    Aggregate, Body, Change, Cond, Expr, Function, Group, GroupForm, JoinKind, Kind, Query, Select,
    Source, Window, WindowFunction,
};

/// Whose words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    /// T-SQL.
    Transact,
    /// PostgreSQL's.
    PostgreSql,
}

/// Spells in a dialect, with tables of a schema.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Speller<'a> {
    /// Whose words.
    pub(crate) dialect: Dialect,
    /// Where the tables are.
    pub(crate) schema: &'a str,
}

fn list<T>(of: &[T], by: &str, each: impl Fn(&T) -> String) -> String {
    of.iter().map(each).collect::<Vec<_>>().join(by)
}

fn not(negated: bool) -> &'static str {
    if negated { "not " } else { "" }
}

/// A day as text; days after 2000-01-01 by the civil calendar (Hinnant's arithmetic).
pub(crate) fn day(days: i64) -> String {
    let z = days + 10_957 + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (d, m) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let y = yoe + era * 400 + i64::from(m <= 2);
    format!("{y:04}-{m:02}-{d:02}")
}

/// Hundredths as text.
pub(crate) fn decimal(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    let h = hundredths.abs();
    format!("{sign}{}.{:02}", h / 100, h % 100)
}

impl Speller<'_> {
    fn transact(&self) -> bool {
        self.dialect == Dialect::Transact
    }

    /// A query.
    pub(crate) fn query(&self, q: &Query) -> String {
        let common = match q.common.is_empty() {
            true => String::new(),
            false => {
                let each = |(name, q): &(String, Query)| format!("{name} as ({})", self.query(q));
                format!("with {} ", list(&q.common, ", ", each))
            }
        };
        let body = self.body(&q.body);
        let Some((skipped, kept)) = q.limit else { return format!("{common}{body}") };
        let keys: Vec<usize> = (1..=q.kinds.len()).collect();
        match (self.transact(), skipped) {
            (true, 0) => {
                let keys = list(&keys, ", ", ToString::to_string);
                format!("{common}select top ({kept}) * from ({body}) as lq order by {keys}")
            }
            (true, _) => {
                let keys = list(&keys, ", ", ToString::to_string);
                let rows = format!("offset {skipped} rows fetch next {kept} rows only");
                format!("{common}select * from ({body}) as lq order by {keys} {rows}")
            }
            (false, _) => {
                let keys = list(&keys, ", ", |k| format!("{k} nulls first"));
                let rows = format!("limit {kept} offset {skipped}");
                format!("{common}select * from ({body}) as lq order by {keys} {rows}")
            }
        }
    }

    fn body(&self, body: &Body) -> String {
        match body {
            Body::Select(s) => self.select(s),
            Body::Set(op, left, right) => {
                format!("({}) {op} ({})", self.body(left), self.body(right))
            }
        }
    }

    fn select(&self, s: &Select) -> String {
        let items: Vec<String> =
            s.items.iter().enumerate().map(|(n, x)| format!("{} as c{n}", self.expr(x))).collect();
        let distinct = if s.distinct { "distinct " } else { "" };
        let mut text =
            format!("select {distinct}{} from {}", items.join(", "), self.source(&s.from));
        if let Some(filter) = &s.filter {
            text += &format!(" where {}", self.cond(filter));
        }
        if let Some(group) = s.group.as_ref().filter(|g| !g.keys.is_empty()) {
            text += &format!(" group by {}", self.group(group));
        }
        let having = s.having.as_ref().map(|having| self.cond(having));
        let conditions: Vec<String> = self.some_row(s).into_iter().chain(having).collect();
        if !conditions.is_empty() {
            text += &format!(" having {}", conditions.join(" and "));
        }
        text
    }

    /// Rule 5: what PostgreSQL is told where SQL Server makes no group of no rows.
    fn some_row(&self, s: &Select) -> Option<String> {
        let group = s.group.as_ref().filter(|g| !g.keys.is_empty())?;
        let sets = !matches!(group.form, GroupForm::Plain);
        (sets && self.dialect == Dialect::PostgreSql).then(|| "count(*) > 0".to_owned())
    }

    fn group(&self, group: &Group) -> String {
        let keys = || list(&group.keys, ", ", |k| self.expr(k));
        match &group.form {
            GroupForm::Plain => keys(),
            GroupForm::Rollup => format!("rollup ({})", keys()),
            GroupForm::Cube => format!("cube ({})", keys()),
            GroupForm::Sets(sets) => {
                let set = |of: &Vec<usize>| {
                    let own = list(of, ", ", |&n| {
                        group.keys.get(n).map(|k| self.expr(k)).unwrap_or_default()
                    });
                    format!("({own})")
                };
                format!("grouping sets ({})", list(sets, ", ", set))
            }
        }
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::Table(name, alias) => format!("{}.{name} as {alias}", self.schema),
            Source::Derived(q, alias) => format!("({}) as {alias}", self.query(q)),
            Source::Common(name, alias) => format!("{name} as {alias}"),
            Source::Join(kind, left, right, on) => {
                let word = match kind {
                    JoinKind::Inner => "join",
                    JoinKind::Left => "left join",
                    JoinKind::Right => "right join",
                    JoinKind::Full => "full join",
                    JoinKind::Cross => "cross join",
                };
                let on = on.as_ref().map(|c| format!(" on {}", self.cond(c))).unwrap_or_default();
                format!("({} {word} {}{on})", self.source(left), self.source(right))
            }
            Source::Apply(outer, left, q, alias) => {
                let left = self.source(left);
                let q = self.query(q);
                match (self.transact(), outer) {
                    (true, false) => format!("({left} cross apply ({q}) as {alias})"),
                    (true, true) => format!("({left} outer apply ({q}) as {alias})"),
                    (false, false) => format!("({left} cross join lateral ({q}) as {alias})"),
                    (false, true) => format!("({left} left join lateral ({q}) as {alias} on true)"),
                }
            }
        }
    }

    /// A condition.
    pub(crate) fn cond(&self, c: &Cond) -> String {
        match c {
            Cond::Compare(op, a, b) => format!("{} {} {}", self.expr(a), op.0, self.expr(b)),
            Cond::IsNull(x, n) => format!("{} is {}null", self.expr(x), not(*n)),
            Cond::Between(x, a, b, n) => {
                let (x, a, b) = (self.expr(x), self.expr(a), self.expr(b));
                format!("{x} {}between {a} and {b}", not(*n))
            }
            Cond::InList(x, of, n) => {
                format!("{} {}in ({})", self.expr(x), not(*n), list(of, ", ", |x| self.expr(x)))
            }
            Cond::Like(x, pattern, n) => format!("{} {}like '{pattern}'", self.expr(x), not(*n)),
            Cond::Distinct(a, b, n) => {
                format!("{} is {}distinct from {}", self.expr(a), not(*n), self.expr(b))
            }
            Cond::And(of) => format!("({})", list(of, " and ", |c| self.cond(c))),
            Cond::Or(of) => format!("({})", list(of, " or ", |c| self.cond(c))),
            Cond::Not(c) => format!("not ({})", self.cond(c)),
            Cond::Exists(q, n) => format!("{}exists ({})", not(*n), self.query(q)),
            Cond::InQuery(x, q, n) => {
                format!("{} {}in ({})", self.expr(x), not(*n), self.query(q))
            }
            Cond::Quantified(op, x, q, all) => {
                let word = if *all { "all" } else { "any" };
                format!("{} {} {word} ({})", self.expr(x), op.0, self.query(q))
            }
        }
    }

    /// A value.
    pub(crate) fn expr(&self, x: &Expr) -> String {
        match x {
            Expr::Column(alias, name) => format!("{alias}.{name}"),
            Expr::Int(n) if *n < 0 => format!("({n})"),
            Expr::Int(n) => n.to_string(),
            Expr::Decimal(n) if *n < 0 => format!("({})", decimal(*n)),
            Expr::Decimal(n) => decimal(*n),
            Expr::Text(s) => format!("cast('{s}' as varchar(20))"),
            Expr::Date(n) => format!("cast('{}' as date)", day(*n)),
            Expr::Null(kind) => format!("cast(null as {})", type_name(*kind)),
            Expr::Arithmetic(op @ ('/' | '%'), a, b) => {
                format!("({} {op} nullif({}, 0))", self.expr(a), self.expr(b))
            }
            Expr::Arithmetic(op, a, b) => format!("({} {op} {})", self.expr(a), self.expr(b)),
            Expr::Call(function, arguments) => self.call(function, arguments),
            Expr::Case(branches, otherwise) => {
                let branch =
                    |(c, x): &(Cond, Expr)| format!("when {} then {}", self.cond(c), self.expr(x));
                let otherwise = otherwise
                    .as_ref()
                    .map(|x| format!(" else {}", self.expr(x)))
                    .unwrap_or_default();
                format!("case {}{otherwise} end", list(branches, " ", branch))
            }
            Expr::Aggregate(function, distinct, x) => self.aggregate(*function, *distinct, x, ""),
            Expr::Window(w) => self.window(w),
            Expr::Subquery(q) => format!("({})", self.query(q)),
        }
    }

    fn call(&self, function: &Function, arguments: &[Expr]) -> String {
        let all = list(arguments, ", ", |x| self.expr(x));
        let by = |sign: &str| format!("({})", list(arguments, sign, |x| self.expr(x)));
        match (function, self.transact()) {
            (Function::Coalesce, _) => format!("coalesce({all})"),
            (Function::NullIf, _) => format!("nullif({all})"),
            (Function::Abs, _) => format!("abs({all})"),
            (Function::Length, true) => format!("len({all})"),
            (Function::Length, false) => format!("length({all})"),
            (Function::Substring(from, n), _) => format!("substring({all}, {from}, {n})"),
            (Function::Replace(a, b), _) => format!("replace({all}, '{a}', '{b}')"),
            (Function::Concatenate, true) => by(" + "),
            (Function::Concatenate, false) => by(" || "),
            (Function::Year, true) => format!("year({all})"),
            (Function::Year, false) => format!("cast(extract(year from {all}) as int)"),
            (Function::Month, true) => format!("month({all})"),
            (Function::Month, false) => format!("cast(extract(month from {all}) as int)"),
            (Function::DaysBetween, true) => format!("datediff(day, {all})"),
            (Function::DaysBetween, false) => {
                let reversed: Vec<Expr> = arguments.iter().rev().cloned().collect();
                format!("({})", list(&reversed, " - ", |x| self.expr(x)))
            }
            (Function::AddDays(n), true) => format!("dateadd(day, {n}, {all})"),
            (Function::AddDays(n), false) => format!("({all} + ({n}))"),
            (Function::TextOfInt, _) => format!("cast({all} as varchar(20))"),
            (Function::DecimalOfInt, _) => format!("cast({all} as decimal(12,2))"),
        }
    }

    /// Rule 5: PostgreSQL's sum of whole numbers may be `numeric`, which divides otherwise.
    fn aggregate(
        &self,
        function: Aggregate,
        distinct: bool,
        x: &Option<Box<Expr>>,
        over: &str,
    ) -> String {
        let x = x.as_ref().map(|x| self.expr(x)).unwrap_or_default();
        let distinct = if distinct { "distinct " } else { "" };
        match (function, self.transact()) {
            (Aggregate::CountRows, _) => format!("count(*){over}"),
            (Aggregate::Count, _) => format!("count({distinct}{x}){over}"),
            (Aggregate::Sum(Kind::Int), false) => {
                format!("cast(sum({distinct}{x}){over} as bigint)")
            }
            (Aggregate::Sum(_), _) => format!("sum({distinct}{x}){over}"),
            (Aggregate::Min, _) => format!("min({x}){over}"),
            (Aggregate::Max, _) => format!("max({x}){over}"),
            (Aggregate::Average, _) => format!("avg({distinct}{x}){over}"),
            (Aggregate::Join, true) => {
                format!("string_agg(cast({x} as varchar(max)), ',') within group (order by {x})")
            }
            (Aggregate::Join, false) => format!("string_agg({x}, ',' order by {x})"),
        }
    }

    fn window(&self, w: &Window) -> String {
        let mut over = Vec::new();
        if !w.partition.is_empty() {
            over.push(format!("partition by {}", list(&w.partition, ", ", |x| self.expr(x))));
        }
        if !w.order.is_empty() {
            let key = |(x, descending): &(Expr, bool)| {
                let direction = match (descending, self.transact()) {
                    (false, true) => "",
                    (true, true) => " desc",
                    (false, false) => " nulls first",
                    (true, false) => " desc nulls last",
                };
                format!("{}{direction}", self.expr(x))
            };
            over.push(format!("order by {}", list(&w.order, ", ", key)));
        }
        over.extend(w.frame.map(str::to_owned));
        let over = format!(" over ({})", over.join(" "));
        match &w.function {
            WindowFunction::Aggregate(a) => self.aggregate(*a, false, &w.argument, &over),
            WindowFunction::Named(name) => {
                let x = w.argument.as_ref().map(|x| self.expr(x)).unwrap_or_default();
                format!("{name}({x}){over}")
            }
        }
    }

    /// A change.
    pub(crate) fn change(&self, change: &Change) -> String {
        let schema = self.schema;
        match change {
            Change::Update(table, set, filter) => {
                let set = list(set, ", ", |(column, x)| format!("{column} = {}", self.expr(x)));
                let named = format!("{schema}.{table}");
                match self.transact() {
                    true => {
                        let filter = self.cond(filter);
                        format!("update u set {set} from {named} as u where {filter}")
                    }
                    false => format!("update {named} as u set {set} where {}", self.cond(filter)),
                }
            }
            Change::Delete(table, filter) => match self.transact() {
                true => format!("delete u from {schema}.{table} as u where {}", self.cond(filter)),
                false => format!("delete from {schema}.{table} as u where {}", self.cond(filter)),
            },
            Change::Insert(table, columns, q) => {
                format!("insert into {schema}.{table} ({}) {}", columns.join(", "), self.query(q))
            }
        }
    }
}

/// The type of a kind's NULL.
fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Int => "int",
        Kind::Decimal => "decimal(12,2)",
        Kind::Text => "varchar(20)",
        Kind::Date => "date",
    }
}
