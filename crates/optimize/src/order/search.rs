//! The table of a region's joined sets: for each the rows it gives and the cheapest ways to it.
//!
//! A set keeps up to three ways: the cheapest, the cheapest that gives the wanted order, and where
//! somebody stops after some rows the one that is quickest for those. Rows of a set are estimated
//! once, when it is first joined, so that all ways to it are compared for the same rows.

use super::LOOKS_OF_A_PAIR;
use super::classes::Classes;
use super::hyper::Table;
use super::method::{InnerSide, Method};
use super::region::Region;
use super::set::Set;
use crate::convert::Optimizer;
use crate::node::{Node, Slots, Wish};
use base::{SqlResult, messages};
use plan::{JoinHint, JoinKind, Predicate, Scalar, Slot, SortKey};
use std::collections::{BTreeMap, HashMap};
use types::Collation;

/// A way to a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) first: f64,
    pub(crate) total: f64,
    /// It gives the wanted order.
    pub(crate) ordered: bool,
    pub(crate) step: Step,
}

/// The last step of a way.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A relation; in the wanted order where the way says so.
    Relation,
    /// A join of two sets by the ways with these numbers.
    Join { left: (Set, usize), right: (Set, usize), method: Method },
}

/// A set that can be built.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) rows: f64,
    pub(crate) width: f64,
    /// None for a relation that reads others: it is opened for their rows.
    pub(crate) ways: Vec<Way>,
}

/// What ties two sets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tie {
    /// Classes with columns on both sides, as bits.
    pub(crate) classes: u64,
    /// Conditions that read both, as bits.
    pub(crate) conditions: u64,
    /// The operator that joins them: its number, and whether its left side is the second set.
    pub(crate) operator: Option<(usize, bool)>,
}

/// What is known of a condition between relations.
struct ConditionFacts {
    /// Relations of either side, when it is an equality that a hash can use.
    sides: Option<(Set, Set)>,
    part: f64,
}

/// The search. See the module.
pub(crate) struct Search<'s, 'o, 't> {
    pub(crate) optimizer: &'s mut Optimizer<'o>,
    pub(crate) region: &'s Region<'t>,
    pub(crate) classes: &'s Classes,
    /// Slots of each relation that are read above it.
    pub(crate) needed: Vec<Slots>,
    pub(crate) wish: Wish<'s>,
    pub(crate) entries: HashMap<Set, Entry>,
    known: Vec<ConditionFacts>,
    operators: Vec<f64>,
    equal: HashMap<(usize, usize, usize), f64>,
    pub(crate) inner: BTreeMap<(usize, u64, u64), Option<InnerSide>>,
    /// What relations cost in the order of some of their columns.
    pub(crate) sorted: HashMap<(usize, Vec<Slot>), (f64, f64)>,
    /// The method that the statement asks of the join at hand.
    pub(crate) hint: Option<JoinHint>,
    pub(crate) pairs_left: usize,
    /// Sets that may be looked at.
    pub(crate) looks_left: usize,
    /// The first error of pricing.
    pub(crate) failed: Option<base::SqlError>,
}

impl Table for Search<'_, '_, '_> {
    fn has(&self, set: Set) -> bool {
        self.entries.contains_key(&set)
    }

    fn join(&mut self, left: Set, right: Set) -> bool {
        if self.pairs_left == 0 || self.failed.is_some() {
            return false;
        }
        self.pairs_left -= 1;
        if let Err(e) = self.optimizer.toll.pay(0) {
            self.failed = Some(e);
            return false;
        }
        self.optimizer.effort = self.optimizer.effort.saturating_sub(LOOKS_OF_A_PAIR);
        self.add_pair(left, right);
        true
    }

    fn look(&mut self) -> bool {
        self.looks_left = self.looks_left.saturating_sub(1);
        if self.looks_left.is_multiple_of(LOOKS_OF_A_PAIR)
            && let Err(e) = self.optimizer.toll.pay(0)
        {
            self.failed = Some(e);
        }
        self.optimizer.effort = self.optimizer.effort.saturating_sub(1);
        self.looks_left > 0 && self.failed.is_none()
    }
}

