//! W8 (proof query.3): seven queries over tables like TPC-H's, Ghostlight beside PostgreSQL, rows
//! with their primary keys and the same two indexes, with one thread (MAXDOP 1 against no parallel
//! workers) and with two (MAXDOP 2 against a leader and one worker). Answers must agree; judged is
//! the CPU time of the engine's processes, the time that passed is told beside it.

use crate::engine::{Durability, Engine as _, Start};
use crate::figure::{Figure, Outcome, median};
use crate::ghostlight::Ghostlight;
use crate::postgresql::PostgreSql;
use crate::tpch::{TABLES, Table};
use crate::{ghostlight, postgresql};
use std::path::Path;
use std::time::Instant;

/// Pages and queries of PostgreSQL have 4 GB and 1 GB.
const MEMORY_MB: u32 = 5 * 1024;
/// No query may cost more of PostgreSQL's.
const RATIO_MAX: f64 = 3.0;
/// Rows of a bulk load.
const LOAD_ROWS: usize = 50_000;
const INDEXES: [&str; 2] = [
    "create index orders_customer on orders(o_custkey)",
    "create index lineitem_part on lineitem(l_partkey, l_suppkey)",
];
/// What PostgreSQL is told beyond its memory.
const SETTINGS: &str = "alter database postgres set work_mem = '1GB'";

/// With how many threads a query is computed.
const THREADS: [usize; 2] = [1, 2];

/// A query. `{top N}` and `{limit N}` are the one's and the other's way to say N rows, `{d D}` is a
/// date, `{year C}` the year of a column.
struct Query {
    name: &'static str,
    sql: &'static str,
}

const QUERIES: [Query; 7] = [
    Query {
        name: "q1",
        sql: "select l_returnflag, l_linestatus, sum(l_quantity) as sq, sum(l_extendedprice) as se,
            sum(l_extendedprice*(1-l_discount)) as sd,
            sum(l_extendedprice*(1-l_discount)*(1+l_tax)) as sc, avg(l_quantity) as aq,
            avg(l_extendedprice) as ae, avg(l_discount) as ad, count(*) as c
            from lineitem where l_shipdate <= {d 1998-09-02}
            group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus",
    },
    Query {
        name: "q3",
        sql: "select {top 10} l_orderkey, sum(l_extendedprice*(1-l_discount)) as revenue,
            o_orderdate, o_shippriority from customer, orders, lineitem
            where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
            and o_orderdate < {d 1995-03-15} and l_shipdate > {d 1995-03-15}
            group by l_orderkey, o_orderdate, o_shippriority
            order by revenue desc, o_orderdate {limit 10}",
    },
    Query {
        name: "q5",
        sql: "select n_name, sum(l_extendedprice*(1-l_discount)) as revenue
            from customer, orders, lineitem, supplier, nation, region
            where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey
            and c_nationkey = s_nationkey and s_nationkey = n_nationkey
            and n_regionkey = r_regionkey and r_name = 'ASIA' and o_orderdate >= {d 1994-01-01}
            and o_orderdate < {d 1995-01-01} group by n_name order by revenue desc",
    },
    Query {
        name: "q6",
        sql: "select sum(l_extendedprice*l_discount) as revenue from lineitem
            where l_shipdate >= {d 1994-01-01} and l_shipdate < {d 1995-01-01}
            and l_discount between 0.05 and 0.07 and l_quantity < 24",
    },
    Query {
        name: "q9",
        sql: "select nation, o_year, sum(amount) as sum_profit
            from (select n_name as nation, {year o_orderdate} as o_year,
            l_extendedprice*(1-l_discount)-ps_supplycost*l_quantity as amount
            from part, supplier, lineitem, partsupp, orders, nation
            where s_suppkey = l_suppkey and ps_suppkey = l_suppkey and ps_partkey = l_partkey
            and p_partkey = l_partkey and o_orderkey = l_orderkey and s_nationkey = n_nationkey
            and p_name like '%green%') as profit
            group by nation, o_year order by nation, o_year desc",
    },
    Query {
        name: "q13",
        sql: "select c_count, count(*) as custdist
            from (select c_custkey, count(o_orderkey) as c_count from customer left join orders
            on c_custkey = o_custkey and o_comment not like '%special%requests%'
            group by c_custkey) as c_orders
            group by c_count order by custdist desc, c_count desc",
    },
    Query {
        name: "q18",
        sql: "select {top 100} c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice,
            sum(l_quantity) as q from customer, orders, lineitem
            where o_orderkey in (select l_orderkey from lineitem group by l_orderkey
            having sum(l_quantity) > 300) and c_custkey = o_custkey and o_orderkey = l_orderkey
            group by c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
            order by o_totalprice desc, o_orderdate {limit 100}",
    },
];

