//! Inner joins that a trusted FOREIGN KEY makes superfluous: each row that refers finds exactly the
//! row that it refers to, and nothing of that row is read.
//!
//! A row whose reference is NULL finds none: where it may be, it is refused by a condition.

use super::classes::Classes;
use super::region::Region;
use super::set::Set;
use crate::convert::Optimizer;
use crate::node::Slots;
use catalog::view::ForeignKey;
use plan::{CompareOp, LockHints, Logical, Predicate, Scalar, Slot};

/// An equality by which a relation is joined: the class, its column, and that of who refers.
struct Pair {
    class: usize,
    own: Slot,
    from: Scalar,
}

impl Optimizer<'_> {
    /// Takes such relations out of a region; those that went.
    pub(super) fn referenced(
        &self,
        region: &mut Region<'_>,
        classes: &mut Classes,
        gone: Set,
        needed: &Slots,
    ) -> Set {
        let mut went = Set::EMPTY;
        for n in 0..region.relations.len() {
            if gone.has(n) || !self.is_read_by_classes(region, classes, n, needed) {
                continue;
            }
            let others = (0..region.relations.len())
                .filter(|&c| c != n && !gone.has(c) && !went.has(c))
                .find_map(|c| Some((c, self.reference(region, classes, n, c)?)));
            let Some((c, pairs)) = others else { continue };
            for pair in pairs.into_iter().filter(|p| p.from.ty.nullable) {
                let absent = Predicate::IsNull(Box::new(pair.from));
                region.relations[c].filters.push(Predicate::Not(Box::new(absent)));
            }
            classes.leave(n);
            went = went.union(Set::of(n));
        }
        went
    }

    /// Whether nothing but equalities of classes at the top speaks of a table's columns.
    fn is_read_by_classes(
        &self,
        region: &Region<'_>,
        classes: &Classes,
        n: usize,
        needed: &Slots,
    ) -> bool {
        let Logical::Get(get) = region.relations[n].tree else { return false };
        let plain = get.target.is_none()
            && get.locks == LockHints::default()
            && get.index.is_none()
            && !(get.force_seek || get.force_scan);
        let free = plain
            && !region.operators.iter().any(|o| o.left.has(n) || o.right.has(n))
            && !region.conditions.iter().any(|c| c.after.has(n))
            && !region.relations.iter().any(|r| r.requires.has(n))
            && !classes.ties.iter().any(|set| set.has(n));
        free && self.read_of(region, needed, None).is_disjoint(&region.relations[n].slots)
    }

    /// The pairs of columns by which relation `c` refers to relation `n`: those of a whole trusted
    /// key, with no other condition between the two.
    fn reference(
        &self,
        region: &Region<'_>,
        classes: &Classes,
        n: usize,
        c: usize,
    ) -> Option<Vec<Pair>> {
        if region.operators.iter().any(|o| o.right.has(c)) {
            return None;
        }
        let mut pairs = Vec::new();
        for (class, known) in classes.joining.iter().enumerate() {
            if !known.set().has(n) {
                continue;
            }
            let own = known.only_member(n)?.as_column()?;
            let from = known.member(Set::of(c)).filter(|_| known.at_top())?.clone();
            pairs.push(Pair { class, own, from });
        }
        let to = self.estimator.column(pairs.first()?.own)?.table;
        let referring = self.estimator.column(pairs.first()?.from.as_column()?)?.table;
        let key = referring.foreign_keys.iter().find(|key| {
            key.referenced == to.object_id
                && referring.database == to.database
                && !(key.disabled || key.not_trusted)
                && self.is_key(key, &pairs)
        });
        key.filter(|_| self.told_only(region, (n, c), &pairs))?;
        pairs.iter().all(|p| p.class < classes.joining.len()).then_some(pairs)
    }

    /// Whether pairs are the columns of a foreign key, all of them and no others.
    fn is_key(&self, key: &ForeignKey, pairs: &[Pair]) -> bool {
        let ordinals = |p: &Pair| {
            let own = self.estimator.column(p.own)?;
            Some((self.estimator.column(p.from.as_column()?)?.ordinal, own.column().column_id))
        };
        let matches = |p: &Pair| {
            ordinals(p).is_some_and(|(column, referenced)| {
                key.columns.iter().any(|k| k.column == column && k.referenced == referenced)
            })
        };
        pairs.len() == key.columns.len() && pairs.iter().all(matches)
    }

    /// Whether what is asked of the relation referred to is asked of who refers, too.
    fn told_only(&self, region: &Region<'_>, (n, c): (usize, usize), pairs: &[Pair]) -> bool {
        let asked = |p: &Predicate| -> Option<(Slot, CompareOp, Scalar)> {
            let Predicate::Compare { op, left, right, .. } = p else { return None };
            Some((left.as_column()?, *op, (**right).clone()))
        };
        let of_c: Vec<_> = region.relations[c].filters.iter().filter_map(asked).collect();
        region.relations[n].filters.iter().all(|p| {
            asked(p).is_some_and(|(slot, op, value)| {
                let pair = pairs.iter().find(|p| p.own == slot);
                let from = pair.and_then(|p| p.from.as_column());
                from.is_some_and(|from| of_c.contains(&(from, op, value)))
            })
        })
    }
}
