//! One way to reach a table's rows: an index, the range its key allows, what it costs.

use crate::convert::Optimizer;
use crate::cost::{Cost, Prices, Reach};
use crate::estimate::Estimator;
use crate::node::{Fixed, Node, Otherwise, Wish, follows};
use crate::sarg::{Ask, Sarg};
use catalog::view::{HobtLayout, Index, PhysicalColumn, Table};
use plan::{Bound, Predicate, Scalar, Seek, SeekRange, Slot, SortKey};
use types::{Family, SqlType};

/// A way to a table's rows.
pub(crate) struct Path<'t> {
    /// Position among the table's indexes.
    pub(crate) position: usize,
    pub(crate) index: &'t Index,
    pub(crate) layout: HobtLayout,
    pub(crate) seek: Option<Seek>,
    /// Conditions (by position) that the seek implies.
    pub(crate) implied: Vec<usize>,
    /// Every column that is needed is in the index.
    pub(crate) covering: bool,
    pub(crate) order: Vec<SortKey>,
    pub(crate) fixed: Fixed,
    pub(crate) backward: bool,
    /// The wanted order is met.
    pub(crate) ordered: bool,
    /// Rows that satisfy all conditions.
    pub(crate) rows: f64,
    /// Rows that satisfy those which the index's columns decide.
    pub(crate) found: f64,
    /// What reading the index costs, and then the rows themselves.
    pub(crate) reading: Cost,
    pub(crate) fetching: Cost,
    /// With what it takes to bring rows into the wanted order, for the rows that are wanted.
    pub(crate) price: f64,
}

/// What the conditions on a table offer to its indexes.
pub(crate) struct Offer<'o> {
    /// Search arguments with the position of their condition.
    pub(crate) sargs: &'o [(usize, Sarg)],
    /// All conditions.
    pub(crate) conditions: &'o [Predicate],
    /// Those that run subqueries, which are tested above.
    pub(crate) above: &'o [Predicate],
    /// Conditions (by position) whose columns an index has.
    pub(crate) decided: &'o dyn Fn(&HobtLayout) -> Vec<usize>,
    /// The slot of a column, if it is read.
    pub(crate) slot: &'o dyn Fn(usize) -> Option<Slot>,
    /// Ordinals of the columns that are needed.
    pub(crate) needed: &'o [usize],
    /// What somebody above would like.
    pub(crate) wish: Wish<'o>,
    pub(crate) estimator: &'o Estimator<'o>,
    pub(crate) prices: Prices,
    /// The part of rows that all conditions keep.
    pub(crate) part: f64,
    pub(crate) width: f64,
    /// Rows are to be changed where they are: an index alone never suffices.
    pub(crate) target: bool,
}

/// What equality and ranges were found for the key.
#[derive(Default)]
struct Found {
    equal: Vec<Scalar>,
    nulls: Vec<bool>,
    any: Option<Vec<(Scalar, bool)>>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    implied: Vec<usize>,
    /// Conditions that bounds were made of.
    used: Vec<usize>,
}

