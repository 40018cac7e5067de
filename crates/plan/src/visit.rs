//! Walks over scalars and predicates: what they read, and how to rewrite them.
//!
//! Recursion is bounded by the depth that `bind` admits, chains of operators included.

use crate::{
    IndexSpool, LikeText, Logical, Physical, Predicate, Scalar, ScalarKind, Slot, SubqueryId, Top,
    WindowFunction,
};
use std::collections::BTreeSet;

/// What an expression depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Slots it reads, without those it writes itself.
    pub slots: BTreeSet<Slot>,
    /// Subqueries it runs (their own reads are not in here).
    pub subqueries: BTreeSet<SubqueryId>,
    /// It reads a variable or a fact of the session.
    pub session: bool,
    /// It has a function that may answer differently each time.
    pub volatile: bool,
    /// It has one that may do so within one statement.
    pub changing: bool,
    /// It has one that answers once in a statement, but elsewhere for each copy of it.
    pub drawn: bool,
}

impl Reads {
    /// It depends on nothing that changes while a statement runs.
    pub fn is_fixed(&self) -> bool {
        self.slots.is_empty() && self.subqueries.is_empty() && !self.volatile
    }
}

impl Scalar {
    /// What it reads.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        self.read_into(&mut reads);
        reads
    }

    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        use ScalarKind as K;
        match &self.kind {
            K::Constant(_) => {}
            K::Column(slot) => {
                out.slots.insert(*slot);
            }
            K::Variable(_) | K::Global(_) => out.session = true,
            K::Negate(x) | K::BitNot(x) => x.read_into(out),
            K::Binary { left, right, .. } => {
                left.read_into(out);
                right.read_into(out);
            }
            K::Case { branches, otherwise } => {
                for (when, then) in branches {
                    when.read_into(out);
                    then.read_into(out);
                }
                if let Some(x) = otherwise {
                    x.read_into(out);
                }
            }
            K::Coalesce(list) => list.iter().for_each(|x| x.read_into(out)),
            K::Cast { operand, style, .. } => {
                operand.read_into(out);
                if let Some(x) = style {
                    x.read_into(out);
                }
            }
            K::Function { function, args, .. } => {
                out.volatile |= !function.deterministic;
                out.changing |= !function.is_runtime_constant();
                out.drawn |= function.is_drawn();
                args.iter().for_each(|x| x.read_into(out));
            }
            K::Method { args, .. } => args.iter().for_each(|x| x.read_into(out)),
            K::Call(call) => {
                out.volatile = true;
                out.changing = true;
                call.args.iter().for_each(|x| x.read_into(out));
            }
            K::Subquery(id) => {
                out.subqueries.insert(*id);
            }
            K::Let { slot, value, body } => {
                value.read_into(out);
                body.read_into(out);
                out.slots.remove(slot);
            }
        }
    }

    /// Rewrites every scalar within, innermost first, itself last.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Scalar)) {
        use ScalarKind as K;
        match &mut self.kind {
            K::Constant(_) | K::Column(_) | K::Variable(_) | K::Global(_) | K::Subquery(_) => {}
            K::Negate(x) | K::BitNot(x) => x.rewrite(change),
            K::Binary { left, right, .. } => {
                left.rewrite(change);
                right.rewrite(change);
            }
            K::Case { branches, otherwise } => {
                for (when, then) in branches {
                    when.rewrite(change);
                    then.rewrite(change);
                }
                if let Some(x) = otherwise {
                    x.rewrite(change);
                }
            }
            K::Coalesce(list) => list.iter_mut().for_each(|x| x.rewrite(change)),
            K::Cast { operand, style, .. } => {
                operand.rewrite(change);
                if let Some(x) = style {
                    x.rewrite(change);
                }
            }
            K::Function { args, .. } => args.iter_mut().for_each(|x| x.rewrite(change)),
            K::Method { args, .. } => args.iter_mut().for_each(|x| x.rewrite(change)),
            K::Call(call) => call.args.iter_mut().for_each(|x| x.rewrite(change)),
            K::Let { value, body, .. } => {
                value.rewrite(change);
                body.rewrite(change);
            }
        }
        change(self);
    }
}

