//! The data: twelve tables of a chain of shops, what refers to what, and conditions on each.

use crate::ground::program::{FinishedRun, Ground, finish};
use checks::Outcome;
use std::fs;
use std::path::Path;
use std::time::Duration;

const LOADED_AT_MOST: Duration = Duration::from_secs(900);
const RUN_AT_MOST: Duration = Duration::from_secs(5400);

/// Loads it into a new folder.
pub(crate) fn load(ground: &Ground<'_>, work: &Path, data: &Path) -> Outcome<()> {
    let command = ground.sql(data, &["query/6_data.sql"])?;
    let finished = finish(command, &work.join("load.log"), LOADED_AT_MOST)?;
    if finished.succeeded { Ok(()) } else { Err(finished.output) }
}

/// Runs a text in the database.
pub(crate) fn run(
    ground: &Ground<'_>,
    (work, data): (&Path, &Path),
    name: &str,
    text: &str,
) -> Outcome<FinishedRun> {
    let script = work.join(format!("{name}.sql"));
    fs::write(&script, format!("USE Shops;\nGO\n{text}")).map_err(|e| format!("write: {e}"))?;
    let mut command = ground.sql(data, &[])?;
    command.arg(&script).args(["--max-memory", "1GB"]);
    let finished = finish(command, &work.join(format!("{name}.log")), RUN_AT_MOST)?;
    if finished.succeeded { Ok(finished) } else { Err(finished.output) }
}

/// A reference: a table's column, and the table whose `id` it holds.
pub(crate) struct Reference {
    pub(crate) from: &'static str,
    pub(crate) column: &'static str,
    pub(crate) to: &'static str,
}

const fn refers(from: &'static str, column: &'static str, to: &'static str) -> Reference {
    Reference { from, column, to }
}

pub(crate) const REFERENCES: [Reference; 14] = [
    refers("City", "country_id", "Country"),
    refers("Customer", "city_id", "City"),
    refers("Shop", "city_id", "City"),
    refers("Brand", "country_id", "Country"),
    refers("Product", "brand_id", "Brand"),
    refers("Product", "category_id", "Category"),
    refers("Employee", "shop_id", "Shop"),
    refers("Purchase", "customer_id", "Customer"),
    refers("Purchase", "shop_id", "Shop"),
    refers("Purchase", "employee_id", "Employee"),
    refers("Line", "purchase_id", "Purchase"),
    refers("Line", "product_id", "Product"),
    refers("Payment", "purchase_id", "Purchase"),
    refers("Review", "product_id", "Product"),
];

/// Conditions on one table; `?` is its name there.
pub(crate) const CONDITIONS: [(&str, &str); 64] = [
    ("Country", "?.zone = 2"),
    ("Country", "?.zone IN (0, 4)"),
    ("City", "?.country_id = 1"),
    ("City", "?.country_id = 60"),
    ("City", "?.country_id BETWEEN 20 AND 30"),
    ("City", "?.people > 20000"),
    ("City", "?.people < 1500"),
    ("City", "?.name LIKE 'C%'"),
    ("City", "?.name LIKE '%99%'"),
    ("City", "?.country_id = 2 AND ?.people > 5000"),
    ("Customer", "?.city_id = 1"),
    ("Customer", "?.city_id = 1234"),
    ("Customer", "?.city_id < 50"),
    ("Customer", "?.segment = 0"),
    ("Customer", "?.segment = 4"),
    ("Customer", "?.segment <> 0"),
    ("Customer", "?.born < '19500101'"),
    ("Customer", "?.born >= '19700101' AND ?.born < '19710101'"),
    ("Customer", "?.rating IS NULL"),
    ("Customer", "?.rating = 9"),
    ("Customer", "?.rating IN (1, 2, 3)"),
    ("Customer", "?.name LIKE 'B%'"),
    ("Customer", "?.name LIKE 'Zc%'"),
    ("Customer", "?.segment = 1 AND ?.born > '19800101'"),
    ("Customer", "?.segment = 3 OR ?.rating = 5"),
    ("Shop", "?.area > 4500"),
    ("Shop", "?.city_id < 20"),
    ("Brand", "?.country_id = 1"),
    ("Category", "?.branch = 3"),
    ("Product", "?.brand_id = 1"),
    ("Product", "?.brand_id = 250"),
    ("Product", "?.category_id = 1"),
    ("Product", "?.category_id = 50"),
    ("Product", "?.price < 5"),
    ("Product", "?.price BETWEEN 100 AND 200"),
    ("Product", "?.weight IS NULL"),
    ("Product", "?.weight > 30"),
    ("Product", "?.brand_id = 2 AND ?.price > 50"),
    ("Employee", "?.role = 0"),
    ("Employee", "?.role >= 6"),
    ("Purchase", "?.customer_id = 1"),
    ("Purchase", "?.customer_id = 30000"),
    ("Purchase", "?.customer_id < 100"),
    ("Purchase", "?.shop_id = 1"),
    ("Purchase", "?.shop_id = 400"),
    ("Purchase", "?.placed = '20230101'"),
    ("Purchase", "?.placed < '20190101'"),
    ("Purchase", "?.placed >= '20220101' AND ?.placed < '20220401'"),
    ("Purchase", "?.status = 'A'"),
    ("Purchase", "?.status = 'F'"),
    ("Purchase", "?.status IN ('C', 'D')"),
    ("Purchase", "?.status = 'B' AND ?.shop_id < 50"),
    ("Purchase", "NOT ?.status = 'A'"),
    ("Line", "?.quantity = 7"),
    ("Line", "?.quantity > 45"),
    ("Line", "?.discount = 0"),
    ("Line", "?.discount = 10"),
    ("Line", "?.product_id = 1"),
    ("Line", "?.product_id > 9000"),
    ("Line", "?.quantity < 10 AND ?.discount > 8"),
    ("Payment", "?.kind = 3"),
    ("Payment", "?.amount > 850"),
    ("Payment", "?.kind = 1 AND ?.amount < 100"),
    ("Review", "?.stars = 1"),
];

