//! Columns that are equal in every row, and what that tells.
//!
//! ```text
//!   a.x = b.x AND b.x = c.x     one class of three: any two of them may join first
//!   a.x = b.x AND b.x = 5       every column of the class has the value: relations are filtered,
//!                               and nothing is left to join by
//!   a.x = b.x AND a.x < 9       and b.x
//! ```
//!
//! Columns of a class have one type and collation, so equality is transitive among them; a NULL is
//! in no row that a WHERE or inner ON keeps.
//!
//! Invariants
//!  1. A class is of one scope: what a LEFT join's right part says of its columns holds there only.
//!     What holds at the top holds in right parts too, for rows that can find a partner.
//!  2. A class's equalities are not among the region's conditions any more; whoever joins two sets
//!     that both have a column of it tests one equality between them.

use super::region::{Condition, Region, is_among};
use super::set::Set;
use plan::{CompareOp, Predicate, Scalar, Slot};
use types::{Collation, compare};

/// Classes and conditions that have a number of their own.
const NUMBERED_MAX: usize = 63;

/// Columns that are equal.
pub(crate) struct Class {
    /// Each with its relation.
    pub(crate) members: Vec<(Scalar, usize)>,
    pub(crate) collation: Collation,
    scope: Option<usize>,
    /// What all of them are equal to, whatever the row.
    value: Option<Scalar>,
}

impl Class {
    /// Its columns in a set of relations: the first.
    pub(crate) fn member(&self, set: Set) -> Option<&Scalar> {
        self.members.iter().find(|(_, relation)| set.has(*relation)).map(|(x, _)| x)
    }

    /// The column of a relation that has one.
    pub(crate) fn only_member(&self, relation: usize) -> Option<&Scalar> {
        let mut own = self.members.iter().filter(|(_, n)| *n == relation);
        own.next().filter(|_| own.next().is_none()).map(|(x, _)| x)
    }

    /// Relations that have a column of it.
    pub(crate) fn set(&self) -> Set {
        self.members.iter().map(|(_, relation)| *relation).collect()
    }

    /// It holds in every row of the region.
    pub(crate) fn at_top(&self) -> bool {
        self.scope.is_none()
    }

    fn has(&self, slot: Slot) -> bool {
        self.members.iter().any(|(x, _)| x.as_column() == Some(slot))
    }
}

/// The classes of a region.
#[derive(Default)]
pub(crate) struct Classes {
    /// Those by which is joined.
    pub(crate) joining: Vec<Class>,
    /// Columns with a value that is the same in all rows.
    pub(crate) bound: Vec<Slot>,
    /// Some column would have two values.
    pub(crate) contradiction: bool,
    /// Pairs of sets that belong together though no condition is left between them.
    pub(crate) ties: Vec<Set>,
}

fn same_domain(a: &Scalar, b: &Scalar, collation: Collation) -> bool {
    let text = a.ty.sql_type.is_character();
    a.ty.sql_type == b.ty.sql_type
        && (!text || (a.ty.collation == collation && b.ty.collation == collation))
}

/// Two columns of different relations that a condition says are equal.
fn equality(p: &Predicate) -> Option<(&Scalar, &Scalar, Collation)> {
    let Predicate::Compare { op: CompareOp::Equal, left, right, collation } = p else {
        return None;
    };
    let columns = left.as_column().is_some() && right.as_column().is_some();
    (columns && same_domain(left, right, *collation)).then_some((left, right, *collation))
}

/// A column that a condition compares with a value which is the same for all rows.
fn fixed(p: &Predicate) -> Option<(&Scalar, CompareOp, &Scalar, Collation)> {
    let Predicate::Compare { op, left, right, collation } = p else { return None };
    let one = |column: &Scalar, value: &Scalar| {
        let reads = value.reads();
        column.as_column().is_some()
            && same_domain_value(column, value, *collation)
            && reads.slots.is_empty()
            && reads.subqueries.is_empty()
            && !reads.volatile
    };
    if one(left, right) {
        return Some((left, *op, right, *collation));
    }
    one(right, left).then(|| (&**right, op.mirrored(), &**left, *collation))
}

