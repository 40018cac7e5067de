//! Steps of a path over the array of a tree.

use super::{Item, Run};
use crate::tree::{Axis, Predicate, Step, Test};
use base::SqlResult;
use xml::{NodeId, NodeKind, Tree};

impl Run<'_> {
    pub(super) fn path(&mut self, from: Vec<Item>, steps: &[Step]) -> SqlResult<Vec<Item>> {
        let mut items = from;
        for step in steps {
            items = self.step(&items, step)?;
        }
        Ok(items)
    }

    fn step(&mut self, from: &[Item], step: &Step) -> SqlResult<Vec<Item>> {
        let mut all: Vec<Item> = Vec::new();
        // What stands below a node that was looked through has been seen.
        let (mut seen, deep) =
            (None, matches!(step.axis, Axis::Descendant | Axis::DescendantOrSelf));
        for item in from {
            self.tick()?;
            self.bounded(all.len(), 0)?;
            let Item::Node(number, id) = item else { continue };
            if deep && step.predicates.is_empty() {
                let end = self.tree(*number).end(*id);
                match seen {
                    Some((tree, last)) if tree == *number && *id < last => continue,
                    _ => seen = Some((*number, end)),
                }
            }
            match step.predicates.as_slice() {
                [] => self.candidates(*number, *id, step, usize::MAX, &mut all)?,
                [first, rest @ ..] => {
                    let most = match first {
                        Predicate::Index(index) => *index,
                        _ => usize::MAX,
                    };
                    let mut found = Vec::new();
                    self.candidates(*number, *id, step, most, &mut found)?;
                    let found = match first {
                        // Only so many were looked for: the last one is the one.
                        Predicate::Index(index) => {
                            let last = found.pop();
                            last.filter(|_| found.len() + 1 == *index).into_iter().collect()
                        }
                        _ => self.filtered(found, std::slice::from_ref(first))?,
                    };
                    all.extend(self.filtered(found, rest)?);
                }
            }
        }
        let places = |i: &Item| match i {
            Item::Node(tree, id) => (*tree, *id),
            Item::Atomic(_) => (u32::MAX, NodeId(0)),
        };
        if !all.is_sorted_by(|a, b| places(a) < places(b)) {
            all.sort_unstable_by_key(places);
            all.dedup_by_key(|i| places(i));
        }
        Ok(all)
    }

    /// The nodes of an axis that pass the test, at most so many.
    fn candidates(
        &mut self,
        number: u32,
        id: NodeId,
        step: &Step,
        most: usize,
        out: &mut Vec<Item>,
    ) -> SqlResult<()> {
        let held = self.tree(number);
        let tree: &Tree = &held;
        let passes = |n: &NodeId| passes(tree, *n, step);
        let enough = out.len().saturating_add(most);
        let mut take = |run: &mut Self, nodes: &mut dyn Iterator<Item = NodeId>| {
            for node in nodes {
                run.tick()?;
                if out.len() >= enough {
                    break;
                }
                if passes(&node) {
                    out.push(Item::Node(number, node));
                }
            }
            Ok(())
        };
        match step.axis {
            Axis::Child => take(self, &mut tree.children(id)),
            Axis::Attribute => take(self, &mut tree.attributes(id)),
            Axis::Parent => take(self, &mut tree.parent(id).into_iter()),
            Axis::Itself => take(self, &mut std::iter::once(id)),
            Axis::Descendant => take(self, &mut tree.descendants(id)),
            Axis::DescendantOrSelf => {
                take(self, &mut std::iter::once(id).chain(tree.descendants(id)))
            }
        }
    }
}

fn passes(tree: &Tree, node: NodeId, step: &Step) -> bool {
    let kind = tree.kind(node);
    let principal = match step.axis {
        Axis::Attribute => NodeKind::Attribute,
        _ => NodeKind::Element,
    };
    let named = |test: &dyn Fn(&xml::Name) -> bool| {
        let attribute_itself = step.axis == Axis::Itself && kind == NodeKind::Attribute;
        (kind == principal || attribute_itself) && tree.name(node).is_some_and(test)
    };
    match &step.test {
        Test::Node => true,
        Test::Text => kind == NodeKind::Text,
        Test::Comment => kind == NodeKind::Comment,
        Test::Instruction => kind == NodeKind::Instruction,
        Test::Any => named(&|_| true),
        Test::Local(local) => named(&|n| n.local == *local),
        Test::Namespace(uri) => named(&|n| n.uri == *uri),
        Test::Name(name) => named(&|n| n.local == name.local && n.uri == name.uri),
    }
}
