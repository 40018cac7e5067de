//! Tables like TPC-H's, made by a generator of our own: the same rows for every engine and run.
//!
//! Keys, types and rules of values are TPC-H's; what is random comes from a hash of the row's
//! number and the column's, so any part can be made alone. At scale 1 there are 6 million line
//! items.

use crate::figure::Outcome;
use types::{Decimal, SqlType, Value};

/// A table to be made.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, SqlType)],
    /// Columns of the primary key.
    pub(crate) key: &'static str,
    rows: fn(&Scale, RowConsumer<'_>) -> Outcome<()>,
}

/// Takes the rows of a table.
pub(crate) type RowConsumer<'a> = &'a mut dyn FnMut(&[Value]) -> Outcome<()>;

/// How many of each there are.
struct Scale {
    customers: u64,
    suppliers: u64,
    parts: u64,
    orders: u64,
}

const INT: SqlType = SqlType::Int;
const MONEY: SqlType = SqlType::decimal(12, 2);
const DATE: SqlType = SqlType::Date;

const fn text(n: u16) -> SqlType {
    SqlType::varchar(n)
}

/// All tables, those that others refer to first.
pub(crate) const TABLES: [Table; 8] = [
    Table {
        name: "region",
        columns: &[("r_regionkey", INT), ("r_name", text(25))],
        key: "r_regionkey",
        rows: regions,
    },
    Table {
        name: "nation",
        columns: &[("n_nationkey", INT), ("n_name", text(25)), ("n_regionkey", INT)],
        key: "n_nationkey",
        rows: nations,
    },
    Table {
        name: "supplier",
        columns: &[
            ("s_suppkey", INT),
            ("s_name", text(25)),
            ("s_nationkey", INT),
            ("s_acctbal", MONEY),
        ],
        key: "s_suppkey",
        rows: suppliers,
    },
    Table {
        name: "customer",
        columns: &[
            ("c_custkey", INT),
            ("c_name", text(25)),
            ("c_nationkey", INT),
            ("c_acctbal", MONEY),
            ("c_mktsegment", text(10)),
        ],
        key: "c_custkey",
        rows: customers,
    },
    Table {
        name: "part",
        columns: &[
            ("p_partkey", INT),
            ("p_name", text(55)),
            ("p_brand", text(10)),
            ("p_size", INT),
            ("p_retailprice", MONEY),
        ],
        key: "p_partkey",
        rows: parts,
    },
    Table {
        name: "partsupp",
        columns: &[
            ("ps_partkey", INT),
            ("ps_suppkey", INT),
            ("ps_availqty", INT),
            ("ps_supplycost", MONEY),
        ],
        key: "ps_partkey, ps_suppkey",
        rows: part_suppliers,
    },
    Table {
        name: "orders",
        columns: &[
            ("o_orderkey", INT),
            ("o_custkey", INT),
            ("o_orderstatus", text(1)),
            ("o_totalprice", MONEY),
            ("o_orderdate", DATE),
            ("o_orderpriority", text(15)),
            ("o_shippriority", INT),
            ("o_comment", text(120)),
        ],
        key: "o_orderkey",
        rows: orders,
    },
    Table {
        name: "lineitem",
        columns: &[
            ("l_orderkey", INT),
            ("l_partkey", INT),
            ("l_suppkey", INT),
            ("l_linenumber", INT),
            ("l_quantity", MONEY),
            ("l_extendedprice", MONEY),
            ("l_discount", MONEY),
            ("l_tax", MONEY),
            ("l_returnflag", text(1)),
            ("l_linestatus", text(1)),
            ("l_shipdate", DATE),
            ("l_commitdate", DATE),
            ("l_receiptdate", DATE),
            ("l_shipinstruct", text(25)),
            ("l_shipmode", text(10)),
        ],
        key: "l_orderkey, l_linenumber",
        rows: line_items,
    },
];

impl Table {
    /// Gives all rows in the order of the key.
    ///
    /// # Errors
    /// What `each` answers.
    pub(crate) fn rows(&self, scale: f64, each: RowConsumer<'_>) -> Outcome<()> {
        let many = |n: f64| (n * scale) as u64;
        let scale = Scale {
            customers: many(150_000.0),
            suppliers: many(10_000.0),
            parts: many(200_000.0),
            orders: many(1_500_000.0),
        };
        (self.rows)(&scale, each)
    }
}