fn same_domain_value(column: &Scalar, value: &Scalar, collation: Collation) -> bool {
    let text = column.ty.sql_type.is_character();
    match text {
        true => {
            column.ty.sql_type.family() == value.ty.sql_type.family()
                && column.ty.collation == collation
        }
        false => column.ty.sql_type == value.ty.sql_type,
    }
}

fn comparison(column: &Scalar, op: CompareOp, value: &Scalar, collation: Collation) -> Predicate {
    let (left, right) = (Box::new(column.clone()), Box::new(value.clone()));
    Predicate::Compare { op, left, right, collation }
}

impl Classes {
    /// Finds the classes of a region, and adds to its relations' conditions what they tell. Where
    /// methods are hinted, equalities stay even where both sides have one value: a hash needs them.
    pub(crate) fn find(region: &mut Region<'_>, hinted: bool) -> Classes {
        let mut classes: Vec<Class> = Vec::new();
        let mut kept: Vec<Condition> = Vec::new();
        let owner = |region: &Region<'_>, slot: Slot| {
            region.relations.iter().position(|r| r.slots.contains(&slot))
        };
        for condition in std::mem::take(&mut region.conditions) {
            let plain = condition.after.len() == 2 && !region.may_be_absent(&condition);
            let found = equality(&condition.predicate).filter(|_| plain);
            let Some((a, b, collation)) = found else {
                kept.push(condition);
                continue;
            };
            let slots = (a.as_column(), b.as_column());
            let (Some(x), Some(y)) = slots else { continue };
            let (Some(of_a), Some(of_b)) = (owner(region, x), owner(region, y)) else {
                kept.push(condition);
                continue;
            };
            let pair = [(a.clone(), of_a), (b.clone(), of_b)];
            add(&mut classes, pair, collation, condition.scope);
        }
        region.conditions = kept;
        let mut found = Classes::default();
        for mut class in classes {
            class.learn(region, &mut found);
            match class.value {
                Some(_) if !hinted => found.ties.push(class.set()),
                _ => found.joining.push(class),
            }
        }
        found.note_bound(region);
        found.tell_operators(region);
        found.bounded(region);
        found
    }

    /// A relation is not joined any more.
    pub(crate) fn leave(&mut self, relation: usize) {
        for class in &mut self.joining {
            class.members.retain(|(_, n)| *n != relation);
        }
        self.joining.retain(|class| class.set().len() > 1);
    }

    /// What is beyond the numbers that a tie can hold is tested above everything.
    fn bounded(&mut self, region: &mut Region<'_>) {
        for class in self.joining.drain(NUMBERED_MAX.min(self.joining.len())..) {
            for pair in class.members.windows(2) {
                let [(a, of_a), (b, of_b)] = pair else { continue };
                let predicate = comparison(a, CompareOp::Equal, b, class.collation);
                let after = Set::of(*of_a).union(Set::of(*of_b));
                let scope = class.scope;
                region.conditions.push(Condition { predicate, after, late: true, scope });
            }
        }
        while region.conditions.len() > NUMBERED_MAX
            && let (Some(a), Some(b)) = (region.conditions.pop(), region.conditions.pop())
        {
            let predicate = b.predicate.and(a.predicate);
            let after = a.after.union(b.after);
            region.conditions.push(Condition { predicate, after, late: true, scope: a.scope });
        }
    }

    fn note_bound(&mut self, region: &Region<'_>) {
        for relation in &region.relations {
            for p in &relation.filters {
                if let Some((x, CompareOp::Equal, _, _)) = fixed(p) {
                    self.bound.extend(x.as_column());
                }
            }
        }
    }

    /// A value that an operator's left side has is sought on its right too.
    fn tell_operators(&mut self, region: &mut Region<'_>) {
        let mut told = Vec::new();
        for o in &region.operators {
            for p in &o.conditions {
                let Some((a, b, collation)) = equality(p) else { continue };
                for (left, right) in [(a, b), (b, a)] {
                    let side = |x: &Scalar, set: Set| {
                        let slot = x.as_column()?;
                        set.iter().find(|&n| region.relations[n].slots.contains(&slot))
                    };
                    let (Some(l), Some(r)) = (side(left, o.left), side(right, o.right)) else {
                        continue;
                    };
                    let value = region.relations[l].filters.iter().find_map(|p| match fixed(p)? {
                        (x, CompareOp::Equal, value, _) if x == left => Some(value.clone()),
                        _ => None,
                    });
                    if let Some(value) = value {
                        told.push((r, comparison(right, CompareOp::Equal, &value, collation)));
                        self.bound.extend(right.as_column());
                    }
                }
            }
        }
        for (relation, p) in told {
            region.relations[relation].filters.push(p);
        }
    }
}

