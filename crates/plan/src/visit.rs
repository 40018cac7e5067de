//! Walks over logical trees: their nodes, what they read and write.
//!
//! Recursion is bounded by the depth that `bind` admits, chains of operators included.

use crate::{Logical, Reads, Slot};
use std::collections::BTreeSet;

/// Calls a method of each input of a logical node, borrowed as the node is.
macro_rules! each_input {
    ($node:expr, $visit:ident, $each:ident, $iter:ident) => {
        match $node {
            Logical::Get(_)
            | Logical::Virtual(_)
            | Logical::Function(_)
            | Logical::Values { .. }
            | Logical::Changed { .. } => {}
            Logical::Filter { input, .. }
            | Logical::Compute { input, .. }
            | Logical::Distinct { input, .. }
            | Logical::Window { input, .. }
            | Logical::Sort { input, .. }
            | Logical::Top { input, .. } => input.$each($visit),
            Logical::Aggregate(a) => a.input.$each($visit),
            Logical::Join { left, right, .. } => {
                left.$each($visit);
                right.$each($visit);
            }
            Logical::Concatenate { inputs, .. } => {
                inputs.$iter().for_each(|(input, _)| input.$each($visit));
            }
            Logical::Recursive(r) => {
                r.anchor.$each($visit);
                r.members.$iter().for_each(|(member, _)| member.$each($visit));
            }
        }
    };
}

impl Logical {
    /// Visits every node, itself first.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Logical)) {
        visit(self);
        each_input!(self, visit, for_each, iter);
    }

    /// How many nodes stand one in the other; counted without recursion.
    pub fn height(&self) -> usize {
        let mut highest = 0;
        let mut open = vec![(self, 1)];
        while let Some((node, level)) = open.pop() {
            highest = highest.max(level);
            node.for_each_input(&mut |input| open.push((input, level + 1)));
        }
        highest
    }

    /// How many nodes it has; counted without recursion.
    pub fn count(&self) -> usize {
        let mut count = 0;
        let mut open = vec![self];
        while let Some(node) = open.pop() {
            count += 1;
            node.for_each_input(&mut |input| open.push(input));
        }
        count
    }

    /// Visits the nodes right below it.
    pub(crate) fn for_each_input<'a>(&'a self, visit: &mut dyn FnMut(&'a Logical)) {
        each_input!(self, visit, visited, iter);
    }

    fn visited<'a>(&'a self, visit: &mut dyn FnMut(&'a Logical)) {
        visit(self);
    }

    /// Every node of the tree, from the top.
    pub fn for_each_mut(&mut self, visit: &mut dyn FnMut(&mut Logical)) {
        visit(self);
        each_input!(self, visit, for_each_mut, iter_mut);
    }

    /// What the tree reads, of its own slots too, and which slots it writes.
    pub fn reads_and_writes(&self, reads: &mut Reads, writes: &mut BTreeSet<Slot>) {
        match self {
            Logical::Get(get) => {
                writes.extend(get.columns.iter().map(|c| c.slot));
                writes.extend(get.location);
                if let Some(old) = &get.target {
                    writes.extend([old.uniquifier, old.rid, old.hint].into_iter().flatten());
                }
            }
            Logical::Virtual(get) => {
                get.arguments.iter().for_each(|x| x.read_into(reads));
                writes.extend(get.columns.iter().map(|c| c.slot));
            }
            Logical::Function(call) => {
                call.arguments.iter().for_each(|x| x.read_into(reads));
                writes.extend(&call.columns);
            }
            Logical::Values { rows, columns } => {
                rows.iter().flatten().for_each(|x| x.read_into(reads));
                writes.extend(columns);
            }
            Logical::Changed { columns, .. } => writes.extend(columns),
            Logical::Filter { input, predicate } => {
                predicate.read_into(reads);
                input.reads_and_writes(reads, writes);
            }
            Logical::Compute { input, columns } => {
                columns.iter().for_each(|(_, x)| x.read_into(reads));
                writes.extend(columns.iter().map(|(slot, _)| *slot));
                input.reads_and_writes(reads, writes);
            }
            Logical::Join { left, right, on, .. } => {
                on.read_into(reads);
                left.reads_and_writes(reads, writes);
                right.reads_and_writes(reads, writes);
            }
            Logical::Concatenate { inputs, columns } => {
                for (input, slots) in inputs {
                    input.reads_and_writes(reads, writes);
                    reads.slots.extend(slots);
                }
                writes.extend(columns);
            }
            Logical::Recursive(r) => {
                for (input, slots) in r.inputs() {
                    input.reads_and_writes(reads, writes);
                    reads.slots.extend(slots);
                }
                writes.extend(r.columns.iter().chain(&r.work));
            }
            Logical::Aggregate(_)
            | Logical::Distinct { .. }
            | Logical::Window { .. }
            | Logical::Sort { .. }
            | Logical::Top { .. } => self.ordering_reads_and_writes(reads, writes),
        }
    }

    /// The same for nodes that group, order and limit.
    fn ordering_reads_and_writes(&self, reads: &mut Reads, writes: &mut BTreeSet<Slot>) {
        match self {
            Logical::Aggregate(a) => {
                reads.slots.extend(a.keys.iter().map(|(slot, _)| *slot));
                for call in &a.calls {
                    call.argument.iter().chain(&call.separator).for_each(|x| x.read_into(reads));
                    writes.insert(call.output);
                }
                a.input.reads_and_writes(reads, writes);
            }
            Logical::Distinct { input, columns } => {
                reads.slots.extend(columns.iter().map(|(slot, _)| *slot));
                input.reads_and_writes(reads, writes);
            }
            Logical::Window { input, partition, order, calls } => {
                reads.slots.extend(partition.iter().chain(order).map(|k| k.slot));
                for call in calls {
                    call.function.read_into(reads);
                    writes.insert(call.output);
                }
                input.reads_and_writes(reads, writes);
            }
            Logical::Sort { input, keys } => {
                reads.slots.extend(keys.iter().map(|k| k.slot));
                input.reads_and_writes(reads, writes);
            }
            Logical::Top { input, top } => {
                top.read_into(reads);
                input.reads_and_writes(reads, writes);
            }
            // All others are the caller's.
            _ => {}
        }
    }
}
