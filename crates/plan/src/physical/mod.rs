//! The physical tree: operators of row mode.
//!
//! Each operator is a file: what it is, and the description of itself that all others read
//! ([`Operator`]). This file lists them, and has the walks over a whole tree.
//!
//! Each operator names the slots it writes. `carried` of an operator that remembers rows lists
//! the slots it saves with each and restores when it gives the row out again.

mod access;
mod assert;
mod changed;
mod compute;
mod concatenation;
mod constants;
mod description;
mod display;
mod exchange;
mod filter;
mod function_rows;
mod hash_aggregate;
mod hash_join;
mod index_spool;
mod lookup;
mod merge_join;
mod merge_union;
mod nested_loops;
mod recursion;
mod sort;
mod split;
mod spool;
mod startup_filter;
mod stored;
mod stream_aggregate;
mod top;
mod top_sort;
mod virtual_scan;
mod window;

pub use access::{Access, PageSample};
pub use changed::ChangedRows;
pub use constants::Constants;
pub use description::{
    Expression, Flow, InputOrder, Memory, Opening, Operator, RowBound, RowSlots,
};
pub use display::{Definition, Display, Item, Phrase};
pub use exchange::ExchangeKind;
pub use merge_join::MergeKey;
pub use split::SplitColumn;
pub use stored::{Bound, Reading, ScanColumn, Seek, SeekRange, Source, StoredAccess};
pub use virtual_scan::VirtualScan;

use crate::held::HeldBytes;
use crate::show::{Show, line};
use crate::{FunctionRows, Reads, Recursion, Slot};
use std::fmt;

/// An operator with its inputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Physical {
    /// Rows of a heap or an index, all or a range of its key.
    Access(Box<Access>),
    /// For each row of the input (an index's), the row in the heap or clustered index.
    Lookup(Box<KeyLookup>),
    /// Rows of a system view or function.
    Virtual(Box<VirtualScan>),
    /// Rows that a function makes of its arguments.
    Function(Box<FunctionRows>),
    /// Rows that stand in the plan.
    Constants(Constants),
    /// The rows that a target of the plan has changed.
    Changed(ChangedRows),
    /// Rows for which a predicate is true.
    Filter(Filter),
    /// Rows only if a predicate is true that reads none of their columns.
    StartupFilter(StartupFilter),
    /// One row at most.
    Assert(Assert),
    /// Further columns.
    Compute(Compute),
    /// For each row of the outer side, those of the inner.
    NestedLoops(Box<NestedLoops>),
    /// A hash table of one side, probed with the other.
    HashJoin(Box<HashJoin>),
    /// Two inputs in the order of their keys, read side by side.
    MergeJoin(Box<MergeJoin>),
    /// All rows in order.
    Sort(Sort),
    /// The first rows in order.
    TopSort(TopSort),
    /// The first rows.
    Top(TopRows),
    /// Groups by hash table.
    HashAggregate(HashAggregate),
    /// Groups of neighbours.
    StreamAggregate(StreamAggregate),
    /// Window functions.
    Window(Window),
    /// Rows of an anchor, and depth first those that follow from each.
    Recursive(Box<Recursion<Physical>>),
    /// One input after the other.
    Concatenation(Concatenation),
    /// Two ordered inputs read side by side into one order.
    MergeUnion(Box<MergeUnion>),
    /// Rows that several workers make change hands.
    Exchange(Box<Exchange>),
    /// Two rows of each: an index's old entry and its new one.
    Split(Box<Split>),
    /// Rows of an input that is read once, found by a key.
    IndexSpool(Box<IndexSpool>),
    /// Reads its whole input before it gives the first row.
    Spool(Spool),
}

/// For each row of the input (an index's), the row in the heap or clustered index.
pub type KeyLookup = lookup::KeyLookup<Physical>;
/// Rows for which a predicate is true.
pub type Filter = filter::Filter<Physical>;
/// Rows only if a predicate is true that reads none of their columns.
pub type StartupFilter = startup_filter::StartupFilter<Physical>;
/// One row at most.
pub type Assert = assert::Assert<Physical>;
/// Further columns.
pub type Compute = compute::Compute<Physical>;
/// For each row of the outer side, those of the inner.
pub type NestedLoops = nested_loops::NestedLoops<Physical>;
/// A hash table of one side, probed with the other.
pub type HashJoin = hash_join::HashJoin<Physical>;
/// Two inputs in the order of their keys, read side by side.
pub type MergeJoin = merge_join::MergeJoin<Physical>;
/// All rows in order.
pub type Sort = sort::Sort<Physical>;
/// The first rows in order.
pub type TopSort = top_sort::TopSort<Physical>;
/// The first rows.
pub type TopRows = top::TopRows<Physical>;
/// Groups by hash table.
pub type HashAggregate = hash_aggregate::HashAggregate<Physical>;
/// Groups of neighbours.
pub type StreamAggregate = stream_aggregate::StreamAggregate<Physical>;
/// Window functions.
pub type Window = window::Window<Physical>;
/// One input after the other.
pub type Concatenation = concatenation::Concatenation<Physical>;
/// Two ordered inputs read side by side into one order.
pub type MergeUnion = merge_union::MergeUnion<Physical>;
/// Rows that several workers make change hands.
pub type Exchange = exchange::Exchange<Physical>;
/// Two rows of each: an index's old entry and its new one.
pub type Split = split::Split<Physical>;
/// Rows of an input that is read once, found by a key.
pub type IndexSpool = index_spool::IndexSpool<Physical>;
/// Reads its whole input before it gives the first row.
pub type Spool = spool::Spool<Physical>;

