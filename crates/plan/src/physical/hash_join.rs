//! A hash table of one side, probed with the other.

use super::description::{Expression, Flow, InputOrder, Memory, Operator, RowBound, RowSlots};
use super::display::{Display, Item, Phrase};
use crate::held::{HeldBytes, operator_fields};
use crate::show::list;
use crate::{JoinKind, Predicate, Slot};
use std::fmt;
use types::Collation;

/// A hash join.
#[derive(Clone, Debug, PartialEq)]
pub struct HashJoin<I> {
    /// What is kept: `Left` keeps all of `probe`, `Right` all of `build`; Semi and Anti keep rows
    /// of `probe`.
    pub kind: JoinKind,
    /// The side that is read first, into a hash table.
    pub build: I,
    /// The side that is read second.
    pub probe: I,
    /// Equal pairs: slot of build, slot of probe, collation; of one family each (`types::hash`
    /// agrees within it), NULL matching nothing.
    pub keys: Vec<(Slot, Slot, Collation)>,
    /// What else must be true of a pair.
    pub residual: Option<Predicate>,
    /// What a row of the build side keeps.
    pub build_slots: Vec<Slot>,
    /// Slots of the probe side, NULL where a right or full join has none.
    pub probe_slots: Vec<Slot>,
}

operator_fields! { HashJoin: build, probe, keys, residual, build_slots, probe_slots; }

impl<I: HeldBytes> Operator<I> for HashJoin<I> {
    fn inputs(&self) -> Vec<&I> {
        vec![&self.build, &self.probe]
    }

    fn inputs_mut(&mut self) -> Vec<&mut I> {
        vec![&mut self.build, &mut self.probe]
    }

    fn output(&self) -> RowSlots {
        RowSlots::Own(self.build_slots.iter().chain(&self.probe_slots).copied().collect())
    }

    fn expressions<'p>(&'p self, visit: &mut dyn FnMut(Expression<'p>)) {
        self.residual.iter().for_each(|p| visit(Expression::Condition(p)));
    }

    fn slots_read(&self) -> Vec<Slot> {
        let keys = self.keys.iter().flat_map(|k| [k.0, k.1]);
        keys.chain(self.build_slots.iter().chain(&self.probe_slots).copied()).collect()
    }

    fn row_bound(&self) -> RowBound {
        RowBound::Many
    }

    fn memory(&self) -> Memory {
        Memory::Many
    }

    fn flow(&self) -> Flow {
        Flow::ReadsAhead
    }

    fn runs_in_workers(&self) -> bool {
        true
    }

    fn orders(&self) -> Vec<InputOrder> {
        vec![InputOrder::Any, InputOrder::AsOutput]
    }

    fn line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HashJoin {:?} ", self.kind)?;
        list(f, &self.keys, |f, (b, p, _)| write!(f, "{b} = {p}"))?;
        match &self.residual {
            Some(p) => write!(f, " and {p}"),
            None => Ok(()),
        }
    }

    fn display(&self) -> Display<'_> {
        let build: Vec<Slot> = self.keys.iter().map(|k| k.0).collect();
        let probe: Vec<Slot> = self.keys.iter().map(|k| k.1).collect();
        let residual = self.residual.as_ref();
        Display::new("Hash Match", hash_name(self.kind), "Hash")
            .item(Item::Columns("HashKeysBuild", build.clone()))
            .item(Item::Columns("HashKeysProbe", probe.clone()))
            .condition("ProbeResidual", residual)
            .inputs()
            .clause("HASH:(", Phrase::Slots(build))
            .clause("=(", Phrase::Slots(probe))
            .tested(", RESIDUAL:(", residual)
    }
}

/// The build side stands first, and is the left one there.
fn hash_name(kind: JoinKind) -> &'static str {
    match kind {
        JoinKind::Inner => "Inner Join",
        JoinKind::Left => "Right Outer Join",
        JoinKind::Right => "Left Outer Join",
        JoinKind::Full => "Full Outer Join",
        JoinKind::Semi => "Right Semi Join",
        JoinKind::Anti => "Right Anti Semi Join",
    }
}