const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
const NATIONS: [(&str, i32); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];
const SEGMENTS: &str = "AUTOMOBILE BUILDING FURNITURE MACHINERY HOUSEHOLD";
const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const INSTRUCTIONS: [&str; 4] = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const COLORS: &str = "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood \
    burnished chartreuse chiffon chocolate coral cornflower cornsilk cream cyan dark deep dim \
    dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green grey honeydew \
    hot hotpink indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon \
    medium metallic midnight mint misty moccasin navajo navy olive orange orchid pale papaya \
    peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy seashell \
    sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white \
    yellow";
const WORDS: &str = "final ironic express bold even silent pending regular quick careful furious blithe slow \
    deposits packages accounts theodolites pinto beans instructions foxes ideas dependencies \
    excuses platelets asymptotes courts dolphins";

/// Days from 0001-01-01.
const D1992_01_01: i32 = 727_197;
const D1995_06_17: i32 = D1992_01_01 + 1263;
const D1995_08_01: i32 = D1992_01_01 + 1308;
/// Order dates are spread over so many days.
const ORDER_DAYS: u64 = 2406;

/// A number below `n` that belongs to row `i` and column `salt`.
fn random(i: u64, salt: u64, n: u64) -> u64 {
    // The finalizer of splitmix64.
    let mut x = (i * 1000 + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (x ^ (x >> 31)) % n
}

fn pick<'a>(i: u64, salt: u64, of: &[&'a str]) -> &'a str {
    of.get(random(i, salt, of.len() as u64) as usize).copied().unwrap_or_default()
}

fn int(n: u64) -> Value {
    Value::Int(n as i32)
}

fn cents(n: i64) -> Value {
    Decimal::new(n.into(), 2).map_or(Value::Null, Value::Decimal)
}

fn balance(i: u64, salt: u64) -> Value {
    cents(random(i, salt, 1_099_999) as i64 - 99_999)
}

/// The price of a part, in cents.
fn retail(part: u64) -> i64 {
    (90_000 + (part / 10) % 20_001 + 100 * (part % 1000)) as i64
}

impl Scale {
    /// The k-th supplier of a part.
    fn supplier_of(&self, part: u64, k: u64) -> u64 {
        (part + k * (self.suppliers / 4 + (part - 1) / self.suppliers)) % self.suppliers + 1
    }
}

fn regions(_: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    REGIONS.iter().enumerate().try_for_each(|(i, r)| each(&[int(i as u64), Value::varchar(r)]))
}

fn nations(_: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    let mut nations = NATIONS.iter().enumerate();
    nations.try_for_each(|(i, (n, r))| each(&[int(i as u64), Value::varchar(n), Value::Int(*r)]))
}

fn suppliers(s: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    (1..=s.suppliers).try_for_each(|i| {
        let name = Value::varchar(&format!("Supplier#{i:09}"));
        each(&[int(i), name, int(random(i, 1, 25)), balance(i, 2)])
    })
}

fn customers(s: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    let segments: Vec<&str> = SEGMENTS.split(' ').collect();
    (1..=s.customers).try_for_each(|i| {
        let name = Value::varchar(&format!("Customer#{i:09}"));
        let segment = Value::varchar(pick(i, 5, &segments));
        each(&[int(i), name, int(random(i, 3, 25)), balance(i, 4), segment])
    })
}

fn parts(s: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    let colors: Vec<&str> = COLORS.split(' ').collect();
    (1..=s.parts).try_for_each(|i| {
        let name: Vec<&str> = (6..=10).map(|salt| pick(i, salt, &colors)).collect();
        let brand = format!("Brand#{}{}", 1 + random(i, 11, 5), 1 + random(i, 12, 5));
        each(&[
            int(i),
            Value::varchar(&name.join(" ")),
            Value::varchar(&brand),
            int(1 + random(i, 13, 50)),
            cents(retail(i)),
        ])
    })
}

fn part_suppliers(s: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    for part in 1..=s.parts {
        let mut suppliers: Vec<(u64, u64)> = (0..4).map(|k| (s.supplier_of(part, k), k)).collect();
        suppliers.sort_unstable();
        for (supplier, k) in suppliers {
            let i = part * 4 + k;
            let cost = cents(100 + random(i, 15, 99_901) as i64);
            each(&[int(part), int(supplier), int(1 + random(i, 14, 9999)), cost])?;
        }
    }
    Ok(())
}

