//! Circles of a graph: nodes of which each reaches each other.

use std::collections::BTreeSet;

/// Every circle of two nodes or more, the largest first, its nodes in order.
pub(super) fn circles(edges: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..edges.len()).map(|node| reach(node, edges)).collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut placed = BTreeSet::new();
    for node in 0..edges.len() {
        let back = reached[node].iter().filter(|other| reached[**other].contains(&node));
        let circle: Vec<usize> = back.copied().collect();
        if circle.len() > 1 && placed.insert(circle[0]) {
            found.push(circle);
        }
    }
    found.sort_by_key(|circle| usize::MAX - circle.len());
    found
}

/// The nodes behind a node; itself only where a circle leads back.
fn reach(from: usize, edges: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        for next in &edges[node] {
            if reached.insert(*next) {
                open.push(*next);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(usize, usize)], nodes: usize) -> Vec<Vec<usize>> {
        let mut graph = vec![BTreeSet::new(); nodes];
        for (from, to) in edges {
            graph[*from].insert(*to);
        }
        circles(&graph)
    }

    /// A path is no circle; circles that touch are one, others stay apart.
    #[test]
    fn circles_of_small_graphs() {
        let none: [Vec<usize>; 0] = [];
        assert_eq!(graph(&[(0, 1), (1, 2), (0, 2)], 3), none);
        assert_eq!(graph(&[(0, 1), (1, 0), (1, 2)], 3), [vec![0, 1]]);
        assert_eq!(
            graph(&[(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (1, 2)], 5),
            [vec![2, 3, 4], vec![0, 1]]
        );
        assert_eq!(graph(&[(0, 1), (1, 0), (1, 2), (2, 1)], 3), [vec![0, 1, 2]]);
    }
}