impl Predicate {
    /// What it reads.
    pub fn reads(&self) -> Reads {
        let mut reads = Reads::default();
        self.read_into(&mut reads);
        reads
    }

    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        use Predicate as P;
        match self {
            P::Constant(_) => {}
            P::Compare { left, right, .. } | P::IsDistinct { left, right, .. } => {
                left.read_into(out);
                right.read_into(out);
            }
            P::IsNull(x) => x.read_into(out),
            P::Like { operand, pattern, .. } => {
                operand.read_into(out);
                if let LikeText::Dynamic { pattern, escape } = pattern {
                    pattern.read_into(out);
                    if let Some(x) = escape {
                        x.read_into(out);
                    }
                }
            }
            P::InList { operand, list, .. } => {
                operand.read_into(out);
                list.iter().for_each(|x| x.read_into(out));
            }
            P::Exists(id) => {
                out.subqueries.insert(*id);
            }
            P::Quantified { operand, subquery, .. } => {
                operand.read_into(out);
                out.subqueries.insert(*subquery);
            }
            P::Not(p) => p.read_into(out),
            P::And(parts) | P::Or(parts) => parts.iter().for_each(|p| p.read_into(out)),
            P::Let { slot, value, body } => {
                value.read_into(out);
                body.read_into(out);
                out.slots.remove(slot);
            }
        }
    }

    /// Rewrites every scalar within, innermost first.
    pub fn rewrite(&mut self, change: &mut dyn FnMut(&mut Scalar)) {
        use Predicate as P;
        match self {
            P::Constant(_) | P::Exists(_) => {}
            P::Compare { left, right, .. } | P::IsDistinct { left, right, .. } => {
                left.rewrite(change);
                right.rewrite(change);
            }
            P::IsNull(x) => x.rewrite(change),
            P::Like { operand, pattern, .. } => {
                operand.rewrite(change);
                if let LikeText::Dynamic { pattern, escape } = pattern {
                    pattern.rewrite(change);
                    if let Some(x) = escape {
                        x.rewrite(change);
                    }
                }
            }
            P::InList { operand, list, .. } => {
                operand.rewrite(change);
                list.iter_mut().for_each(|x| x.rewrite(change));
            }
            P::Quantified { operand, .. } => operand.rewrite(change),
            P::Not(p) => p.rewrite(change),
            P::And(parts) | P::Or(parts) => parts.iter_mut().for_each(|p| p.rewrite(change)),
            P::Let { value, body, .. } => {
                value.rewrite(change);
                body.rewrite(change);
            }
        }
    }
}

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
    fn for_each_input<'a>(&'a self, visit: &mut dyn FnMut(&'a Logical)) {
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

impl WindowFunction {
    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        self.arguments().for_each(|x| x.read_into(out));
    }
}

impl Top {
    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        self.count.iter().chain(&self.offset).for_each(|x| x.read_into(out));
        if let Some(keys) = &self.ties {
            out.slots.extend(keys.iter().map(|k| k.slot));
        }
    }
}

impl IndexSpool {
    /// Adds what it reads.
    pub fn read_into(&self, out: &mut Reads) {
        self.equal.iter().chain(&self.lower).chain(&self.upper).for_each(|x| x.read_into(out));
        self.predicate.read_into(out);
    }
}

impl Physical {
    /// The operators right below.
    pub fn inputs(&self) -> Vec<&Physical> {
        match self {
            Physical::Access(_)
            | Physical::Virtual(_)
            | Physical::Function(_)
            | Physical::Constants { .. }
            | Physical::Changed { .. } => Vec::new(),
            Physical::Lookup(l) => vec![&l.input],
            Physical::Filter { input, .. }
            | Physical::StartupFilter { input, .. }
            | Physical::Assert { input, .. }
            | Physical::Compute { input, .. }
            | Physical::Sort { input, .. }
            | Physical::TopSort { input, .. }
            | Physical::Top { input, .. }
            | Physical::HashAggregate { input, .. }
            | Physical::StreamAggregate { input, .. }
            | Physical::Window { input, .. }
            | Physical::Spool { input, .. } => vec![input],
            Physical::Exchange(e) => vec![&e.input],
            Physical::Split(s) => vec![&s.input],
            Physical::IndexSpool(s) => vec![&s.input],
            Physical::NestedLoops(j) => vec![&j.outer, &j.inner],
            Physical::HashJoin(j) => vec![&j.build, &j.probe],
            Physical::MergeJoin(j) => vec![&j.left, &j.right],
            Physical::MergeUnion(u) => vec![&u.left, &u.right],
            Physical::Concatenation { inputs, .. } => inputs.iter().map(|(i, _)| i).collect(),
            Physical::Recursive(r) => r.inputs().map(|(i, _)| i).collect(),
        }
    }

