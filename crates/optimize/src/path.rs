//! One way to reach a table's rows: an index, the range its key allows, what it costs.

use crate::estimate;
use crate::node::{Slots, follows};
use crate::sarg::{Ask, Sarg};
use catalog::view::{HobtLayout, Index, PhysicalColumn, Table};
use plan::{Bound, Scalar, Seek, SeekRange, Slot, SortKey};
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
    pub(crate) fixed: Slots,
    pub(crate) backward: bool,
    /// The wanted order is met.
    pub(crate) ordered: bool,
    pub(crate) rows: f64,
    pub(crate) cost: f64,
}

/// What the conditions on a table offer to its indexes.
pub(crate) struct Offer<'o> {
    /// Search arguments with the position of their condition.
    pub(crate) sargs: &'o [(usize, Sarg)],
    /// How many conditions there are.
    pub(crate) conditions: usize,
    /// The slot of a column, if it is read.
    pub(crate) slot: &'o dyn Fn(usize) -> Option<Slot>,
    /// Ordinals of the columns that are needed.
    pub(crate) needed: &'o [usize],
    /// The order that somebody above would like.
    pub(crate) wanted: &'o [SortKey],
    /// Rows are to be changed where they are: an index alone never suffices.
    pub(crate) target: bool,
}

/// What equality and ranges were found for the key.
#[derive(Default)]
struct Found {
    equal: Vec<Scalar>,
    nulls: Vec<bool>,
    any: Option<Vec<Scalar>>,
    lower: Option<Bound>,
    upper: Option<Bound>,
    implied: Vec<usize>,
    part: f64,
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
            cost: 0.0,
            layout,
        };
        path.seek = seek_of(table, &path.layout, found, unique, &mut path.rows);
        path.price(offer);
        path
    }

    fn price(&mut self, offer: &Offer<'_>) {
        let entry = if self.position == 0 { 1.0 } else { estimate::ENTRY };
        let unique = self.seek.as_ref().is_some_and(|s| s.unique);
        let reached = match &self.seek {
            Some(_) if unique => 1.0,
            Some(_) => self.rows.max(1.0),
            None => estimate::TABLE_ROWS,
        };
        let ranges = self.seek.as_ref().map_or(0, |s| s.ranges.len());
        self.cost = reached * entry + estimate::SEEK * ranges as f64;
        if !self.covering {
            self.cost += reached * estimate::SEEK;
        }
        let kept = |n: usize| match offer.sargs.iter().find(|(at, _)| *at == n) {
            _ if self.implied.contains(&n) => 1.0,
            Some((_, sarg)) if matches!(sarg.ask, Ask::Equal(_)) => estimate::EQUAL_TESTED,
            _ => estimate::OTHER,
        };
        let part: f64 = (0..offer.conditions).map(kept).product();
        self.rows = if unique { 1.0 } else { reached * part };
        self.meet_order(offer.wanted, unique);
        if !offer.wanted.is_empty() && !self.ordered {
            self.cost += estimate::sort(self.rows);
        }
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

/// Walks the key from its first column: equalities, then at most one range or list.
fn search(table: &Table, layout: &HobtLayout, offer: &Offer<'_>) -> Found {
    let mut found = Found { part: 1.0, ..Found::default() };
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
        found.part *= estimate::EQUAL;
        implied(found, *at, sarg);
        return true;
    }
    false
}

fn list(found: &mut Found, asked: &[&(usize, Sarg)]) -> bool {
    for (at, sarg) in asked {
        if let Ask::Any(values) = &sarg.ask {
            found.any = Some(values.clone());
            found.part *= (estimate::EQUAL * values.len() as f64).min(1.0);
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
    found.part *= match (&low, &high) {
        (None, None) => 1.0,
        (Some(_), Some(_)) => estimate::BETWEEN,
        _ => estimate::RANGE,
    };
    if low.is_none() && high.is_some() && nullable {
        // NULL is the least key, and less than nothing.
        let value = Scalar::null(high.as_ref().map_or(SqlType::Int, |b| b.value.ty.sql_type));
        low = Some(Bound { value, inclusive: false, after_null: true });
    }
    (found.lower, found.upper) = if descending { (high, low) } else { (low, high) };
}

fn seek_of(
    table: &Table,
    layout: &HobtLayout,
    found: Found,
    unique: bool,
    rows: &mut f64,
) -> Option<Seek> {
    let ranged = found.lower.is_some() || found.upper.is_some() || found.any.is_some();
    if found.equal.is_empty() && !ranged {
        return None;
    }
    *rows = estimate::TABLE_ROWS * found.part;
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
fn point(base: &SeekRange, value: Scalar) -> SeekRange {
    let mut range = base.clone();
    range.equal.push(value);
    range.null_matches.push(false);
    range
}

/// The order of the key, and which slots of it are equal in all rows.
fn key_order(
    table: &Table,
    layout: &HobtLayout,
    found: &Found,
    offer: &Offer<'_>,
) -> (Vec<SortKey>, Slots) {
    let mut order = Vec::new();
    let mut fixed = Slots::new();
    for (n, part) in layout.key.iter().enumerate() {
        let PhysicalColumn::Column(column) = layout.columns[part.field] else { break };
        let Some(slot) = (offer.slot)(column) else { break };
        if n < found.equal.len() {
            fixed.insert(slot);
        }
        let collation = table.columns[column].collation;
        order.push(SortKey { slot, collation, descending: part.descending });
    }
    (order, fixed)
}