/// What is run.
pub(crate) struct Choice {
    /// 1 is 6 million line items.
    pub(crate) scale: f64,
    pub(crate) repetitions: usize,
    /// This query alone.
    pub(crate) only: Option<String>,
}

/// An engine with the tables.
trait Side {
    fn name(&self) -> &'static str;
    fn load(&mut self, scale: f64) -> Outcome<()>;
    /// From now on a query is computed with so many threads.
    fn use_threads(&mut self, threads: usize) -> Outcome<()>;
    /// Rows of values as text.
    fn rows(&mut self, sql: &str) -> Outcome<Vec<Vec<String>>>;
    fn text(&self, query: &Query, threads: usize) -> String;
    fn cpu_seconds(&self) -> f64;
}

/// What a query costs.
#[derive(Clone, Copy)]
struct Cost {
    cpu: f64,
    elapsed: f64,
}

pub(crate) fn run(binary: &Path, folder: &Path, choice: &Choice) -> Outcome<Vec<Figure>> {
    let mut sides: Vec<Box<dyn Side>> = Vec::new();
    let with =
        |folder, memory_mb| Start { binary, folder, durability: Durability::Delayed, memory_mb };
    let (ours, theirs) = (folder.join("w8_ghostlight"), folder.join("w8_postgresql"));
    sides.push(Box::new(ghostlight::start_server(&with(&ours, Some(MEMORY_MB)))?));
    if let Some(server) = postgresql::start_server(&with(&theirs, None))? {
        sides.push(Box::new(server));
    }
    for side in &mut sides {
        let (cpu, start) = (side.cpu_seconds(), Instant::now());
        side.load(choice.scale)?;
        let (cpu, elapsed) = (side.cpu_seconds() - cpu, start.elapsed().as_secs_f64());
        println!("W8: {}: loaded in {elapsed:.1} s, CPU {cpu:.1} s", side.name());
    }
    let mut figures = Vec::new();
    let wanted = |q: &&Query| choice.only.as_ref().is_none_or(|only| q.name == only);
    for threads in THREADS {
        let mut ratios = Vec::new();
        sides.iter_mut().try_for_each(|side| side.use_threads(threads))?;
        for query in QUERIES.iter().filter(wanted) {
            let costs = measure(&mut sides, query, threads, choice.repetitions)?;
            let (figure, ratio) = judge(query, threads, &costs);
            ratios.extend(ratio);
            figures.push(figure);
        }
        figures.push(geometric(threads, &ratios));
    }
    Ok(figures)
}

/// Fills a server with the tables.
pub(crate) fn load(server: &mut Ghostlight, scale: f64) -> Outcome<()> {
    Side::load(server, scale)
}

/// Asks a server every query once, with one thread.
pub(crate) fn ask_all(server: &mut Ghostlight) -> Outcome<()> {
    QUERIES.iter().try_for_each(|query| {
        let text = Side::text(server, query, 1);
        Side::rows(server, &text).map(drop).map_err(|e| format!("{}: {e}", query.name))
    })
}