    /// The same, to be replaced; the parts of a recursion stay as they are.
    pub fn inputs_mut(&mut self) -> Vec<&mut Physical> {
        match self {
            Physical::Access(_)
            | Physical::Virtual(_)
            | Physical::Function(_)
            | Physical::Constants { .. }
            | Physical::Changed { .. }
            | Physical::Recursive(_) => Vec::new(),
            Physical::Lookup(l) => vec![&mut l.input],
            Physical::Filter { input, .. }
            | Physical::StartupFilter { input, .. }
            | Physical::Assert { input, .. }
            | Physical::Compute { input, .. }
            | Physical::Sort { input, .. }
            | Physical::TopSort { input, .. }
            | Physical::Top { input, .. }
            | Physical::HashAggregate { input, .. }
            | Physical::StreamAggregate { input, .. }
            | Physical::Window { input, .. }
            | Physical::Spool { input, .. } => vec![input],
            Physical::Exchange(e) => vec![&mut e.input],
            Physical::Split(s) => vec![&mut s.input],
            Physical::IndexSpool(s) => vec![&mut s.input],
            Physical::NestedLoops(j) => vec![&mut j.outer, &mut j.inner],
            Physical::HashJoin(j) => vec![&mut j.build, &mut j.probe],
            Physical::MergeJoin(j) => vec![&mut j.left, &mut j.right],
            Physical::MergeUnion(u) => vec![&mut u.left, &mut u.right],
            Physical::Concatenation { inputs, .. } => inputs.iter_mut().map(|(i, _)| i).collect(),
        }
    }

    /// The slots that the tree leaves its rows in.
    pub fn written(&self) -> Vec<Slot> {
        match self {
            Physical::Access(a) => {
                let place = a.rid.into_iter().chain(a.hint).chain(a.location);
                a.columns.iter().map(|c| c.slot).chain(place).collect()
            }
            Physical::Lookup(l) => {
                let mut slots = l.input.written();
                slots.extend(l.columns.iter().map(|c| c.slot).chain(l.rid).chain(l.hint));
                slots.extend(l.location);
                slots
            }
            Physical::Virtual(v) => v.columns.iter().map(|c| c.slot).collect(),
            Physical::Function(call) => call.columns.clone(),
            Physical::Constants { columns, .. }
            | Physical::Changed { columns, .. }
            | Physical::Concatenation { columns, .. } => columns.clone(),
            Physical::MergeUnion(u) => u.columns.clone(),
            Physical::Recursive(r) => r.columns.clone(),
            Physical::Filter { input, .. }
            | Physical::StartupFilter { input, .. }
            | Physical::Assert { input, .. }
            | Physical::Top { input, .. } => input.written(),
            Physical::Compute { input, columns } => {
                let mut slots = input.written();
                slots.extend(columns.iter().map(|c| c.0));
                slots
            }
            Physical::NestedLoops(join) => {
                let mut slots = join.outer.written();
                slots.extend(&join.inner_slots);
                slots
            }
            Physical::HashJoin(join) => {
                join.build_slots.iter().chain(&join.probe_slots).copied().collect()
            }
            Physical::MergeJoin(join) => {
                join.left_slots.iter().chain(&join.right_slots).copied().collect()
            }
            Physical::Sort { carried, .. }
            | Physical::TopSort { carried, .. }
            | Physical::Spool { carried, .. } => carried.clone(),
            Physical::Exchange(e) => e.columns.clone(),
            Physical::Split(s) => s.written().collect(),
            Physical::IndexSpool(s) => s.carried.clone(),
            Physical::Window { input, calls, .. } => {
                let mut slots = input.written();
                slots.extend(calls.iter().map(|c| c.output));
                slots
            }
            Physical::HashAggregate { keys, calls, .. }
            | Physical::StreamAggregate { keys, calls, .. } => {
                keys.iter().map(|k| k.0).chain(calls.iter().map(|c| c.output)).collect()
            }
        }
    }

    /// Every operator of the tree, from the top.
    pub fn for_each<'p>(&'p self, visit: &mut dyn FnMut(&'p Physical)) {
        visit(self);
        for input in self.inputs() {
            input.for_each(visit);
        }
    }
}
