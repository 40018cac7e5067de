//! One way to reach a table's rows: an index, the ranges its key allows, what it costs.
//!
//! ```text
//!   a = 1 AND b > 5                      one range
//!   a IN (1, 2) AND b IN (3, 4)          a point for each pair
//!   a IN (1, 2) AND b BETWEEN 3 AND 9    a range behind each value
//!   a < 5 OR a > 9 AND b = 1             the ranges of each part
//! ```
//! Ranges may repeat and overlap, also by values that are known at run time alone: whoever opens a
//! seek unites them (`plan::Seek`), so that rows come once and in the order of the key.

use crate::convert::Optimizer;
use crate::cost::{Cost, Prices, Reach};
use crate::estimate::Estimator;
use crate::node::{FixedSlots, Node, OrderFallback, Wish, follows};
use crate::sarg::{Ask, Sarg};
use catalog::view::{HobtLayout, Index, PhysicalColumn, Table};
use plan::{Bound, Predicate, Scalar, Seek, SeekRange, Slot, SortKey};
use types::{Collation, Family, SqlType};

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
    pub(crate) fixed: FixedSlots,
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

/// Ranges that are sought by values of several columns, or for parts of an OR.
const SEEKS_MAX: usize = 256;
/// The same where FORCESEEK names the columns.
const FORCED_SEEKS_MAX: usize = 65_536;

/// One part of an OR.
pub(crate) struct Part {
    /// Its conditions.
    pub(crate) conditions: Vec<Predicate>,
    /// Those that can be sought, by position behind all conditions of the offer.
    pub(crate) sargs: Vec<(usize, Sarg)>,
}

/// What the conditions on a table offer to its indexes.
pub(crate) struct Offer<'o> {
    /// Search arguments with the position of their condition.
    pub(crate) sargs: &'o [(usize, Sarg)],
    /// Conditions (by position) that are ORs whose parts may be sought.
    pub(crate) ors: &'o [(usize, Vec<Part>)],
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
    /// Key columns that FORCESEEK asks for.
    pub(crate) forced: usize,
}

/// What was found for the key.
#[derive(Default)]
struct KeyMatch {
    /// What each of the first columns may equal, and whether NULL is meant.
    equal: Vec<Vec<(Scalar, bool)>>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    implied: Vec<usize>,
    /// Conditions that bounds were made of.
    used: Vec<usize>,
}

impl KeyMatch {
    fn has_range(&self) -> bool {
        self.lower.is_some() || self.upper.is_some()
    }

    /// How many of the key's columns are sought.
    fn columns(&self) -> usize {
        self.equal.len() + usize::from(self.has_range())
    }

    fn seeks(&self) -> usize {
        self.equal.iter().map(Vec::len).product()
    }

    /// Columns that have several values.
    fn lists(&self) -> usize {
        self.equal.iter().filter(|values| values.len() > 1).count()
    }
}

/// What was found for all conditions, or for the parts of an OR.
struct Sides<'o> {
    all: Vec<KeyMatch>,
    /// The OR and its parts.
    or: Option<&'o (usize, Vec<Part>)>,
}

impl Sides<'_> {
    /// Conditions that hold wherever a range lies.
    fn implied(&self, offer: &Offer<'_>) -> Vec<usize> {
        let (first, rest) = self.all.split_first().expect("something was found");
        let everywhere = |n: &&usize| rest.iter().all(|found| found.implied.contains(n));
        let given = offer.conditions.len() + offer.above.len();
        let shared = first.implied.iter().filter(|n| **n < given).filter(everywhere);
        let mut implied: Vec<usize> = shared.copied().collect();
        if let Some((at, parts)) = self.or {
            let whole = |(found, part): (&KeyMatch, &Part)| {
                (0..part.conditions.len()).all(|n| found.implied.contains(&(given + n)))
            };
            implied.extend(self.all.iter().zip(parts).all(whole).then_some(*at));
        }
        implied
    }

    /// Rows in all ranges.
    fn reached(&self, offer: &Offer<'_>, table_rows: f64) -> f64 {
        let given = || offer.conditions.iter().chain(offer.above);
        let rows = |(n, found): (usize, &KeyMatch)| {
            let own = self.or.iter().flat_map(|(_, parts)| &parts[n].conditions);
            let all: Vec<&Predicate> = given().chain(own).collect();
            let used: Vec<&Predicate> =
                found.used.iter().filter_map(|&n| all.get(n).copied()).collect();
            table_rows * offer.estimator.all(&used)
        };
        self.all.iter().enumerate().map(rows).sum::<f64>().min(table_rows)
    }

    /// Every range is one value of a whole unique key.
    fn are_points(&self, index: &Index, layout: &HobtLayout) -> bool {
        let point = |found: &KeyMatch| {
            layout.key.len() == found.equal.len()
                || (index.unique && index.key.len() == found.equal.len())
        };
        !layout.key.is_empty() && self.all.iter().all(point)
    }

    fn seeks(&self) -> usize {
        self.all.iter().map(KeyMatch::seeks).sum()
    }

    /// A column of the key has one value in all ranges.
    fn is_fixed(&self, n: usize) -> bool {
        let value = |found: &KeyMatch| match found.equal.get(n).map(Vec::as_slice) {
            Some([(x, null)]) => Some((x.clone(), *null)),
            _ => None,
        };
        let first = value(&self.all[0]);
        first.is_some() && self.all[1..].iter().all(|found| value(found) == first)
    }
}