impl<'t> Path<'t> {
    /// The way through one index.
    pub(crate) fn new(table: &'t Table, position: usize, offer: &Offer<'_>) -> Path<'t> {
        let index = &table.indexes[position];
        let layout = table.hobt_layout(index);
        let found = search(table, &layout, offer);
        let covering = (position == 0 || !offer.target)
            && offer.needed.iter().all(|&c| layout.position(PhysicalColumn::Column(c)).is_some());
        let whole_key = layout.key.len() == found.equal.len()
            || (index.unique && index.key.len() == found.equal.len());
        let unique = !layout.key.is_empty() && whole_key && found.any.is_none();
        let (order, fixed) = key_order(table, &layout, &found, offer);
        let mut path = Path {
            position,
            index,
            covering,
            seek: None,
            implied: found.implied.clone(),
            order,
            fixed,
            backward: false,
            ordered: false,
            rows: 0.0,
            found: 0.0,
            reading: Cost::default(),
            fetching: Cost::default(),
            price: 0.0,
            layout,
        };
        let used = found.used.clone();
        path.seek = seek_of(table, &path.layout, found, unique);
        path.estimate(table, offer, &used);
        path
    }

    fn estimate(&mut self, table: &Table, offer: &Offer<'_>, used: &[usize]) {
        let table_rows = offer.estimator.table_rows(table);
        let size = offer.estimator.size(table, self.index);
        let unique = self.seek.as_ref().is_some_and(|s| s.unique);
        let rows_of = |conditions: &[usize]| {
            let all = |n: &usize| offer.conditions.iter().chain(offer.above).nth(*n);
            let list: Vec<&Predicate> = conditions.iter().filter_map(all).collect();
            let rows = table_rows * offer.estimator.all(&list);
            if unique { rows.min(1.0) } else { rows }
        };
        self.rows = table_rows * offer.part;
        if unique {
            self.rows = self.rows.min(1.0);
        }
        let reached = if self.seek.is_some() { rows_of(used) } else { table_rows };
        self.rows = self.rows.min(reached);
        let decided = (offer.decided)(&self.layout);
        let tests = decided.iter().filter(|n| !self.implied.contains(n)).count();
        self.reading = match &self.seek {
            None => offer.prices.scan(size.rows.min(table_rows), size.pages, tests),
            Some(seek) => {
                let ranges = seek.ranges.len() as f64;
                let (table_rows, table_pages) = (size.rows, size.pages);
                let reach = Reach { ranges, rows: reached, table_rows, table_pages };
                offer.prices.seek(reach, tests)
            }
        };
        if self.position == 0 {
            // Of two that are equally large the narrower one is read.
            self.reading.cpu *= 1.02;
        }
        self.found = if self.covering { self.rows } else { rows_of(&decided).min(reached) };
        self.found = self.found.max(self.rows);
        if !self.covering {
            let base = offer.estimator.size(table, table.base());
            let tests = offer.conditions.len() - decided.len();
            self.fetching = offer.prices.lookup(self.found, base.pages, tests);
        }
        self.meet_order(offer.wish.order, unique);
        self.price = self.priced(offer);
    }

    /// Microseconds for the rows that are wanted, in order.
    fn priced(&self, offer: &Offer<'_>) -> f64 {
        let own = self.reading.sum() + self.fetching.sum();
        if offer.wish.order.is_empty() || self.ordered {
            return own * offer.wish.share(self.rows);
        }
        own + unordered(offer.prices, offer.wish.otherwise, self.rows, offer.width)
    }

    /// Whether the path gives the wanted order, perhaps backwards.
    fn meet_order(&mut self, wanted: &[SortKey], unique: bool) {
        if wanted.is_empty() {
            return;
        }
        if unique || follows(&self.order, &self.fixed, wanted) {
            self.ordered = true;
            return;
        }
        let reversed: Vec<SortKey> =
            self.order.iter().map(|k| SortKey { descending: !k.descending, ..*k }).collect();
        if follows(&reversed, &self.fixed, wanted) {
            self.order = reversed;
            self.backward = true;
            self.ordered = true;
        }
    }
}

impl Optimizer<'_> {
    /// Microseconds for the rows of a node that are wanted, in order.
    pub(crate) fn priced(&self, node: &Node, wish: Wish<'_>) -> f64 {
        if node.ordered_by(wish.order) {
            return node.partly(wish.share(node.rows));
        }
        node.total + unordered(self.prices, wish.otherwise, node.rows, node.width)
    }
}

/// What it takes to make up for an order that rows don't have.
pub(crate) fn unordered(prices: Prices, otherwise: Otherwise, rows: f64, width: f64) -> f64 {
    match otherwise {
        Otherwise::Sort => prices.sort(rows, width).sum(),
        Otherwise::TopSort(kept) => prices.top_sort(rows, kept, width).sum(),
        Otherwise::Hash => {
            let groups = rows.powf(0.75);
            let hashed = prices.hash_groups(rows, groups, width).sum();
            (hashed - prices.stream_groups(rows).sum()).max(0.0)
        }
    }
}

/// Walks the key from its first column: equalities, then at most one range or list.
fn search(table: &Table, layout: &HobtLayout, offer: &Offer<'_>) -> Found {
    let mut found = Found::default();
    for part in &layout.key {
        let PhysicalColumn::Column(column) = layout.columns[part.field] else { break };
        let Some(slot) = (offer.slot)(column) else { break };
        let asked: Vec<&(usize, Sarg)> =
            offer.sargs.iter().filter(|(_, s)| s.slot == slot).collect();
        if equality(&mut found, &asked) {
            continue;
        }
        if !list(&mut found, &asked) {
            range(&mut found, &asked, table.columns[column].nullable, part.descending);
        }
        break;
    }
    found
}

