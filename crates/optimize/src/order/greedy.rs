//! Joins chosen one by one: of all pairs of sets that are there the one that gives the fewest
//! rows, as in L. Fegaras, "A New Heuristic for Optimizing Large Queries" (DEXA 1998). Then the
//! sets near the top are searched again: of the tree that greed made, parts of a few sets each are
//! joined in every order.

use super::LOOKS_MAX;
use super::hyper::{Edge, Graph, Table};
use super::search::Search;
use super::set::Set;

/// Sets whose joins are searched in every order once greed has made them.
const PARTS_MAX: usize = 9;
/// Pairs priced meanwhile.
const PAIRS_MAX: usize = 40_000;

impl Search<'_, '_, '_> {
    /// Builds a set from its relations.
    pub(crate) fn greedy(&mut self, all: Set, graph: &Graph) {
        let mut sets: Vec<Set> = all.iter().map(Set::of).collect();
        let mut made: Vec<(Set, Set)> = Vec::new();
        self.pairs_left = PAIRS_MAX;
        self.looks_left = LOOKS_MAX;
        while sets.len() > 1 && self.failed.is_none() {
            let Some((a, b)) = self.fewest(&sets, graph) else { break };
            let (left, right) = (sets[a], sets[b]);
            made.push((left, right));
            sets.swap_remove(a.max(b));
            sets.swap_remove(a.min(b));
            sets.push(left.union(right));
        }
        let parts = top_parts(&made, all);
        if sets.len() == 1 && parts.len() > 2 && self.optimizer.effort > 0 {
            self.among(&parts, graph);
        }
    }

    /// The pair of sets whose join gives the fewest rows.
    fn fewest(&mut self, sets: &[Set], graph: &Graph) -> Option<(usize, usize)> {
        let mut best: Option<(f64, usize, usize)> = None;
        for a in 0..sets.len() {
            for b in 0..a {
                let both = sets[a].union(sets[b]);
                if !self.has(both) && graph.connects(sets[a], sets[b]) {
                    self.join(sets[a], sets[b]);
                }
                let Some(entry) = self.entries.get(&both) else { continue };
                if best.is_none_or(|(rows, _, _)| entry.rows < rows) {
                    best = Some((entry.rows, a, b));
                }
            }
        }
        best.map(|(_, a, b)| (a, b))
    }

    /// Every order of some sets that have been built.
    fn among(&mut self, parts: &[Set], graph: &Graph) {
        let mut edges = Vec::new();
        for (n, a) in parts.iter().enumerate() {
            let near = (0..n).filter(|&m| graph.connects(*a, parts[m]));
            edges.extend(near.map(|m| Edge(Set::of(n), Set::of(m))));
        }
        let mut table = Parts { search: self, parts };
        Graph::new(parts.len(), &edges).pairs(&mut table);
    }
}

/// A table whose relations are sets of another's.
struct Parts<'p, 's, 'o, 't, 'q> {
    search: &'p mut Search<'s, 'o, 't>,
    parts: &'q [Set],
}

impl Parts<'_, '_, '_, '_, '_> {
    fn whole(&self, set: Set) -> Set {
        set.iter().map(|n| self.parts[n]).fold(Set::EMPTY, Set::union)
    }
}

impl Table for Parts<'_, '_, '_, '_, '_> {
    fn has(&self, set: Set) -> bool {
        self.search.has(self.whole(set))
    }

    fn join(&mut self, left: Set, right: Set) -> bool {
        let (left, right) = (self.whole(left), self.whole(right));
        self.search.join(left, right)
    }

    fn look(&mut self) -> bool {
        self.search.look()
    }
}

/// The sets below the last joins: the largest is taken apart until there are enough.
fn top_parts(made: &[(Set, Set)], all: Set) -> Vec<Set> {
    let mut parts = vec![all];
    while parts.len() < PARTS_MAX {
        let largest = (0..parts.len()).max_by_key(|&n| parts[n].len());
        let Some(at) = largest else { break };
        let of = made.iter().rev().find(|(a, b)| a.union(*b) == parts[at]);
        let Some((a, b)) = of else { break };
        parts[at] = *a;
        parts.push(*b);
    }
    parts
}
