//! Which pairs of sets can be joined: every connected set with every connected complement that an
//! edge leads to, each once, the smaller sets first.
//!
//! After G. Moerkotte and T. Neumann, "Dynamic Programming Strikes Back" (SIGMOD 2008). An edge
//! leads from a set to a set, because a condition may read several relations of a side and a
//! right part comes as a whole. We differ in what is asked of the table: a pair may be refused
//! by whoever prices it, and a set that nobody could build counts as not connected.
//!
//! Invariant: both sets of a pair have been built before the pair is offered.

use super::set::Set;

/// An edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge(pub(crate) Set, pub(crate) Set);

/// Who builds what the pairs make.
pub(crate) trait Table {
    /// Whether a set has been built.
    fn has(&self, set: Set) -> bool;

    /// Joins two sets; false when there have been pairs enough.
    fn join(&mut self, left: Set, right: Set) -> bool;

    /// A set is looked at, whether or not it has been built; false when there have been enough. A
    /// relation with many neighbours has two to their number, also where hardly any can be built.
    fn look(&mut self) -> bool;
}

/// Relations with the edges between them.
pub(crate) struct Graph {
    count: usize,
    /// Of each relation those that an edge between single relations leads to.
    plain: Vec<Set>,
    /// Edges with more than one relation on a side, both ways.
    wide: Vec<Edge>,
}

impl Graph {
    pub(crate) fn new(count: usize, edges: &[Edge]) -> Graph {
        let mut graph = Graph { count, plain: vec![Set::EMPTY; count], wide: Vec::new() };
        for edge in edges {
            match (edge.0.only(), edge.1.only()) {
                (Some(a), Some(b)) => {
                    graph.plain[a] = graph.plain[a].union(edge.1);
                    graph.plain[b] = graph.plain[b].union(edge.0);
                }
                _ => graph.wide.extend([*edge, Edge(edge.1, edge.0)]),
            }
        }
        graph
    }

    /// The sets of relations that edges connect, as far as all relations of their ends are there.
    pub(crate) fn components(&self) -> Vec<Set> {
        let mut found: Vec<Set> = (0..self.count).map(Set::of).collect();
        loop {
            let pair = (0..found.len()).find_map(|a| {
                let other = (0..a).find(|&b| self.connects(found[a], found[b]));
                other.map(|b| (a, b))
            });
            let Some((a, b)) = pair else { return found };
            let joined = found.swap_remove(a);
            found[b] = found[b].union(joined);
        }
    }

    /// Whether an edge leads from one set to the other.
    pub(crate) fn connects(&self, a: Set, b: Set) -> bool {
        a.iter().any(|n| self.plain[n].meets(b))
            || self.wide.iter().any(|e| a.contains(e.0) && b.contains(e.1))
    }

    /// Relations by which a set may grow; of a wide edge's end the least stands for all.
    fn neighbours(&self, set: Set, forbidden: Set) -> Set {
        let taken = set.union(forbidden);
        let mut found = Set::EMPTY;
        for n in set.iter() {
            found = found.union(self.plain[n]);
        }
        found = found.without(taken);
        for e in self.wide.iter().filter(|e| set.contains(e.0) && !e.1.meets(taken)) {
            if !e.1.meets(found)
                && let Some(n) = e.1.first()
            {
                found = found.union(Set::of(n));
            }
        }
        found
    }

    /// Offers all pairs; false when the table had enough.
    pub(crate) fn pairs(&self, table: &mut dyn Table) -> bool {
        for n in (0..self.count).rev() {
            let set = Set::of(n);
            if !(self.with_complements(set, table) && self.grow(set, Set::up_to(n), table)) {
                return false;
            }
        }
        true
    }

