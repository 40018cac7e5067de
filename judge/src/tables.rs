//! A data set: some tables of random rows, once without any index and once with many.

use crate::spell::{day, decimal};
use crate::tree::Kind;
use sim::Random;

/// A column.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its name.
    pub(crate) name: String,
    /// What its values are.
    pub(crate) kind: Kind,
    /// Its type, which both engines know.
    pub(crate) type_name: &'static str,
    /// Whether it has NULLs.
    pub(crate) nullable: bool,
}

/// A table; its first column `id` is unique.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Its name.
    pub(crate) name: String,
    /// Its columns.
    pub(crate) columns: Vec<Column>,
    /// Its rows, as literals.
    pub(crate) rows: Vec<Vec<String>>,
    /// Its indexes: unique or not, clustered or not, columns.
    pub(crate) indexes: Vec<Index>,
}

/// An index.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    /// On `id` alone.
    pub(crate) primary: bool,
    /// The rows themselves, in key order.
    pub(crate) clustered: bool,
    /// Its key, descending where true.
    pub(crate) keys: Vec<(String, bool)>,
    /// INCLUDE
    pub(crate) included: Vec<String>,
    /// UNIQUE; a primary key always is.
    pub(crate) unique: bool,
    /// WHERE
    pub(crate) filter: Option<String>,
}

/// Tables with rows.
#[derive(Clone, Debug)]
pub(crate) struct DataSet {
    /// The tables.
    pub(crate) tables: Vec<Table>,
    /// Thousands of rows: joins are by equality alone.
    pub(crate) large: bool,
}

const TYPES: [(Kind, &str); 7] = [
    (Kind::Int, "int"),
    (Kind::Int, "bigint"),
    (Kind::Int, "smallint"),
    (Kind::Decimal, "decimal(9,2)"),
    (Kind::Text, "varchar(12)"),
    (Kind::Text, "char(3)"),
    (Kind::Date, "date"),
];

/// The most rows of an INSERT … VALUES.
const ROWS_A_STATEMENT: usize = 500;

impl DataSet {
    /// A random one; `common` leaves out what two engines type differently.
    pub(crate) fn random(random: &mut Random, large: bool, common: bool) -> DataSet {
        let count = 2 + random.below(3);
        let tables = (0..count).map(|n| table(random, n, large, common)).collect();
        DataSet { tables, large }
    }

    /// CREATE TABLE and INSERT for a schema, with indexes or without.
    pub(crate) fn script(&self, schema: &str, indexed: bool) -> Vec<String> {
        let mut script = Vec::new();
        for table in &self.tables {
            let column = |c: &Column| {
                let null = if c.nullable { "null" } else { "not null" };
                format!("{} {} {null}", c.name, c.type_name)
            };
            let columns: Vec<String> = table.columns.iter().map(column).collect();
            let name = format!("{schema}.{}", table.name);
            script.push(format!("create table {name} ({})", columns.join(", ")));
            for rows in table.rows.chunks(ROWS_A_STATEMENT) {
                let rows: Vec<String> =
                    rows.iter().map(|r| format!("({})", r.join(", "))).collect();
                script.push(format!("insert into {name} values {}", rows.join(", ")));
            }
            if indexed {
                let of = table.indexes.iter().enumerate();
                script.extend(of.map(|(n, index)| index.definition(&name, n)));
            }
        }
        script
    }
}

impl Index {
    fn definition(&self, table: &str, n: usize) -> String {
        let keys: Vec<String> = self
            .keys
            .iter()
            .map(|(name, descending)| format!("{name}{}", if *descending { " desc" } else { "" }))
            .collect();
        let keys = keys.join(", ");
        let unique = if self.unique { "unique " } else { "" };
        let clustered = if self.clustered { "clustered" } else { "nonclustered" };
        if self.primary {
            return format!("alter table {table} add primary key {clustered} ({keys})");
        }
        let included = match self.included.is_empty() {
            true => String::new(),
            false => format!(" include ({})", self.included.join(", ")),
        };
        let filter = self.filter.as_ref().map_or(String::new(), |f| format!(" where {f}"));
        format!("create {unique}{clustered} index x{n} on {table} ({keys}){included}{filter}")
    }
}