/// Adds an equality, which may make one class of two.
fn add(
    classes: &mut Vec<Class>,
    pair: [(Scalar, usize); 2],
    collation: Collation,
    scope: Option<usize>,
) {
    let mut class = Class { members: Vec::new(), collation, scope, value: None };
    for (x, relation) in pair {
        let slot = x.as_column();
        let same = |c: &Class| {
            c.scope == scope && c.collation == collation && slot.is_some_and(|s| c.has(s))
        };
        if let Some(at) = classes.iter().position(same) {
            let other = classes.swap_remove(at);
            for member in other.members {
                if !class.members.contains(&member) {
                    class.members.push(member);
                }
            }
        } else if !slot.is_some_and(|s| class.has(s)) {
            class.members.push((x, relation));
        }
    }
    class.members.sort_by_key(|(x, relation)| (*relation, x.as_column()));
    classes.push(class);
}

/// A list with one more, unless it is there.
fn with(mut list: Vec<CompareOp>, op: CompareOp) -> Vec<CompareOp> {
    if !list.contains(&op) {
        list.push(op);
    }
    list
}

impl Class {
    /// What its columns' own conditions say holds for all of them.
    fn learn(&mut self, region: &mut Region<'_>, found: &mut Classes) {
        let mut known: Vec<(Slot, CompareOp, Scalar)> = Vec::new();
        for (x, relation) in &self.members {
            for p in &region.relations[*relation].filters {
                if let Some((column, op, value, collation)) = fixed(p)
                    && column.as_column() == x.as_column()
                    && collation == self.collation
                    && let Some(slot) = x.as_column()
                {
                    known.push((slot, op, value.clone()));
                }
            }
        }
        let equal: Vec<&Scalar> =
            known.iter().filter(|k| k.1 == CompareOp::Equal).map(|k| &k.2).collect();
        self.value = equal.first().map(|x| (*x).clone());
        found.contradiction |=
            equal.windows(2).any(|pair| differ(pair[0], pair[1], self.collation));
        for (x, relation) in &self.members {
            let Some(own) = x.as_column() else { continue };
            let own_ops: Vec<CompareOp> =
                known.iter().filter(|k| k.0 == own).map(|k| k.1).fold(Vec::new(), with);
            for (slot, op, value) in &known {
                let implied = self.value.is_some() && *op != CompareOp::Equal;
                let own_says = own_ops.contains(op);
                if *slot != own && !implied && !own_says && *op != CompareOp::NotEqual {
                    let p = comparison(x, *op, value, self.collation);
                    let filters = &mut region.relations[*relation].filters;
                    if !is_among(filters, &p) {
                        filters.push(p);
                    }
                }
            }
        }
        self.within_relations(region);
    }

    /// Two columns of one relation in a class are equal there.
    fn within_relations(&self, region: &mut Region<'_>) {
        if self.value.is_some() {
            return;
        }
        for pair in self.members.windows(2) {
            if let [(a, of_a), (b, of_b)] = pair
                && of_a == of_b
            {
                let p = comparison(a, CompareOp::Equal, b, self.collation);
                region.relations[*of_a].filters.push(p);
            }
        }
    }
}

fn differ(a: &Scalar, b: &Scalar, collation: Collation) -> bool {
    match (a.as_constant(), b.as_constant()) {
        (Some(a), Some(b)) if !a.is_null() && !b.is_null() => {
            let alike = std::mem::discriminant(a) == std::mem::discriminant(b);
            alike && compare(a, b, collation).is_ne()
        }
        _ => false,
    }
}