/// A line of an order.
struct Line {
    hash: u64,
    part: u64,
    quantity: i64,
    /// In cents.
    price: i64,
    /// In hundredths.
    discount: i64,
    tax: i64,
    ship: i32,
}

fn order_date(order: u64) -> i32 {
    D1992_01_01 + random(order, 29, ORDER_DAYS) as i32
}

fn lines(s: &Scale, order: u64) -> impl Iterator<Item = Line> {
    let (parts, date) = (s.parts, order_date(order));
    (1..=1 + random(order, 30, 7)).map(move |number| {
        let hash = order * 8 + number;
        let part = 1 + random(hash, 20, parts);
        let quantity = 1 + random(hash, 22, 50) as i64;
        Line {
            hash,
            part,
            quantity,
            price: retail(part) * quantity,
            discount: random(hash, 23, 11) as i64,
            tax: random(hash, 24, 9) as i64,
            ship: date + 1 + random(hash, 25, 121) as i32,
        }
    })
}

fn orders(s: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    let words: Vec<&str> = WORDS.split(' ').collect();
    for i in 1..=s.orders {
        let (mut total, mut last) = (0, 0);
        for line in lines(s, i) {
            total += line.price * (100 - line.discount) * (100 + line.tax);
            last = last.max(line.ship);
        }
        let date = order_date(i);
        let status = match date {
            _ if last <= D1995_06_17 => "F",
            _ if date > D1995_08_01 => "O",
            _ => "P",
        };
        let word = |salt| pick(i, salt, &words);
        let special = match random(i, 38, 100) {
            0 => format!("special {} requests ", word(39)),
            _ => String::new(),
        };
        let (a, b, c, d, e) = (word(36), word(37), word(40), word(41), word(42));
        each(&[
            int(i),
            int(1 + 3 * (random(i, 33, s.customers) / 3) + random(i, 34, 2)),
            Value::varchar(status),
            cents((total + 5000) / 10_000),
            Value::Date(date),
            Value::varchar(pick(i, 35, &PRIORITIES)),
            Value::Int(0),
            Value::varchar(&format!("{a} {b} {special}{c} {d} {e}")),
        ])?;
    }
    Ok(())
}

fn line_items(s: &Scale, each: RowConsumer<'_>) -> Outcome<()> {
    for order in 1..=s.orders {
        let date = order_date(order);
        for (number, line) in lines(s, order).enumerate() {
            let h = line.hash;
            let receipt = line.ship + 1 + random(h, 27, 30) as i32;
            let returned = match (receipt <= D1995_06_17, random(h, 28, 2)) {
                (false, _) => "N",
                (true, 0) => "R",
                (true, _) => "A",
            };
            each(&[
                int(order),
                int(line.part),
                int(s.supplier_of(line.part, random(h, 21, 4))),
                int(number as u64 + 1),
                cents(line.quantity * 100),
                cents(line.price),
                cents(line.discount),
                cents(line.tax),
                Value::varchar(returned),
                Value::varchar(if line.ship > D1995_06_17 { "O" } else { "F" }),
                Value::Date(line.ship),
                Value::Date(date + 30 + random(h, 26, 61) as i32),
                Value::Date(receipt),
                Value::varchar(pick(h, 31, &INSTRUCTIONS)),
                Value::varchar(pick(h, 32, &MODES)),
            ])?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Days are counted as SQL Server does, and a scale has the rows that it is to have.
    #[test]
    fn dates_and_counts_are_those_of_tpc_h() {
        assert_eq!(Value::Date(D1992_01_01).to_string(), "1992-01-01");
        assert_eq!(Value::Date(D1995_06_17).to_string(), "1995-06-17");
        assert_eq!(Value::Date(D1995_08_01).to_string(), "1995-08-01");
        let mut counts = Vec::new();
        for table in &TABLES {
            let mut rows = 0_u64;
            let count = &mut |row: &[Value]| {
                assert_eq!(row.len(), table.columns.len(), "{}", table.name);
                rows += 1;
                Ok(())
            };
            table.rows(0.01, count).expect("nothing can fail");
            counts.push(rows);
        }
        assert_eq!(counts[..7], [5, 25, 100, 1500, 2000, 8000, 15_000]);
        assert!((59_000..61_000).contains(&counts[7]), "{} line items", counts[7]);
    }
}