/// Does the one with each operator that stands in the enum itself, the other with those in a box.
macro_rules! each {
    ($node:expr, $o:ident: $inline:expr, $boxed:expr) => {
        match $node {
            Physical::Access($o) => $boxed,
            Physical::Lookup($o) => $boxed,
            Physical::Virtual($o) => $boxed,
            Physical::Function($o) => $boxed,
            Physical::NestedLoops($o) => $boxed,
            Physical::HashJoin($o) => $boxed,
            Physical::MergeJoin($o) => $boxed,
            Physical::Recursive($o) => $boxed,
            Physical::MergeUnion($o) => $boxed,
            Physical::Exchange($o) => $boxed,
            Physical::Split($o) => $boxed,
            Physical::IndexSpool($o) => $boxed,
            Physical::Constants($o) => $inline,
            Physical::Changed($o) => $inline,
            Physical::Filter($o) => $inline,
            Physical::StartupFilter($o) => $inline,
            Physical::Assert($o) => $inline,
            Physical::Compute($o) => $inline,
            Physical::Sort($o) => $inline,
            Physical::TopSort($o) => $inline,
            Physical::Top($o) => $inline,
            Physical::HashAggregate($o) => $inline,
            Physical::StreamAggregate($o) => $inline,
            Physical::Window($o) => $inline,
            Physical::Concatenation($o) => $inline,
            Physical::Spool($o) => $inline,
        }
    };
}

impl Physical {
    /// What it says of itself.
    pub fn describe(&self) -> &dyn Operator<Physical> {
        each!(self, o: o, &**o)
    }

    /// The same, to be changed.
    pub fn describe_mut(&mut self) -> &mut dyn Operator<Physical> {
        each!(self, o: o, &mut **o)
    }

    /// The operators right below.
    pub fn inputs(&self) -> Vec<&Physical> {
        self.describe().inputs()
    }

    /// The same, to be replaced; the parts of a recursion stay as they are.
    pub fn inputs_mut(&mut self) -> Vec<&mut Physical> {
        self.describe_mut().inputs_mut()
    }

    /// The slots that the tree leaves its rows in.
    pub fn written(&self) -> Vec<Slot> {
        match self.describe().output() {
            RowSlots::Own(slots) => slots,
            RowSlots::InputAnd(more) => {
                let mut slots = self.inputs().first().map(|i| i.written()).unwrap_or_default();
                slots.extend(more);
                slots
            }
        }
    }

    /// Whether it gives one row at most, as far as its form tells.
    pub fn gives_one_row(&self) -> bool {
        let input = || self.inputs().first().is_some_and(|i| i.gives_one_row());
        match self.describe().row_bound() {
            RowBound::Many => false,
            RowBound::One | RowBound::Found | RowBound::InputFirst => true,
            RowBound::Input | RowBound::InputFound => input(),
        }
    }

    /// Whether it gives one row at most, whatever is stored.
    pub fn always_one_row(&self) -> bool {
        match self.describe().row_bound() {
            RowBound::Many | RowBound::Found | RowBound::InputFound => false,
            RowBound::One => true,
            RowBound::Input | RowBound::InputFirst => {
                self.inputs().first().is_some_and(|i| i.always_one_row())
            }
        }
    }

    /// Whether it keeps rows that may be many, so that the statement asks for memory.
    pub fn keeps_rows(&self) -> bool {
        match self.describe().memory() {
            Memory::None => false,
            Memory::Many => true,
            Memory::Input => !self.inputs().first().is_some_and(|i| i.gives_one_row()),
        }
    }

    /// Adds what the expressions of the operator itself read.
    pub fn read_into(&self, out: &mut Reads) {
        self.describe().expressions(&mut |x| match x {
            Expression::Value(x) => x.read_into(out),
            Expression::Condition(p) | Expression::Test(p) => p.read_into(out),
            Expression::Order(slot) => {
                out.slots.insert(slot);
            }
        });
    }

    /// Every operator of the tree, from the top.
    pub fn for_each<'p>(&'p self, visit: &mut dyn FnMut(&'p Physical)) {
        visit(self);
        for input in self.inputs() {
            input.for_each(visit);
        }
    }
}

impl HeldBytes for Physical {
    fn held(&self) -> usize {
        each!(self, o: o.held(), o.held())
    }
}

impl Show for Physical {
    fn is_nothing(&self) -> bool {
        matches!(self, Physical::Constants(c) if c.rows.is_empty() && c.columns.is_empty())
    }

    fn show(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        line(f, depth)?;
        self.describe().line(f)?;
        writeln!(f)?;
        self.inputs().into_iter().try_for_each(|input| input.show(f, depth + 1))
    }
}

impl fmt::Display for Physical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(f, 0)
    }
}
