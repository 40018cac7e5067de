//! modify(): edits are found first, then the value is written anew with them in one walk.

use super::{Item, Run};
use crate::tree::{Expr, Place, Update};
use base::{SqlError, SqlResult, messages};
use std::collections::BTreeMap;
use xml::{NodeId, NodeKind, Tree, TreeBuilder, Xml};

/// What happens at a node.
#[derive(Default)]
struct Edit {
    before: Vec<Item>,
    first: Vec<Item>,
    last: Vec<Item>,
    after: Vec<Item>,
    attributes: Vec<Item>,
    deleted: bool,
    /// The node's new characters.
    value: Option<String>,
}

type Edits = BTreeMap<NodeId, Edit>;

impl Run<'_> {
    pub(crate) fn update(
        &mut self,
        update: &Update,
        bindings: &[(Box<str>, Box<str>)],
    ) -> SqlResult<Xml> {
        let mut edits = Edits::new();
        match update {
            Update::Delete(target) => {
                for node in self.targets(target)? {
                    edits.entry(node).or_default().deleted = true;
                }
            }
            Update::Insert { content, place, target } => {
                let focus = self.focus();
                let items = self.eval(content, &focus)?;
                if let Some(node) = self.targets(target)?.first() {
                    self.insertion(*node, *place, items, &mut edits)?;
                }
            }
            Update::Replace { target, with, emptied } => {
                let focus = self.focus();
                let items = self.eval(with, &focus)?;
                if let Some(node) = self.targets(target)?.first() {
                    self.check_value(*node, &items, *emptied)?;
                    edits.entry(*node).or_default().value = Some(self.spaced(&items)?);
                }
            }
        }
        let mut builder = TreeBuilder::new();
        let held = self.tree(0);
        self.rewrite(&held, NodeId::DOCUMENT, &edits, &mut builder)?;
        Ok(Xml::of_parts(&builder.finish(), bindings))
    }

    /// The nodes of the value that a target is.
    fn targets(&mut self, target: &Expr) -> SqlResult<Vec<NodeId>> {
        let focus = self.focus();
        let items = self.eval(target, &focus)?;
        Ok(items.iter().filter_map(Item::of_value).collect())
    }

    fn insertion(
        &mut self,
        node: NodeId,
        place: Place,
        items: Vec<Item>,
        edits: &mut Edits,
    ) -> SqlResult<()> {
        let held = self.tree(0);
        let is_attribute = |i: &Item| match i {
            Item::Node(number, id) => self.tree(*number).kind(*id) == NodeKind::Attribute,
            Item::Atomic(_) => false,
        };
        let (attributes, nodes): (Vec<Item>, Vec<Item>) = items.into_iter().partition(is_attribute);
        let inside = matches!(place, Place::First | Place::Last);
        let element = held.kind(node) == NodeKind::Element;
        let placeable = match held.kind(node) {
            NodeKind::Element | NodeKind::Document => true,
            _ => !inside,
        };
        let takes_attributes = inside && element;
        if !placeable || (!attributes.is_empty() && !takes_attributes) {
            return Err(SqlError::new(messages::XML_ATTRIBUTE_OUTSIDE, &[]));
        }
        let edit = edits.entry(node).or_default();
        edit.attributes = attributes;
        match place {
            Place::First => edit.first = nodes,
            Place::Last => edit.last = nodes,
            Place::Before => edit.before = nodes,
            Place::After => edit.after = nodes,
        }
        Ok(())
    }

    /// 6320 and 6325: nothing replaces nothing, but for `()` and a text.
    fn check_value(&mut self, node: NodeId, items: &[Item], emptied: bool) -> SqlResult<()> {
        if !items.is_empty() {
            return Ok(());
        }
        match self.tree(0).kind(node) {
            NodeKind::Text if emptied => Ok(()),
            NodeKind::Text => Err(SqlError::new(messages::XML_TEXT_EMPTY, &[])),
            _ => Err(SqlError::new(messages::XML_VALUE_EMPTY, &[])),
        }
    }

    /// A node with its edits; recursion is as deep as elements nest.
    fn rewrite(
        &mut self,
        tree: &Tree,
        id: NodeId,
        edits: &Edits,
        out: &mut TreeBuilder,
    ) -> SqlResult<()> {
        self.tick()?;
        let edit = edits.get(&id);
        if let Some(edit) = edit {
            self.append(&edit.before, out)?;
        }
        let deleted = edit.is_some_and(|e| e.deleted);
        let kind = tree.kind(id);
        match edit.and_then(|e| e.value.as_deref()) {
            _ if deleted => {}
            Some(text) if kind == NodeKind::Text => out.text(text)?,
            _ if kind == NodeKind::Element || kind == NodeKind::Document => {
                self.rewrite_within(tree, id, edits, out)?;
            }
            _ => out.copy(tree, id)?,
        }
        match edit {
            Some(edit) => self.append(&edit.after, out),
            None => Ok(()),
        }
    }

    fn rewrite_within(
        &mut self,
        tree: &Tree,
        id: NodeId,
        edits: &Edits,
        out: &mut TreeBuilder,
    ) -> SqlResult<()> {
        let edit = edits.get(&id);
        if let Some(name) = tree.name(id) {
            out.start(&name.prefix, &name.local, &name.uri)?;
            self.belongings(tree, id, edits, out)?;
        }
        if let Some(edit) = edit {
            self.append(&edit.first, out)?;
        }
        for child in tree.children(id) {
            self.rewrite(tree, child, edits, out)?;
        }
        if let Some(edit) = edit {
            self.append(&edit.last, out)?;
        }
        if tree.kind(id) == NodeKind::Element {
            out.close();
        }
        Ok(())
    }

    /// Namespaces and attributes: a new attribute goes behind the first of these, the next one
    /// behind the second, and so on.
    fn belongings(
        &mut self,
        tree: &Tree,
        id: NodeId,
        edits: &Edits,
        out: &mut TreeBuilder,
    ) -> SqlResult<()> {
        tree.namespaces(id).try_for_each(|n| out.copy(tree, n))?;
        let mut added = edits.get(&id).map(|e| e.attributes.as_slice()).unwrap_or_default();
        let mut gaps = tree.namespaces(id).count();
        let add = |run: &mut Self, added: &mut &[Item], out: &mut TreeBuilder| {
            let Some((first, rest)) = added.split_first() else { return Ok(()) };
            *added = rest;
            run.append(std::slice::from_ref(first), out)
        };
        while gaps > 0 && !added.is_empty() {
            add(self, &mut added, out)?;
            gaps -= 1;
        }
        for attribute in tree.attributes(id) {
            let edit = edits.get(&attribute);
            if edit.is_some_and(|e| e.deleted) {
                continue;
            }
            match (edit.and_then(|e| e.value.as_deref()), tree.name(attribute)) {
                (Some(value), Some(n)) => out.attribute(&n.prefix, &n.local, &n.uri, value)?,
                _ => out.copy(tree, attribute)?,
            }
            add(self, &mut added, out)?;
        }
        self.append(added, out)
    }
}