/// How so many threads are told.
fn spelled(threads: usize) -> &'static str {
    if threads == 1 { "one thread" } else { "two threads" }
}

/// The cost of a query with each engine, after all have answered alike.
fn measure(
    sides: &mut [Box<dyn Side>],
    query: &Query,
    threads: usize,
    times: usize,
) -> Outcome<Vec<Cost>> {
    let mut answers = Vec::new();
    for side in &mut *sides {
        let text = side.text(query, threads);
        let rows = side.rows(&text).map_err(|e| format!("{}: {}: {e}", side.name(), query.name))?;
        answers.push(digest(&rows));
    }
    if let [ours, theirs] = &answers[..] {
        compare(ours, theirs).map_err(|e| format!("{}: {e}", query.name))?;
    }
    let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); sides.len()];
    for _ in 0..times {
        for (side, costs) in sides.iter_mut().zip(&mut costs) {
            let text = side.text(query, threads);
            let (cpu, start) = (side.cpu_seconds(), Instant::now());
            side.rows(&text)?;
            let elapsed = start.elapsed().as_secs_f64();
            costs.push(Cost { cpu: side.cpu_seconds() - cpu, elapsed });
        }
    }
    let middle = |costs: &Vec<Cost>| Cost {
        cpu: median(costs.iter().map(|c| c.cpu).collect()),
        elapsed: median(costs.iter().map(|c| c.elapsed).collect()),
    };
    let costs: Vec<Cost> = costs.iter().map(middle).collect();
    for (side, cost) in sides.iter().zip(&costs) {
        let (name, ms) = (side.name(), cost.elapsed * 1e3);
        let (query, how) = (query.name, spelled(threads));
        println!("W8: {query}, {how}: {name}: CPU {:.0} ms, elapsed {ms:.0} ms", cost.cpu * 1e3);
    }
    Ok(costs)
}

fn judge(query: &Query, threads: usize, costs: &[Cost]) -> (Figure, Option<f64>) {
    let what = format!("{}, CPU, {}", query.name, spelled(threads));
    let [ours, theirs] = costs else {
        let limit = "PostgreSQL is not installed".to_owned();
        return (Figure { what, figure: String::new(), limit, pass: false }, None);
    };
    let ratio = ours.cpu / theirs.cpu.max(0.01);
    let figure = Figure {
        what,
        figure: format!("{:.0} ms, {ratio:.2} of PostgreSQL's", ours.cpu * 1e3),
        limit: format!("{RATIO_MAX} x {:.0} ms", theirs.cpu * 1e3),
        pass: ratio <= RATIO_MAX,
    };
    (figure, Some(ratio))
}

fn geometric(threads: usize, ratios: &[f64]) -> Figure {
    let sum: f64 = ratios.iter().map(|r| r.max(1e-6).ln()).sum();
    let mean = (sum / ratios.len().max(1) as f64).exp();
    Figure {
        what: format!("geometric mean of {} queries, CPU, {}", ratios.len(), spelled(threads)),
        figure: format!("{mean:.2} of PostgreSQL's"),
        limit: "1.00".to_owned(),
        pass: !ratios.is_empty() && mean <= 1.0,
    }
}

/// What must agree: the number of rows, each column's sum, the texts in any order.
struct Digest {
    rows: usize,
    sums: Vec<f64>,
    texts: Vec<String>,
}

fn digest(rows: &[Vec<String>]) -> Digest {
    let mut digest = Digest { rows: rows.len(), sums: Vec::new(), texts: Vec::new() };
    for row in rows {
        digest.sums.resize(digest.sums.len().max(row.len()), 0.0);
        for (sum, value) in digest.sums.iter_mut().zip(row) {
            match value.trim().parse::<f64>() {
                Ok(number) => *sum += number,
                Err(_) => digest.texts.push(value.trim().to_owned()),
            }
        }
    }
    digest.texts.sort();
    digest
}