    /// Larger connected sets around one, none with what is forbidden.
    fn grow(&self, set: Set, forbidden: Set, table: &mut dyn Table) -> bool {
        let around = self.neighbours(set, forbidden);
        for part in around.parts() {
            let larger = set.union(part);
            if !table.look() || table.has(larger) && !self.with_complements(larger, table) {
                return false;
            }
        }
        let forbidden = forbidden.union(around);
        around.parts().all(|part| table.look() && self.grow(set.union(part), forbidden, table))
    }

    /// Pairs of a set with those on its other side.
    fn with_complements(&self, set: Set, table: &mut dyn Table) -> bool {
        let Some(least) = set.first() else { return true };
        let forbidden = set.union(Set::up_to(least));
        let around = self.neighbours(set, forbidden);
        for n in around.iter().rev() {
            let other = Set::of(n);
            if self.connects(set, other) && !table.join(set, other) {
                return false;
            }
            let lower = Set::up_to(n).and(around);
            if !self.grow_complement(set, other, forbidden.union(lower), table) {
                return false;
            }
        }
        true
    }

    fn grow_complement(&self, set: Set, other: Set, forbidden: Set, table: &mut dyn Table) -> bool {
        let around = self.neighbours(other, forbidden);
        for part in around.parts() {
            let larger = other.union(part);
            let joins = table.has(larger) && self.connects(set, larger);
            if !table.look() || joins && !table.join(set, larger) {
                return false;
            }
        }
        let forbidden = forbidden.union(around);
        around.parts().all(|part| {
            table.look() && self.grow_complement(set, other.union(part), forbidden, table)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Builds everything, and counts.
    #[derive(Default)]
    struct Count {
        built: BTreeSet<Set>,
        pairs: BTreeSet<(Set, Set)>,
    }

    impl Table for Count {
        fn has(&self, set: Set) -> bool {
            set.len() == 1 || self.built.contains(&set)
        }
        fn join(&mut self, left: Set, right: Set) -> bool {
            assert!(self.has(left) && self.has(right), "what is joined was built before");
            assert!(!left.meets(right));
            assert!(self.pairs.insert((left.min(right), left.max(right))), "each pair once");
            self.built.insert(left.union(right));
            true
        }
        fn look(&mut self) -> bool {
            true
        }
    }

    fn count(relations: usize, edges: &[(usize, usize)]) -> usize {
        let edges: Vec<Edge> = edges.iter().map(|e| Edge(Set::of(e.0), Set::of(e.1))).collect();
        let mut table = Count::default();
        assert!(Graph::new(relations, &edges).pairs(&mut table));
        table.pairs.len()
    }

    /// The numbers of pairs are those of the paper: chains, cycles, stars and cliques.
    #[test]
    fn all_pairs_and_each_once() {
        for n in 2..9_usize {
            let chain: Vec<_> = (1..n).map(|i| (i - 1, i)).collect();
            assert_eq!(count(n, &chain), (n * n * n - n) / 6, "chain of {n}");
            let star: Vec<_> = (1..n).map(|i| (0, i)).collect();
            assert_eq!(count(n, &star), (n - 1) << (n - 2), "star of {n}");
            let clique: Vec<_> = (0..n).flat_map(|a| (0..a).map(move |b| (b, a))).collect();
            let all = (3_usize.pow(n as u32) - (1 << (n + 1))).div_ceil(2);
            assert_eq!(count(n, &clique), all, "clique of {n}");
        }
    }

    /// A right part of two relations joins as a whole only.
    #[test]
    fn wide_edges_lead_to_whole_sets() {
        let part: Set = [1, 2].into_iter().collect();
        let edges = [Edge(Set::of(1), Set::of(2)), Edge(Set::of(0), part)];
        let mut table = Count::default();
        assert!(Graph::new(3, &edges).pairs(&mut table));
        let expected = [(Set::of(1), Set::of(2)), (Set::of(0), part)];
        assert_eq!(table.pairs, expected.map(|(a, b)| (a.min(b), a.max(b))).into());
        assert_eq!(Graph::new(3, &edges[..1]).components(), [Set::of(0), part]);
    }
}