/// The same numbers in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((self.0 >> 33) % n.max(1) as u64) as usize
    }
}

/// A join along references: tables in the order of a walk, each with how it refers to one before.
pub(crate) struct Walk {
    pub(crate) tables: Vec<&'static str>,
    /// Positions in [`REFERENCES`].
    pub(crate) edges: Vec<usize>,
    pub(crate) conditions: Vec<String>,
}

impl Walk {
    /// Of so many tables, each table once; what would multiply (two tables that both refer to a
    /// third) is left to purchases with their lines and payments.
    pub(crate) fn draw(dice: &mut Dice, size: usize) -> Walk {
        loop {
            let start = &REFERENCES[dice.below(REFERENCES.len())];
            let mut walk =
                Walk { tables: vec![start.from], edges: Vec::new(), conditions: Vec::new() };
            for _ in 0..200 {
                if walk.tables.len() == size {
                    walk.draw_conditions(dice);
                    return walk;
                }
                walk.extend(dice.below(REFERENCES.len()));
            }
        }
    }

    fn extend(&mut self, edge: usize) {
        let r = &REFERENCES[edge];
        let has = |table: &str| self.tables.contains(&table);
        let multiplies =
            has(r.to) && self.edges.iter().any(|&e| REFERENCES[e].to == r.to) && r.to != "Purchase";
        match (has(r.from), has(r.to)) {
            (true, false) => self.tables.push(r.to),
            (false, true) if !multiplies => self.tables.push(r.from),
            _ => return,
        }
        self.edges.push(edge);
    }

    fn draw_conditions(&mut self, dice: &mut Dice) {
        for _ in 0..6 {
            let (table, condition) = CONDITIONS[dice.below(CONDITIONS.len())];
            let new = !self.conditions.iter().any(|c| c.contains(&format!("{table}.")));
            if new && self.tables.contains(&table) && self.conditions.len() < 3 {
                self.conditions.push(condition.replace('?', table));
            }
        }
        if self.conditions.is_empty() {
            let of = |t: &&(&str, &str)| self.tables.contains(&t.0);
            if let Some((table, condition)) = CONDITIONS.iter().rev().find(of) {
                self.conditions.push(condition.replace('?', table));
            }
        }
    }

    /// `FROM … JOIN … ON … WHERE …`, its tables in the given order.
    pub(crate) fn text(&self, order: &[&str]) -> String {
        let mut text = String::from("FROM ");
        let mut there: Vec<&str> = Vec::new();
        for table in order {
            let on = self.edges.iter().map(|&e| &REFERENCES[e]).find(|r| {
                (r.from == *table && there.contains(&r.to))
                    || (r.to == *table && there.contains(&r.from))
            });
            match on {
                Some(r) => {
                    text += &format!(" JOIN {table} ON {}.{} = {}.id", r.from, r.column, r.to);
                }
                None => text += table,
            }
            there.push(table);
        }
        if !self.conditions.is_empty() {
            text += " WHERE ";
            text += &self.conditions.join(" AND ");
        }
        text
    }

    /// An order in which each table is tied to one before it.
    pub(crate) fn shuffled(&self, dice: &mut Dice) -> Vec<&'static str> {
        let mut order = vec![self.tables[dice.below(self.tables.len())]];
        while order.len() < self.tables.len() {
            let edge = &REFERENCES[self.edges[dice.below(self.edges.len())]];
            match (order.contains(&edge.from), order.contains(&edge.to)) {
                (true, false) => order.push(edge.to),
                (false, true) => order.push(edge.from),
                _ => {}
            }
        }
        order
    }
}