/// An average keeps six digits behind the point here, and more there.
fn compare(ours: &Digest, theirs: &Digest) -> Outcome<()> {
    if ours.rows != theirs.rows {
        return Err(format!("{} rows instead of {}", ours.rows, theirs.rows));
    }
    if ours.texts != theirs.texts {
        return Err("other texts than PostgreSQL's".to_owned());
    }
    for (a, b) in ours.sums.iter().zip(&theirs.sums) {
        if (a - b).abs() > 1e-6 * ours.rows as f64 + 1e-9 * b.abs() {
            return Err(format!("a column sums to {a} instead of {b}"));
        }
    }
    Ok(())
}

/// A query's text with its marks replaced by `put(word, argument)`.
fn filled(sql: &str, put: impl Fn(&str, &str) -> String) -> String {
    let mut parts = sql.split('{');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (mark, rest) = part.split_once('}').unwrap_or((part, ""));
        let (word, argument) = mark.split_once(' ').unwrap_or((mark, ""));
        text += &put(word, argument);
        text += rest;
    }
    text
}

fn create(table: &Table, key: &str) -> String {
    let columns = table.columns.iter().map(|(name, ty)| format!("{name} {ty} not null"));
    let columns: Vec<String> = columns.collect();
    format!("create table {} ({}{key})", table.name, columns.join(", "))
}

impl Side for Ghostlight {
    fn name(&self) -> &'static str {
        "Ghostlight"
    }

    fn load(&mut self, scale: f64) -> Outcome<()> {
        for table in &TABLES {
            self.run(&create(table, &format!(", primary key ({})", table.key)))?;
            let mut load = self.bulk_load(table.name, table.columns, LOAD_ROWS);
            table.rows(scale, &mut |row| load.push(row))?;
            load.finish()?;
        }
        INDEXES.iter().try_for_each(|sql| self.run(sql))?;
        TABLES.iter().try_for_each(|t| self.run(&format!("update statistics {}", t.name)))
    }

    fn use_threads(&mut self, _: usize) -> Outcome<()> {
        Ok(())
    }

    fn rows(&mut self, sql: &str) -> Outcome<Vec<Vec<String>>> {
        self.texts(sql)
    }

    fn text(&self, query: &Query, threads: usize) -> String {
        let text = filled(query.sql, |word, argument| match word {
            "top" => format!("top ({argument})"),
            "d" => format!("cast('{argument}' as date)"),
            "year" => format!("year({argument})"),
            _ => String::new(),
        });
        format!("{text} option (maxdop {threads})")
    }

    fn cpu_seconds(&self) -> f64 {
        crate::engine::Engine::cpu_seconds(self)
    }
}

impl Side for PostgreSql {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    fn load(&mut self, scale: f64) -> Outcome<()> {
        self.run(SETTINGS)?;
        for table in &TABLES {
            self.run(&create(table, ""))?;
            let mut copy = self.copy(table.name)?;
            table.rows(scale, &mut |row| copy.push(row))?;
            copy.finish()?;
            self.run(&format!("alter table {} add primary key ({})", table.name, table.key))?;
        }
        INDEXES.iter().try_for_each(|sql| self.run(sql))?;
        self.run("vacuum analyze")
    }

    fn use_threads(&mut self, threads: usize) -> Outcome<()> {
        let workers = threads - 1;
        self.run(&format!(
            "alter database postgres set max_parallel_workers_per_gather = {workers}"
        ))
    }

    fn rows(&mut self, sql: &str) -> Outcome<Vec<Vec<String>>> {
        self.texts(sql)
    }

    fn text(&self, query: &Query, _: usize) -> String {
        filled(query.sql, |word, argument| match word {
            "limit" => format!("limit {argument}"),
            "d" => format!("cast('{argument}' as date)"),
            "year" => format!("extract(year from {argument})"),
            _ => String::new(),
        })
    }

    fn cpu_seconds(&self) -> f64 {
        crate::engine::Engine::cpu_seconds(self)
    }
}
