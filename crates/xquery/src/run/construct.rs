//! Nodes that constructors make, and sequences as content.
//!
//! Values side by side are joined by a space into one text; attributes belong to the element that
//! is open, ahead of its children.

use super::{Focus, Item, Run};
use crate::tree::{AttributeValue, Element, Expr};
use base::{SqlError, SqlResult, messages};
use xml::{NodeId, NodeKind, TreeBuilder};

/// A part of an element's content.
enum Part<'e> {
    /// What the text itself spells out.
    Written(&'e Expr),
    /// What an expression gave.
    Items(Vec<Item>),
}

impl From<Vec<Item>> for Part<'_> {
    fn from(items: Vec<Item>) -> Self {
        Part::Items(items)
    }
}

impl Run<'_> {
    /// A constructor's node, in a tree of its own.
    pub(super) fn constructed(&mut self, e: &Expr, focus: &Focus) -> SqlResult<Vec<Item>> {
        let mut builder = TreeBuilder::new();
        if let Expr::Attribute(parts) = e {
            // It stands in an element that nobody sees.
            builder.start("", "a", "")?;
            let value = self.joined(&parts.1, focus)?;
            builder.attribute(&parts.0.prefix, &parts.0.local, &parts.0.uri, &value)?;
            let number = self.hold(builder.finish())?;
            return Ok(vec![Item::Node(number, NodeId(2))]);
        }
        self.construct(e, focus, &mut builder)?;
        let tree = builder.finish();
        let nodes: Vec<NodeId> = tree.children(NodeId::DOCUMENT).collect();
        let number = self.hold(tree)?;
        Ok(nodes.into_iter().map(|n| Item::Node(number, n)).collect())
    }

    /// The values of an expression with spaces between.
    fn joined(&mut self, e: &Expr, focus: &Focus) -> SqlResult<String> {
        let items = self.eval(e, focus)?;
        self.spaced(&items)
    }

    pub(super) fn spaced(&self, items: &[Item]) -> SqlResult<String> {
        let mut whole = String::new();
        for (n, item) in items.iter().enumerate() {
            whole.push_str(if n > 0 { " " } else { "" });
            whole.push_str(&self.atomized(item).text());
            self.bounded_text(whole.len())?;
        }
        check_characters(&whole)?;
        Ok(whole)
    }

    fn construct(&mut self, e: &Expr, focus: &Focus, out: &mut TreeBuilder) -> SqlResult<()> {
        match e {
            Expr::Element(element) => self.element(element, focus, out),
            Expr::Text(value) => {
                let text = self.joined(value, focus)?;
                out.text(&text)
            }
            Expr::Characters(text) => out.text(text),
            Expr::Comment(text) => out.comment(text),
            Expr::Instruction(target, text) => out.instruction(target, text),
            other => {
                let items = self.eval(other, focus)?;
                self.append(&items, out)
            }
        }
    }

    fn element(
        &mut self,
        element: &Element,
        focus: &Focus,
        out: &mut TreeBuilder,
    ) -> SqlResult<()> {
        let name = &element.name;
        out.start(&name.prefix, &name.local, &name.uri)?;
        for (prefix, uri) in &element.namespaces {
            out.namespace(prefix, uri)?;
        }
        for (name, value) in &element.attributes {
            let text = match value {
                AttributeValue::Text(text) => text.clone(),
                AttributeValue::Computed(e) => self.joined(e, focus)?,
            };
            out.attribute(&name.prefix, &name.local, &name.uri, &text)?;
        }
        let mut parts = Vec::with_capacity(element.content.len());
        for part in &element.content {
            let written = matches!(
                part,
                Expr::Element(_) | Expr::Characters(_) | Expr::Comment(_) | Expr::Instruction(..)
            );
            parts.push(if written { Part::Written(part) } else { self.eval(part, focus)?.into() });
        }
        self.hoist(&mut parts, out)?;
        for part in &parts {
            match part {
                Part::Written(e) => self.construct(e, focus, out)?,
                Part::Items(items) => self.append(items, out)?,
            }
        }
        out.close();
        Ok(())
    }

    /// Attributes among the content go into the tag, past text: up to the first other node.
    fn hoist(&mut self, parts: &mut [Part<'_>], out: &mut TreeBuilder) -> SqlResult<()> {
        for part in parts {
            let items = match part {
                Part::Written(Expr::Characters(_)) => continue,
                Part::Written(_) => return Ok(()),
                Part::Items(items) => items,
            };
            let mut kept = Vec::with_capacity(items.len());
            let mut rest = std::mem::take(items).into_iter();
            let mut ended = false;
            for item in rest.by_ref() {
                let kind = match &item {
                    Item::Node(number, id) => self.tree(*number).kind(*id),
                    Item::Atomic(_) => NodeKind::Text,
                };
                match kind {
                    NodeKind::Attribute => self.append(std::slice::from_ref(&item), out)?,
                    _ => kept.push(item),
                }
                if !matches!(kind, NodeKind::Attribute | NodeKind::Text) {
                    ended = true;
                    break;
                }
            }
            kept.extend(rest);
            *items = kept;
            if ended {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Items as content of what is open.
    pub(crate) fn append(&mut self, items: &[Item], out: &mut TreeBuilder) -> SqlResult<()> {
        let mut after_value = false;
        for item in items {
            self.tick()?;
            match item {
                Item::Atomic(value) => {
                    if after_value {
                        out.text(" ")?;
                    }
                    let text = value.text();
                    check_characters(&text)?;
                    out.text(&text)?;
                }
                Item::Node(number, id) => {
                    let tree = self.tree(*number);
                    if tree.kind(*id) == NodeKind::Attribute {
                        check_attribute(out, &tree, *id)?;
                    }
                    out.copy(&tree, *id)?;
                }
            }
            after_value = matches!(item, Item::Atomic(_));
        }
        Ok(())
    }
}

/// 9420 for a character that XML does not have: strings of SQL may have it.
fn check_characters(text: &str) -> SqlResult<()> {
    match text.chars().position(|c| !xml::is_xml_char(c)) {
        Some(at) => Err(SqlError::new(messages::XML_CHARACTER, &[&1, &(at + 1)])),
        None => Ok(()),
    }
}

/// 6307 for an attribute outside of a start tag, 6308 for one of a name that is there.
fn check_attribute(out: &TreeBuilder, tree: &xml::Tree, id: NodeId) -> SqlResult<()> {
    let open = out.current();
    let so_far = out.so_far();
    let last = NodeId(so_far.len().saturating_sub(1));
    let in_tag = open != NodeId::DOCUMENT
        && (last == open
            || matches!(so_far.kind(last), NodeKind::Attribute | NodeKind::Namespace)
                && so_far.parent(last) == Some(open));
    if !in_tag {
        return Err(SqlError::new(messages::XML_ATTRIBUTE_OUTSIDE, &[]));
    }
    let Some(name) = tree.name(id) else { return Ok(()) };
    let same = |&a: &NodeId| {
        so_far.name(a).is_some_and(|known| known.local == name.local && known.uri == name.uri)
    };
    let attributes = (open.0 + 1..so_far.len()).map(NodeId);
    let twice = attributes
        .take_while(|&n| matches!(so_far.kind(n), NodeKind::Attribute | NodeKind::Namespace))
        .filter(|&n| so_far.kind(n) == NodeKind::Attribute)
        .any(|n| same(&n));
    match twice {
        true => Err(SqlError::new(messages::XML_ATTRIBUTE_TWICE, &[&name.local])),
        false => Ok(()),
    }
}