impl<'s, 'o, 't> Search<'s, 'o, 't> {
    pub(crate) fn new(
        optimizer: &'s mut Optimizer<'o>,
        region: &'s Region<'t>,
        classes: &'s Classes,
        needed: &Slots,
        wish: Wish<'s>,
    ) -> SqlResult<Search<'s, 'o, 't>> {
        let mut search = Search {
            optimizer,
            region,
            classes,
            needed: Vec::new(),
            wish,
            entries: HashMap::new(),
            known: Vec::new(),
            operators: Vec::new(),
            equal: HashMap::new(),
            inner: BTreeMap::new(),
            sorted: HashMap::new(),
            hint: None,
            pairs_left: 0,
            looks_left: 0,
            failed: None,
        };
        search.note_needed(needed);
        search.note_conditions();
        for n in 0..region.relations.len() {
            search.add_relation(n)?;
        }
        // They ask how many rows relations have.
        search.operators = (0..region.operators.len()).map(|n| search.operator_part(n)).collect();
        Ok(search)
    }

    /// The slots that something above a relation reads of it.
    fn note_needed(&mut self, needed: &Slots) {
        let reader = self.optimizer.reader();
        let mut above = needed.clone();
        let region = self.region;
        region.conditions.iter().for_each(|c| above.extend(reader.predicate(&c.predicate)));
        let own = region.operators.iter().flat_map(|o| &o.conditions);
        own.for_each(|p| above.extend(reader.predicate(p)));
        region.computed.iter().for_each(|(_, x)| above.extend(reader.scalar(x)));
        for class in &self.classes.joining {
            above.extend(class.members.iter().filter_map(|(x, _)| x.as_column()));
        }
        for r in &region.relations {
            if !r.requires.is_empty() {
                above.extend(reader.free(r.tree));
            }
        }
        let of = |slots: &Slots| above.intersection(slots).copied().collect();
        self.needed = region.relations.iter().map(|r| of(&r.slots)).collect();
    }

    fn note_conditions(&mut self) {
        for c in &self.region.conditions {
            let sides = equality(&c.predicate).and_then(|(a, b, _)| {
                let (a, b) = (self.set_of(a), self.set_of(b));
                (!a.is_empty() && !b.is_empty() && !a.meets(b)).then_some((a, b))
            });
            let part = self.optimizer.estimator.part(&c.predicate);
            self.known.push(ConditionFacts { sides: sides.filter(|_| !c.late), part });
        }
    }

    /// The relations that an expression reads.
    fn set_of(&self, x: &Scalar) -> Set {
        let slots = self.optimizer.reader().scalar(x);
        let relations = self.region.relations.iter().enumerate();
        relations.filter(|(_, r)| !r.slots.is_disjoint(&slots)).map(|(n, _)| n).collect()
    }

    fn add_relation(&mut self, n: usize) -> SqlResult<()> {
        let relation = &self.region.relations[n];
        let needed = self.needed[n].clone();
        let filters = relation.filters.clone();
        let found = self.optimizer.remembered(relation.tree, filters, &needed, Wish::NONE);
        let node = match found {
            Err(e) if e.number() == messages::HINTS_NO_PLAN.number => {
                // FORCESEEK may be obeyed by what a join seeks with.
                self.entries.insert(Set::of(n), self.sought_only(n));
                return Ok(());
            }
            found => found?,
        };
        let mut entry = Entry { rows: node.rows.max(1e-9), width: node.width, ways: Vec::new() };
        if relation.requires.is_empty() {
            let keys = self.keys_of(n);
            let ordered =
                self.wish.order.is_empty() || keys.as_ref().is_some_and(|k| node.ordered_by(k));
            entry.add(way_of(&node, ordered, Step::Relation), self.wish);
            if let Some(keys) = keys.filter(|_| !ordered) {
                let node = self.ordered_relation(n, &keys, &needed)?;
                entry.add(way_of(&node, true, Step::Relation), self.wish);
            }
        }
        self.entries.insert(Set::of(n), entry);
        Ok(())
    }

    /// A relation that hints leave no way to by itself.
    fn sought_only(&self, n: usize) -> Entry {
        let relation = &self.region.relations[n];
        let filters: Vec<&Predicate> = relation.filters.iter().collect();
        let estimator = &self.optimizer.estimator;
        let table = relation.slots.iter().find_map(|s| estimator.column(*s));
        let rows = table.map_or(1.0, |c| c.rows) * estimator.all(&filters);
        Entry { rows: rows.max(1e-9), width: estimator.width(&relation.slots), ways: Vec::new() }
    }

    /// A relation in the wanted order, by an index or a sort.
    pub(crate) fn ordered_relation(
        &mut self,
        n: usize,
        keys: &[SortKey],
        needed: &Slots,
    ) -> SqlResult<Node> {
        let relation = &self.region.relations[n];
        let mut needed = needed.clone();
        needed.extend(keys.iter().map(|k| k.slot));
        let wish = Wish { order: keys, ..Wish::NONE };
        let filters = relation.filters.clone();
        let node = self.optimizer.remembered(relation.tree, filters, &needed, wish)?;
        Ok(self.optimizer.sorted(node, keys, &needed, &relation.slots))
    }

    /// The wanted order in columns of one relation, where it has them all.
    pub(crate) fn keys_of(&self, n: usize) -> Option<Vec<SortKey>> {
        if self.wish.order.is_empty() {
            return None;
        }
        let own = &self.region.relations[n].slots;
        let same = |slot: Slot| {
            let class = self.classes.joining.iter().find(|c| {
                c.at_top() && c.members.iter().any(|(x, _)| x.as_column() == Some(slot))
            })?;
            class.member(Set::of(n))?.as_column()
        };
        let key = |k: &SortKey| {
            let slot = if own.contains(&k.slot) { Some(k.slot) } else { same(k.slot) };
            slot.map(|slot| SortKey { slot, ..*k })
        };
        self.wish.order.iter().map(key).collect()
    }

    /// How two sets may be joined; none when they must not.
    pub(crate) fn tie(&self, a: Set, b: Set) -> Option<Tie> {
        let both = a.union(b);
        let mut tie = Tie::default();
        for (n, o) in self.region.operators.iter().enumerate() {
            let whole = o.left.union(o.right);
            if !both.contains(whole) || a.contains(whole) || b.contains(whole) {
                continue;
            }
            let turned = match () {
                () if a.contains(o.left) && b == o.right => false,
                () if b.contains(o.left) && a == o.right => true,
                () => return None,
            };
            if tie.operator.replace((n, turned)).is_some() {
                return None;
            }
        }
        let absent = |s: Set| {
            let mut own = self.region.operators.iter();
            own.any(|o| {
                s.meets(o.right) && !o.right.contains(s) && !s.contains(o.left.union(o.right))
            })
        };
        if absent(both) {
            return None;
        }
        for (n, c) in self.region.conditions.iter().enumerate() {
            if both.contains(c.after) && !a.contains(c.after) && !b.contains(c.after) {
                tie.conditions |= 1 << n.min(63);
            }
        }
        for (n, c) in self.classes.joining.iter().enumerate() {
            let set = c.set();
            if set.meets(a) && set.meets(b) {
                tie.classes |= 1 << n.min(63);
            }
        }
        Some(tie)
    }

    /// Prices all ways to join two sets.
    pub(crate) fn add_pair(&mut self, a: Set, b: Set) {
        let Some(tie) = self.tie(a, b) else { return };
        let (left, right) = if tie.operator.is_some_and(|o| o.1) { (b, a) } else { (a, b) };
        let kind = tie.operator.map_or(JoinKind::Inner, |(n, _)| self.region.operators[n].kind);
        let both = a.union(b);
        if !self.entries.contains_key(&both) {
            let (l, r) = (&self.entries[&left], &self.entries[&right]);
            let (rows, widths) = ((l.rows, r.rows), (l.width, r.width));
            let rows = self.rows(left, right, tie, kind, rows);
            let width = match kind {
                JoinKind::Semi | JoinKind::Anti => widths.0,
                _ => widths.0 + widths.1,
            };
            self.entries.insert(both, Entry { rows, width, ways: Vec::new() });
        }
        let result = self.price(left, right, tie, kind);
        let turned = (kind == JoinKind::Inner).then(|| self.price(right, left, tie, kind));
        for result in [Some(result), turned].into_iter().flatten() {
            if let Err(e) = result {
                self.failed.get_or_insert(e);
            }
        }
        if self.entries.get(&both).is_some_and(|e| e.ways.is_empty()) {
            self.entries.remove(&both);
        }
    }

    /// Rows of a join.
    fn rows(&mut self, left: Set, right: Set, tie: Tie, kind: JoinKind, (l, r): (f64, f64)) -> f64 {
        let mut above = 1.0;
        if let Some((n, _)) = tie.operator {
            let part = self.operators[n];
            for n in bits(tie.conditions) {
                above *= self.known[n].part;
            }
            let matched = l * r * part;
            let rows = match kind {
                JoinKind::Left => matched.max(l),
                JoinKind::Semi | JoinKind::Anti => {
                    let found = (part * self.partners(n, r)).clamp(0.0, 1.0);
                    // Nobody knows that none is left.
                    let kept = if kind == JoinKind::Semi { found } else { 1.0 - found };
                    l * kept.max(0.01)
                }
                _ => matched,
            };
            return (rows * above).max(1e-9);
        }
        let mut parts: Vec<f64> = bits(tie.conditions).map(|n| self.known[n].part).collect();
        self.class_parts(left, right, tie.classes, &mut parts);
        (l * r * crate::estimate::backed_off(parts)).max(1e-9)
    }

    /// Different values by which the right part of an operator is joined.
    pub(crate) fn partners(&self, n: usize, rows: f64) -> f64 {
        let operator = &self.region.operators[n];
        let right: Slots = operator
            .right
            .iter()
            .flat_map(|r| self.region.relations[r].slots.iter().copied())
            .collect();
        let keys = operator.conditions.iter().filter_map(equality);
        let slots: Vec<Slot> = keys
            .flat_map(|(a, b, _)| [a.as_column(), b.as_column()])
            .flatten()
            .filter(|s| right.contains(s))
            .collect();
        if slots.is_empty() { rows } else { self.optimizer.estimator.groups(&slots, rows) }
    }

    /// The parts of pairs that equalities of classes keep. Where they cover a unique key of one
    /// relation, each row of the others has one partner in it.
    fn class_parts(&mut self, left: Set, right: Set, classes: u64, parts: &mut Vec<f64>) {
        let mut keyed = 0_u64;
        if classes.count_ones() > 1 {
            for n in left.union(right).iter() {
                let own = bits(classes & !keyed).filter_map(|c| {
                    let slot = self.classes.joining[c].member(Set::of(n))?.as_column()?;
                    Some((c, slot))
                });
                let own: Vec<(usize, Slot)> = own.collect();
                let slots: Vec<Slot> = own.iter().map(|(_, slot)| *slot).collect();
                if let Some((rows, used)) = self.optimizer.estimator.unique_key(&slots)
                    && used.len() > 1
                {
                    parts.push(1.0 / rows.max(1.0));
                    for (c, _) in own.iter().filter(|(_, s)| used.contains(s)) {
                        keyed |= 1 << c;
                    }
                }
            }
        }
        for c in bits(classes & !keyed) {
            let part = self.class_part(c, left, right);
            parts.push(part);
        }
    }

    /// The part of pairs that have equal columns of a class, one on each side.
    fn class_part(&mut self, class: usize, left: Set, right: Set) -> f64 {
        let members = &self.classes.joining[class].members;
        let on = |set: Set| members.iter().filter(move |(_, r)| set.has(*r));
        let mut best = 1.0_f64;
        for (a, of_a) in on(left) {
            for (b, of_b) in on(right) {
                let (Some(x), Some(y)) = (a.as_column(), b.as_column()) else { continue };
                let key = (class, (*of_a).min(*of_b), (*of_a).max(*of_b));
                let part = match self.equal.get(&key) {
                    Some(part) => *part,
                    None => {
                        let part = self.equal_part((x, *of_a), (y, *of_b));
                        self.equal.insert(key, part);
                        part
                    }
                };
                best = best.min(part);
            }
        }
        best
    }

    /// Of pairs of two relations those that are equal in two columns. A condition that both
    /// relations have on these columns leaves so much of their common values as it leaves of the
    /// column that has more of them: that is counted once.
    fn equal_part(&self, (x, of_x): (Slot, usize), (y, of_y): (Slot, usize)) -> f64 {
        let rows = |n: usize| self.entries.get(&Set::of(n)).map_or(1.0, |e| e.rows);
        let estimator = &self.optimizer.estimator;
        let own = |slot: Slot, n: usize| {
            let on = |p: &&Predicate| p.reads().slots.iter().eq([&slot]);
            let filters: Vec<&Predicate> =
                self.region.relations[n].filters.iter().filter(on).collect();
            if filters.is_empty() { None } else { Some(estimator.all(&filters)) }
        };
        let different = |slot: Slot| estimator.column(slot).map_or(0.0, |c| c.distinct() / c.rows);
        let counted = match (own(x, of_x), own(y, of_y)) {
            (Some(a), Some(b)) => {
                if different(x) >= different(y) {
                    a
                } else {
                    b
                }
            }
            _ => 1.0,
        };
        let part = estimator.equal_pairs(x, y, (rows(of_x), rows(of_y)));
        (part / counted.clamp(1e-9, 1.0)).min(1.0)
    }

    /// The part of pairs that an operator's conditions keep.
    fn operator_part(&self, n: usize) -> f64 {
        let operator = &self.region.operators[n];
        let rows = |set: Set| set.iter().map(|n| self.entries[&Set::of(n)].rows).product::<f64>();
        let sides = (rows(operator.left), rows(operator.right));
        let owned = |slot: Slot| {
            (0..self.region.relations.len())
                .find(|&n| self.region.relations[n].slots.contains(&slot))
        };
        let mut parts = Vec::new();
        let mut slots = Vec::new();
        for p in &operator.conditions {
            let columns = equality(p).and_then(|(a, b, _)| Some((a.as_column()?, b.as_column()?)));
            let Some((a, b)) = columns else {
                parts.push(self.optimizer.estimator.part(p));
                continue;
            };
            slots.extend([a, b]);
            let bound = self.classes.bound.contains(&a) && self.classes.bound.contains(&b);
            parts.push(match (owned(a), owned(b)) {
                _ if bound => 1.0,
                (Some(x), Some(y)) => self.equal_part((a, x), (b, y)),
                _ => self.optimizer.estimator.equal_pairs(a, b, sides),
            });
        }
        let together = crate::estimate::backed_off(parts);
        match operator.right.only().filter(|_| slots.len() > 2) {
            Some(r) => {
                let own: Vec<Slot> = slots
                    .into_iter()
                    .filter(|s| self.region.relations[r].slots.contains(s))
                    .collect();
                let key = self.optimizer.estimator.unique_key(&own);
                key.map_or(together, |(rows, _)| together.min(1.0 / rows.max(1.0)))
            }
            None => together,
        }
    }

    /// Whether a hash or merge join has something to compare.
    pub(crate) fn has_keys(&self, left: Set, right: Set, tie: Tie) -> bool {
        if let Some((n, _)) = tie.operator {
            let operator = &self.region.operators[n];
            let key = |p: &Predicate| {
                equality(p).is_some_and(|(a, b, _)| {
                    let (a, b) = (self.set_of(a), self.set_of(b));
                    let apart = |a: Set, b: Set| {
                        !a.is_empty() && !b.is_empty() && left.contains(a) && right.contains(b)
                    };
                    apart(a, b) || apart(b, a)
                })
            };
            return operator.conditions.iter().any(key);
        }
        tie.classes != 0
            || bits(tie.conditions).any(|n| {
                self.known[n].sides.is_some_and(|(a, b)| {
                    (left.contains(a) && right.contains(b))
                        || (left.contains(b) && right.contains(a))
                })
            })
    }
}