impl<'t> Path<'t> {
    /// The ways through one index: by fewer and by more lists of values, by the parts of ORs.
    pub(crate) fn ways(table: &'t Table, position: usize, offer: &Offer<'_>) -> Vec<Path<'t>> {
        let layout = table.hobt_layout(&table.indexes[position]);
        let by = |lists| search(table, &layout, offer, [&[], offer.sargs], lists);
        let most = by(usize::MAX);
        let made = |all, or| Path::new(table, position, offer, layout.clone(), Sides { all, or });
        let fewer = (1..most.lists()).map(|n| made(vec![by(n)], None));
        let mut ways: Vec<Path<'t>> = fewer.collect();
        ways.push(made(vec![most], None));
        for or in offer.ors {
            let own = |part: &Part| {
                let found = search(table, &layout, offer, [&part.sargs, offer.sargs], 1);
                (found.columns() > 0).then_some(found)
            };
            let Some(all) = or.1.iter().map(own).collect::<Option<Vec<KeyMatch>>>() else {
                continue;
            };
            if all.iter().map(KeyMatch::seeks).sum::<usize>() <= SEEKS_MAX {
                ways.push(made(all, Some(or)));
            }
        }
        ways
    }

    fn new(
        table: &'t Table,
        position: usize,
        offer: &Offer<'_>,
        layout: HobtLayout,
        sides: Sides<'_>,
    ) -> Path<'t> {
        let index = &table.indexes[position];
        let covering = (position == 0 || !offer.target)
            && offer.needed.iter().all(|&c| layout.position(PhysicalColumn::Column(c)).is_some());
        let most = sides.are_points(index, &layout).then(|| sides.seeks());
        let (order, fixed) = key_order(table, &layout, &sides, offer);
        let table_rows = offer.estimator.table_rows(table);
        let reached = sides.reached(offer, table_rows);
        let mut path = Path {
            position,
            index,
            covering,
            seek: None,
            implied: sides.implied(offer),
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
        path.seek = seek_of(table, &path.layout, sides.all, most == Some(1));
        let most = most.map_or(f64::INFINITY, |n| n as f64);
        path.estimate(
            table,
            offer,
            if path.seek.is_some() { reached.min(most) } else { table_rows },
        );
        path
    }

    /// `reached`: rows in the ranges.
    fn estimate(&mut self, table: &Table, offer: &Offer<'_>, reached: f64) {
        let table_rows = offer.estimator.table_rows(table);
        let size = offer.estimator.size(table, self.index);
        let unique = self.seek.as_ref().is_some_and(|s| s.unique);
        self.rows = (table_rows * offer.part).min(reached);
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
        self.found = self.rows;
        if !self.covering {
            let known = |n: &usize| offer.conditions.get(*n);
            let known: Vec<&Predicate> = decided.iter().filter_map(known).collect();
            let found = (table_rows * offer.estimator.all(&known)).min(reached);
            self.found = found.max(self.rows);
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
pub(crate) fn unordered(prices: Prices, otherwise: OrderFallback, rows: f64, width: f64) -> f64 {
    match otherwise {
        OrderFallback::Sort => prices.sort(rows, width).sum(),
        OrderFallback::TopSort(kept) => prices.top_sort(rows, kept, width).sum(),
        OrderFallback::Hash => {
            let groups = rows.powf(0.75);
            let hashed = prices.hash_groups(rows, groups, width).sum();
            (hashed - prices.stream_groups(rows).sum()).max(0.0)
        }
    }
}

/// Walks the key from its first column: equalities and up to so many lists, then at most one range.
/// What is offered first is preferred.
fn search(
    table: &Table,
    layout: &HobtLayout,
    offer: &Offer<'_>,
    sargs: [&[(usize, Sarg)]; 2],
    lists: usize,
) -> KeyMatch {
    let mut found = KeyMatch::default();
    for part in &layout.key {
        let PhysicalColumn::Column(column) = layout.columns[part.field] else { break };
        let Some(slot) = (offer.slot)(column) else { break };
        let asked: Vec<&(usize, Sarg)> =
            sargs.into_iter().flatten().filter(|(_, s)| s.slot == slot).collect();
        let forced = found.equal.len() < offer.forced;
        let most = if forced { FORCED_SEEKS_MAX } else { SEEKS_MAX };
        if !points(&mut found, &asked, lists, most) {
            range(&mut found, &asked, table.columns[column].nullable, part.descending);
            break;
        }
    }
    found
}

fn implied(found: &mut KeyMatch, at: usize, sarg: &Sarg) {
    found.used.push(at);
    if sarg.exact {
        found.implied.push(at);
    }
}

/// The values that a column may equal, where somebody says so: the fewest.
fn points(found: &mut KeyMatch, asked: &[&(usize, Sarg)], lists: usize, most: usize) -> bool {
    let count = |sarg: &Sarg| match &sarg.ask {
        Ask::Equal(_) | Ask::Null => Some(1),
        Ask::Any(list) => Some(list.len()),
        _ => None,
    };
    let counted = asked.iter().filter_map(|(at, sarg)| Some((count(sarg)?, *at, sarg)));
    let Some((many, at, sarg)) = counted.min_by_key(|(many, ..)| *many) else { return false };
    let seeks = found.seeks();
    if many > 1 && (found.lists() >= lists || seeks > 1 && seeks.saturating_mul(many) > most) {
        return false;
    }
    found.equal.push(match &sarg.ask {
        Ask::Equal(x) => vec![(x.clone(), false)],
        Ask::Any(list) => list.clone(),
        _ => vec![(Scalar::null(SqlType::Int), true)],
    });
    implied(found, at, sarg);
    true
}

/// Bounds of a column: the first of each end; further ones stay conditions.
fn range(found: &mut KeyMatch, asked: &[&(usize, Sarg)], nullable: bool, descending: bool) {
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

fn seek_of(table: &Table, layout: &HobtLayout, all: Vec<KeyMatch>, unique: bool) -> Option<Seek> {
    let columns = all.iter().map(KeyMatch::columns).max().filter(|&n| n > 0)?;
    let keys = layout.key[..columns].iter();
    let collation = |part: PhysicalColumn| match part {
        PhysicalColumn::Column(n) => table.columns[n].collation,
        _ => Collation::default(),
    };
    let parts = keys.clone().map(|k| layout.columns[k.field]);
    Some(Seek {
        types: parts.clone().map(|part| bound_type(table.physical_type(part).0)).collect(),
        descending: keys.map(|k| k.descending).collect(),
        collations: parts.map(collation).collect(),
        ranges: all.into_iter().flat_map(ranges).collect(),
        unique,
    })
}

/// Text and bytes are compared at any length.
fn bound_type(sql_type: SqlType) -> SqlType {
    match sql_type.family() {
        Family::Char => SqlType::VARCHAR_MAX,
        Family::NChar => SqlType::NVARCHAR_MAX,
        Family::Binary => SqlType::VARBINARY_MAX,
        _ => sql_type,
    }
}

/// A range for each combination of values.
fn ranges(found: KeyMatch) -> Vec<SeekRange> {
    let KeyMatch { equal, lower, upper, .. } = found;
    let base = SeekRange { equal: Vec::new(), null_matches: Vec::new(), lower, upper };
    equal.into_iter().fold(vec![base], |ranges, values| {
        let each = ranges.iter().flat_map(|range| values.iter().map(move |x| point(range, x)));
        each.collect()
    })
}

/// One value of a list.
fn point(base: &SeekRange, (value, null_matches): &(Scalar, bool)) -> SeekRange {
    let mut range = base.clone();
    range.equal.push(value.clone());
    range.null_matches.push(*null_matches);
    range
}

/// The order of the key, and which slots of it are equal in all rows.
fn key_order(
    table: &Table,
    layout: &HobtLayout,
    sides: &Sides<'_>,
    offer: &Offer<'_>,
) -> (Vec<SortKey>, FixedSlots) {
    let mut order = Vec::new();
    let mut fixed = FixedSlots::new();
    for (n, part) in layout.key.iter().enumerate() {
        let PhysicalColumn::Column(column) = layout.columns[part.field] else { break };
        let Some(slot) = (offer.slot)(column) else { break };
        let collation = table.columns[column].collation;
        if sides.is_fixed(n) {
            let text = table.columns[column].sql_type.is_character();
            fixed.insert(slot, text.then_some(collation));
        }
        order.push(SortKey { slot, collation, descending: part.descending });
    }
    (order, fixed)
}