fn table(random: &mut Random, n: u64, large: bool, common: bool) -> Table {
    let id = Column { name: "id".to_owned(), kind: Kind::Int, type_name: "int", nullable: false };
    let mut columns = vec![id];
    for at in 0..3 + random.below(4) {
        let types =
            if common { TYPES.iter().filter(|t| t.1 != "char(3)").count() } else { TYPES.len() };
        let of: Vec<(Kind, &'static str)> =
            TYPES.iter().filter(|t| !common || t.1 != "char(3)").copied().collect();
        let (kind, type_name) = of[random.below(types as u64) as usize];
        let nullable = !random.one_in(4);
        columns.push(Column { name: format!("a{at}"), kind, type_name, nullable });
    }
    let rows = match (large, random.below(8)) {
        (true, _) => 2_000 + random.below(6_000),
        (false, 0) => random.below(2),
        (false, _) => 3 + random.below(40),
    };
    let skew: Vec<u64> = columns.iter().map(|_| random.pick(&[3, 10, 30, 1000])).collect();
    let ids = shuffled(random, rows as usize);
    let rows = ids
        .into_iter()
        .map(|id| {
            let mut row = vec![id.to_string()];
            for (column, &values) in columns.iter().zip(&skew).skip(1) {
                let values = if large && values < 1000 { values * 400 } else { values };
                row.push(value(random, column, values));
            }
            row
        })
        .collect();
    let indexes = indexes(random, &columns);
    Table { name: format!("t{n}"), columns, rows, indexes }
}

fn shuffled(random: &mut Random, n: usize) -> Vec<usize> {
    let mut ids: Vec<usize> = (1..=n).collect();
    for at in (1..n).rev() {
        ids.swap(at, random.below(at as u64 + 1) as usize);
    }
    ids
}

/// A literal; small values are likelier than large ones.
fn value(random: &mut Random, column: &Column, values: u64) -> String {
    if column.nullable && random.one_in(5) {
        return "null".to_owned();
    }
    let most = 1 + random.below(values);
    let n = random.below(most) as i64;
    match column.kind {
        Kind::Int => (n - 2).to_string(),
        Kind::Decimal => decimal(n * 25 - 100),
        Kind::Text => format!("'{}'", word(n, if column.type_name == "char(3)" { 3 } else { 12 })),
        Kind::Date => format!("'{}'", day(n * 17)),
    }
}

/// A short word for a number; different numbers may have the same where it must be short.
pub(crate) fn word(n: i64, most: usize) -> String {
    let letters = ['a', 'b', 'c', 'd', '1'];
    let mut left = n.unsigned_abs() as usize;
    let mut word = String::new();
    while word.len() < most && (left > 0 || word.is_empty()) {
        word.push(letters[left % letters.len()]);
        left /= letters.len();
    }
    word
}

/// A filter over a column of whole numbers, the id or another one.
fn filter(random: &mut Random, columns: &[Column]) -> Option<String> {
    let whole: Vec<&Column> = columns.iter().filter(|c| c.kind == Kind::Int).collect();
    let column = whole[random.below(whole.len() as u64) as usize];
    let name = &column.name;
    Some(match random.below(3) {
        0 if column.nullable => format!("{name} is not null"),
        1 => format!("{name} <= 3"),
        _ => format!("{name} > 2"),
    })
}

fn indexes(random: &mut Random, columns: &[Column]) -> Vec<Index> {
    let mut clustered_free = true;
    let mut indexes = Vec::new();
    let named = |n: usize| columns[n].name.clone();
    if !random.one_in(5) {
        let clustered = random.one_in(2);
        clustered_free = !clustered;
        let keys = vec![(named(0), random.one_in(6))];
        let (unique, included) = (true, Vec::new());
        indexes.push(Index { primary: true, unique, clustered, keys, included, filter: None });
    }
    for _ in 0..random.below(4) {
        let mut of = shuffled(random, columns.len());
        of.truncate(1 + random.below(3) as usize);
        let keys = of.iter().map(|&n| (named(n - 1), random.one_in(4))).collect();
        let clustered = clustered_free && random.one_in(4);
        clustered_free &= !clustered;
        let rest = (1..=columns.len()).filter(|n| !of.contains(n));
        let included = match clustered || random.one_in(2) {
            true => Vec::new(),
            false => rest.take(2).map(|n| named(n - 1)).collect(),
        };
        // With the id in it any key is unique.
        let unique = of.contains(&1) && random.one_in(2);
        let filter = if clustered || !random.one_in(4) { None } else { filter(random, columns) };
        indexes.push(Index { primary: false, unique, clustered, keys, included, filter });
    }
    indexes
}