fn implied(found: &mut Found, at: usize, sarg: &Sarg) {
    found.used.push(at);
    if sarg.exact {
        found.implied.push(at);
    }
}

fn equality(found: &mut Found, asked: &[&(usize, Sarg)]) -> bool {
    for (at, sarg) in asked {
        let value = match &sarg.ask {
            Ask::Equal(x) => x.clone(),
            Ask::Null => Scalar::null(SqlType::Int),
            _ => continue,
        };
        found.equal.push(value);
        found.nulls.push(sarg.ask == Ask::Null);
        implied(found, *at, sarg);
        return true;
    }
    false
}

fn list(found: &mut Found, asked: &[&(usize, Sarg)]) -> bool {
    for (at, sarg) in asked {
        if let Ask::Any(values) = &sarg.ask {
            found.any = Some(values.clone());
            implied(found, *at, sarg);
            return true;
        }
    }
    false
}

/// Bounds of a column: the first of each end; further ones stay conditions.
fn range(found: &mut Found, asked: &[&(usize, Sarg)], nullable: bool, descending: bool) {
    let (mut low, mut high) = (None, None);
    for (at, sarg) in asked {
        match &sarg.ask {
            Ask::Lower(b) if low.is_none() => low = Some(b.clone()),
            Ask::Upper(b) if high.is_none() => high = Some(b.clone()),
            Ask::Between(from, to) if low.is_none() && high.is_none() => {
                low = Some(from.clone());
                high.clone_from(to);
            }
            _ => continue,
        }
        implied(found, *at, sarg);
    }
    let mut any = low.is_some() || high.is_some();
    for (at, sarg) in asked {
        if nullable && sarg.ask == Ask::NotNull {
            any = true;
            implied(found, *at, sarg);
        }
    }
    if low.is_none() && any && nullable {
        // NULL is the least key, and less than nothing.
        let value = Scalar::null(high.as_ref().map_or(SqlType::Int, |b| b.value.ty.sql_type));
        low = Some(Bound { value, inclusive: false, after_null: true, unless_null: false });
    }
    (found.lower, found.upper) = if descending { (high, low) } else { (low, high) };
}

fn seek_of(table: &Table, layout: &HobtLayout, found: Found, unique: bool) -> Option<Seek> {
    let ranged = found.lower.is_some() || found.upper.is_some() || found.any.is_some();
    if found.equal.is_empty() && !ranged {
        return None;
    }
    let columns = found.equal.len() + usize::from(ranged);
    let bound_type = |k: &catalog::view::KeyField| {
        let (sql_type, _) = table.physical_type(layout.columns[k.field]);
        // Text and bytes are compared at any length.
        match sql_type.family() {
            Family::Char => SqlType::VARCHAR_MAX,
            Family::NChar => SqlType::NVARCHAR_MAX,
            Family::Binary => SqlType::VARBINARY_MAX,
            _ => sql_type,
        }
    };
    let keys = &layout.key[..columns];
    let base = SeekRange {
        equal: found.equal,
        null_matches: found.nulls,
        lower: found.lower,
        upper: found.upper,
    };
    let ranges = match found.any {
        None => vec![base],
        Some(values) => values.into_iter().map(|x| point(&base, x)).collect(),
    };
    Some(Seek {
        types: keys.iter().map(bound_type).collect(),
        descending: keys.iter().map(|k| k.descending).collect(),
        ranges,
        unique,
    })
}

/// One value of a list.
fn point(base: &SeekRange, (value, null_matches): (Scalar, bool)) -> SeekRange {
    let mut range = base.clone();
    range.equal.push(value);
    range.null_matches.push(null_matches);
    range
}

/// The order of the key, and which slots of it are equal in all rows.
fn key_order(
    table: &Table,
    layout: &HobtLayout,
    found: &Found,
    offer: &Offer<'_>,
) -> (Vec<SortKey>, Fixed) {
    let mut order = Vec::new();
    let mut fixed = Fixed::new();
    for (n, part) in layout.key.iter().enumerate() {
        let PhysicalColumn::Column(column) = layout.columns[part.field] else { break };
        let Some(slot) = (offer.slot)(column) else { break };
        let collation = table.columns[column].collation;
        if n < found.equal.len() {
            let text = table.columns[column].sql_type.is_character();
            fixed.insert(slot, text.then_some(collation));
        }
        order.push(SortKey { slot, collation, descending: part.descending });
    }
    (order, fixed)
}