impl Entry {
    /// Keeps a way unless another is as good in everything.
    pub(crate) fn add(&mut self, way: Way, wish: Wish<'_>) {
        let early = |w: &Way| w.first + (w.total - w.first) * 0.01;
        let as_good = |a: &Way, b: &Way| {
            a.total <= b.total
                && (a.ordered || !b.ordered)
                && (wish.goal.is_none() || early(a) <= early(b))
        };
        if self.ways.iter().any(|known| as_good(known, &way)) {
            return;
        }
        // What a larger set names by number may become better, never worse.
        match self.ways.iter().position(|known| as_good(&way, known)) {
            Some(at) => self.ways[at] = way,
            None => self.ways.push(way),
        }
    }

    /// The number of the cheapest way.
    pub(crate) fn cheapest(&self) -> usize {
        let ways = self.ways.iter().enumerate();
        ways.min_by(|a, b| a.1.total.total_cmp(&b.1.total)).map_or(0, |(n, _)| n)
    }
}

pub(crate) fn way_of(node: &Node, ordered: bool, step: Step) -> Way {
    Way { first: node.first, total: node.total, ordered, step }
}

/// The sides of an equality.
pub(crate) fn equality(p: &Predicate) -> Option<(&Scalar, &Scalar, Collation)> {
    match p {
        Predicate::Compare { op: plan::CompareOp::Equal, left, right, collation } => {
            let plain = |x: &Scalar| {
                let reads = x.reads();
                reads.subqueries.is_empty() && !reads.volatile
            };
            (plain(left) && plain(right)).then_some((left, right, *collation))
        }
        _ => None,
    }
}

/// The numbers of the bits that are set.
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let n = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            n
        })
    })
}
